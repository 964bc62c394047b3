#!/usr/bin/env python3
"""Reading tables beside pandas and NumPy, and writing them: whole processes, from a file to numbers in memory or in a bundle.

Usage: reading.py FOLDER_OF_TOOLS [--gigabytes N] [--folder DIR] [--repetitions R] [--cold]

Two texts, of numbers in the shortest form that reads back exactly and of numbers with two decimals, and a .npy. What each
reader makes of them is compared first: `kasen partition` and pandas with float_precision="round_trip" give the bits that were
written; pandas as it comes rounds some of them otherwise, and the number of these is printed. Kasen's side also writes what
it read, into a bundle; `kasen go` then runs a mean of the columns. Processes take turns; the time of each is the median. On a
busy machine, the time of processors says more than the wall's clock.
With --cold, the system is told before each process to drop the file's pages.
"""
import argparse
import json
import os
import pathlib
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import h5py
import numpy
import pandas

COLUMNS = 10
MEAN = "dim N, F local\ninput X : f64[N, F]\noutput m = mean(X, over N)\n"
TWICE = "dim N, F local\ninput X : f64[N, F]\noutput Y = X * 2.0\n"
PANDAS = "import sys, pandas; x = pandas.read_csv(sys.argv[1], header=None{})"
NUMPY = "import sys, numpy; x = numpy.load(sys.argv[1]); x.sum()"
TO_CSV = "import sys, numpy, pandas; pandas.DataFrame(2 * numpy.load(sys.argv[1])).to_csv(sys.argv[2], header=False, index=False)"
TO_NPY = "import sys, numpy; numpy.save(sys.argv[2], 2 * numpy.load(sys.argv[1]))"


