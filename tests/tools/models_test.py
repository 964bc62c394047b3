#!/usr/bin/env python3
"""kasen fit and kasen predict: every model on CSV, LIBSVM and .npy against NumPy and SciPy, and their errors.

Usage: models_test.py FOLDER_OF_TOOLS SOURCE_ROOT [unittest arguments]
"""
import csv
import io
import json
import re
import shlex
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True  # the source tree stays as it is
import h5py  # noqa: E402
import numpy as np  # noqa: E402
from tools_test import BAD, CREATE, MISSING, ROOT, TOOLS, USAGE, ToolTest  # noqa: E402

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

    def kasen_any(self, *args):
        return subprocess.run([TOOLS / "kasen", *args], cwd=self.dir, text=True, timeout=300, capture_output=True, check=False)

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

    def test_wide_tables(self):
        """More features than a matrix of them is made for."""
        rng = np.random.default_rng(21)
        X = rng.normal(size=(40, 1100))
        y = X[:, 0] * 3 + rng.normal(size=40) + 2
        np.save(self.dir / "X.npy", X)
        np.save(self.dir / "y.npy", y)
        A, t = X - X.mean(0), y - y.mean()
        w = A.T @ np.linalg.solve(A @ A.T + 5.0 * np.eye(40), t)
        arrays, _, _, _ = self.fit("ridge", "X.npy", "--target", "y.npy", "--param", "lambda=5", "--workers", 2)
        self.near(arrays["coefficients"], w)
        self.near(arrays["intercept"][0], y.mean() - X.mean(0) @ w)
        self.assertIn("lbfgs(", self.kasen("fit", "ridge", "X.npy", "--target", "y.npy", "--show-program")[0])

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


def softmax_fit(X, classes, count, penalty):
    """(W, b, loss) by Newton steps on the whole Hessian of standardised columns."""
    centre, scale = X.mean(0), X.std(0)
    A = np.column_stack([(X - centre) / scale, np.ones(len(X))])
    ridge = np.append(penalty / scale**2, 0)
    Y = np.eye(count)[classes]
    V = np.zeros((A.shape[1], count))
    width = A.shape[1]

    def parts(V):
        S = A @ V
        S = S - S.max(1, keepdims=True)
        P = np.exp(S) / np.exp(S).sum(1, keepdims=True)
        return (np.log(np.exp(S).sum(1)) - (S * Y).sum(1)).sum() + (ridge @ V**2).sum() / 2, P

    for _ in range(60):
        loss, P = parts(V)
        gradient = (A.T @ (P - Y) + ridge[:, None] * V).T.ravel()
        H = np.zeros((count * width, count * width))
        for i in range(count):
            for j in range(count):
                W = P[:, i] * ((i == j) - P[:, j])
                H[i * width:(i + 1) * width, j * width:(j + 1) * width] = (A.T * W) @ A + (np.diag(ridge) if i == j else 0)
        step = np.linalg.lstsq(H, gradient, rcond=1e-13)[0].reshape(count, width).T
        far = 1.0
        while parts(V - far * step)[0] > loss + 1e-12 * abs(loss) and far > 1e-10:
            far /= 2
        V = V - far * step
        if np.abs(step).max() < 1e-13:
            break
    V[:-1] -= V[:-1].mean(1, keepdims=True)  # what foretells nothing is 0 where the penalty is smallest
    W = V[:-1] / scale[:, None]
    b = V[-1] - centre @ W
    return W, b - b.mean(), parts(V)[0]


