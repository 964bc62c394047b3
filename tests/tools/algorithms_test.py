#!/usr/bin/env python3
"""The examples that fit models, end to end, against NumPy: same optimum by another way.

Usage: algorithms_test.py FOLDER_OF_TOOLS SOURCE_ROOT [unittest arguments]
"""
import sys
import unittest

import h5py
import numpy as np

sys.dont_write_bytecode = True  # the source tree stays as it is
from tools_test import ROOT, ToolTest  # noqa: E402

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


class Algorithms(ToolTest):
    def results(self, path):
        with h5py.File(self.dir / path) as file:
            return {name: file[name][()] for name in file}

    def test_multinomial(self):
        """Three classes and two, with and without an intercept, every strategy, workers and ranks."""
        rng = np.random.default_rng(5)
        for classes, intercept in [(3, 1), (2, 0)]:
            x = rng.normal(size=(400, 4))
            scores = x @ rng.normal(size=(4, classes)) + rng.gumbel(size=(400, classes)) + np.arange(classes)
            labels = scores.argmax(1)
            np.savetxt(self.dir / "x.csv", np.column_stack([x, labels + 1]), delimiter=",", fmt=["%.17g"] * 4 + ["%d"])
            b, loss = softmax_optimum(x, labels, classes, 0.5, intercept)
            self.kasen("plan", EXAMPLES / "multinomial.ks", "-D", f"classes={classes}", "-o", "plan.kir")
            for workers, strategy, ranks in [(1, "none", 1), (1, "greedy", 1), (3, "greedy", 2), (4, "none", 4)]:
                self.kasen("partition", "--program", "plan.kir", "X=x.csv", "y=x.csv", "--columns", "X=1,2,3,4", "--columns", "y=5",
                           "--workers", workers, "-o", "bundle", "--replace")
                self.kasen("fuse", "plan.kir", "--strategy", strategy, "-o", "fused.kir")
                self.kasen("run", "-n", ranks, "fused.kir", "--bundle", "bundle", "-D", "lambda=0.5", "-D", "tolerance=1e-13",
                           "-D", f"intercept={intercept}", "-o", "r.h5", "--stats", "run.json")
                self.kasen("measure", "fused.kir", "--bundle", "bundle", "--against", "run.json", "--check")
                got = self.results("r.h5")
                with self.subTest(classes=classes, workers=workers, strategy=strategy):
                    np.testing.assert_allclose(got["loss"], loss, rtol=1e-12)
                    np.testing.assert_allclose(got["B"], b[:4], rtol=1e-9, atol=1e-9 * abs(b).max())
                    np.testing.assert_allclose(got["b"], b[4], rtol=1e-9, atol=1e-9 * abs(b).max())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
