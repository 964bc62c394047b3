#!/usr/bin/env python3
"""Dimensions whose size the run finds: pick by masks with NumPy's values in the usual layout, over meshes and random
layouts, beside a graph; what is used before its size is known, and other wrong uses, are told.

Usage: pick_test.py FOLDER_OF_TOOLS SOURCE_ROOT [unittest arguments]
"""
import json
import sys
import unittest

import numpy as np

sys.dont_write_bytecode = True  # the source tree stays as it is
from array_cases import ArrayTest  # noqa: E402
from tools_test import BAD, USAGE  # noqa: E402

CUT = """dim N, M
dim K some N, L some M, J some K, E = K[::2], R = K[::-1], KN = K + N, KM = K * M
input A : dense f64[N, M], u : f64[N], v : f64[M], b : dense bool[N, M], i : dense i32[N]
input P : dense [f64; 2][N, M]
m = u > 0.0
x = pick(u, m, K)
a = pick(A, m, K)
w = i64(pick(index(N), m, K))
c = pick(b, m, K)
p = map(q -> q[1], pick(P, m, K))
k = pick(2 * i, m, K)
s = x * 2.0 + f64(k)
t = sum(x)
n = size(K)
f = mean(a, over K)
ml = v < 0.5
l = pick(v, ml, L)
d = pick(a, ml, L)
g = a @ v
h = d' @ x
o = sort(x)
q = cumsum(x)
e = slice(x, E)
r = slice(x, R)
y = concat(x, u, KN)
z = reshape(a, KM)
mj = x > t / 10.0
j = pick(x, mj, J)
jj = pick(a, mj, J)
big = max(abs(jj))
nr = i64(index(K))
for step in 0..3 {
  s = s * 0.5 + pick(u + s2, m, K)
}
output x, a, w, c, p, k, s, t, n, f, l, d, g, h, o, q, e, r, y, z, j, jj, big, nr
""".replace("for step", "s2 = u * 0.0\nfor step")
LOCAL = """dim V, L local
dim K local some L, T local = K[1:]
input G : null[V, V], X : f64[V, L], y : f64[L]
m = abs(y) > 0.5
a = pick(X, m, K)
b = pick(y, m, K)
s = slice(a, T)
x = sum(a, over K) + sum(G @ a, over K)
for step in 0..3 {
  x = sum(pick(X, m, K) * b, over K) + 0.1 * G @ x
}
n = size(K)
output a, b, s, x, n
"""


