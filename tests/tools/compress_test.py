#!/usr/bin/env python3
"""Compressed matrices from the command line: `partition --compress`, what it says, and runs that do not notice.

Usage: compress_test.py FOLDER_OF_TOOLS SOURCE_ROOT [unittest arguments]
"""
import json
import os
import pathlib
import sys
import unittest

import h5py
import numpy as np

sys.dont_write_bytecode = True  # the source tree stays as it is
from tools_test import CONFIG, ROOT, USAGE, ToolTest  # noqa: E402

EXAMPLES = ROOT / "examples"


class Compressed(ToolTest):
    def write_samples(self, rows=3000):
        """Columns that repeat, lie in runs, are mostly zero, and do not repeat."""
        n = np.arange(rows)
        x = np.stack([n % 7, n % 7 * 2 + 1, n // 300, np.where(n % 50 == 3, n % 11, 0), np.sin(n)], 1).astype(float)
        np.save(self.dir / "X.npy", x)
        np.save(self.dir / "y.npy", np.where(x[:, 0] + x[:, 4] > 3, 1.0, -1.0))
        return x

    def partition(self, program, *options, workers=3):
        self.kasen("plan", EXAMPLES / program, "-o", "plan.kir")
        told = {}
        for how in ("none", "auto"):
            told[how] = self.kasen("partition", "--program", "plan.kir", "--workers", workers, "--compress", how, "-o", how, *options)[1]
        self.assertEqual(told["none"], "")
        return told["auto"]

    def outputs(self, plan, bundle, *options):
        self.kasen("run", plan, "--bundle", bundle, "-o", "result.h5", *options)
        with h5py.File(self.dir / "result.h5") as result:
            return {name: result[name][()] for name in result}

    def same_by_unfitted_plans(self, kernel_sets=("generated", "interpreter")):
        """A plan that knows of no bundle reads all cells: the same bits, whatever the bundle holds."""
        self.kasen("fuse", "plan.kir", "-o", "fused.kir")
        for kernels in kernel_sets:
            dense, compressed = (self.outputs("fused.kir", b, "--kernels", kernels) for b in ("none", "auto"))
            for name, values in dense.items():
                self.assertEqual(values.tobytes(), compressed[name].tobytes(), name)
        return dense

    def near_by_fitted_plans(self, dense):
        self.kasen("fuse", "plan.kir", "--bundle", "auto", "-o", "fitted.kir")
        found = self.outputs("fitted.kir", "auto", "--stats", "run.json")
        for name, values in dense.items():
            np.testing.assert_allclose(found[name], values, rtol=1e-6, atol=1e-9, err_msg=name)
        self.kasen("measure", "fitted.kir", "--bundle", "auto", "--against", "run.json", "--check")

    def test_runs_are_the_same(self):
        self.write_samples()
        told = self.partition("l2svm.ks", "X=X.npy", "y=y.npy")
        self.assertRegex(told, r"kasen-partition: note: X: 120.0 kB in \d+ groups \(.*codes.*plain\) of 5 columns: \d+\.\d kB\n")
        self.near_by_fitted_plans(self.same_by_unfitted_plans())
        self.assertEqual(self.kasen("verify", "auto", "none")[0], "auto: right (a bundle of 3 parts)\nnone: right (a bundle of dense arrays, for any number of workers)\n")
        part = self.dir / "auto" / "part-0001.h5"
        bytes_ = bytearray(part.read_bytes())
        bytes_[len(bytes_) // 2] ^= 1
        # What was said stays with the bundle.
        self.assertIn(told.strip().removeprefix("kasen-partition: "), self.kasen("partition", "--stats", "auto")[0])
        content = json.loads((self.dir / "auto" / "manifest.json").read_text())["content"]
        part.write_bytes(bytes_)
        self.assertIn("part-0001.h5' was altered", self.kasen("verify", "auto", status=1)[1])
        self.assertEqual([("compressed" in a) for a in content["arrays"] if a["name"] == "X"], [True])

    def test_work_on_rows_is_one_region(self):
        """A block of rows is made dense for all of it. Products stand beside, and go by tuples."""
        x = self.write_samples()
        (self.dir / "p.ks").write_text("dim N, F local\ninput X : f64[N, F], y : f64[N], v : f64[F]\ne = exp((X - max(X, over F)) / 8)\n"
                                       "output p = e / sum(e, over F), c = sum(e / sum(e, over F) * y, over N), r = sumsq(X - y, over F), s = sum(e), g = X' @ (y * (X @ v))\n")
        np.save(self.dir / "v.npy", np.arange(5.0))
        y = np.load(self.dir / "y.npy")
        e = np.exp((x - x.max(axis=1, keepdims=True)) / 8)
        p = e / e.sum(axis=1, keepdims=True)
        wanted = {"p": p, "c": (p * y[:, None]).sum(axis=0), "r": ((x - y[:, None]) ** 2).sum(axis=1), "s": e.sum(), "g": x.T @ (y * (x @ np.arange(5.0)))}
        for workers in (1, 3):
            self.partition(self.dir / "p.ks", "X=X.npy", "y=y.npy", "v=v.npy", "--replace", workers=workers)
            for strategy in ("greedy", "cost", "none"):
                self.kasen("fuse", "plan.kir", "--bundle", "auto", "--strategy", strategy, "-o", "f.kir")
                plan = (self.dir / "f.kir").read_text()
                self.assertIn("compressed", plan)
                if strategy == "greedy":
                    region = plan.partition("region rows")[2].partition("}")[0]
                    self.assertEqual(region.count("%X"), 4, plan)  # an operand, two maps, a reduction
                for kernels in ("generated", "interpreter"):
                    found = self.outputs("f.kir", "auto", "--kernels", kernels, "--stats", "run.json")
                    for name, values in wanted.items():
                        np.testing.assert_allclose(found[name], values, rtol=1e-11, atol=1e-11, err_msg=f"{name} by {strategy}")
                    self.assertIn("agree to the byte", self.kasen("measure", "f.kir", "--bundle", "auto", "--against", "run.json", "--check")[0])

    def test_what_does_not_get_smaller_stays(self):
        np.save(self.dir / "X.npy", np.random.default_rng(1).normal(size=(2000, 3)))
        told = self.partition("kmeans-matrix.ks", "X=X.npy")
        self.assertIn("note: X: 48.0 kB stay as they are", told)
        self.assertEqual(json.loads((self.dir / "auto" / "manifest.json").read_text())["kasen_bundle"], 6)
        self.same_by_unfitted_plans()

    def test_options(self):
        self.write_samples(100)
        self.kasen("plan", EXAMPLES / "l2svm.ks", "-o", "plan.kir")
        data = ["--program", "plan.kir", "X=X.npy", "y=y.npy", "-o", "b"]
        self.fault("partition", *data, "--compress", "nones", status=USAGE, says=["'nones'", "did you mean 'none'?", "auto"])
        (self.dir / "c.yaml").write_text("compress: all\n")
        self.fault("partition", *data, "--config", "c.yaml", status=CONFIG, says=["'all'", "c.yaml:1"])
        (self.dir / "c.yaml").write_text("compress: auto\n")
        self.assertIn("X: ", self.kasen("partition", *data, "--config", "c.yaml")[1])
        self.fault("partition", "--stats", "b", "--compress", "auto", status=USAGE, says="--stats")
        self.fault("go", EXAMPLES / "l2svm.ks", "X=X.npy", "y=y.npy", "--compress", "no", status=USAGE, says="'no'")
        _, told = self.kasen("go", EXAMPLES / "l2svm.ks", "X=X.npy", "y=y.npy", "--workers", 2, "--compress", "auto", "--dir", "d")
        self.assertIn("note: X: ", told)

    def test_real_data(self):
        path = pathlib.Path(os.environ.get("KASEN_DATA", "")) / "Skin_NonSkin.txt.xz"
        if not path.exists():
            self.skipTest("KASEN_DATA names no folder with Skin_NonSkin.txt.xz: real samples are not tried")
        self.partition("kmeans-matrix.ks", f"X={path}", "--columns", "X=1,2,3", workers=2)
        sizes = {b: sum(f.stat().st_size for f in (self.dir / b).iterdir()) for b in ("none", "auto")}
        self.assertLess(sizes["auto"] - 8 * 245_057, sizes["none"] / 6)  # beside the masters
        self.near_by_fitted_plans(self.same_by_unfitted_plans(["generated"]))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
