#!/usr/bin/env python3
"""The examples that fit models, end to end, against NumPy: same optimum by another way.

Usage: algorithms_test.py FOLDER_OF_TOOLS SOURCE_ROOT [unittest arguments]
"""
import lzma
import math
import os
import pathlib
import sys
import unittest

import h5py
import numpy as np

sys.dont_write_bytecode = True  # the source tree stays as it is
from tools_test import ROOT, ToolTest  # noqa: E402
sys.path.append(str(ROOT / "bench"))
from counted import factors  # noqa: E402

EXAMPLES = ROOT / "examples"


def softmax_optimum(x, labels, classes, penalty, intercept):
    """Newton's method with the whole Hessian; the last row is the intercept's, which is not penalised."""
    n, f = x.shape
    wide = np.hstack([x, np.full((n, 1), 1.0 if intercept else 0.0)])
    wanted = np.eye(classes)[labels]
    penalties = np.full((f + 1, classes), penalty)
    penalties[f] = 0

    def loss_and_shares(b):
        scores = wide @ b
        top = scores.max(1, keepdims=True)
        shares = np.exp(scores - top)
        total = shares.sum(1, keepdims=True)
        loss = (top + np.log(total)).sum() - (scores * wanted).sum() + (penalties * b * b).sum() / 2
        return loss, shares / total

    b = np.zeros((f + 1, classes))
    for _ in range(60):
        loss, p = loss_and_shares(b)
        gradient = wide.T @ (p - wanted) + penalties * b
        if np.linalg.norm(gradient) < 1e-11 * n:
            break
        hessian = np.einsum("nf,ng,nk,kl->fkgl", wide, wide, p, np.eye(classes)) - np.einsum("nf,ng,nk,nl->fkgl", wide, wide, p, p)
        hessian = hessian.reshape(b.size, b.size) + np.diag(penalties.ravel())
        direction = -np.linalg.lstsq(hessian, gradient.ravel(), rcond=1e-12)[0].reshape(b.shape)
        step = 1.0
        while loss_and_shares(b + step * direction)[0] > loss + 1e-4 * step * (gradient * direction).sum() and step > 1e-9:
            step /= 2
        b = b + step * direction
    b[f] -= b[f].mean()
    return b, loss


def with_ones(x, penalty, intercept):
    """The intercept's column, and what each coefficient is penalised by."""
    wide = np.hstack([x, np.full((len(x), 1), 1.0 if intercept else 0.0)])
    return wide, np.append(np.full(x.shape[1], penalty), 0.0)


def newton(objective, derivatives, size, enough):
    """Newton's method with the whole Hessian and steps that are halved until the objective falls."""
    w = np.zeros(size)
    for _ in range(100):
        gradient, hessian = derivatives(w)
        if np.linalg.norm(gradient) < enough:
            break
        direction = -np.linalg.lstsq(hessian, gradient, rcond=1e-14)[0]
        step = 1.0
        while not objective(w + step * direction) <= objective(w) + 1e-4 * step * (gradient @ direction) and step > 1e-9:
            step /= 2
        w = w + step * direction
    return w


def margin_optimum(x, t, penalty, intercept):
    """Squared hinge loss: its generalised Hessian is that of the samples that are not right by far enough."""
    wide, penalties = with_ones(x, penalty, intercept)

    def objective(w):
        return (np.maximum(0, 1 - t * (wide @ w)) ** 2).sum() / 2 + (penalties * w * w).sum() / 2

    def derivatives(w):
        missing = np.maximum(0, 1 - t * (wide @ w))
        near = wide[missing > 0]
        return penalties * w - wide.T @ (missing * t), near.T @ near + np.diag(penalties)

    w = newton(objective, derivatives, wide.shape[1], 1e-13 * len(x))
    return w, objective(w)


