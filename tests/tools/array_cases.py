"""What the tests of operators on arrays share: inputs as .npy files, and outputs beside NumPy's."""
import random

import numpy as np

from tools_test import ToolTest


class ArrayTest(ToolTest):
    seed = 0
    inputs, local = {}, ""  # for random layouts: the dimensions of each, and those that are not cut

    def setUp(self):
        super().setUp()
        self.random = random.Random(self.seed)

    def save(self, arrays):
        for name, array in arrays.items():
            np.save(self.dir / f"{name}.npy", array)
        return [f"{name}={name}.npy" for name in arrays]

    def close(self, name, made):
        """The tolerance of an output."""
        return 1e-5 if made.dtype == np.float32 else 1e-12

    def compare(self, wanted, what):
        for number, (name, array) in enumerate(wanted.items()):
            got = np.load(self.dir / ("out.npy" if number == 0 else f"out-{name}.npy"))
            self.assertEqual(got.dtype, array.dtype, f"{name} on '{what}'")
            close = self.close(name, got)
            np.testing.assert_allclose(got, array, rtol=close, atol=close, err_msg=f"{name} on '{what}'")

    def run_it(self, plan, wanted, what, *ranks):
        self.kasen("run", plan, "--bundle", "bundle", "-o", "out.npy", "--stats", "run.json", "--program", "p.kir",
                   "--verify", "all", *ranks)
        out, _ = self.kasen("measure", plan, "--bundle", "bundle", "--against", "run.json", "--check")
        self.assertIn("agree to the byte", out, what)
        self.compare(wanted, what)

    def layouts(self, mesh):
        hints = []
        for name, dims in self.inputs.items():
            cuts = [""] * len(dims)
            for axis in "abc"[:mesh.count("x") + 1]:
                place = self.random.randrange(len(dims) + 1)
                if place < len(dims) and dims[place] not in self.local:
                    cuts[place] += axis
            hints += ["--layout", f"{name}=[" + ",".join(d + ("/" + c if c else "") for d, c in zip(dims, cuts)) + "]"]
        return hints