class Pick(ArrayTest):
    seed = 12
    inputs = {"A": "NM", "u": "N", "v": "M", "b": "NM", "P": "NM", "i": "N"}

    def close(self, name, made):
        return 1e-12

    def cut(self, n, m, shift=0.0):
        numbers = np.random.default_rng(n + m)
        A, u, v = numbers.normal(size=(n, m)), numbers.normal(size=n) + shift, numbers.normal(size=m)
        b, i = numbers.random((n, m)) < 0.5, numbers.integers(0, 99, n).astype("i4")
        P = numbers.normal(size=(n, m, 2))
        at, of = u > 0, v < 0.5
        x, a = u[at], A[at]
        s = x * 2 + 2 * i[at]
        for _ in range(3):
            s = s * 0.5 + x
        j = x > x.sum() / 10
        with np.errstate(all="ignore"):
            f = a.sum(axis=0) / float(len(x))
        wanted = {"x": x, "a": a, "w": np.flatnonzero(at), "c": b[at], "p": P[at][:, :, 1], "k": 2 * i[at], "s": s,
                  "t": x.sum(), "n": np.int64(len(x)), "f": f, "l": v[of], "d": a[:, of], "g": a @ v,
                  "h": a[:, of].T @ x, "o": np.sort(x), "q": np.cumsum(x), "e": x[::2], "r": x[::-1],
                  "y": np.concatenate([x, u]), "z": a.reshape(-1), "j": x[j], "jj": a[j],
                  "big": np.abs(a[j]).max(initial=-np.inf), "nr": np.arange(len(x))}
        return {"A": A, "u": u, "v": v, "b": b, "P": P, "i": i}, wanted

    def test_values_are_those_of_numpy_in_the_usual_layout(self):
        (self.dir / "p.ks").write_text(CUT)
        self.kasen("plan", "p.ks", "-o", "p.kir")
        for n, m, shift in ((23, 7, 0.0), (5, 2, 0.0), (1, 1, 9.0), (0, 3, 0.0), (12, 6, -9.0), (12, 6, 9.0)):
            arrays, wanted = self.cut(n, m, shift)
            for workers in (1, 3, 4):
                self.kasen("partition", "--replace", "--program", "p.kir", *self.save(arrays), "--workers", str(workers), "-o", "bundle")
                self.kasen("fuse", "p.kir", "--bundle", "bundle", "-o", "p3.kir")
                self.run_it("p3.kir", wanted, f"{n} x {m} + {shift} on {workers}", "-n", str(min(workers, 2)))

    def test_values_are_those_of_numpy_over_meshes_in_random_layouts(self):
        (self.dir / "p.ks").write_text(CUT)
        self.kasen("plan", "p.ks", "-o", "p.kir")
        arrays, wanted = self.cut(13, 7)
        self.kasen("partition", "--replace", "--program", "p.kir", *self.save(arrays), "--workers", "2", "-o", "bundle")
        for mesh in ("2x2", "3", "2x3"):
            for search in ("greedy", "exact"):
                hints = self.layouts(mesh)
                self.kasen("fuse", "p.kir", "--bundle", "bundle", "--mesh", mesh, "--tile", search, *hints, "-o",
                           "p3.kir")
                self.run_it("p3.kir", wanted, f"{mesh} by {search}, {hints}", "-n", "3")

    def test_sizes_that_the_run_found_are_in_its_counters(self):
        (self.dir / "p.ks").write_text(CUT)
        self.kasen("plan", "p.ks", "-o", "p.kir")
        arrays, wanted = self.cut(40, 3)
        self.kasen("partition", "--replace", "--program", "p.kir", *self.save(arrays), "--workers", "2", "-o", "bundle")
        self.kasen("fuse", "p.kir", "--bundle", "bundle", "-o", "p3.kir")
        out, _ = self.kasen("measure", "p3.kir", "--bundle", "bundle")
        self.assertIn("K is taken as N = 40, the most that it can be: the run finds it", out)
        self.run_it("p3.kir", wanted, "40 x 3")
        found = {size["name"]: size["number"] for size in json.loads((self.dir / "run.json").read_text())["sizes"]
                 if size["what"] == "indices"}
        count = int((arrays["u"] > 0).sum())
        self.assertEqual((found["K"], found["E"], found["R"]), (count, (count + 1) // 2, count))
        self.kasen("fuse", "p.kir", "--sizes", "N=40,M=3,P=2", "--observed", "run.json", "-o", "p4.kir")

    def test_picked_elements_go_straight(self):
        """Each to the owner of its place in the result; the mask goes to all workers."""
        (self.dir / "p.ks").write_text("dim N, M\ndim K some N\ninput x : f64[N], A : dense f64[N, M]\nm = x > 0.0\n"
                                       "y = pick(x, m, K)\nB = pick(A, m, K)\noutput y, B\n")
        self.kasen("plan", "p.ks", "-o", "p.kir")
        n, numbers = 40000, np.random.default_rng(4)
        for kind, x in (("random", numbers.normal(size=n)), ("half", np.where(np.arange(n) < n // 2, 1.0, -1.0))):
            arrays = {"x": x, "A": numbers.normal(size=(n, 3))}
            wanted = {"y": x[x > 0], "B": arrays["A"][x > 0]}
            for workers, mesh, ranks in ((4, "4", 1), (4, "4", 4), (4, "2x2", 2), (3, "3", 3), (4, "", 2)):
                self.kasen("partition", "--replace", "--program", "p.kir", *self.save(arrays), "--workers", str(workers),
                           "-o", "bundle")
                rows = "ab" if "x" in mesh else "a"
                over = ["--mesh", mesh, "--layout", f"A=[N/{rows},M]", "--layout", f"B=[K/{rows},M]"] if mesh else []
                self.kasen("fuse", "p.kir", *over, "--bundle", "bundle", "-o", "p3.kir")
                straight = (self.dir / "p3.kir").read_text().count("relayout[K of N]")
                self.assertEqual(straight, 2 if mesh else 1)  # else A is cut over M: nothing moves
                self.run_it("p3.kir", wanted, f"{kind} {workers} {mesh}", "-n", str(ranks))
                ops = json.loads((self.dir / "run.json").read_text())["operators"]
                for op in (op for op in ops if "relayout[" in op["operator"]):
                    elements, moved = n * (3 if "%B" in op["operator"] else 1), op.get("moved_elements", 0)
                    if kind == "random":
                        self.assertLess(moved, 0.02 * elements)
                    elif workers == 4:
                        self.assertEqual(moved, 3 * elements // 8)

    def test_beside_a_graph(self):
        (self.dir / "p.ks").write_text(LOCAL)
        self.kasen("plan", "p.ks", "-o", "p.kir")
        numbers = np.random.default_rng(5)
        dense, X, y = numbers.random((9, 9)) < 0.4, numbers.normal(size=(9, 5)), numbers.normal(size=5)
        (self.dir / "g.tsv").write_text("".join(f"{r}\t{c}\n" for r, c in np.argwhere(dense)) + "8\t8\n")
        dense[8, 8] = True
        at = np.abs(y) > 0.5
        a, b = X[:, at], y[at]
        x = a.sum(axis=1) + dense @ a.sum(axis=1)
        for _ in range(3):
            x = (a * b).sum(axis=1) + 0.1 * (dense @ x)
        wanted = {"a": a, "b": b, "s": a[:, 1:], "x": x, "n": np.int64(len(b))}
        np.save(self.dir / "X.npy", X)
        np.save(self.dir / "y.npy", y)
        for workers in (1, 3):
            self.kasen("partition", "--replace", "--program", "p.kir", "G=g.tsv", "X=X.npy", "y=y.npy", "--workers", str(workers), "-o", "bundle")
            for strategy in ("greedy", "cost", "none", "fuse-all"):
                self.kasen("fuse", "p.kir", "--bundle", "bundle", "--strategy", strategy, "-o", "p3.kir")
                self.run_it("p3.kir", wanted, f"{strategy} on {workers}")
                self.run_it("p3.kir", wanted, f"{strategy} on {workers}", "--kernels", "interpreter")

    def test_wrong_uses_are_told(self):
        head = "dim N\ndim K some N\ninput x : f64[N], y : f64[N]\n"
        for body, line, said in (
                ("z = fill(0.0, K)\noutput z\n", 4, "dimension 'K' is used before its size is known"),
                ("input z : f64[K]\noutput z\n", 4, "dimension 'K' is used before its size is known"),
                ("z = pick(x, x > 0.0, N)\noutput z\n", 4, "pick to dimension 'N', which has a size of its own"),
                ("z = pick(x, x, K)\noutput z\n", 4, "pick by a mask that is f64[N]"),
                ("z = pick(1.0, x > 0.0, K)\noutput z\n", 4, "pick"),
                ("z = pick(x, K)\noutput z\n", 4, "pick of 2 arguments"),
                ("a = pick(x, x > 0.0, K)\nb = pick(x, y > 0.0, K)\noutput a, b\n", 5,
                 "dimension 'K' has the mask of line 4"),
                ("for i in 0..3 {\n  x = x + sum(pick(x, x > 0.0, K))\n}\noutput x\n", 5,
                 "the first pick of 'K' in a loop or branch"),
                ("dim L local some N\nz = pick(x, x > 0.0, L)\noutput z\n", 4, "'L' is local, and 'N' is not"),
                ("dim L some Q\noutput x\n", 4, "'Q' is no dimension"),
                ("dim M = 2, Q = K / M\noutput x\n", 4, "a quotient of 'K', whose size the run finds")):
            (self.dir / "w.ks").write_text(head + body)
            _, told = self.kasen("plan", "w.ks", "-o", "w.kir", status=BAD)
            self.assertIn(f"w.ks:{line}:", told)
            self.assertIn(said, told)

    def test_checkpoints_and_sizes_by_hand_are_refused(self):
        (self.dir / "p.ks").write_text("dim N\ndim K some N\ninput x : f64[N]\ny = pick(x, x > 0.0, K)\noutput y\n")
        np.save(self.dir / "x.npy", np.arange(-3.0, 3.0))
        self.kasen("plan", "p.ks", "-o", "p.kir")
        _, told = self.kasen("partition", "--replace", "--program", "p.kir", "x=x.npy", "--dim", "K=2", "--workers", "2", "-o", "b", status=USAGE)
        self.assertIn("the size of 'K' follows from those of other dimensions", told)
        self.kasen("partition", "--replace", "--program", "p.kir", "x=x.npy", "--workers", "2", "-o", "bundle")
        self.kasen("fuse", "p.kir", "--bundle", "bundle", "-o", "p3.kir")
        _, told = self.kasen("run", "p3.kir", "--bundle", "bundle", "-o", "o.npy", "--checkpoint", "c", status=USAGE)
        self.assertIn("no checkpoint holds the size of dimension 'K'", told)
        _, told = self.kasen("fuse", "p.kir", "--sizes", "N=5,K=6", "-o", "q.kir", status=USAGE)
        self.assertIn("some N, which has at most 5 indices", told)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
