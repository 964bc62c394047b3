#!/usr/bin/env python3
"""kasen partition streams its input: at its peak it holds less than twice the parts and a constant. What does not fit in
the memory that the process may take is refused, compressed or not.

Usage: partition_memory_test.py FOLDER_OF_TOOLS [unittest arguments]
"""
import gzip
import os
import pathlib
import random
import resource
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True  # the source tree stays as it is
from folders import ClassFolderTest, FolderTest  # noqa: E402

TOOLS = pathlib.Path(sys.argv[1]).resolve()
CONSTANT = 32 << 20  # libraries, blocks of text, entries that wait for their chunk
VERTICES, ARCS = 75_000, 3_000_000


def arcs():
    """Distinct arcs in ascending order, many of them to few vertices."""
    rng = random.Random(7)
    for vertex in range(VERTICES):
        to = {int(VERTICES * rng.random() ** 3) for _ in range(ARCS // VERTICES)}
        for other in sorted(to):
            yield vertex, other


def write_inputs(folder):
    lines = [f"{u}\t{v}\n" for u, v in arcs()]
    (folder / "sorted.txt").write_text("".join(lines))
    with gzip.open(folder / "sorted.txt.gz", "wt", compresslevel=1) as packed:
        packed.writelines(lines)
    random.Random(8).shuffle(lines)
    (folder / "random.txt").write_text("".join(lines))
    with open(folder / "valued.mtx", "w", encoding="ascii") as out:
        out.write(f"%%MatrixMarket matrix coordinate real general\n{VERTICES} {VERTICES} {len(lines)}\n")
        for k, line in enumerate(lines):
            u, v = line.split()
            out.write(f"{int(u) + 1} {int(v) + 1} 0.{k % 9973}\n")


class PeakMemory(ClassFolderTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        # In a process of its own: a child counts what its parent held when it was made.
        subprocess.run([sys.executable, __file__, "--write-inputs", str(cls.dir)], check=True)
        (cls.dir / "p.ks").write_text("dim N\ninput G : f64[N, N]\nx : f64[N] = 1\ny = G @ x\noutput y\n")
        subprocess.run([TOOLS / "kasen-plan", cls.dir / "p.ks", "-o", cls.dir / "p.kir"], check=True)

    def peak(self, *args):
        """Runs kasen-partition; the most memory that it held at a time, and the bytes of the parts it wrote."""
        bundle = self.dir / "bundle"
        child = subprocess.Popen([TOOLS / "kasen-partition", *map(str, args), "--replace", "-o", str(bundle)])
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(child.returncode, 0)
        return usage.ru_maxrss * 1024, sum(part.stat().st_size for part in bundle.glob("part-*.h5"))

    def check(self, name, *args):
        for workers in [1, 4, 16]:
            with self.subTest(input=name, workers=workers):
                peak, parts = self.peak(*args, "--workers", workers)
                print(f"{name}, {workers} workers: peak {peak / 1e6:.0f} MB, parts {parts / 1e6:.0f} MB", flush=True)
                self.assertLess(peak, 2 * parts + CONSTANT)

    def test_sorted_graph(self):
        self.check("sorted", self.dir / "sorted.txt")

    def test_graph_in_random_order(self):
        self.check("random", self.dir / "random.txt")

    def test_compressed_graph(self):
        self.check("gzip", self.dir / "sorted.txt.gz")

    def test_values_in_random_order(self):
        self.check("valued", "--program", self.dir / "p.kir", f"G={self.dir / 'valued.mtx'}")


class LimitedMemory(FolderTest):
    """Under ulimit -v."""

    SPACE = 1 << 29
    MATRIX = "dim N\ninput x : f64[N, N]\nr : f64[N] = 1\ny = x @ r\noutput y\n"

    def program(self, text):
        (self.dir / "p.ks").write_text(text)
        subprocess.run([TOOLS / "kasen-plan", "p.ks", "-o", "p.kir"], cwd=self.dir, check=True)

    def partition(self, name, *args):
        return subprocess.run([TOOLS / "kasen-partition", "--program", "p.kir", f"x={name}", "-o", "b", *args], cwd=self.dir,
                              capture_output=True, text=True, check=False,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (self.SPACE, self.SPACE)))

    def refused(self, name, *args, says):
        done = self.partition(name, *args)
        self.assertEqual(done.returncode, 69, done.stderr)
        self.assertEqual(done.stderr.count("error:"), 1, done.stderr)
        for word in [f"{name}: ", "memory", *says]:
            self.assertIn(word, done.stderr)
        self.assertFalse((self.dir / "b").exists())

    def write(self, name, text, times):
        with gzip.open(self.dir / name, "wt", compresslevel=1) as packed:
            for _ in range(times):
                packed.write(text)

    def test_scaling_looks_at_a_sample(self):
        """Where there is no room for the parts, slaves are estimated and a note says so."""
        root = pathlib.Path(__file__).resolve().parents[2]
        def run(tool, *args, space=100 << 20):
            limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (space, space))
            return subprocess.run([TOOLS / tool, *args], cwd=self.dir, capture_output=True, text=True, check=False, preexec_fn=limit)
        if run("kasen-measure", "--version").returncode != 0:
            self.skipTest("the program alone takes more")
        for tool, *args in [("kasen-plan", root / "examples" / "pagerank.ks", "-o", "p.kir"), ("kasen-fuse", "p.kir", "-o", "f.kir")]:
            subprocess.run([TOOLS / tool, *args], cwd=self.dir, check=True)
        scaling = ["f.kir", "--workers", "4,16", "--method", "hybrid-cut", "--data", f"G={root / 'datasets' / 'cnr-2000.txt.xz'}"]
        small, large = run("kasen-measure", *scaling), run("kasen-measure", *scaling, space=4 << 30)
        self.assertEqual((small.returncode, large.returncode), (0, 0), small.stderr + large.stderr)
        self.assertIn("numbers are estimated from a sample of", small.stderr)
        self.assertIn("325,557  341,104 ", large.stdout)
        self.assertEqual((small.stdout.count("+-") > 0, large.stdout.count("+-")), (True, 0))

    def test_compressed_table(self):
        self.program("dim N\ninput x : f64[N]\noutput x\n")
        self.write("x.csv.gz", "0\n" * 1_000_000, 60)
        done = self.partition("x.csv.gz")  # 480 MB of numbers go by: rows are at once where the bundle has them
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertGreaterEqual(sum(file.stat().st_size for file in (self.dir / "b").iterdir()), 480_000_000)

    def test_compressed_matrix(self):
        self.program(self.MATRIX)
        self.write("x.txt.gz", "0 1 2\n" * 1_000_000, 40)
        self.refused("x.txt.gz", "--repeats", "first", says=["this process can take"])

    def test_announced_matrix(self):
        self.program(self.MATRIX)
        (self.dir / "x.mtx").write_text("%%MatrixMarket matrix coordinate real general\n9 9 100000000\n1 1 1\n")
        self.refused("x.mtx", says=["needs 1200000000 bytes"])


if __name__ == "__main__":
    if sys.argv[1] == "--write-inputs":
        write_inputs(pathlib.Path(sys.argv[2]))
        sys.exit()
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