class ModelKinds(ModelTest):
    """Words, several classes, clusters, components and ratings."""

    def people(self, rows=150):
        rng = np.random.default_rng(12)
        age, income = rng.integers(18, 80, rows), np.round(rng.normal(50000, 15000, rows), 2)
        road = rng.choice(["a road", 'the "big" one', "sea,side"], rows)
        zone = rng.choice([3, 7, 11], rows)
        score = (age - 50) / 20 + (income - 50000) / 15000 + (road == "a road") * 1.5 - (zone == 7)
        kind = np.select([score + rng.normal(size=rows) > 0.8, score + rng.normal(size=rows) > -0.5], ["high", "middle"], "low")
        bought = np.where(score + rng.normal(size=rows) > 0, "yes", "no")
        quoted = ['"' + word.replace('"', '""') + '"' for word in road]
        self.write_csv("people.csv", [age, quoted, income, zone, bought, kind], ["age", "road", "income", "zone", "bought", "kind"])
        return age, road, income, zone, bought, kind

    @staticmethod
    def one_hot(values):
        levels = sorted(set(values.tolist()), key=lambda v: str(v).encode())
        return np.column_stack([(values == level).astype(float) for level in levels]), levels

    def test_words(self):
        age, road, income, zone, bought, _ = self.people()
        roads, road_levels = self.one_hot(road)
        zones, zone_levels = self.one_hot(zone)
        X = np.column_stack([age, income, roads, zones])
        y = (bought == "yes").astype(float)
        for workers in (1, 4):
            arrays, content, out, path = self.fit("logistic", "people.csv", "--target", "bought", "--columns", "age,road,income,zone",
                                                  "--words", "zone", "--workers", workers)
            wanted_fit = newton("logistic", X, y, 1.0, True)
            self.near(arrays["coefficients"], wanted_fit[0], X.std(0))
            self.assertEqual([(c["name"], c["levels"]) for c in content["features"]],
                             [("age", []), ("income", []), ("road", road_levels), ("zone", [str(z) for z in zone_levels])])
            self.assertEqual((content["classes"], content["left_out"]), (["no", "yes"], ["kind"]))
            self.assertIn("road=a road", out)
            head, rows = self.predicted(path, "people.csv", "--proba", "--workers", workers)
            self.assertEqual(head, ["prediction", "no", "yes"])
            chance = 1 / (1 + np.exp(-(X @ wanted_fit[0] + wanted_fit[1])))
            self.near([float(r[2]) for r in rows], chance)
            self.near([float(r[1]) for r in rows], 1 - chance)
            self.assertEqual([r[0] for r in rows], np.where(chance > 0.5, "yes", "no").tolist())
        right = (np.where(chance > 0.5, "yes", "no") == bought).sum()
        self.assertIn(f"right      {right} of 150 rows", out)
        # Columns in another order, without the target; a row of words alone that the model knows.
        table = self.dir / "other.csv"
        table.write_text('zone,income,road,age\n7,51000.5,"the ""big"" one",44\n11,20000,"sea,side",71\n')
        wanted = []
        for z, i, r, a in [(7, 51000.5, 'the "big" one', 44), (11, 20000, "sea,side", 71)]:
            x = np.concatenate([[a, i], [float(r == level) for level in road_levels], [float(z == level) for level in zone_levels]])
            wanted.append(1 / (1 + np.exp(-(x @ wanted_fit[0] + wanted_fit[1]))))
        self.near([float(r[2]) for r in self.predicted(path, "other.csv", "--proba")[1]], wanted)

    def test_several_classes(self):
        age, road, income, zone, _, kind = self.people()
        X = np.column_stack([age, income, zone]).astype(float)
        classes, names = np.unique(kind, return_inverse=True)[1], sorted(set(kind))
        W, b, loss = softmax_fit(X, classes, 3, 1.0)
        numbers = np.array([-2.5, 0.0, 9.0])[classes]
        np.save(self.dir / "X.npy", X)
        np.save(self.dir / "y.npy", numbers)
        np.save(self.dir / "near.npy", classes + 4)
        self.write_libsvm("t.svm", X, classes + 1)
        cases = [("people.csv", ["-t", "kind", "--columns", "1,3-4"], names), ("X.npy", ["-t", "y.npy"], ["-2.5", "0", "9"]),
                 ("X.npy", ["-t", "near.npy"], ["4", "5", "6"]), ("t.svm", [], ["1", "2", "3"]), ("t.svm", ["--samples", "sparse"], ["1", "2", "3"])]
        told = (X @ W + b).argmax(1)
        for workers, (table, options, labels) in enumerate(cases, 1):
            with self.subTest(table, options=options):
                arrays, content, _, path = self.fit("multinomial", table, *options, "--workers", workers)
                self.assertEqual(content["classes"], labels)
                for k in range(3):
                    self.near(arrays["coefficients"][:, k], W[:, k], X.std(0))
                self.near(arrays["intercept"], b)
                self.assertAlmostEqual(content["facts"]["loss"] / loss, 1, delta=1e-10)
                head, rows = self.predicted(path, table, "--proba")
                self.assertEqual(head, ["prediction", *labels])
                self.assertEqual([row[0] for row in rows], [labels[k] for k in told])
                S = np.exp(X @ W + b - (X @ W + b).max(1, keepdims=True))
                self.near([[float(v) for v in row[1:]] for row in rows], S / S.sum(1, keepdims=True))

    def test_clusters(self):
        rng = np.random.default_rng(2)
        X = np.concatenate([rng.normal(size=(40, 3)) + at for at in ([0, 0, 1000], [9, 0, 1000], [0, 9, 1009])])[rng.permutation(120)]
        self.write_csv("p.csv", X.T, ["x", "y", "z"])
        self.write_libsvm("p.svm", X, np.zeros(120))
        np.save(self.dir / "p.npy", X)
        centres = X[np.arange(3) * 40]
        for _ in range(300):
            near = ((X[:, None] - centres) ** 2).sum(2).argmin(1)
            centres = np.array([X[near == k].mean(0) if (near == k).any() else centres[k] for k in range(3)])
        near = ((X[:, None] - centres) ** 2).sum(2).argmin(1)
        for workers, (table, *how) in enumerate([["p.csv"], ["p.svm"], ["p.npy"], ["p.svm", "--samples", "sparse"]], 1):
            arrays, content, _, path = self.fit("kmeans", table, "--param", "k=3", "--workers", workers, *how)
            self.near(arrays["centres"], centres)
            self.assertAlmostEqual(content["facts"]["loss"] / ((X - centres[near]) ** 2).sum(), 1, delta=1e-8)
            head, rows = self.predicted(path, table)
            self.assertEqual((head, [int(row[0]) for row in rows]), (["cluster"], near.tolist()))

    def test_components(self):
        X = np.random.default_rng(4).normal(size=(80, 4)) @ np.diag([5, 1, 0.2, 3]) + [1, 2, 3, 4]
        self.write_csv("p.csv", X.T, ["x", "y", "z", "u"])
        self.write_libsvm("p.svm", X, np.zeros(80))
        np.save(self.dir / "p.npy", X)
        _, sizes, rows = np.linalg.svd(X - X.mean(0))
        for workers, (table, *how) in enumerate([["p.csv"], ["p.svm"], ["p.npy"], ["p.svm", "--samples", "sparse"]], 1):
            arrays, _, out, path = self.fit("pca", table, "--param", "components=3", "--workers", workers, *how)
            self.near(np.abs(arrays["components"]), np.abs(rows[:3].T))
            self.near(arrays["variance"], sizes[:3] ** 2 / 79)
            self.near(arrays["share"], sizes[:3] ** 2 / (sizes**2).sum())
            self.near(arrays["centre"], X.mean(0))
            head, told = self.predicted(path, table)
            self.assertEqual(head, ["component1", "component2", "component3"])
            self.near([[float(v) for v in row] for row in told], (X - X.mean(0)) @ arrays["components"])

    def test_wide_sparse_tables(self):
        """More features than become columns: no dense table is made."""
        rng = np.random.default_rng(11)
        X = np.where(rng.random((300, 900)) < 0.02, rng.normal(size=(300, 900)) + 1, 0)
        X[:100, :30] += 3 * (rng.random((100, 30)) < 0.6)
        X[100:200, 40:60] += 4 * (rng.random((100, 20)) < 0.5)
        X = X[rng.permutation(300)]
        X[0, 899] = 1.5  # the last feature is there
        self.write_libsvm("w.svm", X, np.zeros(300))
        centres = X[np.arange(4) * 75]
        for _ in range(300):
            near = ((X[:, None] - centres) ** 2).sum(2).argmin(1)
            centres = np.array([X[near == k].mean(0) if (near == k).any() else centres[k] for k in range(4)])
        arrays, content, _, path = self.fit("kmeans", "w.svm", "--param", "k=4", "--workers", 2)
        self.near(arrays["centres"], centres)
        self.assertAlmostEqual(content["facts"]["loss"] / ((X - centres[near]) ** 2).sum(), 1, delta=1e-8)
        self.assertEqual([int(row[0]) for row in self.predicted(path, "w.svm")[1]], near.tolist())
        _, sizes, rows = np.linalg.svd(X - X.mean(0), full_matrices=False)
        arrays, _, _, path = self.fit("pca", "w.svm", "--param", "components=2", "--workers", 3)
        self.near(np.abs(arrays["components"]), np.abs(rows[:2].T), share=1e-7)
        self.near(arrays["variance"], sizes[:2] ** 2 / 299)
        self.near(arrays["share"], sizes[:2] ** 2 / (sizes**2).sum())
        self.near(arrays["centre"], X.mean(0))
        told = [[float(v) for v in row] for row in self.predicted(path, "w.svm")[1]]
        self.near(told, (X - X.mean(0)) @ arrays["components"])
        for model in ("kmeans", "pca"):
            program = self.kasen("fit", model, "w.svm", "--show-program")[0]
            self.assertIn("dim N, F  ", program)

    def test_ratings(self):
        rng = np.random.default_rng(8)
        U, V = rng.random((30, 2)) + 0.5, rng.random((20, 2)) + 0.5
        pairs = [(u, v) for u in range(30) for v in range(20) if rng.random() < 0.6 or u == v or v == 0 or u == 0]
        stars = [float(U[u] @ V[v]) for u, v in pairs]
        ids = [(u * 3 + 5, v * 7 + 2) for u, v in pairs]  # with gaps
        self.write_csv("r.csv", [[v for _, v in ids], stars, [u for u, _ in ids]], ["item", "stars", "user"])
        R = np.zeros((30, 20))
        for (u, v), s in zip(pairs, stars):
            R[u, v] = s
        self.write_libsvm("r.svm", R, np.zeros(30))
        for table, options in [("r.csv", ["--columns", "user,item,stars"]), ("r.svm", [])]:
            arrays, content, _, path = self.fit("als", table, "--param", "factors=2", "--param", "lambda=0.0001", "--param", "rounds=200",
                                                "--param", "tolerance=1e-9", *options, "--workers", 2)
            got = arrays["U"] @ arrays["V"].T
            error = np.array([got[u, v] for u, v in pairs]) - stars
            self.assertLess(np.abs(error).max(), 0.1)
            self.assertAlmostEqual(content["facts"]["rmse"], np.sqrt((error**2).mean()), delta=1e-9)
            if table == "r.csv":
                _, rows = self.predicted(path, table)
                self.near([float(row[0]) for row in rows], [got[u, v] for u, v in pairs])
                (self.dir / "new.csv").write_text("user,item\n5,2\n5,3\n")
                self.fault("predict", path, "new.csv", status=BAD, says=["new.csv", "row 2", "no column 3"])
        np.save(self.dir / "r.npy", U @ V.T)
        arrays, content, _, _ = self.fit("als", "r.npy", "--param", "factors=2", "--param", "lambda=1e-9")
        self.near(arrays["U"] @ arrays["V"].T, U @ V.T, share=1e-6)


