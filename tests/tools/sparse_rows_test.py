#!/usr/bin/env python3
"""Sparse matrices with a local dimension: a worker has all entries of an index of the other one. Results are those of
SciPy.

Usage: sparse_rows_test.py FOLDER_OF_TOOLS SOURCE_ROOT [unittest arguments]
"""
import json
import sys
import unittest

import numpy as np
import scipy.io
import scipy.sparse

sys.dont_write_bytecode = True  # the source tree stays as it is
from array_cases import ArrayTest  # noqa: E402

HEAD = """dim N, F local, K local = 3
input X : sparse f64[N, F], Y : sparse f64[F, N], v : f64[F], V : f64[F, K], y : f64[N], Q : f64[N, K]
"""
BOTH_WAYS = HEAD + """p = X @ v
output p, P = X @ V, g = X' @ y, G = X' @ Q, back = X' @ (y * p), rows = sum(X, over F), cols = sumsq(X, over N), all = sum(abs(X))
output most = max(X, over F), low = min(X, over N), near = sum(y * X * v, over N), far = sum(X * y * v, over F)
output tp = Y' @ v, tP = Y' @ V, tg = Y @ y, tG = Y @ Q, trows = sum(Y, over F), tcols = sumsq(Y, over N)
"""
TURNS = HEAD + """input G : f64[N, N]
w = v
for i in 1..3 {
  w = X' @ (y * (X @ w)) / 100
}
W = X * y
output w, beside = G @ (X @ v), ahead = X' @ (G' @ y), W, of_w = sum(W * v, over F), to_w = sum(W, over N), again = W' @ y
"""
STRATEGIES = ("greedy", "cost", "fuse-all", "fuse-no-redundancy", "none")


