#!/usr/bin/env python3
"""A run holds what kasen measure says before it: an array that all of 16 workers get whole, in one process.

Usage: held_test.py FOLDER_OF_TOOLS [unittest arguments]
"""
import array
import json
import os
import pathlib
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True  # the source tree stays as it is
from folders import FolderTest  # noqa: E402

TOOLS = pathlib.Path(sys.argv[1]).resolve()
WORKERS, ROWS, COLUMNS = 16, 16, 1_000_000
CONSTANT = 48 << 20  # the program, its libraries and stacks

PROGRAM = """dim N, M
input A : dense f64[N, M]
input x : f64[M]
y = A @ x
output y
"""


def write_npy(path, shape):
    """Numbers 0, 1, ... 96, 0, ... in rows."""
    head = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}"
    head = head.ljust(117) + "\n"
    row = array.array("d", [i % 97 for i in range(shape[-1])]).tobytes()
    with open(path, "wb") as out:
        out.write(b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head.encode())
        for _ in range(shape[0] if len(shape) > 1 else 1):
            out.write(row)


class Held(FolderTest):
    def tool(self, name, *args):
        done = subprocess.run([TOOLS / f"kasen-{name}", *args], cwd=self.dir, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def peak(self, *args):
        """The most memory that a run held at a time."""
        with open(os.devnull, "w") as nowhere:
            child = subprocess.Popen([TOOLS / "kasen-run", *args], cwd=self.dir, stdout=nowhere, stderr=nowhere)
            _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(child.returncode, 0)
        return usage.ru_maxrss * 1024

    def test_a_whole_array_on_sixteen_workers(self):
        write_npy(self.dir / "A.npy", (ROWS, COLUMNS))
        write_npy(self.dir / "x.npy", (COLUMNS,))
        (self.dir / "p.ks").write_text(PROGRAM)
        self.tool("plan", "p.ks", "-o", "p.kir")
        self.tool("partition", "--program", "p.kir", "A=A.npy", "x=x.npy", "--workers", str(WORKERS), "-o", "bundle")
        self.tool("fuse", "p.kir", "--bundle", "bundle", "-o", "fused.kir")
        report = json.loads(self.tool("measure", "fused.kir", "--bundle", "bundle", "--format", "json"))
        workers = report["memory"]["workers"]
        self.assertEqual(len(workers), WORKERS)
        said = sum(sum(bytes_ for key, bytes_ in worker.items() if key.endswith("_bytes")) for worker in workers)
        run = ["fused.kir", "--bundle", "bundle", "-o", "y.npy", "--format", "npy", "--code-cache", str(self.dir / "code")]
        self.peak(*run)  # compiles
        held = self.peak(*run, "--stats", "run.json")
        print(f"said {said / 1e6:.0f} MB, held {held / 1e6:.0f} MB", flush=True)
        self.assertGreater(said, 3 * 8 * WORKERS * COLUMNS)
        self.assertLess(held, 1.1 * said + CONSTANT)
        self.tool("measure", "fused.kir", "--bundle", "bundle", "--against", "run.json", "--check")
        want = float(sum((i % 97) ** 2 for i in range(COLUMNS)))
        numbers = array.array("d", (self.dir / "y.npy").read_bytes()[-8 * ROWS:])
        self.assertEqual(list(numbers), [want] * ROWS)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:], verbosity=2)
