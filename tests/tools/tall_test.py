#!/usr/bin/env python3
"""Linear algebra over workers: tall matrices through tiles of their rows, square ones in blocks of columns. Values are NumPy's
and SciPy's for any number of rows and workers, factors are orthonormal to the last digits, and what moves is what
docs/library.md says.

Usage: tall_test.py FOLDER_OF_TOOLS SOURCE_ROOT [unittest arguments]
"""
import json
import sys
import unittest

import numpy as np
from scipy.linalg import solve_triangular

sys.dont_write_bytecode = True  # the source tree stays as it is
from array_cases import ArrayTest  # noqa: E402
from library_numpy import orth, svd  # noqa: E402
from tools_test import BAD  # noqa: E402

TALL = """use "linalg"
dim N, K local
input X : f64[N, K], y : f64[N]
Q, R = tsqr(X)
P, S = tsqr_refined(X)
U, s, V = svd_tall(X)
w, axes = pca_tall(X)
output Q, R, P, S, U, s, V, w, axes, T = tsqr_r(X), b = lstsq_tall(X, y), c = ridge_tall(X, y, 0.25)
"""
BLOCKS = {  # the call, and what it gives of a regular A, a positive definite H, its lower triangle, b, and several right sides C
    "block_cholesky(H, width)": lambda A, H, b, C: np.linalg.cholesky(H),
    "block_inv_spd(H, width)": lambda A, H, b, C: np.linalg.inv(H),
    "block_inv(A, width)": lambda A, H, b, C: np.linalg.inv(A),
    "block_solve_spd(H, b, width)": lambda A, H, b, C: np.linalg.solve(H, b),
    "block_solve(A, b, width)": lambda A, H, b, C: np.linalg.solve(A, b),
    "block_solve(A, C, width)": lambda A, H, b, C: np.linalg.solve(A, C),
    "block_solve_lower(H, b, width)": lambda A, H, b, C: solve_triangular(H, b, lower=True),
    "block_solve_lower(H, C, width)": lambda A, H, b, C: solve_triangular(H, C, lower=True),
    "block_solve_upper(H, C, width)": lambda A, H, b, C: solve_triangular(H, C),
    "block_solve_transposed(H, b, width)": lambda A, H, b, C: solve_triangular(H, b, lower=True, trans=1),
}


def exchanged(call, n, p, b, k):
    """The numbers that docs/library.md says, for n rows, p workers, blocks of b columns and k right sides."""
    triangle = 2 * (p - 1) * (b + k) * n
    cholesky = (p - 1) * (n + 2 * b) * n
    return {"block_cholesky": cholesky, "block_solve_lower": triangle, "block_solve_upper": triangle,
            "block_solve_transposed": triangle + 2 * (p - 1) * k * n,
            "block_solve_spd": cholesky + 2 * triangle + 2 * (p - 1) * k * n, "block_solve": 2 * (p - 1) * (n + k + b) * n}[call]


class LinearTest(ArrayTest):
    def ready(self, text, data, workers):
        (self.dir / "t.ks").write_text(text)
        self.kasen("plan", "t.ks", "-o", "p.kir")
        self.kasen("partition", "--program", "p.kir", *self.save(data), "--workers", workers, "-o", "bundle", "--replace")
        self.kasen("fuse", "p.kir", "--bundle", "bundle", "-o", "f.kir")

    def made(self, plan, names, *options):
        """The outputs, which are verified; and what moved is what was predicted."""
        self.kasen("run", plan, "--bundle", "bundle", "-o", "out.npy", "--stats", "run.json", *options)
        out, _ = self.kasen("measure", plan, "--bundle", "bundle", "--against", "run.json", "--check")
        self.assertIn("agree to the byte", out)
        return {name: np.load(self.dir / ("out.npy" if i == 0 else f"out-{name}.npy")) for i, name in enumerate(names)}

    def moved(self):
        return sum(op["network_bytes"] for op in json.loads((self.dir / "run.json").read_text())["operators"])


