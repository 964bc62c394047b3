#!/usr/bin/env python3
"""The examples that find out by themselves what is in their samples, end to end, against NumPy.

Usage: unlabelled_test.py FOLDER_OF_TOOLS SOURCE_ROOT [unittest arguments]
"""
import sys
import unittest

import numpy as np

sys.dont_write_bytecode = True  # the source tree stays as it is
from algorithms_test import EXAMPLES, PlanTest  # noqa: E402

U64 = 2**64


def mix64(state, number):
    """Output number + 1 of SplitMix64, of Python's integers."""
    z = (state + (number + 1) * 0x9E3779B97F4A7C15) % U64
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 % U64
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB % U64
    return z ^ (z >> 31)


def random(seed, rows, columns):
    """The language's random(seed, rows, columns): the upper 53 bits, of signed words."""
    def number(i, j):
        word = mix64(mix64(mix64(seed, 0), i), j)
        return ((word - U64 if word >= U64 // 2 else word) // 2048) * 2.0**-53 + 0.5
    return np.array([[number(i, j) for j in range(columns)] for i in range(rows)])


def lloyd(x, k, steps, tolerance):
    """K-means, point by point of the textbook: (centres, cluster of each, squared distances, steps)."""
    centres = x[np.arange(k) * (len(x) // k)].copy()
    before = np.inf
    for step in range(1, steps + 1):
        distances = ((x[:, None, :] - centres) ** 2).sum(2)
        cluster = distances.argmin(1)
        for j in range(k):
            if (cluster == j).any():
                centres[j] = x[cluster == j].mean(0)
        now = distances.min(1).sum()
        if not before - now > tolerance * now:
            break
        before = now
    distances = ((x[:, None, :] - centres) ** 2).sum(2)
    return centres, distances.argmin(1), distances.min(1).sum(), step


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


class Network:
    """Layers of sigmoids and their gradient, layer by layer in a loop."""

    def __init__(self, sizes, seed):
        self.w = [(2 * random(seed + i, a, b) - 1) * np.sqrt(6 / (a + b)) for i, (a, b) in enumerate(zip(sizes, sizes[1:]))]
        self.b = [np.zeros(n) for n in sizes[1:]]
        self.vw, self.vb = [0.0] * len(self.w), [0.0] * len(self.b)

    def layers(self, x):
        made = [x]
        for w, b in zip(self.w, self.b):
            made.append(sigmoid(made[-1] @ w + b))
        return made

    def error(self, x):
        return ((self.layers(x)[-1] - x) ** 2).sum() / (2 * len(x))

    def gradient(self, x):
        made = self.layers(x)
        back = (made[-1] - x) / len(x)
        gw, gb = [], []
        for i in reversed(range(len(self.w))):
            back = back * made[i + 1] * (1 - made[i + 1])
            gw.insert(0, made[i].T @ back)
            gb.insert(0, back.sum(0))
            back = back @ self.w[i].T
        return gw, gb

    def step(self, x, rate, momentum):
        gw, gb = self.gradient(x)
        for i in range(len(self.w)):
            self.vw[i] = momentum * self.vw[i] - rate * gw[i]
            self.vb[i] = momentum * self.vb[i] - rate * gb[i]
            self.w[i] = self.w[i] + self.vw[i]
            self.b[i] = self.b[i] + self.vb[i]

    def has(self, test, got):
        """The weights that a run gave."""
        for i in range(4):
            test.near(got[f"W{i + 1}"], self.w[i])
            test.near(got[f"b{i + 1}"], self.b[i])

    def train(self, x, steps, rate, momentum, decay):
        for _ in range(steps):
            self.step(x, rate, momentum)
            rate *= decay
        return self

    def train_batches(self, batches, epochs, rate, momentum, decay):
        """Returns the mean of the last epoch's errors, of each batch before its step."""
        for _ in range(epochs):
            errors = []
            for x in batches:
                errors.append(self.error(x))
                self.step(x, rate, momentum)
            rate *= decay
        return np.mean(errors)


class Unlabelled(PlanTest):
    def samples(self, x):
        np.save(self.dir / "x.npy", x)
        return ["X=x.npy"]

    def test_kmeans(self):
        """Groups that overlap, and more centres than groups: it stops by the tolerance, or by the limit."""
        rng = np.random.default_rng(21)
        x = np.vstack([rng.normal(size=(90, 4)) + 3 * rng.normal(size=4) for _ in range(4)])
        rng.shuffle(x)
        for k, steps, tolerance in [(5, 100, 1e-9), (3, 2, 0.0), (7, 100, 0.01)]:
            centres, cluster, wcss, step = lloyd(x, k, steps, tolerance)
            for plan, got in self.every_plan(EXAMPLES / "kmeans-matrix.ks", self.samples(x), consts=[("k", k)],
                                             run=[("steps", steps), ("tolerance", tolerance)]):
                with self.subTest(k=k, plan=plan):
                    self.near(got["C"], centres)
                    np.testing.assert_array_equal(got["cluster"], cluster)
                    self.near(got["wcss"], wcss)
                    self.assertEqual(got["step"], step)

    def test_kmeans_of_twins(self):
        """Two centres at one place share their points and stay together; one that nobody is near to stays where it is."""
        x = np.array([[0.0, 0], [1, 0], [9, 9], [0, 1], [1, 1], [9, 8], [0, 0], [5, 5], [8, 9]])  # 0, 3, 6: two are equal
        for plan, got in self.every_plan(EXAMPLES / "kmeans-matrix.ks", self.samples(x), run=[("tolerance", 0.0)]):
            with self.subTest(plan=plan):
                self.assertTrue(np.isfinite(got["C"]).all())
                np.testing.assert_array_equal(got["C"][0], got["C"][2])
                self.assertEqual(len(set(got["cluster"])), 2)

    def test_autoencoder(self):
        """Narrow layers, whose rows fuse, and wide ones, whose do not."""
        rng = np.random.default_rng(22)
        x = sigmoid(rng.normal(size=(120, 2)) @ rng.normal(size=(2, 7)) + 0.1 * rng.normal(size=(120, 7)))
        for many, few, decay, steps in [(6, 2, 0.97, 15), (70, 3, 1.0, 4)]:
            net = Network([7, many, few, many, 7], 42).train(x, steps, 0.5, 0.9, decay)
            made = self.every_plan(EXAMPLES / "autoencoder.ks", self.samples(x), consts=[("many", many), ("few", few)],
                                   run=[("steps", steps), ("decay", decay)])
            for plan, got in made:
                with self.subTest(many=many, plan=plan):
                    net.has(self, got)
                    self.near(got["code"], net.layers(x)[2])
                    self.near(got["error"], net.error(x))
                    self.assertLess(got["error"], Network([7, many, few, many, 7], 42).error(x))

    def test_autoencoder_stops(self):
        rng = np.random.default_rng(23)
        ((_, got),) = self.every_plan(EXAMPLES / "autoencoder.ks", self.samples(rng.random((50, 4))), consts=[("many", 5)],
                                      run=[("tolerance", 0.5)], plans=[(2, 1, "greedy")])
        self.assertLess(got["step"], 10)

    def test_autoencoder_batches(self):
        """Batches of one file's rows, and of a file with an axis for them; more workers than a batch has samples."""
        rng = np.random.default_rng(25)
        x = sigmoid(rng.normal(size=(90, 2)) @ rng.normal(size=(2, 7)) + 0.1 * rng.normal(size=(90, 7)))
        for many, few, batches, decay, epochs in [(6, 2, 5, 0.97, 4), (70, 3, 30, 1.0, 2)]:
            net = Network([7, many, few, many, 7], 42)
            split = x.reshape(batches, -1, 7)
            error = net.train_batches(split, epochs, 0.5, 0.9, decay)
            made = self.every_plan(EXAMPLES / "autoencoder-batches.ks", self.samples(x if many == 6 else split),
                                   consts=[("many", many), ("few", few), ("batches", batches)],
                                   run=[("epochs", epochs), ("decay", decay)])
            for plan, got in made:
                with self.subTest(many=many, plan=plan):
                    net.has(self, got)
                    self.near(got["error"], error)
                    self.assertEqual(got["epoch"], epochs)

    def test_autoencoder_batches_stop(self):
        rng = np.random.default_rng(26)
        ((_, got),) = self.every_plan(EXAMPLES / "autoencoder-batches.ks", self.samples(rng.random((50, 4))),
                                      consts=[("many", 5)], run=[("tolerance", 0.5)], plans=[(2, 1, "greedy")])
        self.assertLess(got["epoch"], 10)

    def test_batches_that_do_not_fit(self):
        """Rows that batches do not divide, and targets of other rows than the samples, are told before anything runs."""
        self.kasen("plan", EXAMPLES / "autoencoder-batches.ks", "-D", "batches=7", "-o", "plan.kir")
        np.save(self.dir / "x.npy", np.ones((30, 4)))
        self.fault("partition", "--program", "plan.kir", "X=x.npy", "-o", "bundle", status=65,
                   says=["input 'X' has 30 rows", "T has 7 indices", "leave out 2 rows (--rest drop leaves out the last), or give T another size"])
        (self.dir / "two.ks").write_text("dim T local = 5, N, F local\ninput X : f64[T, N, F], y : f64[T, N]\n"
                                         "s = 0.0\nfor t in 0..size(T) { s = s + sum(at(X, t, over T) * at(y, t)) }\noutput s\n")
        self.kasen("plan", "two.ks", "-o", "plan.kir")
        np.save(self.dir / "y.npy", np.ones(25))
        self.fault("partition", "--program", "plan.kir", "X=x.npy", "y=y.npy", "-o", "bundle", status=65,
                   says=["input 'X' has 30 rows, and input 'y' has 25", "both are over dimensions T and N"])

    def test_the_reference(self):
        """Its gradient is that of its error."""
        x, net = np.random.default_rng(24).random((9, 3)), Network([3, 4, 2, 4, 3], 5)
        gradient = net.gradient(x)[0]
        for layer, i, j in [(0, 1, 2), (1, 3, 1), (2, 0, 2), (3, 2, 0)]:
            there = net.w[layer][i, j]
            sides = []
            for step in (1e-6, -1e-6):
                net.w[layer][i, j] = there + step
                sides.append(net.error(x))
            net.w[layer][i, j] = there
            self.assertAlmostEqual((sides[0] - sides[1]) / 2e-6, gradient[layer][i, j], places=8)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
