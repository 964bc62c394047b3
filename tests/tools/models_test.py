#!/usr/bin/env python3
"""kasen fit and kasen predict: every model on CSV, LIBSVM and .npy against NumPy and SciPy, and their errors.

Usage: models_test.py FOLDER_OF_TOOLS SOURCE_ROOT [unittest arguments]
"""
import csv
import io
import json
import re
import shlex
import sys
import unittest

sys.dont_write_bytecode = True  # the source tree stays as it is
import h5py  # noqa: E402
import numpy as np  # noqa: E402
import scipy.optimize  # noqa: E402
from tools_test import BAD, CREATE, MISSING, ROOT, USAGE, ToolTest  # noqa: E402

REGRESSIONS = ["linear", "ridge", "lasso", "elastic-net", "logistic", "poisson", "exponential", "l2svm"]
LAMBDA = {"ridge": 2.5, "lasso": 4.0, "elastic-net": 6.0, "logistic": 0.5, "l2svm": 0.7, "poisson": 0.1, "exponential": 0.2}
SHARE = 0.3


def samples(seed, rows=120, columns=5):
    """Columns of very different units, and a target for each kind of model."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, columns)) * [1, 20, 0.05, 3, 400] + [0, 7, 2, -1, -3000]
    Z = (X - X.mean(0)) / X.std(0)
    score = Z @ rng.normal(size=columns) * 0.5
    number = 3 * score + 2 * Z[:, 0] + 11 + rng.normal(size=rows)
    two = (score + rng.normal(size=rows) > 0).astype(float)
    targets = {"poisson": rng.poisson(np.exp(score)).astype(float), "exponential": rng.exponential(np.exp(score))}
    targets.update({name: number for name in ("linear", "ridge", "lasso", "elastic-net")})
    targets.update({"logistic": two, "l2svm": two})
    return X, targets


def loss_terms(name, m, y):
    """Loss, slope and bend of each sample along its score."""
    if name == "logistic":
        p = 1 / (1 + np.exp(-m))
        return np.logaddexp(0, m) - y * m, p - y, p * (1 - p)
    if name == "poisson":
        return np.exp(m) - y * m, np.exp(m) - y, np.exp(m)
    if name == "exponential":
        return m + y * np.exp(-m), 1 - y * np.exp(-m), y * np.exp(-m)
    if name == "l2svm":
        t = 2 * y - 1
        left = np.maximum(0, 1 - t * m)
        return left**2 / 2, -t * left, (left > 0).astype(float)
    return (m - y) ** 2 / 2, m - y, np.ones_like(m)


def descend(X, y, l1, l2, intercept):
    """Coordinate descent for the elastic net."""
    centre = X.mean(0) * intercept
    A, t = X - centre, y - y.mean() * intercept
    w, rest, squares = np.zeros(X.shape[1]), t.copy(), (A**2).sum(0)
    for _ in range(100_000):
        before = w.copy()
        for j in range(len(w)):
            a = A[:, j] @ rest + squares[j] * w[j]
            new = np.sign(a) * max(abs(a) - l1, 0) / (squares[j] + l2)
            rest -= A[:, j] * (new - w[j])
            w[j] = new
        if np.abs((w - before) * np.sqrt(squares)).max() < 1e-14 * np.sqrt((t**2).sum()):
            break
    return w, (y.mean() - X.mean(0) @ w) * intercept


def newton(name, X, y, penalty, intercept):
    """Damped Newton steps on plain normal matrices of standardised columns."""
    centre, scale = X.mean(0) * intercept, X.std(0)
    A = np.column_stack([(X - centre) / scale, np.ones(len(X)) * intercept])
    ridge = np.append(penalty / scale**2, 0 if intercept else 1)
    v = np.zeros(A.shape[1])
    if intercept and name in ("poisson", "exponential"):
        v[-1] = np.log(y.mean())

    def whole(v):
        return loss_terms(name, A @ v, y)[0].sum() + ridge @ v**2 / 2

    for _ in range(200):
        _, slope, bend = loss_terms(name, A @ v, y)
        gradient = A.T @ slope + ridge * v
        step = np.linalg.lstsq((A.T * bend) @ A + np.diag(ridge), gradient, rcond=None)[0]
        far = 1.0
        while whole(v - far * step) > whole(v) + 1e-12 * abs(whole(v)) and far > 1e-10:
            far /= 2
        v = v - far * step
        if np.abs(step).max() < 1e-14:
            break
    w = v[:-1] / scale
    return w, (v[-1] - centre @ w) * intercept


def reference(name, X, y, intercept=True):
    """(w, b, loss) by another way than the programs take."""
    penalty = LAMBDA.get(name, 0.0)
    l1 = {"lasso": penalty, "elastic-net": penalty * SHARE}.get(name, 0.0)
    l2 = {"lasso": 0.0, "elastic-net": penalty * (1 - SHARE)}.get(name, penalty)
    w, b = descend(X, y, l1, l2, intercept) if l1 > 0 else newton(name, X, y, l2, intercept)
    loss = loss_terms(name, X @ w + b, y)[0].sum() + l1 * np.abs(w).sum() + l2 / 2 * w @ w
    return w, b, loss


def about(path):
    with h5py.File(path) as file:
        return json.loads(bytes(file["about"][:]))


class ModelTest(ToolTest):
    def setUp(self):
        super().setUp()
        self.made = 0

    def params(self, name):
        given = [f"lambda={LAMBDA[name]}"] if name in LAMBDA else []
        given += [f"share={SHARE}"] if name == "elastic-net" else []
        return [word for text in given for word in ("--param", text)]

    def write_csv(self, name, columns, names):
        lines = [",".join(names)] + [",".join(repr(v) if isinstance(v, float) else str(v) for v in row) for row in zip(*columns)]
        (self.dir / name).write_text("\n".join(lines) + "\n")

    def write_libsvm(self, name, X, y):
        with open(self.dir / name, "w") as out:
            for row, label in zip(X, y):
                pairs = " ".join(f"{j + 1}:{float(v)!r}" for j, v in enumerate(row) if v != 0)
                out.write(f"{float(label)!r} {pairs}\n")

    def fit(self, model, table, *args, **options):
        self.made += 1
        path = f"model-{self.made}.h5"
        out, _ = self.kasen("fit", model, table, "-o", path, *args, **options)
        with h5py.File(self.dir / path) as file:
            arrays = {name: file[name][()] for name in file if name != "about"}
        return arrays, about(self.dir / path)["content"], out, path

    def predicted(self, path, table, *args):
        out, _ = self.kasen("predict", path, table, *args)
        rows = list(csv.reader(io.StringIO(out)))
        return rows[0], rows[1:]

    def near(self, got, wanted, scale=1.0, share=1e-8):
        """Within a share of the largest, in the unit of each column."""
        got, wanted = np.asarray(got) * scale, np.asarray(wanted) * scale
        self.assertEqual(got.shape, wanted.shape)
        self.assertLessEqual(np.abs(got - wanted).max(), share * max(np.abs(wanted).max(), 1e-3))


class Models(ModelTest):
    """Regressions and classes of two, in all formats."""

    def check(self, name, found, X, y, wanted):
        arrays, content, out, _ = found
        w, b, loss = wanted
        self.near(arrays["coefficients"], w, X.std(0))
        self.near(arrays["intercept"][0] + X.mean(0) @ arrays["coefficients"], b + X.mean(0) @ w)
        self.assertAlmostEqual(content["facts"]["loss"] / loss, 1, delta=1e-10)
        self.assertIn(f"\nloss       {content['facts']['loss']:.9g}\n", out)
        self.assertEqual(content["kind"], name)
        self.assertEqual(content["facts"]["rows"], len(y))

    def test_each_on_every_format(self):
        for turn, name in enumerate(REGRESSIONS):
            X, targets = samples(turn)
            y = targets[name]
            wanted = reference(name, X, y)
            self.write_csv("t.csv", [*X.T, y], ["a", "b", "c", "d", "e", "y"])
            self.write_libsvm("t.svm", X, y)
            np.save(self.dir / "t.npy", np.column_stack([y, X]))
            np.save(self.dir / "X.npy", X)
            np.save(self.dir / "y.npy", y)
            means = {"poisson": np.exp, "exponential": np.exp, "logistic": lambda m: m > 0, "l2svm": lambda m: m > 0}
            told = means.get(name, lambda m: m)(X @ wanted[0] + wanted[1])
            for k, (table, target) in enumerate([("t.csv", "y"), ("t.svm", None), ("t.npy", "1"), ("X.npy", "y.npy")]):
                with self.subTest(name, table=table):
                    options = ["--target", target] if target else []
                    workers = (turn + k) % 6 + 1
                    ranks = ["-n", 2] if k == turn % 4 and workers > 1 else []
                    found = self.fit(name, table, *options, *self.params(name), "--workers", workers, *ranks)
                    self.check(name, found, X, y, wanted)
                    head, rows = self.predicted(found[3], table)
                    self.assertEqual(head, ["prediction"])
                    got = np.array([float(row[0]) for row in rows])
                    if name in ("logistic", "l2svm"):
                        self.assertEqual(got.tolist(), told.astype(float).tolist())
                    else:
                        self.near(got, told)

    def test_sparse_samples(self):
        """Gradients alone, which make no matrix of features, come to the same."""
        rng = np.random.default_rng(40)
        X = np.where(rng.random((150, 9)) < 0.4, rng.normal(size=(150, 9)) * 2 ** rng.integers(-2, 3, 9), 0.0)
        score = X @ rng.normal(size=9) * 0.4
        targets = {"poisson": rng.poisson(np.exp(score)).astype(float), "exponential": rng.exponential(np.exp(score)),
                   "logistic": (score + rng.normal(size=150) > 0).astype(float)}
        targets["l2svm"] = targets["logistic"]
        for turn, name in enumerate(REGRESSIONS):
            with self.subTest(name):
                y = targets.get(name, score + rng.normal(size=150))
                self.write_libsvm("s.svm", X, y)
                found = self.fit(name, "s.svm", *self.params(name), "--samples", "sparse", "--workers", turn % 6 + 1)
                self.check(name, found, X, y, reference(name, X, y))
                self.assertTrue(found[1]["sparse"])
                _, rows = self.predicted(found[3], "s.svm", "--workers", 2)
                self.assertEqual(len(rows), 150)

    def test_through_zero(self):
        X, targets = samples(77)
        X = X - X.mean(0)
        for name in REGRESSIONS:
            with self.subTest(name):
                y = targets[name] - (targets[name].mean() if name in ("linear", "ridge", "lasso", "elastic-net") else 0)
                self.write_csv("t.csv", [*X.T, y], ["a", "b", "c", "d", "e", "y"])
                w, b, loss = reference(name, X, y, intercept=False)
                arrays, content, _, _ = self.fit(name, "t.csv", "-t", "y", *self.params(name), "--no-intercept")
                self.near(arrays["coefficients"], w, X.std(0))
                self.assertEqual((arrays["intercept"][0], b), (0, 0))
                self.assertAlmostEqual(content["facts"]["loss"] / loss, 1, delta=1e-10)

    def test_lasso_leaves_out(self):
        rng = np.random.default_rng(9)
        X = rng.normal(size=(60, 100))  # more columns than rows
        y = X[:, :4] @ [5.0, -4, 3, 2] + rng.normal(size=60)
        np.save(self.dir / "X.npy", X)
        np.save(self.dir / "y.npy", y)
        for name, penalty in [("lasso", 20.0), ("lasso", 2.0), ("elastic-net", 5.0), ("lasso", 1e6)]:
            with self.subTest(name, penalty=penalty):
                l1, l2 = (penalty, 0) if name == "lasso" else (penalty / 2, penalty / 2)
                w, b = descend(X, y, l1, l2, True)
                arrays, content, _, _ = self.fit(name, "X.npy", "--target", "y.npy", "--param", f"lambda={penalty}")
                self.near(arrays["coefficients"], w)
                self.assertEqual((arrays["coefficients"] == 0).tolist(), (w == 0).tolist())
                self.near(arrays["intercept"][0], b)

    def test_equal_bytes(self):
        """The same on any number of ranks and threads, and again."""
        X, targets = samples(5)
        self.write_csv("t.csv", [*X.T, targets["logistic"]], ["a", "b", "c", "d", "e", "y"])
        files = [self.fit("logistic", "t.csv", "--target", "y", "--workers", 3, *more)[3]
                 for more in ([], ["--threads", 1], ["-n", 3], ["--dir", "kept"])]
        bytes_of = [(self.dir / path).read_bytes() for path in files]
        self.assertEqual(len(set(bytes_of)), 1)
        texts = [self.kasen("predict", files[0], "t.csv", "--proba", *more)[0] for more in ([], ["--threads", 1], ["--workers", 2])]
        self.assertEqual(texts[0], texts[1])
        self.assertEqual(len(texts[2].splitlines()), 121)
        self.assertIn("program.ks", [p.name for p in (self.dir / "kept").iterdir()])

    def test_the_program_runs(self):
        """--show-program prints what kasen go runs, by the command in its first lines."""
        X, targets = samples(6)
        words = np.array(["red", "green", "blue"])[np.arange(120) % 3]
        self.write_csv("t.csv", [*X.T, words, targets["ridge"]], ["a", "b", "c", "d", "e", "colour", "y"])
        arrays, content, _, _ = self.fit("ridge", "t.csv", "--target", "y")
        text, _ = self.kasen("fit", "ridge", "t.csv", "--target", "y", "--show-program")
        (self.dir / "shown.ks").write_text(text)
        command = re.search(r"#   kasen go PROGRAM.ks (.*)", text)[1]
        self.kasen("go", "shown.ks", *shlex.split(command), "-o", "shown.h5", "--workers", 2)
        with h5py.File(self.dir / "shown.h5") as shown:
            self.near(shown["w"][:], arrays["coefficients"], share=1e-10)
            self.assertEqual(shown["rows"][()], 120)
        self.assertNotIn("use ", text)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=1)