class Tall(LinearTest):
    names = ["Q", "R", "P", "S", "U", "s", "V", "w", "axes", "T", "b", "c"]

    def matrix(self, n, k, condition):
        random = np.random.default_rng(n)
        left, _ = np.linalg.qr(random.normal(size=(n, k)))
        right, _ = np.linalg.qr(random.normal(size=(k, k)))
        return (left * np.geomspace(1, 1 / condition, k)) @ right.T, random.normal(size=n)

    def check_factors(self, X, made, what):
        n, k = X.shape
        close = 1e-13 * n
        for q, r in ["QR", "PS"]:
            self.assertLess(abs(made[q].T @ made[q] - np.eye(k)).max(), close, f"{q} {what}")
            self.assertLess(abs(made[q] @ made[r] - X).max(), close, f"{q} {what}")
            self.assertEqual(abs(np.tril(made[r], -1)).max(), 0, f"{r} {what}")
        np.testing.assert_array_equal(made["R"], made["T"])
        self.assertLess(abs(made["U"].T @ made["U"] - np.eye(k)).max(), close, what)
        self.assertLess(abs(made["U"] * made["s"] @ made["V"].T - X).max(), close, what)
        np.testing.assert_allclose(made["s"], np.linalg.svd(X)[1], atol=close, err_msg=what)

    def check_values(self, X, y, made, what):
        """Where columns are independent, all of it is NumPy's."""
        q, r = orth(X)
        u, _, v = svd(X)
        for name, value in {"Q": q, "R": r, "P": q, "S": r, "U": u, "V": v}.items():
            np.testing.assert_allclose(made[name], value, atol=1e-11, err_msg=f"{name} {what}")
        apart = X - X.mean(0)
        _, s, axes = svd(apart)
        np.testing.assert_allclose(made["w"], s * s / (len(X) - 1), atol=1e-12, err_msg=what)
        if len(X) > X.shape[1]:  # the last direction of as many rows as columns has no variance
            np.testing.assert_allclose(made["axes"], axes, atol=1e-10, err_msg=what)
        np.testing.assert_allclose(made["b"], np.linalg.lstsq(X, y, rcond=None)[0], rtol=1e-10, err_msg=what)
        more = np.vstack([X, 0.5 * np.eye(X.shape[1])])
        np.testing.assert_allclose(made["c"], np.linalg.lstsq(more, np.append(y, 0 * more[0]), rcond=None)[0], rtol=1e-10, err_msg=what)

    def test_any_rows_on_any_workers(self):
        """Also tiles of fewer rows than columns, of zeros alone, and as many rows as columns."""
        for n, k in [(24, 4), (43, 5), (11, 6), (5, 5), (3, 1)]:
            X, y = self.matrix(n, k, 10)
            self.ready(TALL, {"X": X, "y": y}, 2)
            for workers in range(1, 7):
                ranks = ["-n", "3"] if (workers, n) == (6, 43) else []
                made = self.made("f.kir", self.names, "--workers", workers, *ranks)
                self.check_factors(X, made, f"{X.shape} on {workers}")
                self.check_values(X, y, made, f"{X.shape} on {workers}")

    def test_columns_that_are_nearly_dependent(self):
        X, y = self.matrix(103, 6, 1e6)
        self.ready(TALL + "Z, W = tsqr_indirect(X)\noutput Z\n", {"X": X, "y": y}, 4)
        for options in [["--workers", "4"], ["--workers", "5", "-n", "2"]]:
            made = self.made("f.kir", [*self.names, "Z"], *options, "--verify", "all")
            self.check_factors(X, made, options)
            exact = np.linalg.lstsq(X, y, rcond=None)[0]
            self.assertLess(np.linalg.norm(made["b"] - exact), 1e-8 * np.linalg.norm(exact))
            worse = abs(made["Z"].T @ made["Z"] - np.eye(6)).max()
            self.assertGreater(worse, 1e-13 * 103)  # without the refinement

    def test_least_squares(self):
        """lstsq of columns that are nearly dependent, that are, of zeros, of other sizes, and fewer rows than columns."""
        rng = np.random.default_rng(7)
        plain, _ = self.matrix(60, 5, 10)
        cases = {"far": self.matrix(60, 5, 1e6)[0], "farther": self.matrix(60, 5, 1e10)[0], "zeros": np.zeros((6, 3)),
                 "sizes": plain * [1e-9, 1, 1e9, 1e-3, 1e30], "wide": plain[:3],
                 "dependent": np.column_stack([plain, plain[:, 0] - 3 * plain[:, 4], np.zeros(60)])}
        text = 'dim N, K local\ninput X : f64[N, K], y : f64[N]\nb = lstsq(X, y)\noutput b, z = X @ b\n'
        for name, X in cases.items():
            y = rng.normal(size=len(X))
            self.ready(text, {"X": X, "y": y}, 4)
            made = self.made("f.kir", ["b", "z"], "--workers", 3)
            scale = np.maximum(np.linalg.norm(X, axis=0), 1e-300)
            exact, _, rank, s = np.linalg.lstsq(X / scale, y, rcond=None)
            with self.subTest(name):
                self.assertLess(np.linalg.norm(made["z"] - X / scale @ exact), max(1e-9, 1e-16 * (1 + np.linalg.norm(exact))))
                if rank == X.shape[1]:
                    self.assertLess(np.linalg.norm(made["b"] * scale - exact), 1e-14 * s[0] / s[-1] * np.linalg.norm(exact))
        x = np.linspace(0, 1, 80)
        y = np.sin(5 * x) + rng.normal(size=80) / 1000
        self.ready("dim N, K local = 15\ninput x : f64[N], y : f64[N]\nc = polyfit(x, y, over K)\noutput z = polyval(x, c)\n", {"x": x, "y": y}, 2)
        made = self.made("f.kir", ["z"], "--workers", 2)
        np.testing.assert_allclose(made["z"], np.polynomial.Polynomial.fit(x, y, 14)(x), atol=1e-9)

    def test_what_moves(self):
        """R of each tile, to all others; and rows at the ends of tiles."""
        text = 'use "linalg"\ndim N, K local\ninput X : f64[N, K]\nQ, R = tsqr(X)\noutput Q, R\n'
        k = 5
        for n in [1200, 1201, 1199]:
            self.ready(text, {"X": self.matrix(n, k, 10)[0]}, 4)
            for workers in [1, 4, 6]:
                self.made("f.kir", ["Q", "R"], "--workers", workers)
                factors = 8 * k * k * workers * (workers - 1)
                ends = 0 if n % workers == 0 else 2 * 8 * k * workers * workers // 2  # there, and back
                self.assertGreaterEqual(self.moved(), factors)
                self.assertLessEqual(self.moved(), factors + ends, f"{n} rows on {workers}")

    def test_in_single_precision(self):
        X, y = (a.astype(np.float32) for a in self.matrix(43, 5, 10))
        self.ready(TALL.replace("f64", "f32"), {"X": X, "y": y}, 3)
        made = self.made("f.kir", self.names, "--workers", 4)
        self.assertEqual({array.dtype for array in made.values()}, {np.dtype(np.float32)})
        self.assertLess(abs(made["Q"].T @ made["Q"] - np.eye(5)).max(), 1e-5)
        np.testing.assert_allclose(made["b"], np.linalg.lstsq(X, y, rcond=None)[0], rtol=1e-3)


