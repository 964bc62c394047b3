#!/usr/bin/env python3
"""What is told of regions of blocks: tasks, loads, times and counters, beside the same rules written again here.

Usage: region_tasks_test.py FOLDER_OF_TOOLS SOURCE_ROOT [unittest arguments]
"""
import collections
import csv
import io
import itertools
import json
import re
import sys
import unittest
import xml.etree.ElementTree as ElementTree

import numpy

sys.dont_write_bytecode = True  # the source tree stays as it is
from tools_test import BAD, LIMIT, ROOT, USAGE, ToolTest  # noqa: E402

PRODUCT = "dim N, K, M\ninput A : dense f64[N, K], B : dense f64[K, M]\nP = A @ B\noutput P\n"
SIZES = {"N": 23, "K": 17, "M": 10}
MIXED = """dim N, K, M
input A : dense f64[N, K], B : dense f64[K, M], C : dense f64[N, M]
P = A @ B
D = tanh(P * 0.1) + C
output D, s = sum(D, over N), t = sum(A)
"""
# Between the regions stands a sort, which works on no blocks.
TWO = """dim N, M
input A : dense f64[N, N], B : dense f64[N, M]
P = A @ B
Q = sort(P, over N)
R = A @ Q
S = sort(R, over N)
output T = A @ S
"""


def blocks(size, parts):
    """As NumPy splits arrays: the first ones are longer."""
    borders = numpy.cumsum([0] + [len(some) for some in numpy.array_split(range(size), parts)]).tolist()
    return list(zip(borders, borders[1:]))


