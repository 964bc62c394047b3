#!/usr/bin/env python3
"""Peaks of small graphs beside published optima: the best order, its buffers packed, and what kasen swap takes.

The graphs and their peaks are those of the tests of MODeL (Steiner, Elhoushi, Kahn and Hegarty, ICML 2023;
github.com/facebookresearch/MODel_opt, tests/scheduler_test.py and training_graph_optimizer_test.py), whose solver of
integer programs proves them.

Usage: peaks_test.py FOLDER_OF_TOOLS SOURCE_ROOT [unittest arguments]
"""
import json
import sys
import unittest

sys.dont_write_bytecode = True  # the source tree stays as it is
from tools_test import LIMIT, ToolTest  # noqa: E402

UNIT = 1000  # bytes; a control edge has a single byte
DIAMOND = "A>B:10 B>C:20 B>D:30 D>E:40 E>F:50 C>F:60 F>G:10"
TWO_WEIGHTS = ("IN>O1:10 O1>O2:30 O2>OUT:50", {"W1": (123, ["O1"]), "W2": (321, ["O2"])})
GRADIENTS = ("IN>O1,GW1:10 O1>O2,GW2:30 O2>OUT:50 G3>G2,GW2:345 G2>G1,GW1:543 GW1>AG1:567 GW2>AG2:765",
             {"W1": (123, ["O1", "G1", "AG1"]), "W2": (321, ["O2", "G2", "AG2"])})
# name: edges `maker>users:size`, weights with their users, the published peak, and the memory that kasen swap takes without moves
GRAPHS = {
    "simple": ("A>B:10 B>C:20 B>D:30 D>E:40", {}, 70, 90),
    "diamond": (DIAMOND, {}, 130, 150),
    "control edge": (DIAMOND + " C>E:0", {}, 150, 170),
    "two results": ("A>B:10 A>C:20 B>D:30 D>E:40 C>E:50", {}, 110, 130),
    "joined edge": ("A>B:10 A>B:20 B>D:30", {}, 60, 60),
    "weight": ("IN>O:10 O>OUT:50", {"W": (123, ["O"])}, 183, 183),
    "two weights": (*TWO_WEIGHTS, 524, 534),
}


def graph(edges, weights):
    """Tasks in an order in which they can run: those whose operands are made, first named first."""
    tensors, reads, writes = [], {}, {}
    for edge in edges.split():
        maker, users, size = edge.replace(">", ":").split(":")
        tensors.append({"name": edge, "bytes": max(1, int(size) * UNIT)})
        writes.setdefault(maker, []).append(edge)
        for user in users.split(","):
            reads.setdefault(user, []).append(edge)
    for name, (size, users) in weights.items():
        tensors.append({"name": name, "bytes": size * UNIT, "kind": "parameter", "resident": True})
        for user in users:
            reads.setdefault(user, []).append(name)
    tasks = [{"name": name, "seconds": 1e-3, "reads": reads.get(name, []), "writes": writes.get(name, [])} for name in {**writes, **reads}]
    return {"kasen_tasks": 1, "name": "small", "tensors": tensors, "operators": next(orders(tasks, set(weights)))}


def orders(tasks, made, done=()):
    """All orders that keep what waits for what."""
    if not tasks:
        yield list(done)
    for i, task in enumerate(tasks):
        if made.issuperset(task["reads"]):
            yield from orders(tasks[:i] + tasks[i + 1:], made | set(task["writes"]), (*done, task))


def lives(tasks, tensors):
    """[first, last] task of each tensor; parameters live all the time."""
    found = {t["name"]: [0, len(tasks) - 1] for t in tensors if t.get("kind") == "parameter"}
    for i, task in enumerate(tasks):
        for name in task["reads"] + task["writes"]:
            found.setdefault(name, [i, i])[1] = max(i, found.get(name, [i, i])[1])
    return found


def peak(tasks, tensors):
    size, found = {t["name"]: t["bytes"] for t in tensors}, lives(tasks, tensors)
    return max(sum(size[name] for name, (first, last) in found.items() if first <= i <= last) for i in range(len(tasks)))


class Peaks(ToolTest):
    def best(self, edges, weights):
        small = graph(edges, weights)
        return small, min(orders(small["operators"], set(weights)), key=lambda tasks: peak(tasks, small["tensors"]))

    def packed(self, buffers):
        (self.dir / "b.csv").write_text("id,lower,upper,size\n" + "".join(f"{name},{lower},{upper},{size}\n" for name, lower, upper, size in buffers))
        report = json.loads(self.kasen("pack", "b.csv", "--format", "json")[0])
        self.assertTrue(report["certified"])
        return report["size"]

    def moved(self, small, memory):
        """Bytes that a plan moves in both ways; None where there is none."""
        (self.dir / "graph.json").write_text(json.dumps(small))
        words = ["swap", "graph.json", "--memory", int(memory), "-o", "plan.json"]
        try:
            self.kasen(*words)
        except AssertionError:
            self.kasen(*words, status=LIMIT)
            return None
        size = {t["name"]: t["bytes"] for t in small["tensors"]}
        return sum(size[move["tensor"]] for move in json.loads((self.dir / "plan.json").read_text())["moves"])

    def test_the_best_order_has_the_published_peak_and_packs_into_it(self):
        for name, (edges, weights, published, _) in GRAPHS.items():
            with self.subTest(graph=name):
                small, best = self.best(edges, weights)
                size = {t["name"]: t["bytes"] for t in small["tensors"]}
                self.assertEqual(peak(best, small["tensors"]) // UNIT, published)
                found = lives(best, small["tensors"])
                buffers = [(f"t{i}", first, last + 1, size[tensor]) for i, (tensor, (first, last)) in enumerate(found.items())]
                self.assertEqual(self.packed(buffers) // UNIT, published)

    def test_a_given_order(self):
        """Their pathological case, at their times, needs 10."""
        steps = [(1, 10, 1), (2, 3, 9), (4, 13, 1), (5, 6, 8), (7, 16, 1), (8, 9, 7), (11, 12, 8), (14, 15, 7)]
        self.assertEqual(self.packed([(f"T{i}", first, last + 1, size) for i, (first, last, size) in enumerate(steps)]), 10)

    def test_swap_takes_more_for_its_size_classes(self):
        for name, (edges, weights, published, needed) in GRAPHS.items():
            with self.subTest(graph=name):
                small = graph(edges, weights)
                self.assertEqual(self.moved(small, needed * UNIT + UNIT // 2), 0)
                if needed > published:
                    self.assertNotEqual(self.moved(small, published * UNIT + 1), 0)

    def test_swapping(self):
        """Theirs: 246 moved of the two weights in 500, 120 at a peak of 120, and 1824 at one of 1209."""
        self.assertEqual(self.moved(graph(*TWO_WEIGHTS), 500 * UNIT), 123 * UNIT)
        self.assertIsNone(self.moved(graph(DIAMOND + " C>E:0", {}), 120 * UNIT + 1))
        self.assertEqual(self.moved(graph(DIAMOND + " C>E:0", {}), 130 * UNIT + 3), 180 * UNIT)
        small, best = self.best(*GRADIENTS)
        self.assertEqual(peak(best, small["tensors"]), 1594 * UNIT)
        self.assertIsNone(self.moved(small, 1209 * UNIT))
        self.assertLessEqual(self.moved(small, 1950 * UNIT), 2 * 444 * UNIT)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
