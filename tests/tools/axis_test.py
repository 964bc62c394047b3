#!/usr/bin/env python3
"""Along one dimension: scan, sort, argsort, take and reductions by keys give NumPy's values, in the usual layout, over meshes and random
layouts, beside a graph, on the wild numbers, and with places that do not exist.

Usage: axis_test.py FOLDER_OF_TOOLS SOURCE_ROOT [unittest arguments]
"""
import json
import sys
import unittest

import numpy as np

sys.dont_write_bytecode = True  # the source tree stays as it is
from array_cases import ArrayTest  # noqa: E402
from tools_test import BAD  # noqa: E402

CUT = """dim N, M, K
fn next(a, b) = (a.0 * b.0, a.1 * b.0 + b.1)
input A : dense f64[N, M], I : dense i64[N, M], H : dense f32[N, M, K], u : f64[N], v : f64[M], b : dense bool[N, M], j : i32[K]
s1 = cumsum(A, over N)
s2 = cumsum(A, over M)
s3 = cumprod(u)
s4 = scan(max, H, over M)
s5 = cummin(I, over N)
pair = map((a, x) -> (0.5 * a, x), u, u)
s6 = scan(next, pair)
run = s6.1
o1 = sort(A, over N)
o2 = sort(H, over K)
o3 = sort(I, over M)
o4 = sort(b, over N)
k1 = argsort(A, over N)
k2 = argsort(I, over M)
i1 = i64(k1)
i2 = i64(k2)
t1 = take(I, k1)
t2 = take(u, k1)
t3 = take(A, argsort(u))
t4 = take(A, j, over M)
t5 = take(H, 2 * i64(j) % size(M), over M)
t6 = take(v, argsort(I, over M), over M)
last = take(s6, size(N) - 1 - i64(index(N)))
back = last.1
output s1, s2, s3, s4, s5, run, o1, o2, o3, o4, i1, i2, t1, t2, t3, t4, t5, t6, back
"""
LOCAL = """dim V, L local, C local
input G : null[V, V], X : f64[V, L], Y : [f64; 2][V, L], Z : f64[L, C], k : i64[V, L], c : i64[C]
fn plus(a, b) = [j in 2: a[j] + b[j]]
r1 = cumsum(X, over L)
r2 = scan(plus, Y, over L)
two = map(q -> q[1], r2)
r3 = sort(X, over L)
r4 = i64(argsort(X, over L))
r5 = take(X, k, over L)
r6 = take(X, argsort(X, over L))
r7 = cummax(Z, over L)
r8 = take(Z, c, over L)
r9 = sort(Z, over C)
x = X @ fill(1.0, L)
for i in 0..3 {
  y = cumsum(map((a, g) -> a + 0.1 * g, X, G @ x), over L)
  x = sum(y, over L) * 0.01
}
output r1, two, r3, r4, r5, r6, r7, r8, r9, x
"""

KEYS = """dim N, M, K, C local, F local
fn both(a, b) = (max(a.0, b.0), a.1 + b.1)
fn sharp(a, b) = a + b + a * b
input A : dense f64[N, M], I : dense i64[N, M], H : dense f32[N, F], x : f64[N], k : i64[N], c : i32[N], q : dense i64[N, M], b : dense bool[N, M], f : i64[F]
r1 = sum(1, by k in K)
r2 = sum(x, by k in K)
r3 = max(A, by c in C)
r4 = mean(A, by q in K)
r5 = sum(A, by q in K, over N)
r6 = min(I, over N, by k in K)
r7 = sum(H, by f in C)
r8 = prod(map((a, i) -> if i > 0 then 2.0 else 1.0, A, I), by q in C, over M)
r9 = any(b, by q in K)
pairs = reduce(both, map((a, i) -> (a, i), x, k), by c in C)
r10 = pairs.0
r11 = sumsq(x, by index(N))
r12 = sum(2.5, over N, by q in C)
r13 = reduce(sharp, x, by k in K)
r14 = x
for i in 0..3 {
  r14 = 0.5 * sum(r14 + x, by k in N)
}
output r1, r2, r3, r4, r5, r6, r7, r8, r9, r10, r11, r12, r13, r14
"""
KEYS_LOCAL = """dim V, L local, C local
input G : null[V, V], X : f64[V, L], k : i64[V], q : i64[V, L], l : i64[L]
r1 = sum(X, by k in C)
r2 = max(X, by q in C)
r3 = mean(X, by q in C, over L)
r4 = sum(1, by k in C)
r5 = sum(X, by l in C)
r6 = sum(X, by q in L, over L)
s = fill(0.0, C)
x = X @ fill(1.0, L)
for i in 0..3 {
  s = 0.5 * s + sum(G @ x, by k in C)
  x = x * 0.1 + sum(s)
}
output r1, r2, r3, r4, r5, r6, s
"""

