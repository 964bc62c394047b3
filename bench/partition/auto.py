#!/usr/bin/env python3
"""What it takes to choose how a graph is cut: `kasen partition --method auto` beside each quick method.

Usage: auto.py FOLDER_OF_TOOLS GRAPH... [--workers P] [--repetitions R] [--program PLAN.kir]

A graph is a file, or rmat-20 and the like, which `kasen generate` makes. For each it prints the processor's time of a
partition by block, by hybrid-cut and by auto, of which each is the median of interleaved processes; the ratio of auto to
the method that it chose, and to the cheapest one. Exit status 1: one of the first ratios is over 1.3.
"""
import argparse
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

METHODS = ["block", "hybrid-cut", "auto"]
LIMIT = 1.3


def partition(options, graph, method, folder):
    """Seconds of the processor, and what the process told."""
    command = [f"{options.tools}/kasen-partition", graph, "--workers", str(options.workers), "--method", method, "--replace",
               "--no-sync", "-o", f"{folder}/bundle"]
    if options.program:
        command += ["--program", options.program]
    with open(f"{folder}/told", "w+") as told:
        child = subprocess.Popen(command, stdout=told, stderr=told)
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        told.seek(0)
        text = told.read()
    if child.returncode != 0:
        sys.exit(f"{' '.join(command)}: {text}")
    return used.ru_utime + used.ru_stime, text


def file_of(options, graph, folder):
    scale = re.fullmatch(r"rmat-(\d+)", graph)
    if not scale:
        return graph
    path = f"{folder}/{graph}.npy"
    subprocess.run([f"{options.tools}/kasen", "generate", "rmat", "--scale", scale[1], "-o", path, "-q"], check=True)
    return path


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tools")
    parser.add_argument("graphs", nargs="+")
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--program")
    options = parser.parse_args()
    good = True
    with tempfile.TemporaryDirectory() as folder:
        for graph in options.graphs:
            path = file_of(options, graph, folder)
            times = {method: [] for method in METHODS}
            for _ in range(options.repetitions):
                for method in METHODS:
                    seconds, text = partition(options, path, method, folder)
                    times[method].append(seconds)
            chosen = re.search(r"method: ([a-z-]+) \(auto", text)[1]
            median = {method: statistics.median(of) for method, of in times.items()}
            over_chosen, over_least = median["auto"] / median.get(chosen, median["auto"]), median["auto"] / min(median.values())
            good = good and over_chosen <= LIMIT
            told = ", ".join(f"{method} {seconds:.3f} s" for method, seconds in median.items())
            print(f"{pathlib.Path(graph).name}, {options.workers} workers: {told}: {chosen}; {over_chosen:.2f} times it, "
                  f"{over_least:.2f} times the cheapest", flush=True)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
