#!/usr/bin/env python3
"""Steps on batches of sparse samples, end to end, against SciPy: by every plan, and beside the program that goes through
all samples and multiplies those of other batches with 0.

Usage: batch_steps_test.py FOLDER_OF_TOOLS SOURCE_ROOT [unittest arguments]
"""
import shutil
import sys
import unittest

import numpy as np
import scipy.sparse

sys.dont_write_bytecode = True  # the source tree stays as it is
from algorithms_test import EXAMPLES, PlanTest  # noqa: E402

EXAMPLE = EXAMPLES / "logreg-batches.ks"
STRATEGIES = ["auto", "cost", "fuse-all", "fuse-no-redundancy", "greedy", "none"]

MASKED = """dim N, F
input X : sparse f64[N, F], y : f64[N]
const batches = 6
w = fill(0.0, F)
each = f64(size(N)) / f64(batches)
for epoch in 0..2 {
  for t in 0..batches {
    m = if i64(index(N)) // (size(N) // batches) == t then 1.0 else 0.0
    e = 1 / (1 + exp(-(X @ w))) - (if y > 0 then 1.0 else 0.0)
    w = w - 0.5 / each * (X' @ (m * e))
  }
}
output w
"""

BATCHED = """const batches = 6
dim T local = batches, N, F
input X : sparse f64[T, N, F], y : f64[T, N]
w = fill(0.0, F)
for epoch in 0..2 {
  for t in 0..batches {
    B = at(X, t)
    e = 1 / (1 + exp(-(B @ w))) - (if at(y, t) > 0 then 1.0 else 0.0)
    w = w - 0.5 / f64(size(N)) * (B' @ e)
  }
}
output w
"""

# As BATCHED, but that it says how many rows a block has.
BLOCKS = """const rows = 20
dim N, F
input X : sparse f64[N, F], y : f64[N]
w = fill(0.0, F)
for epoch in 0..2 {
  for B in blocks(N, rows) {
    e = 1 / (1 + exp(-(X[B] @ w))) - (if y[B] > 0 then 1.0 else 0.0)
    w = w - 0.5 / f64(size(B)) * (X[B]' @ e)
  }
}
output w, samples = size(N)
"""


def sigmoid(z):
    return 1 / (1 + np.exp(-z))


def train(X, y, batches, epochs, rate, momentum, decay):
    """(weights, mean loss of the last epoch) of the example, on SciPy's rows."""
    split = [(X[rows], (y[rows] > 0).astype(float)) for rows in np.split(np.arange(X.shape[0]), batches)]
    w, v, error = np.zeros(X.shape[1]), np.zeros(X.shape[1]), 0.0
    for _ in range(epochs):
        losses = 0.0
        for B, one in split:
            z = B @ w
            losses += np.where(one > 0.5, np.log1p(np.exp(-z)), np.log1p(np.exp(z))).sum()
            v = momentum * v - rate / B.shape[0] * (B.T @ (sigmoid(z) - one))
            w = w + v
        error = losses / X.shape[0]
        rate *= decay
    return w, error


