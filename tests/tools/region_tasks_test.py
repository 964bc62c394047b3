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
SIZES = {"N": 23, "K": 16, "M": 10}
MIXED = """dim N, K, M
input A : dense f64[N, K], B : dense f64[K, M], C : dense f64[N, M]
P = A @ B
D = tanh(P * 0.1) + C
output D, s = sum(D, over N), t = sum(A)
"""
# Between the regions stand sorts, which work on no blocks. P is not needed for long.
SORTED = """dim N, M
input A : dense f64[N, N], B : dense f64[N, M]
P = A @ B
Q = sort(P, over N)
R = A @ Q
S = sort(R, over N)
T = A @ S
U = sort(T, over N)
output U, Z = P + 1
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
        self.arrays = {"A": random.normal(size=(23, 16)), "B": random.normal(size=(16, 10)), "C": random.normal(size=(23, 10))}

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


class RegionTasks(RegionTest):
    """The table of tasks, and loads of nodes over them."""

    def test_products(self):
        for spread, grid in (("lshs", "A=4x4"), ("round-robin", "A=5x3")):
            replay = ProductReplay(self.plan(PRODUCT, "--grid", grid, spread=spread))
            (region,) = self.told()
            # Each contribution is a task, and so is each addition, but for those in place.
            tasks, counts = region["tasks"], collections.Counter
            self.assertEqual(counts(task["worker"] for task in tasks if not task["adds"]), counts(worker for worker, _, middle in replay.tasks if middle))
            self.assertEqual(counts(task["worker"] for task in tasks if task["adds"] or task["onto"]),
                             counts(worker for worker, _, middle in replay.tasks if not middle))
            self.assertEqual(sorted({task["made_bytes"] for task in tasks if not task["onto"]}), sorted({8 * elements for _, elements, _ in replay.tasks}))
            self.assertTrue(all(task["made_bytes"] == 0 for task in tasks if task["onto"]))
            self.assertTrue(any(task["onto"] for task in tasks) or spread != "lshs")
            moved = collections.Counter()
            for task in tasks:
                for source in task["from"]:
                    moved[source["worker"], task["worker"]] += source["bytes"] // 8
            for block in region["handed_on"]:
                if block["from"] != block["to"]:
                    moved[block["from"], block["to"]] += block["bytes"] // 8
            self.assertEqual(moved, replay.moved)
            self.assertEqual([load["sent_bytes"] for load in region["workers"]], replay.sent)
            self.assertEqual([load["received_bytes"] for load in region["workers"]], replay.received)

    def test_rounds(self):
        """A task runs behind all that it reads, which its worker has by then."""
        self.plan(MIXED, "--grid", "A=4x3")
        (region,) = self.told()
        made = collections.defaultdict(int)
        for task in region["tasks"]:
            name = task["makes"]
            if task["adds"] or task["onto"]:
                self.assertGreater(task["round"], min(other["round"] for other in region["tasks"] if other["makes"] == name))
            made[name] = max(made[name], task["round"])
        for task in region["tasks"]:
            if task["makes"].startswith("D_b["):
                self.assertGreater(task["round"], made[task["makes"].replace("D_b", "P_b")])
        self.assertEqual(region["rounds"], max(made.values()))
        self.assertEqual([task["round"] for task in region["tasks"]], sorted(task["round"] for task in region["tasks"]))

    def test_sums_are_those_of_the_cost_model_and_of_the_run(self):
        for options in (["--grid", "A=4x3"], ["--nodes", "a"], ["--nodes", "b", "--grid", "A=3x2"]):
            with self.subTest(options=options):
                self.plan(MIXED, *options)
                (region,) = self.told()
                for way in ("read_bytes", "written_bytes", "sent_bytes", "received_bytes"):
                    all_workers = sum(load[way] for load in region["workers"])
                    self.assertEqual(all_workers, region.get(way, region["sent_bytes"]))
                copied = sum(block["bytes"] for block in region["handed_on"] if block["from"] == block["to"])
                self.assertEqual(sum(task["read_bytes"] for task in region["tasks"]) + copied, region["read_bytes"])
                counted = self.run_plan()
                operator = counted["operators"][region["number"]]
                for way, key in (("read_bytes",) * 2, ("written_bytes",) * 2, ("sent_bytes", "network_bytes")):
                    self.assertEqual(region[way], operator[key])
                nodes = collections.defaultdict(lambda: {"memory": 0, "in": 0, "out": 0})
                for load in region["workers"]:
                    if options[0] == "--grid":
                        nodes[load["node"]]["in"] += load["received_bytes"]
                        nodes[load["node"]]["out"] += load["sent_bytes"]
                for point in region["curve"]:
                    self.assertEqual(sum(node["in"] for node in point["nodes"]), sum(node["out"] for node in point["nodes"]))
                for before, after in zip(region["curve"], region["curve"][1:]):
                    self.assertTrue(all(a[part] <= b[part] for a, b in zip(before["nodes"], after["nodes"]) for part in a))
                last = region["curve"][-1]["nodes"]
                self.assertEqual(region["curve"][-1]["tasks"], len(region["tasks"]))
                for node, load in nodes.items():
                    self.assertEqual([last[node]["in"], last[node]["out"]], [load["in"], load["out"]])
                self.assertEqual(sum(node["in"] for node in last), region["bytes_between_nodes"])
                between = counted["traffic"].get("node_bytes", region["sent_bytes"])
                scattered = counted["traffic"]["worker_bytes"] - operator["network_bytes"]  # of t, behind the region
                self.assertLessEqual(abs(between - region["bytes_between_nodes"]), scattered)

    def test_memory_of_nodes(self):
        """Operands, copies and what is made, as the planner counts."""
        self.plan(PRODUCT, "--grid", "A=4x4")
        replay = ProductReplay((self.dir / "plan.kir").read_text())
        (region,) = self.told()
        first, last = region["curve"][0]["nodes"], region["curve"][-1]["nodes"]
        for worker in range(4):
            owned = sum(overlap(replay.owned[array][worker], replay.owned[array][worker]) for array in "AB")
            self.assertEqual(first[worker], {"memory": 8 * owned, "in": 0, "out": 0})
            made = sum(task["made_bytes"] for task in region["tasks"] if task["worker"] == worker)
            self.assertEqual(last[worker]["memory"], 8 * owned + made + replay.received[worker])

    def test_forms(self):
        self.plan(MIXED, "--grid", "A=8x8")
        (region,) = self.told()
        out, _ = self.kasen("measure", "plan.kir", "--bundle", "bundle", "--tasks", "--format", "csv")
        rows = list(csv.DictReader(io.StringIO(out)))
        self.assertEqual(len(rows), len(region["tasks"]) + len(region["handed_on"]))
        for row, task in zip(rows, region["tasks"]):
            self.assertEqual([row["makes"], int(row["worker"]), int(row["round"]), int(row["reads"]), int(row["writes"])],
                             [task["makes"], task["worker"], task["round"], task["read_bytes"], task["written_bytes"]])
            self.assertEqual(row["from"], " ".join(f"{source['worker']}:{source['bytes']}" for source in task["from"]))
            self.assertEqual(int(row["receives"]), sum(source["bytes"] for source in task["from"]))
        self.assertEqual(sum(int(row["receives"]) for row in rows), region["sent_bytes"])
        text, _ = self.kasen("measure", "plan.kir", "--bundle", "bundle", "--tasks")
        self.assertIn(f"and {len(region['tasks']) - 40} more of {len(region['tasks'])} tasks", text)
        self.assertIn("Each execution reads", text)
        by_sizes, _ = self.kasen("measure", "plan.kir", "--sizes", "N=23,K=16,M=10", "--tasks")
        self.assertEqual(by_sizes, text)

    def test_a_loop_tells_one_execution(self):
        self.plan("dim N, M\ninput A : dense f64[N, M]\nx : f64[M] = 1\nfor i in 0..3 {\n  x = A' @ (A @ x)\n}\noutput x\n", "--grid", "A=4x1", mesh="4")
        (region,) = self.told()
        counted = self.run_plan()
        self.assertEqual(counted["operators"][region["number"]]["executions"], 3)
        self.assertEqual(counted["operators"][region["number"]]["network_bytes"], 3 * region["sent_bytes"])
        self.assertEqual(counted["operators"][region["number"]]["read_bytes"], 3 * region["read_bytes"])

    def test_pictures(self):
        self.plan(MIXED, "--nodes", "a")
        (region,) = self.told()
        svg, _ = self.kasen("measure", "plan.kir", "--bundle", "bundle", "--tasks", "--format", "svg")
        tree = ElementTree.fromstring(svg)
        lines = [e for e in tree.iter() if e.get("class", "").startswith("load n")]
        self.assertEqual(len(lines), (3 + 1) * region["nodes"])  # with their keys
        titles = [e.text for e in tree.iter() if e.tag.endswith("title")]
        for number, node in enumerate(region["curve"][-1]["nodes"]):
            for part in ("memory", "in", "out"):
                self.assertIn(f"node {number}: {node[part] / 1e6:.6g} MB in the end", titles)
        page, _ = self.kasen("measure", "plan.kir", "--bundle", "bundle", "--format", "html")
        self.assertEqual(page.count('<section id="tasks">'), 1)
        self.assertIn('<a href="#tasks">', page)
        self.assertEqual(page.count('class="load n0"'), 3 + 1)
        self.assertIn(".curve .n0{stroke:var(--c1)}", page)
        section = page[page.index('<section id="tasks">'):]
        for load in region["workers"]:
            self.assertIn(f'<td class="n">{load["received_bytes"]:,}</td>', section)
        self.kasen("fuse", "p.kir", "--bundle", "bundle", "--mesh", "2x2", "-o", "plan.kir")
        page, _ = self.kasen("measure", "plan.kir", "--bundle", "bundle", "--format", "html")
        self.assertNotIn('id="tasks"', page)

    def test_go(self):
        for name, array in self.arrays.items():
            numpy.save(self.dir / f"{name}.npy", array)
        (self.dir / "p.ks").write_text(MIXED)
        self.kasen("go", "p.ks", "A=A.npy", "B=B.npy", "C=C.npy", "--mesh", "2x2", "--spread", "lshs", "--grid", "A=4x3", "-n", 2, "--dir", "made", "-o", "out.npy")
        self.assertIn("region blocks[N 4, K 3", (self.dir / "made/fused.kir").read_text())
        self.assertIn('<section id="tasks">', (self.dir / "made/report.html").read_text())
        made = numpy.tanh(self.arrays["A"] @ self.arrays["B"] * 0.1) + self.arrays["C"]
        numpy.testing.assert_allclose(numpy.load(self.dir / "out.npy"), made)
        self.kasen("fuse", "made/plan.kir", "--bundle", "made/bundle", "--mesh", "2x2", "--spread", "lshs", "--grid", "A=4x3", "--epilogue", "auto", "-o", "same.kir")
        without = lambda name: [line for line in (self.dir / name).read_text().splitlines() if not line.startswith("##")]
        self.assertEqual(without("made/fused.kir"), without("same.kir"))
        data = ("go", "p.ks", "A=A.npy", "B=B.npy", "C=C.npy")
        self.fault(*data, "--spread", "lshs", status=USAGE, says=["--spread", "--mesh"])
        self.fault(*data, "--mesh", "2x2", "--grid", "A=2x2", status=USAGE, says=["--grid", "--spread"])
        self.fault(*data, "--mesh", "2x2", "--spread", "best", status=USAGE, says=["best", "lshs"])
        self.fault(*data, "--mesh", "2x2", "--spread", "lshs", "--grid", "A=x", status=USAGE, says=["--grid"])

    def test_refusals(self):
        self.plan(PRODUCT)
        refuse = lambda *options, says: self.fault("measure", "plan.kir", *options, status=USAGE, says=says)
        refuse("--tasks", says=["--tasks", "--bundle"])
        refuse("--tasks", "--sizes", "N=23", says=["sizes"])
        bundle = ("--bundle", "bundle")
        refuse(*bundle, "--tasks", "--explain", says="--tasks")
        refuse(*bundle, "--tasks", "--format", "dot", says="--tasks")
        refuse(*bundle, "--format", "csv", says="--tasks")
        self.fault("measure", "p.kir", *bundle, "--tasks", status=USAGE, says=["blocks", "--spread"])


class TimedTest(RegionTest):
    """Times of regions of blocks, from the table of tasks by the formula of docs/cost.md."""

    RATES = {"memory_bandwidth": 2e9, "write_bandwidth": 1e9, "network_bandwidth": 1e8, "network_latency": 3e-5, "loop_latency": 7e-6}

    def machine(self, **rates):
        nothing = {key: 1e-18 for key in ("plain_operation", "compound_operation", "dense_term", "tanh", "exp")}
        (self.dir / "machine.yaml").write_text("".join(f"{key}: {value}\n" for key, value in {**nothing, **self.RATES, **rates}.items()))

    @staticmethod
    def terms(replay, block):
        """Of a contribution to a block of the product; all blocks along K are alike."""
        place = [int(number) for number in re.fullmatch(r"P_b\[(\d+),(\d+)\]", block).groups()]
        sides = [replay.grid[name][at] for name, at in zip("NM", place)] + [replay.grid["K"][0]]
        return numpy.prod([end - first for first, end in sides])

    def rounds(self, process_of, computing=lambda task: 0, region=None):
        """Seconds of each round: the process that works longest, the one that moves most, and one latency."""
        rates, region = self.RATES, region or self.told()[0]
        count = len(set(process_of))
        work = [[0.0] * count for _ in range(region["rounds"] + 1)]
        sent, received = [[0] * count for _ in work], [[0] * count for _ in work]
        moved = [set() for _ in work]

        def move(turn, giver, taker, bytes_):
            giver, taker = process_of[giver], process_of[taker]
            if giver != taker:
                sent[turn][giver] += bytes_
                received[turn][taker] += bytes_

        for task in region["tasks"]:
            turn = task["round"] - 1
            read, copied = (task["read_bytes"] - task["copied_bytes"]) / rates["memory_bandwidth"], task["copied_bytes"] / rates["memory_bandwidth"]
            work[turn][process_of[task["worker"]]] += max(read, computing(task)) + copied + task["written_bytes"] / rates["write_bandwidth"] 
            if task["read_bytes"] + task["written_bytes"] > 0:  # single values are free
                work[turn][process_of[task["worker"]]] += rates["loop_latency"]
            for source in task["from"]:
                move(turn, source["worker"], task["worker"], source["bytes"])
        for block in region["handed_on"]:
            if block["from"] == block["to"]:
                work[-1][process_of[block["to"]]] += block["bytes"] * (1 / rates["memory_bandwidth"] + 1 / rates["write_bandwidth"])
            else:
                move(-1, block["from"], block["to"], block["bytes"])
        return [max(times) + max(gives + takes) / rates["network_bandwidth"] + (rates["network_latency"] if sum(gives) else 0)
                for times, gives, takes in zip(work, sent, received)]


class RegionTimes(TimedTest):
    """The predicted times of rounds, regions and programs."""

    def timeline(self, *options):
        out, _ = self.kasen("measure", "plan.kir", "--bundle", "bundle", "--machine", "machine.yaml", "--timeline", "--format", "json", *options)
        lines = json.loads(out)["lines"]
        rounds = [line for line in lines if line["line"].startswith("round ")]
        before = lines[lines.index(rounds[0]) - 1]
        return before, rounds

    def compare(self, wanted, *options):
        region, rounds = self.timeline(*options)
        numpy.testing.assert_allclose([line["seconds"] for line in rounds], wanted, rtol=1e-9)
        self.assertAlmostEqual(region["seconds"], sum(wanted), delta=1e-9 * sum(wanted))
        self.assertAlmostEqual(rounds[-1]["begin"] + rounds[-1]["seconds"], region["begin"] + region["seconds"], delta=1e-9)
        self.assertTrue(all("number" not in line for line in rounds))

    def test_rounds(self):
        self.machine()
        for program, options in ((PRODUCT, ["--grid", "A=4x4"]), (MIXED, ["--grid", "A=5x2"]), (MIXED, ["--nodes", "a"])):
            with self.subTest(options=options):
                self.plan(program, *options)
                self.compare(self.rounds([0, 1, 2, 3]))
                self.run_plan()
                self.compare(self.rounds([0, 0, 0, 0]), "--against", "run.json")
                self.run_plan("-n", 2)
                self.compare(self.rounds([0, 0, 1, 1]), "--against", "run.json")
                self.run_plan("-n", 3)
                self.compare(self.rounds([0, 1, 2, 2]), "--against", "run.json")

    def test_computing(self):
        """A product's terms take longer than its bytes here."""
        self.machine(dense_term=1e-6)
        replay = ProductReplay(self.plan(PRODUCT, "--grid", "A=4x4"))
        self.compare(self.rounds([0, 1, 2, 3], lambda task: 0 if task["adds"] else 1e-6 * self.terms(replay, task["makes"])))

    def test_the_whole_program(self):
        self.machine()
        self.plan(PRODUCT, "--grid", "A=4x4")
        out, _ = self.kasen("measure", "plan.kir", "--bundle", "bundle", "--machine", "machine.yaml")
        whole = float(re.search(r"whole program: ([\d.]+) us", out)[1]) if "us (memory" in out else 1e3 * float(re.search(r"whole program: ([\d.]+) ms", out)[1])
        self.assertAlmostEqual(whole, 1e6 * sum(self.rounds([0, 1, 2, 3])), delta=0.01 * whole)

    def test_sizes_that_are_not_those_of_the_plan(self):
        """Of blocks of fixed length there are others then: the plan says so."""
        self.machine()
        self.plan(PRODUCT, "--layout", "A=[N/a:4,K/b:4]")
        self.assertRegex((self.dir / "plan.kir").read_text(), r"region blocks\[[^]]*:4")
        self.fault("measure", "plan.kir", "--sizes", "N=90,K=17,M=10", "--machine", "machine.yaml", status=BAD, says=["tasks"])
        out, _ = self.kasen("measure", "plan.kir", "--machine", "machine.yaml")
        self.assertIn("not known", out)