class SparseRows(ArrayTest):
    def matrix(self, n, f, share, seed=8):
        numbers = np.random.default_rng(seed)
        X = scipy.sparse.random(n, f, share, format="csr", random_state=numbers, data_rvs=lambda k: numbers.normal(size=k))
        return X, {"v": numbers.normal(size=f), "V": numbers.normal(size=(f, 3)), "y": numbers.normal(size=n),
                   "Q": numbers.normal(size=(n, 3))}

    def ready(self, program, matrices, dense, workers, *options):
        (self.dir / "p.ks").write_text(program)
        self.kasen("plan", "p.ks", "-o", "p.kir")
        for name, matrix in matrices.items():
            scipy.io.mmwrite(str(self.dir / f"{name}.mtx"), matrix.tocoo(), symmetry="general")
        files = [f"{name}={name}.mtx" for name in matrices]
        self.kasen("partition", "--replace", "--program", "p.kir", *files, *self.save(dense), "--workers", str(workers), *options, "-o", "bundle")

    def both_ways(self, X, v, V, y, Q):
        def sums(matrix, axis):
            return np.asarray(matrix.sum(axis=axis)).ravel()
        of = {"p": X @ v, "P": X @ V, "g": X.T @ y, "G": X.T @ Q, "rows": sums(X, 1), "cols": sums(X.multiply(X), 0)}
        return {**of, **{f"t{name}": value for name, value in of.items()}, "back": X.T @ (y * (X @ v)), "all": abs(X).sum(),
                "most": X.max(axis=1).toarray().ravel(), "low": X.min(axis=0).toarray().ravel(), "near": v * (X.T @ y), "far": y * (X @ v)}

    def test_scipys_values_by_every_strategy(self):
        """On any number of workers; what is read and sent is what is predicted."""
        for n, f, share, workers in ((90, 25, 0.2, 1), (90, 25, 0.2, 3), (7, 60, 0.05, 4), (1, 1, 1.0, 1)):
            X, dense = self.matrix(n, f, share)
            self.ready(BOTH_WAYS, {"X": X, "Y": X.T}, dense, workers)
            wanted = self.both_ways(X, **dense)
            for strategy in STRATEGIES:
                self.kasen("fuse", "p.kir", "--bundle", "bundle", "--strategy", strategy, "-o", "f.kir")
                self.run_it("f.kir", wanted, f"{n} x {f} by {strategy} on {workers}", "-n", str(min(workers, 2)))

    def test_loops_stored_values_and_another_matrix(self):
        """A matrix that is cut along both of its dimensions stands beside, and its ghosts stay its own."""
        X, dense = self.matrix(120, 30, 0.15)
        G = scipy.sparse.random(120, 120, 0.05, format="csr", random_state=9)
        v, y = dense["v"], dense["y"]
        w = v
        for _ in range(2):
            w = X.T @ (y * (X @ w)) / 100
        W = scipy.sparse.csr_matrix(X.multiply(y[:, None]))
        wanted = {"w": w, "beside": G @ (X @ v), "ahead": X.T @ (G.T @ y), "of_w": W @ v, "to_w": np.asarray(W.sum(axis=0)).ravel(),
                  "again": W.T @ y}
        for workers in (1, 3):
            self.ready(TURNS, {"X": X, "Y": X.T, "G": G}, dense, workers)
            for strategy in STRATEGIES:
                self.kasen("fuse", "p.kir", "--bundle", "bundle", "--strategy", strategy, "-o", "f.kir")
                self.run_it("f.kir", wanted, f"by {strategy} on {workers}", "-n", str(min(workers, 2)))

    def test_dense_arrays_beside_entries(self):
        """An entry meets one element of a dense array, or of a product that is not made for it."""
        X, dense = self.matrix(80, 30, 0.2)
        D, V, Q, y = np.random.default_rng(3).normal(size=(80, 30)), dense["V"], dense["Q"], dense["y"]
        program = HEAD.replace("F local", "F local = 30") + """input D : f64[N, F]
T = X * D
E = exp(D / 4)
output rows = sum(X * D, over F), cols = sum(X * (D - E) * y, over N), all = sum(T * T), G = (X * D)' @ Q
output pairs = sum(X * (Q @ V'), over N), near = sum(X / (1 + abs(Q @ V' - D)), over F), made = sum((Q @ V') * D)
"""
        of_d, low = X.multiply(D).tocsr(), Q @ V.T

        def line(values, axis):
            return np.asarray(X.multiply(values).sum(axis=axis)).ravel()
        wanted = {"rows": line(D, 1), "cols": line((D - np.exp(D / 4)) * y[:, None], 0), "all": np.sum(of_d.data ** 2), "G": of_d.T @ Q,
                  "pairs": line(low, 0), "near": line(1 / (1 + abs(low - D)), 1), "made": np.sum(low * D)}
        for workers in (1, 3):
            self.ready(program, {"X": X, "Y": X.T}, {**dense, "D": D}, workers)
            for strategy in STRATEGIES:
                self.kasen("fuse", "p.kir", "--bundle", "bundle", "--strategy", strategy, "-o", "f.kir")
                self.run_it("f.kir", wanted, f"by {strategy} on {workers}", "-n", str(min(workers, 2)))
        # Nothing makes the product where stored entries alone read it.
        (self.dir / "q.ks").write_text(HEAD.replace("F local", "F local = 30") + "output pairs = sum(X * (Q @ V'), over N)\n")
        self.kasen("plan", "q.ks", "-o", "q.kir")
        fused, _ = self.kasen("fuse", "q.kir")
        self.assertNotIn("= mxv", fused)
        self.assertIn("fold_cols", fused)

    def test_every_way_to_cut(self):
        """Each cuts by the owners of rows: there are no ghosts."""
        X, dense = self.matrix(200, 40, 0.1)
        wanted = self.both_ways(X, **dense)
        for method in ("block", "hybrid-cut", "ml", "auto"):
            self.ready(BOTH_WAYS, {"X": X, "Y": X.T}, dense, 3, "--method", method)
            stats, _ = self.kasen("partition", "--stats", "bundle")
            self.assertIn(f"matrix X [N, F]: {X.nnz} entries", stats)
            self.assertEqual(stats.count("slaves by axis: 0 rows, 0 columns"), 2)
            self.kasen("fuse", "p.kir", "--bundle", "bundle", "-o", "f.kir")
            self.run_it("f.kir", wanted, f"by {method}")

    def test_nothing_goes_for_rows(self):
        """X @ v sends nothing; X' @ y sends one array over F to the first worker, and back."""
        X, dense = self.matrix(200, 40, 0.1)
        self.ready(HEAD + "output p = X @ v, g = X' @ y\n", {"X": X, "Y": X.T}, dense, 3)
        self.kasen("fuse", "p.kir", "--bundle", "bundle", "-o", "f.kir")
        self.run_it("f.kir", {"p": X @ dense["v"], "g": X.T @ dense["y"]}, "once")
        self.kasen("run", "f.kir", "--bundle", "bundle", "--stats", "run.json", "-o", "r.h5")
        sent = sum(one["network_bytes"] for one in json.loads((self.dir / "run.json").read_text())["operators"])
        self.assertEqual(sent, 2 * (3 - 1) * 40 * 8)

    def test_there_and_back_reads_the_matrix_once(self):
        """By every selector, in one region; without one twice."""
        X, dense = self.matrix(300, 40, 0.2)
        self.ready(HEAD + "R = Q * (X @ V)\noutput g = X' @ (y * (X @ v)), H = X' @ (R - Q * sum(R, over K))\n", {"X": X, "Y": X.T}, dense, 1)
        R = dense["Q"] * (X @ dense["V"])
        wanted = {"g": X.T @ (dense["y"] * (X @ dense["v"])), "H": X.T @ (R - dense["Q"] * R.sum(axis=1)[:, None])}
        passes = {}
        for strategy in ("greedy", "cost", "none"):
            self.kasen("fuse", "p.kir", "--bundle", "bundle", "--strategy", strategy, "-o", "f.kir")
            self.run_it("f.kir", wanted, strategy)
            plan = (self.dir / "f.kir").read_text()
            passes[strategy] = sum(line.count("%X") > 0 for line in plan.splitlines() if line.startswith("  %") and "input" not in line)
        self.assertEqual(passes, {"greedy": 1, "cost": 1, "none": 4})

    def test_entries_go_by_from_a_disk(self):
        """Some blocks of rows at a time: the same bits as in memory, however much is there, on any number of threads."""
        X, dense = self.matrix(120000, 40, 0.3)
        v, y = dense["v"], dense["y"]
        self.ready(HEAD + "p = X @ v\noutput p, g = X' @ (y * p), all = sum(p * y), cols = sum(X * abs(X) * y, over N)\n", {"X": X, "Y": X.T}, dense, 1)
        self.kasen("fuse", "p.kir", "--bundle", "bundle", "-o", "f.kir")
        self.assertIn("region rows", (self.dir / "f.kir").read_text())
        wanted = {"p": X @ v, "g": X.T @ (y * (X @ v)), "all": np.sum((X @ v) * y), "cols": X.multiply(abs(X)).T @ y}
        runs = {"generated": [(None, 1), (None, 2), ("34M", 1), ("34M", 2), ("35M", 3), ("40M", 2)], "interpreter": [(None, 1), ("35M", 1)]}
        for kernels, cases in runs.items():
            first = None
            for memory, threads in cases:
                limits = [] if memory is None else ["--memory", memory, "--spill", "."]
                self.kasen("run", "f.kir", "--bundle", "bundle", "-o", "out.npy", "--stats", "run.json", "--threads", threads, "--kernels", kernels, *limits)
                operators = json.loads((self.dir / "run.json").read_text())["operators"]
                read = sum(one.get("disk_read_bytes", 0) for one in operators)
                (self.assertEqual(read, 0) if memory is None else self.assertGreater(read, 12 * X.nnz // 2))
                self.compare(wanted, f"{memory} by {kernels}")
                made = [(self.dir / f"out{end}.npy").read_bytes() for end in ("", "-g", "-all", "-cols")]
                first = first or made
                self.assertTrue(made == first, f"{memory} on {threads} threads by {kernels}")

    def test_stored_values_leave_the_region(self):
        """Of entries beside sums of their rows: one pass. They lie at their numbers, wherever their rows are."""
        X, dense = self.matrix(500, 40, 0.2)
        v, y = dense["v"], dense["y"]
        self.ready(HEAD + "r = sumsq(X, over F)\nW = X / sqrt(1 + r)\nT = abs(X) * y * v\n"
                   "output of_w = W @ v, to_w = W' @ y, most = max(W), r, of_t = sum(T, over F), to_t = sum(T * T, over N), s = sum(X), c = sum(X, over N)\n",
                   {"X": X, "Y": X.T}, dense, 1)
        r = np.asarray(X.multiply(X).sum(axis=1)).ravel()
        W, T = scipy.sparse.csr_matrix(X.multiply(1 / np.sqrt(1 + r)[:, None])), abs(X).multiply(y[:, None]).multiply(v).tocsr()
        wanted = {"of_w": W @ v, "to_w": W.T @ y, "most": W.max(), "r": r, "of_t": np.asarray(T.sum(axis=1)).ravel(),
                  "to_t": np.asarray(T.multiply(T).sum(axis=0)).ravel(), "s": X.sum(), "c": np.asarray(X.sum(axis=0)).ravel()}
        for workers in (1, 3):
            self.ready((self.dir / "p.ks").read_text(), {"X": X, "Y": X.T}, dense, workers)
            for strategy in STRATEGIES:
                self.kasen("fuse", "p.kir", "--bundle", "bundle", "--strategy", strategy, "-o", "f.kir")
                inside = [line for line in (self.dir / "f.kir").read_text().splitlines() if line.startswith("    ") and "= entries[" in line]
                self.assertTrue(inside or strategy != "greedy", strategy)
                for kernels in ("generated", "interpreter"):
                    self.run_it("f.kir", wanted, f"by {strategy} on {workers}", "-n", str(min(workers, 2)), "--kernels", kernels)

    def test_pattern_with_ids_that_have_gaps(self):
        """A local dimension has the ids that occur, as others do."""
        (self.dir / "p.ks").write_text("dim N, F local\ninput X : sparse null[N, F]\noutput c = mxvt((x, e) -> e, +, X, fill(1.0, F)), d = sum(X, over N)\n")
        rows, cols = [0, 0, 4, 9, 9, 9], [3, 70, 3, 70, 12, 3]
        (self.dir / "X.txt").write_text("".join(f"{i} {j}\n" for i, j in zip(rows, cols)))
        self.kasen("plan", "p.ks", "-o", "p.kir")
        self.kasen("partition", "--program", "p.kir", "X=X.txt", "--workers", 2, "-o", "bundle")
        self.kasen("fuse", "p.kir", "--bundle", "bundle", "-o", "f.kir")
        self.run_it("f.kir", {"c": np.array([2.0, 1.0, 3.0]), "d": np.array([3.0, 1.0, 2.0])}, "gaps")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
