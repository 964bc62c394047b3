#!/usr/bin/env python3
"""The libraries of the language: each call that docs/library.md shows gives NumPy's values, in the usual layout and over a mesh.

Usage: library_test.py FOLDER_OF_TOOLS SOURCE_ROOT [unittest arguments]
"""
import pathlib
import re
import sys
import unittest

import numpy as np

sys.dont_write_bytecode = True  # the source tree stays as it is
from tools_test import BAD, MISSING, ToolTest  # noqa: E402

ROOT = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else ".")


def standardized(X, axis):
    return (X - X.mean(axis=axis)) / X.std(axis=axis)


def softmax(X):
    e = np.exp(X - X.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def ridge(X, x, c):
    return np.linalg.solve(X.T @ X + c * np.eye(X.shape[1]), X.T @ x)


# call -> its values, of the arrays v
WANTED = {
    "var(X, over N)": lambda v: v.X.var(axis=0),
    "var(X, 1, over N)": lambda v: v.X.var(axis=0, ddof=1),
    "std(X, 0, over N)": lambda v: v.X.std(axis=0),
    "average(X, weight, over N)": lambda v: np.average(v.X, axis=0, weights=v.weight),
    "ptp(X, over N)": lambda v: np.ptp(v.X, axis=0),
    "rms(x)": lambda v: np.sqrt(np.mean(v.x ** 2)),
    "standardize(X, 0, over N)": lambda v: standardized(v.X, 0),
    "rescale(X, over N)": lambda v: (v.X - v.X.min(axis=0)) / (v.X.max(axis=0) - v.X.min(axis=0)),
    "softmax(X, over F)": lambda v: softmax(v.X),
    "logsumexp(X, over F)": lambda v: np.log(np.exp(v.X).sum(axis=1)),
    "entropy(softmax(X, over F), over F)": lambda v: -(softmax(v.X) * np.log(softmax(v.X))).sum(axis=1),
    "skewness(X, over N)": lambda v: (standardized(v.X, 0) ** 3).mean(axis=0),
    "kurtosis(X, over N)": lambda v: (standardized(v.X, 0) ** 4).mean(axis=0) - 3,
    "covariance(x, y)": lambda v: np.cov(v.x, v.y)[0, 1],
    "correlation(x, y)": lambda v: np.corrcoef(v.x, v.y)[0, 1],
    "cov(X)": lambda v: np.cov(v.X, rowvar=False),
    "corrcoef(X)": lambda v: np.corrcoef(v.X, rowvar=False),
    "mse(x, y)": lambda v: ((v.x - v.y) ** 2).mean(),
    "rmse(x, y)": lambda v: np.sqrt(((v.x - v.y) ** 2).mean()),
    "mae(x, y)": lambda v: abs(v.x - v.y).mean(),
    "norm(X, over F)": lambda v: np.linalg.norm(v.X, axis=1),
    "norm1(X, over F)": lambda v: np.linalg.norm(v.X, 1, axis=1),
    "norm_inf(X)": lambda v: abs(v.X).max(),
    "normalize(X, over F)": lambda v: v.X / np.linalg.norm(v.X, axis=1, keepdims=True),
    "distance(x, y)": lambda v: np.linalg.norm(v.x - v.y),
    "cosine(x, y)": lambda v: v.x @ v.y / np.linalg.norm(v.x) / np.linalg.norm(v.y),
    "diag(S)": lambda v: np.diag(v.S),
    "trace(S)": lambda v: np.trace(v.S),
    "quadratic(x, X, z)": lambda v: v.x @ v.X @ v.z,
    "distances(X, P)": lambda v: ((v.X[:, None, :] - v.P[None]) ** 2).sum(axis=2),
    "gram(X)": lambda v: v.X.T @ v.X,
    "lstsq(X, x)": lambda v: np.linalg.lstsq(v.X, v.x, rcond=None)[0],
    "ridge(X, x, 0.5)": lambda v: ridge(v.X, v.x, 0.5),
    "det_spd(gram(S))": lambda v: np.linalg.det(v.S.T @ v.S),
    "cg(gram(X), X' @ x, 3)": lambda v: np.linalg.solve(v.X.T @ v.X, v.X.T @ v.x),
}
PAIR = "l, v = power_iteration(gram(X), fill(1.0, F), 300)"
SHAPES = {"X": (40, 3), "x": (40,), "y": (40,), "weight": (40,), "S": (3, 3), "z": (3,), "P": (3, 3)}


class Arrays:
    def __init__(self):
        numbers = np.random.default_rng(11)
        for name, shape in SHAPES.items():
            setattr(self, name, numbers.normal(size=shape))
        self.weight = abs(self.weight) + 0.1


class Library(ToolTest):
    def setUp(self):
        super().setUp()
        self.page = (ROOT / "docs" / "library.md").read_text()
        self.head = re.search(r"```\n(.*?)```", self.page, re.S)[1]
        self.arrays = Arrays()
        for name in SHAPES:
            np.save(self.dir / f"{name}.npy", getattr(self.arrays, name))
        self.inputs = [f"{name}={name}.npy" for name in SHAPES]

    def test_the_page_shows_every_function(self):
        calls = re.findall(r"^\| `([^`]+)` \|", self.page, re.M)
        self.assertEqual(sorted(calls), sorted([*WANTED, PAIR]))
        for library in sorted((ROOT / "libcore/lang/library").glob("*.ks")):
            for name in re.findall(r"^def (\w+)", library.read_text(), re.M):
                self.assertRegex(self.page, rf"\b{name}\(", library.name)

    def run_plan(self, *options, ranks=0, workers=1):
        self.kasen("partition", "--program", "p.kir", *self.inputs, "--workers", str(workers), "-o", "bundle", "--replace")
        self.kasen("fuse", "p.kir", *options, "--bundle", "bundle", "-o", "f.kir")
        self.kasen("run", "f.kir", "--bundle", "bundle", "-o", "out.npy", "--stats", "run.json", "--program", "p.kir", "--verify", "all",
                   *(["-n", str(ranks)] if ranks else []))
        out, _ = self.kasen("measure", "f.kir", "--bundle", "bundle", "--against", "run.json", "--check")
        self.assertIn("agree to the byte", out)

    def test_values_are_numpys(self):
        lines = [f"output r{number} = {call}" for number, call in enumerate(WANTED)]
        (self.dir / "p.ks").write_text(self.head + "\n".join(lines) + f"\n{PAIR}\noutput l, v\n")
        self.kasen("plan", "p.ks", "-o", "p.kir")
        values, vectors = np.linalg.eigh(self.arrays.X.T @ self.arrays.X)
        for options, workers, ranks in [([], 1, 0), ([], 3, 3), (["--strategy", "none"], 3, 0)]:
            with self.subTest(options=options, workers=workers):
                self.run_plan(*options, workers=workers, ranks=ranks)
                for number, (call, wanted) in enumerate(WANTED.items()):
                    got = np.load(self.dir / ("out.npy" if number == 0 else f"out-r{number}.npy"))
                    np.testing.assert_allclose(got, wanted(self.arrays), rtol=1e-9, atol=1e-11, err_msg=call)
                np.testing.assert_allclose(np.load(self.dir / "out-l.npy"), values[-1], rtol=1e-9)
                vector = np.load(self.dir / "out-v.npy")
                np.testing.assert_allclose(abs(vector @ vectors[:, -1]), 1, rtol=1e-6)

    def test_values_over_a_mesh(self):
        """With every dimension cut."""
        calls = ["var(X, 1, over N)", "standardize(X, 0, over N)", "softmax(X, over F)", "cov(X)", "normalize(X, over F)", "trace(S)",
                 "distances(X, P)", "gram(X)", "cosine(x, y)"]
        head = self.head.replace(" local = 3", "").replace(" : f64[N, F]", " : dense f64[N, F]").replace(
            " : f64[K, K]", " : dense f64[K, K]").replace(" : f64[K, F]", " : dense f64[K, F]")
        (self.dir / "p.ks").write_text(head + "\n".join(f"output r{number} = {call}" for number, call in enumerate(calls)) + "\n")
        self.kasen("plan", "p.ks", "-o", "p.kir")
        self.inputs = [text for text in self.inputs if not text.startswith(("weight", "z="))]
        (self.dir / "p.ks").write_text((self.dir / "p.ks").read_text().replace(", weight : f64[N]", "").replace(", z : f64[F]", ""))
        self.kasen("plan", "p.ks", "-o", "p.kir")
        for mesh, ranks in [("2x2", 0), ("2x2", 2), ("3", 3)]:
            self.run_plan("--mesh", mesh, ranks=ranks, workers=2)
            for number, call in enumerate(calls):
                got = np.load(self.dir / ("out.npy" if number == 0 else f"out-r{number}.npy"))
                np.testing.assert_allclose(got, WANTED[call](self.arrays), rtol=1e-9, atol=1e-11, err_msg=f"{call} on {mesh}")


class UsedFiles(ToolTest):
    PROGRAM = 'use "lib.ks"\ndim N\ninput x : f64[N]\noutput z = f(x)\n'

    def setUp(self):
        super().setUp()
        np.save(self.dir / "x.npy", np.arange(5.0))
        (self.dir / "p.ks").write_text(self.PROGRAM)
        (self.dir / "lib.ks").write_text("def f(a) = sum(a)\n")

    def go(self):
        self.kasen("go", "p.ks", "x=x.npy", "--format", "npy", "-o", "out.npy")
        return float(np.load(self.dir / "out.npy"))

    def test_a_changed_file_makes_another_plan(self):
        self.assertEqual(self.go(), 10)
        (self.dir / "lib.ks").write_text("def f(a) = max(a)\n")
        self.assertEqual(self.go(), 4)

    def test_an_experiment_does_not_keep_a_plan_of_a_changed_file(self):
        (self.dir / "e.yaml").write_text("program: p.ks\ndata: {x: x.npy}\nworkers: 1\n")
        digests = []
        for body in ["sum(a)", "max(a)", "sum(a)"]:
            (self.dir / "lib.ks").write_text(f"def f(a) = {body}\n")
            self.kasen("experiment", "e.yaml", "-o", "results")
            digests.append(sorted(path.name for path in (self.dir / "results").rglob("*.kir")))
        self.assertGreater(len(digests[1]), len(digests[0]))
        self.assertEqual(digests[1], digests[2])

    def test_files_are_beside_the_program(self):
        (self.dir / "sub").mkdir()
        for name in ["p.ks", "lib.ks"]:
            (self.dir / name).rename(self.dir / "sub" / name)
        self.kasen("plan", "sub/p.ks", "-o", "p.kir")
        self.kasen("plan", "p.ks", "-o", "p.kir", cwd="sub")
        self.fault("plan", "-", "-o", "p.kir", stdin=self.PROGRAM, status=MISSING, says=["<stdin>:1:5:", "cannot open 'lib.ks'"])

    def test_a_fault_is_told_in_its_file(self):
        (self.dir / "lib.ks").write_text("def f(a) {\n  return a @ a @ a\n}\n")
        self.fault("plan", "p.ks", status=BAD, says=["lib.ks:2:16: error:", "in def 'f', called at p.ks:4:12", "return a @ a @ a"])

    def test_a_plan_explains_itself_without_the_file(self):
        self.kasen("plan", "p.ks", "-o", "p.kir")
        (self.dir / "lib.ks").unlink()
        self.kasen("partition", "--program", "p.kir", "x=x.npy", "--workers", "2", "-o", "bundle")
        self.kasen("fuse", "p.kir", "--bundle", "bundle", "-o", "f.kir")
        self.kasen("run", "f.kir", "--bundle", "bundle", "-o", "out.npy", "--verify", "all")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