class Solvers(ModelTest):
    """examples/solvers and examples/models by themselves, on one to six workers, dense and sparse."""

    NUMBERS = {"linear": 0, "logistic": 1, "poisson": 2, "exponential": 3, "l2svm": 4}

    def samples(self, seed, rows=100):
        rng = np.random.default_rng(seed)
        X = np.column_stack([rng.normal(size=(rows, 4)), np.ones(rows)])
        score = X @ np.append(rng.normal(size=4) * 0.5, 0.3)
        targets = {"linear": score + rng.normal(size=rows), "logistic": (score + rng.normal(size=rows) > 0).astype(float),
                   "poisson": rng.poisson(np.exp(score)).astype(float), "exponential": rng.exponential(np.exp(score))}
        targets["l2svm"] = 2 * targets["logistic"] - 1
        np.save(self.dir / "X.npy", X)
        with open(self.dir / "X.mtx", "w") as out:
            out.write(f"%%MatrixMarket matrix coordinate real general\n{rows} 5 {rows * 5}\n")
            out.writelines(f"{i + 1} {j + 1} {float(X[i, j])!r}\n" for i in range(rows) for j in range(5))
        return X, targets

    def optimum(self, name, X, y, penalty):
        """The w that makes the loss smallest, through 0."""
        w = np.zeros(X.shape[1])
        if name == "l2svm":
            y = (y + 1) / 2

        def whole(w):
            return loss_terms(name, X @ w, y)[0].sum() + penalty / 2 * w @ w

        for _ in range(100):
            _, slope, bend = loss_terms(name, X @ w, y)
            step = np.linalg.solve((X.T * bend) @ X + penalty * np.eye(len(w)), X.T @ slope + penalty * w)
            far = 1.0
            while whole(w - far * step) > whole(w) + 1e-12 * abs(whole(w)) and far > 1e-10:
                far /= 2
            w = w - far * step
        return w, whole(w)

    def run_program(self, program, workers, *options, X="X.npy"):
        self.kasen("go", program, f"X={X}", "y=y.npy", "-o", "r.h5", "--dir", "work", "--workers", workers, *options)
        with h5py.File(self.dir / "r.h5") as file:
            return {name: file[name][()] for name in file}

    def test_solvers(self):
        X, targets = self.samples(1)
        for turn, (name, number) in enumerate(self.NUMBERS.items()):
            np.save(self.dir / "y.npy", targets[name])
            w, loss = self.optimum(name, X, targets[name], 2.0)
            solvers = ["newton", "irls", "lbfgs", "gradient-descent"]
            for k, solver in enumerate(solvers):
                if (name, solver) in {("l2svm", "irls"), ("l2svm", "newton")}:
                    continue  # where a bend is 0
                options = ["-D", f"family={number}", "--param", "lambda=2"]
                if solver == "gradient-descent":
                    rate = {"poisson": 0.1, "exponential": 0.1}.get(name, 0.5)
                    options += ["--param", f"rate={rate}", "--param", "steps=3000"]
                with self.subTest(name, solver=solver):
                    found = self.run_program(ROOT / "examples" / "solvers" / f"{solver}.ks", (turn + k) % 6 + 1, *options)
                    self.near(found["w"], w)
                    self.assertAlmostEqual(found["loss"] / loss, 1, delta=1e-10)

    def test_the_test_stands_behind_the_step(self):
        X, targets = self.samples(2)
        y = targets["logistic"]
        np.save(self.dir / "y.npy", y)
        w, sizes = np.zeros(5), []
        while not sizes or sizes[-1] > 1e-6:
            p = 1 / (1 + np.exp(-X @ w))
            g = X.T @ (p - y) + w
            sizes.append(np.sqrt(g @ g))
            w = w - np.linalg.solve((X.T * (p * (1 - p))) @ X + np.eye(5), g)
        found = self.run_program(ROOT / "examples" / "solvers" / "newton.ks", 3)
        self.assertEqual(found["step"], len(sizes))
        self.near(found["w"], w, share=1e-12)

    def test_sparse_solvers(self):
        X, targets = self.samples(3)
        for workers, (solver, name) in enumerate([("lbfgs", "poisson"), ("lbfgs", "logistic"), ("gradient-descent", "logistic")], 2):
            np.save(self.dir / "y.npy", targets[name])
            text = (ROOT / "examples" / "solvers" / f"{solver}.ks").read_text()
            text = text.replace("F local", "F").replace('"../models/', f'"{ROOT}/examples/models/')
            (self.dir / "sparse.ks").write_text(text)
            options = ["--param", "rate=0.5", "--param", "steps=3000"] if solver != "lbfgs" else []
            found = self.run_program("sparse.ks", workers, "-D", f"family={self.NUMBERS[name]}", *options, X="X.mtx")
            w, loss = self.optimum(name, X, targets[name], 1.0)
            self.near(found["w"], w)
            self.assertAlmostEqual(found["loss"] / loss, 1, delta=1e-10)

    def test_blocks(self):
        X, targets = self.samples(4)
        y = targets["logistic"]
        np.save(self.dir / "y.npy", y)
        w = np.zeros(5)
        for turn in range(20):
            for t in range(5):
                B, z = X[t * 20:t * 20 + 20], y[t * 20:t * 20 + 20]
                w = w - 0.3 / (1 + turn) / 20 * (B.T @ (1 / (1 + np.exp(-B @ w)) - z) + 2.0 / 5 * w)
        for workers in (1, 4):
            found = self.run_program(ROOT / "examples" / "solvers" / "block-sgd.ks", workers, "-D", "blocks=5", "-D", "family=1",
                                     "--param", "lambda=2", "--param", "rate=0.3")
            self.near(found["w"], w, share=1e-12)
            self.assertAlmostEqual(found["loss"], np.logaddexp(0, X @ w).sum() - y @ X @ w + w @ w, delta=1e-9)

    def test_admm(self):
        X, targets = self.samples(5)
        y = targets["linear"]
        np.save(self.dir / "y.npy", y)
        for workers, penalty in [(1, 3.0), (6, 30.0)]:
            w, _ = descend(X, y, penalty, 0, False)
            found = self.run_program(ROOT / "examples" / "solvers" / "admm.ks", workers, "--param", f"lambda={penalty}")
            self.near(found["w"], w)
            self.assertEqual((found["w"] == 0).tolist(), (w == 0).tolist())

    def test_models_as_programs(self):
        """The programs of examples/models as their first lines show them."""
        X, targets = samples(8)
        np.save(self.dir / "X.npy", X)
        for turn, name in enumerate(["ridge", "lasso", "elastic-net", "logistic", "poisson", "exponential"]):
            with self.subTest(name):
                y = targets[name]
                np.save(self.dir / "y.npy", y)
                params = self.params(name)
                w, b, loss = reference(name, X, y)
                found = self.run_program(ROOT / "examples" / "models" / f"{name}.ks", turn + 1, *params)
                self.near(found["w"], w, X.std(0))
                self.near(found["b"] + X.mean(0) @ found["w"], b + X.mean(0) @ w)
                self.assertAlmostEqual(found["loss"] / loss, 1, delta=1e-10)


