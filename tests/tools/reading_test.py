#!/usr/bin/env python3
"""Tables from text and .npy into bundles, and results out of ranks: the numbers of Python and NumPy, and the same bytes for
any number of workers, ranks and threads.

Usage: reading_test.py FOLDER_OF_TOOLS SOURCE_ROOT [unittest arguments]
"""
import itertools
import os
import random
import sys
import unittest

import h5py
import numpy

sys.dont_write_bytecode = True  # the source tree stays as it is
from tools_test import BAD, ToolTest  # noqa: E402

TABLE = "dim N, F local\ninput X : {}[N, F]\noutput s = sum(X)\n"
POINTS = "dim N\ninput X : [f64; 3][N]\noutput s = sum(map(p -> p[0], X), over N)\n"
SAME = "dim N, F local\ninput X : f64[N, F], y : f64[N]\noutput Y = X * 1.0, z = y + 0.0, k = map(v -> i64(v), y)\n"
PIECE = 2 << 20  # bytes of text that one thread takes at a time


def one_processor():
    """Leaves a process one thread."""
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


class Reading(ToolTest):
    def plan(self, name, program):
        (self.dir / f"{name}.ks").write_text(program)
        self.kasen("plan", f"{name}.ks", "-o", f"{name}.kir")

    def values(self, plan, data, workers, **options):
        """The bytes of a bundle's arrays, and the array X of it."""
        self.kasen("partition", "--program", f"{plan}.kir", f"X={data}", "--workers", workers, "-o", "b", "--replace", "--no-sync", **options)
        with h5py.File(self.dir / "b" / "arrays.h5") as file:
            return (self.dir / "b" / "arrays.h5").read_bytes(), file["arrays/X/values"][()]

    def number(self, draw):
        """The text of a number, and Python's value of it."""
        value = draw.choice([draw.gauss(0, 1), draw.gauss(0, 1) * 10.0 ** draw.randint(-300, 300), float(draw.randint(-999, 999))])
        text = draw.choice(["%r", "%.18e", "%.3f", "%.17g", "%+.6E"]) % value
        if draw.random() < 0.01:
            text = draw.choice(["nan", "inf", "-inf", "5e-324", "2.2250738585072011e-308", "-0.0", "1e-400", ".5", "7."])
        value = float(text)
        return (f'"{text}"' if draw.random() < 0.03 else text), value

    def text(self, name, rows, columns, end, names=False, last=True):
        """A file of random numbers, with comments and blank lines between its rows; returns the numbers."""
        draw, lines, numbers = random.Random(name), [], []
        if names:
            lines.append(",".join(f"c{k}" for k in range(columns)))
        for _ in range(rows):
            if draw.random() < 0.01:
                lines.append(draw.choice(["", "  ", "# 1,2,3", "\t% none"]))
            cells = [self.number(draw) for _ in range(columns)]
            lines.append(draw.choice([",", ",", ",", " , "]).join(text for text, _ in cells))
            numbers.append([value for _, value in cells])
        (self.dir / name).write_text(end.join(lines) + (end if last else ""), newline="")
        return numpy.array(numbers)

    def test_text_for_any_workers(self):
        self.plan("t", TABLE.format("f64"))
        self.plan("p", POINTS)
        for name, rows, end, names, last in (("a.csv", 60000, "\n", False, True), ("b.csv", 100, "\r\n", True, False), ("c.csv", 5, "\n", True, True)):
            want = self.text(name, rows, 3, end, names, last)
            if rows > 1000:
                self.assertGreater((self.dir / name).stat().st_size, PIECE)
            for plan, numbers in (("t", want), ("p", want.T)):
                first = None
                for workers in range(1, 7):
                    whole, got = self.values(plan, name, workers, preexec_fn=one_processor if workers % 2 else None)
                    self.assertEqual(got.tobytes(), numpy.ascontiguousarray(numbers).tobytes(), (name, plan, workers))
                    self.assertEqual(whole, first or whole)
                    first = whole

    def test_arrays_of_every_type(self):
        draw = numpy.random.default_rng(3)
        self.plan("t", TABLE.format("f64"))
        self.plan("i", TABLE.format("i32"))
        self.plan("p", POINTS)
        for kind, order in itertools.product(["<f8", ">f8", "<f4", ">f4", "<f2", ">f2", "<i8", ">i8", "<i4", ">u4", "<i2", ">u2", "|i1", "|u1", "<u8", "|b1"], "CF"):
            array = numpy.asarray(draw.integers(0, 2 if kind == "|b1" else 100, (70001, 3)).astype(kind), order=order)
            if kind[1] == "f":
                array[::7] = array[::7] / 8
            numpy.save(self.dir / "x.npy", array)
            plans = [("t", array.astype("f8")), ("p", array.astype("f8").T)] + ([("i", array.astype("i4"))] if kind[1] != "f" else [])
            for plan, want in plans[draw.integers(0, len(plans)):]:
                _, got = self.values(plan, "x.npy", draw.integers(1, 7))
                self.assertEqual(got.tobytes(), numpy.ascontiguousarray(want).tobytes(), (kind, order, plan))

    def test_wrong_rows_leave_nothing(self):
        self.plan("t", TABLE.format("f64"))
        good = "1.5,2,3.25\n" * 300000
        self.assertGreater(len(good), PIECE)
        draw = random.Random(4)
        before = self.files()
        for wrong, says in (("1,2", "the row has 2 columns"), ("1,2,3,4", "more columns"), ("1,,3", "a cell is missing"), ("1,x,3", "'x'"),
                            ('1,"2', "the quote is not closed"), ("1,1e999,3", "it is too large")):
            rows = good.splitlines()
            at = draw.randint(250000, 290000)
            rows[at] = wrong
            rows[-1] = "and another"
            (self.dir / "x.csv").write_text("\n".join(rows) + "\n")
            self.fault("partition", "--program", "t.kir", "X=x.csv", "-o", "b", status=BAD, says=[f"x.csv:{at + 1}:", says])
            (self.dir / "x.csv").unlink()
            self.assertEqual(self.files(), before)
        numpy.save(self.dir / "x.npy", numpy.array([[1.0, 2], [3, 2.5]]))
        self.plan("i", TABLE.format("i64"))
        self.fault("partition", "--program", "i.kir", "X=x.npy", "-o", "b", status=BAD, says=["element [1, 1] does not fit"])
        self.assertFalse((self.dir / "b").exists())

    def test_results_of_any_ranks(self):
        want = self.text("x.csv", 3001, 3, "\n")
        want[~numpy.isfinite(want)] = 1
        numpy.savetxt(self.dir / "x.csv", want, delimiter=",", fmt="%.17g")
        numpy.savetxt(self.dir / "y.csv", numpy.arange(3001.0), fmt="%.1f")
        self.plan("s", SAME)
        self.kasen("partition", "--program", "s.kir", "X=x.csv", "y=y.csv", "-o", "b")
        first = {}
        for workers, ranks in ((1, 1), (2, 1), (2, 2), (3, 1), (3, 3), (4, 2), (5, 3), (6, 1), (6, 2), (6, 3)):
            for form in ("csv", "npy"):
                self.kasen("fuse", "s.kir", "--bundle", "b", "--workers", workers, "-o", "f.kir")
                self.kasen("run", "f.kir", "--bundle", "b", "--workers", workers, *(["-n", ranks] if ranks > 1 else []), "-o", f"r.{form}")
                for name in (f"r.{form}", f"r-z.{form}", f"r-k.{form}"):
                    content = (self.dir / name).read_bytes()
                    self.assertEqual(content, first.setdefault(name, content), (workers, ranks, name))
        numpy.testing.assert_array_equal(numpy.load(self.dir / "r.npy"), want)
        numpy.testing.assert_array_equal(numpy.load(self.dir / "r-k.npy"), numpy.arange(3001))
        lines = first["r.csv"].decode().splitlines()
        self.assertEqual(lines[0], "N,F,Y")
        read = numpy.array([[float(cell) for cell in line.split(",")] for line in lines[1:]])
        numpy.testing.assert_array_equal(read[:, 0], numpy.repeat(numpy.arange(3001), 3))
        numpy.testing.assert_array_equal(read[:, 1], numpy.tile(numpy.arange(3), 3001))
        numpy.testing.assert_array_equal(read[:, 2], want.ravel())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
