#!/usr/bin/env python3
"""Work on the stored entries of a sparse matrix: several results in one pass, and reductions that meet the zeros that
are not stored, beside SciPy's sparse matrices.

Usage: entries_test.py FOLDER_OF_TOOLS SOURCE_ROOT [unittest arguments]
"""
import json
import re
import sys
import unittest

import numpy as np
import scipy.io
import scipy.sparse

sys.dont_write_bytecode = True  # the source tree stays as it is
from array_cases import ArrayTest  # noqa: E402
from tools_test import BAD  # noqa: E402

HEAD = "dim N, M, K local = 6\ninput X : f64[N, M], U : f64[N, K], V : f64[M, K], a : f64[N], b : f64[M]\n"
PASSES = HEAD + """E = X - f64(X != 0) * (U @ V')
output loss = sumsq(E), P = E @ V, H = E' @ U, p = X @ b, q = X' @ a
output far = sum(abs(X) * (1 + a * a), over M), fit = sum(X * log(1 + abs(U @ V'))), big = mxv((x, w) -> x + w, max, X, a)
"""
ZEROS = HEAD + """W = X * a
output most = max(X), least = min(W), rows = max(W, over M), low = min(abs(X) * b, over N)
output p = prod(X, over M), pc = prod(X * 2, over N), pa = prod(X)
output yes = all(X > 0.5, over M), all_yes = all(X != 0), yes_c = all(abs(W) > 0.1, over N), m = mean(W, over M)
output own = reduce((x, y) -> max(x, y), W, over N)
"""


