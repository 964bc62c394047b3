#!/usr/bin/env python3
"""Sparse values: what programs compute at the stored entries of a matrix and keep, beside SciPy's sparse matrices, for
several plans, numbers of workers and ranks; and the files that hold them.

Usage: sparse_test.py FOLDER_OF_TOOLS SOURCE_ROOT [unittest arguments]
"""
import json
import sys
import unittest

import h5py
import numpy as np
from scipy import io, sparse

sys.dont_write_bytecode = True  # the source tree stays as it is
from algorithms_test import PlanTest  # noqa: E402
from tools_test import BAD  # noqa: E402

LOOP = """dim N, M, K local = 3
input X : f64[N, M], U : f64[N, K], V : f64[M, K], b : f64[M]
W = X * tanh(U @ V')
change = 1.0
i = 0
while i < 5 && change > 1e-9 {
  next = 0.5 * W + 0.25 * X * (W @ b)
  change = sum(abs(next - W))
  W = next
  i = i + 1
}
output W, change, p = W @ b, h = W' @ (W @ b), rows = sum(W, over M), columns = sum(W, over N), P = W @ V, H = W' @ U
output big = sum(f64(W > 0.1)), squares = W * W - X
"""
EXACT = """dim N, M
input X : f64[N, M], a : f64[N], b : f64[M]
W = X * a
T = W - X * b
output T, W, positive = T > 0
"""
SQUARE = """dim N
input A : f64[N, N]
T = A / at_rows(A @ fill(1.0, N))
output T, ones = T @ fill(1.0, N), upper = A * f64(at_rows(index(N)) < index(N)), back = T' @ (T @ fill(1.0, N))
"""


def random_matrix(rows, cols, seed):
    return sparse.random(rows, cols, 0.2, "csr", np.float64, np.random.RandomState(seed)) + sparse.csr_matrix(
        ([0.25], ([rows - 1], [cols - 1])), (rows, cols))


def at_entries(x, values):
    """The matrix with x's entries and these values, in the order of rows and columns."""
    made = x.copy()
    made.data = values
    return made


