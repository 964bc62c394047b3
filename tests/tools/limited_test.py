#!/usr/bin/env python3
"""Runs in less memory than their arrays take: the bits of a run that has all of it, in the memory that was allowed, with
the bytes of disks that were predicted, which the system counts, too; and what happens where a disk fails.

Usage: limited_test.py FOLDER_OF_TOOLS SOURCE_ROOT [unittest arguments]
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

import numpy

sys.dont_write_bytecode = True  # the source tree stays as it is
from tools_test import BAD, IO, LIMIT, TOOLS, USAGE, ToolTest  # noqa: E402

MIB = 1 << 20
# A pass over points, one over rows of a matrix, both ways; a result of the rows' size.
KMEANS = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else ".") / "examples" / "kmeans.ks"
PAGERANK = KMEANS.with_name("pagerank.ks")
SPARSE_CHAIN = """dim N, F
input X : f64[N, F]
param turns = 3
w : f64[F] = 1
for i in 0..turns {
  w = w - 1e-4 * (X' @ (X @ w))
}
output w
"""
CHAIN = """dim N, F local
input X : f64[N, F], y : f64[N]
param turns = 3
w : f64[F] = 0
for i in 0..turns {
  e = X @ w - y
  w = w - 1e-7 * (X' @ e)
}
r = X @ w - y
output w, r, loss = sum(r * r)
"""
VALUES = """dim N
input x : f64[N]
a = exp(x)
b = a / sum(a)
c = sqrt(b) + a * 1e-3
output c, s = sum(c * b)
"""


class LimitedRun(ToolTest):
    def setUp(self):
        super().setUp()
        self.random = numpy.random.default_rng(11)

    def plan(self, text, *data, bundle="bundle"):
        (self.dir / "p.ks").write_text(text)
        self.kasen("plan", "p.ks", "-o", "p.kir")
        self.kasen("partition", "--program", "p.kir", *data, "-o", bundle, "--references", "--replace")
        self.kasen("fuse", "p.kir", "-o", "f.kir")

    def run_it(self, name, *more, status=0):
        """A run by itself; returns its counters, and what the system says of the process."""
        command = [TOOLS / "kasen-run", "f.kir", "--bundle", "bundle", "-o", name, "--stats", f"{name}.json", *map(str, more)]
        with open(self.dir / "out.txt", "w", encoding="utf-8") as out:
            process = subprocess.Popen(command, cwd=self.dir, stdout=out, stderr=out)
            _, code, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(code)
        self.assertEqual(process.returncode, status, (self.dir / "out.txt").read_text())
        return (json.loads((self.dir / f"{name}.json").read_text()) if status == 0 else None), usage

    def needed(self):
        """The bytes without which the plan does not run, and those that it takes without a limit."""
        self.run_it("none.h5", "--memory", 1, status=LIMIT)
        least = int(re.search(r"needs (\d+) bytes", (self.dir / "out.txt").read_text())[1])
        report, _ = self.run_it("whole.h5")
        return least, sum(part[key] for part in report["parts"] for key in part if key.endswith("_bytes"))

    def same(self, name):
        self.assertEqual((self.dir / name).read_bytes(), (self.dir / "whole.h5").read_bytes())

    def disk(self, report):
        return [sum(op.get(key, 0) for op in report["operators"]) for key in ("disk_read_bytes", "disk_written_bytes")]

    def check_limits(self, base):
        """Runs in a quarter, half and all of what there is above the least."""
        least, most = self.needed()
        self.assertLess(least, 0.7 * most, "the test's arrays are too small")
        for part in (0, 0.25, 0.5, 1):
            memory = int(least + (most + 40 * MIB - least) * part)  # rows that are read ahead have room, too
            report, usage = self.run_it("part.h5", "--memory", memory)
            self.same("part.h5")
            out, _ = self.kasen("measure", "f.kir", "--bundle", "bundle", "--memory", memory, "--against", "part.h5.json", "--check")
            self.assertIn("agree to the byte", out)
            self.assertLessEqual(usage.ru_maxrss * 1024, memory + base, f"{part}")
            read, written = self.disk(report)
            self.assertGreater(read, 0)
            self.assertIn(f"disk: {read:,} bytes read, {written:,} written", (self.dir / "out.txt").read_text())
            yield part, read, written, usage

    def base(self):
        """What a process takes beside its arrays: that of a run without any to speak of, and what the allocator keeps."""
        (self.dir / "small").mkdir(exist_ok=True)
        (self.dir / "small" / "s.ks").write_text("dim N, F local\ninput X : f64[N, F]\nv = fill(1.0, F)\noutput g = X' @ (X @ v)\n")
        numpy.save(self.dir / "small" / "X.npy", numpy.ones((100, 4)))
        run = subprocess.Popen([TOOLS / "kasen", "go", "s.ks", "X=X.npy"], cwd=self.dir / "small", stdout=subprocess.DEVNULL)
        _, code, usage = os.wait4(run.pid, 0)
        run.returncode = os.waitstatus_to_exitcode(code)
        self.assertEqual(run.returncode, 0)
        return usage.ru_maxrss * 1024 + 24 * MIB


class Limited(LimitedRun):
    def test_rows_of_a_matrix(self):
        rows, columns = 400_000, 25
        numpy.save(self.dir / "X.npy", self.random.normal(size=(rows, columns)))
        numpy.save(self.dir / "y.npy", self.random.normal(size=rows))
        self.plan(CHAIN, "X=X.npy", "y=y.npy")
        passes = []
        for _, read, written, usage in self.check_limits(self.base()):
            passes.append(read)
            self.assertEqual(written % 4096, 0)
        self.assertEqual(passes, sorted(passes, reverse=True))
        self.assertGreater(passes[0], 3.5 * 8 * rows * columns)  # three iterations and the last product
        self.assertLess(passes[-1], 1.1 * 8 * rows * (columns + 1))

    def test_points_and_a_result_of_their_size(self):
        rows = 1_500_000
        numpy.save(self.dir / "X.npy", self.random.normal(size=(rows, 3)))
        self.plan(KMEANS.read_text(encoding="utf-8").replace("d = 2", "d = 3").replace("turns = 20", "turns = 3"), "X=X.npy")
        written = [one[2] for one in self.check_limits(self.base())]
        self.assertGreaterEqual(written[0], 2 * 8 * rows)  # the indices, and the clusters

    def test_values_that_the_run_makes(self):
        rows = 4_000_000
        numpy.save(self.dir / "x.npy", self.random.normal(size=rows))
        self.plan(VALUES, "x=x.npy")
        for part, read, written, _ in self.check_limits(self.base()):
            if part == 0:
                self.assertGreater(written, 0)
            self.assertGreaterEqual(read, 8 * rows)

    def test_the_system_counts_the_same_bytes(self):
        rows, columns = 400_000, 25
        numpy.save(self.dir / "X.npy", self.random.normal(size=(rows, columns)))
        numpy.save(self.dir / "y.npy", self.random.normal(size=rows))
        self.plan(CHAIN, "X=X.npy", "y=y.npy")
        least, _ = self.needed()
        os.sync()
        report, usage = self.run_it("part.h5", "--memory", least)  # programs and libraries are in the system's cache
        read, _ = self.disk(report)
        if usage.ru_inblock == 0:
            self.skipTest("the system does not count what a process reads from this disk")
        self.assertLessEqual(abs(512 * usage.ru_inblock - read), 2 * MIB)

    def test_ranks_and_workers(self):
        rows, columns = 1_200_000, 20
        numpy.save(self.dir / "X.npy", self.random.normal(size=(rows, columns)))
        numpy.save(self.dir / "y.npy", self.random.normal(size=rows))
        (self.dir / "p.ks").write_text(CHAIN)
        for ranks, workers in ((1, 2), (2, 2), (2, 3)):
            self.kasen("go", "p.ks", "X=X.npy", "y=y.npy", "--workers", workers, "-n", ranks, "-o", "whole.h5")
            self.kasen("go", "p.ks", "X=X.npy", "y=y.npy", "--workers", workers, "-n", ranks, "-o", "part.h5", "--memory", "120M")
            self.same("part.h5")

    def test_a_run_that_is_killed_goes_on(self):
        rows = 3_000_000
        numpy.save(self.dir / "X.npy", self.random.normal(size=(rows, 3)))
        self.plan(KMEANS.read_text(encoding="utf-8").replace("d = 2", "d = 3").replace("turns = 20", "turns = 4"), "X=X.npy")
        self.run_it("whole.h5")
        limit = ["--memory", 16 * rows + 36 * MIB]  # what the run makes, and some of the points
        self.run_it("part.h5", *limit, "--checkpoint", "saved", "--every", 1)
        self.same("part.h5")
        shutil.rmtree(self.dir / "saved")
        command = ["run", "f.kir", "--bundle", "bundle", "-o", "again.h5", *limit, "--checkpoint", "saved", "--every", 1]
        self.kasen(*command, status=-9, env={"KASEN_FAULT": "border:kill:3"})
        report, _ = self.run_it("again.h5", *limit, "--checkpoint", "saved", "--resume")
        self.same("again.h5")
        self.assertGreater(self.disk(report)[0], 0)

    def test_a_failing_disk(self):
        numpy.save(self.dir / "x.npy", self.random.normal(size=3_000_000))
        self.plan(VALUES, "x=x.npy")
        least, _ = self.needed()
        before = self.files()
        for fault, says in (("read:fail:30", "Input/output error"), ("write:fail:8", "No space left on device")):
            _, err = self.kasen("run", "f.kir", "--bundle", "bundle", "-o", "r.h5", "--memory", least, "--spill", ".", status=IO,
                                env={"KASEN_FAULT": fault})
            self.assertIn(says, err)
            self.assertEqual(err.count("error:"), 1, err)
            self.assertEqual(self.files(), before)
        err = self.fault("run", "f.kir", "--bundle", "bundle", "-o", "r.h5", "--memory", least, "--spill", "nowhere", status=73, says="nowhere")
        self.assertIn("--spill", err)

    def test_a_file_that_changed(self):
        rows = 2_000_000
        numpy.save(self.dir / "x.npy", self.random.normal(size=rows))
        self.plan(VALUES, "x=x.npy")
        least, _ = self.needed()
        with open(self.dir / "x.npy", "r+b") as file:
            file.seek(8 * rows - 5)
            file.write(b"\x55")
        self.fault("run", "f.kir", "--bundle", "bundle", "-o", "r.h5", "--memory", least, status=BAD, says="its content changed")

    def test_what_is_refused(self):
        numpy.save(self.dir / "x.npy", self.random.normal(size=1000))
        self.plan(VALUES, "x=x.npy")
        self.fault("measure", "f.kir", "--memory", "1G", status=USAGE, says="--memory needs the bundle")
        self.fault("measure", "p.kir", "--bundle", "bundle", "--memory", "1G", status=USAGE, says="needs a plan")
        self.fault("measure", "f.kir", "--bundle", "bundle", "--memory", "10", status=LIMIT, says="allowed (--memory)")
        out, _ = self.kasen("measure", "f.kir", "--bundle", "bundle", "--memory", "1G")
        self.assertIn("Everything stays in memory", out)


class LimitedMatrices(LimitedRun):
    """The nonzeros of matrices go by."""

    def graph(self, vertices, edges, name="G.npy"):
        """Few vertices have many edges."""
        ends = (vertices * self.random.random((edges, 2)) ** 3).astype(numpy.int64)
        numpy.save(self.dir / name, ends)

    def test_ranks_of_pages(self):
        self.graph(300_000, 15_000_000)
        self.plan(PAGERANK.read_text(encoding="utf-8").replace("theta = 1e-6", "theta = 50.0"), "G=G.npy")
        passes = [read for _, read, _, _ in self.check_limits(self.base())]
        self.assertEqual(passes, sorted(passes, reverse=True))

    def test_both_directions_with_values(self):
        rows, columns, entries = 200_000, 100_000, 5_000_000
        self.table(rows, columns, entries)
        self.plan(SPARSE_CHAIN, "X=X.mtx")
        written = [one[2] for one in self.check_limits(self.base())]
        self.assertGreater(written[0], 12 * entries)  # both forms, but for what stays

    def table(self, rows, columns, entries):
        """Entries with values of three digits, as a Matrix Market file with fields of one width."""
        at = numpy.unique(self.random.integers(0, rows * columns, entries))
        width = len(str(rows * columns))
        text = numpy.full((len(at), 2 * width + 8), ord(" "), dtype=numpy.uint8)
        for field, value in ((0, at // columns + 1), (width + 1, at % columns + 1)):
            for place in range(width):
                text[:, field + place] = ord("0") + value // 10 ** (width - 1 - place) % 10
        text[:, 2 * width + 2 : 2 * width + 4] = [ord("0"), ord(".")]
        text[:, 2 * width + 4 : 2 * width + 7] = self.random.integers(ord("1"), ord("9"), (len(at), 3))
        text[:, 2 * width + 7] = ord("\n")
        head = f"%%MatrixMarket matrix coordinate real general\n{rows} {columns} {len(at)}\n"
        (self.dir / "X.mtx").write_bytes(head.encode() + text.tobytes())

    def test_ranks_and_workers(self):
        self.graph(200_000, 8_000_000)
        (self.dir / "p.ks").write_text(PAGERANK.read_text(encoding="utf-8").replace("theta = 1e-6", "theta = 50.0"))
        for ranks, workers, strategy in ((1, 2, "greedy"), (2, 2, "none"), (2, 3, "greedy")):
            data = ["p.ks", "G=G.npy", "--workers", workers, "-n", ranks, "--strategy", strategy]
            self.kasen("go", *data, "-o", "whole.h5")
            self.kasen("go", *data, "-o", "part.h5", "--memory", "90M")
            self.same("part.h5")

    def test_a_part_that_changed(self):
        self.graph(200_000, 4_000_000)
        self.plan(PAGERANK.read_text(encoding="utf-8"), "G=G.npy")
        part = self.dir / "bundle" / "part-0000.h5"
        with open(part, "r+b") as file:
            file.seek(part.stat().st_size // 2)
            file.write(b"\x55")
        self.fault("run", "f.kir", "--bundle", "bundle", "-o", "r.h5", "--memory", "90M", status=BAD, says="was altered")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