CARRIED = """dim N, M, K
fn next(a, b) = (a.0 * b.0, a.1 * b.0 + b.1)
fn both(a, b) = (max(a.0, b.0), a.1 + b.1)
fn plus(a, b) = [j in 2: a[j] + b[j]]
fn either(a, b) = a || b
fn latest(a, b) = if b.0 then b else a
input x : f64[N], f : f32[N], i : i64[N], j : i32[N], b : bool[N], P : [f64; 2][N]
input A : dense f64[N, M], I : dense i64[N, M], H : dense f32[N, M, K]
c1 = cumsum(x)
c2 = cumsum(f)
c3 = cumsum(i)
c4 = cumsum(j)
c5 = scan(either, b)
c6 = cumprod(x)
c7 = cummax(f)
c8 = cummin(j)
whole = cumsum(f64(i))
run = scan(next, map(a -> (0.5 * a, a), x))
r1 = run.1
mixed = scan(both, map((f, i) -> (f, i), f, i))
m0 = mixed.0
m1 = mixed.1
held = scan(latest, map((b, x) -> (b, x), b, x))
l1 = held.1
p = scan(plus, P)
a1 = cumsum(A, over N)
a2 = cumsum(A, over M)
a3 = cumsum(I, over M)
h1 = cummax(H, over M)
h2 = cumsum(H, over K)
h3 = cummin(H, over N)
y = x
for t in 0..3 {
  y = 0.5 * cumsum(y) + x
}
output c1, c2, c3, c4, c5, c6, c7, c8, whole, r1, m0, m1, l1, p, a1, a2, a3, h1, h2, h3, y
"""
EXACT = ("c3", "c4", "c5", "c7", "c8", "whole", "m0", "m1", "l1", "a3", "h1", "h3")


def recurrence(a, b):
    x, made = 0.0, []
    for one, other in zip(a, b):
        x = x * one + other
        made.append(x)
    return np.array(made)


class AxisTest(ArrayTest):
    seed = 7


