#!/usr/bin/env python3
"""Arrays that are cut in blocks, dealt out cyclically over a mesh of workers, and meshes whose axes cross nodes.

Usage: cyclic_test.py FOLDER_OF_TOOLS SOURCE_ROOT [unittest arguments]
"""
import itertools
import json
import re
import shutil
import sys
import unittest

import numpy

sys.dont_write_bytecode = True  # the source tree stays as it is
from tools_test import BAD, USAGE, ToolTest  # noqa: E402

ELEMENTS = """dim N, K
input A : dense f64[N, K], B : dense f64[N, K]
C = tanh(A * B) + A
output C
"""
STEPS = """dim N, K, M
input A : dense f64[N, K], B : dense f64[K, M], u : f64[N]
v = fill(0.5, K)
for i in 0..3 {
  v = tanh((A' @ (A @ v)) * 0.1) + v * 0.5
}
C = (A @ B) * u
output v, C, r = sum(C, over M), s = cumsum(u), o = sort(C, over N), p = index(N)
"""


class Cyclic(ToolTest):
    def setUp(self):
        super().setUp()
        random = numpy.random.default_rng(5)
        self.arrays = {"A": random.normal(size=(23, 17)), "B": random.normal(size=(17, 10)), "u": random.normal(size=23)}
        for name, array in self.arrays.items():
            numpy.save(self.dir / f"{name}.npy", array)
        (self.dir / "steps.ks").write_text(STEPS)
        (self.dir / "elements.ks").write_text(ELEMENTS)

    def wanted(self):
        a, b, u = (self.arrays[name] for name in "ABu")
        v = numpy.full(17, 0.5)
        for _ in range(3):
            v = numpy.tanh((a.T @ (a @ v)) * 0.1) + v * 0.5
        c = (a @ b) * u[:, None]
        return {"v": v, "C": c, "r": c.sum(axis=1), "s": numpy.cumsum(u), "o": numpy.sort(c, axis=0), "p": numpy.arange(23)}

    def checked(self, plan, bundle, ranks, *more):
        """Runs and compares: the lines of the comparison, by what they are of."""
        self.kasen("run", plan, "--bundle", bundle, "-o", "out.npy", "--stats", "run.json", *(["-n", ranks] if ranks else []), *more)
        out, _ = self.kasen("measure", plan, "--bundle", bundle, "--against", "run.json", "--check")
        self.assertIn("agree to the byte", out)
        rows = (re.match(r"(.*?) +([\d,]+) +([\d,]+) +equal", line) for line in out.splitlines())
        return {row[1]: int(row[3].replace(",", "")) for row in rows if row}

    def test_equal_blocks_send_nothing(self):
        """Element-wise work on arrays of equal cuts, whatever the number of ranks."""
        b = numpy.random.default_rng(6).normal(size=(23, 17))
        numpy.save(self.dir / "B.npy", b)
        self.kasen("plan", "elements.ks", "-o", "p.kir")
        self.kasen("partition", "--program", "p.kir", "A=A.npy", "B=B.npy", "--workers", 1, "-o", "bundle")
        a = self.arrays["A"]
        for mesh, cut in [("4", "[N/a:3,K]"), ("2x2", "[N/a:5,K/b:2]"), ("2x2", "[N/ab:1,K]"), ("2x2x2", "[N/ac:2,K/b:4]")]:
            hints = [word for name in "ABC" for word in ("--layout", name + "=" + cut)]
            self.kasen("fuse", "p.kir", "--mesh", mesh, *hints, "-o", "f.kir")
            self.assertEqual((self.dir / "f.kir").read_text().count("f64" + cut) >= 3, True)
            for ranks in [0, 1, 2, 3, 4]:
                told = self.checked("f.kir", "bundle", ranks)
                self.assertEqual(told["network bytes between workers"], 0, (mesh, cut, ranks))
                numpy.testing.assert_allclose(numpy.load(self.dir / "out.npy"), numpy.tanh(a * b) + a, atol=1e-15)
        out, _ = self.kasen("go", "elements.ks", "A=A.npy", "B=B.npy", "--mesh", "2x2", "--layout", "A=[N/a:5,K/b:2]", "-n", 2, "-o", "c.npy")
        self.assertIn("Predicted and counted agree to the byte", out)
        self.assertIn("network: 0 bytes between workers", out)

    def test_results_are_numpys(self):
        self.kasen("plan", "steps.ks", "-o", "p.kir")
        self.kasen("partition", "--program", "p.kir", "A=A.npy", "B=B.npy", "u=u.npy", "--workers", 2, "-o", "bundle")
        cases = [("2x2", ["A=[N/a:3,K/b:2]"]), ("2x2", ["A=[N/a:3,K/b:2]", "C=[N/a:3,M/b:4]", "u=[N/ab:3]"]), ("3", ["u=[N/a:2]", "s=[N/a:2]"]),
                 ("4", ["A=[N,K/a:1]", "v=[K/a:1]", "o=[N/a:4,M]"]), ("2x3", ["B=[K/a:7,M/b:2]", "r=[N/ab:2]", "p=[N/ab:1]"])]
        for (mesh, layouts), tile in itertools.product(cases, ["exact", "none", "worst"]):
            hints = [word for layout in layouts for word in ("--layout", layout)]
            self.kasen("fuse", "p.kir", "--mesh", mesh, "--tile", tile, "--bundle", "bundle", *hints, "-o", "f.kir")
            for ranks in [0, 2]:
                self.checked("f.kir", "bundle", ranks)
                for name, array in self.wanted().items():
                    got = numpy.load(self.dir / ("out.npy" if name == "v" else f"out-{name}.npy"))
                    numpy.testing.assert_allclose(got, array, atol=1e-12, err_msg=f"{name} of {layouts} by {tile}")

    def test_nodes_tell_where_bytes_go(self):
        """Rows in blocks become columns in blocks: each pair of workers exchanges what one has and the other wants."""
        program, _ = self.kasen("plan", stdin="dim N, K\ninput A : dense f64[N, K]\noutput C = 2.0 * A\n")
        (self.dir / "p.kir").write_text(program)
        self.kasen("partition", "--program", "p.kir", "A=A.npy", "--workers", 1, "-o", "bundle")
        layouts = ["--layout", "A=[N/ab:3,K]", "--layout", "C=[N/a:3,K/b:5]"]
        self.kasen("fuse", "p.kir", "--mesh", "2x3", "--nodes", "a", *layouts, "-o", "f.kir")
        self.assertIn("  nodes a\n", (self.dir / "f.kir").read_text())
        rows, cols = numpy.arange(23) // 3, numpy.arange(17) // 5
        before = (rows % 2 * 3 + rows // 2 % 3)[:, None] + 0 * cols[None, :]
        after = (rows % 2 * 3)[:, None] + (cols % 3)[None, :]
        moved = before != after
        for ranks in [0, 2, 3]:
            told = self.checked("f.kir", "bundle", ranks)
            self.assertEqual(told["network bytes between nodes"], 0)  # N keeps its places along a
            self.assertEqual(told["network bytes inside a node"], 8 * moved.sum())
            numpy.testing.assert_array_equal(numpy.load(self.dir / "out.npy"), 2 * self.arrays["A"])
        self.kasen("fuse", "p.kir", "--mesh", "2x3", "--nodes", "b", *layouts, "-o", "f.kir")
        told = self.checked("f.kir", "bundle", 4)
        self.assertEqual(told["network bytes between nodes"], 8 * moved.sum())
        self.assertEqual(told["network bytes inside a node"], 0)
        self.assertEqual(json.loads((self.dir / "run.json").read_text())["traffic"]["node_bytes"], 8 * moved.sum())
        out, _ = self.kasen("measure", "f.kir", "--bundle", "bundle")
        self.assertIn(f"Network bytes of the whole program: {8 * moved.sum():,} between nodes, 0 inside a node.", out)
        out, _ = self.kasen("measure", "f.kir", "--bundle", "bundle", "--format", "json")
        self.assertEqual(json.loads(out)["network_between_nodes"], 8 * moved.sum())
        self.kasen("fuse", "p.kir", "--mesh", "2x3", "--nodes", "a,b", "--layout", "A=[N/ab:3,K]", "--layout", "C=[N,K/ab]", "-o", "f.kir")
        after = numpy.repeat(numpy.arange(6), [3, 3, 3, 3, 3, 2])[None, :] + 0 * rows[:, None]
        told = self.checked("f.kir", "bundle", 0)
        self.assertEqual(told["network bytes between nodes"], 8 * (before != after).sum())

    def test_checkpoints_go_on(self):
        """A plan in blocks goes on where another plan of the same program has stopped, and the other way round."""
        self.kasen("plan", "steps.ks", "-o", "p.kir")
        self.kasen("partition", "--program", "p.kir", "A=A.npy", "B=B.npy", "u=u.npy", "--workers", 1, "-o", "bundle")
        layouts = ["--layout", "A=[N/a:3,K/b:2]", "--layout", "v=[K/ab:2]"]
        self.kasen("fuse", "p.kir", "--mesh", "2x2", *layouts, "-o", "blocks.kir")
        self.kasen("fuse", "p.kir", "--mesh", "3", "-o", "runs.kir")
        for saved, resumed in [("blocks.kir", "blocks.kir"), ("blocks.kir", "runs.kir"), ("runs.kir", "blocks.kir")]:
            shutil.rmtree(self.dir / "saved", ignore_errors=True)
            self.kasen("run", saved, "--bundle", "bundle", "-o", "out.npy", "--checkpoint", "saved", "--every", 1, "--keep", 1000)
            names = sorted(path.name for path in (self.dir / "saved").iterdir() if path.is_dir())
            for later in names[2:]:
                shutil.rmtree(self.dir / "saved" / later)
            out, _ = self.kasen("run", resumed, "--bundle", "bundle", "-o", "again.npy", "--checkpoint", "saved", "--every", 1000, "--resume",
                                "-n", 2)
            self.assertIn("resumed: saved/", out)
            for name, array in self.wanted().items():
                got = numpy.load(self.dir / ("again.npy" if name == "v" else f"again-{name}.npy"))
                numpy.testing.assert_allclose(got, array, atol=1e-12, err_msg=f"{name}: {saved} to {resumed}")

    def test_refusals(self):
        plan, _ = self.kasen("plan", "steps.ks")
        for layout, says in [("A=[N/a:0,K]", "blocks of '0'"), ("A=[N/a:,K]", "blocks of ''"), ("A=[N/a:x,K]", "blocks of 'x'"),
                             ("A=[N/a:4611686018427387905,K]", "2^62"), ("A=[N/:3,K]", "no axis cuts it"), ("A=[N/a:-1,K]", "blocks of '-1'")]:
            self.fault("fuse", "--mesh", "2x2", "--layout", layout, status=USAGE, says=says, stdin=plan)
        self.fault("fuse", "--nodes", "a", status=USAGE, says=["--nodes", "--mesh"], stdin=plan)
        self.fault("fuse", "--mesh", "auto", "--nodes", "a", status=USAGE, says="--nodes", stdin=plan)
        self.fault("fuse", "--mesh", "2x2", "--nodes", "a,c", status=USAGE, says="names axis 'c'", stdin=plan)
        tiles, _ = self.kasen("plan", stdin="dim W workers\ninput A : f64[W]\noutput B = 2.0 * A\n")
        self.fault("fuse", "--mesh", "2", "--layout", "A=[W/a:1]", status=USAGE, says="worker w's", stdin=tiles)
        text = "kir 2 level 2\nmodule m {\n  mesh a = 2\n  dim N\n  %A = input \"A\" : f64[N/a:0] @part\n  output \"A\" %A\n}\n##end\n"
        self.fault("measure", stdin=text, status=BAD, says=["<stdin>:5", "blocks of 0"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
