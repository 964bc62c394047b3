#!/usr/bin/env python3
"""A product of two matrices over a mesh of 2x2 workers, as a whole and in regions of blocks, checked against NumPy.

Usage: blocks.py FOLDER_OF_TOOLS [--size N] [--repetitions R]

Prints the least seconds of the runs on one and two ranks, the bytes between workers, and the most memory of a worker.
Plans take turns.
"""
import argparse
import json
import os
import pathlib
import subprocess
import tempfile

import numpy

PROGRAM = "dim N, K, M\ninput A : dense f64[N, K], B : dense f64[K, M]\noutput C = A @ B\n"
PLANS = [("as a whole", [])] + [(f"{search}, {k}x{k} blocks", ["--spread", search, "--grid", f"A={k}x{k}", "--grid", f"B={k}x{k}"])
                                for search in ("owner", "lshs", "round-robin") for k in (2, 4, 8, 16)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("tools", type=pathlib.Path)
    parser.add_argument("--size", type=int, default=1600)
    parser.add_argument("--repetitions", type=int, default=5)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        measure(asked, pathlib.Path(folder))


def measure(asked, folder):
    environment = os.environ | {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}

    def kasen(*words):
        subprocess.run([asked.tools.resolve() / "kasen", *map(str, words)], cwd=folder, env=environment, check=True, capture_output=True)

    random = numpy.random.default_rng(1)
    a, b = random.random((2, asked.size, asked.size))
    numpy.save(folder / "A.npy", a)
    numpy.save(folder / "B.npy", b)
    (folder / "p.ks").write_text(PROGRAM)
    kasen("plan", "p.ks", "-o", "p.kir")
    kasen("partition", "--program", "p.kir", "A=A.npy", "B=B.npy", "--workers", 4, "-o", "bundle")
    for number, (_, options) in enumerate(PLANS):
        kasen("fuse", "p.kir", "--bundle", "bundle", "--mesh", "2x2", *options, "-o", f"{number}.kir")
    taken = {}
    for repetition in range(asked.repetitions):
        for number, (name, _) in enumerate(PLANS):
            for ranks in (1, 2):
                kasen("run", f"{number}.kir", "--bundle", "bundle", "-n", ranks, "-o", "c.npy", "--stats", "run.json")
                if repetition == 0 and not numpy.allclose(numpy.load(folder / "c.npy"), a @ b, rtol=1e-12):
                    raise SystemExit(f"{name}: another product")
                run = json.loads((folder / "run.json").read_text())
                memory = max(sum(part[f"{kind}_bytes"] for kind in ("buffer", "exchange", "matrix", "input")) for part in run["parts"])
                seconds = min(run["seconds"], taken.get((name, ranks), (float("inf"),))[0])
                taken[name, ranks] = (seconds, run["traffic"]["worker_bytes"], memory)
    print(f"{'plan':28}{'1 rank, s':>12}{'2 ranks, s':>12}{'MB moved':>10}{'MB a worker':>13}")
    for name, _ in PLANS:
        seconds, moved, memory = taken[name, 1]
        print(f"{name:28}{seconds:12.3f}{taken[name, 2][0]:12.3f}{moved / 1e6:10.1f}{memory / 1e6:13.1f}")


if __name__ == "__main__":
    main()
