"""Expressions over several sparse matrices beside SciPy: sums and products entry by entry, products of two sparse
matrices, masked ones, triangles of graphs, on several workers and by every strategy.

patterns_test.py FOLDER_OF_TOOLS SOURCE_ROOT [unittest arguments]
"""
import lzma
import os
import pathlib
import re
import sys
import unittest

import numpy as np
from scipy import io, sparse

sys.dont_write_bytecode = True  # the source tree stays as it is
from algorithms_test import PlanTest  # noqa: E402
from sparse_test import SparseValues, at_entries, random_matrix  # noqa: E402
from tools_test import BAD  # noqa: E402

TWO = """dim N, M, K local = 2
input X : f64[N, M], Y : f64[N, M], G : null[N, M], a : f64[N], b : f64[M], U : f64[N, K], V : f64[M, K]
S = X + Y
output S, D = X - 0.5 * Y, P = X * Y, big = max(X, Y), most = max(abs(X), abs(Y))
output inX = X * if Y > 0 then 2.0 else 1.0, chosen = if X > 0 then Y else 0.0, either = X != 0 || Y != 0
output marked = G * X, all = X + Y + G, nested = X * Y + G * (X - Y)
output rows = sum(X + Y, over M), columns = sum(X * Y, over N), total = sum(abs(X - Y)), rest = sum(S * S)
output v = (X + Y) @ b, w = S' @ a, W = (X * Y) @ V, pairs = sum(X * (U @ V') - Y, over N)
"""
LOOP = """dim N, M
input X : f64[N, M], Y : f64[N, M], b : f64[M]
W = X + Y
i = 0
while i < 4 {
  r = W @ b
  W = 0.5 * W + at_most(r) * X - 0.25 * Y
  i = i + 1
}
output W, total = sum(W)
fn at_most(r) = if r > 1 then 1.0 else r
"""
SQUARE = """dim N
input A : f64[N, N], B : f64[N, N], G : null[N, N], v : f64[N]
output masked = A * (A @ B), pattern = G * (G @ G), crossed = B * (A' @ B), other = A * (B @ A')
output C = A @ B, gram = A' @ A, deep = (A @ B) @ B, plus = A + A @ A, through = (A @ B) @ v
output triangles = sum(G * (G @ G)), twice = A * ((A + B) @ (A * B))
output lower = tril(A), upper = triu(A), below = tril(A, -1), above = triu(A, 1), d = diag(A), e = diag(A + B)
"""
RECTANGULAR = """dim N, M, K
input A : i64[N, K], B : i64[K, M], X : i64[N, M]
output C = A @ B, R = X * (A @ B), T = X - A @ B, rows = sum(A @ B, over M)
"""
TRIANGLES = "dim N\ninput G : null[N, N]\noutput triangles = sum(G * (G @ G)) / 6\n"
PLANS = [(1, 1, "greedy"), (3, 1, "cost"), (3, 3, "fuse-all"), (2, 2, "none")]


def small(rows, cols, seed, per_cent=20):
    return random_matrix(rows, cols, seed) if per_cent == 20 else sparse.random(
        rows, cols, per_cent / 100, "csr", np.float64, np.random.RandomState(seed))


def stored(matrix):
    """With ones at its entries."""
    return at_entries(matrix.tocsr(), np.ones(matrix.nnz))


def over(pattern, matrix):
    """The matrix with an entry, which may be 0, at each of the pattern's."""
    pattern = stored(pattern).tocsr()
    pattern.sort_indices()
    rows, cols = pattern.nonzero()
    return at_entries(pattern, np.asarray(matrix.tocsr()[rows, cols]).ravel().astype(float))


def product_pattern(left, right):
    return stored(stored(left) @ stored(right))


