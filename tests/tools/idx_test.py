#!/usr/bin/env python3
"""IDX files as the tools read them, against NumPy's own reading; and Fashion-MNIST, as Debian's package has it.

Usage: idx_test.py FOLDER_OF_TOOLS SOURCE_ROOT [unittest arguments]
"""
import gzip
import pathlib
import sys
import unittest

import numpy as np

sys.dont_write_bytecode = True  # the source tree stays as it is
import unlabelled_test as unlabelled  # noqa: E402
from algorithms_test import EXAMPLES, PlanTest  # noqa: E402
from tools_test import EVERY_PLAN  # noqa: E402

TYPES = {0x08: ">u1", 0x09: ">i1", 0x0B: ">i2", 0x0C: ">i4", 0x0D: ">f4", 0x0E: ">f8"}
FASHION = pathlib.Path("/usr/share/datasets/fashion-mnist")


def write_idx(path, array, code):
    header = bytes([0, 0, code, array.ndim]) + np.array(array.shape, ">u4").tobytes()
    path.write_bytes(header + array.astype(TYPES[code]).tobytes())


def read_idx(path):
    with gzip.open(path) as file:
        content = file.read()
    shape = np.frombuffer(content, ">u4", content[3], 4)
    return np.frombuffer(content, TYPES[content[2]], -1, 4 + 4 * content[3]).reshape(shape)


class Idx(PlanTest):
    def test_every_type(self):
        """Arrays of two and three axes, each type of elements, as the dimensions of the input ask; same numbers to the bit."""
        (self.dir / "a.ks").write_text("dim N, F local\ninput X : f64[N, F]\nY = X + 0.0\noutput Y, total = sum(X)\n")
        (self.dir / "b.ks").write_text("dim N, R local, C local\ninput X : f64[N, R, C]\nY = X + 0.0\noutput Y\n")
        rng = np.random.default_rng(61)
        for code, name in TYPES.items():
            kind = np.dtype(name)
            if kind.kind == "f":
                x = rng.normal(size=(37, 3, 5)).astype(kind)
            else:
                limits = np.iinfo(kind)
                x = rng.integers(limits.min, limits.max, (37, 3, 5), endpoint=True)
            write_idx(self.dir / "x.idx", x, code)
            x = x.astype(float)
            ranks = 2 if EVERY_PLAN or code == 0x08 else 1
            for program, wanted in [("a.ks", x.reshape(37, 15)), ("b.ks", x)]:
                for plan, got in self.every_plan(program, ["X=x.idx"], plans=[(1, 1, "greedy"), (3, ranks, "none")]):
                    with self.subTest(code=code, program=program, plan=plan):
                        np.testing.assert_array_equal(got["Y"], wanted)

    def test_images_by_batches(self):
        """Images have as many axes as batches of samples: which are meant is told by the sizes that the program gives."""
        x = np.arange(24.0 * 6).reshape(24, 2, 3)
        write_idx(self.dir / "x.idx", x, 0x08)
        text = "dim T local = {}, N, F local\ninput X : f64[T, N, F]\nY = X + 0.0\noutput Y\n"
        for batches, shape in [(4, (4, 6, 6)), (24, (24, 2, 3))]:
            (self.dir / "x.ks").write_text(text.format(batches))
            ((_, got),) = self.every_plan("x.ks", ["X=x.idx"], plans=[(2, 1, "greedy")])
            np.testing.assert_array_equal(got["Y"], x.reshape(shape))
        (self.dir / "x.ks").write_text(text.format(5))
        self.kasen("plan", "x.ks", "-o", "plan.kir")
        self.fault("partition", "--program", "plan.kir", "X=x.idx", "-o", "b", status=65, says=["has 24 rows", "does not divide 24"])

    def test_format_by_name(self):
        write_idx(self.dir / "x", np.ones((4, 2)), 0x08)
        (self.dir / "a.ks").write_text("dim N, F local\ninput X : f64[N, F]\noutput total = sum(X)\n")
        self.kasen("plan", "a.ks", "-o", "plan.kir")
        self.kasen("partition", "--program", "plan.kir", "X=x", "--input-format", "idx", "-o", "b")
        self.fault("partition", "--program", "plan.kir", "X=graph.txt", "--input-format", "idx", "-o", "c", status=65,
                   says=["graph.txt: ", "not an IDX file"])


