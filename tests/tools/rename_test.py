#!/usr/bin/env python3
"""X as [N, G]: the same array over dimensions of other names, beside NumPy.

Usage: rename_test.py FOLDER_OF_TOOLS SOURCE_ROOT [unittest arguments]
"""
import random
import sys
import unittest

sys.dont_write_bytecode = True  # the source tree stays as it is
import h5py  # noqa: E402
import numpy  # noqa: E402
from tools_test import BAD, ToolTest  # noqa: E402

HEAD = """dim N, F local, G local = F[:], H local = G[:], M = N[:], J local
input X : f64[N, F], A : f64[F, F], w : f64[F], u : f64[N], S : dense f64[N, N], C : f64[F, F, J]
"""
LEGAL = [  # a name, its expression, and NumPy's
    ("a", "sum(A as [F, G], over G)", "A.sum(1)"),
    ("b", "sum(A as [F, G], over F)", "A.sum(0)"),
    ("c", "max(A as [G, F], over G)", "A.max(0)"),
    ("d", "X as [N, G]", "X"),
    ("e", "(X as [N, G]) as [N, F]", "X"),
    ("f", "(w as [G]) as [F] + w", "2 * w"),
    ("g", "((A as [F, G]) as [G, F]) + 1", "A + 1"),
    ("h", "(A as [F, G]) as [F, F] + A'", "A + A.T"),
    ("i", "outer(w, w as [G]) - (A as [F, G])", "numpy.outer(w, w) - A"),
    ("j", "slice(A as [F, G], K)", "A[:, 1:3]"),
    ("k", "solve(A + 9 * eye, w as [G] as [H] as [F])", "numpy.linalg.solve(A + 9 * numpy.eye(4), w)"),
    ("l", "X @ (A as [F, G])", "X @ A"),
    ("m", "X @ w as [F] + u", "X @ w + u"),
    ("n", "C as [F, H, J]", "C"),
    ("o", "sum(C as [H, G, J], over H)", "C.sum(0)"),
    ("p", "argmax(A as [F, G], over G)", "A.argmax(1)"),
    ("q", "cumsum(A as [F, G], over G)", "A.cumsum(1)"),
    ("r", "map((x, y) -> (x, y), X, u) as [N, H]", None),
    ("s", "sum(A, over rows)", "A.sum(0)"),
    ("t", "max(A * A, over columns)", "(A * A).max(1)"),
    ("x", "std(A, over cols)", "A.std(1)"),
    ("y", "argmax(X, over columns)", "X.argmax(1)"),
    ("z", "cumsum(A, over rows) - cumsum(A, over columns)", "A.cumsum(0) - A.cumsum(1)"),
    ("b2", "std(A, 1, over columns)", "A.std(1, ddof=1)"),
    ("a2", "reduce(min, (A + A') * A, over rows)", "((A + A.T) * A).min(0)"),
]
CUT = [("r", "sum(S, over columns) - sum(S * S, over rows)", "S.sum(1) - (S * S).sum(0)"), ("a", "u as [M]", "u"), ("b", "sum(S as [N, M], over M)", "S.sum(1)"), ("c", "sum(S as [M, N], over M)", "S.sum(0)"),
       ("d", "outer(u, u as [M]) * (S as [N, M])", "numpy.outer(u, u) * S"), ("e", "(S as [N, M]) as [N, N] + S", "2 * S")]
PAIRS = [("a", "u + v + D", "u[:, None] + v + D"), ("b", "D + (v + u)", "D + (v + u[:, None])"), ("c", "tanh(v - u) * D", "numpy.tanh(v - u[:, None]) * D"),
         ("d", "(u + v) as [N, P]", "u[:, None] + v"), ("e", "(v + u) as [N, P]", "u[:, None] + v"), ("f", "(u * v) as [P, N]", "(u[:, None] * v).T"),
         ("g", "sum((v + 2 * u) as [N, P], over P)", "(v + 2 * u[:, None]).sum(1)"), ("h", "(if u > v then u else v) + D", "numpy.maximum(u[:, None], v) + D"),
         ("i", "((u + v) as [N, P]) + D + v", "u[:, None] + v + D + v"), ("j", "(u - v) ^ 2 + D", "(u[:, None] - v) ** 2 + D"),
         ("k", "w + v + ((u + v) as [N, P]) + E", "w + v[:, None] + (u[:, None] + v)[:, :, None] + E")]
