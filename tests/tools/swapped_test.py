#!/usr/bin/env python3
"""Plans that store arrays on a disk and load them again (fuse --swap): the bits of the plan in memory, buffers within the
limit, and the bytes of the disk that were predicted.

Usage: swapped_test.py FOLDER_OF_TOOLS SOURCE_ROOT [unittest arguments]
"""
import json
import re
import shutil
import sys
import unittest

import numpy

sys.dont_write_bytecode = True  # the source tree stays as it is
from tools_test import BAD, CREATE, LIMIT, USAGE, ToolTest  # noqa: E402

GROUP = 8192  # elements that move together
THREE = """dim N
input x : f64[N]
a = exp(x)
b = tanh(x)
c = sin(x)
d = sqrt(b + c)
output e = d * a
"""
STEPS = 5
RESUMABLE = 75


def recurrent():
    """Training steps of a recurrent network, unrolled in time: each step's state is needed again on the way back."""
    forward = "".join(f"  h{t} = tanh(X{t} @ U + h{t - 1} @ W)\n" for t in range(1, STEPS + 1))
    back = f"  e{STEPS} = (h{STEPS} - Y) * (1 - h{STEPS} * h{STEPS})\n  gw = h{STEPS - 1}' @ e{STEPS}\n  gu = X{STEPS}' @ e{STEPS}\n"
    for t in range(STEPS - 1, 0, -1):
        back += f"  e{t} = (e{t + 1} @ W') * (1 - h{t} * h{t})\n  gw = gw + h{t - 1}' @ e{t}\n  gu = gu + X{t}' @ e{t}\n"
    inputs = ", ".join(f"X{t} : f64[B, F]" for t in range(1, STEPS + 1))
    return f"""dim B local, F local, H local
input {inputs}, Y : f64[B, H], U0 : f64[F, H], W0 : f64[H, H]
U = U0
W = W0
h0 : f64[B, H] = 0
for i in 0..3 {{
{forward}{back}  U = U - 0.001 * gu
  W = W - 0.001 * gw
}}
output U, W
"""


