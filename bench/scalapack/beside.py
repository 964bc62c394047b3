#!/usr/bin/env python3
"""Products and tall QR on two ranks of one thread, beside ScaLAPACK in the same run.

Usage: beside.py FOLDER_OF_TOOLS [--cases NAME,...] [--rounds R] [--turns T] [--folder DIR]

Both sides compute from arrays in memory to results in memory, on the same processors, by the same BLIS with the same kernels.
What is timed is a call: pdgemm, or pdgeqrf and pdorgqr (R alone: pdgeqrf), from one barrier to the next; and all steps of
`A @ B` or `tsqr(X)`, exchanges and copies included, on the rank that takes longest. A process makes so many turns, of which the
first is left out: there memory is touched for the first time. Reading, writing and planning are not in it, and the start of
processes neither. ScaLAPACK has the grid and block size that are best for it of those that are tried; Kasen has the layouts
that `kasen fuse` finds. The results are compared first. Then processes take turns.
"""
import argparse
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
RANKS = 2
def products(turns):
    """So many products of inputs of their own: what is exchanged for one is of no use for another. Each waits for the one before,
    whose memory it takes."""
    inputs = ", ".join(f"A{i} : dense f64[N, K], B{i} : dense f64[K, M]" for i in range(turns))
    lines = ["F0 = A0"]
    for i in range(turns):
        lines += [f"C{i} = F{i} @ B{i}", f"most{i} = max(C{i})", f"F{i + 1} = A{i + 1} + nothing * most{i}"]
    return "\n".join(["dim N, K, M", f"input {inputs}", "param nothing = 0.0", *lines[:-2], f"output C{turns - 1}"]) + "\n"


# `nothing` is 0. With it, no step of a turn is of use for another.
FACTORS = """use "linalg"
dim N, K local
input X : f64[N, K]
param turns = 4, nothing = 0.0
Q, R = tsqr(X)
for i in 0..turns {
  Y = X + nothing * Q
  Q, R = tsqr(Y)
}
output Q, R
"""
TIMED = {"product": r"C\d+ = F\d+ @ B\d+", "qr": r"Q, R = tsqr\(Y\)", "r": r"R = tsqr_r\(Y\)"}
CASES = {  # what, sizes: of products N, K, M, of factors N, K
    "square": ("product", (2048, 2048, 2048)),
    "outer": ("product", (4096, 512, 4096)),
    "inner": ("product", (512, 16384, 512)),
    "tall": ("product", (400_000, 64, 64)),
    "qr-32": ("qr", (1_000_000, 32)),
    "qr-100": ("qr", (400_000, 100)),
    "r-32": ("r", (1_000_000, 32)),
    "r-100": ("r", (400_000, 100)),
}
BLOCKS = {"product": (64, 128, 256), "qr": (16, 32, 64), "r": (16, 32, 64)}
GRIDS = {"product": ((1, 2), (2, 1)), "qr": ((2, 1),), "r": ((2, 1),)}  # a grid of 1 x 2 leaves panels to one rank


def environment():
    """One thread a rank; BLIS with the kernels that Kasen chooses: it sets them itself, and a peer would take others."""
    set_here = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "BLIS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1",
                "OMPI_MCA_mpi_yield_when_idle": "1"}  # a rank that waits leaves its processor to others, of both
    flags = pathlib.Path("/proc/cpuinfo").read_text()
    if "avx512dq" in flags and "avx512vl" in flags:
        set_here["BLIS_ARCH_TYPE"] = "0"  # skx, of both
    return {**os.environ, **set_here}


