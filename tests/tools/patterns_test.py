"""Expressions over several sparse matrices beside SciPy: sums and products entry by entry, products of two sparse
matrices, masked ones, triangles of graphs, on several workers and by every strategy.

patterns_test.py FOLDER_OF_TOOLS SOURCE_ROOT [unittest arguments]
"""
import lzma
import os
import pathlib
import re
import sys
import types
import unittest

import numpy as np
from scipy import io, sparse

sys.dont_write_bytecode = True  # the source tree stays as it is
from algorithms_test import PlanTest  # noqa: E402
from library_calls import STORED  # noqa: E402
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
TURNED = """dim N, M
input A : f64[N, N], X : f64[N, M], Y : f64[M, N], G : null[N, N], v : f64[N]
S = 0.5 * (A + A')
output S, D = X - Y', P = X * Y', T = X', back = (X')', most = max(abs(A), abs(A')), mutual = sum(G * G'), scaled = (A * v)'
output p = S @ v, q = (X + Y')' @ v, masked = A' * (A @ A'), C = X @ (X' + Y), first = argmax(X - Y', over M)
output least = mxvt((x, e) -> x, min, A', v), lower = tril(A + A'), d = diag(A' * A), total = sum(Y' * v)
"""
PLACES = """dim N, M
input X : f64[N, M], Y : f64[N, M], G : null[N, M], a : f64[N]
output most = argmax(X, over M), least = argmin(X, over N), of = argmax(X * a, over N), ones = argmin(G, over M)
output both = argmax(X + Y, over M), less = argmin(X * Y, over N), whole = argmax(i64(4.0 * X), over M)
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

    def test_turned(self):
        random = np.random.RandomState(21)
        a, x, y, g, v = small(28, 28, 22), small(28, 17, 23), small(17, 28, 24), stored(small(28, 28, 25)), random.randn(28)
        a.data, x.data, y.data = random.randn(a.nnz), random.randn(x.nnz), random.randn(y.nnz)
        e, f, h = a.toarray(), x.toarray(), y.toarray()
        either, both = stored(stored(x) + stored(y).T), stored(stored(x).multiply(stored(y).T))
        whole = stored(stored(a) + stored(a).T)
        full = lambda dense, pattern: over(pattern, sparse.csr_matrix(dense))
        i, j = np.indices(e.shape)
        wanted = {
            "S": full((e + e.T) / 2, whole), "D": full(f - h.T, either), "P": full(f * h.T, both), "T": full(f.T, x.T),
            "back": full(f, x), "most": full(np.maximum(abs(e), abs(e.T)), whole), "mutual": g.multiply(g.T).sum(),
            "scaled": full((e * v).T, a.T), "p": (e + e.T) @ v / 2, "q": (f + h.T).T @ v,
            "masked": full(e.T * (e @ e.T), a.T), "C": full(f @ (f.T + h), product_pattern(x, either.T)),
            "first": (f - h.T).argmax(1), "lower": full(np.where(j <= i, e + e.T, 0), whole), "d": np.diag(e.T * e),
            "least": np.array([min(v[e.T[row] != 0], default=np.inf) for row in range(28)]), "total": (h.T * v[:, None]).sum()}
        self.check(TURNED, self.inputs("G", A=a, X=x, Y=y, G=g, v=v), wanted)

    def test_turned_whole_rows(self):
        x, y = small(40, 9, 26, 30), small(9, 40, 27, 30)
        f, h, u = x.toarray(), y.toarray(), np.random.RandomState(28).randn(40)
        self.check(
            "dim N, F local\ninput X : sparse f64[N, F], Y : sparse f64[F, N], u : f64[N]\nS = X + Y'\n"
            "output S, T = X', s = sum(S, over F), c = sum(X' + Y, over F), q = (X' + Y) @ u, a = argmax(X' - Y, over F)\n",
            self.inputs(X=x, Y=y, u=u),
            {"S": over(stored(stored(x) + stored(y).T), x + y.T), "T": over(x.T, x.T), "s": (f + h.T).sum(1),
             "c": (f.T + h).sum(0), "q": (f.T + h) @ u, "a": (f.T - h).argmax(0)})

    def places_of(self, x, y, g, a):
        of = (x * a[:, None], x + y, np.where(y != 0, x * y, 0))
        return {"most": x.argmax(1), "least": x.argmin(0), "of": of[0].argmax(0), "ones": g.argmin(1), "both": of[1].argmax(1),
                "less": of[2].argmin(0), "whole": np.nan_to_num(4 * x).astype(np.int64).argmax(1)}

    def test_places(self):
        """Zeros that are not stored count, of equal elements the first is meant, and the first NaN wins."""
        def matrix(rows, cols, per_cent, seed):
            made = small(rows, cols, seed, per_cent)
            made.data = np.random.RandomState(seed).randint(-2, 2, made.nnz).astype(float)
            return made
        for rows, cols, per_cent in ((30, 12, 40), (12, 30, 95), (1, 1, 100), (9, 1, 50)):
            x, y, g = (matrix(rows, cols, per_cent, seed) for seed in (31, 32, 33))
            g, y.data = stored(g), np.where(y.data == 0, 3.0, y.data)
            if rows == 30:
                x.data[5] = x.data[11] = np.nan
                x = x.multiply(np.arange(rows)[:, None] != 4).tocsr()  # a row of zeros that are stored
            if rows == 12:
                x = sparse.csr_matrix(np.where(np.arange(rows)[:, None] == 2, -1.0, x.toarray()))  # a row without zeros
            a = np.random.RandomState(34).randint(-1, 2, rows).astype(float)
            for program in (PLACES, PLACES.replace("M\n", "M local\n", 1).replace("f64[N, M]", "sparse f64[N, M]").replace("null", "sparse null")):
                self.check(program, self.inputs("G", X=x, Y=y, G=g, a=a), self.places_of(x.toarray(), y.toarray(), g.toarray(), a),
                           [(3, 2, "cost"), (2, 1, "none")] if min(rows, cols) > 1 else [(2, 1, "greedy")])

    def test_products_to_local_dimensions(self):
        """X' @ Y of whole rows is an array."""
        x, y, z = small(60, 7, 51, 30), small(60, 5, 52, 30), small(7, 60, 53, 30)
        f, h, g, w = x.toarray(), y.toarray(), z.toarray(), np.random.RandomState(54).rand(60)
        program = """dim N, F local = 7, K local = 5
input X : sparse f64[N, F], Y : sparse f64[N, K], Z : sparse f64[F, N], G : sparse null[N, K], w : f64[N]
output gram = X' @ X, XY = X' @ Y, YX = (w * Y)' @ (2 * X), ZX = Z @ X, ZZ = Z @ Z', XZ = X' @ Z', ones = G' @ G, beside = X' @ G
output solved = solve(X' @ X, X' @ w), logic = (X > 0.5)' @ (Y > 0.5)
"""
        ones = (h > 0).astype(float)
        self.check(program, self.inputs("G", X=x, Y=y, Z=z, G=stored(y), w=w), {
            "gram": f.T @ f, "XY": f.T @ h, "YX": (w[:, None] * h).T @ (2 * f), "ZX": g @ f, "ZZ": g @ g.T, "XZ": f.T @ g.T,
            "ones": ones.T @ ones, "beside": f.T @ ones, "solved": np.linalg.solve(f.T @ f, f.T @ w),
            "logic": ((f > 0.5).T.astype(int) @ (h > 0.5)) > 0})

    def test_truss(self):
        """What a loop makes of a graph without values begins with ones."""
        g = stored(small(40, 40, 61, 30))
        g = stored(g + g.T).multiply(1 - np.eye(40)).tocsr()
        g.eliminate_zeros()
        e = wanted = g.toarray()
        while True:
            kept = wanted * (wanted * (wanted @ wanted) >= 3)
            if (kept == wanted).all():
                break
            wanted = kept
        assert 0 < wanted.sum() < e.sum()
        program = """dim N
input G : null[N, N]
W = G
more = true
while more {
  next = if W * (W @ W) >= 3 then W else 0.0
  more = any(next != W)
  W = next
}
again = W * 2
if sum(again) > 0 {
  again = G
}
output W, again
"""
        self.check(program, self.inputs("G", G=g), {"W": over(g, sparse.csr_matrix(wanted)), "again": g})

    def test_axes_of_a_square_matrix(self):
        """Another name of its dimension tells them apart."""
        a, d = small(33, 33, 55), np.random.RandomState(56).randn(33)
        a.data = np.random.RandomState(57).randn(a.nnz)
        e = a.toarray()
        program = """dim N, M = N[:]
input A : f64[N, N], d : f64[N]
output rows = sum(A as [N, M], over M), columns = sum(A as [M, N], over M), most = max(A as [N, M], over M)
output least = min((A * d) as [M, N], over M), at_rows_too = sum((A as [N, M]) * d, over M), own = sum((A as [M, N]) * d, over M)
output first = argmax(A as [N, M], over M), last = argmin(A' as [N, M], over M), all = sum(A as [N, M]), mean_of = mean(A as [N, M], over M)
"""
        self.check(program, self.inputs(A=a, d=d), {
            "rows": e.sum(1), "columns": e.sum(0), "most": e.max(1), "least": (e * d).min(0), "at_rows_too": e.sum(1) * d,
            "own": e.sum(0) * d, "first": e.argmax(1), "last": e.T.argmin(1), "all": e.sum(), "mean_of": e.mean(1)})

    def test_calls_of_the_library(self):
        """Each of docs/library.md, by SciPy."""
        v = types.SimpleNamespace(J=small(24, 24, 41), L=small(24, 24, 42), D=small(24, 13, 43), a=1 + np.random.RandomState(44).rand(24))
        v.J.data = np.random.RandomState(45).randn(v.J.nnz)
        wanted, lines = {}, []
        for k, (call, value) in enumerate(STORED.items()):
            made = value(v)
            made = made.toarray() if sparse.issparse(made) else np.asarray(made)
            wanted[f"r{k}"] = made.ravel() if 1 in made.shape else made
            lines.append(f"output r{k} = {call}\n")
        page = (pathlib.Path(sys.argv[2]) / "docs" / "library.md").read_text()
        head = re.search(r"^## Stored entries\n.*?```\n(.*?)```", page, re.S | re.M)[1]
        (self.dir / "p.ks").write_text('use "arrays", "linalg"\n' + head + "".join(lines))
        for plan, results in self.every_plan("p.ks", self.inputs(**vars(v)), plans=[(3, 2, "cost"), (2, 1, "none")]):
            for name, value in wanted.items():
                got = results[name]
                got = got.toarray() if sparse.issparse(got) else got
                np.testing.assert_allclose(got, value, rtol=1e-11, atol=1e-13, err_msg=f"{lines[int(name[1:])]} of {plan}")

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
        for line, said in (("X + (if Y == 0 then 1.0 else 0.0)", "not 0 where"), ("X * Y + 1.0", "not 0 where"),
                           ("sort(X, over N)", "a sparse matrix over [N, M] where an array is meant"), ("outer(f64(u), X)", "a sparse matrix"),
                           ("reshape(X, NM)", "a sparse matrix"), ("take(X, u, over N)", "a sparse matrix"),
                           ("mxv(min, min, X, Y)", "two sparse matrices"), ("(X + 1)'", "not 0 where"),
                           ("sum(A as [N, O], over N)", "'O' stand for the axis that goes"),
                           ("A as [N, O]", "keeps the names of its dimensions"), ("A as [O, O]", "one axis by its own name"),
                           ("sum((A as [N, O]) * o, over O)", "take a vector over [N]"), ("X' @ Y", ""),
                           ("S' @ S", "at most 1024 columns, whose number plan knows")):
            (self.dir / "p.ks").write_text("dim N, M, F local, O = N[:], NM = N * M\ninput X : f64[N, M], Y : f64[N, M], A : f64[N, N]\n"
                                           f"input S : sparse f64[N, F], u : i64[N], o : f64[O]\noutput W = {line}\n")
            if not said:
                self.kasen("plan", "p.ks", "-o", "plan.kir")
                continue
            _, told = self.kasen("plan", "p.ks", "-o", "plan.kir", status=BAD)
            self.assertIn(said, told)
            self.assertIn("p.ks:4:", told)
        self.assertTrue(inputs)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
