#!/usr/bin/env python3
"""Learning programs of examples/, of sparse and dense data: factors, topics, kernels, layers, texts and counts. Each meets NumPy or
SciPy by another way to the same result, and scikit-learn where that is there.

Usage: learning_test.py FOLDER_OF_TOOLS SOURCE_ROOT [unittest arguments]
"""
import sys
import unittest
import warnings

import numpy
import scipy.optimize
import scipy.stats

sys.dont_write_bytecode = True  # the source tree stays as it is
from beside_numpy import MESHES, BesideNumPy, random, squares  # noqa: E402
from tools_test import ROOT  # noqa: E402

try:
    import sklearn.decomposition
    import sklearn.kernel_ridge
    import sklearn.linear_model
    import sklearn.mixture
    import sklearn.naive_bayes
except ImportError:  # the references of NumPy and SciPy stand by themselves
    sklearn = None

WORKERS = [("--workers", 1), ("--workers", 3, "--strategy", "cost"), ("--workers", 3, "-n", 2, "--strategy", "fuse-all", "--sync", "lazy")]
BOTH = [*WORKERS[:2], *MESHES]


def nearest_of_rank(matrix, rank):
    """Its part of the largest singular values, and these."""
    u, s, vt = numpy.linalg.svd(matrix)
    return u[:, :rank] * s[:rank] @ vt[:rank], s[:rank]


