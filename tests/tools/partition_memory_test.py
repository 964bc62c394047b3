#!/usr/bin/env python3
"""kasen partition streams its input: at its peak it holds less than twice the parts and a constant.

Usage: partition_memory_test.py FOLDER_OF_TOOLS [unittest arguments]
"""
import gzip
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import unittest

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


class PeakMemory(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.dir = pathlib.Path(cls.folder.name)
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


if __name__ == "__main__":
    if sys.argv[1] == "--write-inputs":
        write_inputs(pathlib.Path(sys.argv[2]))
        sys.exit()
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