class Patterns(SparseValues):
    PLANS = PLANS

    def check(self, program, inputs, wanted, plans=None):
        (self.dir / "p.ks").write_text(program)
        for plan, results in self.every_plan("p.ks", inputs, plans=plans or self.PLANS):
            self.assertEqual(set(results), set(wanted))
            for name, value in wanted.items():
                got = results[name]
                if sparse.issparse(got) and got.dtype == bool:
                    got = got.astype(float)
                self.same(got, value, f"{name} of {plan}")

    def inputs(self, pattern=(), **arrays):
        words = super().inputs(**arrays)
        for name in pattern:
            io.mmwrite(str(self.dir / f"{name}.mtx"), arrays[name], field="pattern")
        return words

    # Those of SparseValues run by themselves.
    test_loop = test_square = test_files = test_ids_with_gaps = test_refused = None

    def test_union_and_intersection(self):
        x, y, g = small(31, 23, 1), small(31, 23, 2), stored(small(31, 23, 3))
        random = np.random.RandomState(4)
        a, b, u, v = random.randn(31), random.randn(23), random.randn(31, 2), random.randn(23, 2)
        x.data, y.data = random.randn(x.nnz), random.randn(y.nnz)
        either, both = stored(stored(x) + stored(y)), stored(stored(x).multiply(stored(y)))
        xd, yd = x.toarray(), y.toarray()
        full = lambda dense, pattern: over(pattern, sparse.csr_matrix(dense))
        wanted = {
            "S": over(either, x + y), "D": over(either, x - 0.5 * y), "P": over(both, x.multiply(y)),
            "big": full(np.maximum(xd, yd), either), "most": full(np.maximum(abs(xd), abs(yd)), either),
            "inX": full(xd * np.where(yd > 0, 2.0, 1.0), x), "chosen": full(np.where(xd > 0, yd, 0.0), both),
            "either": over(either, either), "marked": over(stored(g.multiply(x)), x),
            "all": over(stored(either + g), x + y + g),
            "nested": over(stored(both + stored(g.multiply(either))), x.multiply(y) + g.multiply(x - y)),
            "rows": xd.sum(1) + yd.sum(1), "columns": (xd * yd).sum(0), "total": abs(xd - yd).sum(),
            "rest": ((xd + yd) ** 2).sum(), "v": (xd + yd) @ b, "w": (xd + yd).T @ a, "W": (xd * yd) @ v,
            "pairs": (xd * (u @ v.T) - yd).sum(0)}
        self.check(TWO, self.inputs("G", X=x, Y=y, G=g, a=a, b=b, U=u, V=v), wanted)

    def test_loop_over_union(self):
        x, y, b = small(30, 26, 5), small(30, 26, 6), np.random.RandomState(7).randn(26)
        w = x + y
        for _ in range(4):
            r = w @ b
            w = 0.5 * w + sparse.diags(np.minimum(r, 1.0)) @ x - 0.25 * y
        self.check(LOOP, self.inputs(X=x, Y=y, b=b), {"W": over(stored(stored(x) + stored(y)), w), "total": w.sum()})

    def test_products(self):
        random = np.random.RandomState(8)
        a, b, g = small(28, 28, 9), small(28, 28, 10), stored(small(28, 28, 11))
        v = random.randn(28)
        a.data, b.data = random.randn(a.nnz), random.randn(b.nnz)
        both = stored(stored(a).multiply(stored(b)))
        ab = product_pattern(a, b)
        diagonal = lambda m, keep: over(m, m.multiply(sparse.csr_matrix(keep)))
        i, j = np.indices((28, 28))
        wanted = {
            "masked": over(a, a.multiply(a @ b)), "pattern": over(g, g.multiply(g @ g)),
            "crossed": over(b, b.multiply(a.T @ b)), "other": over(a, a.multiply(b @ a.T)),
            "C": over(ab, a @ b), "gram": over(product_pattern(a.T, a), a.T @ a),
            "deep": over(product_pattern(ab, b), a @ b @ b),
            "plus": over(stored(stored(a) + product_pattern(a, a)), a + a @ a), "through": a @ (b @ v),
            "triangles": g.multiply(g @ g).sum(), "twice": over(a, a.multiply((a + b) @ a.multiply(b))),
            "lower": diagonal(a, j <= i), "upper": diagonal(a, j >= i), "below": diagonal(a, j < i),
            "above": diagonal(a, j > i), "d": a.diagonal(), "e": (a + b).diagonal()}
        assert both.nnz > 0
        self.check(SQUARE, self.inputs("G", A=a, B=b, G=g, v=v), wanted)

    def test_integers(self):
        random = np.random.RandomState(12)
        def whole(rows, cols, seed):
            matrix = small(rows, cols, seed)
            matrix.data = random.randint(1, 9, matrix.nnz).astype(np.int64)
            return matrix.astype(np.int64)
        a, b, x = whole(14, 19, 13), whole(19, 17, 14), whole(14, 17, 15)
        ab = product_pattern(a, b)
        self.check(RECTANGULAR, self.inputs(A=a, B=b, X=x), {
            "C": over(ab, a @ b), "R": over(x, x.multiply(a @ b)), "T": over(stored(stored(x) + ab), x - a @ b),
            "rows": np.asarray((a @ b).sum(1)).ravel()})

    def test_no_common_entries(self):
        x = sparse.csr_matrix(([1.0, 2.0], ([0, 4], [1, 3])), (5, 4))
        y = sparse.csr_matrix(([3.0], ([2], [2])), (5, 4))
        self.check("dim N, M\ninput X : f64[N, M], Y : f64[N, M]\noutput P = X * Y, S = X + Y, s = sum(X * Y)\n",
                   self.inputs(X=x, Y=y), {"P": sparse.csr_matrix((5, 4)), "S": x + y, "s": 0.0})

    def test_triangles(self):
        """Of a graph of e-mail: as many as the third power of its matrix says."""
        data = pathlib.Path(os.environ.get("KASEN_DATA", "")) / "email-Enron.txt.xz"
        if not data.is_file():
            self.skipTest("KASEN_DATA has no email-Enron.txt.xz")
        edges = np.loadtxt(lzma.open(data), np.int64, comments="#")
        n = edges.max() + 1
        g = sparse.csr_matrix((np.ones(len(edges)), (edges[:, 0], edges[:, 1])), (n, n))
        g = stored(g + g.T)
        io.mmwrite(str(self.dir / "G.mtx"), g, field="pattern")
        (self.dir / "p.ks").write_text(TRIANGLES)
        wanted = g.multiply(g @ g).sum() / 6
        for plan, results in self.every_plan("p.ks", ["G=G.mtx"], plans=[(1, 1, "cost"), (3, 1, "fuse-all")]):
            self.assertEqual(results["triangles"], wanted, plan)

    def test_sizes_are_told(self):
        """partition counts the entries of patterns."""
        a, b = small(28, 28, 9), small(28, 28, 10)
        (self.dir / "p.ks").write_text(
            "dim N\ninput A : f64[N, N], B : f64[N, N]\noutput S = A + B, P = A * B, C = A @ B\n")
        self.kasen("plan", "p.ks", "-o", "plan.kir")
        self.kasen("partition", "--program", "plan.kir", *self.inputs(A=a, B=b), "--workers", 2, "-o", "bundle")
        told, _ = self.kasen("partition", "--stats", "bundle")
        for name, pattern in (("A|B", stored(a) + stored(b)), ("A&B", stored(a).multiply(stored(b))),
                              ("A@B", product_pattern(a, b))):
            self.assertRegex(told, rf"{re.escape(name)}\b.*\b{pattern.nnz:,}\b", name)

    def test_wrong(self):
        inputs = self.inputs(X=small(9, 8, 1), Y=small(9, 8, 2))
        for line, said in (("X + (if Y == 0 then 1.0 else 0.0)", "not 0 where"), ("X * Y + 1.0", "not 0 where")):
            (self.dir / "p.ks").write_text(f"dim N, M\ninput X : f64[N, M], Y : f64[N, M]\noutput W = {line}\n")
            _, told = self.kasen("plan", "p.ks", "-o", "plan.kir", status=BAD)
            self.assertIn(said, told)
            self.assertIn("p.ks:3:", told)
        self.assertTrue(inputs)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
