#!/usr/bin/env python3
"""Runs in less memory than their arrays take, beside the disk's own speed and beside NumPy over mapped files.

Usage: limited.py FOLDER_OF_TOOLS [--gigabytes N] [--folder DIR] [--repetitions R]

For each program, a quarter, half and all of the memory that it needs: the bits of the whole run (checked first), the
share of the disk's speed at which rows came, the most memory that the process held, predicted bytes, and the time that
`measure` predicts for this machine's profile (--machine). The disk is read past the system's cache before and behind each
run. Beside it, in the same memory (a control group; root alone): the same run without --memory, whose pages the system
takes away as it likes, with room to swap; and NumPy over numpy.memmap, block by block.
"""
import argparse
import filecmp
import json
import math
import mmap
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

import numpy

CHAIN = "dim N, F local\ninput X : f64[N, F]\nv : f64[F] = 1\nfor i in 0..3 { v = 1e-9 * (X' @ (X @ v)) }\noutput v\n"
LOGISTIC = """dim N, F local
input X : f64[N, F], y : f64[N]
target = if y > 0 then 1.0 else 0.0
w : f64[F] = 0
for turn in 0..3 { w = w - 1e-8 * (X' @ (1 / (1 + exp(-(X @ w))) - target)) }
output w
"""
IMPORT = f"import sys; sys.path.insert(0, {str(pathlib.Path(__file__).parent)!r}); import limited"
KMEANS = (pathlib.Path(__file__).parents[2] / "examples" / "kmeans.ks").read_text(encoding="utf-8")
KMEANS = KMEANS.replace("d = 2", "d = 5").replace("k = 3", "k = 8").replace("turns = 20", "turns = 3")
PAGERANK = (pathlib.Path(__file__).parents[2] / "examples" / "pagerank.ks").read_text(encoding="utf-8")
PAGERANK = PAGERANK.replace("theta = 1e-6", "theta = 1e2")
ALS = (pathlib.Path(__file__).parents[2] / "examples" / "als-dense.ks").read_text(encoding="utf-8")
ALS = ALS.replace("rounds = 10", "rounds = 2")
PRODUCT = "dim N, F local, M local\ninput X : f64[N, F], B : f64[F, M]\noutput C = X @ B, n = sumsq(X @ B)\n"
STEPS = 6


def recurrent():
    """A training step of a recurrent network, unrolled in time, over the cells of many sequences."""
    forward = "".join(f"h{t} = tanh(X @ U{t} + h{t - 1} @ W)\n" for t in range(1, STEPS + 1))
    back = f"e{STEPS} = h{STEPS} * (1 - h{STEPS} * h{STEPS})\n"
    back += "".join(f"e{t} = (e{t + 1} @ W') * (1 - h{t} * h{t})\n" for t in range(STEPS - 1, 0, -1))
    grads = " + ".join(f"h{t - 1}' @ e{t}" for t in range(1, STEPS + 1))
    inputs = ", ".join(f"U{t} : f64[F, H]" for t in range(1, STEPS + 1))
    return f"""dim N, F local, H local
input X : f64[N, F], W : f64[H, H], {inputs}
h0 = fill(0.0, N, H)
{forward}{back}output G = {grads}
"""


VALUES = "dim N\ninput x : f64[N]\na = exp(x)\nb = a / sum(a)\noutput c = sqrt(b) + a * 1e-3, s = sum(b * a)\n"


def numpy_chain(files, rows):
    x = numpy.load(files["X"], mmap_mode="r")
    v = numpy.ones(x.shape[1])
    for _ in range(3):
        g = numpy.zeros_like(v)
        for at in range(0, len(x), rows):
            block = x[at:at + rows]
            g += block.T @ (block @ v)
        v = 1e-9 * g
    return v


def numpy_logistic(files, rows):
    x, y = (numpy.load(files[name], mmap_mode="r") for name in ("X", "y"))
    w = numpy.zeros(x.shape[1])
    for _ in range(3):
        g = numpy.zeros_like(w)
        for at in range(0, len(x), rows):
            block, target = x[at:at + rows], (y[at:at + rows] > 0).astype(float)
            g += block.T @ (1 / (1 + numpy.exp(-(block @ w))) - target)
        w = w - 1e-8 * g
    return w


def disk_rate(path, most=1 << 30):
    """Bytes a second of a file that is read past the system's cache."""
    size, done = 4 << 20, 0
    buffer = mmap.mmap(-1, size)
    fd = os.open(path, os.O_RDONLY | os.O_DIRECT)
    began = time.perf_counter()
    while done < most:
        got = os.preadv(fd, [buffer], done)
        if got <= 0:
            break
        done += got
    os.close(fd)
    return done / (time.perf_counter() - began)