class Axis(AxisTest):
    inputs = {"A": "NM", "I": "NM", "H": "NMK", "u": "N", "v": "M", "b": "NM", "j": "K"}

    def cut(self, n, m, k):
        numbers = np.random.default_rng(n + m)
        A, I = numbers.normal(size=(n, m)), numbers.integers(-3, 4, (n, m))
        H, u, v = numbers.normal(size=(n, m, k)).astype("f4"), numbers.normal(size=n), numbers.normal(size=m)
        b, j = numbers.random((n, m)) < 0.5, numbers.integers(0, m, k).astype("i4")
        k1, k2 = np.argsort(A, 0), np.argsort(I, 1, kind="stable")
        run = recurrence(0.5 * u, u)
        wanted = {
            "s1": A.cumsum(0), "s2": A.cumsum(1), "s3": u.cumprod(), "s4": np.maximum.accumulate(H, 1),
            "s5": np.minimum.accumulate(I, 0), "run": run, "o1": np.sort(A, 0), "o2": np.sort(H, 2), "o3": np.sort(I, 1),
            "o4": np.sort(b, 0), "i1": k1, "i2": k2, "t1": np.take_along_axis(I, k1, 0), "t2": u[k1], "t3": A[np.argsort(u)],
            "t4": A[:, j], "t5": H[:, 2 * j.astype(int) % m, np.arange(k)], "t6": v[k2], "back": run[::-1]}
        return dict(A=A, I=I, H=H, u=u, v=v, b=b, j=j), wanted

    def test_over_meshes(self):
        (self.dir / "a.ks").write_text(CUT)
        self.kasen("plan", "a.ks", "-o", "p.kir")
        for n, m, k in [(1, 9, 4), (7, 5, 3)]:
            arrays, wanted = self.cut(n, m, k)
            self.kasen("partition", "--program", "p.kir", *self.save(arrays), "--workers", "2", "-o", "bundle", "--replace")
            for mesh, ranks, search in [("", 0, ""), ("", 2, ""), ("2x2", 0, "exact"), ("3", 3, "worst"), ("2x2x2", 2, "greedy"),
                                        ("2x3", 0, "none"), ("2x3", 0, "layouts")][::4 if n == 1 else 1]:
                over = ["--mesh", mesh] if mesh else []
                over += self.layouts(mesh) if search == "layouts" else ["--tile", search] if search else []
                self.kasen("fuse", "p.kir", *over, "--bundle", "bundle", "-o", "f.kir")
                self.run_it("f.kir", wanted, f"{mesh} {search}", *(["-n", str(ranks)] if ranks else []))

    def test_beside_a_graph(self):
        (self.dir / "a.ks").write_text(LOCAL)
        numbers = np.random.default_rng(2)
        v, l, c = 20, 6, 4
        X, Y, Z = numbers.normal(size=(v, l)), numbers.normal(size=(v, l, 2)), numbers.normal(size=(l, c))
        k, at = numbers.integers(0, l, (v, l)), numbers.integers(0, l, c)
        G = (numbers.random((v, v)) < 0.2).astype(float)
        G[0, :] = G[:, 0] = 1  # so that each vertex is mentioned
        (self.dir / "g.txt").write_text("".join(f"{i} {j}\n" for i, j in zip(*np.nonzero(G))))
        x = X.sum(1)
        for _ in range(3):
            x = (X + 0.1 * (G @ x)[:, None]).cumsum(1).sum(1) * 0.01
        wanted = {
            "r1": X.cumsum(1), "two": Y.cumsum(1)[:, :, 1], "r3": np.sort(X, 1), "r4": np.argsort(X, 1),
            "r5": np.take_along_axis(X, k, 1), "r6": np.sort(X, 1), "r7": np.maximum.accumulate(Z, 0),
            "r8": Z[at, np.arange(c)], "r9": np.sort(Z, 1), "x": x}
        inputs = self.save(dict(X=X, Y=Y, Z=Z, k=k, c=at))
        self.kasen("plan", "a.ks", "-o", "p.kir")
        for workers, ranks, strategy in self.plans():
            self.kasen("partition", "--program", "p.kir", "G=g.txt", *inputs, "--workers", workers, "-o", "bundle", "--replace")
            self.kasen("fuse", "p.kir", "--strategy", strategy, "-o", "f.kir")
            self.run_it("f.kir", wanted, f"{workers} {strategy}", *self.over(ranks))

    def test_wild_numbers(self):
        wild = np.array([0.0, -0.0, np.nan, np.inf, -np.inf, 1.0, -1.0, np.nan, 5e-324, -5e-324])
        (self.dir / "a.ks").write_text("dim N, F local\ninput x : f64[N], y : f64[F]\noutput s = sort(x), k = i64(argsort(x)), t = sort(y)\n")
        self.kasen("go", "a.ks", *self.save({"x": wild, "y": wild}), "-o", "out.npy")
        order = [4, 6, 9, 1, 0, 8, 5, 3, 2, 7]
        np.testing.assert_array_equal(np.load(self.dir / "out-k.npy"), order)
        for name in ("out.npy", "out-t.npy"):
            got = np.load(self.dir / name)
            np.testing.assert_array_equal(got, wild[order])
            self.assertEqual(list(np.signbit(got[3:5])), [True, False])

    def test_the_empty_array(self):
        (self.dir / "a.ks").write_text("dim N, F local\ninput X : f64[N, F]\n"
                                       "output s = cumsum(X, over N), o = sort(X, over F), t = take(X, argsort(X, over N))\n")
        for shape in [(0, 3), (4, 0), (1, 1)]:
            inputs = self.save({"X": np.ones(shape)})
            self.kasen("go", "a.ks", *inputs, "--dim", f"N={shape[0]}", "--dim", f"F={shape[1]}", "-o", "out.npy")
            for name in ("out.npy", "out-o.npy", "out-t.npy"):
                self.assertEqual(np.load(self.dir / name).shape, shape)

    def test_places_outside(self):
        (self.dir / "a.ks").write_text("dim N, K, F local\ninput x : f64[N], k : i64[K], y : f64[F], i : i64[F]\n"
                                       "a = take(x, k)\nb = take(y, i)\noutput a, b\n")
        good = {"x": np.arange(5.0), "k": np.array([0, 4, 2]), "y": np.arange(3.0), "i": np.array([2, 1, 0])}
        self.kasen("go", "a.ks", *self.save(good), "-o", "out.npy")
        for name, bad, says in [("k", [0, 5, 2], ["a.ks:3", "place 5 of 'N'", "0 to 4"]), ("i", [0, -1, 2], ["a.ks:4", "place -1 of 'F'"])]:
            inputs = self.save({**good, name: np.array(bad)})
            self.fault("go", "a.ks", *inputs, "-o", "bad.npy", status=BAD, says=says)
            self.assertFalse((self.dir / "bad.npy").exists())
            self.fault("go", "a.ks", *inputs, "--workers", "3", "-n", "3", "-o", "bad.npy", status=BAD, says=says)

    def test_refusals(self):
        head = "dim N, M, K local = 4\ninput A : dense f64[N, M], S : dense f64[N, N], x : f64[N], P : [f64; 3][N]\n"
        for text, says in [("scan(-, x)", "'sub' cannot scan: it is not associative"), ("cumsum(A)", "name it: cumsum(A, over M)"),
                           ("sort(P)", "numbers have an order"), ("cumsum(S, over N)", "one stands twice"), ("take(x, x)", "places along 'N'"),
                           ("scan(x)", "write scan(+, v)"), ("take(A, index(M), over N)", "it is an index of M, not of N"), ("sort(x, over M)", "'M'"),
                           ("argsort(A, over N, M)", "one dimension")]:
            (self.dir / "bad.ks").write_text(head + f"output y = {text}\n")
            self.fault("plan", "bad.ks", status=BAD, says=["bad.ks:3", says])
        (self.dir / "bad.ks").write_text("dim N\ninput G : f64[N, N], x : f64[N]\ns = cumsum(x)\noutput y = G @ x, s\n")
        plan, _ = self.kasen("plan", "bad.ks")
        self.fault("fuse", status=BAD, stdin=plan, says=["bad.ks:3", "'G' is sparse", "a program of its own"])


SORTS = """dim N, M, F local
input x : f64[N], h : f32[N], i : i64[N], j : i32[N], b : bool[N], A : dense f64[N, M], X : dense i32[N, F], T : dense f32[F, N, M]
s1 = sort(x)
k1 = i64(argsort(x))
s2 = sort(h)
k2 = i64(argsort(h))
s3 = sort(i)
k3 = i64(argsort(i))
s4 = sort(j)
k4 = i64(argsort(j))
s5 = sort(b)
k5 = i64(argsort(b))
s6 = sort(A, over N)
k6 = i64(argsort(A, over N))
s7 = sort(A, over M)
k7 = i64(argsort(A, over M))
s8 = sort(X, over N)
k8 = i64(argsort(X, over N))
s9 = sort(T, over M)
k9 = i64(argsort(T, over N))
output s1, k1, s2, k2, s3, k3, s4, k4, s5, k5, s6, k6, s7, k7, s8, k8, s9, k9
"""


def order(array, axis):
    """The places of a stable sort in the order of IEEE 754 (totalOrder), with one NaN behind all."""
    if array.dtype.kind != "f":
        return np.argsort(array, axis, kind="stable")
    bits = array.view("i8" if array.itemsize == 8 else "i4")
    top = np.iinfo(bits.dtype).max
    return np.argsort(np.where(np.isnan(array), top, np.where(bits < 0, bits ^ top, bits)), axis, kind="stable")


