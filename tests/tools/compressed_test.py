#!/usr/bin/env python3
"""The examples that fit models to dense samples, on samples of few distinct values that partition compresses: every plan
reads them compressed, and finds what NumPy does.

Usage: compressed_test.py FOLDER_OF_TOOLS SOURCE_ROOT [unittest arguments]
"""
import sys
import unittest

import numpy as np

sys.dont_write_bytecode = True  # the source tree stays as it is
import algorithms_test as labelled  # noqa: E402
import unlabelled_test as unlabelled  # noqa: E402

COMPRESSED = ("--compress", "auto")


def few_values(rng, rows):
    """Columns that go together, that are nearly constant, sorted, sparse, of few values, and one of many."""
    kind = rng.integers(0, 6, size=rows)
    return np.column_stack([
        np.array([-1.5, 0.25, 0.5, 1, 2, 3])[kind],
        np.array([7.0, 5, 3, 2, 1, 1])[kind] / 4,
        np.where(rng.random(rows) < 0.05, 1.5, 0.0),
        np.sort(rng.integers(0, 4, size=rows)) / 2,
        np.where(rng.random(rows) < 0.1, rng.integers(1, 4, size=rows), 0) * 1.0,
        rng.integers(-2, 3, size=rows) / 2,
        rng.normal(size=rows),
    ])


class CompressedSamples(labelled.PlanTest):
    def every_plan(self, program, inputs, **kwargs):
        made = super().every_plan(program, inputs, partition=COMPRESSED, **kwargs)
        self.assertIn("] compressed @part", (self.dir / "fused.kir").read_text())
        return made

    def labelled_samples(self, seed):
        rng = np.random.default_rng(seed)
        x = few_values(rng, 600)
        return x, *labelled.Algorithms.two_classes(self, rng, x)

    def test_l2svm(self):
        x, t, inputs = self.labelled_samples(31)
        run = [("lambda", 0.5), ("tolerance", 1e-13), ("steps", 500)]
        results = self.every_plan(labelled.EXAMPLES / "l2svm.ks", inputs, run=run)
        labelled.Algorithms.agrees_with_margin_optimum(self, results, x, t, 0.5, 1)

    def test_glm(self):
        x, t, inputs = self.labelled_samples(32)
        run = [("lambda", 0.5), ("tolerance", 1e-13), ("steps", 60)]
        results = self.every_plan(labelled.EXAMPLES / "glm.ks", inputs, run=run)
        labelled.Algorithms.agrees_with_probit_optimum(self, results, x, t, 0.5, 1)

    def test_multinomial(self):
        rng = np.random.default_rng(33)
        x = np.delete(few_values(rng, 600), 1, axis=1)  # no two that go together: the optimum is sharp
        labels = (x @ rng.normal(size=(6, 3)) + rng.gumbel(size=(600, 3))).argmax(1)
        np.savetxt(self.dir / "x.csv", np.column_stack([x, labels + 1]), delimiter=",", fmt=["%.17g"] * 6 + ["%d"])
        b, loss = labelled.softmax_optimum(x, labels, 3, 5.0, 1)
        inputs = ["X=x.csv", "y=x.csv", "--columns", "X=1,2,3,4,5,6", "--columns", "y=7"]
        run = [("lambda", 5.0), ("tolerance", 1e-13), ("intercept", 1)]
        for plan, got in self.every_plan(labelled.EXAMPLES / "multinomial.ks", inputs, consts=[("classes", 3)], run=run):
            with self.subTest(plan=plan):
                np.testing.assert_allclose(got["loss"], loss, rtol=1e-12)
                self.near(np.vstack([got["B"], got["b"]]), b)

    def test_kmeans(self):
        x = few_values(np.random.default_rng(34), 600)
        np.save(self.dir / "x.npy", x)
        centres, cluster, wcss, step = unlabelled.lloyd(x, 4, 100, 1e-9)
        made = self.every_plan(labelled.EXAMPLES / "kmeans-matrix.ks", ["X=x.npy"], consts=[("k", 4)], run=[("steps", 100)])
        for plan, got in made:
            with self.subTest(plan=plan):
                self.near(got["C"], centres)
                np.testing.assert_array_equal(got["cluster"], cluster)
                self.near(got["wcss"], wcss)
                self.assertEqual(got["step"], step)

    def test_autoencoder(self):
        x = unlabelled.sigmoid(few_values(np.random.default_rng(35), 400))
        np.save(self.dir / "x.npy", x)
        net = unlabelled.Network([7, 6, 2, 6, 7], 42).train(x, 15, 0.5, 0.9, 0.97)
        made = self.every_plan(labelled.EXAMPLES / "autoencoder.ks", ["X=x.npy"], consts=[("many", 6), ("few", 2)],
                               run=[("steps", 15), ("decay", 0.97)])
        for plan, got in made:
            with self.subTest(plan=plan):
                net.has(self, got)
                self.near(got["error"], net.error(x))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
