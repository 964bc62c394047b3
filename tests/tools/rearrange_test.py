#!/usr/bin/env python3
"""Derived dimensions, and slice, concat and reshape to these: NumPy's values in the usual layout, over meshes and random
layouts, beside a graph, for every element type and any slice; sizes that do not fit are told.

Usage: rearrange_test.py FOLDER_OF_TOOLS SOURCE_ROOT [unittest arguments]
"""
import json
import sys
import unittest

import numpy as np

sys.dont_write_bytecode = True  # the source tree stays as it is
from array_cases import ArrayTest  # noqa: E402
from tools_test import BAD, USAGE  # noqa: E402

CUT = """dim N, M, K
dim E = N[::2], R = M[::-1], B = N[-3:0:-2], I local = M[1:3], NM = N * M, NMK = N * M * K, MK local = M * K
dim NN = N + N, NEN = N + E + N, EM = E * M, Z = M[5:5], W = E[1:]
input A : dense f64[N, M], I4 : dense i64[N, M], H : dense f32[N, M, K], u : f64[N], v : f64[M], b : dense bool[N, M]
input j : dense i32[N, M], P : dense [f64; 2][N, M]
s1 = slice(A, E)
s2 = slice(A, R)
s3 = slice(H, B, R)
s4 = slice(b, I)
s5 = slice(u, E)
s6 = slice(A, Z)
s7 = slice(s1, W)
p0 = slice(map(q -> q[0] - q[1], P), B)
p1 = map(q -> q[1], slice(P, R))
w1 = i64(slice(index(N), B))
c1 = concat(A, 2.0 * A, NN)
c2 = concat(I4, slice(I4, E), I4, NEN)
c3 = concat(u, s5, u, NEN)
c4 = concat(H, H, NN)
c5 = concat(b, b, NN)
r1 = reshape(A, NM)
r2 = reshape(H, NMK)
r3 = reshape(H, MK)
r4 = reshape(r1 * 2.0, [N, M])
r5 = reshape(r3, [M, K])
r6 = reshape(j, NM)
r7 = reshape(s1, EM)
t = sum(c1 * concat(s9, s9, NN))
output s1, s2, s3, s4, s5, s6, s7, p0, p1, w1, c1, c2, c3, c4, c5, r1, r2, r3, r4, r5, r6, r7, t
""".replace("t = sum", "s9 = A + 1.0\nt = sum")
LOCAL = """dim V, L local, C local
dim E local = L[::-2], LC local = L * C, LL local = L + L, CL local = C * L, ELE local = E + L + E
input G : null[V, V], X : f64[V, L], Y : [f64; 2][V, L, C], Z : f64[L, C]
r1 = slice(X, E)
r2 = concat(X, 3.0 * X, LL)
y = slice(Y, E)
r3 = map(q -> q[1], reshape(Y, LC))
r4 = map(q -> q[0], y)
r5 = reshape(Z, LC)
r6 = concat(slice(Z, E), Z, slice(Z, E), ELE)
r7 = reshape(reshape(Z, LC) + 1.0, [L, C])
x = X @ fill(1.0, L)
for i in 0..3 {
  z = concat(X, map((a, g) -> a + 0.1 * g, X, G @ x), LL)
  x = sum(slice(slice(z, S), T), over T) * 0.01
}
output r1, r2, r3, r4, r5, r6, r7, x
""".replace("ELE local = E + L + E", "ELE local = E + L + E, S local = LL[1::3], T local = S[::-1]")


