#!/usr/bin/env python3
"""Kernels that programs share on disk: what `kasen run --stats` counts as made and as kept, and the results beside the interpreter's.

Usage: kernels_test.py FOLDER_OF_TOOLS SOURCE_ROOT [unittest arguments]
"""
import json
import sys
import unittest

sys.dont_write_bytecode = True  # the source tree stays as it is
import numpy  # noqa: E402
from tools_test import ROOT, ToolTest  # noqa: E402

SVM = (ROOT / "examples" / "l2svm.ks").read_text()
CHANGES = [("right = sum(if scores * t > 0 then 1 else 0)", "right = sum(if scores * t >= 0.5 then 1 else 0)"),
           ("scores = scores + far * along\n  m", "scores = scores + 0.5 * far * along\n  m"),
           ("  w = w + far * s", "  w = w + far * (s + 0.25 * w)")]


class SharedKernels(ToolTest):
    def setUp(self):
        super().setUp()
        random = numpy.random.default_rng(3)
        numpy.save(self.dir / "x.npy", random.random((40, 5)))
        numpy.save(self.dir / "y.npy", random.choice([-1.0, 1.0], 40))

    def counts(self, text, *more, cache="code"):
        """Kernels (made, kept) of a run of this program, and its result."""
        (self.dir / "p.ks").write_text(text)
        self.kasen("go", "p.ks", "X=x.npy", "y=y.npy", "--workers", 2, "--dir", "d", "--no-report", "--kernels", "interpreter", "--format", "csv", "-o", "i.csv", "--force")
        self.kasen("run", "d/fused.kir", "--bundle", "d/bundle", "--code-cache", cache, "--stats", "s.json", "--format", "csv", "-o", "r.csv", "--force", *more)
        ranks = json.loads((self.dir / "s.json").read_text())["by_rank"]
        results = [sorted(p.name[1:] for p in self.dir.glob(f"{name}*.csv")) for name in "ir"]
        self.assertEqual(*results)
        for name in results[0]:  # the library of dense products adds in another order
            numpy.testing.assert_allclose(*[numpy.genfromtxt(self.dir / (k + name), delimiter=",", skip_header=1) for k in "ir"], rtol=1e-6, atol=1e-9)
        return sum(rank["made_kernels"] for rank in ranks), sum(rank["kept_kernels"] for rank in ranks)

    def test_a_changed_statement_alone_is_compiled(self):
        """Every change makes a kernel or two; its original's are still there."""
        all_made, kept = self.counts(SVM)
        self.assertGreater(all_made, 8)
        self.assertEqual(kept, 0)
        self.assertEqual(self.counts(SVM), (0, all_made))
        for before, after in CHANGES:
            self.assertEqual(SVM.count(before), 1)
            changed = SVM.replace(before, after)
            made, kept = self.counts(changed)
            self.assertTrue(1 <= made <= 3, (made, after))
            self.assertGreaterEqual(kept, all_made - 3)
            self.assertEqual(self.counts(changed), (0, made + kept))
        self.assertEqual(self.counts(SVM), (0, all_made))

    def test_other_names_in_another_order_are_the_same_kernels(self):
        first = self.counts("dim N, F local\ninput X : f64[N, F], y : f64[N]\na = exp(y) + 1\nb = X @ sum(X, over N)\noutput a, b\n")
        again = self.counts("dim M, K local\ninput X : f64[M, K], y : f64[M]\nfar = X @ sum(X, over M)\nnear = exp(y) + 1\noutput near, far\n")
        self.assertGreater(first[0], 1)
        self.assertEqual(again, (0, first[0]))

    def test_nothing_is_kept_without_a_cache(self):
        made, kept = self.counts(SVM, cache="none")
        self.assertEqual(kept, 0)
        self.assertEqual(self.counts(SVM, cache="none"), (made, 0))
        self.assertEqual(self.counts(SVM, "--kernels", "interpreter", cache="none"), (0, 0))

    def test_every_rank_counts_its_own(self):
        made, _ = self.counts(SVM)
        self.assertEqual(self.counts(SVM, "-n", 2), (0, 2 * made))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
