#!/usr/bin/env python3
"""Programs of dense arrays over meshes of workers: results are NumPy's, and one bundle serves every mesh.

Usage: mesh_test.py FOLDER_OF_TOOLS SOURCE_ROOT [unittest arguments]
"""
import sys
import unittest

import numpy

sys.dont_write_bytecode = True  # the source tree stays as it is
from tools_test import BAD, ROOT, USAGE, ToolTest  # noqa: E402

MATMUL = """dim N, K, M
input A : dense f64[N, K], B : dense f64[K, M]
C = A @ B
output C
"""
# A loop, both kinds of products, reductions, a broadcast, a transposition by name.
STEPS = """dim N, K, M
input A : dense f64[N, K], B : dense f64[K, M], u : f64[N]
v = fill(0.5, K)
for i in 0..3 {
  v = tanh((A' @ (A @ v)) * 0.1) + v * 0.5
}
C = (A @ B) * u
r = sum(C, over M)
output v, C, r, t = sum(r)
"""


class Mesh(ToolTest):
    def setUp(self):
        super().setUp()
        random = numpy.random.default_rng(11)
        self.arrays = {"A": random.normal(size=(23, 17)), "B": random.normal(size=(17, 10)), "u": random.normal(size=23)}
        for name, array in self.arrays.items():
            numpy.save(self.dir / f"{name}.npy", array)
        (self.dir / "matmul.ks").write_text(MATMUL)
        (self.dir / "steps.ks").write_text(STEPS)

    def wanted(self):
        a, b, u = (self.arrays[name] for name in "ABu")
        v = numpy.full(17, 0.5)
        for _ in range(3):
            v = numpy.tanh((a.T @ (a @ v)) * 0.1) + v * 0.5
        c = (a @ b) * u[:, None]
        return {"v": v, "C": c, "r": c.sum(axis=1), "t": c.sum()}

    def test_go_over_meshes(self):
        for mesh in ["1x4", "2x2", "4x1", "2x2x2"]:
            out, _ = self.kasen("go", "matmul.ks", "A=A.npy", "B=B.npy", "--mesh", mesh, "-o", "c.npy")
            self.assertIn("Predicted and counted agree to the byte", out)
            numpy.testing.assert_allclose(numpy.load(self.dir / "c.npy"), self.arrays["A"] @ self.arrays["B"], atol=1e-13)

    def test_the_first_nan_is_told_by_its_indices(self):
        (self.dir / "roots.ks").write_text(MATMUL.replace("output", "D = sqrt(C + 1000.0)\noutput D,", 1))
        self.arrays["A"][20] = -1e9
        self.arrays["B"][:, 7] = numpy.abs(self.arrays["B"][:, 7])
        self.arrays["B"][:, :7] = -numpy.abs(self.arrays["B"][:, :7])
        self.arrays["B"][:, 8:] = -numpy.abs(self.arrays["B"][:, 8:])
        for name in "AB":
            numpy.save(self.dir / f"{name}.npy", self.arrays[name])
        for mesh in ["2x2", "4x1"]:
            self.fault("go", "roots.ks", "A=A.npy", "B=B.npy", "--mesh", mesh, "--nan", "error", status=1,
                       says=["roots.ks:", "%D is NaN at index 20, 7 of [N, M] (worker"])

    def test_go_shows_the_largest_elements(self):
        """Each time in the folder that the runs before have left, with a bundle for any number of workers."""
        order = numpy.argsort(-self.wanted()["r"])
        for options in [["--workers", 1], ["--workers", 3], ["--mesh", "2x2"], ["--mesh", "1x3"], ["--workers", 2], ["--mesh", "2x1x2", "-n", 2]]:
            out, _ = self.kasen("go", "steps.ks", "A=A.npy", "B=B.npy", "u=u.npy", *options, "--top", 4, "-o", "r.h5")
            self.assertIn("Predicted and counted agree to the byte", out)
            lines = out.splitlines()
            at = next(i for i, line in enumerate(lines) if line.split() == ["N", "r"])
            self.assertEqual([int(line.split()[0]) for line in lines[at + 1:at + 5]], order[:4].tolist(), options)

    def test_largest_elements_have_the_ids_of_the_data(self):
        (self.dir / "graph.txt").write_text("10 25\n25 900\n900 10\n900 31\n")
        (self.dir / "g.ks").write_text("dim N\ninput G : null[N, N]\noutput y = G @ fill(1.0, N)\n")
        (self.dir / "v.ks").write_text("dim N\noutput y = 2.0 * f64(index(N))\n")
        self.kasen("plan", "g.ks", "-o", "g.kir")
        self.kasen("partition", "--program", "g.kir", "G=graph.txt", "--workers", 2, "-o", "bundle")
        plan, _ = self.kasen("plan", "v.ks")
        self.kasen("fuse", "--mesh", 3, "-o", "f.kir", stdin=plan)
        for ranks in [[], ["-n", 2]]:
            out, _ = self.kasen("run", "f.kir", "--bundle", "bundle", "--top", 3, "-o", "y.csv", *ranks)
            self.assertEqual([line.split() for line in out.splitlines()[1:4]], [["900", "6"], ["31", "4"], ["25", "2"]])
            self.assertEqual((self.dir / "y.csv").read_text(), "N,y\n10,0\n25,2\n31,4\n900,6\n")

    def test_equal_parts_are_balanced(self):
        self.kasen("plan", "matmul.ks", "-o", "p.kir")
        for name, shape in {"A": (400, 200), "B": (200, 300)}.items():
            numpy.save(self.dir / f"{name}.npy", numpy.ones(shape))
        self.kasen("partition", "--program", "p.kir", "A=A.npy", "B=B.npy", "--workers", 1, "-o", "bundle")
        self.kasen("fuse", "p.kir", "--mesh", "2x2", "-o", "f.kir")
        out, _ = self.kasen("measure", "f.kir", "--bundle", "bundle", "--machine", ROOT / "configs" / "machine.yaml")
        self.assertIn("whole program: ", out)
        self.assertNotIn("the slowest worker", out)

    def test_layouts_give_all_forms_of_a_product(self):
        self.kasen("plan", "matmul.ks", "-o", "p.kir")
        self.kasen("partition", "--program", "p.kir", "A=A.npy", "B=B.npy", "--workers", "1", "-o", "bundle")
        forms = [("4", "A=[N/a,K]", "B=[K/a,M]", "C=[N/a,M]", 3 * 170), ("4", "A=[N,K/a]", "B=[K/a,M]", "C=[N/a,M]", 3 * 230),
                 ("2x2", "A=[N/a,K/b]", "B=[K/a,M/b]", "C=[N/a,M/b]", 391 + 170), ("2x2x2", "A=[N/a,K/bc]", "B=[K/c,M/ab]", "C=[N/ab,M/c]", None),
                 ("2x2x2", "A=[N/ac,K/b]", "B=[K/b,M/c]", "C=[N/a,M/c]", None), ("1x4", "A=[N,K]", "B=[K,M/b]", "C=[N,M/ab]", 0)]
        for mesh, *layouts, elements in forms:
            hints = [word for layout in layouts for word in ("--layout", layout)]
            self.kasen("fuse", "p.kir", "--mesh", mesh, *hints, "-o", "f.kir")
            workers = numpy.prod([int(size) for size in mesh.split("x")])
            for ranks in [0, 2, 3, 4]:
                self.kasen("run", "f.kir", "--bundle", "bundle", "-o", "c.npy", "--stats", "run.json", *(["-n", str(ranks)] if ranks else []))
                out, _ = self.kasen("measure", "f.kir", "--bundle", "bundle", "--against", "run.json", "--check")
                self.assertIn("agree to the byte", out, f"{layouts} on {workers} workers")
                sent = [line.split()[4] for line in out.splitlines() if line.startswith("network bytes between workers")]
                if elements is not None:
                    self.assertEqual(sent, [f"{8 * elements:,}"], layouts)
                numpy.testing.assert_allclose(numpy.load(self.dir / "c.npy"), self.arrays["A"] @ self.arrays["B"], atol=1e-13)

    def test_one_bundle_for_every_mesh_and_ranks(self):
        self.kasen("plan", "steps.ks", "-o", "p.kir")
        self.kasen("partition", "--program", "p.kir", "A=A.npy", "B=B.npy", "u=u.npy", "--workers", "3", "-o", "bundle")
        results = {}
        for mesh, ranks in [("2x2", 0), ("2x2", 1), ("2x2", 2), ("2x2", 4), ("5", 3), ("1", 0), ("2x3", 2), ("1x4", 3)]:
            self.kasen("fuse", "p.kir", "--mesh", mesh, "--bundle", "bundle", "-o", "f.kir")
            self.kasen("run", "f.kir", "--bundle", "bundle", "-o", "out.npy", "--stats", "run.json",
                       *(["-n", str(ranks)] if ranks else []))
            out, _ = self.kasen("measure", "f.kir", "--bundle", "bundle", "--against", "run.json", "--check")
            self.assertIn("agree to the byte", out)
            for name, array in self.wanted().items():
                file = self.dir / ("out.npy" if name == "v" else f"out-{name}.npy")
                numpy.testing.assert_allclose(numpy.load(file), array, atol=1e-12)
                same = results.setdefault((mesh, name), file.read_bytes())
                self.assertEqual(same, file.read_bytes(), f"{name} on {mesh} by {ranks} ranks")

    def test_other_bundles(self):
        self.kasen("plan", "steps.ks", "-o", "p.kir")
        self.kasen("fuse", "p.kir", "--mesh", "2x2", "-o", "f.kir")
        for more in [["--references"], ["--compress", "auto"], ["--method", "block"]]:
            self.kasen("partition", "--program", "p.kir", "A=A.npy", "B=B.npy", "u=u.npy", "--workers", "2", "-o", "bundle",
                       "--replace", *more)
            self.kasen("run", "f.kir", "--bundle", "bundle", "-o", "out.csv")
            lines = (self.dir / "out-r.csv").read_text().splitlines()
            self.assertEqual(len(lines), 24)
            got = numpy.array([float(line.split(",")[1]) for line in lines[1:]])
            numpy.testing.assert_allclose(got, self.wanted()["r"], atol=1e-12)

    def test_refusals(self):
        for text in ["2x0", "x", "2x", "two", "2x-1", "99999x99999", "1x1x1x1x1x1x1x1x1"]:
            self.fault("fuse", "--mesh", text, status=USAGE, says=["--mesh", "2x2"], stdin="")
        plan, _ = self.kasen("plan", "matmul.ks")
        for layout, says in [("A=[N/c,K]", "axes ab"), ("A=[K,N]", "over [N, K]"), ("A=[N/a,K/a]", "two dimensions"), ("D=[N]", "no input"),
                             ("A", "names no layout"), ("A=[N/a]", "names 1 dimensions")]:
            self.fault("fuse", "--mesh", "2x2", "--layout", layout, status=USAGE, says=says, stdin=plan)
        for option in ["--print-memo", "--print-plans"]:
            self.fault("fuse", "--mesh", "2x2", option, status=USAGE, says=[option, "kasen measure"], stdin=plan)
        self.fault("fuse", "--layout", "A=[N/a,K]", status=USAGE, says="--mesh", stdin=plan)
        self.fault("go", "matmul.ks", "A=A.npy", "B=B.npy", "--mesh", "2x2", "--workers", "3", status=USAGE, says="4 workers")
        self.kasen("plan", "matmul.ks", "-o", "p.kir")
        self.kasen("fuse", "p.kir", "--mesh", "2x2", "-o", "f.kir")
        self.kasen("partition", "--program", "p.kir", "A=A.npy", "B=B.npy", "--workers", "2", "-o", "bundle")
        self.kasen("run", "f.kir", "--bundle", "bundle", "--nan", "error")
        self.fault("run", "f.kir", "--bundle", "bundle", "-n", "5", status=USAGE, says="5 ranks")
        self.fault("fuse", "f.kir", "--mesh", "4", status=BAD, says="another mesh")
        (self.dir / "sparse.ks").write_text("dim N\ninput G : f64[N, N]\nx = fill(1.0, N)\noutput y = G @ x\n")
        sparse, _ = self.kasen("plan", "sparse.ks")
        self.fault("fuse", "--mesh", "2x2", stdin=sparse, status=BAD, says=["sparse.ks:2", "'G' is sparse", "--mesh"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
