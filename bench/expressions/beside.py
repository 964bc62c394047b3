#!/usr/bin/env python3
"""Expressions of fused operators on large matrices, beside NumPy and SciPy and the least time that memory takes.

Usage: beside.py FOLDER_OF_TOOLS [--sizes 1000000x100,10000000x10] [--turns 5] [--machine FILE.yaml] [--only TEXT]
                 [--hand PROGRAM] [--fusion cost|greedy]

Every case runs over all cores, as the cheapest selection of fusion plans or greedy fusion has it. NumPy compares the results before
anything is timed; then both take turns. The medians are printed, and the time to read all inputs and to write all outputs once
at the rates of the machine's profile, which is measured first unless it is given. Neither reads a file in its time: Kasen's is
that of further turns of a loop, whose plan may not move work out of it, and NumPy's that of a second turn. Then comes Kasen's
time over that of X v of the same matrix. Sparse matrices store one entry in a hundred. With PROGRAM (bench/kasen-bench-entries)
the cases over sparse rows are timed as loops by hand, too, whose numbers are compared before. A process takes at most 5 GB with
1000000x100.
"""
import argparse
import json
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

import numpy as np

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from cases import CASES, DIMS, FACTORS, program  # noqa: E402
from counted import uniform  # noqa: E402

PYTHON, HERE = "/usr/bin/python3", pathlib.Path(__file__).resolve().parent
REFUSED = 65   # the status of a program that is refused
STORED = 0.01
MORE = 8       # turns of a run beyond the first ones
# These would compute what is equal in all turns once, or need a mesh.
LEFT_OUT = {"loop-invariant", "speculate-branch", "speculate", "pipeline", "spread", "tile", "product-order", "swap", "fuse-vector"}
DEGREE = 16    # of the graph whose triangles are counted, with a node for each 100 rows of X


class Bench:
    def __init__(self, tools, folder, rows, columns, rates, hand=None, fusion="cost"):
        self.tools, self.folder, self.rates, self.by_hand = tools, folder, rates, hand
        self.sizes = {"N": rows, "F": columns, "K": FACTORS}
        self.entries = {}  # of sparse matrices
        listed = self.done("fuse", "--list-passes").split("steps:")[0]
        self.fusion = fusion
        self.passes = ",".join(name for name in re.findall(r"^([a-z]\S*)", listed, re.MULTILINE)[1:] if name not in LEFT_OUT)

    def kasen(self, *words):
        return subprocess.run([self.tools / "kasen", *map(str, words)], cwd=self.folder, capture_output=True, text=True, check=False)

    def done(self, *words):
        done = self.kasen(*words)
        if done.returncode:
            raise SystemExit(f"kasen {' '.join(map(str, words))}: {done.stderr}")
        return done.stdout

    # ---- data

    def array(self, name, stream):
        shape = [self.sizes[dim] for dim in DIMS[name]]
        out = np.lib.format.open_memmap(self.folder / f"{name}.npy", "w+", shape=tuple(shape))
        flat, some = out.reshape(-1), 1 << 22
        for first in range(0, flat.size, some):
            flat[first:first + some] = uniform(stream, first, min(some, flat.size - first))
        out.flush()

    def dense(self):
        for stream, name in enumerate("XPYvwUV"):
            self.array(name, stream)

    def sparse(self):
        """X with an entry in a hundred, as text for Kasen and as SciPy keeps it; the graph G."""
        import scipy.sparse
        rows, columns = self.sizes["N"], self.sizes["F"]
        some, at = 1 << 22, []
        for first in range(0, rows * columns, some):
            at.append(first + np.flatnonzero(uniform(20, first, min(some, rows * columns - first)) < STORED))
        at = np.concatenate(at)
        self.stored("X", scipy.sparse.csr_matrix((1 + uniform(21, 0, at.size), np.divmod(at, columns)), shape=(rows, columns)))
        nodes = rows // 100
        ends = (uniform(22, 0, nodes * DEGREE) * nodes).astype(np.int64).reshape(2, -1)
        ends = ends[:, ends[0] != ends[1]]
        one = scipy.sparse.csr_matrix((np.ones(ends.shape[1]), ends), shape=(nodes, nodes))
        self.stored("G", ((one + one.T) > 0).astype(float))

    def stored(self, name, matrix):
        import scipy.sparse
        scipy.sparse.save_npz(self.folder / f"{name}.npz", matrix, compressed=False)
        if self.by_hand and name == "X":
            for part, numbers in (("pointers", matrix.indptr.astype(np.int64)), ("columns", matrix.indices.astype(np.int32)),
                                  ("values", matrix.data)):
                numbers.tofile(self.folder / f"{part}.bin")
        entries = matrix.tocoo()
        with open(self.folder / f"{name}.mtx", "w", encoding="ascii") as out:
            out.write(f"%%MatrixMarket matrix coordinate real general\n{matrix.shape[0]} {matrix.shape[1]} {matrix.nnz}\n")
            np.savetxt(out, np.column_stack([entries.row + 1, entries.col + 1, entries.data]), fmt=["%d", "%d", "%.17g"])
        self.entries[name] = matrix.nnz

    # ---- one case

    def plan(self, case, form):
        """Nothing where the program is refused, and then why."""
        (self.folder / "p.ks").write_text(program(case, form))
        planned = self.kasen("plan", "p.ks", "-o", "p.kir")
        if planned.returncode == REFUSED:
            return re.search("error: ([^;\n]*)", planned.stderr)[1]
        files = [f"{name}={name}.{'mtx' if form == 'sparse' and name in 'XG' else 'npy'}" for name in case.inputs]
        self.done("partition", "--program", "p.kir", *files, "--workers", 1, "--method", "block", "-o", "bundle", "--replace")
        self.done("fuse", "p.kir", "--passes", self.passes, "--strategy", self.fusion, "--bundle", "bundle", "-o", "f.kir")
        return None

    def run(self, turns=1):
        """Seconds of each turn behind the first two, which touch memory that is new."""
        self.done("run", "f.kir", "--bundle", "bundle", "-D", f"turns={turns}", "-o", "r.h5", "--stats", "run.json")
        ends = [end for _, _, end in json.loads((self.folder / "run.json").read_text())["loops"][0]["turns"]]
        return [end - begin for begin, end in zip(ends[1:], ends[2:])]

    def peer(self, case, form, *result):
        command = [PYTHON, HERE / "peer.py", self.folder, str(CASES.index(case)), form, *result]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(done.stderr)
        return float(done.stdout)

    def hand(self, case, form):
        """Seconds of the loop by hand, whose numbers are compared with Kasen's last ones; nothing where there is none."""
        if not self.by_hand or form != "sparse" or "X" not in case.inputs:
            return None
        done = subprocess.run([self.by_hand, self.folder, case.name, "21", self.folder / "hand.bin"], capture_output=True, text=True,
                              check=False)
        if done.returncode:
            raise SystemExit(done.stderr)
        import h5py
        with h5py.File(self.folder / "r.h5") as file:
            wanted = np.concatenate([np.ravel(file[f"e{i}"][()]) for i in range(len(case.gives))])
        if not np.allclose(np.fromfile(self.folder / "hand.bin"), wanted, rtol=1e-9, atol=1e-9 * np.abs(wanted).max()):
            raise SystemExit(f"{case.name} by hand has other numbers than Kasen")
        return float(done.stdout)

    def least(self, case, form):
        """Seconds in which memory hands over all inputs and takes all outputs."""
        read = sum(12 * self.entries[name] if name in self.entries else 8 * self.count(DIMS[name]) for name in case.inputs)
        written = sum(8 * self.count(dims) for dims in case.gives)
        return read / self.rates["memory_bandwidth"] + written / self.rates["write_bandwidth"]

    def count(self, dims):
        return np.prod([float(self.sizes[dim]) for dim in dims])

    def row(self, case, form, turns):
        refused = self.plan(case, form)
        if refused:
            return f"refused: {refused}"
        self.run()
        self.peer(case, form, self.folder / "r.h5")
        ours, theirs, hands = [], [], []
        for _ in range(turns):
            ours.extend(self.run(2 + MORE))
            theirs.append(self.peer(case, form))
            hands.append(self.hand(case, form))
        by_hand = None if hands[0] is None else statistics.median(hands)
        return statistics.median(ours), statistics.median(theirs), self.least(case, form), by_hand