NOT_PAIRED = ["u + v", "v + u", "sum(u + v)", "D @ (u + v)", "max(u, v)", "dot(u, v)", "(u + v, 1.0)", "-(u + v)", "map((x, y) -> x + y, u, v)", "(v + u) * 2.0"]
REFUSED = [
    ("sum(w, over rows)", ["'rows' of an array over [F]", "name the dimension"]),
    ("sum(C, over columns)", ["'columns' of an array over [F, F, J]"]),
    ("take(A, argmax(A, over rows), over rows)", ["take of an array over [F, F] and others", "dim Other local = F[:]"]),
    ("sum(A, over rows, cols)", ["'rows' is no dimension", "over columns"]),
    ("X as [N]", ["an array over [N, F] as [N]", "name 2 dimensions"]),
    ("X as [G, N]", ["'G' is not 'N' by another name", "dim G = N[:]"]),
    ("X as [N, K]", ["'K' is not 'F' by another name", "dim K local = F[:]"]),
    ("X as [N, J]", ["'J' is not 'F' by another name"]),
    ("X as [N, B]", ["B"]),
    ("u as [L]", ["'L' is not 'N' by another name", "dim L = N[:]"]),
    ("3 as [N]", ["as"]),
    ("sum(A, over F)", ["a reduction of an array over [F, F]", "sum(A as [F, Other], over Other)"]),
    ("slice(A, K)", ["slice of an array over [F, F]", "A as [F, Other]"]),
    ("[f in F, g in G: A[f, g]]", ["a slice of an array over [F, F] to G", "A as [F, Other]"]),
    ("X as", ["'as' is not expected here"]),
    ("X as []", ["the name of a dimension"]),
    ("X as [N, F", ["'[' is never closed"]),
    ("X as [N; F]", ["after the dimensions"]),
]