class Bench:
    def __init__(self, tools, folder, size, repetitions, cold):
        self.tools, self.folder, self.size, self.repetitions, self.cold = tools.resolve(), folder, size, repetitions, cold

    def kasen(self, *arguments):
        return [str(self.tools / "kasen"), *map(str, arguments)]

    def python(self, program, *arguments):
        return [sys.executable, "-c", program, *map(str, arguments)]

    def run(self, command):
        """Seconds by the wall's clock, and of processors, its own and those of the processes that it starts."""
        begin, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, cwd=self.folder, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wall, after = time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
        return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    def plan(self, name, program):
        (self.folder / f"{name}.ks").write_text(program)
        self.run(self.kasen("plan", f"{name}.ks", "-o", f"{name}.kir"))

    def partition(self, file):
        return self.kasen("partition", "--program", "mean.kir", f"X={file}", "--workers", 2, "-o", "bundle", "--replace", "--no-sync")

    def drop(self, file):
        """Takes the file's pages out of memory."""
        with open(self.folder / file, "rb") as opened:
            os.fsync(opened.fileno())
            os.posix_fadvise(opened.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)

    def times(self, file, commands):
        """The medians of each command's times, of both kinds; they take turns."""
        all_times = {name: [] for name in commands}
        for _ in range(self.repetitions):
            for name, command in commands.items():
                for made in self.folder.glob("*.run"):  # of `kasen go`, which would take its bundle again
                    shutil.rmtree(made)
                if self.cold:
                    self.drop(file)
                all_times[name].append(self.run(command))
        return {name: [statistics.median(kind) for kind in zip(*times)] for name, times in all_times.items()}

    def write_text(self, name, block):
        """A file of about so many bytes: one block of rows over and over; returns its text's numbers."""
        text = pandas.DataFrame(block).to_csv(header=False, index=False).encode()
        times = max(1, int(self.size // len(text)))
        with open(self.folder / name, "wb") as file:
            for _ in range(times):
                file.write(text)
        return times

    def bundle(self):
        with h5py.File(self.folder / "bundle" / "arrays.h5") as file:
            return file["arrays/X/values"][()]

    def read_text(self, name, block):
        times = self.write_text(name, block)
        want = numpy.tile(block, (times, 1))
        self.run(self.partition(name))
        assert self.bundle().tobytes() == want.tobytes(), "kasen read other numbers"
        exact = pandas.read_csv(self.folder / name, header=None, float_precision="round_trip").to_numpy()
        assert exact.tobytes() == want.tobytes(), "pandas read other numbers"
        other = int((pandas.read_csv(self.folder / name, header=None).to_numpy() != want).sum())
        del exact, want
        return other, self.times(name, {
            "kasen partition": self.partition(name),
            "kasen go": self.kasen("go", "mean.ks", f"X={name}", "--workers", 2, "-o", "m.h5"),
            "pandas": self.python(PANDAS.format(""), name),
            "pandas round_trip": self.python(PANDAS.format(", float_precision='round_trip'"), name)})

    def read_array(self, block):
        rows = int(self.size // (8 * COLUMNS))
        array = numpy.resize(block, (rows, COLUMNS))
        numpy.save(self.folder / "x.npy", array)
        self.run(self.partition("x.npy"))
        assert self.bundle().tobytes() == array.tobytes(), "kasen read other numbers"
        return self.times("x.npy", {
            "kasen partition": self.partition("x.npy"),
            "kasen go": self.kasen("go", "mean.ks", "X=x.npy", "--workers", 2, "-o", "m.h5"),
            "numpy": self.python(NUMPY, "x.npy")})

    def write_results(self, block):
        """Twice an array of a tenth of the size, read from a bundle or from .npy."""
        array = numpy.resize(block, (int(self.size // (80 * COLUMNS)), COLUMNS))
        numpy.save(self.folder / "part.npy", array)
        self.run(self.kasen("partition", "--program", "twice.kir", "X=part.npy", "-o", "part", "--replace", "--workers", 2))
        self.run(self.kasen("fuse", "twice.kir", "--bundle", "part", "-o", "twice.plan.kir"))
        run = ["run", "twice.plan.kir", "--bundle", "part", "-o"]
        times = self.times("part.npy", {
            "kasen csv": self.kasen(*run, "y.csv"), "pandas csv": self.python(TO_CSV, "part.npy", "z.csv"),
            "kasen npy": self.kasen(*run, "y.npy"), "numpy npy": self.python(TO_NPY, "part.npy", "z.npy")})
        assert numpy.load(self.folder / "y.npy").tobytes() == (2 * array).tobytes()
        written = pandas.read_csv(self.folder / "y.csv", float_precision="round_trip")["Y"].to_numpy()
        assert written.tobytes() == (2 * array).tobytes()
        return array.size, times


def show(title, times, size=None):
    print(title)
    other = [min(kind) for kind in zip(*(both for name, both in times.items() if not name.startswith("kasen")))]
    for name, (wall, work) in times.items():
        speed = f"  {size / wall / 1e9:6.2f} GB/s" if size else ""
        print(f"  {name:20} {wall:8.3f} s{speed}  {other[0] / wall:6.2f} times as fast as the fastest other, "
              f"{work:8.3f} s of processors, {other[1] / work:6.2f} times less", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tools", type=pathlib.Path)
    parser.add_argument("--gigabytes", type=float, default=1)
    parser.add_argument("--folder", type=pathlib.Path)
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--cold", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        bench = Bench(given.tools, pathlib.Path(folder), given.gigabytes * 1e9, given.repetitions, given.cold)
        bench.plan("mean", MEAN)
        bench.plan("twice", TWICE)
        draw = numpy.random.default_rng(1)
        rows = max(10, int(min(given.gigabytes, 0.1) * 4e6))
        figures = {}
        for name, block in (("shortest", draw.normal(size=(rows, COLUMNS))), ("decimals", numpy.round(draw.uniform(0, 1000, (rows, COLUMNS)), 2))):
            other, times = bench.read_text(f"{name}.csv", block)
            size = (bench.folder / f"{name}.csv").stat().st_size
            figures[name] = {"bytes": size, "others": other, "seconds": times}
            show(f"{name}.csv, {size:,} bytes; pandas as it comes rounds {other:,} numbers otherwise", times, size)
        figures["npy"] = {"seconds": bench.read_array(block)}
        show("x.npy", figures["npy"]["seconds"], given.gigabytes * 1e9)
        numbers, times = bench.write_results(draw.normal(size=(rows, COLUMNS)))
        figures["written"] = {"numbers": numbers, "seconds": times}
        for form in ("csv", "npy"):
            show(f"written as {form}: {numbers:,} numbers", {name: t for name, t in times.items() if name.endswith(form)})
        print(json.dumps(figures))


if __name__ == "__main__":
    main()