class FashionTest(PlanTest):
    def setUp(self):
        super().setUp()
        if not FASHION.is_dir():
            self.skipTest(f"{FASHION} is not there; install Debian's dataset-fashion-mnist")

    def images(self, count, path):
        """The first of the training images, as a file of their own; returns them as samples between 0 and 1."""
        x = read_idx(FASHION / "train-images-idx3-ubyte.gz")[:count]
        write_idx(self.dir / path, x, 0x08)
        return x.reshape(count, -1) / 255.0

    def train_batches(self, x, batches, many, epochs, plans):
        net = unlabelled.Network([784, many, 2, many, 784], 42)
        error = net.train_batches(x.reshape(batches, -1, 784), epochs, 0.5, 0.9, 1.0)
        made = self.every_plan(EXAMPLES / "autoencoder-batches.ks", ["X=x-ubyte"], plans=plans,
                               consts=[("many", many), ("batches", batches)], run=[("epochs", epochs), ("greatest", 255)])
        for plan, got in made:
            with self.subTest(plan=plan):
                net.has(self, got)
                self.near(got["error"], error)
                self.assertLess(got["error"], unlabelled.Network([784, many, 2, many, 784], 42).error(x))


class Fashion(FashionTest):
    def test_package(self):
        """Its files as they are: images and labels of all samples, by label."""
        (self.dir / "a.ks").write_text(
            "dim N, F local, K local = 10\ninput X : i64[N, F], y : i64[N]\n"
            "Y = outer((label, k) -> i64(label == k), y, i64(index(K)))\noutput sums = Y' @ X, counts = sum(Y, over N)\n")
        for part, count in [("train", 6000), ("t10k", 1000)]:
            x, y = read_idx(FASHION / f"{part}-images-idx3-ubyte.gz"), read_idx(FASHION / f"{part}-labels-idx1-ubyte.gz")
            inputs = [f"X={FASHION}/{part}-images-idx3-ubyte.gz", f"y={FASHION}/{part}-labels-idx1-ubyte.gz"]
            ((_, got),) = self.every_plan("a.ks", inputs, plans=[(2, 2, "greedy")])
            np.testing.assert_array_equal(got["counts"], np.full(10, count))
            for label in range(10):
                np.testing.assert_array_equal(got["sums"][label], x[y == label].astype(int).sum(0).ravel())

    def test_autoencoder_batches(self):
        self.train_batches(self.images(240, "x-ubyte"), 3, 16, 2, [(1, 1, "greedy"), (3, 2, "none")])

    def test_autoencoder(self):
        x = self.images(200, "x-ubyte")
        net = unlabelled.Network([784, 16, 2, 16, 784], 42).train(x, 4, 0.5, 0.9, 1.0)
        made = self.every_plan(EXAMPLES / "autoencoder.ks", ["X=x-ubyte"], consts=[("many", 16)], plans=[(1, 1, "greedy"), (3, 2, "none")],
                               run=[("steps", 4), ("greatest", 255)])
        for plan, got in made:
            with self.subTest(plan=plan):
                net.has(self, got)
                self.near(got["code"], net.layers(x)[2])
                self.near(got["error"], net.error(x))


class FashionAtLength(FashionTest):
    def test_autoencoder_batches(self):
        """Batches of 512 samples and layers of 500 and 2 units, two epochs of ten steps."""
        self.train_batches(self.images(5120, "x-ubyte"), 10, 500, 2, [(1, 1, "greedy"), (1, 1, "cost"), (4, 2, "none")])


if __name__ == "__main__":
    result = unittest.main(argv=sys.argv[:1] + sys.argv[3:], exit=False).result
    for test, why in result.skipped:
        print(f"{test.id()} was left out: {why}", file=sys.stderr)
    all_skipped = result.testsRun > 0 and len(result.skipped) == result.testsRun
    sys.exit(77 if all_skipped else not result.wasSuccessful())