class Renamed(ToolTest):
    def setUp(self):
        super().setUp()
        draw = numpy.random.default_rng(7)
        self.arrays = {"X": draw.random((11, 4)), "A": draw.random((4, 4)), "w": draw.random(4), "u": draw.random(11),
                       "S": draw.random((11, 11)), "C": draw.random((4, 4, 3))}
        for name, array in self.arrays.items():
            numpy.save(self.dir / f"{name}.npy", array)

    def run_program(self, text, *more):
        (self.dir / "p.ks").write_text(text)
        inputs = [f"{name}={name}.npy" for name in self.arrays]
        self.kasen("go", "p.ks", *inputs, "--dir", "d", "--no-report", "-o", "r.h5", *more)
        return h5py.File(self.dir / "r.h5")

    def check(self, text, cases, *more):
        with self.run_program(text, *more) as f:
            for name, _, wanted in cases:
                if wanted is not None:
                    value = eval(wanted, {"numpy": numpy, **self.arrays})  # noqa: S307: of the table above
                    numpy.testing.assert_allclose(f[name][()], value, rtol=1e-12, err_msg=name)

    def test_the_same_array(self):
        """With all strategies, of one worker and of several, and by the interpreter."""
        text = HEAD + "dim K local = G[1:3]\neye = [f in F, g in F: if f == g then 1.0 else 0.0]\n" + \
            "".join(f"output {name} = {form}\n" for name, form, _ in LEGAL)
        for workers, strategy, kernels in [(1, "greedy", "generated"), (3, "cost", "generated"), (2, "none", "interpreter")]:
            self.check(text, LEGAL, "--workers", workers, "--strategy", strategy, "--kernels", kernels, "--verify", "all")

    def test_cut_dimensions(self):
        """Elements of an array that is cut stay with their owners or move; the values are the same."""
        text = HEAD + "".join(f"output {name} = {form}\n" for name, form, _ in CUT)
        for workers in (1, 3):
            self.check(text, CUT, "--workers", workers)

    def test_it_stands_in_loops_and_functions(self):
        text = HEAD + "def rows(B : [P, Q], over q) = sum(B as [P, q], over q)\n" + \
            "v = w\nfor i in 0..3 {\n  v = v + sum((A as [F, G]) * (v as [G]), over G)\n}\noutput v, x = rows(A, over G)\n"
        with self.run_program(text, "--workers", 2) as f:
            v = self.arrays["w"]
            for _ in range(3):
                v = v + self.arrays["A"] @ v
            numpy.testing.assert_allclose(f["v"][()], v, rtol=1e-12)
            numpy.testing.assert_allclose(f["x"][()], self.arrays["A"].sum(1), rtol=1e-12)

    def test_random_chains_of_names(self):
        """Whatever the names on the way, the elements stay; sums at the end are along the axis that the last name says."""
        draw = random.Random(8)
        text, cases = HEAD, []
        for i in range(24):
            name, rank = draw.choice([("A", 2), ("C", 3), ("X", 2), ("w", 1)])
            form, free = name, {"A": [0, 1], "C": [0, 1], "X": [1], "w": [0]}[name]
            for _ in range(draw.randint(1, 4)):
                dims = {"A": ["F", "F"], "C": ["F", "F", "J"], "X": ["N", "F"], "w": ["F"]}[name]
                for axis in free:
                    dims[axis] = draw.choice("FGH")
                form = f"({form} as [{', '.join(dims)}])"
            axis = draw.choice(free)
            if dims.count(dims[axis]) == 1 and rank > 1:
                cases.append((f"o{i}", f"sum({form}, over {dims[axis]})", f"{name}.sum({axis})"))
            else:
                cases.append((f"o{i}", form, name))
        text += "".join(f"output {name} = {form}\n" for name, form, _ in cases)
        self.check(text, cases, "--workers", 2)

    def test_what_is_refused(self):
        for form, says in REFUSED:
            (self.dir / "p.ks").write_text(HEAD + f"dim K local = G[1:3], L local = N[:]\noutput y = {form}\n")
            err = self.fault("plan", "p.ks", "-o", "p.kir", status=BAD, says=says)
            self.assertIn("p.ks:4:", err)

    def test_arrays_meet_in_any_order_of_writing(self):
        """Where none has all dimensions, the one that has them gives the order, or `as`."""
        draw = numpy.random.default_rng(9)
        self.arrays = {"u": draw.random(11), "v": draw.random(6), "w": draw.random(4), "D": draw.random((11, 6)), "E": draw.random((11, 6, 4))}
        for name, array in self.arrays.items():
            numpy.save(self.dir / f"{name}.npy", array)
        head = "dim N, P, F local\ninput u : f64[N], v : f64[P], w : f64[F], D : dense f64[N, P], E : dense f64[N, P, F]\n"
        text = head + "".join(f"output {name} = {form}\n" for name, form, _ in PAIRS)
        for workers in (1, 2):
            self.check(text, PAIRS, "--workers", workers)
        for form in NOT_PAIRED:
            (self.dir / "q.ks").write_text(head + f"output y = {form}\n")
            err = self.fault("plan", "q.ks", "-o", "p.kir", status=BAD, says=[])
            if form != "dot(u, v)" and "@" not in form:
                self.assertIn("(a + b) as [N, M]", err, form)
        for form, says in [("(u + v) as [N]", "named once"), ("(u + v) as [N, N]", "named once"), ("(u + v) as [N, P, F]", "all pairs over [N, P]")]:
            (self.dir / "q.ks").write_text(head + f"output y = {form}\n")
            self.fault("plan", "q.ks", "-o", "p.kir", status=BAD, says=says)

    def test_as_is_a_name_elsewhere(self):
        with self.run_program(HEAD + "as = 2 * w\noutput as, y = as + 1, z = as as [G]\n") as f:
            numpy.testing.assert_allclose(f["z"][()], 2 * self.arrays["w"], rtol=1e-12)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