def logistic_optimum(x, t, penalty, intercept):
    wide, penalties = with_ones(x, penalty, intercept)

    def objective(w):
        return np.logaddexp(0, -t * (wide @ w)).sum() + (penalties * w * w).sum() / 2

    def derivatives(w):
        wrong = 1 / (1 + np.exp(t * (wide @ w)))  # how sure the model is of the other class
        return penalties * w - wide.T @ (t * wrong), wide.T @ ((wrong * (1 - wrong))[:, None] * wide) + np.diag(penalties)

    w = newton(objective, derivatives, wide.shape[1], 1e-12 * len(x))
    return w, objective(w)


def normal(m):
    """Logarithm of the normal distribution's cdf, and its density divided by it, also far out: Laplace's fraction there."""
    log_density = -0.5 * m * m - 0.5 * math.log(2 * math.pi)
    if m > -6:
        cdf = 0.5 * math.erfc(-m / math.sqrt(2))
        return math.log(cdf), math.exp(log_density) / cdf
    fraction = -m
    for k in range(200, 0, -1):
        fraction = -m + k / fraction
    return log_density - math.log(fraction), fraction


def probit_optimum(x, t, penalty, intercept):
    """Fisher scoring with the whole information matrix; also returns the deviance."""
    wide, penalties = with_ones(x, penalty, intercept)
    normals = np.vectorize(normal)

    def objective(w):
        return -normals(t * (wide @ w))[0].sum() + (penalties * w * w).sum() / 2

    def derivatives(w):
        scores = wide @ w
        gradient = penalties * w - wide.T @ (t * normals(t * scores)[1])
        weights = normals(scores)[1] * normals(-scores)[1]
        return gradient, wide.T @ (weights[:, None] * wide) + np.diag(penalties)

    w = newton(objective, derivatives, wide.shape[1], 1e-13 * len(x))
    return w, -2 * normals(t * (wide @ w))[0].sum()


def alternating_least_squares(x, rated, penalty, u, v, rounds):
    """Each row's factors by its own normal equations, the other side's as they are; and the loss at the end."""
    def solve(ratings, there, other):
        rows = []
        for values, of in zip(ratings, there):
            a = other[of]
            rows.append(np.linalg.solve(a.T @ a + penalty * of.sum() * np.eye(other.shape[1]), a.T @ values[of]))
        return np.array(rows)

    for _ in range(rounds):
        u = solve(x, rated, v)
        v = solve(x.T, rated.T, u)
    errors = np.where(rated, x - u @ v.T, 0.0)
    weights = penalty * ((rated.sum(1) * (u * u).sum(1)).sum() + (rated.sum(0) * (v * v).sum(1)).sum())
    return u, v, ((errors**2).sum() + weights) / 2


class PlanTest(ToolTest):
    """Runs a program by several plans."""

    def results(self, path):
        with h5py.File(self.dir / path) as file:
            return {name: file[name][()] for name in file}

    def every_plan(self, program, inputs, *, consts=(), run=(), partition=(), plans=None):
        """[(plan, the program's results by it)] of plans (workers, ranks, strategy); what each counts is as predicted."""
        def defines(values):
            return [word for name, value in values for word in ("-D", f"{name}={value}")]

        self.kasen("plan", program, *defines(consts), "-o", "plan.kir")
        made, cut = [], None
        for workers, ranks, strategy in plans or self.plans():
            if workers != cut:
                self.kasen("partition", "--program", "plan.kir", *inputs, *partition, "--workers", workers, "-o", "bundle", "--replace")
            cut = workers
            self.kasen("fuse", "plan.kir", "--strategy", strategy, "--bundle", "bundle", "-o", "fused.kir")
            self.kasen("run", *self.over(ranks), "fused.kir", "--bundle", "bundle", *defines(run), "-o", "r.h5", "--stats", "run.json")
            self.kasen("measure", "fused.kir", "--bundle", "bundle", "--against", "run.json", "--check")
            made.append(((workers, ranks, strategy), self.results("r.h5")))
        return made

    def near(self, got, wanted):
        np.testing.assert_allclose(got, wanted, rtol=1e-9, atol=1e-9 * np.max(np.abs(wanted)))


