#!/usr/bin/env python3
"""docs/numpy.md: what both columns of its tables give, on the same data.

Usage: from_numpy_test.py FOLDER_OF_TOOLS SOURCE_ROOT [unittest arguments]
"""
import re
import sys
import unittest

import h5py
import numpy as np

sys.dont_write_bytecode = True  # the source tree stays as it is
from tools_test import ROOT, ToolTest  # noqa: E402

PAGE = (ROOT / "docs" / "numpy.md").read_text()
DECLARED = re.search(r"```\n(.*?)```", PAGE, re.S)[1]
SIZES = {"N": 23, "F": 5, "K": 3}


def rows(statements):
    """(NumPy, here) of the tables, or of the one of statements."""
    expressions, changes = PAGE.split("## Statements")
    found = re.findall(r"^\| `(.*)` \| `(.*)` \|$", changes if statements else expressions, re.M)
    return [tuple(text.replace("\\|", "|") for text in row) for row in found]


def data():
    numbers = np.random.default_rng(11)
    made = {"k": numbers.integers(0, 50, SIZES["N"]), "g": numbers.integers(0, 4, SIZES["N"])}
    made["g"][:4] = range(4)
    for name, dims in (("x", "N"), ("y", "N"), ("v", "F"), ("X", "NF"), ("Y", "NF"), ("C", "FF"), ("D", "FK")):
        made[name] = numbers.normal(size=[SIZES[d] for d in dims])
    return made


class FromNumPy(ToolTest):
    def outputs(self, program, *options):
        (self.dir / "p.ks").write_text(program)
        given = data()
        used = [name for name in given if re.search(rf"\binput {name} |, {name} : ", program)]
        for name in used:
            np.savetxt(self.dir / f"{name}.csv", given[name], fmt="%d" if given[name].dtype.kind == "i" else "%.17g", delimiter=",")
        self.kasen("go", "p.ks", *[f"{name}={name}.csv" for name in used], "-o", "out.h5", *options)
        result = self.dir / "out.h5"
        with h5py.File(result) as file:
            return {name: np.asarray(file[name]) for name in file if isinstance(file[name], h5py.Dataset)}

    def same(self, made, wanted, text):
        wanted = np.asarray(wanted)
        self.assertEqual(made.shape, wanted.shape, text)
        np.testing.assert_allclose(made.astype("f8"), wanted.astype("f8"), rtol=1e-6 if wanted.dtype == np.float32 else 1e-9, atol=1e-12, err_msg=text)

    def test_expressions_give_the_same(self):
        table = rows(False)
        self.assertGreater(len(table), 60)
        for options in ([], ["--workers", 3, "-n", 2]):
            program = DECLARED + "".join(f"output z{i} = {here}\n" for i, (_, here) in enumerate(table))
            made = self.outputs(program, *options)
            with np.errstate(all="ignore"):
                for i, (numpy, here) in enumerate(table):
                    self.same(made[f"z{i}"], eval(numpy, {"np": np, "len": len, "float": float, **data()}), f"{numpy} | {here}")  # noqa: S307

    def test_statements_give_the_same(self):
        table = rows(True)
        self.assertGreater(len(table), 4)
        for numpy, here in table:
            given = data()
            exec(numpy, {"np": np}, given)  # noqa: S102
            name = here[0]
            made = self.outputs(DECLARED + f"{here}\noutput z = {name}\n", "--workers", 2)
            self.same(made["z"], given[name], here)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