class Rearrange(ArrayTest):
    seed = 11
    inputs = {"A": "NM", "I4": "NM", "H": "NMK", "u": "N", "v": "M", "b": "NM", "P": "NM"}

    def close(self, name, made):
        return 1e-12 if name in ("x", "t") else 0

    def cut(self, n, m, k):
        numbers = np.random.default_rng(n + m)
        A, I4 = numbers.normal(size=(n, m)), numbers.integers(-3, 4, (n, m))
        H, u, v = numbers.normal(size=(n, m, k)).astype("f4"), numbers.normal(size=n), numbers.normal(size=m)
        b, j, P = numbers.random((n, m)) < 0.5, numbers.integers(0, 99, (n, m)).astype("i4"), numbers.normal(size=(n, m, 2))
        c1, s9 = np.concatenate([A, 2 * A]), A + 1
        wanted = {
            "s1": A[::2], "s2": A[:, ::-1], "s3": H[-3:0:-2, ::-1], "s4": b[:, 1:3], "s5": u[::2], "s6": A[:, 5:5],
            "s7": A[::2][1:], "p0": (P[:, :, 0] - P[:, :, 1])[-3:0:-2], "p1": P[:, ::-1, 1], "w1": np.arange(n)[-3:0:-2],
            "c1": c1, "c2": np.concatenate([I4, I4[::2], I4]), "c3": np.concatenate([u, u[::2], u]),
            "c4": np.concatenate([H, H]), "c5": np.concatenate([b, b]), "r1": A.ravel(), "r2": H.ravel(),
            "r3": H.reshape(n, m * k), "r4": 2 * A, "r5": H, "r6": j.ravel(), "r7": A[::2].ravel(),
            "t": np.sum(c1 * np.concatenate([s9, s9]))}
        return dict(A=A, I4=I4, H=H, u=u, v=v, b=b, j=j, P=P), wanted

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

    def test_borders_alone_move(self):
        """Each element goes straight to the owner of its place in the result."""
        x, A = np.arange(4000.0), np.arange(3000.0).reshape(1000, 3)
        self.save(dict(x=x, A=A))
        for dims, text, wanted, moved in [("K = N[1:]", "slice(x, K) - 1.0", x[1:] - 1, 3),
                                          ("K = N[:-1]", "slice(x, K) - 1.0", x[:-1] - 1, 0),
                                          ("K = N[::2]", "slice(x, K) - 1.0", x[::2] - 1, 0),
                                          ("K = N[::-1]", "slice(x, K) - 1.0", x[::-1] - 1, 4000),
                                          ("K = N + N", "concat(x, -x, K) + 0.5", np.concatenate([x, -x]) + 0.5, 6000),
                                          ("K = R * M", "reshape(A, K) + 1.0", A.ravel() + 1, 0)]:
            (self.dir / "a.ks").write_text(f"dim N, R, M\ndim {dims}\ninput x : f64[N], A : dense f64[R, M]\n"
                                           f"output y = {text}, s = sum(x) + sum(A)\n")
            self.kasen("plan", "a.ks", "-o", "p.kir")
            self.kasen("partition", "--program", "p.kir", "x=x.npy", "A=A.npy", "--workers", "4", "-o", "bundle", "--replace")
            self.kasen("fuse", "p.kir", "--mesh", "4", "--bundle", "bundle", "-o", "f.kir")
            for ranks in ([], ["-n", "4"]):
                self.run_it("f.kir", {"y": wanted}, dims, *ranks)
                shareds = 2 * 2 * 3 * 8  # two sums, to one worker and to all
                self.assertEqual(json.loads((self.dir / "run.json").read_text())["traffic"]["worker_bytes"], shareds + 8 * moved)

    def test_beside_a_graph(self):
        (self.dir / "a.ks").write_text(LOCAL)
        numbers = np.random.default_rng(2)
        v, l, c = 20, 6, 4
        X, Y, Z = numbers.normal(size=(v, l)), numbers.normal(size=(v, l, c, 2)), numbers.normal(size=(l, c))
        G = (numbers.random((v, v)) < 0.2).astype(float)
        G[0, :] = G[:, 0] = 1  # so that each vertex is mentioned
        (self.dir / "g.txt").write_text("".join(f"{i} {j}\n" for i, j in zip(*np.nonzero(G))))
        x = X.sum(1)
        for _ in range(3):
            x = np.concatenate([X, X + 0.1 * (G @ x)[:, None]], 1)[:, 1::3][:, ::-1].sum(1) * 0.01
        wanted = {
            "r1": X[:, ::-2], "r2": np.concatenate([X, 3 * X], 1), "r3": Y[..., 1].reshape(v, -1), "r4": Y[:, ::-2, :, 0],
            "r5": Z.ravel(), "r6": np.concatenate([Z[::-2], Z, Z[::-2]]), "r7": Z + 1, "x": x}
        inputs = self.save(dict(X=X, Y=Y, Z=Z))
        self.kasen("plan", "a.ks", "-o", "p.kir")
        for workers, ranks, strategy in self.plans():
            self.kasen("partition", "--program", "p.kir", "G=g.txt", *inputs, "--workers", workers, "-o", "bundle", "--replace")
            self.kasen("fuse", "p.kir", "--strategy", strategy, "-o", "f.kir")
            self.run_it("f.kir", wanted, f"{workers} {strategy}", *self.over(ranks))

    def test_any_slice(self):
        """Random bounds and steps, of sizes known to plan and of the data, against Python's own."""
        bounds = ["", "0", "1", "3", "7", "9", "-1", "-3", "-7", "-9", "far", "-far"]
        for size in (0, 1, 7):
            texts, wanted = [], {}
            while len(texts) < 40:
                begin, end = self.random.choice(bounds), self.random.choice(bounds)
                step = self.random.choice(["", ":", ":1", ":2", ":3", ":-1", ":-2", ":-9", ":far", ":-far"])
                texts.append(f"{begin}:{end}{step}")
            far = 2 ** 63 - 1
            x = np.arange(10.0, 10.0 + size)
            where = self.random.choice(["", "local "])
            program = f"const far = {far}\ndim N {where}\ninput x : f64[N]\n"
            for number, text in enumerate(texts):
                program += f"dim D{number} {where}= N[{text}]\ny{number} = slice(x, D{number})\n"
                parts = [int(p.replace("far", str(far))) if p else None for p in text.split(":")]
                wanted[f"y{number}"] = x[slice(*parts)]
            (self.dir / "a.ks").write_text(program + "output " + ", ".join(wanted) + "\n")
            self.kasen("go", "a.ks", *self.save({"x": x}), "--dim", f"N={size}", "-o", "out.npy")
            self.compare(wanted, f"{size} {texts}")

    def test_sizes_follow(self):
        (self.dir / "a.ks").write_text("dim N, F local = 4\ndim K = N[1:], L local = F + F, NF = N * F\n"
                                       "input X : f64[N, F], y : f64[K]\n"
                                       "output a = y * 2.0, s = size(NF), c = concat(X, X, L)\n")
        plan, _ = self.kasen("plan", "a.ks")
        self.assertIn("dim K = N[1:]\n", plan)
        self.assertIn("dim L local = F + F\n", plan)
        self.kasen("fuse", stdin=plan)
        fused, _ = self.kasen("fuse", "--sizes", "N=100,P=2", stdin=plan)
        self.fault("measure", "--sizes", "N=100,K=7,P=2", stdin=fused, status=USAGE, says=["7 for dimension 'K'", "N[1:]", "99"])
        X = np.ones((5, 4))
        inputs = self.save({"X": X, "y": np.arange(4.0)})
        self.kasen("go", "a.ks", *inputs, "-o", "out.npy")
        np.testing.assert_array_equal(np.load(self.dir / "out.npy"), np.arange(4.0) * 2)
        self.assertEqual(np.load(self.dir / "out-s.npy"), 20)
        inputs = self.save({"X": X, "y": np.arange(5.0)})
        self.fault("go", "a.ks", *inputs, status=BAD, says=["y.npy", "has 5 indices of dimension K", "N[1:], which has 4"])
        self.fault("go", "a.ks", *inputs, "--dim", "K=5", status=USAGE, says=["follows from", "N[1:]", "give the sizes of N"])
        self.fault("go", "a.ks", *inputs, "--dim", "N=7", status=BAD, says=["y.npy", "N[1:], which has 6"])

    def test_a_part_behind_one_without_arrays(self):
        """No array is over F, which says where K begins."""
        (self.dir / "a.ks").write_text("dim N, F local, K local\ndim S local = F + K\ninput x : f64[N, S]\n"
                                       "output k = slice(x, K), back = slice(x, K - 2)\n")
        x = np.arange(30.0).reshape(5, 6)
        sizes = [word for size in ("F=2", "K=4") for word in ("--dim", size)]
        for strategy in ("none", "cost"):
            self.kasen("go", "a.ks", *self.save({"x": x}), *sizes, "--strategy", strategy, "-o", "out.npy")
            self.compare({"k": x[:, 2:6], "back": x[:, 0:4]}, strategy)

    def test_another_bundle(self):
        """A bundle of one slice is none of another one."""
        for bound in ("1", "2"):
            (self.dir / f"{bound}.ks").write_text(f"dim N\ndim K = N[{bound}:]\ninput x : f64[N]\noutput y = slice(x, K)\n")
            self.kasen("plan", f"{bound}.ks", "-o", f"plan-{bound}.kir")
            self.kasen("fuse", f"plan-{bound}.kir", "-o", f"{bound}.kir")
        self.kasen("partition", "--program", "plan-1.kir", *self.save({"x": np.arange(5.0)}), "--workers", "1", "-o", "bundle")
        self.kasen("run", "1.kir", "--bundle", "bundle", "-o", "out.npy")
        np.testing.assert_array_equal(np.load(self.dir / "out.npy"), np.arange(1.0, 5))
        self.fault("run", "2.kir", "--bundle", "bundle", status=BAD, says=["'K' has 4 indices", "N[2:], which has 3"])

    def test_refusals(self):
        head = "dim N, M, K local = 4\ndim E = N[::2], P = N * M, S = N + M\ninput A : dense f64[N, M], B : dense f64[N, N], x : f64[N], y : i64[M], z : f64[M]\n"
        for text, says in [("slice(A, N)", "no slice of a dimension"), ("slice(z, E)", "E is N[::2]"), ("slice(B, E)", "one stands twice"),
                           ("slice(A)", "write slice(A, K)"), ("concat(x, y, S)", "nothing is converted"), ("concat(x, z, x, S)", "concat of 3 arrays"),
                           ("concat(z, x, S)", "S is N + M"), ("concat(x, z, P)", "no sum of dimensions"), ("concat(x, z, over N)", "no sum"),
                           ("reshape(A, S)", "no product"), ("reshape(A', P)", "as neighbours in this order"), ("reshape(A, [M, N])", "the product of these"),
                           ("reshape(x, P)", "P is N * M"), ("x[1:3]", "slice(A, K)")]:
            (self.dir / "bad.ks").write_text(head + f"output o = {text}\n")
            self.fault("plan", "bad.ks", status=BAD, says=["bad.ks:4", says])
        for text, says in [("dim D = D[1:]", "derived from itself"), ("dim D = x[1:]", "'x' is no dimension"), ("dim D = N[1]", "N[i:i + 1]"),
                           ("dim D = N[::0]", "step 0"), ("dim D = N", "write N[:]"), ("dim D = N + 1", "dim One = 1"),
                           ("dim D = N * M + N", "a dimension of its own"), ("dim D = N[size(M):]", "known to plan")]:
            (self.dir / "bad.ks").write_text(f"dim N, M\ninput x : f64[N]\n{text}\noutput x\n")
            self.fault("plan", "bad.ks", status=BAD, says=["bad.ks:3", says])
        (self.dir / "bad.ks").write_text("dim N\ndim E = N[1:]\ninput G : f64[N, N], x : f64[N]\ns = slice(x, E)\noutput y = G @ x, s\n")
        plan, _ = self.kasen("plan", "bad.ks")
        self.fault("fuse", status=BAD, stdin=plan, says=["bad.ks:4", "'G' is sparse", "a program of its own"])
        (self.dir / "big.ks").write_text("dim N = 4000000000\ndim S = N * N * N\ninput x : f64[N]\noutput x\n")
        self.fault("plan", "big.ks", status=BAD, says=["big.ks:2"])

    def test_constant_sizes(self):
        """Sizes that consts give are as before, also where they name a dimension of known size."""
        (self.dir / "a.ks").write_text("const k = 3\ndim F local = 2 * k, G local = F + 1, H local = F * F, N\ninput x : f64[N]\n"
                                       "output y = sum(fill(1.0, G)), z = sum(fill(1.0, H)), x\n")
        plan, _ = self.kasen("plan", "a.ks")
        self.assertIn("dim G local = 7", plan)
        self.kasen("go", "a.ks", *self.save({"x": np.ones(3)}), "-o", "out.npy")
        self.assertEqual(np.load(self.dir / "out.npy"), 7)
        self.assertEqual(np.load(self.dir / "out-z.npy"), 36)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