class ModelFaults(ModelTest):
    """What a table or a model must not be; what it may be."""

    def table(self, text, name="t.csv"):
        (self.dir / name).write_text(text)
        return name

    def refused(self, model, *args, says, status=BAD):
        self.fault("fit", model, *args, "-o", "none.h5", status=status, says=says)
        self.assertNotIn("none.h5", self.files())

    def test_tables(self):
        good = self.table("a,b,y\n1,2,0\n2,1,1\n3,4,1\n4,4,0\n", "good.csv")
        y = ["--target", "y"]
        self.refused("linear", self.table("a,b,y\n"), *y, says="the file has no rows")
        self.refused("linear", self.table(""), *y, says="the file is empty")
        self.refused("linear", "absent.csv", *y, says="absent.csv", status=MISSING)
        for cell in ("", "NA", "1;2"):
            self.refused("linear", self.table(f"a,b,y\n1,2,3\n2,{cell},4\n3,4,5\n"), *y, says="t.csv:3:3")
        self.refused("linear", self.table("a,b,y\n1,2,3\n2,x,4\n3,4,5\n"), *y, says=["t.csv:3:3", "--words 2"])
        for cell in ("nan", "inf"):
            for model in ("linear", "logistic", "lasso", "kmeans", "pca"):
                target = [] if model in ("kmeans", "pca") else y
                self.refused(model, self.table(f"a,b,y\n1,2,0\n2,{cell},1\n3,4,1\n"), *target, says=["t.csv", f"row 2 of the table has {cell} in column 'b'"])
        self.refused("linear", self.table("a,b,y\n1,2,0\n2,1,nan\n3,4,1\n"), *y, says="row 2 of the table has nan in column 'y'")
        self.refused("logistic", self.table("a,y\n1,2\n2,nan\n3,2\n"), *y, says="row 2 of the table has nan in column 'y'")
        self.refused("linear", self.table("1 1:2 2:nan\n0 1:1\n1 2:3\n", "t.svm"), says="row 1 of the table has nan in column '2'")
        self.refused("linear", good, "--target", "z", says=["there is no column 'z'", "a, b, y"], status=USAGE)
        self.refused("linear", good, "--target", "4", says="there is no column 4", status=USAGE)
        self.refused("linear", good, "--target", "y", "--columns", "a,y", says="the target 'y' is among --columns", status=USAGE)
        self.refused("linear", good, "--target", "y", "--columns", "a,c", says="there is no column 'c'", status=USAGE)
        self.refused("linear", self.table("y\n1\n2\n"), *y, says="no column beside the target")
        self.refused("linear", self.table("a,y\n1,no\n2,yes\n"), *y, says="the target 'y' holds words")
        self.refused("linear", self.table("x;y\n1,5;3\n2,5;4\n-3;6\n".replace("-3;", "-3,0;")), *y, says=["column 'x' holds numbers with a decimal comma"])
        self.refused("linear", self.table("x;y\n87,613;3\n2,500;4\n"), *y, says=["column 'x' holds numbers with a comma", "'2,500' is 2.500 with a decimal comma, and 2500"])
        self.refused("linear", self.table("x;y\n87,613;3\n1,002,500;4\n"), *y, says=["column 'x' holds numbers with commas between groups of digits"])
        rows = "".join(f"n{k},{k % 5},{k % 7}\n" for k in range(30))
        self.refused("linear", self.table("name,x,y\n" + rows), *y, says=["column 'name' has another word in each row", "--columns"])
        self.refused("logistic", self.table("a,y\n1,5\n2,5\n"), *y, says=["one class alone", "every row says 5"])
        self.refused("l2svm", self.table("a,y\n1,x\n2,x\n"), *y, says=["one class alone", "every row says x"])
        self.refused("logistic", self.table("a,y\n1,x\n2,z\n3,u\n"), *y, says=["has 3 classes", "multinomial"])
        self.refused("multinomial", self.table("a,y\n" + "".join(f"1,{k}\n" for k in range(1001))), *y, says="more than 1000 different numbers")
        self.refused("linear", self.table("a,y\n" + "".join(f"w{k},1\n" for k in range(1001))), *y, says="column 'a' holds 1001 different words")
        self.refused("poisson", self.table("a,y\n1,2\n2,-1\n3,4\n"), *y, says="the target 'y' has -1")
        self.refused("exponential", self.table("a,y\n1,2\n2,0\n3,4\n"), *y, says="the target 'y' has 0")

    def test_options(self):
        good = self.table("a,b,y\n1,2,0\n2,1,1\n3,4,1\n4,4,0\n", "good.csv")
        y = ["--target", "y"]
        self.refused("linaer", good, *y, says="did you mean 'linear'", status=USAGE)
        self.refused("linear", good, says="no target", status=USAGE)
        self.refused("kmeans", good, *y, says="kmeans has no target", status=USAGE)
        self.refused("kmeans", good, "--param", "k=5", says="--param k=5 for 4 rows", status=USAGE)
        self.refused("pca", good, "--param", "components=4", says="the table has 3 features", status=USAGE)
        self.write_libsvm("few.svm", np.eye(6, 4), np.zeros(6))
        self.refused("pca", "few.svm", "--param", "components=5", "--samples", "sparse", says="the table has 4 features", status=USAGE)
        self.refused("pca", good, "--no-intercept", says="has no intercept", status=USAGE)
        self.refused("ridge", good, *y, "--param", "alpha=1", says=["no param 'alpha'", "lambda"], status=USAGE)
        self.refused("ridge", good, *y, "--param", "lambda=much", says="'much' is not a number", status=USAGE)
        self.refused("ridge", good, *y, "--param", "steps=1.5", says="'steps' counts something", status=USAGE)
        self.refused("logistic", good, *y, "--param", "high=3", says="the target's classes give it", status=USAGE)
        self.refused("ridge", good, *y, "--samples", "sparse", says="LIBSVM alone is sparse", status=USAGE)
        self.refused("ridge", "-", *y, says="standard input", status=USAGE)
        self.fault("fit", "ridge", good, *y, status=USAGE, says="-o model.h5")
        self.fault("fit", "ridge", good, *y, "-o", good, status=USAGE, says="good.csv")
        self.fault("fit", "ridge", good, *y, "-o", "no/m.h5", status=CREATE, says="no/m.h5")
        self.fault("predict", good, good, status=BAD, says="not an HDF5 file")

    def test_samples_without_the_last_features(self):
        """LIBSVM leaves out zeros: a test part need not have all features of the model."""
        rng = np.random.default_rng(4)
        X = np.round(rng.normal(size=(40, 4)), 3)
        self.write_libsvm("t.svm", X, X @ [1.0, 2, 3, 4] + rng.normal(size=40))
        fewer = X[:6] * [1, 1, 0, 0]
        self.write_libsvm("fewer.svm", fewer, np.zeros(6))
        for form in ("dense", "sparse"):
            arrays, _, _, path = self.fit("linear", "t.svm", "--samples", form)
            told = [float(row[0]) for row in self.predicted(path, "fewer.svm")[1]]
            self.near(told, fewer @ arrays["coefficients"] + arrays["intercept"])
        self.write_libsvm("more.svm", np.ones((3, 6)), np.zeros(3))
        self.fault("predict", path, "more.svm", status=BAD, says="6")

    def test_tables_for_a_model(self):
        self.table("a,kind,y,note\n1,x,0,1\n2,z,1,1\n3,x,1,2\n4,z,0,2\n")
        _, _, _, path = self.fit("linear", "t.csv", "--target", "y", "--columns", "a,kind")
        for text, says in [("a,y\n1,0\n2,1\n", "no column 'kind', which the model needs"), ("a,knd\n1,x\n2,x\n", "is it 'knd'?"),
                           ("a,kind,nota\n1,x,2\n2,x,1\n", ["knows no column 'nota'", "did you mean 'note'?"]),
                           ("a,kind\n1,x\n2,w\n", ["new.csv:3:3", "'w' is no word of the model 'model-1.h5'", "fit the model to a table"]), ("a,kind\n1,x\n,z\n", "new.csv:3:1"),
                           ("a,kind\n1,x\nnan,z\n", "row 2 of the table has nan in column 'a'"), ("a,kind\n", "no rows")]:
            self.table(text, "new.csv")
            self.fault("predict", path, "new.csv", "-o", "told.csv", status=BAD, says=says)
            self.assertNotIn("told.csv", self.files())
        self.fault("predict", path, "t.csv", "--proba", status=USAGE, says="states no chances")
        np.save(self.dir / "n.npy", np.ones((3, 4)))
        self.fault("predict", path, "n.npy", status=BAD, says="holds words")
        self.assertEqual(len(self.predicted(path, "t.csv")[1]), 4)
        # Without names: all columns, those without the target, or the features.
        X = np.random.default_rng(1).normal(size=(20, 4))
        np.save(self.dir / "t.npy", X)
        arrays, _, _, path = self.fit("ridge", "t.npy", "--target", "2", "--columns", "1,4")
        wanted = X[:, [0, 3]] @ arrays["coefficients"] + arrays["intercept"][0]
        for table in (X, np.delete(X, 1, 1), X[:, [0, 3]]):
            np.save(self.dir / "n.npy", table)
            self.near([float(row[0]) for row in self.predicted(path, "n.npy")[1]], wanted)
        np.savetxt(self.dir / "n.csv", X[:, [0, 3]], delimiter=",", fmt="%r")
        self.near([float(row[0]) for row in self.predicted(path, "n.csv")[1]], wanted)
        np.save(self.dir / "n.npy", np.ones((3, 7)))
        self.fault("predict", path, "n.npy", status=BAD, says="the table has 7 columns")

    def test_tables_that_are_hard(self):
        """Columns that say the same, constant ones, more columns than rows, a fit without error."""
        rng = np.random.default_rng(6)
        X = rng.normal(size=(30, 3)) + 5
        y = X @ [1.0, -2, 3] + rng.normal(size=30)
        hard = np.column_stack([X, X[:, 0] * 2 + 1, np.full(30, 1e9 / 7), np.full(30, 0.1)])
        two = (y > np.median(y)).astype(float)
        np.save(self.dir / "X.npy", hard)
        np.save(self.dir / "y.npy", y)
        np.save(self.dir / "two.npy", two)
        np.save(self.dir / "one.npy", np.full(30, 7.25))
        for model, target, plain in [("linear", "y.npy", y), ("ridge", "y.npy", y), ("lasso", "y.npy", y), ("logistic", "two.npy", two), ("l2svm", "two.npy", two)]:
            with self.subTest(model):
                arrays, content, _, path = self.fit(model, "X.npy", "--target", target)
                self.assertEqual(arrays["coefficients"][4:].tolist(), [0, 0])
                if model == "linear":
                    w, b, loss = reference("linear", X, y)
                    self.assertAlmostEqual(content["facts"]["loss"] / loss, 1, delta=1e-9)
                    self.near([float(row[0]) for row in self.predicted(path, "X.npy")[1]], X @ w + b)
        for model in ("linear", "ridge", "lasso"):
            arrays, content, _, _ = self.fit(model, "X.npy", "--target", "one.npy")
            self.near(arrays["coefficients"], np.zeros(6))
            self.assertAlmostEqual(arrays["intercept"][0], 7.25, delta=1e-8)
        wide = rng.normal(size=(8, 20))
        np.save(self.dir / "wide.npy", np.column_stack([wide, wide @ rng.normal(size=20)]))
        _, content, _, path = self.fit("linear", "wide.npy", "--target", "21")
        self.assertLess(content["facts"]["loss"], 1e-16 * 20)
        exact = np.column_stack([X, X @ [1.0, 2, 3] + 4])
        np.save(self.dir / "exact.npy", exact)
        arrays, _, _, _ = self.fit("linear", "exact.npy", "--target", "4")
        self.near(arrays["coefficients"], [1, 2, 3])
        self.near(arrays["intercept"], [4])
        # Far from 0, as times are.
        far = np.column_stack([X * [1, 1e5, 1] + [0, 1.6e9, 0], two])
        np.save(self.dir / "far.npy", far)
        arrays, _, _, _ = self.fit("logistic", "far.npy", "--target", "4", "--param", "lambda=0.5")
        w, b, _ = reference("logistic", far[:, :3], two)
        self.near(arrays["coefficients"], w, far[:, :3].std(0), share=1e-6)

    def test_classes_that_are_nearly_apart(self):
        rng = np.random.default_rng(3)
        for turn in range(12):
            X = rng.normal(size=(40, 2)) * [3000, 1]
            y = (X @ [0.01, 1] + 4 + rng.normal(size=40) > 0).astype(float)
            self.write_csv("t.csv", [*X.T, y], ["a", "b", "y"])
            w, b, loss = reference("logistic", X, y)
            arrays, content, _, _ = self.fit("logistic", "t.csv", "-t", "y", *self.params("logistic"))
            self.assertAlmostEqual(content["facts"]["loss"] / loss, 1, delta=1e-9, msg=str(turn))
            self.near(arrays["coefficients"], w, X.std(0), share=1e-6)

    def test_far_from_zero(self):
        """A column's coefficient does not depend on where the column begins, as for numbers that stand for times."""
        rng = np.random.default_rng(8)
        near = np.round(rng.normal(size=(200, 3)) * 64) / 64  # exact after all of these moves
        score = near @ [0.5, -0.3, 0.8]
        targets = {"linear": score + rng.normal(size=200), "poisson": rng.poisson(np.exp(score)), "logistic": score + rng.normal(size=200) > 0,
                   "multinomial": np.digitize(score + rng.normal(size=200), [-0.5, 0.5])}
        targets["lasso"] = targets["linear"]
        for name, y in targets.items():
            np.save(self.dir / "y.npy", y.astype(float))
            np.save(self.dir / "X.npy", near)
            wanted = self.fit(name, "X.npy", "--target", "y.npy")[0]["coefficients"]
            for far in ([2.0**23, -(2.0**26), 0], [2.0**33, -2, 2.0**36]):
                with self.subTest(name, far=far):
                    np.save(self.dir / "X.npy", near + far)
                    self.near(self.fit(name, "X.npy", "--target", "y.npy")[0]["coefficients"], wanted, share=1e-4)
                    self.write_libsvm("t.svm", near + far, y)
                    if name == "multinomial":
                        self.near(self.fit(name, "t.svm", "--samples", "sparse")[0]["coefficients"], wanted, share=1e-4)
        np.save(self.dir / "X.npy", np.column_stack([np.full(200_000, 0.1), np.arange(200_000) % 7]))
        np.save(self.dir / "y.npy", np.arange(200_000) % 2.0)
        for name in ("linear", "logistic", "multinomial", "lasso"):
            w = self.fit(name, "X.npy", "--target", "y.npy")[0]["coefficients"]
            self.assertTrue((w[0] == 0).all(), name)

    def test_altered_models(self):
        self.table("a,b,y\n1,2,0\n2,1,1\n3,4,1\n4,4,0\n")
        _, _, _, path = self.fit("logistic", "t.csv", "--target", "y")

        def altered(change, says):
            (self.dir / "bad.h5").write_bytes((self.dir / path).read_bytes())
            with h5py.File(self.dir / "bad.h5", "r+") as file:
                change(file)
            self.fault("predict", "bad.h5", "t.csv", status=BAD, says=says)

        def text(file, change):
            whole = json.loads(bytes(file["about"][:]))
            change(whole)
            del file["about"]
            file["about"] = np.frombuffer(json.dumps(whole).encode(), "u1")

        def number(file):
            file["coefficients"][0] = 3.5

        def more(file):
            file["extra"] = np.ones(3)

        def shorter(file):
            del file["coefficients"]
            file["coefficients"] = np.ones(1)

        def none(file):
            del file["about"]

        altered(number, "'coefficients' was altered")
        altered(more, "more arrays")
        altered(shorter, "another size")
        altered(none, "it has no '/about'")
        altered(lambda f: text(f, lambda w: w.update(kasen_model=99)), "format version 99")
        altered(lambda f: text(f, lambda w: w["content"].update(kind="ridge")), "altered")
        altered(lambda f: text(f, lambda w: w.pop("content")), "'content' is missing")
        whole = (self.dir / path).read_bytes()
        rng = np.random.default_rng(3)
        for k in range(40):  # flipped and cut: refused, or the same
            data = bytearray(whole[: len(whole) - int(rng.integers(1, len(whole)))] if k % 4 == 0 else whole)
            data[int(rng.integers(len(data)))] ^= 1 << int(rng.integers(8))
            (self.dir / "bad.h5").write_bytes(data)
            done = self.kasen_any("predict", "bad.h5", "t.csv")
            self.assertIn(done.returncode, (0, BAD), done.stderr)
            if done.returncode == 0:
                self.assertEqual(done.stdout, self.kasen("predict", path, "t.csv")[0])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=1)
