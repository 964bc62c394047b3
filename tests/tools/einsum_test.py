#!/usr/bin/env python3
"""Index notation: einsum's subscripts give numpy.einsum's values, in the usual layout, over meshes and random layouts.

Usage: einsum_test.py FOLDER_OF_TOOLS SOURCE_ROOT [unittest arguments]
"""
import random
import sys
import unittest

import numpy

sys.dont_write_bytecode = True  # the source tree stays as it is
from tools_test import BAD, USAGE, ToolTest  # noqa: E402

# Products, transposed ones, outer products, sums, traces, diagonals, batches, double contractions, three factors.
SUBSCRIPTS = """ij,jk->ik ij,jk->ki ji,jk->ik ij,kj->ik ij,ij->ij ij,ji->ij ij,ji-> i,i-> i,j->ij i,j->ji ij,j->i ij,i->j
ij,j->ij ij->ji ijk->kij ijk->kji ij-> ij->i ij->j ijk->j ijk->ki ii-> ii->i iji->j iij->ij bij,bjk->bik bij,bjk->ibk
bij,bkj->bik bi,bi->b bij,bj->bi ijk,jk->i ijk,jl->ikl ijk,jkl->il ijk,kji-> ijk,jl,kl->il ij,jk,kl->il i,ij,j->
i,j,k->ijk ij,ik->ijk ab,cd->abcd abcd,cd->ab abc,cb->a ijk,il,jl->il ij,il,jl->il ij,j,i->i ijk,ij,k->ij""".split()
SIZES = dict(zip("abcdijkl", (3, 4, 2, 5, 6, 7, 3, 4)))
SEMIRINGS = """dim N, M, K
input A : dense i64[N, M], B : dense i64[M, K], W : dense f64[N, M], V : dense f64[M, K], P : dense bool[N, M], Q : dense bool[M, K]
input X : dense f32[N, M], Y : dense f32[M, K], T : dense f64[N, M, K]
count = [i in N, k in K: sum(j in M: A[i, j] * B[j, k])]
near = [k in K, i in N: min(j in M: A[i, j] + B[j, k])]
most = [i in N, k in K: max(j in M: W[i, j] * V[j, k])]
some = [i in N, k in K: any(j in M: P[i, j] && Q[j, k])]
every = [k in K: all(i in N, j in M: P[i, j] || Q[j, k])]
short = [i in N, k in K: sum(j in M: X[i, j] * Y[j, k])]
apart = [i in N, k in K: sum(j in M: abs(W[i, j] - V[j, k]))]
scaled = [i in N, k in K: sum(j in M: exp(0.0 - 0.5 * (W[i, j] - V[j, k]) ^ 2) * f64(A[i, j]))]
steps = [i in N, k in K: prod(j in M: 1.0 + 0.1 * T[i, j, k])]
place = [i in N, k in K: f64(i64(i)) * 10.0 + f64(i64(k)) + sum(j in M: W[i, j] * f64(i64(j)))]
output count, near, most, some, every, short, apart, scaled, steps, place
"""


def parts_of(subscripts):
    operands, result = subscripts.split("->")
    return operands.split(","), result