class RegionMemory(TimedTest):
    """Plans with regions of blocks in little memory, and by other strategies."""

    def setUp(self):
        super().setUp()
        random = numpy.random.default_rng(3)
        self.arrays = {"A": random.normal(size=(60, 60)), "B": random.normal(size=(60, 40))}

    def plan_text(self):
        return [line for line in (self.dir / "plan.kir").read_text().splitlines() if not line.startswith("##")]

    def results(self, *options):
        counted = self.run_plan(*options)
        return counted, {file.name: file.read_bytes() for file in self.dir.glob("out*.npy")}

    def test_swaps(self):
        self.plan(SORTED)
        _, wanted = self.results()
        self.machine()
        text = self.plan(SORTED, "--swap", "--memory", "12KB", "--machine", "machine.yaml")
        self.assertEqual(text.count("region blocks["), 3)
        self.assertRegex(text, r"= store %P\b")
        self.kasen("verify", "plan.kir")
        for ranks in ([], ["-n", 2]):
            counted, found = self.results(*ranks)
            self.assertEqual(found, wanted)
            self.assertLessEqual(max(part["buffer_bytes"] for part in counted["parts"]), 12000)
            self.assertTrue(self.check()["agrees"])
        out, _ = self.kasen("measure", "plan.kir", "--bundle", "bundle", "--machine", "machine.yaml", "--timeline", "--format", "json")
        streams = json.loads(out)["predicted_streams"]
        self.assertLessEqual(max(held for _, held in streams["held"]), 12000)
        spans = {span[5]: span[1] - span[0] for stream in streams["streams"] if stream["stream"] == "operators" for span in stream["spans"]}
        regions = self.told()
        self.assertEqual(len(regions), 3)
        for region in regions:
            self.assertAlmostEqual(spans[region["number"]], sum(self.rounds([0, 1, 2, 3], region=region)), delta=1e-9)

    def test_too_little_memory(self):
        self.plan(SORTED)
        place = ("fuse", "p.kir", "--bundle", "bundle", "--mesh", "2x2", "--spread", "lshs", "--swap", "-o", "plan.kir")
        err = self.fault(*place, "--memory", 2000, status=LIMIT, says=["2000", "enough"])
        enough = re.search(r"and (\d+) are enough", err)[1]
        self.kasen(*place, "--memory", enough)
        counted, _ = self.results()
        self.assertLessEqual(max(part["buffer_bytes"] for part in counted["parts"]), int(enough))

    def test_memory_of_a_run(self):
        """All blocks that a worker keeps count, and messages: the run's own sum is what it refuses to go without."""
        self.plan(SORTED)
        counted, wanted = self.results()
        held = sum(part[key] for part in counted["parts"] for key in ("buffer_bytes", "exchange_bytes", "input_bytes"))
        area = sum(max(region["workers"][worker]["area_bytes"] for region in self.told()) for worker in range(4))
        refused = ("run", "plan.kir", "--bundle", "bundle", "-o", "out.npy")
        err = self.fault(*refused, "--memory", area, status=LIMIT, says=["--memory"])
        needed = int(re.search(r"the run needs (\d+) bytes", err)[1])
        self.assertGreater(needed, area)
        self.assertLessEqual(needed, held)
        self.fault(*refused, "--memory", needed - 1, status=LIMIT, says=[str(needed)])
        self.assertEqual(self.results("--memory", needed)[1], wanted)

    def test_strategies(self):
        """Over a mesh nothing is fused, by whatever strategy: regions of blocks stay as they are."""
        self.plan(SORTED)
        wanted = self.plan_text()
        self.machine()
        for options in (["--strategy", "cost"], ["--strategy", "cost", "--machine", "machine.yaml"], ["--strategy", "fuse-all"], ["--sync", "auto"],
                        ["--memory", "1GB"]):
            with self.subTest(options=options):
                self.plan(SORTED, *options)
                found = [line for line in self.plan_text() if not line.startswith("  planned ")]
                self.assertEqual(found, [line for line in wanted if not line.startswith("  planned ")])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