class Swapped(ToolTest):
    def setUp(self):
        super().setUp()
        self.random = numpy.random.default_rng(5)

    def plan(self, text, *data, workers=1):
        (self.dir / "p.ks").write_text(text)
        self.kasen("plan", "p.ks", "-o", "p.kir")
        self.kasen("partition", "--program", "p.kir", *data, "--workers", workers, "-o", "bundle", "--replace")

    def fuse(self, name, *more, status=0):
        return self.kasen("fuse", "p.kir", "--bundle", "bundle", "-o", name, *more, status=status)

    def run_it(self, plan, *more, status=0):
        """The bytes read from the disk and written to it, and those of the buffers of a worker."""
        self.kasen("run", plan, "--bundle", "bundle", "-o", f"{plan}.h5", "--stats", f"{plan}.json", *more, status=status)
        if status != 0:
            return None
        report = json.loads((self.dir / f"{plan}.json").read_text())
        disk = [sum(op.get(key, 0) for op in report["operators"]) for key in ("disk_read_bytes", "disk_written_bytes")]
        return (*disk, max(part["buffer_bytes"] for part in report["parts"]))

    def check(self, plan):
        out, _ = self.kasen("measure", plan, "--bundle", "bundle", "--against", f"{plan}.json", "--check")
        self.assertIn("agree to the byte", out)

    def same(self, plan, other="whole.kir"):
        self.assertEqual((self.dir / f"{plan}.h5").read_bytes(), (self.dir / f"{other}.h5").read_bytes())

    def test_one_of_three_moves(self):
        for workers, size in ((1, 3 * GROUP), (1, 3 * GROUP + 5), (2, 100_001)):
            numpy.save(self.dir / "x.npy", self.random.normal(size=size))
            self.plan(THREE, "x=x.npy", workers=workers)
            self.fuse("whole.kir", "--strategy", "none")
            read, written, pool = self.run_it("whole.kir")
            self.assertEqual((read, written), (0, 0))
            own = [size // workers + (w < size % workers) for w in range(workers)]
            moved = sum((n + GROUP - 1) // GROUP * GROUP * 8 for n in own)
            self.fuse("two.kir", "--strategy", "none", "--swap", "--memory", pool * 2 // 3 + 64)
            text = (self.dir / "two.kir").read_text()
            self.assertEqual((text.count("= store"), text.count("= load")), (1, 1))
            for threads in (1, 3):
                self.assertEqual(self.run_it("two.kir", "--threads", threads)[:2], (moved, moved))
                self.same("two.kir")
                self.check("two.kir")

    def test_training_in_a_part_of_the_memory(self):
        b, f, h = 120, 40, 300
        data = {f"X{t}": (b, f) for t in range(1, STEPS + 1)} | {"Y": (b, h), "U0": (f, h), "W0": (h, h)}
        for name, shape in data.items():
            numpy.save(self.dir / f"{name}.npy", 0.1 * self.random.normal(size=shape))
        self.plan(recurrent(), *(f"{name}={name}.npy" for name in data))
        self.fuse("whole.kir")
        pool = self.run_it("whole.kir")[2]
        least = int(re.search(r"and (\d+) are enough", self.fuse("no.kir", "--swap", "--memory", 1000, status=LIMIT)[1])[1])
        self.assertLess(least, pool // 2)
        moved = {}
        for memory in (pool, pool * 3 // 4, pool // 2, max(least, pool // 4)):
            self.fuse("part.kir", "--swap", "--memory", memory)
            for threads in (1, 3):
                read, _, held = self.run_it("part.kir", "--threads", threads)
                self.same("part.kir")
                self.check("part.kir")
                self.assertLessEqual(held, memory)
            moved[memory] = read
        self.assertEqual(moved[pool], 0)
        self.assertGreater(moved[pool // 2], moved[pool * 3 // 4])
        self.assertGreater(moved[pool * 3 // 4], 0)

    def test_a_fused_plan_gives_way(self):
        numpy.save(self.dir / "x.npy", self.random.normal(size=3 * GROUP))
        names = "abcd"
        begin = "".join(f"{v} = {f}(x)\n" for v, f in zip(names, ("exp", "tanh", "sin", "cos")))
        body = "".join(f"  {v} = {v} * 0.5 + sum({v}) * 0.001\n" for v in names)
        sums = " + ".join(f"sum({v})" for v in names)
        self.plan(f"dim N\ninput x : f64[N]\n{begin}for i in 0..3 {{\n{body}}}\noutput s = {sums}\n", "x=x.npy")
        self.fuse("whole.kir")
        pool = self.run_it("whole.kir")[2]
        self.assertIn("strategy=greedy", (self.dir / "whole.kir").read_text())
        self.fuse("half.kir", "--swap", "--memory", pool // 2)
        self.assertIn("strategy=none", (self.dir / "half.kir").read_text())
        read, _, held = self.run_it("half.kir")
        self.assertGreater(read, 0)
        self.assertLessEqual(held, pool // 2)
        self.same("half.kir")
        self.check("half.kir")

    def test_a_run_that_is_killed_goes_on(self):
        numpy.save(self.dir / "x.npy", self.random.normal(size=4 * GROUP + 3))
        names = "abcd"
        begin = "".join(f"{v} = {f}(x)\n" for v, f in zip(names, ("exp", "tanh", "sin", "cos")))
        body = "".join(f"  {v} = {v} * 0.5 + sum({v}) * 0.001\n" for v in names)
        for ranks, workers in ((1, 1), (2, 2), (2, 3)):
            self.plan(f"dim N\ninput x : f64[N]\n{begin}for i in 0..4 {{\n{body}}}\noutput a, s = sum(b) + sum(c) + sum(d)\n", "x=x.npy", workers=workers)
            self.fuse("whole.kir", "--strategy", "none")
            pool = self.run_it("whole.kir")[2]
            self.fuse("part.kir", "--strategy", "none", "--swap", "--memory", pool * 3 // 5)
            run = ["run", "part.kir", "--bundle", "bundle", "-o", "part.kir.h5", "-n", ranks, "--checkpoint", "saved", "--every", 1]
            self.kasen(*run, status=RESUMABLE, env={"KASEN_FAULT": "border:kill:3"})
            self.assertGreater(self.run_it("part.kir", "-n", ranks, "--checkpoint", "saved", "--resume")[1], 0)
            self.same("part.kir")
            shutil.rmtree(self.dir / "saved", ignore_errors=True)

    def test_why(self):
        numpy.save(self.dir / "x.npy", self.random.normal(size=2 * GROUP))
        self.plan(THREE, "x=x.npy")
        _, told = self.fuse("two.kir", "--strategy", "none", "--swap", "--memory", 2 * 2 * GROUP * 8, "--explain")
        self.assertRegex(told, r"store %a: 131072 bytes, 0\.\d+ ms, beside %b; %c needs the room")
        self.assertRegex(told, r"load %a: 131072 bytes, .*; %e reads it")
        self.assertIn("with 10 % more memory", told)

    def test_what_is_refused(self):
        numpy.save(self.dir / "x.npy", self.random.normal(size=2 * GROUP))
        self.plan(THREE, "x=x.npy")
        one = 2 * GROUP * 8
        self.assertIn("--swap without --memory", self.fuse("no.kir", "--swap", status=USAGE)[1])
        _, told = self.kasen("fuse", "p.kir", "-o", "no.kir", "--swap", "--memory", 100, status=USAGE)
        self.assertIn("--swap without sizes", told)
        _, told = self.fuse("no.kir", "--strategy", "none", "--swap", "--memory", one, status=LIMIT)
        self.assertRegex(told, rf"they take {3 * one}, and \d+ are enough")
        self.fuse("two.kir", "--strategy", "none", "--swap", "--memory", 2 * one)
        self.run_it("two.kir", "--spill", "nowhere", status=CREATE)
        text = (self.dir / "two.kir").read_text()
        (self.dir / "less.kir").write_text(text.replace(f"memory {2 * one}", f"memory {2 * one - 1}"))
        self.run_it("less.kir", status=LIMIT)
        (self.dir / "bad.kir").write_text(re.sub(r"load %a_d", "load %a", text))
        self.run_it("bad.kir", status=BAD)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