class Blocks(LinearTest):
    def arrays(self, n):
        random = np.random.default_rng(n)
        A = random.normal(size=(n, n))
        A[0, 0] *= n == 1  # the first pivot is another row
        return {"A": A, "H": A @ A.T + n * np.eye(n), "b": random.normal(size=n), "C": random.normal(size=(n, 3))}

    def program(self, calls, width, local=""):
        lines = [f"output r{i} = {call}" for i, call in enumerate(calls)]
        return (f'use "blocks"\nconst width = {width}\ndim N, M, K{local}\n'
                "input A : dense f64[N, M], H : dense f64[N, M], b : f64[N], C : dense f64[N, K]\n" + "\n".join(lines) + "\n")

    def test_values_are_those_of_numpy_and_scipy(self):
        """For sizes that blocks and workers divide or not, one block for all, and one row."""
        for n, width, runs in [(12, 4, [[], ["--workers", "4"]]), (13, 5, [["--workers", "3", "-n", "3"]]), (5, 8, [["--workers", "4"]]),
                               (1, 2, [["--workers", "2"]])]:
            data = self.arrays(n)
            self.ready(self.program(BLOCKS, width), data, 3)
            for options in runs:
                self.check(self.made("f.kir", [f"r{i}" for i in range(len(BLOCKS))], *options), data, f"{n} in {width} {options}")

    def test_over_meshes(self):
        data = self.arrays(13)
        self.ready(self.program(BLOCKS, 4), data, 4)
        for mesh in ["2x2", "1x3"]:
            self.kasen("fuse", "p.kir", "--mesh", mesh, "-o", "m.kir")
            self.check(self.made("m.kir", [f"r{i}" for i in range(len(BLOCKS))]), data, mesh)

    def check(self, made, data, what):
        for (call, of), array in zip(BLOCKS.items(), made.values()):
            value = of(**data)
            close = 1e-15 * len(value) * np.linalg.cond(data["A" if "A" in call else "H"]) * abs(value).max() + 1e-14
            np.testing.assert_allclose(array, value, rtol=0, atol=close, err_msg=f"{call} {what}")

    def test_what_moves_is_what_the_page_says(self):
        data = self.arrays(64)
        for call in ["block_cholesky(H, 8)", "block_solve_lower(H, C, 8)", "block_solve_upper(H, C, 8)", "block_solve_transposed(H, C, 8)",
                     "block_solve_spd(H, C, 8)", "block_solve(A, C, 8)"]:
            used = {name: data[name] for name in "AHC" if name in call}
            head = "\n".join(f"input {name} : dense f64[N, {'K' if name == 'C' else 'M'}]" for name in used)
            dims = "dim N, M, K local\n" if "C" in used else "dim N, M\n"
            self.ready(f'use "blocks"\n{dims}{head}\noutput z = {call}\n', used, 4)
            self.made("f.kir", ["z"])
            most = 8 * exchanged(call.split("(")[0], 64, 4, 8, 3)
            self.assertLessEqual(self.moved(), 1.25 * most, call)
            self.assertGreaterEqual(self.moved(), 0.9 * most, call)
            print(f"\n{call}: {self.moved():,} bytes, {self.moved() / most:.3f} of what the page says", end="")

    def test_singular_matrices_are_told(self):
        A = np.ones((6, 6))
        for call, says in [("block_inv(A, 2)", "singular"), ("block_cholesky(A - 2.0, 2)", "is not positive"), ("block_solve_lower(0.0 * A, b, 2)", "singular")]:
            (self.dir / "t.ks").write_text(f'use "blocks"\ndim N, M\ninput A : dense f64[N, M], b : f64[N]\noutput z = {call}, c = b\n')
            self.kasen("plan", "t.ks", "-o", "p.kir")
            self.kasen("partition", "--program", "p.kir", *self.save({"A": A, "b": A[0]}), "--workers", "3", "-o", "bundle", "--replace")
            self.kasen("fuse", "p.kir", "-o", "f.kir")
            self.fault("run", "f.kir", "--bundle", "bundle", "-o", "o.npy", status=BAD, says=["t.ks:4", says])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