class Algorithms(PlanTest):
    def sparse_program(self, name):
        """The example for samples of which only stored entries exist: one word less."""
        text = (EXAMPLES / name).read_text()
        self.assertIn("dim N, F local", text)
        (self.dir / name).write_text(text.replace("dim N, F local", "dim N, F"))
        return name

    def agrees_with_margin_optimum(self, results, x, t, penalty, intercept):
        w, objective = margin_optimum(x, t, penalty, intercept)
        right = ((x @ w[:-1] + w[-1]) * t > 0).sum()
        for plan, got in results:
            with self.subTest(plan=plan, penalty=penalty, intercept=intercept):
                self.near(np.append(got["w"], got["b"]), w)
                np.testing.assert_allclose(got["objective"], objective, rtol=1e-12)
                self.assertEqual(got["right"], right)

    def agrees_with_logistic_optimum(self, results, x, t, penalty, intercept):
        w, loss = logistic_optimum(x, t, penalty, intercept)
        right = ((x @ w[:-1] + w[-1]) * t > 0).sum()
        for plan, got in results:
            with self.subTest(plan=plan, penalty=penalty, intercept=intercept):
                self.near(np.append(got["w"], got["b"]), w)
                np.testing.assert_allclose(got["loss"], loss, rtol=1e-12)
                self.assertEqual(got["right"], right)

    def agrees_with_probit_optimum(self, results, x, t, penalty, intercept):
        w, deviance = probit_optimum(x, t, penalty, intercept)
        right = ((x @ w[:-1] + w[-1]) * t > 0).sum()
        for plan, got in results:
            with self.subTest(plan=plan, penalty=penalty, intercept=intercept):
                self.near(np.append(got["B"], got["b"]), w)
                np.testing.assert_allclose(got["deviance"], deviance, rtol=1e-10)
                self.assertEqual(got["right"], right)

    def two_classes(self, rng, x):
        """Dense samples with labels 0 and 1 and some chance in them; returns the labels as -1 and 1."""
        scores = x @ rng.normal(size=x.shape[1]) + 0.4
        t = np.where(scores + 0.7 * rng.normal(size=len(x)) > 0, 1, -1)
        np.savetxt(self.dir / "x.csv", np.column_stack([x, t > 0]), delimiter=",", fmt=["%.17g"] * x.shape[1] + ["%d"])
        columns = ",".join(str(j + 1) for j in range(x.shape[1]))
        return t, ["X=x.csv", "y=x.csv", "--columns", f"X={columns}", "--columns", f"y={x.shape[1] + 1}"]

    def sparse_classes(self, rng):
        """The same of sparse samples, as a LIBSVM file."""
        x = np.where(rng.random((300, 20)) < 0.25, rng.normal(size=(300, 20)), 0.0)
        t = np.where(x @ rng.normal(size=20) + 0.3 + 0.5 * rng.normal(size=300) > 0, 1, -1)
        lines = [f"{t[i]:+d} " + " ".join(f"{j + 1}:{x[i, j]:.17g}" for j in np.flatnonzero(x[i])) for i in range(300)]
        (self.dir / "x.svm").write_text("\n".join(lines) + "\n")
        return x, t, ["X=x.svm", "y=x.svm"]

    def a9a(self):
        """Real sparse samples, or the test is skipped: (matrix, labels, the tools' inputs)."""
        path = pathlib.Path(os.environ.get("KASEN_DATA", "")) / "a9a.xz"
        if not path.is_file():
            self.skipTest("KASEN_DATA names no folder with a9a.xz: real samples are not tried")
        with lzma.open(path, "rt") as file:
            lines = [line.split() for line in file]
        entries = [[(int(at), float(v)) for at, v in (word.split(":") for word in line[1:])] for line in lines]
        x = np.zeros((len(lines), max(at for line in entries for at, _ in line)))
        for i, line in enumerate(entries):
            for at, v in line:
                x[i, at - 1] = v
        return x, np.array([float(line[0]) for line in lines]), [f"X={path.resolve()}", f"y={path.resolve()}"]

    def test_l2svm(self):
        """Dense samples: with and without an intercept, strong and weak penalties."""
        rng = np.random.default_rng(11)
        x = rng.normal(size=(400, 5))
        t, inputs = self.two_classes(rng, x)
        for penalty, intercept in [(0.5, 1), (30.0, 0)]:
            run = [("lambda", penalty), ("tolerance", 1e-13), ("steps", 500), ("intercept", intercept)]
            self.agrees_with_margin_optimum(self.every_plan(EXAMPLES / "l2svm.ks", inputs, run=run), x, t, penalty, intercept)

    def test_l2svm_stops(self):
        """The limits on steps and tolerance are kept."""
        rng = np.random.default_rng(12)
        _, inputs = self.two_classes(rng, rng.normal(size=(200, 5)))
        ((_, short),) = self.every_plan(EXAMPLES / "l2svm.ks", inputs, run=[("tolerance", 0), ("steps", 3)], plans=[(2, 1, "greedy")])
        self.assertEqual(short["step"], 3)
        ((_, loose),) = self.every_plan(EXAMPLES / "l2svm.ks", inputs, run=[("tolerance", 0.1)], plans=[(2, 1, "greedy")])
        self.assertLess(loose["step"], 10)

    def test_l2svm_sparse(self):
        rng = np.random.default_rng(13)
        x, t, inputs = self.sparse_classes(rng)
        run = [("lambda", 2.0), ("tolerance", 1e-13), ("steps", 500)]
        self.agrees_with_margin_optimum(self.every_plan(self.sparse_program("l2svm.ks"), inputs, run=run), x, t, 2.0, 1)

    def test_l2svm_a9a(self):
        x, t, inputs = self.a9a()
        run = [("lambda", 100.0), ("tolerance", 1e-12), ("steps", 2000)]
        plans = [(1, 1, "greedy"), (4, 2, "none")]
        self.agrees_with_margin_optimum(self.every_plan(self.sparse_program("l2svm.ks"), inputs, run=run, plans=plans), x, t, 100.0, 1)

    TO_THE_END = [("tolerance", 1e-10), ("progress", -1), ("steps", 1000)]

    def test_logistic_lbfgs(self):
        """Dense samples: with and without an intercept, strong and weak penalties; some steps are halved."""
        rng = np.random.default_rng(21)
        x = rng.normal(size=(400, 5))
        x[:, 0] *= 40
        t, inputs = self.two_classes(rng, x)
        halved = 0
        for penalty, intercept in [(0.5, 1), (30.0, 0)]:
            run = [("lambda", penalty), ("intercept", intercept), *self.TO_THE_END]
            results = self.every_plan(EXAMPLES / "logistic-lbfgs.ks", inputs, run=run)
            self.agrees_with_logistic_optimum(results, x, t, penalty, intercept)
            halved += sum(got["searches"] for _, got in results)
        self.assertGreater(halved, 0)

    def test_logistic_lbfgs_stops(self):
        """By the limit on steps, by the gradient, and where the loss falls by too small a part."""
        rng = np.random.default_rng(22)
        x = rng.normal(size=(200, 5))
        t, inputs = self.two_classes(rng, x)
        loss = logistic_optimum(x, t, 1.0, 1)[1]
        steps = []
        for run in [[("tolerance", 0), ("progress", -1), ("steps", 3)], [("progress", -1), ("tolerance", 1.0)],
                    [("tolerance", 0)], [("tolerance", 0), ("progress", 1e-2)]]:
            ((_, got),) = self.every_plan(EXAMPLES / "logistic-lbfgs.ks", inputs, run=run, plans=[(2, 1, "greedy")])
            steps.append(int(got["step"]))
            self.assertGreaterEqual(got["loss"], loss * (1 - 1e-13))
            self.assertLess(got["loss"], loss * (1 + (1e-7 if len(steps) == 3 else 0.2)))
        self.assertEqual(steps[0], 3)
        self.assertLess(steps[1], steps[2])
        self.assertLess(steps[3], steps[2])

    def test_logistic_lbfgs_sparse(self):
        rng = np.random.default_rng(23)
        x, t, inputs = self.sparse_classes(rng)
        run = [("lambda", 2.0), *self.TO_THE_END]
        results = self.every_plan(self.sparse_program("logistic-lbfgs.ks"), inputs, run=run)
        self.agrees_with_logistic_optimum(results, x, t, 2.0, 1)

    def test_logistic_lbfgs_a9a(self):
        x, t, inputs = self.a9a()
        run = [("lambda", 100.0), *self.TO_THE_END]
        plans = [(1, 1, "greedy"), (4, 2, "none")]
        results = self.every_plan(self.sparse_program("logistic-lbfgs.ks"), inputs, run=run, plans=plans)
        self.agrees_with_logistic_optimum(results, x, t, 100.0, 1)

    def test_glm(self):
        """Dense samples: with and without an intercept; some labels are wrong however sure the model is."""
        rng = np.random.default_rng(14)
        x = rng.normal(size=(400, 5))
        x[:4] *= 9
        t, inputs = self.two_classes(rng, x)
        for penalty, intercept in [(0.5, 1), (30.0, 0)]:
            run = [("lambda", penalty), ("tolerance", 1e-13), ("steps", 60), ("intercept", intercept)]
            self.agrees_with_probit_optimum(self.every_plan(EXAMPLES / "glm.ks", inputs, run=run), x, t, penalty, intercept)

    def test_newton_stops(self):
        """The limit on steps is kept where no tolerance ends the loop before, which none of 0 does."""
        rng = np.random.default_rng(17)
        _, inputs = self.two_classes(rng, rng.normal(size=(200, 5)))
        for program, run in [("glm.ks", []), ("glm.ks", [("inner_steps", 1)])]:
            run = run + [("tolerance", 0), ("steps", 3)]
            ((_, got),) = self.every_plan(EXAMPLES / program, inputs, run=run, plans=[(2, 1, "greedy")])
            self.assertEqual(got["step"], 3)
        run = [("tolerance", 0), ("steps", 3)]
        ((_, got),) = self.every_plan(EXAMPLES / "multinomial.ks", inputs, consts=[("first", 0)], run=run, plans=[(2, 1, "greedy")])
        self.assertEqual(got["step"], 3)

    def test_glm_far_out(self):
        """Samples far on the wrong side: their logarithms and quotients are right, and finite all the way there."""
        rng = np.random.default_rng(15)
        x = rng.normal(size=(1500, 1))
        t = np.where(2 * x[:, 0] + rng.normal(size=1500) > 0, 1, -1)
        x[:2, 0], t[:2] = [5, -4.5], [-1, 1]
        w, _ = probit_optimum(x, t, 0.0, 1)
        self.assertLess((t * (x[:, 0] * w[0] + w[1])).min(), -6)
        self.agrees_with_probit_optimum(self.far_out(x, t, 50), x, t, 0.0, 1)
        x[:4, 0], t[:4] = [1e3, -1e9, 40, 1e160], [-1, -1, -1, 1]
        for steps in (1, 2, 50):
            for plan, got in self.far_out(x, t, steps):
                for name, value in got.items():
                    self.assertTrue(np.isfinite(value).all(), (plan, steps, name, value))

    def far_out(self, x, t, steps):
        np.savetxt(self.dir / "x.csv", np.column_stack([x, t]), delimiter=",", fmt=["%.17g", "%d"])
        inputs = ["X=x.csv", "y=x.csv", "--columns", "X=1", "--columns", "y=2"]
        run = [("lambda", 0), ("tolerance", 1e-13), ("steps", steps)]
        return self.every_plan(EXAMPLES / "glm.ks", inputs, run=run, plans=[(1, 1, "greedy"), (3, 2, "none")])

    def test_glm_sparse(self):
        rng = np.random.default_rng(16)
        x, t, inputs = self.sparse_classes(rng)
        run = [("lambda", 2.0), ("tolerance", 1e-13), ("steps", 60)]
        self.agrees_with_probit_optimum(self.every_plan(self.sparse_program("glm.ks"), inputs, run=run), x, t, 2.0, 1)

    def test_glm_a9a(self):
        x, t, inputs = self.a9a()
        run = [("lambda", 10.0), ("tolerance", 1e-12), ("steps", 60)]
        plans = [(1, 1, "greedy"), (4, 2, "none")]
        self.agrees_with_probit_optimum(self.every_plan(self.sparse_program("glm.ks"), inputs, run=run, plans=plans), x, t, 10.0, 1)

    def test_multinomial(self):
        """Three classes and two, with and without an intercept, every strategy, workers and ranks."""
        rng = np.random.default_rng(5)
        for classes, intercept in [(3, 1), (2, 0)]:
            x = rng.normal(size=(400, 4))
            scores = x @ rng.normal(size=(4, classes)) + rng.gumbel(size=(400, classes)) + np.arange(classes)
            labels = scores.argmax(1)
            np.savetxt(self.dir / "x.csv", np.column_stack([x, labels + 1]), delimiter=",", fmt=["%.17g"] * 4 + ["%d"])
            b, loss = softmax_optimum(x, labels, classes, 0.5, intercept)
            inputs = ["X=x.csv", "y=x.csv", "--columns", "X=1,2,3,4", "--columns", "y=5"]
            run = [("lambda", 0.5), ("tolerance", 1e-13), ("intercept", intercept)]
            for plan, got in self.every_plan(EXAMPLES / "multinomial.ks", inputs, consts=[("classes", classes)], run=run):
                with self.subTest(classes=classes, plan=plan):
                    np.testing.assert_allclose(got["loss"], loss, rtol=1e-12)
                    np.testing.assert_allclose(got["B"], b[:4], rtol=1e-9, atol=1e-9 * abs(b).max())
                    np.testing.assert_allclose(got["b"], b[4], rtol=1e-9, atol=1e-9 * abs(b).max())


    def test_als(self):
        """Factors of ratings: alternating conjugate gradients against normal equations, from the same random start."""
        rng = np.random.default_rng(21)
        rated = rng.random((40, 25)) < 0.3
        rated[np.arange(40), np.arange(40) % 25] = True
        x = np.where(rated, np.round(3 + rng.normal(size=(40, 3)) @ rng.normal(size=(3, 25)), 3), 0.0)
        x[rated & (x == 0)] = 1.0  # a rating of 0 would be none
        lines = [f"{i} {j} {x[i, j]!r}" for i, j in np.argwhere(rated)]
        (self.dir / "ratings.txt").write_text("\n".join(lines) + "\n")
        u, v, loss = alternating_least_squares(x, rated, 0.1, factors(1, 40, 3) - 0.5, factors(2, 25, 3) - 0.5, 4)
        run = [("lambda", 0.1), ("tolerance", 0), ("rounds", 4), ("inner_tolerance", 1e-28), ("inner_steps", 200)]
        for plan, got in self.every_plan(EXAMPLES / "als.ks", ["X=ratings.txt"], consts=[("factors", 3)], run=run):
            with self.subTest(plan=plan):
                np.testing.assert_allclose(got["loss"], loss, rtol=1e-12)
                self.near(got["U"], u)
                self.near(got["V"], v)
                self.near(got["U"] @ got["V"].T, u @ v.T)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
