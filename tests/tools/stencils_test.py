#!/usr/bin/env python3
"""Displaced indices: stencils, convolution and pooling in index notation, and displaced slices. NumPy's values with 1 to 4
workers, over meshes, in random layouts and beside a graph; predictions agree; indices outside are refused.

Usage: stencils_test.py FOLDER_OF_TOOLS SOURCE_ROOT [unittest arguments]
"""
import subprocess
import sys
import unittest

import numpy as np

sys.dont_write_bytecode = True  # the source tree stays as it is
from array_cases import ArrayTest  # noqa: E402
from tools_test import BAD, ROOT, TOOLS  # noqa: E402

CUT = """dim N, M, I = N[1:-1], J = M[1:-1], P = N[:-1:2], Q = M[:-1:2], R = N[-3:1:-2], L = N[1:], O local, A local = 3, B local = 2
input x : f64[N], X : dense f64[N, M], W : f64[A, B], Z : dense f32[N, O], V : f32[A, O], k : i64[N], b : dense bool[N, M]
d = [i in L: x[i] - x[i - 1]]
heat = [i in I: x[i - 1] - 2.0 * x[i] + x[i + 1]]
laplace = [i in I, j in J: X[i - 1, j] + X[i + 1, j] + X[i, j - 1] + X[i, j + 1] - 4.0 * X[i, j]]
conv = [i in I, j in J: sum(a in A, b in B: X[i + a - 1, j + b] * W[a, b])]
pool = [i in P, j in Q: max(a in 2, b in 2: X[i + a, j + b])]
least = [i in P: min(a in 2: k[i + a])]
mean = [i in P, j in Q: mean(a in 2, b in B: X[i + a, j + b])]
smooth = [i in I: mean(a in A: k[i + a - 1])]
slow = [i in I: mean(a in A, o in O: Z[i + a - 1, o])]
rows = [i in N: mean(j in M: X[i, j] * X[i, j])]
most = [i in I, j in M: prod(a in A: 1.0 + 0.5 * X[i + a - 1, j])]
some = [i in P, j in Q: any(a in 2, c in 2: b[i + a, j + c])]
every = [i in I, j in M: all(a in 3: b[i - a + 1, j])]
back = [i in R: x[i + 1] * x[i - 1]]
wide = [i in I, o in O: sum(a in A: Z[i + a - 1, o] * V[a, o])]
deep = [i in I: sum(a in A, o in O: Z[i + a - 1, o] * V[a, o])]
total = sum(i in I: x[i - 1] * x[i + 1])
cross = [i in I, j in J: sum(a in 2: X[i + 2 * a - 1, j] + X[i, j + 2 * a - 1])]
moved = slice(X, I + 1, J - 1)
both = slice(k, L) - slice(k, L - 1)
place = [i in I: sum(a in 3: f64(a) * x[i + a - 1])]
output d, heat, laplace, conv, pool, least, mean, smooth, slow, rows, most, some, every, back, wide, deep, total, cross, moved, both, place
"""


def wanted_of(x, X, W, Z, V, k, b):
    n, m = X.shape
    inner, middle = X[1:-1], X[1:-1, 1:-1]
    four = [X[a:n - 1 + a:2, c:m - 1 + c:2] for a in (0, 1) for c in (0, 1)]
    bools = [b[a:n - 1 + a:2, c:m - 1 + c:2] for a in (0, 1) for c in (0, 1)]
    near = [Z[a:n - 2 + a] * V[a] for a in range(3)]
    r = np.arange(n)[-3:1:-2]
    return {
        "d": np.diff(x), "heat": x[:-2] - 2 * x[1:-1] + x[2:],
        "laplace": X[:-2, 1:-1] + X[2:, 1:-1] + X[1:-1, :-2] + X[1:-1, 2:] - 4 * middle,
        "conv": sum(X[a:n - 2 + a, 1 + c:m - 1 + c] * W[a, c] for a in range(3) for c in range(2)),
        "pool": np.maximum.reduce(four), "least": np.minimum(k[0:n - 1:2], k[1::2]), "mean": sum(four) / 4,
        "smooth": (k[:-2] + k[1:-1] + k[2:]) / 3, "slow": ((Z[:-2] + Z[1:-1] + Z[2:]).sum(1) / np.float32(12)), "rows": (X * X).mean(1),
        "most": np.prod([1 + 0.5 * X[a:n - 2 + a] for a in range(3)], axis=0), "some": np.logical_or.reduce(bools),
        "every": b[:-2] & b[1:-1] & b[2:], "back": x[r + 1] * x[r - 1], "wide": sum(near), "deep": sum(near).sum(1),
        "total": np.sum(x[:-2] * x[2:]), "cross": X[:-2, 1:-1] + X[2:, 1:-1] + X[1:-1, :-2] + X[1:-1, 2:],
        "moved": X[2:, :-2], "both": np.diff(k), "place": x[1:-1] + 2 * x[2:]}, inner


