#!/usr/bin/env python3
"""Sizes of local dimensions that a program leaves open: from the bundle when it is fused, or by `plan -D K=7`.

Usage: local_sizes_test.py FOLDER_OF_TOOLS SOURCE_ROOT [unittest arguments]
"""
import sys
import unittest

sys.dont_write_bytecode = True  # the source tree stays as it is
import h5py  # noqa: E402
import numpy  # noqa: E402
from tools_test import BAD, USAGE, ToolTest  # noqa: E402

CHAIN = """dim N, F local, K local{}, L local = K[1:]
input X : f64[N, F], V : f64[F, K]
A = X @ V
S = exp(A) / sum(exp(A), over K)
G = X' @ S
output G, s = sum(S * A), later = slice(G, L)
"""
FOLD = """dim N, M, K local
input W : f64[N, M], U : f64[N, K], V : dense f64[M, K]
E = if W != 0 then W - U @ V' else 0.0
output loss = sumsq(E), g = E @ V
"""


OF_CUT = """dim N, L local = size(N), LL local = size(N) * size(L), M = size(N)
input k : i64[N], x : f64[N]
t = sum(x, by k in L)
output t, mean = sum(t) / f64(size(L)), n = size(LL), back = take(t, k), again = x as [M]
"""


class LocalSizes(ToolTest):
    def test_a_local_dimension_has_the_size_of_a_cut_one(self):
        random = numpy.random.default_rng(8)
        keys, values = random.integers(0, 30, 30), random.random(30)
        numpy.save(self.dir / "keys.npy", keys)
        numpy.save(self.dir / "values.npy", values)
        for workers in (1, 3):
            self.kasen("go", self.program("cut", OF_CUT), "k=keys.npy", "x=values.npy", "--workers", workers, "-o", "cut.h5")
            with h5py.File(self.dir / "cut.h5") as file:
                sums = numpy.bincount(keys, values, 30)
                for name, wanted in [("t", sums), ("mean", sums.mean()), ("n", 900), ("back", sums[keys]), ("again", values)]:
                    numpy.testing.assert_allclose(file[name][()], wanted, rtol=1e-14, err_msg=name)

    def setUp(self):
        super().setUp()
        random = numpy.random.default_rng(5)
        self.x, self.v = random.random((40, 5)), random.random((5, 7))
        for name, array in [("x", self.x), ("v", self.v), ("v6", self.v[:, :6])]:
            numpy.save(self.dir / f"{name}.npy", array)

    def program(self, name, text):
        (self.dir / f"{name}.ks").write_text(text)
        return f"{name}.ks"

    def plan(self, name, size, v="v.npy"):
        """The plan of the chain, fitted to its bundle, without the lines that tell of its source."""
        self.kasen("plan", self.program(name, CHAIN.format(size)), "-o", f"{name}.kir")
        self.kasen("partition", "--program", f"{name}.kir", "X=x.npy", f"V={v}", "--workers", 2, "-o", f"{name}.data")
        self.kasen("fuse", f"{name}.kir", "--bundle", f"{name}.data", "-o", f"{name}.fused.kir", "--no-history")
        lines = (self.dir / f"{name}.fused.kir").read_text().splitlines()
        return [line for line in lines if not line.startswith(("source", "|", "module", "#")) and "fitted" not in line]

    def test_the_size_is_that_of_a_dimension(self):
        for head, words in [("dim L = size(Q)", "'Q' is no dimension"), ("dim L = size(L)", "dimension 'L' is derived from itself")]:
            self.assertIn(f"bad.ks:1:14: error: {words}", self.kasen("plan", self.program("bad", head + "\noutput z = 1\n"), status=BAD)[1])
        text = self.kasen("plan", self.program("known", "dim F local = 7, L = size(F)\ninput x : f64[L]\noutput x\n"))[0]
        self.assertIn("dim L = F[:]", text)

    def test_a_fitted_plan_is_that_of_a_program_with_the_sizes(self):
        left, stated = self.plan("left", ""), self.plan("stated", " = 7")
        self.assertIn("  dim K local = 7", left)
        self.assertTrue(any("row_chain" in line for line in left))
        sizes = [line for line in left if line.startswith("  dim F")]
        self.assertEqual(sizes, ["  dim F local = 5"])
        self.kasen("fuse", "left.kir", "-o", "plain.kir")
        plain = (self.dir / "plain.kir").read_text()
        self.assertIn("  dim K local\n", plain)
        self.assertNotIn("row_chain", plain)
        # The other program states one size of two.
        (self.dir / "both.ks").write_text(CHAIN.format(" = 7").replace("F local", "F local = 5"))
        self.kasen("plan", "both.ks", "-o", "both.kir")
        self.kasen("fuse", "both.kir", "--bundle", "stated.data", "-o", "both.fused.kir", "--no-history")
        both = [line for line in (self.dir / "both.fused.kir").read_text().splitlines()
                if not line.startswith(("source", "|", "module", "#")) and "fitted" not in line]
        self.assertEqual(left, both)
        self.assertEqual(stated, both)

    def test_its_results_are_those_of_numpy_and_of_its_bundle_alone(self):
        self.plan("left", "")
        self.plan("few", "", "v6.npy")
        a = self.x @ self.v
        s = numpy.exp(a) / numpy.exp(a).sum(1, keepdims=True)
        for kernels in ("generated", "interpreter"):
            self.kasen("run", "left.fused.kir", "--bundle", "left.data", "-o", "r.h5", "--kernels", kernels, "--verify", "all")
            with h5py.File(self.dir / "r.h5") as f:
                numpy.testing.assert_allclose(f["G"][()], self.x.T @ s, rtol=1e-12)
                numpy.testing.assert_allclose(f["later"][()], (self.x.T @ s)[:, 1:], rtol=1e-12)
                numpy.testing.assert_allclose(f["s"][()], (s * a).sum(), rtol=1e-12)
        self.fault("run", "left.fused.kir", "--bundle", "few.data", "-o", "r.h5", status=BAD, says="fitted to another bundle")

    def test_plan_takes_the_size_of_a_dimension(self):
        """As if the program said it; for folds with points it has to be known."""
        random = numpy.random.default_rng(6)
        w = numpy.where(random.random((9, 8)) < 0.4, random.random((9, 8)) + 1, 0)
        w[:, 0] = w[0, :] = 1.5
        u, v = random.random((9, 3)), random.random((8, 3))
        (self.dir / "w.txt").write_text("".join(f"{i} {j} {w[i, j]!r}\n" for i, j in zip(*numpy.nonzero(w))))
        numpy.save(self.dir / "u.npy", u)
        numpy.save(self.dir / "m.npy", v)
        self.program("fold", FOLD)
        self.fault("plan", "fold.ks", "-o", "p.kir", status=BAD, says=["at most 1024 columns", "dim K local = 20, or give -D K=20"])
        self.kasen("go", "fold.ks", "-D", "K=3", "W=w.txt", "U=u.npy", "V=m.npy", "--workers", 2, "--dir", "d", "--no-report", "-o", "r.h5", "--verify", "all")
        self.assertIn("dim K local = 3\n", (self.dir / "d" / "plan.kir").read_text())
        e = (w - u @ v.T) * (w != 0)
        with h5py.File(self.dir / "r.h5") as f:
            numpy.testing.assert_allclose(f["loss"][()], (e ** 2).sum(), rtol=1e-12)
            numpy.testing.assert_allclose(f["g"][()], e @ v, rtol=1e-12)
        self.fault("go", "fold.ks", "-D", "K=4", "W=w.txt", "U=u.npy", "V=m.npy", "--dir", "e", "--no-report", status=BAD, says="K")

    def test_wrong_sizes_are_refused(self):
        self.program("p", "const k = 3\ndim N, K local = k, L local = K[1:]\ninput x : f64[N, K]\n"
                          "def f(a) { dim C local = 4; return sum(outer(a, fill(1.0, C))) }\noutput s = f(x), t = sum(slice(x, L))\n")
        for given, says in [("K=4", "the program says that 'K' has 3 indices"), ("L=2", "follows from others"), ("N=-1", "a number above 0"),
                            ("N=", "a number above 0"), ("N=1.5", "a number above 0"), ("N=99999999999999999999", "a number above 0"),
                            ("M=4", "no const, param or dimension 'M'")]:
            self.fault("plan", "p.ks", "-D", given, "-o", "p.kir", status=USAGE, says=says)
        self.kasen("plan", "p.ks", "-D", "K=3", "-D", "N=12", "-o", "p.kir")
        self.assertIn("  dim N = 12\n", (self.dir / "p.kir").read_text())
        self.kasen("plan", "p.ks", "-D", "k=5", "-D", "K=5", "-o", "p.kir")
        self.assertIn("  dim K local = 5\n", (self.dir / "p.kir").read_text())


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