class SparseValues(PlanTest):
    PLANS = [(1, 1, "greedy"), (3, 1, "cost"), (3, 2, "fuse-all"), (2, 2, "none")]

    def inputs(self, **arrays):
        words = []
        for name, array in arrays.items():
            if sparse.issparse(array):
                io.mmwrite(str(self.dir / f"{name}.mtx"), array, precision=17)
            else:
                np.save(self.dir / f"{name}.npy", array)
            words.append(f"{name}={name}.{'mtx' if sparse.issparse(array) else 'npy'}")
        return words

    def read(self, name):
        with h5py.File(self.dir / "r.h5") as file:
            group = file[name]
            if isinstance(group, h5py.Dataset):
                return group[()]
            shape = json.loads(group.attrs["matrix"])["shape"]
            rows, cols, values = (group[str(c)][()] for c in range(3))
            order = np.lexsort((cols, rows))
            np.testing.assert_array_equal(order, np.arange(len(order)))  # as the file has them
            return sparse.coo_matrix((values, (rows, cols)), shape)

    def results(self, path):
        with h5py.File(self.dir / path) as file:
            names = list(file)
        return {name: self.read(name) for name in names}

    def same(self, got, wanted, what):
        if sparse.issparse(got):
            self.assertEqual(got.nnz, wanted.nnz, what)
            self.assertEqual(got.shape, wanted.shape, what)
            got, wanted = got.tocsr(), wanted.tocsr()
            got.sort_indices()
            wanted.sort_indices()
            np.testing.assert_array_equal(got.indices, wanted.indices, what)
            np.testing.assert_array_equal(got.indptr, wanted.indptr, what)
            got, wanted = got.data, wanted.data
        np.testing.assert_allclose(got, wanted, rtol=1e-11, atol=1e-13, err_msg=what)

    def test_loop(self):
        (self.dir / "p.ks").write_text(LOOP)
        x, random = random_matrix(40, 25, 3), np.random.RandomState(5)
        u, v, b = random.randn(40, 3), random.randn(25, 3), random.randn(25)
        rows, cols = x.nonzero()
        w = at_entries(x, x.data * np.tanh((u[rows] * v[cols]).sum(1)))
        for _ in range(5):
            now = at_entries(x, 0.5 * w.data + 0.25 * x.data * (w @ b)[rows])
            change, w = np.abs(now.data - w.data).sum(), now
            if change <= 1e-9:
                break
        wanted = {"W": w, "change": change, "p": w @ b, "h": w.T @ (w @ b), "rows": np.asarray(w.sum(1)).ravel(),
                  "columns": np.asarray(w.sum(0)).ravel(), "P": w @ v, "H": w.T @ u, "big": (w.data > 0.1).sum(),
                  "squares": at_entries(x, w.data * w.data - x.data)}
        made = self.every_plan("p.ks", self.inputs(X=x, U=u, V=v, b=b), plans=self.PLANS)
        for plan, results in made:
            self.assertEqual(set(results), set(wanted))
            for name, value in wanted.items():
                self.same(results[name], value, f"{name} of {plan}")

    def test_square(self):
        (self.dir / "p.ks").write_text(SQUARE)
        a = random_matrix(30, 30, 8) + sparse.identity(30, format="csr")
        t = sparse.diags(1 / np.asarray(a.sum(1)).ravel()) @ a
        upper = at_entries(a, a.data * (a.nonzero()[0] < a.nonzero()[1]))
        wanted = {"T": t.tocsr(), "ones": np.ones(30), "upper": upper, "back": t.T @ (t @ np.ones(30))}
        for plan, results in self.every_plan("p.ks", self.inputs(A=a), plans=self.PLANS):
            for name, value in wanted.items():
                self.same(results[name], value, f"{name} of {plan}")

    def test_files(self):
        """Every format holds the same matrix, in the same bytes from any number of workers and ranks."""
        (self.dir / "p.ks").write_text(EXACT)
        x, random = random_matrix(23, 31, 4), np.random.RandomState(6)
        a, b = random.randn(23), random.randn(31)
        rows, cols = x.nonzero()
        w = at_entries(x, x.data * a[rows])
        t = at_entries(x, w.data - x.data * b[cols])
        positive = at_entries(x, (t.data > 0).astype(float))
        inputs, first = self.inputs(X=x, a=a, b=b), {}
        self.kasen("plan", "p.ks", "-o", "plan.kir")
        for workers, ranks in ((1, 1), (3, 1), (4, 2)):
            self.kasen("partition", "--program", "plan.kir", *inputs, "--workers", workers, "-o", "bundle", "--replace")
            self.kasen("fuse", "plan.kir", "--bundle", "bundle", "-o", "fused.kir")
            for ending in ("h5", "csv", "mtx", "npz"):
                self.kasen("run", *self.over(ranks), "fused.kir", "--bundle", "bundle", "-o", f"r.{ending}")
                names = [f"r.{ending}"] if ending == "h5" else [f"r.{ending}", f"r-W.{ending}", f"r-positive.{ending}"]
                for name in names:
                    data = (self.dir / name).read_bytes()
                    self.assertEqual(first.setdefault(name, data), data, f"{name} of {workers} workers")
        for name, wanted in (("r", t), ("r-W", w), ("r-positive", positive)):
            self.same(sparse.load_npz(self.dir / f"{name}.npz").astype(float), wanted, f"{name}.npz")
            self.same(io.mmread(str(self.dir / f"{name}.mtx")).astype(float), wanted, f"{name}.mtx")
            lines = (self.dir / f"{name}.csv").read_text().splitlines()
            self.assertEqual(lines[0], {"r": "N,M,T", "r-W": "N,M,W", "r-positive": "N,M,positive"}[name])
            cells = [line.split(",") for line in lines[1:]]
            values = [float(cell[2] == "true") if name == "r-positive" else float(cell[2]) for cell in cells]
            self.same(sparse.coo_matrix((values, ([int(c[0]) for c in cells], [int(c[1]) for c in cells])), x.shape),
                      wanted, f"{name}.csv")
        self.assertIn("right", self.kasen("verify", "r.h5")[0])

    def test_ids_with_gaps(self):
        (self.dir / "p.ks").write_text("dim N\ninput G : null[N, N]\noutput W = G * f64(at_rows(index(N)) == index(N))\n")
        edges = [(5, 100), (100, 7), (7, 7), (100, 5), (5, 5)]
        (self.dir / "g.txt").write_text("".join(f"{i} {j}\n" for i, j in edges))
        self.kasen("plan", "p.ks", "-o", "plan.kir")
        self.kasen("partition", "--program", "plan.kir", "G=g.txt", "--workers", 2, "-o", "bundle")
        self.kasen("fuse", "plan.kir", "--bundle", "bundle", "-o", "fused.kir")
        for ending in ("csv", "mtx", "npz"):
            self.kasen("run", "fused.kir", "--bundle", "bundle", "-o", f"r.{ending}")
        wanted = {(i, j): float(i == j) for i, j in edges}
        lines = (self.dir / "r.csv").read_text().splitlines()[1:]
        self.assertEqual({(int(i), int(j)): float(w) for i, j, w in (line.split(",") for line in lines)}, wanted)
        for made in (io.mmread(str(self.dir / "r.mtx")), sparse.load_npz(self.dir / "r.npz")):
            self.assertEqual(made.shape, (101, 101))
            self.assertEqual({(i, j): w for i, j, w in zip(made.row, made.col, made.data)}, wanted)

    def test_refused(self):
        (self.dir / "p.ks").write_text("dim N, M\ninput X : f64[N, M]\noutput r = sum(X, over M)\n")
        inputs = self.inputs(X=random_matrix(9, 8, 1))
        self.kasen("plan", "p.ks", "-o", "plan.kir")
        self.kasen("partition", "--program", "plan.kir", *inputs, "--workers", 2, "-o", "bundle")
        self.kasen("fuse", "plan.kir", "--bundle", "bundle", "-o", "fused.kir")
        for ending in ("mtx", "npz"):
            _, told = self.kasen("run", "fused.kir", "--bundle", "bundle", "-o", f"r.{ending}", status=BAD)
            self.assertIn("output 'r' is no sparse matrix", told)
            self.assertFalse((self.dir / f"r.{ending}").exists())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