LOCAL = """dim V, L local, I local = L[1:-1], P local = L[:-1:2], C local = 2
input G : null[V, V], X : f64[V, L], w : f64[C]
y = X @ fill(1.0, L)
for t in 0..3 {
  z = [v in V, l in L: X[v, l] + 0.1 * y[v]]
  s = [v in V, i in I: z[v, i - 1] + z[v, i + 1] - z[v, i]]
  y = 0.1 * (G @ sum(s, over I))
}
pool = [v in V, p in P: max(c in C: X[v, p + c] * w[c])]
output y, pool
"""


class Stencils(ArrayTest):
    seed = 13
    inputs, local = {"x": "N", "X": "NM", "Z": "NO", "k": "N", "b": "NM"}, "O"

    def close(self, name, made):
        return 0 if made.dtype.kind != "f" else super().close(name, made)

    def arrays(self, n, m):
        numbers = np.random.default_rng(n * m)
        return dict(x=numbers.normal(size=n), X=numbers.normal(size=(n, m)), W=numbers.normal(size=(3, 2)),
                    Z=numbers.normal(size=(n, 4)).astype("f4"), V=numbers.normal(size=(3, 4)).astype("f4"),
                    k=numbers.integers(-9, 10, n), b=numbers.random((n, m)) < 0.5)

    def test_over_meshes(self):
        (self.dir / "a.ks").write_text(CUT)
        self.kasen("plan", "a.ks", "-o", "p.kir")
        ways = [("", 0, ""), ("", 2, ""), ("2", 0, "none"), ("3", 3, "worst"), ("4", 0, "greedy"), ("2x2", 4, "exact"), ("2x2", 0, "layouts")]
        for n, m, some in [(11, 8, ways), (3, 3, ways[1::3]), (2, 2, ways[:1]), (1, 5, ways[2:3])]:
            arrays = self.arrays(n, m)
            wanted, _ = wanted_of(**arrays)
            self.kasen("partition", "--program", "p.kir", *self.save(arrays), "--workers", "2", "-o", "bundle", "--replace")
            for mesh, ranks, search in some:
                over = ["--mesh", mesh] if mesh else []
                over += self.layouts(mesh) if search == "layouts" else ["--tile", search] if search else []
                self.kasen("fuse", "p.kir", *over, "--bundle", "bundle", "-o", "f.kir")
                self.run_it("f.kir", wanted, f"{n} {m} {mesh} {search}", *(["-n", str(ranks)] if ranks else []))

    def test_beside_a_graph(self):
        """Along a local dimension whose size plan does not know, and with views where it does."""
        numbers = np.random.default_rng(2)
        v, l = 20, 7
        X, w = numbers.normal(size=(v, l)), numbers.normal(size=2)
        G = (numbers.random((v, v)) < 0.2).astype(float)
        G[0, :] = G[:, 0] = 1  # so that each vertex is mentioned
        (self.dir / "g.txt").write_text("".join(f"{i} {j}\n" for i, j in zip(*np.nonzero(G))))
        y = X.sum(1)
        for _ in range(3):
            z = X + 0.1 * y[:, None]
            y = 0.1 * (G @ (z[:, :-2] + z[:, 2:] - z[:, 1:-1]).sum(1))
        wanted = {"y": y, "pool": np.maximum(X[:, 0:-1:2] * w[0], X[:, 1::2] * w[1])}
        inputs = self.save(dict(X=X, w=w))
        for text, slices in [(LOCAL, 5), (LOCAL.replace("L local", "L local = 7"), 2)]:
            (self.dir / "a.ks").write_text(text)
            self.kasen("plan", "a.ks", "-o", "p.kir")
            self.assertEqual((self.dir / "p.kir").read_text().count("= slice["), slices)
            for workers, ranks, strategy in self.plans():
                self.kasen("partition", "--program", "p.kir", "G=g.txt", *inputs, "--workers", workers, "-o", "bundle", "--replace")
                self.kasen("fuse", "p.kir", "--strategy", strategy, "-o", "f.kir")
                self.run_it("f.kir", wanted, f"{workers} {strategy}", *self.over(ranks))

    def test_images(self):
        """Convolution of many small images, along local dimensions of known sizes: all neighbours are views."""
        numbers = np.random.default_rng(4)
        X, W = numbers.normal(size=(9, 8, 7)), numbers.normal(size=(3, 3))
        (self.dir / "a.ks").write_text("dim N, P local = 8, Q local = 7, A local = 3, B local = 3, I local = P[1:-1], J local = Q[1:-1]\n"
                                       "input X : f64[N, P, Q], W : f64[A, B]\n"
                                       "output Y = [n in N, i in I, j in J: sum(a in A, b in B: X[n, i + a - 1, j + b - 1] * W[a, b])],\n"
                                       "  E = [n in N, i in I, q in Q: X[n, i + 1, q] - X[n, i - 1, q]]\n")
        seen = np.lib.stride_tricks.sliding_window_view(X, (3, 3), axis=(1, 2))
        wanted = {"Y": np.einsum("nijab,ab->nij", seen, W), "E": X[:, 2:] - X[:, :-2]}
        plan, _ = self.kasen("plan", "a.ks")
        self.assertNotIn("slice[", plan)
        self.kasen("plan", "a.ks", "-o", "p.kir")
        for workers, ranks, strategy in self.plans():
            self.kasen("partition", "--program", "p.kir", *self.save(dict(X=X, W=W)), "--workers", workers, "-o", "bundle", "--replace")
            self.kasen("fuse", "p.kir", "--strategy", strategy, "-o", "f.kir")
            self.run_it("f.kir", wanted, f"{workers} {strategy}", *self.over(ranks))

    def test_convolution_of_a_cut_image(self):
        """examples/convolution-cut.ks: rows that the squares do not fill are left out."""
        numbers = np.random.default_rng(7)
        X, W, b = numbers.normal(size=(13, 10)), numbers.normal(size=(2, 3, 3)), numbers.normal(size=2)
        seen = np.lib.stride_tricks.sliding_window_view(X, (3, 3))
        Y = np.maximum(np.einsum("ijrs,frs->fij", seen, W) + b[:, None, None], 0)
        wanted = {"Z": Y[:, :10, :8].reshape(2, 5, 2, 4, 2).max((2, 4))}
        inputs = self.save(dict(X=X, W=W, b=b))
        self.kasen("plan", ROOT / "examples" / "convolution-cut.ks", "-o", "p.kir")
        self.kasen("partition", "--program", "p.kir", *inputs, "--workers", "2", "-o", "bundle")
        for mesh, ranks, search in [("", 0, ""), ("2x2", 4, "exact"), ("3x2", 0, "greedy"), ("4", 2, "worst")]:
            over = ["--mesh", mesh, "--tile", search] if mesh else []
            self.kasen("fuse", "p.kir", *over, "--bundle", "bundle", "-o", "f.kir")
            self.run_it("f.kir", wanted, f"{mesh} {search}", *(["-n", str(ranks)] if ranks else []))

    def test_heat_over_a_cut_plate(self):
        """examples/heat.ks: a loop of stencils, with a border that is put around the array in each step."""
        for shape, steps in [((9, 7), 5), ((1, 4), 2)]:
            u = np.random.default_rng(3).normal(size=shape)
            inputs = self.save(dict(u=u))
            for _ in range(steps):
                wide = np.pad(u, 1)
                u = u + 0.8 * (0.25 * (wide[:-2, 1:-1] + wide[2:, 1:-1] + wide[1:-1, :-2] + wide[1:-1, 2:]) - u)
            self.kasen("plan", ROOT / "examples" / "heat.ks", "-D", f"steps={steps}", "-o", "p.kir")
            self.kasen("partition", "--program", "p.kir", *inputs, "--workers", "2", "-o", "bundle", "--replace")
            for mesh, ranks, search in [("", 2, ""), ("2x2", 0, "exact"), ("3", 0, "worst"), ("2x2", 4, "none")][:4 if steps > 2 else 2]:
                over = ["--mesh", mesh, "--tile", search] if mesh else []
                self.kasen("fuse", "p.kir", *over, "--bundle", "bundle", "-o", "f.kir")
                self.run_it("f.kir", {"u": u}, f"{shape} {mesh} {search}", *(["-n", str(ranks)] if ranks else []))

    def test_parts_of_sums(self):
        """What a concatenation has put together, by its parts' names, and beside these."""
        (self.dir / "a.ks").write_text("dim N, K local = 2, A = N[-1:], B = N[:1], S = A + N + B, T = K + N + K\ninput x : f64[N]\n"
                                       "ring = concat(slice(x, A), x, slice(x, B), S)\n"
                                       "wide = concat(fill(7.0, K), x, fill(9.0, K), T)\n"
                                       "output d = [i in N: ring[i + 1] - ring[i - 1]], y = slice(wide, N - 2), z = slice(wide, N + 2),\n"
                                       "  x0 = slice(wide, N), a = slice(ring, A + 1)\n")
        for n in (1, 6):
            x = np.arange(float(n)) ** 2
            self.kasen("go", "a.ks", *self.save({"x": x}), "--workers", "2", "-o", "out.npy", "--verify", "all")
            wide = np.concatenate([[7, 7], x, [9, 9]])
            self.compare({"d": np.roll(x, -1) - np.roll(x, 1), "y": wide[:n], "z": wide[4:], "x0": x, "a": x[:1]}, f"{n}")
        head = "dim N, M, K local = 2, T = K + N + K, S = K + N + M, D = N + N\ninput t : f64[T], s : f64[S], d : f64[D]\noutput o = "
        for text, says in [("[i in N: t[i - 3]]", "'T' is K + N + K, with 2 indices before 'N'"), ("[i in N: t[i + 3]]", "2 indices behind 'N'"),
                           ("[i in N: s[i - 3]]", "add a larger dimension"), ("[i in K: t[i]]", "'i' runs over K"), ("[i in N: d[i]]", "'i' runs over N"),
                           ("slice(d, N)", "no slice of a dimension"), ("slice(t, N - 3)", "a slice displaced by -3")]:
            (self.dir / "bad.ks").write_text(head + text + "\n")
            self.fault("plan", "bad.ks", status=BAD, says=["bad.ks:3", says])
        (self.dir / "a.ks").write_text("dim N, M\ndim S = M + N\ninput x : f64[N], y : f64[M]\ns = concat(y, x, S)\noutput o = [i in N: s[i - 2]]\n")
        self.fault("go", "a.ks", *self.save({"x": np.ones(3), "y": np.ones(1)}), "-o", "out.npy", status=BAD, says=["a.ks:5", "1 index before 'N'"])

    def test_any_displacement(self):
        """Random slices and displacements, of sizes known to plan and of the data: NumPy's elements, or an error."""
        for size in (1, 5, 8):
            texts, wanted, outside = [], {}, 0
            x = np.arange(10.0, 10.0 + size)
            head = f"dim N {self.random.choice(['', 'local '])}{self.random.choice(['', f'= {size}'])}\ninput x : f64[N]\n"
            while len(texts) < 25:
                bounds = [self.random.choice([None, None, 0, 1, 2, 4, -1, -2, -4]) for _ in range(2)]
                step, by = self.random.choice([1, 1, 2, 3, -1, -2]), self.random.randrange(-3, 4)
                text = ":".join("" if b is None else str(b) for b in [*bounds, step])
                indices = np.arange(size)[slice(*bounds, step)] + by
                local = "local " if "local" in head else ""
                line = f"dim D{len(texts)} {local}= N[{text}]\ny{len(texts)} = [i in D{len(texts)}: x[i + {by}] + 0.0]\n"
                if np.all((0 <= indices) & (indices < size)):
                    (self.dir / "one.ks").write_text(head + line + f"output y{len(texts)}\n")
                    if indices.size or not self.is_refused(self.dir / "one.ks"):  # none ever inside
                        wanted[f"y{len(texts)}"] = x[indices]
                        texts.append(line)
                elif outside < 8:
                    outside += 1
                    (self.dir / "one.ks").write_text(head + line + f"output y{len(texts)}\n")
                    self.fault("go", "one.ks", *self.save({"x": x}), "-o", "out.npy", status=BAD, says=["one.ks:4", "lies outside of 'N'"])
            (self.dir / "a.ks").write_text(head + "".join(texts) + "output " + ", ".join(wanted) + "\n")
            self.kasen("go", "a.ks", *self.save({"x": x}), "-o", "out.npy")
            self.compare(wanted, f"{size} {texts}")

    def is_refused(self, program):
        """Some displacements leave N for every size that gives the slice an index."""
        return subprocess.run([TOOLS / "kasen", "plan", program], capture_output=True, check=False).returncode != 0

    def test_sizes_that_are_too_small(self):
        (self.dir / "a.ks").write_text("dim N\ndim K = N[2:]\ninput x : f64[N]\noutput y = [i in K: x[i + 1] - x[i]]\n")
        self.fault("plan", "a.ks", status=BAD, says=["a.ks:4:25", "displaced by 1", "for any size", "N[2:-1]"])
        (self.dir / "a.ks").write_text("dim N\ndim K = N[2:5]\ninput x : f64[N]\noutput y = [i in K: x[i + 1] - x[i]]\n")
        self.kasen("plan", "a.ks", "-o", "p.kir")
        self.fault("go", "a.ks", *self.save({"x": np.arange(5.0)}), "-o", "out.npy", status=BAD,
                   says=["a.ks:4:25", "displaced by 1", "N[2:5] has the indices 2 to 4", "0 to 4"])
        self.kasen("go", "a.ks", *self.save({"x": np.arange(6.0)}), "-o", "out.npy")
        np.testing.assert_array_equal(np.load(self.dir / "out.npy"), np.ones(3))
        self.kasen("go", "a.ks", *self.save({"x": np.arange(2.0)}), "-o", "out.npy")
        self.assertEqual(np.load(self.dir / "out.npy").size, 0)

    def test_refusals(self):
        head = ("dim N, M, I = N[1:-1], J = M[1:-1], K, A local = 3, C = 3, Big local = 9, Rest local = A[3:], Empty local = Rest * A\n"
                "input x : f64[N], X : dense f64[N, M], S : dense f64[N, N], w : f64[A], c : f64[C], k : i64[N], z : f64[K]\n")
        for text, says in [
                ("[i in N: x[i - 1]]", "dim I = N[1:], and i in I"), ("[i in N: x[i + 2]]", "dim I = N[:-2], and i in I"),
                ("[i in K: x[i]]", "a slice of it: dim I = N[1:-1]"), ("[i in I: x[2 * i]]", "a multiple of 'i'"),
                ("[i in I: x[1 - i]]", "falls while 'i' rises"), ("[i in I: x[k[i]]]", "computed from a variable"),
                ("[i in I, j in J: X[i + j, j]]", "an index of two variables"), ("[i in I: x[i - 2]]", "N[2:-1]"),
                ("[i in I, j in I: S[i - 1, j]]", "one stands twice"), ("[i in I: sum(a in C: x[i + a - 1] * c[a])]", "dim C local"),
                ("[i in I, j in J: sum(a in Big, b in Big: X[i + a - 4, j + b - 4])]", "too many terms"),
                ("[i in I: sum(a in Empty: x[i + a])]", "no terms"), ("[i in I: sum(a in A: x[i + a + 1])]", "displaced by 2"),
                ("[i in I: sum(a in 4: x[i] * w[a] + x[i + a - 2])]", "displaced by -2"), ("[i in I, a in A: x[i + a - 1]]", "'i' and 'a'"),
                ("[i in I: sum(a in A, a in A: x[i + a])]", "two variables 'a'"), ("[i in I: mean(a in 3: x[i + a - 1] > 0)]", "it takes numbers"), ("[i in I: x[i + 9223372036854775807 + 1]]", "64 bits"),
                ("[i in I: w[3] * x[i]]", "an index does not lie inside"), ("[i in I: z[0] * x[i]]", "dim K local"),
                ("slice(x, I + 2)", "N[1:-2]"), ("slice(x, I - k)", "known to plan"), ("slice(x, N - 1)", "no slice of a dimension")]:
            (self.dir / "bad.ks").write_text(head + f"output o = {text}\n")
            self.fault("plan", "bad.ks", status=BAD, says=["bad.ks:3", says])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