class Einsum(ToolTest):
    def setUp(self):
        super().setUp()
        self.random = random.Random(5)
        self.arrays, self.local = {}, ""  # dimensions that are not cut

    def program(self, names_of):
        """All subscripts; names_of gives the dimension of a label. One input for each tuple of dimensions."""
        numbers = numpy.random.default_rng(3)
        lines, self.wanted = [], {}
        for number, subscripts in enumerate(SUBSCRIPTS):
            operands, result = parts_of(subscripts)
            factors, values = [], []
            for place, labels in enumerate(operands):
                name = f"x{place}_" + "".join(names_of(label) for label in labels)
                if name not in self.arrays:
                    self.arrays[name] = numbers.normal(size=[SIZES[names_of(label).lower()] for label in labels])
                    lines.insert(0, f"input {name} : dense f64[{', '.join(names_of(label) for label in labels)}]")
                factors.append(f"{name}[{', '.join(labels)}]")
                values.append(self.arrays[name])
            summed = sorted(set("".join(operands)) - set(result))
            over = lambda labels: ", ".join(f"{label} in {names_of(label)}" for label in labels)  # noqa: E731
            text = " * ".join(factors)
            if summed:
                text = f"sum({over(summed)}: {text})"
            if result:
                text = f"[{over(result)}: {text}]"
            lines.append(f"r{number} = {text}")
            self.wanted[f"r{number}"] = numpy.einsum(subscripts, *values)
        dims = sorted({names_of(label) for label in "abcdijkl"})
        lines.insert(0, "dim " + ", ".join(dims))
        lines.append("output " + ", ".join(self.wanted))
        text = "\n".join(line.replace("dense ", "") if "[" in line and "," not in line else line for line in lines) + "\n"
        (self.dir / "e.ks").write_text(text)
        for name, array in self.arrays.items():
            numpy.save(self.dir / f"{name}.npy", array)

    def check(self, program="e.ks"):
        self.kasen("plan", program, "-o", "p.kir")
        inputs = [f"{name}={name}.npy" for name in self.arrays]
        self.kasen("partition", "--program", "p.kir", *inputs, "--workers", "2", "-o", "bundle", "--replace")
        for mesh, ranks in [("", 0), ("", 2), ("2x2", 0), ("3", 3), ("2x2x2", 2), ("2x3", 0)]:
            over = ["--mesh", mesh, *self.layouts(mesh)] if mesh else []
            self.kasen("fuse", "p.kir", *over, "--bundle", "bundle", "-o", "f.kir")
            self.kasen("run", "f.kir", "--bundle", "bundle", "-o", "out.npy", "--stats", "run.json", "--program", "p.kir",
                       "--verify", "all", *(["-n", str(ranks)] if ranks else []))
            out, _ = self.kasen("measure", "f.kir", "--bundle", "bundle", "--against", "run.json", "--check")
            self.assertIn("agree to the byte", out, mesh)
            for number, (name, wanted) in enumerate(self.wanted.items()):
                got = numpy.load(self.dir / ("out.npy" if number == 0 else f"out-{name}.npy"))
                close = 1e-5 if got.dtype == numpy.float32 else 1e-12
                numpy.testing.assert_allclose(got, wanted, rtol=close, atol=close, err_msg=f"{name} on '{mesh}'")

    def layouts(self, mesh):
        """Random cuts of the inputs."""
        hints = []
        for name, array in self.arrays.items():
            cuts, dims = [""] * array.ndim, self.dims_of(name)
            for axis in "abc"[:mesh.count("x") + 1]:
                place = self.random.randrange(array.ndim + 1)
                if place < array.ndim and dims[place] not in self.local:
                    cuts[place] += axis
            hints += ["--layout", name + "=[" + ",".join(dim + ("/" + cut if cut else "") for dim, cut in zip(dims, cuts)) + "]"]
        return hints

    def dims_of(self, name):
        return list(name.split("_")[1]) if "_" in name else {"A": "NM", "B": "MK", "W": "NM", "V": "MK", "P": "NM", "Q": "MK", "X": "NM",
                                                             "Y": "MK", "T": "NMK"}[name]

    def test_a_dimension_for_each_label(self):
        self.program(str.upper)
        self.check()

    def test_square_arrays(self):
        self.program(lambda label: "I" if label in "abij" else "K")
        self.check()

    def test_semirings_and_other_functions(self):
        (self.dir / "e.ks").write_text(SEMIRINGS)
        numbers = numpy.random.default_rng(4)
        n, m, k = 7, 5, 6
        a, b = numbers.integers(-9, 9, (n, m)), numbers.integers(-9, 9, (m, k))
        w, v = numbers.normal(size=(n, m)), numbers.normal(size=(m, k))
        p, q = numbers.random((n, m)) < 0.5, numbers.random((m, k)) < 0.5
        x, y = numbers.normal(size=(n, m)).astype("f4"), numbers.normal(size=(m, k)).astype("f4")
        t = numbers.normal(size=(n, m, k))
        self.arrays = dict(zip("ABWVPQXYT", (a, b, w, v, p, q, x, y, t)))
        for name, array in self.arrays.items():
            numpy.save(self.dir / f"{name}.npy", array)
        each = lambda left, right: (left[:, :, None], right[None])  # noqa: E731
        (wl, vr), (al, br), (pl, qr) = each(w, v), each(a, b), each(p, q)
        self.wanted = {
            "count": a @ b, "near": (al + br).min(axis=1).T, "most": (wl * vr).max(axis=1), "some": (pl & qr).any(axis=1),
            "every": (pl | qr).all(axis=(0, 1)), "short": x @ y, "apart": abs(wl - vr).sum(axis=1),
            "scaled": (numpy.exp(-0.5 * (wl - vr) ** 2) * al).sum(axis=1), "steps": (1 + 0.1 * t).prod(axis=1),
            "place": numpy.arange(n)[:, None] * 10.0 + numpy.arange(k) + (w * numpy.arange(m)).sum(axis=1)[:, None]}
        self.check()

    def test_all_pairs_of_dense_arrays(self):
        """U @ V' is an array where the program has no sparse matrix over these dimensions."""
        (self.dir / "e.ks").write_text("dim N, M, K local\ninput A : dense f64[N, M], p_NK : f64[N, K], q_MK : f64[M, K]\n"
                                       "C = A - p_NK @ q_MK'\noutput C, t = sum(abs(p_NK @ q_MK')), S = p_NK @ p_NK'\n")
        numbers = numpy.random.default_rng(6)
        a, p, q = numbers.normal(size=(7, 5)), numbers.normal(size=(7, 3)), numbers.normal(size=(5, 3))
        self.arrays, self.local = {"A": a, "p_NK": p, "q_MK": q}, "K"
        for name, array in self.arrays.items():
            numpy.save(self.dir / f"{name}.npy", array)
        self.wanted = {"C": a - p @ q.T, "t": abs(p @ q.T).sum(), "S": p @ p.T}
        self.check()

    def test_outer_products_of_what_every_worker_holds(self):
        """They need no contraction: they stand beside sparse matrices, and run with checkpoints and a watch for NaN."""
        numbers = numpy.random.default_rng(7)
        u, v, x = numbers.normal(size=4), numbers.normal(size=4), numbers.normal(size=5)
        edges = [(0, 1, 2.0), (1, 4, -1.0), (3, 2, 0.5), (4, 0, 3.0)]
        (self.dir / "G.txt").write_text("".join(f"{i} {j} {w}\n" for i, j, w in edges))
        for name, array in {"u": u, "v": v, "x": x}.items():
            numpy.save(self.dir / f"{name}.npy", array)
        (self.dir / "o.ks").write_text("""dim N
dim K local = 4
input G : f64[N, N], x : f64[N], u : f64[K], v : f64[K]
y = G @ x
w = v
for i in 0..3 {
  w = 0.5 * (outer(u, w) @ v)
}
output w, S = u @ v', D = outer((a, b) -> a - 2.0 * b, u, v), B = outer((a, b) -> a < b, u, v), y
""")
        w = v
        for _ in range(3):
            w = 0.5 * (numpy.outer(u, w) @ v)
        matrix = numpy.zeros((5, 5))
        for i, j, value in edges:
            matrix[i, j] = value
        wanted = {"w": w, "S": numpy.outer(u, v), "D": u[:, None] - 2 * v, "B": u[:, None] < v, "y": matrix @ x}
        data = ["G=G.txt", "u=u.npy", "v=v.npy", "x=x.npy"]
        for options in [], ["--workers", 3], ["--checkpoint", "saved", "--every", 1], ["--nan", "error", "--workers", 2]:
            self.kasen("go", "o.ks", *data, *options, "-o", "out.npy", "--verify", "all")
            for name, value in wanted.items():
                got = numpy.load(self.dir / ("out.npy" if name == "w" else f"out-{name}.npy"))
                numpy.testing.assert_allclose(got, value, rtol=1e-12, atol=1e-300, err_msg=f"{name} {options}")

    def test_refusals(self):
        head = "dim N, M, K local = 4\ninput A : dense f64[N, M], S : dense f64[N, N], x : f64[N], P : [f64; 3][N]\nparam a = 1.0\n"
        for text, says in [("[i in N: A[i]]", "an element by 1 index of an array over [N, M]"), ("[i in N: x[i + 1]]", "leaves it"), ("[i in N: x[u]]", "no variable"),
                           ("[i in M: x[i]]", "'i' runs over M"), ("[i in N, i in M: A[i, i]]", "two variables 'i'"),
                           ("sum(i in N, j in M: x[i])", "depends on the variable 'j'"), ("[i in N: A]", "an array over [N, M]"),
                           ("[i in N: [j in M: A[i, j]]]", "name all variables in one"), ("[i in N: sum(x)]", ""),
                           ("[i in Z: x[i]]", "Z"), ("A[0, 1, 2]", "several indices"), ("[i in N: sum(x * x[i])]", "index notation"),
                           ("sum(i in N, j in N, k in N: exp(S[k, i] * S[j, k] + S[i, j]))", "over different indices"),
                           ("any(j in 3: true)", "any over coordinates"), ("[i in N: P[i][0]]", "")]:
            (self.dir / "bad.ks").write_text(head + f"output y = {text}\n")
            if says:
                self.fault("plan", "bad.ks", status=BAD, says=["bad.ks:4", says])
            else:
                self.kasen("plan", "bad.ks")
        (self.dir / "bad.ks").write_text("dim N, M, K\ninput A : dense f64[N, M], X : dense (f64, f32)[N, M, K]\n"
                                         "z = [i in N, k in K: sum(j in M: A[i, j] * X[i, j, k].0 * f64(X[i, j, k].1) + A[i, j])]\noutput z\n")
        self.kasen("plan", "bad.ks")
        (self.dir / "bad.ks").write_text("dim N, M, K\ninput A : dense (f64, f32)[N, M], X : dense f64[N, M, K], Y : dense f64[N, K]\n"
                                         "z = [i in N, k in K: sum(j in M: abs(A[i, j].0 - Y[i, k]) * f64(A[i, j].1))]\noutput z\n")
        self.fault("plan", "bad.ks", status=BAD, says=["bad.ks:3", "scalars of one size"])
        (self.dir / "bad.ks").write_text("dim N\ninput G : f64[N, N], x : f64[N]\nd = [i in N, j in N: x[i] - x[j]]\noutput y = G @ x, d\n")
        plan, _ = self.kasen("plan", "bad.ks")
        self.fault("fuse", status=BAD, stdin=plan, says=["bad.ks:3", "'G' is sparse", "a program of its own"])
        (self.dir / "G.txt").write_text("0 1 2\n")
        numpy.save(self.dir / "x.npy", numpy.ones(2))
        self.fault("go", "bad.ks", "G=G.txt", "x=x.npy", status=BAD, says=["bad.ks:3", "'G' is sparse"])  # once
        text = "dim N\ninput x : f64[N]\nd = [i in N, j in N: x[i] - x[j]]\noutput d\n"
        (self.dir / "pairs.ks").write_text(text)

    def test_the_first_nan_is_told_by_its_indices(self):
        """In plans with contractions each worker has a box of an array. The element is told as in the whole array."""
        (self.dir / "pairs.ks").write_text("dim N\ninput x : f64[N]\nd = [i in N, j in N: sqrt(x[i] - x[j])]\n"
                                           "output s = [i in N: sum(j in N: d[i, j])], r = log(x)\n")
        equal, one = numpy.full(7, 2.0), numpy.full(7, 2.0)
        one[5] = 3.0
        numpy.save(self.dir / "one.npy", one)
        numpy.save(self.dir / "equal.npy", equal)
        numpy.save(self.dir / "below.npy", -equal)
        for workers in 1, 2, 3, 5:
            options = ["--nan", "error", "--workers", workers, "-o", "r.npy"]
            self.kasen("go", "pairs.ks", "x=equal.npy", *options)
            self.fault("go", "pairs.ks", "x=one.npy", *options, status=1, says=["pairs.ks:3:", "%d is NaN at index 0, 5 of [N, N] (worker 0)"])
            self.fault("go", "pairs.ks", "x=below.npy", *options, status=1, says=["pairs.ks:4:", "is NaN at index 0 of [N] (worker 0)"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
