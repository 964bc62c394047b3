#!/usr/bin/env python3
"""kasen partition keeps --memory: graphs and matrices that are larger go through spill files into the same bytes, within
the limit; what does not fit is refused, and disks that fail leave nothing behind.

Usage: spilled_test.py FOLDER_OF_TOOLS SOURCE_ROOT [unittest arguments]
"""
import re
import subprocess
import sys
import unittest

import numpy

sys.dont_write_bytecode = True  # the source tree stays as it is
from tools_test import IO, LIMIT, PAGERANK, TOOLS, USAGE, ToolTest  # noqa: E402

MIB = 1 << 20
SPILLED = re.compile(r"spill files: ([\d,]+) bytes written, ([\d,]+) read")
# A child counts what its parent held when it was made, so the parent is a small one.
MEASURE = "import resource, subprocess, sys; code = subprocess.call(sys.argv[1:]); print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss); sys.exit(code)"
PRODUCT = "dim N\ninput A : f64[N, N]\nx : f64[N] = 1\ny = A @ x\noutput y\n"


class Spilled(ToolTest):
    def setUp(self):
        super().setUp()
        self.random = numpy.random.default_rng(12)

    def skewed(self, count, vertices):
        return (vertices * self.random.random((count, 2)) ** 2).astype("i8")

    def partition(self, name, *args, status=0):
        """Returns the most memory that the process held, and what it said."""
        command = [sys.executable, "-S", "-c", MEASURE, TOOLS / "kasen-partition", *map(str, args), "-o", name, "--replace", "--no-sync"]
        done = subprocess.run(command, cwd=self.dir, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, status, done.stderr)
        return int(done.stdout.split()[-1]) * 1024, done.stderr

    def same(self, one, other):
        files = [sorted(p.name for p in (self.dir / bundle).iterdir()) for bundle in (one, other)]
        self.assertEqual(*files)
        for file in files[0]:
            self.assertTrue((self.dir / one / file).read_bytes() == (self.dir / other / file).read_bytes(), file)

    def check(self, limit, *args, sizes=((1, "hybrid-cut"), (3, "hybrid-cut"), (2, "block"))):
        for workers, method in sizes:
            with self.subTest(workers=workers, method=method):
                cut = ["--workers", workers, "--method", method]
                before, _ = self.partition("whole", *args, *cut)
                peak, said = self.partition("part", *args, *cut, "--memory", limit)
                print(f"{workers} {method}: {before / 1e6:.0f} MB without a limit, {peak / 1e6:.0f} of {limit / 1e6:.0f}", flush=True)
                self.same("whole", "part")
                self.assertGreater(before, 1.1 * limit, "the test's data are too small")
                self.assertLessEqual(peak, limit)
                written, read = (int(number.replace(",", "")) for number in SPILLED.search(said).groups())
                self.assertGreater(written, 0)
                self.assertGreater(read, 0)

    def test_edges_in_a_binary_file(self):
        numpy.save(self.dir / "g.npy", self.skewed(8_000_000, 30_000))
        self.check(56 * MIB, "G=g.npy")

    def test_a_text_with_values(self):
        entries = self.skewed(2_500_000, 40_000)
        with open(self.dir / "a.txt", "w", encoding="ascii") as out:
            for k, (i, j) in enumerate(entries.tolist()):
                out.write(f"{i} {j} 0.{k % 9973}\n")
        (self.dir / "p.ks").write_text(PRODUCT)
        self.kasen("plan", "p.ks", "-o", "p.kir")
        self.check(56 * MIB, "--program", "p.kir", "A=a.txt", "--repeats", "sum", sizes=((1, "hybrid-cut"), (4, "hybrid-cut")))

    def test_batches(self):
        """Few, the first of which has a third of the entries, and many with a few hundred each."""
        numpy.save(self.dir / "x.npy", self.skewed(7_000_000, 30_000))
        (self.dir / "p.kir").write_text('kir 1 level 1\nmodule m {\n  dim T local\n  dim N\n  dim F\n  %X = input "X" : null[T,N,F] sparse @?\n}\n##end\n')
        for batches, cuts in ((10, ((1, "hybrid-cut"), (3, "hybrid-cut"))), (6000, ((3, "hybrid-cut"),))):
            sizes = ["--dim", f"T={batches}", "--dim", f"N={30_000 // batches}"]
            self.check(56 * MIB, "--program", "p.kir", "X=x.npy", *sizes, sizes=cuts)

    def test_go_passes_the_limit_on(self):
        numpy.save(self.dir / "g.npy", self.skewed(400_000, 3000))
        self.kasen("go", PAGERANK, "G=g.npy", "--workers", 2, "-o", "whole.h5", "--dir", "one", "--kernels", "interpreter")
        _, err = self.kasen("go", PAGERANK, "G=g.npy", "--workers", 2, "-o", "part.h5", "--dir", "other", "--kernels", "interpreter",
                            "--memory", "100M", "--spill", ".")
        self.assertRegex(err, SPILLED)
        self.same("one/bundle", "other/bundle")
        self.assertEqual((self.dir / "whole.h5").read_bytes(), (self.dir / "part.h5").read_bytes())

    def test_data_that_surely_fit_stay_in_memory(self):
        _, err = self.kasen("partition", "G=graph.txt", "--workers", 2, "-o", "part", "--memory", "1G")
        self.kasen("partition", "G=graph.txt", "--workers", 2, "-o", "whole")
        self.assertNotIn("spill", err)
        self.same("whole", "part")
        self.fault("partition", "G=graph.txt", "-o", "b", "--dim", "N=100000000", "--memory", "1G", status=LIMIT,
                   says=["the 100000000 indices of dimension N take", "needs at least"])

    def test_automatic_choice(self):
        numpy.save(self.dir / "g.npy", self.skewed(400_000, 3000))
        (self.dir / "slow.yaml").write_text("network_bandwidth: 1e5\n")  # so that ml might pay
        _, err = self.kasen("partition", "G=g.npy", "--workers", 3, "-o", "part", "--machine", "slow.yaml", "--memory", "56M", "-v")
        self.assertRegex(err, r"method: (block|hybrid-cut) \(auto: .*ml not tried: it needs some [0-9]+ bytes of memory")

    def test_what_is_refused(self):
        numpy.save(self.dir / "g.npy", self.skewed(400_000, 3000))
        before = self.files()
        self.fault("partition", "G=g.npy", "-o", "b", "--memory", "1M", status=LIMIT, says=["needs at least", "--memory"])
        self.fault("partition", "G=g.npy", "-o", "b", "--memory", "much", status=USAGE, says="is no size")
        self.fault("partition", "G=g.npy", "-o", "b", "--workers", 3, "--method", "ml", "--memory", "56M", status=LIMIT,
                   says=["method ml needs some", "--method hybrid-cut"])
        numpy.savetxt(self.dir / "x.csv", numpy.zeros((900_000, 4)), fmt="%d", delimiter=",")
        (self.dir / "p.ks").write_text("dim N, F local\ninput X : f64[N, F]\noutput s = sum(X)\n")
        self.kasen("plan", "p.ks", "-o", "p.kir")
        self.fault("partition", "--program", "p.kir", "X=x.csv", "-o", "b", "--memory", "60M", "--words", "X=1", status=LIMIT,
                   says=["the elements of 'x.csv'", "needs at least"])
        self.fault("partition", "--program", "p.kir", "X=x.csv", "-o", "b", "--memory", "30M", status=LIMIT, says=["the text of 'x.csv'", "needs at least"])
        self.assertEqual(self.files(), sorted([*before, "p.ks", "p.kir", "x.csv"]))

    def test_rows_that_need_no_memory(self):
        """Of a table in text, and of .npy in another form than the bundle's, the rows are made while they are written."""
        draw = numpy.random.default_rng(6).integers(0, 9, (900_000, 4))
        numpy.savetxt(self.dir / "x.csv", draw, fmt="%d", delimiter=",")
        numpy.save(self.dir / "y.npy", draw.astype("i1"))
        (self.dir / "p.ks").write_text("dim N, F local\ninput X : f64[N, F], Y : f64[N, F]\noutput s = sum(X + Y)\n")
        self.kasen("plan", "p.ks", "-o", "p.kir")
        files = ["partition", "--program", "p.kir", "X=x.csv", "Y=y.npy", "--workers", 3]
        self.kasen(*files, "-o", "whole")
        self.kasen(*files, "-o", "part", "--memory", "70M")  # the rows take 57.6 MB
        for name in ("arrays.h5", "manifest.json"):
            self.assertEqual((self.dir / "part" / name).read_bytes(), (self.dir / "whole" / name).read_bytes())

    def test_a_failing_disk(self):
        numpy.save(self.dir / "g.npy", self.skewed(400_000, 3000))
        before = self.files()
        for fault, says in (("write:fail:2", "No space left on device"), ("read:fail:12", "Input/output error")):
            _, err = self.kasen("partition", "G=g.npy", "-o", "b", "--memory", "56M", "--spill", ".", status=IO, env={"KASEN_FAULT": fault})
            self.assertIn(says, err)
            self.assertIn("spill file in '.'", err)
            self.assertEqual(err.count("error:"), 1, err)
            self.assertEqual(self.files(), before)
        self.fault("partition", "G=g.npy", "-o", "b", "--memory", "56M", "--spill", "nowhere", status=73, says=["nowhere", "--spill"])
        self.assertEqual(self.files(), before)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