class Learning(BesideNumPy):
    def counts(self, rows, columns, rate):
        """Sparse counts of a few topics, with no row and no column of zeros."""
        topics = self.numbers.random((rows, 3)) ** 4 @ self.numbers.random((3, columns)) ** 4
        x = self.numbers.poisson(rate * topics / topics.mean()).astype(float)
        x[numpy.arange(rows), numpy.arange(rows) % columns] += 1
        x[numpy.arange(columns) % rows, numpy.arange(columns)] += 1
        return x

    def agrees_twice(self, program, text, instead, name, matrix, rest, wanted, dense="other", **options):
        """The program as it is and with another text: one of them takes a sparse matrix, the other a dense one."""
        forms = {"as it is": ROOT / "examples" / f"{program}.ks", "other": self.other(program, text, instead)}
        for form, file in forms.items():
            files = (self.whole if form == dense else self.entries)(name, matrix)
            self.agrees(file, [files, *rest], wanted, layouts=BOTH if form == dense else WORKERS, **options)

    # ---- factors and topics

    def test_nonnegative_factors(self):
        """One element after the other, by the derivatives of the loss: a step is the gradient's, as long as keeps all above 0."""
        x = self.counts(40, 25, 0.4)
        w, h = random(1, 40, 4), random(2, 25, 4)
        for _ in range(12):
            w = w - w / (w @ (h.T @ h)) * ((w @ h.T - x) @ h)
            h = h - h / (h @ (w.T @ w)) * ((w @ h.T - x).T @ w)
        wanted = {"W": w, "H": h, "loss": ((x - w @ h.T) ** 2).sum(), "step": 12}
        options = {"define": ["rank=4", "steps=12", "tolerance=-1.0"], "close": 1e-8}
        self.agrees_twice("nmf", "dim N, M, K local", "dim N, M local, K local", "X", x, [], wanted, **options)
        if sklearn:
            mu = sklearn.decomposition.NMF(4, init="custom", solver="mu", max_iter=12, tol=0)
            again = mu.fit_transform(x, W=random(1, 40, 4), H=numpy.ascontiguousarray(random(2, 25, 4).T))
            numpy.testing.assert_allclose(again @ mu.components_, w @ h.T, rtol=1e-4, atol=1e-6)

    def test_topics(self):
        """With the chance of each topic for each pair as an array, as the paper has it."""
        x = self.counts(30, 20, 0.8)
        one = 0.5 + random(1, 30, 3)
        one, other = one / one.sum(), 0.5 + random(2, 20, 3)
        other = other / other.sum(0)
        topics, texts, words = one.sum(0), one / one.sum(0), other  # P(z), P(d|z), P(w|z)
        for _ in range(8):
            joint = topics * texts[:, None] * words[None]
            likelihood = (x * numpy.log(joint.sum(2))).sum() / x.sum()
            chance = x[:, :, None] * joint / joint.sum(2, keepdims=True)
            topics = chance.sum((0, 1)) / x.sum()
            texts, words = (chance.sum(axis) / chance.sum((0, 1)) for axis in (1, 0))
        wanted = {"topic": (topics * texts).argmax(1), "V": words, "share": topics, "likelihood": likelihood, "step": 8}
        self.agrees_twice("plsa", "dim N, M, K local", "dim N, M local, K local", "X", x, [], wanted, define=["topics=3", "steps=8", "tolerance=-1.0"])

    # ---- regression

    def test_kernel_ridge(self):
        x, q = self.numbers.normal(size=(40, 3)), self.numbers.normal(size=(11, 3))
        y = numpy.sin(x.sum(1)) + 0.1 * self.numbers.normal(size=40)
        a = numpy.linalg.solve(numpy.exp(-0.3 * squares(x, x)) + 0.2 * numpy.eye(40), y)
        number = numpy.exp(-0.3 * squares(q, x)) @ a
        self.agrees("kernel-ridge", [self.whole("X", x), self.whole("y", y), self.whole("Q", q)], {"a": a, "number": number},
                    define=["gamma=0.3", "lambda=0.2"], close=1e-7, shown=lambda got: {"a": got["a"], "number": got["number"]},
                    layouts=BOTH)
        if sklearn:
            fitted = sklearn.kernel_ridge.KernelRidge(alpha=0.2, kernel="rbf", gamma=0.3).fit(x, y)
            numpy.testing.assert_allclose(number, fitted.predict(q), rtol=1e-9)

    def test_poisson_regression(self):
        x = numpy.where(self.numbers.random((80, 6)) < 0.5, self.numbers.normal(size=(80, 6)), 0)
        y = self.numbers.poisson(numpy.exp(x @ self.numbers.normal(size=6) / 2 + 0.5)).astype(float)

        def loss(w):
            m = x @ w[:-1] + w[-1]
            return (numpy.exp(m) - y * m).sum() + 0.7 / 2 * w[:-1] @ w[:-1]

        def slope(w):
            e = numpy.exp(x @ w[:-1] + w[-1]) - y
            return numpy.append(x.T @ e + 0.7 * w[:-1], e.sum())

        w = scipy.optimize.minimize(loss, numpy.zeros(7), jac=slope, method="BFGS", options={"gtol": 1e-9, "maxiter": 1000}).x
        wanted = {"B": w[:-1], "b": w[-1], "loss": loss(w)}
        options = {"define": ["lambda=0.7", "tolerance=1e-9"], "close": 1e-6, "shown": lambda got: {k: got[k] for k in wanted}}
        self.agrees_twice("poisson", "F local", "F", "X", x, [self.whole("y", y)], wanted, dense="as it is", **options)
        if sklearn:
            fitted = sklearn.linear_model.PoissonRegressor(alpha=0.7 / 80, tol=1e-9, max_iter=10000).fit(x, y)
            numpy.testing.assert_allclose(fitted.coef_, w[:-1], rtol=1e-4, atol=1e-5)

    # ---- clusters

    def test_mixture_of_normal_distributions(self):
        """Points one by one, by SciPy's density."""
        x = self.numbers.normal(size=(60, 3)) @ self.numbers.normal(size=(3, 3)) + 3 * self.numbers.integers(0, 2, size=(60, 1))
        floor = 1e-6 * numpy.eye(3)
        means, matrices, w = x[[0, 30]], [numpy.cov(x.T, bias=True) + floor] * 2, numpy.full(2, 0.5)
        for _ in range(6):
            chances = numpy.array([w[j] * scipy.stats.multivariate_normal(means[j], matrices[j]).pdf(x) for j in range(2)]).T
            p = chances / chances.sum(1, keepdims=True)
            w, means = p.mean(0), (p.T @ x) / p.sum(0)[:, None]
            matrices = [numpy.cov(x.T, bias=True, aweights=p[:, j]) + floor for j in range(2)]
        wanted = {"w": w, "M": means, "S": numpy.array(matrices), "P": p, "likelihood": numpy.log(chances.sum(1)).mean(), "step": 6}
        self.agrees("gaussian-mixture-full", [self.whole("X", x)], wanted, define=["k=2", "steps=6", "tolerance=-1.0"], layouts=BOTH)
        if sklearn:
            precisions = [numpy.linalg.inv(numpy.cov(x.T, bias=True) + floor)] * 2
            start = {"weights_init": numpy.full(2, 0.5), "means_init": x[[0, 30]], "precisions_init": precisions}
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # six steps are not enough to converge
                fitted = sklearn.mixture.GaussianMixture(2, max_iter=6, tol=0, **start).fit(x)
            numpy.testing.assert_allclose(fitted.covariances_, matrices, rtol=1e-8)

    def test_mixture_along_coordinates(self):
        """Of points of many coordinates, most of them 0; a coordinate by itself after the other."""
        x = numpy.where(self.numbers.random((60, 12)) < 0.4, self.numbers.normal(size=(60, 12)) + self.numbers.integers(0, 2, (60, 1)), 0)
        means, spreads, w = x[[0, 30]], numpy.tile(x.std(0), (2, 1)), numpy.full(2, 0.5)
        for _ in range(5):
            chances = numpy.array([w[j] * scipy.stats.norm(means[j], spreads[j]).pdf(x).prod(1) for j in range(2)]).T
            p = chances / chances.sum(1, keepdims=True)
            w, means = p.mean(0), numpy.array([numpy.average(x, axis=0, weights=p[:, j]) for j in range(2)])
            spreads = numpy.sqrt([numpy.maximum(numpy.average((x - means[j]) ** 2, axis=0, weights=p[:, j]), 1e-3) for j in range(2)])
        wanted = {"w": w, "M": means, "S": spreads**2, "P": p, "likelihood": numpy.log(chances.sum(1)).mean(), "step": 5}
        self.agrees_twice("gaussian-mixture", "dim N, F local, K local", "dim N, F, K local", "X", x, [], wanted, dense="as it is",
                          define=["k=2", "steps=5", "tolerance=-1.0", "least=1e-3"])

    # ---- layers

    def test_batch_normalisation(self):
        """Gradients by complex steps: exact to the last bits, and of the definition alone."""
        x, d = self.numbers.normal(size=(20, 4)) * [1, 5, 0.1, 2] + 3, self.numbers.normal(size=(20, 4))
        scale, shift = self.numbers.normal(size=4), self.numbers.normal(size=4)

        def there(x, scale, shift):
            apart = x - x.mean(0)
            return scale * apart / numpy.sqrt((apart**2).mean(0) + 1e-5) + shift

        def slope(which):
            at = [x, scale, shift]
            made = numpy.zeros(at[which].size)
            for i in range(made.size):
                step = numpy.zeros(made.size, complex)
                step[i] = 1e-30j
                moved = [a + step.reshape(a.shape) if k == which else a for k, a in enumerate(at)]
                made[i] = (d * there(*moved)).sum().imag / 1e-30
            return made.reshape(at[which].shape)

        inputs = [self.whole("X", x), self.whole("D", d), self.whole("scale", scale), self.whole("shift", shift)]
        wanted = {"Y": there(x, scale, shift), "by_X": slope(0), "by_scale": slope(1), "by_shift": slope(2)}
        self.agrees("batch-norm", inputs, wanted, layouts=BOTH)

    # ---- texts

    def test_classes_of_texts(self):
        """A text's words one by one."""
        y = self.numbers.integers(0, 3, 50)
        likely = 0.1 + self.numbers.random((3, 12)) ** 3
        x, t = (self.numbers.poisson(0.5 * likely[c]).astype(float) for c in (y, self.numbers.integers(0, 3, 20)))
        x[:, 0], t[:, 0] = 1, 1  # no empty text
        chances = []
        for text in t:
            chance = [(y == c).mean() for c in range(3)]
            for word, times in enumerate(text):
                chance = [p * ((x[y == c, word].sum() + 0.5) / (x[y == c].sum() + 6)) ** times for c, p in enumerate(chance)]
            chances.append(numpy.array(chance) / sum(chance))
        wanted = {"label": numpy.argmax(chances, 1), "chance": numpy.array(chances)}
        define = ["classes=3", "smoothing=0.5"]
        self.agrees("text-classes", [self.entries("X", x), self.whole("y", y), self.entries("T", t)], wanted, layouts=WORKERS, define=define)
        self.agrees(self.other("text-classes", "Q, M, K", "Q, M local, K"), [self.whole("X", x), self.whole("y", y), self.whole("T", t)],
                    wanted, layouts=BOTH, define=define)
        if sklearn:
            fitted = sklearn.naive_bayes.MultinomialNB(alpha=0.5).fit(x, y)
            numpy.testing.assert_allclose(fitted.predict_proba(t), chances, rtol=1e-9)

    def test_latent_semantic_analysis(self):
        x = self.counts(40, 25, 0.5)
        near, s = nearest_of_rank(numpy.log1p(x) * numpy.log(40 / (x != 0).sum(0)), 3)
        wanted = {"s": s, "near": near, "one": numpy.eye(3), "other": numpy.diag(s**2)}
        self.agrees_twice("lsa", "dim N, M, K local", "dim N, M local, K local", "X", x, [], wanted,
                          define=["rank=3", "extra=9", "rounds=60"], close=1e-8, shown=lambda got: {
                              "s": got["s"], "near": got["texts"] @ got["words"].T, "one": got["words"].T @ got["words"],
                              "other": got["texts"].T @ got["texts"]})

    def test_word_vectors(self):
        c = self.counts(30, 30, 0.6)
        c = c + c.T
        chance = c.sum(1, keepdims=True) * c.sum(0) / c.sum()
        information = numpy.log(numpy.where(c > 0, c / chance, 1))
        s = nearest_of_rank(numpy.maximum(information, 0), 3)[1]
        mutual = (c * information).sum() / c.sum()
        u = numpy.linalg.svd(numpy.maximum(information, 0))[0][:, :3]
        self.agrees("word-vectors", [self.entries("C", c)], {"s": s, "pairs": u * s @ u.T, "mutual": mutual}, layouts=WORKERS,
                    define=["rank=3", "extra=12", "rounds=100"], close=1e-8, shown=lambda got: {
                        "s": got["s"], "pairs": got["vectors"] @ got["vectors"].T, "mutual": got["mutual"]})


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