class BatchSteps(PlanTest):
    def setUp(self):
        super().setUp()
        rng = np.random.default_rng(11)
        dense = scipy.sparse.random(120, 40, 0.1, format="lil", random_state=rng)
        dense[20:40] = 0                      # a batch of six without an entry
        dense[119, 39] = 0.5                  # so the largest id is that of the shape
        self.X = dense.tocsr()
        self.X.eliminate_zeros()
        self.y = np.where(self.X @ rng.normal(size=40) + 0.1 * rng.normal(size=120) > 0, 1.0, -1.0)
        with open(self.dir / "x.svm", "w") as file:
            for i in range(120):
                row = self.X[i]
                file.write(f"{self.y[i]:+.0f} " + " ".join(f"{j + 1}:{float(v)!r}" for j, v in sorted(zip(row.indices, row.data))) + "\n")
        self.inputs = ["X=x.svm", "y=x.svm"]

    def test_logistic_regression(self):
        """By every plan, with what each counts as it is predicted, to the byte."""
        local = (self.dir / "local.ks")
        local.write_text(EXAMPLE.read_text().replace("N, F        #", "N, F local  #"))
        for program, batches, epochs in [(EXAMPLE, 6, 3), (local, 10, 2)]:
            w, error = train(self.X, self.y, batches, epochs, 0.5, 0.9, 0.95)
            made = self.every_plan(program, self.inputs, consts=[("batches", batches)], run=[("epochs", epochs), ("decay", 0.95)])
            for plan, got in made:
                with self.subTest(batches=batches, plan=plan):
                    self.near(got["w"], w)
                    self.near(got["error"], error)
                    self.assertEqual(got["right"], ((self.X @ w > 0) == (self.y > 0)).sum())

    def test_go_with_every_strategy(self):
        w, error = train(self.X, self.y, 6, 2, 0.5, 0.9, 1.0)
        for strategy in STRATEGIES:
            for workers in (1, 3):
                with self.subTest(strategy=strategy, workers=workers):
                    self.kasen("go", EXAMPLE, *self.inputs, "-D", "batches=6", "-D", "epochs=2", "--workers", workers, "--strategy", strategy,
                               "-o", "r.h5")
                    got = self.results("r.h5")
                    self.near(got["w"], w)
                    self.near(got["error"], error)

    def test_as_with_a_factor_for_each_sample(self):
        (self.dir / "masked.ks").write_text(MASKED)
        (self.dir / "batched.ks").write_text(BATCHED)
        for workers in (1, 3):
            found = []
            for name in ("masked", "batched"):
                self.kasen("go", f"{name}.ks", *self.inputs, "--workers", workers, "-o", "r.h5")
                found.append(self.results("r.h5")["w"])
            self.near(found[1], found[0])
            self.near(found[1], self.stepped())

    def test_loops_over_blocks(self):
        """By every plan; and rows that the blocks do not divide are told."""
        (self.dir / "blocks.ks").write_text(BLOCKS)
        for plan, got in self.every_plan(self.dir / "blocks.ks", self.inputs):
            with self.subTest(plan=plan):
                self.near(got["w"], self.stepped())
                self.assertEqual(got["samples"], 120)
        self.fault("go", "blocks.ks", *self.inputs, "-D", "rows=50", status=65, says=["120 rows", "50 indices, which does not divide 120"])

    def test_rows_that_fill_no_block(self):
        """--rest drop leaves them out, of sparse samples and of dense ones, and says so."""
        dense = self.dir / "dense.ks"
        dense.write_text(BLOCKS.replace("N, F\n", "N, F local\n", 1).replace("sparse ", "dense "))
        np.savetxt(self.dir / "X.csv", self.X.toarray(), delimiter=",", fmt="%.17g")
        np.save(self.dir / "X.npy", self.X.toarray())
        np.savetxt(self.dir / "y.csv", self.y)
        for program, data in [("blocks.ks", self.inputs), ("dense.ks", ["X=X.csv", "y=y.csv"]), ("dense.ks", ["X=X.npy", "y=y.csv"])]:
            (self.dir / "blocks.ks").write_text(BLOCKS)
            for workers in (1, 3):
                with self.subTest(data=data, workers=workers):
                    shutil.rmtree(self.dir / program.replace(".ks", ".run"), ignore_errors=True)  # a kept bundle is not read again
                    told = self.kasen("go", program, *data, "-D", "rows=50", "--rest", "drop", "--workers", workers, "-o", "r.h5")[1]
                    for name in "Xy":
                        self.assertIn(f"note: 20 of 120 rows of input '{name}' left out", told)
                    got = self.results("r.h5")
                    self.near(got["w"], self.stepped(100, 2))
                    self.assertEqual(got["samples"], 100)
            self.fault("go", program, *data, "-D", "rows=50", status=65, says=["leave out 20 rows (--rest drop leaves out the last)"])
            self.fault("go", program, *data, "-D", "rows=121", "--rest", "drop", status=65, says=["no block of 121 is whole"])
            told = self.kasen("go", program, *data, "--rest", "drop", "-o", "r.h5")[1]
            self.assertNotIn("left out", told)
            self.near(self.results("r.h5")["w"], self.stepped())
        self.fault("go", "blocks.ks", *self.inputs, "--rest", "keep", status=64, says=["there is no rest 'keep'", "refuse, drop"])

    def stepped(self, many=120, blocks=6):
        w = np.zeros(40)
        for _ in range(2):
            for rows in np.split(np.arange(many), blocks):
                B = self.X[rows]
                w = w - 0.5 / len(rows) * (B.T @ (sigmoid(B @ w) - (self.y[rows] > 0)))
        return w

    def test_an_index_outside(self):
        (self.dir / "p.ks").write_text("dim T local = 6, N, F\ninput X : sparse f64[T, N, F]\nparam t = 2\noutput s = sum(at(X, t))\n")
        for t in range(6):
            self.kasen("go", "p.ks", "X=x.svm", "-D", f"t={t}", "-o", "r.h5")
            self.near(self.results("r.h5")["s"], self.X[20 * t:20 * t + 20].sum())
        self.fault("go", "p.ks", "X=x.svm", "-D", "t=6", status=65, says=["an index does not lie inside of its array", "index 6 of 'T', which has 6"])

    def test_resumed_between_epochs(self):
        """A run that ends after some epochs goes on from its checkpoint, and comes to the same bits."""
        self.kasen("plan", EXAMPLE, "-D", "batches=6", "-o", "plan.kir")
        self.kasen("partition", "--program", "plan.kir", *self.inputs, "--workers", 2, "-o", "bundle")
        self.kasen("fuse", "plan.kir", "--bundle", "bundle", "-o", "fused.kir")
        self.kasen("run", "fused.kir", "--bundle", "bundle", "-D", "epochs=4", "-o", "whole.h5")
        self.kasen("run", "fused.kir", "--bundle", "bundle", "-D", "epochs=4", "--checkpoint", "saved", "--every", 3, "-o", "r.h5")
        self.kasen("run", "fused.kir", "--bundle", "bundle", "-D", "epochs=4", "--checkpoint", "saved", "--every", 3, "--resume",
                   "-o", "again.h5")
        whole, again = self.results("whole.h5"), self.results("again.h5")
        for name in ("w", "error", "right"):
            np.testing.assert_array_equal(again[name], whole[name])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