class Sorts(AxisTest):
    """Along dimensions that are cut: the workers sort together."""
    wild = [0.0, -0.0, np.nan, np.inf, -np.inf, 1.0, -1.0, 5e-324]

    def close(self, name, made):
        return 0

    def some(self, kind, numbers, dtype, *shape):
        """Random, with ties; wild; sorted; turned; all equal."""
        count = int(np.prod(shape))
        if kind == "wild" and np.dtype(dtype).kind == "f":
            made = numbers.choice(self.wild, count)
        else:
            made = numbers.integers(0, 2 if dtype == bool else max(count // 2, 1), count)
        made = {"sorted": np.sort, "turned": lambda a: np.sort(a)[::-1], "equal": np.zeros_like}.get(kind, np.array)(made)
        return made.reshape(shape).astype(dtype)

    def arrays(self, kind, n, m, f):
        numbers = np.random.default_rng(n + m)
        types = {"x": ("f8", n), "h": ("f4", n), "i": ("i8", n), "j": ("i4", n), "b": (bool, n), "A": ("f8", n, m), "X": ("i4", n, f), "T": ("f4", f, n, m)}
        return {name: self.some(kind, numbers, *of) for name, of in types.items()}

    def wanted(self, arrays):
        sorts = [("x", 0, 0), ("h", 0, 0), ("i", 0, 0), ("j", 0, 0), ("b", 0, 0), ("A", 0, 0), ("A", 1, 1), ("X", 0, 0), ("T", 2, 1)]
        made = {}
        for number, (name, values, places) in enumerate(sorts, 1):
            array = arrays[name]
            made[f"s{number}"] = np.take_along_axis(array, order(array, values), values)
            made[f"k{number}"] = order(array, places)
        return made

    def compare(self, wanted, what):
        super().compare(wanted, what)
        for number, (name, array) in enumerate(wanted.items()):
            if array.dtype.kind == "f":
                got = np.load(self.dir / ("out.npy" if number == 0 else f"out-{name}.npy"))
                same = np.signbit(got) == np.signbit(array)
                self.assertTrue(np.all(same | np.isnan(array)), f"signs of {name} on '{what}'")

    def sorts(self):
        """The counters of the run's sorts."""
        report = json.loads((self.dir / "run.json").read_text())
        return [op for op in report["operators"] if "sort[" in op["operator"]]

    def run_all(self, kind, sizes, meshes):
        n, m, f = sizes
        arrays = self.arrays(kind, n, m, f)
        inputs = self.save(arrays)
        for name, size in zip("NMF", sizes):
            inputs += ["--dim", f"{name}={size}"] if size == 0 else []
        for mesh, ranks in meshes:
            self.kasen("partition", "--program", "p.kir", *inputs, "--workers", np.prod([int(part) for part in mesh.split("x")]), "-o", "bundle", "--replace")
            self.kasen("fuse", "p.kir", "--mesh", mesh, "--tile", "none", "-o", "f.kir")
            plan = (self.dir / "f.kir").read_text()
            self.assertEqual(plan.count("scatter"), 0, plan)
            what = f"{kind} {sizes} {mesh}"
            self.run_it("f.kir", self.wanted(arrays), what, *(["-n", ranks] if ranks else []))
            for op in self.sorts():
                moved = op.get("moved_elements", 0)
                self.assertTrue(moved == 0 or kind not in ("sorted", "equal"), what)

    def test_beside_numpy(self):
        (self.dir / "a.ks").write_text(SORTS)
        self.kasen("plan", "a.ks", "-o", "p.kir")
        self.run_all("ties", (150, 7, 3), [("1", 0), ("2", 0), ("3", 3), ("4", 0), ("6", 0), ("2x2", 2), ("2x3", 0)])
        self.run_all("wild", (67, 1, 2), [("4", 2), ("2x3", 0)])
        self.run_all("sorted", (40, 1, 1), [("3", 0), ("2x2", 0)])
        self.run_all("turned", (41, 9, 1), [("4", 0), ("2x2", 4)])
        self.run_all("equal", (130, 3, 2), [("3", 0)])
        for sizes in ((0, 3, 2), (1, 1, 1), (3, 2, 2), (5, 0, 2)):
            self.run_all("ties", sizes, [("4", 0), ("2x3", 3)])

    def test_traffic(self):
        """Of many elements: those that move once, and little besides."""
        (self.dir / "a.ks").write_text("dim N\ninput x : f64[N]\noutput s = sort(x), k = i64(argsort(x))\n")
        self.kasen("plan", "a.ks", "-o", "p.kir")
        n, numbers = 200000, np.random.default_rng(4)
        for kind, x in (("random", numbers.normal(size=n)), ("sorted", np.arange(float(n))), ("turned", np.arange(float(n))[::-1])):
            inputs = self.save({"x": x})
            wanted = {"s": np.sort(x), "k": np.argsort(x, kind="stable")}
            for workers, mesh in ((2, ""), (4, "2x2"), (6, "")):
                self.kasen("partition", "--program", "p.kir", *inputs, "--workers", workers, "-o", "bundle", "--replace")
                self.kasen("fuse", "p.kir", *(["--mesh", mesh] if mesh else []), "--tile", "none", "-o", "f.kir")
                self.run_it("f.kir", wanted, f"{kind} {workers} {mesh}", "-n", 2)
                out, _ = self.kasen("measure", "f.kir", "--bundle", "bundle", "--format", "json")
                bound = json.loads(out)["program_actual"]["network_bytes"]["value"]
                self.assertLessEqual(sum(op["network_bytes"] for op in self.sorts()), bound)
                for op, element in zip(self.sorts(), (8, 14)):
                    moved = op.get("moved_elements", 0)
                    least, most = {"random": (0.99 * n * (1 - 1 / workers), 1.01 * n * (1 - 1 / workers)), "sorted": (0, 0), "turned": (n, n)}[kind]
                    self.assertTrue(least <= moved <= most, f"{kind} {workers}: {moved}")
                    self.assertLess(op["network_bytes"] - element * moved, 0.05 * element * n, f"{kind} {workers}")

    def test_the_search_compares_with_whole_lines(self):
        """Few elements go to all workers at once, many to their places; an argsort's places go along."""
        for text, n, workers, together in (("sort(x)", 40, 4, False), ("sort(x)", 100000, 2, True), ("i64(argsort(x))", 100000, 4, True), ("argsort(f32(x))", 100000, 2, False)):
            (self.dir / "a.ks").write_text(f"dim N\ninput x : f64[N]\noutput y = {text}\n")
            plan, _ = self.kasen("plan", "a.ks")
            plan, _ = self.kasen("fuse", "--sizes", f"N={n},P={workers}", stdin=plan)
            self.assertEqual("scatter" not in plan, together, plan)

    def test_one_exchange_at_a_time(self):
        """A sort has exchanges of its own, so none may be under way while it runs."""
        (self.dir / "a.ks").write_text("dim N, M\ninput x : f64[N], y : f64[M], k : i64[N]\noutput s = sort(x), t = take(y, k)\n")
        plan, _ = self.kasen("plan", "a.ks")
        plan, _ = self.kasen("fuse", "--tile", "none", "--mesh", "2", "--level", "4", stdin=plan)
        sort, scatter = [next(line + "\n" for line in plan.splitlines() if line.startswith(f"  {name} = ")) for name in ("%t", "%y_s")]
        run, start, wait = "    run %t\n", "    start %y_s\n", "    wait %y_s\n"
        self.assertIn(run + start + wait, plan)
        turned = plan.replace(sort + scatter, scatter + sort)
        (self.dir / "good.kir").write_text(turned.replace(run + start + wait, start + wait + run))
        self.kasen("measure", "good.kir")
        (self.dir / "bad.kir").write_text(turned.replace(run + start + wait, start + run + wait))
        self.fault("measure", "bad.kir", status=BAD, says=["'run %t'", "it has exchanges itself, and another one is under way"])

    def test_top_elements(self):
        """What library `order` has over sort and argsort."""
        (self.dir / "a.ks").write_text('use "order"\n' "dim N, K = N[:3]\ninput x : f64[N]\n"
                                       "output t = topk(x, over N, K), a = i64(argtopk(x, over N, K)), p = partition(x, 4), q = i64(argpartition(x, 4)), r = rank(x)\n")
        self.kasen("plan", "a.ks", "-o", "p.kir")
        x = np.random.default_rng(2).integers(0, 9, 31).astype(float)
        down = np.argsort(-x, kind="stable")
        wanted = {"t": x[down[:3]], "a": down[:3], "p": np.sort(x), "q": np.argsort(x, kind="stable"),
                  "r": np.argsort(np.argsort(x, kind="stable"), kind="stable")}
        inputs = self.save({"x": x})
        for workers, search in ((1, "exact"), (3, "none"), (4, "exact"), (4, "none")):
            self.kasen("partition", "--program", "p.kir", *inputs, "--workers", workers, "-o", "bundle", "--replace")
            self.kasen("fuse", "p.kir", "--tile", search, "--bundle", "bundle", "-o", "f.kir")
            self.run_it("f.kir", wanted, f"{workers} {search}")


class Carried(AxisTest):
    """Scans of lines that are cut: what the parts come to goes from worker to worker."""
    inputs = {"x": "N", "i": "N", "P": "N", "A": "NM", "I": "NM", "H": "NMK"}

    def close(self, name, made):
        return 0 if name in EXACT else 1e-5 if made.dtype == np.float32 else 1e-12

    def program(self, n, m, k):
        numbers = np.random.default_rng(100 * n + m)
        x, f, i = numbers.normal(size=n), numbers.normal(size=n).astype("f4"), numbers.integers(-9, 10, n)
        j, b, P = numbers.integers(-9, 10, n).astype("i4"), numbers.random(n) < 0.3, numbers.normal(size=(n, 2))
        A, I, H = numbers.normal(size=(n, m)), numbers.integers(-9, 10, (n, m)), numbers.normal(size=(n, m, k)).astype("f4")
        at = np.maximum.accumulate(np.where(b, np.arange(n), 0))
        y = x
        for _ in range(3):
            y = 0.5 * y.cumsum() + x
        wanted = {
            "c1": x.cumsum(), "c2": f.cumsum(), "c3": i.cumsum(), "c4": j.cumsum(dtype="i4"), "c5": np.logical_or.accumulate(b),
            "c6": x.cumprod(), "c7": np.maximum.accumulate(f), "c8": np.minimum.accumulate(j), "whole": i.astype(float).cumsum(),
            "r1": recurrence(0.5 * x, x), "m0": np.maximum.accumulate(f), "m1": i.cumsum(), "l1": x[at], "p": P.cumsum(0),
            "a1": A.cumsum(0), "a2": A.cumsum(1), "a3": I.cumsum(1), "h1": np.maximum.accumulate(H, 1), "h2": H.cumsum(2),
            "h3": np.minimum.accumulate(H, 0), "y": y}
        return dict(x=x, f=f, i=i, j=j, b=b, P=P, A=A, I=I, H=H), wanted

    def plan(self, n, m, k):
        (self.dir / "a.ks").write_text(CARRIED)
        self.kasen("plan", "a.ks", "-o", "p.kir")
        arrays, wanted = self.program(n, m, k)
        sizes = ["--dim", f"N={n}", "--dim", f"M={m}", "--dim", f"K={k}"]
        self.kasen("partition", "--program", "p.kir", *self.save(arrays), *sizes, "--workers", "2", "-o", "bundle", "--replace")
        return wanted

    def test_any_number_of_workers(self):
        for n, m, k in [(23, 5, 3), (4, 2, 9), (1, 1, 1), (0, 3, 2), (3, 0, 2)]:
            wanted = self.plan(n, m, k)
            self.kasen("fuse", "p.kir", "--bundle", "bundle", "-o", "f.kir")
            if n > 3:  # the whole of one element is no more than what comes to it
                self.assertNotRegex((self.dir / "f.kir").read_text(), "= (scatter|relayout)")
            for workers, ranks in [(1, 0), (2, 2), (3, 0), (4, 3), (6, 2)][::1 if n > 3 else 2]:
                self.run_it("f.kir", wanted, f"{workers} of {n}", "--workers", str(workers), *(["-n", str(ranks)] if ranks else []))

    def test_over_meshes(self):
        wanted = self.plan(7, 5, 3)
        for mesh, ranks, search in [("2x2", 0, "none"), ("2x2", 4, "layouts"), ("2x3", 3, "none"), ("2x3", 0, "layouts"), ("3x2", 2, "worst"),
                                    ("2x3", 6, "exact"), ("2x2x2", 0, "layouts"), ("1x4", 0, "greedy"), ("2x3", 2, "mincost")]:
            over = ["--mesh", mesh, *(self.layouts(mesh) if search == "layouts" else ["--tile", search])]
            self.kasen("fuse", "p.kir", *over, "--bundle", "bundle", "-o", "f.kir")
            self.run_it("f.kir", wanted, f"{mesh} {search}", *(["-n", str(ranks)] if ranks else []))

    def test_one_element_a_line_travels(self):
        """A sum of a million elements over 4 workers sends 3 of them; of a matrix 3 rows; in a loop each time."""
        n, m = 1000000, 3
        x, A = np.arange(n) % 7 - 2.0, np.arange(n // 100 * m).reshape(n // 100, m) % 5.0
        for text, sent, wanted in [("input x : f64[N]\noutput s = cumsum(x)", 24, x.cumsum()),
                                   ("input A : dense f64[N, M]\noutput s = cumsum(A, over N)", 24 * m, A.cumsum(0)),
                                   ("input x : f64[N]\ny = x\nfor t in 0..5 {\n  y = cummax(y - 1.0)\n}\noutput y", 5 * 24,
                                    np.maximum.accumulate(x) - 5)]:
            (self.dir / "a.ks").write_text(("dim N, M\n" if "A" in text else "dim N\n") + text + "\n")
            inputs = self.save({"A": A} if "A" in text else {"x": x})
            self.kasen("plan", "a.ks", "-o", "p.kir")
            self.kasen("partition", "--program", "p.kir", *inputs, "--workers", "4", "-o", "bundle", "--replace")
            self.kasen("fuse", "p.kir", "--bundle", "bundle", *(["--tile", "none"] if "A" in text else []), "-o", "f.kir")
            for ranks in ([], ["-n", "4"]):
                self.run_it("f.kir", {"s": wanted}, text, *ranks)
                self.assertEqual(json.loads((self.dir / "run.json").read_text())["traffic"]["worker_bytes"], sent, text)

    def test_any_number_of_threads(self):
        (self.dir / "a.ks").write_text("dim N, M, K\nfn next(a, b) = (a.0 * b.0, a.1 * b.0 + b.1)\ninput x : f64[N], A : dense f32[M, K]\n"
                                       "r = scan(next, map(a -> (0.5 * a, a), x))\noutput s = cumsum(x), q = r.1, c = cumsum(A, over M)\n")
        numbers = np.random.default_rng(5)
        inputs = self.save({"x": numbers.normal(size=200001), "A": numbers.normal(size=(2003, 77)).astype("f4")})
        made = []
        for more in (["--threads", "1"], ["--threads", "2"], ["--threads", "5"], ["--kernels", "interpreter"], ["-n", "3"]):
            self.kasen("go", "a.ks", *inputs, "--workers", "3", *more, "-o", "out.npy")
            made.append([np.load(self.dir / name).tobytes() for name in ("out.npy", "out-q.npy", "out-c.npy")])
        self.assertTrue(all(one == made[0] for one in made))


def grouped(f, start, x, keys, size):
    """Of a first axis."""
    made = np.full((size,) + np.shape(x)[1:], start, np.asarray(x).dtype)
    f.at(made, keys, x)
    return made


class ByKeys(AxisTest):
    inputs = {"A": "NM", "I": "NM", "x": "N", "k": "N", "c": "N", "q": "NM", "b": "NM"}

    def program(self, n, m):
        """The inputs, and what NumPy makes of them."""
        size, classes, f = 6, 4, 5
        numbers = np.random.default_rng(n + m)
        A, I, H = numbers.normal(size=(n, m)), numbers.integers(-3, 4, (n, m)), numbers.normal(size=(n, f)).astype("f4")
        x, k, c = numbers.normal(size=n), numbers.integers(0, min(n, size), n), numbers.integers(0, classes, n).astype("i4")
        q, b, at = numbers.integers(0, classes, (n, m)), numbers.random((n, m)) < 0.3, numbers.integers(0, classes, f)
        lines, cols = np.arange(n)[:, None], np.arange(m)[None, :]
        with np.errstate(invalid="ignore"):
            mean = grouped(np.add, 0.0, A.ravel(), q.ravel(), size) / np.bincount(q.ravel(), minlength=size)
        by_column, by_row = np.zeros((size, m)), np.ones((n, classes))
        np.add.at(by_column, (q, np.broadcast_to(cols, q.shape)), A)
        np.multiply.at(by_row, (np.broadcast_to(lines, q.shape), q), np.where(I > 0, 2.0, 1.0))
        single = np.zeros((classes, m))
        np.add.at(single, (q, np.broadcast_to(cols, q.shape)), 2.5)
        sharp, last = np.zeros(size), x
        for value, key in zip(x, k):
            sharp[key] += value + sharp[key] * value
        for _ in range(3):
            last = 0.5 * np.bincount(k, last + x, n)
        top = np.iinfo(np.int64).max
        wanted = {
            "r1": np.bincount(k, minlength=size), "r2": np.bincount(k, x, size), "r3": grouped(np.maximum, -np.inf, A, c, classes),
            "r4": mean, "r5": by_column, "r6": grouped(np.minimum, top, I, k, size), "r7": grouped(np.add, np.float32(0), H.T, at, classes).T,
            "r8": by_row, "r9": grouped(np.logical_or, False, b.ravel(), q.ravel(), size), "r10": grouped(np.maximum, -np.inf, x, c, classes),
            "r11": x * x, "r12": single, "r13": sharp, "r14": last}
        return dict(A=A, I=I, H=H, x=x, k=k, c=c, q=q, b=b, f=at), wanted

    def test_over_meshes(self):
        (self.dir / "a.ks").write_text(KEYS)
        self.kasen("plan", "a.ks", "-o", "p.kir")
        for n, m in [(1, 9), (7, 5)]:
            arrays, wanted = self.program(n, m)
            self.kasen("partition", "--program", "p.kir", *self.save(arrays), "--dim", "K=6", "--dim", "C=4", "--workers", "2", "-o",
                       "bundle", "--replace")
            for mesh, ranks, search in [("", 0, ""), ("", 2, ""), ("2x2", 0, "exact"), ("3", 3, "worst"), ("2x2x2", 2, "greedy"),
                                        ("2x3", 0, "none"), ("2x3", 0, "layouts"), ("2x2", 4, "layouts")][::4 if n == 1 else 1]:
                over = ["--mesh", mesh] if mesh else []
                over += self.layouts(mesh) if search == "layouts" else ["--tile", search] if search else []
                self.kasen("fuse", "p.kir", *over, "--bundle", "bundle", "-o", "f.kir")
                self.run_it("f.kir", wanted, f"{mesh} {search}", *(["-n", str(ranks)] if ranks else []))

    def test_beside_a_graph(self):
        (self.dir / "a.ks").write_text(KEYS_LOCAL)
        numbers = np.random.default_rng(2)
        v, l, c = 20, 6, 7
        X, k, q, at = numbers.normal(size=(v, l)), numbers.integers(0, c, v), numbers.integers(0, l, (v, l)), numbers.integers(0, c, l)
        G = (numbers.random((v, v)) < 0.2).astype(float)
        G[0, :] = G[:, 0] = 1  # so that each vertex is mentioned
        (self.dir / "g.txt").write_text("".join(f"{i} {j}\n" for i, j in zip(*np.nonzero(G))))
        rows = np.broadcast_to(np.arange(v)[:, None], q.shape)
        sums, counts, own, x, s = np.zeros((v, c)), np.zeros((v, c)), np.zeros((v, l)), X.sum(1), np.zeros(c)
        np.add.at(sums, (rows, q), X)
        np.add.at(counts, (rows, q), 1)
        np.add.at(own, (rows, q), X)
        for _ in range(3):
            s = 0.5 * s + np.bincount(k, G @ x, c)
            x = x * 0.1 + s.sum()
        with np.errstate(invalid="ignore"):
            mean = sums / counts
        wanted = {"r1": grouped(np.add, 0.0, X, k, c), "r2": grouped(np.maximum, -np.inf, X.ravel(), q.ravel(), c), "r3": mean,
                  "r4": np.bincount(k, minlength=c), "r5": grouped(np.add, 0.0, X.T, at, c).T, "r6": own, "s": s}
        inputs = self.save(dict(X=X, k=k, q=q, l=at))
        self.kasen("plan", "a.ks", "-o", "p.kir")
        for workers, ranks, strategy in self.plans():
            self.kasen("partition", "--program", "p.kir", "G=g.txt", *inputs, "--dim", f"C={c}", "--workers", workers, "-o", "bundle",
                       "--replace")
            self.kasen("fuse", "p.kir", "--strategy", strategy, "-o", "f.kir")
            self.run_it("f.kir", wanted, f"{workers} {strategy}", *self.over(ranks))

    def test_any_number_of_threads(self):
        """Few results are made in blocks, many by parts of the keys' dimension: always in one order."""
        (self.dir / "a.ks").write_text("dim N, C local, F local\ninput x : f64[N], k : i64[N], j : i64[N]\ny = map(x -> f32(x), x)\n"
                                       "output few = sum(x, by k in C), many = sum(x, by j in F), real = sum(y, by j in F), one = sum(0.1, by j in F)\n")
        numbers = np.random.default_rng(5)
        n, few, many = 400000, 10, 300000
        x, k, j = numbers.normal(size=n), numbers.integers(0, few, n), numbers.integers(0, many, n)
        inputs = self.save(dict(x=x, k=k, j=j)) + ["--dim", f"C={few}", "--dim", f"F={many}"]
        made = []
        for more in (["--threads", "1"], ["--threads", "2"], ["--threads", "5"], ["--kernels", "interpreter"]):
            self.kasen("go", "a.ks", *inputs, *more, "-o", "out.npy")
            made.append([np.load(self.dir / name).tobytes() for name in ("out.npy", "out-many.npy", "out-real.npy", "out-one.npy")])
        self.assertTrue(all(one == made[0] for one in made))
        np.testing.assert_allclose(np.load(self.dir / "out.npy"), np.bincount(k, x, few), rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(np.load(self.dir / "out-many.npy"), np.bincount(j, x, many), rtol=1e-12)
        np.testing.assert_allclose(np.load(self.dir / "out-one.npy"), 0.1 * np.bincount(j, minlength=many), rtol=1e-12)

    def test_the_empty_array(self):
        (self.dir / "a.ks").write_text("dim N, F local, K, C local\ninput X : f64[N, F], k : i64[N]\n"
                                       "output s = sum(X, by k in K), o = max(X, by k in C), n = sum(1, by k in C)\n")
        for n, f in [(0, 3), (4, 0), (1, 1)]:
            inputs = self.save({"X": np.ones((n, f)), "k": np.zeros(n, int)})
            self.kasen("go", "a.ks", *inputs, "--dim", f"N={n}", "--dim", f"F={f}", "--dim", "K=2", "--dim", "C=3", "-o", "out.npy")
            np.testing.assert_array_equal(np.load(self.dir / "out.npy"), [[n] * f, [0] * f])
            np.testing.assert_array_equal(np.load(self.dir / "out-o.npy"), [[1 if n else -np.inf] * f] + [[-np.inf] * f] * 2)
            np.testing.assert_array_equal(np.load(self.dir / "out-n.npy"), [n, 0, 0])

    def test_keys_outside(self):
        (self.dir / "a.ks").write_text("dim N, K, C local\ninput x : f64[N], k : i64[N], c : i64[N]\n"
                                       "a = sum(x, by k in K)\nb = sum(x, by c in C)\noutput a, b\n")
        good = {"x": np.arange(5.0), "k": np.array([0, 3, 2, 1, 0]), "c": np.array([2, 1, 0, 0, 0])}
        sizes = ["--dim", "K=4", "--dim", "C=3"]
        self.kasen("go", "a.ks", *self.save(good), *sizes, "-o", "out.npy")
        for name, bad, says in [("k", [0, 4, 2, 1, 0], ["a.ks:3", "key 4 of 'K'", "0 to 3"]), ("c", [0, 0, 0, 0, -1], ["a.ks:4", "key -1 of 'C'"])]:
            inputs = self.save({**good, name: np.array(bad)})
            self.fault("go", "a.ks", *inputs, *sizes, "-o", "bad.npy", status=BAD, says=says)
            self.assertFalse((self.dir / "bad.npy").exists())
            self.fault("go", "a.ks", *inputs, *sizes, "--workers", "3", "-n", "3", "-o", "bad.npy", status=BAD, says=says)

    def test_refusals(self):
        head = "dim N, M, K local = 4\ninput A : dense f64[N, M], S : dense f64[N, N], x : f64[N], k : i64[N], m : i64[M]\n"
        for text, says in [("sum(x, by k)", "name it: sum(x, by k in K)"), ("sum(x, by x in K)", "ids, i64 or i32"),
                           ("reduce(-, x, by k in K)", "not associative"), ("sum(x, by m in K)", "by keys over [M]"),
                           ("sum(A, by k in K, over M)", "the keys are not over 'M'"), ("sum(A, by k in M)", "a dimension stands twice"),
                           ("sum(S, by k in K)", "stands twice"), ("cumsum(x, by k in K)", "no reduction"), ("argmax(x, by k in K)", "no reduction"),
                           ("sum(x, by index(N) in K)", "it is an index of N, not of K"), ("sum(x, by 3 in K)", "single value"),
                           ("sum(x, by k in K, by k in K)", "keys of two arrays"), ("sum(x, by k in Q)", "'Q'")]:
            (self.dir / "bad.ks").write_text(head + f"output y = {text}\n")
            self.fault("plan", "bad.ks", status=BAD, says=["bad.ks:3", says])
        (self.dir / "bad.ks").write_text("dim N, K\ninput G : f64[N, N], x : f64[N], k : i64[N]\ns = sum(x, by k in K)\noutput y = G @ x, s\n")
        plan, _ = self.kasen("plan", "bad.ks")
        self.fault("fuse", status=BAD, stdin=plan, says=["bad.ks:3", "'G' is sparse", "declare the dimension local"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