def runs(size, parts):
    """Of owners: the borders are rounded up."""
    borders = [-(-size * i // parts) for i in range(parts + 1)]
    return list(zip(borders, borders[1:]))


def numbers(text):
    """[0, 1*3, 2]"""
    found = []
    for part in text.split(", "):
        number, _, times = part.partition("*")
        found += [int(number)] * int(times or 1)
    return found


def overlap(a, b):
    """Elements of two boxes."""
    count = 1
    for (first, last), (other, end) in zip(a, b):
        count *= max(0, min(last, end) - max(first, other))
    return count


class ProductReplay:
    """The region of P = A @ B over a mesh of 2 x 2, read from the text of the plan alone: who sends whom how much."""

    def __init__(self, text):
        counts = {name: int(count) for name, count in re.findall(r"(\w) (\d+)", re.search(r"region blocks\[([^]]*)\]", text)[1])}
        self.grid = {name: blocks(SIZES[name], counts[name]) for name in SIZES}
        self.owned = {array: self.boxes(re.search(rf"%{array} = input \"{array}\" : f64\[([^]]*)\]", text)[1]) for array in "AB"}
        self.owned["P"] = self.boxes(re.search(r"region blocks.*\) : f64\[([^]]*)\]", text)[1])
        self.on = numbers(re.search(r"%P_b = .* on \[([^]]*)\]", text)[1])
        self.tree = [tuple(map(int, add)) for add in re.findall(r"\((\d+), (\d+), (\d+)\)", re.search(r"tree \[(.*?)\]", text)[1])]
        self.sent, self.received = [0] * 4, [0] * 4
        self.moved = collections.Counter()  # elements by (from, to)
        self.tasks = []  # of contributions and additions: (worker, block)
        self.replay()

    def boxes(self, dims):
        """By worker (i, j), which is number 2 i + j."""
        found = []
        for place in itertools.product(range(2), range(2)):
            box = []
            for dim in dims.split(","):
                name, _, axes = dim.strip().partition("/")
                parts, own = 1, 0
                for axis in axes:
                    parts, own = parts * 2, own * 2 + place["ab".index(axis)]
                box.append(runs(SIZES[name], parts)[own])
            found.append(box)
        return found

    def send(self, giver, taker, elements):
        if giver == taker or elements == 0:
            return
        self.sent[giver] += 8 * elements
        self.received[taker] += 8 * elements
        self.moved[giver, taker] += elements

    def bring(self, array, block, worker):
        """A block of an input, from the owners of its elements, once."""
        key = (array, tuple(block), worker)
        if key in self.there:
            return
        self.there.add(key)
        for owner, box in enumerate(self.owned[array]):
            self.send(owner, worker, overlap(box, block))

    def replay(self):
        self.there, each = set(), len(self.grid["K"])
        on, tree = iter(self.on), iter(self.tree)
        for rows, columns in itertools.product(self.grid["N"], self.grid["M"]):
            elements = (rows[1] - rows[0]) * (columns[1] - columns[0])
            parts = []
            for middle in self.grid["K"]:
                worker = next(on)
                self.bring("A", (rows, middle), worker)
                self.bring("B", (middle, columns), worker)
                parts.append({worker})
                self.tasks.append((worker, elements, middle[1] - middle[0]))
            makers = [min(part) for part in parts]
            for _ in range(each - 1):
                left, right, worker = next(tree)
                for operand in (left, right):
                    if worker not in parts[operand]:
                        self.send(makers[operand], worker, elements)
                        parts[operand].add(worker)
                parts.append({worker})
                makers.append(worker)
                self.tasks.append((worker, elements, 0))
            for owner, box in enumerate(self.owned["P"]):
                self.send(makers[-1], owner, overlap(box, (rows, columns)))


class RegionTest(ToolTest):
    def setUp(self):
        super().setUp()
        random = numpy.random.default_rng(11)
        self.arrays = {"A": random.normal(size=(23, 17)), "B": random.normal(size=(17, 10)), "C": random.normal(size=(23, 10))}

    def plan(self, program, *options, mesh="2x2", spread="lshs"):
        (self.dir / "p.ks").write_text(program)
        self.kasen("plan", "p.ks", "-o", "p.kir")
        names = [name for name in self.arrays if re.search(rf"[ ,]{name} : dense", program)]
        for name in names:
            numpy.save(self.dir / f"{name}.npy", self.arrays[name])
        self.kasen("partition", "--replace", "--program", "p.kir", *(f"{name}={name}.npy" for name in names), "--workers", 2, "-o", "bundle")
        self.kasen("fuse", "p.kir", "--bundle", "bundle", "--mesh", mesh, "--spread", spread, "-o", "plan.kir", *options)
        return (self.dir / "plan.kir").read_text()

    def run_plan(self, *options):
        self.kasen("run", "plan.kir", "--bundle", "bundle", "-o", "out.npy", "--stats", "run.json", *options)
        return json.loads((self.dir / "run.json").read_text())

    def check(self, status=0):
        out, _ = self.kasen("measure", "plan.kir", "--bundle", "bundle", "--against", "run.json", "--check", "--format", "json", status=status)
        return json.loads(out)

    def told(self, *options):
        out, _ = self.kasen("measure", "plan.kir", "--bundle", "bundle", "--tasks", "--format", "json", *options)
        return json.loads(out)["regions"]


class WorkerCounters(RegionTest):
    """What each worker sends and receives: counted, predicted, and by the plan's text."""

    def workers(self, check):
        found = {"sent": [], "received": []}
        for number, row in enumerate(check["workers"]):
            count = len(check["workers"]) // 2
            way = re.fullmatch(rf"worker {number % count}: network bytes (\w+)", row["what"])[1]
            found[way].append((row["predicted"], row["counted"]))
        return found

    def test_products(self):
        for spread, grid in (("lshs", "A=4x4"), ("round-robin", "A=5x3"), ("owner", "A=2x8")):
            text = self.plan(PRODUCT, "--grid", grid, spread=spread)
            replay = ProductReplay(text)
            for ranks in ([], ["-n", 2]):
                with self.subTest(spread=spread, ranks=ranks):
                    counted = self.run_plan(*ranks)
                    self.assertEqual([part["sent_bytes"] for part in counted["parts"]], replay.sent)
                    self.assertEqual([part["received_bytes"] for part in counted["parts"]], replay.received)
                    workers = self.workers(self.check())
                    self.assertEqual(workers, {"sent": [(n, n) for n in replay.sent], "received": [(n, n) for n in replay.received]})
                    self.assertGreater(sum(replay.sent), 0)

    def test_other_plans(self):
        """Cuts and relayouts, shareds in trees, and ghosts of a sparse matrix: sums are those of all traffic."""
        self.plan(MIXED)
        for plan in ("mesh", "sparse"):
            if plan == "sparse":
                self.kasen("plan", ROOT / "examples/pagerank.ks", "-o", "p.kir")
                self.kasen("partition", "--replace", "--program", "p.kir", "G=graph.txt", "--workers", 4, "-o", "bundle")
                self.kasen("fuse", "p.kir", "-o", "plan.kir")
            else:
                self.kasen("fuse", "p.kir", "--bundle", "bundle", "--mesh", "2x2", "-o", "plan.kir")
            for ranks in ([], ["-n", 2], ["-n", 3]):
                with self.subTest(plan=plan, ranks=ranks):
                    counted = self.run_plan(*ranks)
                    for way in ("sent_bytes", "received_bytes"):
                        self.assertEqual(sum(part[way] for part in counted["parts"]), counted["traffic"]["worker_bytes"])
                    workers = self.workers(self.check())
                    self.assertEqual(len(workers["sent"]), 4)
                    self.assertTrue(all(predicted == found for predicted, found in workers["sent"] + workers["received"]))
                    self.assertGreater(max(workers["received"]), (0, 0))

    def test_wrong_and_older_counters(self):
        self.plan(PRODUCT)
        counted = self.run_plan()
        counted["parts"][2]["sent_bytes"] += 8
        (self.dir / "run.json").write_text(json.dumps(counted))
        wrong = [row["what"] for row in self.check(status=1)["mismatches"]]
        self.assertIn("worker 2: network bytes sent", wrong)
        counted["parts"][2]["sent_bytes"] = -8
        (self.dir / "run.json").write_text(json.dumps(counted))
        self.fault("measure", "plan.kir", "--bundle", "bundle", "--against", "run.json", status=BAD, says=["sent_bytes"])
        for part in counted["parts"]:
            del part["sent_bytes"], part["received_bytes"]
        (self.dir / "run.json").write_text(json.dumps(counted))
        self.assertEqual(self.check()["workers"], [])

    def test_sorts_are_known_by_their_sum_alone(self):
        """Data decide what each worker sends there."""
        self.arrays["C"] = numpy.random.default_rng(5).normal(size=40000)
        self.plan("dim N\ninput C : dense f64[N]\noutput D = sort(C, over N)\n", mesh="4")
        counted = self.run_plan()
        self.assertEqual(sum(part["sent_bytes"] for part in counted["parts"]), counted["traffic"]["worker_bytes"])
        self.assertEqual(self.check()["workers"], [])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