def rates_of(tools, path, folder):
    if path is None:
        path = folder / "machine.yaml"
        subprocess.run([tools / "kasen", "measure", "--calibrate", "-o", path], check=True, capture_output=True)
    rates = {key: float(value) for key, value in re.findall(r"^(\w+_bandwidth): ([\d.e+-]+)", path.read_text(), re.MULTILINE)}
    rates["write_bandwidth"] = rates.get("write_bandwidth") or rates["memory_bandwidth"]
    return rates


def compare(bench, form, turns, only):
    (bench.dense if form == "dense" else bench.sparse)()
    if form == "sparse":
        for stream, name in enumerate("vwUV"):
            bench.array(name, stream)
    print(f"{bench.sizes['N']} x {bench.sizes['F']}, {form}\n{'':20}{'kasen, ms':>11}{'NumPy, ms':>11}{'least, ms':>11}"
          f"{'of NumPy':>10}{'of least':>10}{'of X v':>8}"
          + f"{'by hand, ms':>13}{'of hand':>9}" * (bench.by_hand is not None and form == "sparse"), flush=True)
    rows = {}
    for case in CASES:
        if getattr(case, form) is not None and (only is None or only in case.name or case.name == "X v"):
            rows[case.name] = bench.row(case, form, turns)
    for name, row in rows.items():
        if isinstance(row, str):
            print(f"{name:20}{row}")
            continue
        ours, theirs, least, hand = row
        print(f"{name:20}{ours * 1e3:11.2f}{theirs * 1e3:11.2f}{least * 1e3:11.2f}{ours / theirs:10.2f}{ours / least:10.2f}"
              f"{ours / rows['X v'][0]:8.2f}" + ("" if hand is None else f"{hand * 1e3:13.2f}{ours / hand:9.2f}"), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("tools", type=lambda text: pathlib.Path(text).resolve())
    parser.add_argument("--sizes", default="1000000x100,10000000x10")
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--machine", type=pathlib.Path)
    parser.add_argument("--only")
    parser.add_argument("--hand", type=lambda text: pathlib.Path(text).resolve())
    parser.add_argument("--fusion", choices=["cost", "greedy"], default="cost")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        rates = rates_of(asked.tools, asked.machine, folder)
        for size in asked.sizes.split(","):
            rows, columns = map(int, size.split("x"))
            for form in ("dense", "sparse"):
                bench = Bench(asked.tools, folder, rows, columns, rates, asked.hand, asked.fusion)
                compare(bench, form, asked.turns, asked.only)


if __name__ == "__main__":
    main()
