#!/usr/bin/env python3
"""Where block operators run: the plans that fuse --print-spread shows are run again here, block by block.

Usage: spread_test.py FOLDER_OF_TOOLS SOURCE_ROOT [unittest arguments]
"""
import collections
import csv
import io
import json
import math
import re
import sys
import unittest

import numpy

sys.dont_write_bytecode = True  # the source tree stays as it is
from tools_test import BAD, LIMIT, ROOT, USAGE, ToolTest  # noqa: E402

# One Newton step of logistic regression (NumS, section 6).
NEWTON = """dim N
dim F local
input X : dense f64[N, F], y : f64[N]
beta : f64[F] = 0
mu = 1 / (1 + exp(-(X @ beta)))
g = X' @ (mu - y)
W = mu * (1 - mu)
H = X' @ (W * X)
output next = beta - solve(H, g)
"""
PRODUCT = "dim N, K, M\ninput A : dense f64[N, K], B : dense f64[K, M]\noutput C = A @ B\n"
LOOP = """dim N
input A : dense f64[N, N]
x : f64[N] = 1
while sum(x) < 100 expect 10 {
  x = A @ x
}
output x
"""


def replay(view, placement):
    """Loads of each node by the rules of the model, from blocks and steps alone: memory, in, out, and what moves."""
    workers, intra = view["workers"], view["intra"]
    size, held = {}, collections.defaultdict(set)
    load = [[0.0, 0.0, 0.0] for _ in range(view["nodes"])]
    between = within = 0
    for block in view["blocks"]:
        size[block["block"]] = block["elements"]
        held[block["block"]].add(block["on"])
        load[block["on"] // workers][0] += block["elements"]
    for step in placement["steps"]:
        here = step["on"]
        for copy in step.get("copies", []):
            name, source = copy["block"], copy["from"]
            assert here not in held[name], step
            if placement["search"] != "exact":
                assert source in held[name], step
            a, b, elements = source // workers, here // workers, size[name]
            weight = intra if a == b else 1
            assert a == b or all(worker // workers != b for worker in held[name]), "the node has it"
            load[b][0] += elements
            load[b][1] += weight * elements
            load[a][2] += weight * elements
            between, within = between + (a != b) * elements, within + (a == b) * elements
            held[name].add(here)
        for name in step.get("adds", []):
            assert here in held[name], step
        size[step["makes"]] = step["elements"]
        assert step["makes"] not in held, "made twice"
        held[step["makes"]].add(here)
        load[here // workers][0] += step["elements"]
    return load, between, within, held


def shares_blocks(shape, node_grid, workers):
    """Blocks along each axis as NumS's code has them (kernel_manager.py), with NumPy."""
    if numpy.prod([float(n) for n in shape]) * 8 < 10**8:
        return [1] * len(shape)
    cluster = (list(node_grid) + [1] * len(shape))[:len(shape)]
    weights = numpy.exp(numpy.array(cluster, float)) / numpy.sum(numpy.exp(cluster))
    fractions = weights * (numpy.array(shape) / numpy.sum(shape))
    exact = workers ** (fractions / numpy.sum(fractions))
    grid = numpy.floor(exact)
    grid[numpy.argmax(shape)] += numpy.sum(exact - grid)
    lengths = [(n + g - 1) // g for n, g in zip(shape, numpy.ceil(grid).astype(int))]
    return [math.ceil(n / length) for n, length in zip(shape, lengths)]


class Spread(ToolTest):
    def plan(self, program):
        (self.dir / "p.ks").write_text(program)
        self.kasen("plan", "p.ks", "-o", "p.kir")

    def view(self, *options, form="json"):
        out, _ = self.kasen("fuse", "p.kir", f"--print-spread={form}", *options)
        return json.loads(out) if form == "json" else out

    def replayed(self, view):
        """Loads of each placement by its search."""
        all_loads, best = {}, min(one["objective"] for one in view["placements"])
        for one in view["placements"]:
            load, between, within, held = replay(view, one)
            most = [max(node[part] for node in load) for part in range(3)]
            for part, key in enumerate(("memory", "in", "out")):
                self.assertAlmostEqual(most[part], one[key], delta=1e-6 * max(1, most[part]))
            self.assertAlmostEqual(sum(most), one["objective"], delta=1e-6 * sum(most))
            self.assertEqual([between, within], [one["elements_between_nodes"], one["elements_in_nodes"]])
            self.assertAlmostEqual(one["regret"], one["objective"] / best)
            self.assertGreaterEqual(one["objective"], view["bound"]["objective"])
            last = one["curve"][-1]
            self.assertEqual(last["steps"], len(one["steps"]))
            for node, shown in zip(load, last["nodes"]):
                self.assertTrue(numpy.allclose(node, [shown["memory"], shown["in"], shown["out"]]))
            self.assertEqual(sum(name.startswith("next[") for name in held), 1)
            self.assertEqual(held["next[0]"], {0})  # an output lies where its layout puts it
            all_loads[one["search"]] = most
        return all_loads

    def test_plans(self):
        self.plan(NEWTON)
        view = self.view("--cluster", "4x4", "--grid", "X=24x1", "--sizes", "N=9600,F=8")
        self.assertEqual([one["search"] for one in view["placements"]], ["owner", "round-robin", "lshs", "lshs-all", "ahead=2", "heft"])
        loads = self.replayed(view)
        self.assertLess(sum(loads["lshs"]), sum(loads["owner"]))
        small = self.view("--cluster", "2x2", "--grid", "X=4x1", "--sizes", "N=64,F=2", "--spread", "lshs,exact")
        exact = self.replayed(small)["exact"]
        self.assertLessEqual(sum(exact), sum(self.replayed(small)["lshs"]))
        self.assertTrue(small["placements"][1]["bound"] <= small["placements"][1]["objective"])

    def test_shared_memory(self):
        """Nothing moves in a node, and a node holds one copy."""
        self.plan(NEWTON)
        options = ("--cluster", "4x4", "--grid", "X=24x1", "--sizes", "N=9600,F=8", "--spread", "all")
        shared, apart = self.view(*options, "--intra", "shared"), self.view(*options, "--intra", "0")
        for one, other in zip(shared["placements"], apart["placements"]):
            self.assertEqual(one["elements_in_nodes"], 0)
            self.assertGreater(other["elements_in_nodes"], 0)
            self.assertLess(one["memory"], other["memory"])
            node = lambda worker: worker // shared["workers"]
            held = {(block["block"], node(block["on"])) for block in shared["blocks"]}
            for step in one["steps"]:
                for copy in step.get("copies", []):
                    self.assertNotEqual(node(copy["from"]), node(step["on"]))
                    self.assertNotIn((copy["block"], node(step["on"])), held)
                    held.add((copy["block"], node(step["on"])))
                self.assertTrue(all((name, node(step["on"])) in held for name in step.get("adds", [])))
                held.add((step["makes"], node(step["on"])))

    def test_ablation(self):
        """Figure 15: 128 GB on 16 nodes of 32 workers, in blocks of 2 GB; what is received and held at most."""
        self.plan(NEWTON)
        view = self.view("--cluster", "16x32", "--grid", "X=64x1", "--sizes", "N=62500000,F=256", "--spread", "lshs,round-robin")
        loads = self.replayed(view)
        print({search: [round(part) for part in most] for search, most in loads.items()})
        self.assertLess(loads["lshs"][1] * 2, loads["round-robin"][1])
        self.assertLess(loads["lshs"][0] * 4, loads["round-robin"][0])

    def test_default_grids(self):
        self.plan(PRODUCT)
        for n, k, m, cluster in ((100000, 50, 9, "4x4"), (9000, 4000, 100, "2x2x3"), (5000, 5000, 5000, "2x2x4"), (3000, 3000, 3000, "4x1x2")):
            view = self.view("--cluster", cluster, "--sizes", f"N={n},K={k},M={m}", "--spread", "owner")
            nodes = [int(part) for part in cluster.split("x")]
            wanted = shares_blocks([n, k], nodes[:-1], numpy.prod(nodes))
            self.assertEqual(sum(block["block"].startswith("A[") for block in view["blocks"]), numpy.prod(wanted), cluster)
        # The paper's rule cuts equal axes alike, and else the longest one.
        view = self.view("--cluster", "4x4", "--sizes", "N=400,K=400,M=8", "--grid-rule", "softmax", "--spread", "lshs")
        self.assertEqual([sum(block["block"].startswith(name) for block in view["blocks"]) for name in "AB"], [16, 4])

    def test_layouts(self):
        """A[2,3] of the paper lies on node 1, worker 3."""
        self.plan(PRODUCT)
        view = self.view("--cluster", "2x2x4", "--grid", "A=4x4", "--grid", "B=4x4", "--sizes", "N=64,K=64,M=64", "--spread", "owner")
        self.assertEqual(next(block["on"] for block in view["blocks"] if block["block"] == "A[2,3]"), 1 * 4 + 3)
        # In runs, node 3 has the last two rows and columns, and each of its workers one block.
        view = self.view("--cluster", "2x2x4,packed", "--grid", "A=4x4", "--grid", "B=4x4", "--sizes", "N=64,K=64,M=64", "--spread", "owner")
        self.assertEqual(next(block["on"] for block in view["blocks"] if block["block"] == "A[2,3]"), 3 * 4 + 1)

    def test_loops(self):
        """A body stands once, and what it carries goes back to its layout."""
        self.plan(LOOP)
        view = self.view("--cluster", "2x1", "--grid", "A=4x4", "--sizes", "N=100", "--spread", "lshs,lshs-all")
        for one in view["placements"]:
            products = [step for step in one["steps"] if step["makes"].startswith("x_3[") and "adds" not in step]
            self.assertEqual(len(products), 16)
            replay(view, one)
            ends = {step["makes"]: step["on"] for step in one["steps"] if re.fullmatch(r"x_3\[\d\]", step["makes"])}
            self.assertEqual(ends, {f"x_3[{i}]": i % 2 for i in range(4)})

    def test_along_dimensions(self):
        """Slices, scans and sorts within blocks; what is cut along that dimension has none. Elements of three numbers count three."""
        program = ("dim N, F local\ndim K = F[1:3]{}\ninput X : dense f64[N, F], p : [f64; 3][N]\nfn turned(t) = [t[2], t[1], t[0]]\n"
                   "c = cumsum(X, over F)\ns = slice(X, K)\no = sort(X, over F)\nq = turned(p)\noutput c, s, o, q{}\n")
        self.plan(program.format("", ""))
        view = self.view("--cluster", "2x1", "--grid", "X=4x1", "--sizes", "N=38,F=5", "--spread", "lshs,owner")
        for one in view["placements"]:
            made = {step["makes"]: step["elements"] for step in one["steps"]}
            for i, rows in enumerate((10, 10, 10, 8)):
                self.assertEqual([made[name] for name in (f"c[{i},0]", f"s[{i},0]", f"o[{i},0]", f"q[{i}]")], [5 * rows, 2 * rows, 5 * rows, 3 * rows])
            self.assertEqual(len(made), 16)
            self.assertEqual(one["elements_between_nodes"], 0)
        for more, output in ((", M = N[0:4]", ", r = slice(X, M)"), ("", ", r = cumsum(X, over N)")):
            self.plan(program.format(more, output))
            self.fault("fuse", "p.kir", "--print-spread", "--cluster", "2x1", "--grid", "X=4x1", "--sizes", "N=38,F=5", status=BAD, says=["p.ks:9:", "N", "cut"])

    def test_forms(self):
        self.plan(NEWTON)
        options = ("--cluster", "2x2", "--grid", "X=4x1", "--sizes", "N=64,F=2", "--spread", "owner,ahead=3")
        text = self.view(*options, form="text")
        for word in ("p: ", "ahead=3", "bound", "regret", "2 nodes of 2 workers"):
            self.assertIn(word, text)
        rows = list(csv.DictReader(io.StringIO(self.view(*options, form="csv"))))
        view = self.view(*options)
        for one in view["placements"]:
            mine = [row for row in rows if row["search"] == one["search"]]
            self.assertEqual(len(mine), 2 * len(one["curve"]))
            for row, (point, node) in zip(mine, ((point, node) for point in one["curve"] for node in range(2))):
                self.assertEqual([int(row["steps"]), int(row["node"])], [point["steps"], node])
                self.assertEqual(float(row["memory"]), point["nodes"][node]["memory"])
            for before, after in zip(one["curve"], one["curve"][1:]):
                for a, b in zip(before["nodes"], after["nodes"]):
                    self.assertTrue(a["memory"] <= b["memory"] and a["in"] <= b["in"] and a["out"] <= b["out"])
        self.assertEqual(self.view(*options, form="text"), text)

    def test_notes(self):
        self.plan(NEWTON)
        _, err = self.kasen("fuse", "p.kir", "--print-spread", "--cluster", "2x2", "--spread", "lshs")
        self.assertIn("N = 1,000,000", err)
        self.assertNotIn("P =", err)

    def test_refusals(self):
        self.plan(NEWTON)
        sizes = ("--sizes", "N=64,F=4")
        refuse = lambda *options, status=USAGE, says: self.fault("fuse", "p.kir", *options, *sizes, status=status, says=says)
        refuse("--print-spread", says="--cluster")
        refuse("--cluster", "2x2", says="--print-spread")
        refuse("--grid", "X=2x1", says="--print-spread")
        for cluster in ("4", "0x4", "4x", "ax4", "100x100", "9999999999x9999999999x4", "-1x4", "2x2,runs", "2x2,", ",packed"):
            refuse("--print-spread", "--cluster", cluster, says="--cluster")
        place = ("--print-spread", "--cluster", "2x2")
        refuse(*place, "--grid", "X=2", says=["2", "each axis"])
        refuse(*place, "--grid", "X=65x1", says="fewer elements")
        refuse(*place, "--grid", "X=2x2", says=["F", "local"])
        refuse(*place, "--grid", "X=axb", says="--grid")
        refuse(*place, "--grid", "Z=2x2", says=["Z", "X, y"])
        refuse(*place, "--grid", "X=2x1", "--grid", "y=4", says=["N", "alike"])
        refuse(*place, "--spread", "best", says=["best", "lshs"])
        refuse(*place, "--spread", "ahead=9", says="ahead")
        for weight in ("2", "-0.1", "nan", "0.1x", "much"):
            refuse(*place, "--intra", weight, says="--intra")
        refuse(*place, "--grid-rule", "best", says="shares")
        self.fault("fuse", "p.kir", *place, "--sizes", "N=1000000,F=4", "--grid", "X=20000x1", status=LIMIT, says="20000")
        self.fault("fuse", "p.kir", *place, "--sizes", "N=1000,F=4", "--grid", "X=100x1", "--spread", "exact", status=LIMIT, says="64")
        sparse, _ = self.kasen("plan", ROOT / "examples/pagerank.ks")
        self.fault("fuse", *place, stdin=sparse, status=BAD, says=["pagerank.ks:4:7", "sparse"])
        placed, _ = self.kasen("fuse", "p.kir", *sizes)
        self.fault("fuse", *place, stdin=placed, status=BAD, says="level 1")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