def make(folder, gigabytes):
    numbers, n = numpy.random.default_rng(1), int(gigabytes * 1e9 / 8)
    for name, shape in (("X", (n // 50, 50)), ("y", (n // 50,)), ("P", (n // 5, 5)), ("x", (n // 2,))):
        array = numpy.lib.format.open_memmap(pathlib.Path(folder) / f"{name}.npy", mode="w+", dtype="f8", shape=shape)
        for at in range(0, len(array), 1 << 17):
            array[at:at + (1 << 17)] = numbers.normal(size=array[at:at + (1 << 17)].shape)
        array.flush()
    small = {"B": (50, 40), "W": (32, 32), **{f"U{t}": (50, 32) for t in range(1, STEPS + 1)}}
    for name, shape in small.items():
        numpy.save(pathlib.Path(folder) / f"{name}.npy", 0.1 * numbers.normal(size=shape))


def forget(path):
    """Takes a file out of the system's cache."""
    fd = os.open(path, os.O_RDONLY)
    os.fsync(fd)
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(fd)


class Group:
    """A control group with a limit of memory; None where that cannot be made."""
    def __init__(self, limit):
        self.path = pathlib.Path("/sys/fs/cgroup/memory/kasen_bench")
        try:
            self.path.mkdir(exist_ok=True)
            (self.path / "memory.limit_in_bytes").write_text(str(limit))
            self.made = True
        except OSError:
            self.made = False

    def enter(self):
        (self.path / "cgroup.procs").write_text(str(os.getpid()))

    def close(self):
        if self.made:
            for _ in range(50):
                try:
                    return self.path.rmdir()
                except OSError:
                    time.sleep(0.1)


# A command that does not see the limits of its groups, so that it does not refuse what would have to be swapped.
UNAWARE = ["unshare", "--mount", "sh", "-c", 'umount --recursive /sys/fs/cgroup && exec "$@"', "-"]


class Bench:
    def __init__(self, tools, folder, repetitions, machine):
        self.tools, self.dir, self.repetitions, self.machine = tools, folder, repetitions, machine

    def kasen(self, *args):
        done = subprocess.run([self.tools / "kasen", *map(str, args)], cwd=self.dir, text=True, capture_output=True, check=False)
        return done.returncode, done.stdout + done.stderr

    def must(self, *args):
        code, text = self.kasen(*args)
        if code != 0:
            sys.exit(f"kasen {args}: {code}\n{text}")
        return text

    def command(self, memory, ranks=1):
        tool = [self.tools / "kasen-run"] if ranks == 1 else [self.tools / "kasen", "run", "-n", str(ranks)]
        command = [*tool, "f.kir", "--bundle", "b", "-o", "part.h5", "--stats", "s.json"]
        return command + (["--memory", str(memory)] if memory else [])

    def run(self, memory, ranks=1):
        command = self.command(memory, ranks)
        process = subprocess.Popen(command, cwd=self.dir, stdout=subprocess.DEVNULL)
        _, code, usage = os.wait4(process.pid, 0)
        process.returncode = code
        if code != 0:
            sys.exit(f"{command}: {code}")
        report = json.loads((self.dir / "s.json").read_text())
        moved = [sum(op.get(key, 0) for op in report["operators"]) for key in ("disk_read_bytes", "disk_written_bytes")]
        return report["seconds"], usage.ru_maxrss * 1024, moved

    def program(self, name, text, files, beside=None, ranks=1):
        (self.dir / "p.ks").write_text(text)
        self.must("plan", "p.ks", "-o", "p.kir")
        self.must("partition", "--program", "p.kir", *[f"{k}={v}" for k, v in files.items()], "-o", "b", "--references", "--replace", "--workers", ranks)
        self.must("fuse", "p.kir", "-o", "f.kir")
        whole = self.run(0, ranks)
        (self.dir / "part.h5").rename(self.dir / "whole.h5")
        refused = subprocess.run(self.command(1, ranks), cwd=self.dir, text=True, capture_output=True, check=False).stderr
        least = int(re.search(r"needs (\d+) bytes", refused)[1])
        parts = json.loads((self.dir / "s.json").read_text())["parts"]
        needs = sum(value for part in parts for key, value in part.items() if key.endswith("_bytes")) // ranks
        print(f"\n{name}: {needs / 1e9:.2f} GB in memory, {least / 1e6:.0f} MB at least; whole run {whole[0]:.2f} s")
        for share in (0.25, 0.5, 1):
            memory = max(least, int(share * needs))
            best = None
            for _ in range(self.repetitions):
                before = disk_rate(self.dir / next(iter(files.values())))
                seconds, held, (read, written) = self.run(memory, ranks)
                rate = (before + disk_rate(self.dir / next(iter(files.values())))) / 2
                if not filecmp.cmp(self.dir / "part.h5", self.dir / "whole.h5", shallow=False):
                    sys.exit(f"{name}: other bits in {memory} bytes")
                if best is None or seconds < best[0]:
                    best = (seconds, held, rate)
                    (self.dir / "s.json").rename(self.dir / "best.json")
            seconds, held, rate = best
            text = self.must("measure", "f.kir", "--bundle", "b", "--memory", memory, "--against", "best.json", "--check", *self.profile(rate))
            predicted = re.search(r"time of the run with its disk: .*", text)
            moved = (read + written) / seconds
            print(f"  {share:4.0%} ({memory / 1e6:6.0f} MB): {seconds:6.2f} s, read {read / 1e9:.2f} GB, written {written / 1e9:.2f} GB, "
                  f"{moved / 1e9:.2f} GB/s = {moved / rate:.2f} of the disk's {rate / 1e9:.2f}; held {held / 1e6:.0f} MB")
            if predicted:
                print(f"        {predicted[0]}")
            if share < 1 and ranks == 1:
                self.paged(files, memory)
            if beside and share < 1:
                self.beside(beside, files, memory)

    def profile(self, rate):
        """The machine's profile, with the rate at which the disk was read around the run."""
        if not self.machine:
            return []
        lines = [f"disk_read_bandwidth: {rate:.0f}" if line.startswith("disk_read_bandwidth") else line
                 for line in self.machine.read_text().splitlines()]
        (self.dir / "now.yaml").write_text("\n".join(lines) + "\n")
        return ["--machine", "now.yaml"]

    def paged(self, files, memory):
        """The run without a limit of its own, in a group that has one, and as much room to swap as it may want."""
        group, swap = Group(memory + (24 << 20)), self.dir / "swap"
        if not group.made:
            return
        try:
            for file in files.values():
                forget(self.dir / file)
            subprocess.run(["fallocate", "-l", "6G", swap], check=True)
            swap.chmod(0o600)
            subprocess.run(["mkswap", swap], check=True, capture_output=True)
            if subprocess.run(["swapon", swap], check=False, capture_output=True).returncode != 0:
                return
            (self.dir / "s.json").unlink(missing_ok=True)
            done = subprocess.run([*UNAWARE, *self.command(0)], cwd=self.dir, capture_output=True, check=False, preexec_fn=group.enter, timeout=600)
            said = f"{json.loads((self.dir / 's.json').read_text())['seconds']:.2f} s" if done.returncode == 0 else f"ends with {done.returncode}"
            print(f"        without --memory, its pages taken by the system: {said}")
        except subprocess.TimeoutExpired:
            print("        without --memory, its pages taken by the system: more than 600 s")
        finally:
            subprocess.run(["swapoff", swap], check=False, capture_output=True)
            swap.unlink(missing_ok=True)
            group.close()

    def beside(self, function, files, memory):
        group = Group(memory + (60 << 20))  # and what Python takes
        if not group.made:
            return
        try:
            for file in files.values():
                forget(self.dir / file)
            script = f"{IMPORT}; import time; t = time.perf_counter(); limited.{function.__name__}({files!r}, 20000); print(time.perf_counter() - t)"
            done = subprocess.run([sys.executable, "-c", script], cwd=self.dir, text=True, capture_output=True, check=False, preexec_fn=group.enter)
            print(f"        NumPy over mapped files in the same memory: {done.stdout.strip()[:6] or done.stderr.strip()[-80:]} s")
        finally:
            group.close()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tools", type=pathlib.Path)
    parser.add_argument("--gigabytes", type=float, default=2)
    parser.add_argument("--folder", default="/var/tmp")
    parser.add_argument("--repetitions", type=int, default=2)
    parser.add_argument("--machine", type=pathlib.Path, help="a profile, as kasen calibrate writes it")
    parser.add_argument("--only", default="", help="programs whose name has this")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        machine = given.machine.resolve() if given.machine else None
        bench = Bench(given.tools.resolve(), pathlib.Path(folder), given.repetitions, machine)
        # Elsewhere: the system counts what this process holds as held by those that it starts.
        subprocess.run([sys.executable, "-c", f"{IMPORT}; limited.make({folder!r}, {given.gigabytes})"], check=True)
        scale = round(22 + math.log2(given.gigabytes))  # 16 edges a vertex
        steps = {name: f"{name}.npy" for name in ("X", "W", *(f"U{t}" for t in range(1, STEPS + 1)))}
        programs = [
            ("X'(Xv), 3 iterations", CHAIN, {"X": "X.npy"}, numpy_chain),
            ("logistic regression, 3 iterations", LOGISTIC, {"X": "X.npy", "y": "y.npy"}, numpy_logistic),
            ("K-means, 8 centres in 5 dimensions, 3 iterations", KMEANS, {"X": "P.npy"}),
            ("values that the run makes", VALUES, {"x": "x.npy"}),
            ("ALS, 10 factors, 2 rounds", ALS, {"X": "X.npy"}),
            ("a recurrent network's step", recurrent(), steps),
            ("a product on two ranks", PRODUCT, {"X": "X.npy", "B": "B.npy"}, None, 2),
            ("PageRank", PAGERANK, {"G": "G.npy"}),
        ]
        for name, *program in programs:
            if given.only not in name:
                continue
            if name == "PageRank":
                bench.must("generate", "rmat", "--scale", scale, "-o", "G.npy")
            bench.program(name, *program)


if __name__ == "__main__":
    main()