class Entries(ArrayTest):
    def matrix(self, n, m, share, seed=3, low=-1.0):
        numbers = np.random.default_rng(seed)
        X = scipy.sparse.random(n, m, share, format="csr", random_state=numbers,
                                data_rvs=lambda k: numbers.uniform(low, 1.0, k) + np.where(low > 0, 0.1, 0.0))
        dense = {"U": numbers.normal(size=(n, 6)), "V": numbers.normal(size=(m, 6)),
                 "a": numbers.normal(size=n), "b": numbers.normal(size=m)}
        return X, dense

    def ready(self, program, X, dense, workers):
        (self.dir / "p.ks").write_text(program)
        self.kasen("plan", "p.ks", "-o", "p.kir")
        scipy.io.mmwrite(str(self.dir / "X.mtx"), X.tocoo(), symmetry="general")
        self.kasen("partition", "--replace", "--program", "p.kir", "X=X.mtx", *self.save(dense), "--workers", str(workers),
                   "-o", "bundle")

    def passes(self, X, U, V, a, b):
        rows, cols = X.tocoo().row, X.tocoo().col
        stored = X.tocoo().data
        pairs = np.einsum("ek,ek->e", U[rows], V[cols])
        E = scipy.sparse.csr_matrix((stored - pairs, (rows, cols)), X.shape)
        big = np.full(X.shape[1], -np.inf)
        np.maximum.at(big, cols, a[rows] + stored)
        return {"loss": (E.data ** 2).sum(), "P": E @ V, "H": E.T @ U, "p": X @ b, "q": X.T @ a,
                "far": np.asarray(abs(X).sum(axis=1)).ravel() * (1 + a * a),
                "fit": (stored * np.log(1 + abs(pairs))).sum(), "big": big}

    def test_one_pass_gives_scipys_values(self):
        """By every strategy, on any number of workers; what is read is what is predicted."""
        for n, m, share, workers in ((40, 25, 0.2, 1), (40, 25, 0.2, 3), (7, 60, 0.05, 4), (1, 1, 1.0, 1)):
            X, dense = self.matrix(n, m, share)
            self.ready(PASSES, X, dense, workers)
            wanted = self.passes(X, **dense)
            for strategy in ("greedy", "cost", "fuse-all", "fuse-no-redundancy", "none"):
                self.kasen("fuse", "p.kir", "--bundle", "bundle", "--strategy", strategy, "-o", "f.kir")
                self.run_it("f.kir", wanted, f"{n} x {m} by {strategy} on {workers}", "-n", str(min(workers, 2)))

    def test_the_matrix_is_read_once_in_a_direction(self):
        X, dense = self.matrix(300, 200, 0.1)
        self.ready(PASSES, X, dense, 2)
        read = {}
        for strategy in ("greedy", "none"):
            self.kasen("fuse", "p.kir", "--bundle", "bundle", "--strategy", strategy, "-o", "f.kir")
            plan = re.sub(r"^\|.*\n", "", (self.dir / "f.kir").read_text(), flags=re.M)
            outside = re.sub(r"region mxm.*?\n  }", "region mxm", plan, flags=re.S)
            read[strategy] = len(re.findall(r"= (?:region mxm|fold_|mxv)", outside))
        self.assertEqual(read, {"greedy": 2, "none": 7})

    def test_a_product_in_a_loop_needs_no_second_form_beside_a_fold(self):
        """Its predicted memory is what the kernels hold, for rows that alone would be sorted."""
        X, dense = self.matrix(3000, 400, 0.05)
        program = HEAD + ("p : f64[N] = 0.0\nt = 0.0\nfor i in 0..3 {\n  p = X @ b\n  t = t + max(sum(abs(X) * b, over M))\n"
                          "  b = b * 0.5\n}\noutput p, t\n")
        self.ready(program, X, dense, 2)
        b = dense["b"]
        wanted = {"p": X @ (b * 0.25), "t": sum((abs(X) @ (b * 0.5 ** i)).max() for i in range(3))}
        held = {}
        for strategy in ("greedy", "none"):
            self.kasen("fuse", "p.kir", "--bundle", "bundle", "--strategy", strategy, "-o", "f.kir")
            self.run_it("f.kir", wanted, strategy)
            held[strategy] = json.loads((self.dir / "run.json").read_text())["kernel_bytes"]
        self.assertEqual(held["greedy"], 0)
        self.assertGreater(held["none"], 0)

    def test_memo_and_plans_name_them(self):
        X, dense = self.matrix(300, 300, 0.1)
        self.ready(PASSES, X, dense, 2)
        memo, _ = self.kasen("fuse", "p.kir", "--bundle", "bundle", "--print-memo")
        self.assertRegex(memo, r"\d+ fold_rows\[\w+\]  O\(-1,-1,-1\)")
        plans, _ = self.kasen("fuse", "p.kir", "--bundle", "bundle", "--print-plans")
        self.assertRegex(plans, r"    P \d+ \d+ [\d ]+: reads")
        (self.dir / "p.ks").write_text(HEAD + "output loss = sum(X * log(1 + abs(U @ V'))), P = (X * (U @ V')) @ V\n")
        self.kasen("plan", "p.ks", "-o", "o.kir")
        plans, _ = self.kasen("fuse", "o.kir", "--sizes", "N=1000,M=1000", "--print-plans")
        self.assertRegex(plans, r"    O \d+ \d+: reads")

    def zeros(self, X, a, b):
        W, A = scipy.sparse.csr_matrix(X.multiply(a[:, None])), X.toarray()
        low = scipy.sparse.csc_matrix(abs(X).multiply(b[None, :]))
        dense = np.asarray
        return {"most": X.max(), "least": W.min(), "rows": dense(W.max(axis=1).todense()).ravel(),
                "low": dense(low.min(axis=0).todense()).ravel(), "p": A.prod(axis=1), "pc": (2 * A).prod(axis=0), "pa": A.prod(),
                "yes": (A > 0.5).all(axis=1), "all_yes": (A != 0).all(), "yes_c": (abs(W.toarray()) > 0.1).all(axis=0),
                "m": dense(W.mean(axis=1)).ravel(), "own": dense(W.max(axis=0).todense()).ravel()}

    def test_zeros_that_are_not_stored_count(self):
        """Rows with none, some and all of their elements stored; numbers that are all below 0, and all above."""
        for n, m, share, low in ((30, 20, 0.3, -1.0), (30, 4, 0.8, -1.0), (12, 5, 1.0, 0.2), (6, 9, 1.0, -1.0), (20, 30, 0.0, -1.0)):
            X, dense = self.matrix(n, m, share, seed=n + m, low=low)
            for sign in (1.0, -1.0):
                Y = scipy.sparse.csr_matrix(abs(X) * sign) if low < 0 else X * sign
                for workers in (1, 3):
                    self.ready(ZEROS, Y, dense, workers)
                    self.kasen("fuse", "p.kir", "--bundle", "bundle", "-o", "f.kir")
                    self.run_it("f.kir", self.zeros(Y, dense["a"], dense["b"]), f"{n} x {m} at {share} on {workers}", "-n",
                                str(min(workers, 2)))

    def test_a_nan_is_met_as_in_a_dense_array(self):
        X, dense = self.matrix(10, 8, 0.5)
        X.data[3] = np.nan
        program = HEAD + "output most = max(X, over M), least = min(X, over N), p = prod(X, over M)\n"
        self.ready(program, X, dense, 3)
        self.kasen("fuse", "p.kir", "--bundle", "bundle", "-o", "f.kir")
        A = X.toarray()
        with np.errstate(invalid="ignore"):
            wanted = {"most": A.max(axis=1), "least": A.min(axis=0), "p": A.prod(axis=1)}
        self.kasen("run", "f.kir", "--bundle", "bundle", "-o", "out.npy")
        self.compare(wanted, "a NaN")
        self.assertTrue(np.isnan(wanted["most"]).any())

    def test_what_cannot_meet_zeros_is_refused(self):
        for statement, message in (("s = reduce((x, y) -> x + y + 3, X)", "what is not stored counts as 0"),
                                   ("s = argmax(X)", "an index belongs to one dimension"),
                                   ("s = cumsum(X, over M)", "a sparse matrix over \\[N, M\\] where an array is meant")):
            (self.dir / "p.ks").write_text(HEAD + "output " + statement + "\n")
            _, err = self.kasen("plan", "p.ks", status=BAD)
            self.assertRegex(err, message)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