class Case:
    def __init__(self, tools, folder, name, turns):
        self.tools, self.folder, self.name, self.turns = tools, folder, name, turns
        self.what, self.sizes = CASES[name]
        random = np.random.default_rng(1)
        shapes = [self.sizes[:2], self.sizes[1:]] if self.what == "product" else [self.sizes]
        self.inputs = {key: random.normal(size=shape) for key, shape in zip("AB" if self.what == "product" else "X", shapes)}
        for key, array in self.inputs.items():
            np.save(folder / f"{key}.npy", array)
        self.times = {"kasen": [], "scalapack": []}

    def run(self, *command):
        done = subprocess.run([str(word) for word in command], cwd=self.folder, env=environment(), capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
        return done.stdout

    def prepare(self):
        text = products(self.turns) if self.what == "product" else FACTORS
        if self.what == "r":
            for old, new in [("nothing * Q", "nothing * max(R)"), ("Q, R = tsqr", "R = tsqr_r"), ("output Q, R", "output R")]:
                text = text.replace(old, new)
        (self.folder / "b.ks").write_text(text)
        numbers = range(self.turns) if self.what == "product" else [""]
        kasen, data = self.tools / "kasen", [f"{key}{i}={key}.npy" for key in self.inputs for i in numbers]
        self.run(kasen, "plan", "b.ks", "-o", "b.kir")
        self.run(kasen, "partition", "--program", "b.kir", *data, "--workers", RANKS, "-o", "bundle", "--replace", "--no-sync")
        mesh = ["--mesh", "auto"] if self.what == "product" else []
        self.run(kasen, "fuse", "b.kir", "--bundle", "bundle", "-o", "f.kir", *mesh)

    def kasen(self):
        """The seconds of each turn but the first."""
        turns = [] if self.what == "product" else ["-D", f"turns={self.turns}"]
        self.run(self.tools / "kasen", "run", "-n", RANKS, "--threads", 1, "f.kir", "--bundle", "bundle", "-o", "out.npy",
                 "--trace", "trace.json", *turns)
        trace = json.loads((self.folder / "trace.json").read_text())
        both = zip(*(self.turns_of(trace, rank) for rank in range(RANKS)), strict=True)
        seconds = [max(times) / 1e6 for times in both]
        assert len(seconds) == self.turns, seconds
        return seconds[1:]

    def turns_of(self, trace, rank):
        """The microseconds of each turn: those from the begin of the first step of its line to the end of the last one. Of a
        product, an exchange may stand apart from the rest."""
        turns, before = [], None
        events = [e for e in (trace["traceEvents"] if isinstance(trace, dict) else trace) if e.get("ph") == "X" and e["pid"] == rank]
        for event in sorted(events, key=lambda e: e["ts"]):
            line = event["args"].get("line", "").split(": ", 1)[-1]
            if not re.fullmatch(TIMED[self.what], line):
                before = before if line == "" else line  # an iteration is no statement
                continue
            if before != line:
                turns.append([line, event["ts"], 0])
            turns[-1][2], before = max(turns[-1][2], event["ts"] + event["dur"]), line
        if self.what != "product":
            return [end - begin for _, begin, end in turns]
        sums = {}
        for line, begin, end in turns:
            sums[line] = sums.get(line, 0) + end - begin
        return list(sums.values())

    def scalapack(self, grid, block, folder="-"):
        files = [f"{key}.npy" for key in self.inputs]
        out = self.run("mpirun", "-n", RANKS, "--bind-to", "none", "/usr/bin/python3", HERE / "peer.py", folder, self.turns, self.what,
                       *files, *grid, block)
        return json.loads(out)[1:]

    def made_by_peer(self, name, shape):
        whole = np.full(shape, np.nan)
        for rank in range(RANKS):
            with np.load(self.folder / f"{name}-{rank}.npz") as part:
                whole[np.ix_(part["rows"], part["columns"])] = part["part"]
        return whole

    def compare(self):
        """Of equal signs, all elements are equal but for rounding."""
        close = 1e-11
        load = {"product": {"C": "out.npy"}, "qr": {"Q": "out.npy", "R": "out-R.npy"}, "r": {"R": "out.npy"}}[self.what]
        ours = {key: np.load(self.folder / file) for key, file in load.items()}
        peers = {key: self.made_by_peer(key, array.shape) for key, array in ours.items()}
        if self.what != "product":
            signs = np.sign(np.diag(peers["R"]))
            peers = {key: array * (signs[:, None] if key == "R" else signs) for key, array in peers.items()}
        for key, array in ours.items():
            worst = abs(array - peers[key]).max() / abs(array).max()
            if not worst < close:
                sys.exit(f"{self.name}: {key} differs by {worst}")

    def measure(self, rounds):
        self.prepare()
        self.kasen()
        tried = {}
        for grid in GRIDS[self.what]:
            for block in BLOCKS[self.what]:
                if self.what != "product" or block < max(self.sizes):
                    tried[grid, block] = min(self.scalapack(grid, block, self.folder))
        self.compare()
        grid, block = min(tried, key=tried.get)
        for _ in range(rounds):
            self.times["kasen"].append(min(self.kasen()))
            self.times["scalapack"].append(min(self.scalapack(grid, block)))
        sizes = " x ".join(f"{size:,}" for size in self.sizes)
        print(f"{self.name}: {sizes}; ScaLAPACK on {grid[0]} x {grid[1]} in blocks of {block}")
        for who, times in self.times.items():
            print(f"  {who:<10} least {1e3 * min(times):8.1f} ms  median {1e3 * statistics.median(times):8.1f} ms")
        least, middle = (f(self.times["kasen"]) / f(self.times["scalapack"]) for f in (min, statistics.median))
        print(f"  kasen / scalapack: {least:.2f} of the least, {middle:.2f} of the medians", flush=True)


def main():
    parser = argparse.ArgumentParser(description="Products and tall QR on two ranks beside ScaLAPACK.")
    parser.add_argument("tools", type=pathlib.Path)
    parser.add_argument("--cases", default=",".join(CASES))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--turns", type=int, default=4)
    parser.add_argument("--folder", type=pathlib.Path)
    options = parser.parse_args()
    import ctypes
    try:
        ctypes.CDLL("libscalapack-openmpi.so.2.2", mode=ctypes.RTLD_GLOBAL)
    except OSError as error:
        print(f"missing: {error} (Debian: libscalapack-openmpi2.2)")
        return
    for name in options.cases.split(","):
        with tempfile.TemporaryDirectory(dir=options.folder) as folder:
            Case(options.tools.resolve(), pathlib.Path(folder), name, options.turns).measure(options.rounds)


if __name__ == "__main__":
    main()
