#!/usr/bin/env python3
"""Programs that are not among the examples, each against an independent computation with NumPy.

Usage: programs_test.py FOLDER_OF_TOOLS SOURCE_ROOT [--all] [PROGRAM...]
The tables of programs are programs.py and examples.py.

Each program is planned, partitioned, fused, run with generated kernels and with the interpreter, on several threads and
ranks, and its counters are held against the prediction. The quick form takes one of the combinations, another for each
program, and in turn one number of threads, or all of them and ranks; --all takes all of them.
"""
import concurrent.futures
import os
import pathlib
import subprocess
import sys
import tempfile

import h5py
import numpy as np

sys.dont_write_bytecode = True  # the source tree stays as it is
import examples  # noqa: E402, F401
from programs import PROGRAMS  # noqa: E402

COMPILED = tempfile.TemporaryDirectory()  # nothing of the user's own cache
os.environ["XDG_CACHE_HOME"] = COMPILED.name
os.environ.setdefault("OMPI_MCA_mpi_yield_when_idle", "1")  # ranks that wait take no processor from the tests beside them
PARTITIONS = [(1, "block"), (3, "hybrid-cut"), (5, "block"), (3, "block"), (5, "hybrid-cut"), (4, "ml")]
FUSES = [["--sync", sync, "--strategy", strategy] for strategy in ("greedy", "none") for sync in ("hybrid", "lazy", "eager")]
FUSES.append(["--sync", "lazy", "--split", "off"])
FUSES += [["--sync", sync, "--epilogue", "on"] for sync in ("hybrid", "lazy")]
RUNS = [["--threads", "1"], ["--threads", "2"]]
INTERPRETER = ["--kernels", "interpreter"]
ROUNDED = 1e-9  # relative: sums in another order


class Failure(Exception):
    """What went wrong and how to see it again."""


class Harness:
    def __init__(self, tools, folder):
        self.tools = tools
        self.dir = pathlib.Path(folder)

    def kasen(self, *args):
        done = subprocess.run([self.tools / "kasen", *map(str, args)], cwd=self.dir, text=True, timeout=300,
                              capture_output=True, check=False)
        if done.returncode != 0:
            raise Failure(f"kasen {' '.join(map(str, args))}: status {done.returncode}\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
        return done.stdout + done.stderr

    def result(self, file):
        """{output: array, or a list of arrays for a tuple}"""
        found = {}
        with h5py.File(self.dir / file) as results:
            for name, what in results.items():
                found[name] = what[()] if isinstance(what, h5py.Dataset) else [what[str(i)][()] for i in range(len(what))]
        return found


def flat(value):
    return [np.asarray(v) for v in value] if isinstance(value, list) else [np.asarray(value)]


def difference(got, want, tolerance):
    """None, or what differs between two results."""
    for name in want:
        if name not in got:
            return f"output {name} is missing"
        pieces, wanted = flat(got[name]), flat(want[name])
        if len(pieces) != len(wanted):
            return f"{name} has {len(pieces)} components, not {len(wanted)}"
        for piece, expected in zip(pieces, wanted):
            if piece.shape != expected.shape:
                return f"{name} has shape {piece.shape}, not {expected.shape}"
            if piece.dtype.kind == "f":
                same = np.allclose(piece, expected, rtol=tolerance, atol=tolerance * scale(expected), equal_nan=True)
            else:
                same = np.array_equal(piece, expected)
            if not same:
                return f"{name} is\n{piece}\nnot\n{expected}"
    return None


def scale(expected):
    finite = expected[np.isfinite(expected)] if expected.size else expected
    return min(1.0, float(np.max(np.abs(finite)))) if finite.size else 1.0


def bits(result):
    return {name: [piece.tobytes() for piece in flat(value)] for name, value in result.items()}


def combinations(number, everything):
    """(partition, fuse options) pairs: all, or one over several workers, another for each program."""
    if everything:
        return [(partition, fuse) for partition in PARTITIONS for fuse in FUSES]
    several = PARTITIONS[1:]
    return [(several[number % len(several)], FUSES[2 * number % len(FUSES)])]


def ways_to_run(number, turn, workers, everything):
    """Generated kernels on threads and ranks, and the interpreter."""
    if not everything and number % 4:
        return [RUNS[number % 2], INTERPRETER]
    return [*RUNS, INTERPRETER] + ([["-n", min(2, workers)]] if turn % 3 == 0 else [])


def run_case(harness, number, program, everything):
    rng = np.random.default_rng(number + 17)
    files, want = program.make(rng)
    for name, text in files.items():
        path = harness.dir / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    (harness.dir / "program.ks").write_text(program.text)
    harness.kasen("plan", "program.ks", *program.plan, "-o", "plan.kir")
    made = set()
    for turn, ((workers, method), fuse) in enumerate(combinations(number, everything)):
        bundle = f"bundle-{workers}-{method}"
        if bundle not in made:
            inputs = [f"{name.split('.')[0]}={name}" if "=" not in name else name for name in (program.inputs or files)]
            harness.kasen("partition", "--program", "plan.kir", *inputs, "--workers", workers, "--method", method,
                          "--theta", 3, *program.partition, "-o", bundle, "--replace")
            made.add(bundle)
        check_plan(harness, program, want, bundle, fuse, ways_to_run(number, turn, workers, everything))


def check_plan(harness, program, want, bundle, fuse, runs):
    try:
        harness.kasen("fuse", "plan.kir", *fuse, "-o", "fused.kir")
        first = None
        for how in runs:
            harness.kasen("run", "fused.kir", "--bundle", bundle, *how, *program.run, "-o", "result.h5", "--stats", "run.json")
            got = harness.result("result.h5")
            wrong = difference(got, want, program.tolerance)
            if wrong:
                raise Failure(f"run {how}: {wrong}")
            if first is None:
                first = got
            elif how is not INTERPRETER and bits(got) != bits(first):
                raise Failure(f"run {how}: other bits than {runs[0]}")
            elif difference(got, first, 0 if program.exact else program.tolerance):
                raise Failure(f"run {how}: {difference(got, first, 0)}\n(generated kernels)")
            harness.kasen("measure", "fused.kir", "--bundle", bundle, "--against", "run.json", "--check")
    except Failure as failure:
        raise Failure(f"{bundle} fuse {' '.join(fuse)}: {failure}") from None


def main():
    tools = pathlib.Path(sys.argv[1]).resolve()
    options = sys.argv[3:]
    everything = "--all" in options
    chosen = [o for o in options if not o.startswith("--")]
    failed = []

    def attempt(numbered):
        number, program = numbered
        with tempfile.TemporaryDirectory() as folder:
            try:
                run_case(Harness(tools, folder), number, program, everything)
                print(f"ok      {program.name}", flush=True)
            except Failure as failure:
                failed.append(program.name)
                print(f"FAILED  {program.name}: {failure}", flush=True)

    table = [(number, program) for number, program in enumerate(PROGRAMS) if not chosen or program.name in chosen]
    if not table:
        print(f"no such program; there are {' '.join(p.name for p in PROGRAMS)}")
        return 1
    with concurrent.futures.ThreadPoolExecutor(max_workers=max(1, os.cpu_count() or 1)) as pool:
        list(pool.map(attempt, table))
    print(f"{len(failed)} programs failed: {' '.join(failed)}" if failed else "all programs agree")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
