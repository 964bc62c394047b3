#!/usr/bin/env python3
"""The data of loops over blocks: files of every form, and files that do not fit.

Usage: block_inputs_test.py FOLDER_OF_TOOLS SOURCE_ROOT [unittest arguments]
"""
import sys
import unittest

import numpy as np

sys.dont_write_bytecode = True  # the source tree stays as it is
from algorithms_test import PlanTest  # noqa: E402
from idx_test import write_idx  # noqa: E402
from tools_test import BAD, USAGE  # noqa: E402

GRADIENT = """dim N, F local
input X : f64[N, F], y : f64[N]
w = fill(0.0, F)
for B in blocks(N, 64) { w = w + X[B]' @ y[B] }
output w
"""

IMAGES = """dim N, H local, W local
input X : f64[N, H, W]
s = fill(0.0, H, W)
for B in blocks(N, 20) { s = s + sum(X[B], over N) }
output s
"""


class BlockInputs(PlanTest):
    def setUp(self):
        super().setUp()
        rng = np.random.default_rng(17)
        self.X, self.y = rng.normal(size=(1003, 3)), rng.normal(size=1003)
        np.savetxt(self.dir / "X.csv", self.X, delimiter=",", fmt="%.17g")
        for rows in (960, 1000, 1003, 1024):
            np.savetxt(self.dir / f"y{rows}.csv", np.resize(self.y, rows), fmt="%.17g")
        self.planned("p", GRADIENT)

    def planned(self, name, text):
        (self.dir / f"{name}.ks").write_text(text)
        self.kasen("plan", f"{name}.ks", "-o", f"{name}.kir")

    def refused(self, *data, says, plan="p.kir", status=BAD):
        return self.fault("partition", "--program", plan, *data, "-o", "none", status=status, says=says)

    def test_files_of_different_lengths(self):
        """Nothing is left out of files that do not belong together; they are told by the rows that they have."""
        together = ["both are over dimensions N_blocks and N", "give files that belong together"]
        err = self.refused("X=X.csv", "y=y1000.csv", "--rest", "drop", says=["input 'X' has 1003 rows, and input 'y' has 1000", *together])
        self.assertNotIn("left out", err)
        np.savetxt(self.dir / "X960.csv", self.X[:960], delimiter=",")
        for rest in ([], ["--rest", "drop"]):
            self.refused("X=X960.csv", "y=y1024.csv", *rest, says=["input 'X' has 960 rows, and input 'y' has 1024", *together])
        np.save(self.dir / "X3.npy", self.X[:960].reshape(15, 64, 3))
        self.refused("X=X3.npy", "y=y1003.csv", "--rest", "drop", says=["input 'X' has 960 rows, and input 'y' has 1003", *together])
        for X in ("X960.csv", "X3.npy"):
            self.kasen("go", "p.ks", f"X={X}", "y=y960.csv", "-o", "r.h5", "--no-report")
            self.near(self.results("r.h5")["w"], self.X[:960].T @ self.y[:960])

    def test_sparse_and_dense_files_of_different_lengths(self):
        self.planned("s", GRADIENT.replace("N, F local", "N, F").replace("X : f64", "X : sparse f64"))
        (self.dir / "X.svm").write_text("".join(f"1 1:{i + 1} 3:2\n" for i in range(1003)))
        self.refused("X=X.svm", "y=y1000.csv", "--rest", "drop", plan="s.kir", says="input 'X' has 1003 rows, and input 'y' has 1000")

    def test_columns_that_were_not_chosen(self):
        np.savetxt(self.dir / "all.csv", np.column_stack([self.X, self.y]), delimiter=",", fmt="%.17g")
        says = ["input 'y' has 4 columns", "ask for 1", "--columns y=COLUMNS"]
        for rest in ([], ["--rest", "drop"]):
            err = self.refused("X=X.csv", "y=all.csv", *rest, says=says)
            self.assertNotIn("left out", err)
        self.planned("q", "dim N, F local\ninput X : f64[N, F], y : f64[N]\noutput w = X' @ y\n")
        self.refused("X=X.csv", "y=all.csv", plan="q.kir", says=says)
        self.kasen("go", "p.ks", "X=X.csv", "y=all.csv", "--columns", "y=4", "--rest", "drop", "-o", "r.h5", "--no-report")
        self.near(self.results("r.h5")["w"], self.X[:960].T @ self.y[:960])

    def test_features_that_no_sample_has(self):
        """LIBSVM names those that are not 0; how many there are is given, of samples in blocks too, and of small arrays."""
        (self.dir / "X.svm").write_text("".join(f"{i} 1:{i + 1} 2:2\n" for i in range(128)))
        forms = {"p": GRADIENT, "q": "dim N, F local\ninput X : f64[N, F], y : f64[N]\noutput w = X' @ y\n"}
        for name, text in forms.items():
            for sizes, how in [("F local", ["--dim", "F=3"]), ("F local = 3", [])]:
                (self.dir / f"{name}.ks").write_text(text.replace("F local", sizes))
                self.kasen("go", f"{name}.ks", "X=X.svm", "y=X.svm", *how, "-o", "r.h5", "--no-report")
                i = np.arange(128.0)
                self.near(self.results("r.h5")["w"], [i @ (i + 1), 2 * i.sum(), 0])
        (self.dir / "a.ks").write_text("dim N\ninput X : [f64; 3][N]\noutput s = sum(map(p -> p[0] + 1000 * p[1] + p[2], X))\n")
        self.kasen("go", "a.ks", "X=X.svm", "-o", "r.h5", "--no-report")
        self.near(self.results("r.h5")["s"], (i + 1).sum() + 256000)

    def test_arrays_of_more_axes(self):
        """The axes behind the samples' are those of the dimensions behind the blocks'."""
        x = np.arange(120.0 * 12).reshape(120, 4, 3) % 251
        np.save(self.dir / "X3.npy", x)
        np.save(self.dir / "X4.npy", x.reshape(6, 20, 4, 3))
        np.save(self.dir / "X2.npy", x.reshape(120, 12))
        write_idx(self.dir / "X.idx", x, 0x08)
        (self.dir / "h.ks").write_text(IMAGES)
        given = ["--dim", "H=4", "--dim", "W=3"]
        for data, sizes in [("X3.npy", []), ("X3.npy", given), ("X4.npy", []), ("X2.npy", given), ("X.idx", []), ("X.idx", given)]:
            with self.subTest(data=data, sizes=sizes):
                self.kasen("go", "h.ks", f"X={data}", *sizes, "--workers", 3, "-o", "r.h5", "--no-report")
                np.testing.assert_array_equal(self.results("r.h5")["s"], x.sum(0))
        self.planned("h", IMAGES)
        for data in ("X3.npy", "X.idx"):
            self.refused(f"X={data}", "--dim", "H=3", plan="h.kir", says=["has 4 indices of dimension H", "dimension H has 3"])
        (self.dir / "h.ks").write_text(IMAGES.replace("20", "50"))
        self.kasen("go", "h.ks", "X=X3.npy", "--rest", "drop", "-o", "r.h5", "--no-report")
        np.testing.assert_array_equal(self.results("r.h5")["s"], x[:100].sum(0))

    def test_images_as_many_pixels_wide_as_a_block_has_rows(self):
        """The first axis of an IDX file is the samples, also where the second is as long as a block."""
        x = np.arange(40.0 * 16).reshape(40, 4, 4) % 251
        write_idx(self.dir / "x.idx", x, 0x08)
        (self.dir / "w.ks").write_text("dim N, F local\ninput X : f64[N, F]\ns = fill(0.0, F)\nfor B in blocks(N, 4) { s = s + sum(X[B], over N) }\noutput s\n")
        self.kasen("go", "w.ks", "X=x.idx", "-o", "r.h5", "--no-report")
        np.testing.assert_array_equal(self.results("r.h5")["s"], x.reshape(40, 16).sum(0))

    def test_sizes_that_the_plan_fixes(self):
        """A size of --sizes is that of the plan, where this has one."""
        says = ["a size of 494021 for dimension 'N'", "N has 64 indices", "N_blocks"]
        for tool in (["measure", "p.kir"], ["fuse", "p.kir", "-o", "f.kir"]):
            self.fault(*tool, "--sizes", "N=494021,P=1,N_blocks=10,F=3", status=USAGE, says=says)
            self.kasen(*tool, "--sizes", "N=64,P=1,N_blocks=10,F=3")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
