#!/usr/bin/env python3
"""Communication lower bounds: plans whose mesh the planner finds send to each worker what the bound says, and a run counts
what was predicted.

Usage: bounds_test.py FOLDER_OF_TOOLS SOURCE_ROOT [unittest arguments]
"""
import itertools
import json
import re
import sys
import unittest

import numpy

sys.dont_write_bytecode = True  # the source tree stays as it is
from tools_test import ToolTest  # noqa: E402

PRODUCT = ("dim N, K, M\ninput A : dense f64[N, K], B : dense f64[K, M]\noutput R = A @ B\n", "ik,kj->ij")
INNER = ("dim N, K, M\ninput A : dense f64[N, K], B : dense f64[N, M]\noutput R = A' @ B\n", "ki,kj->ij")
OUTER = ("dim N, K, M\ninput A : dense f64[N, K], B : dense f64[M, K]\noutput R = A @ B'\n", "ik,jk->ij")
MTTKRP = ("dim I, J, K, F\ninput A : dense f64[I, J, K], B : dense f64[J, F], C : dense f64[K, F]\n"
          "output R = [i in I, f in F: sum(j in J, k in K: A[i, j, k] * B[j, f] * C[k, f])]\n", "ijk,jf,kf->if")
# The program, its sizes, the workers, the axes of the mesh: of each product one, two or three are cut.
CELLS = [(PRODUCT, "N=256,K=32,M=32", 2, 1), (PRODUCT, "N=64,K=32,M=64", 4, 2), (PRODUCT, "N=64,K=64,M=64", 8, 3),
         (PRODUCT, "N=64,K=128,M=64", 16, 3), (INNER, "N=512,K=16,M=16", 2, 1), (INNER, "N=512,K=16,M=16", 4, 1),
         (INNER, "N=64,K=64,M=64", 8, 3), (INNER, "N=256,K=64,M=16", 16, 2), (OUTER, "N=128,K=8,M=256", 2, 1),
         (OUTER, "N=128,K=8,M=128", 4, 2), (OUTER, "N=128,K=8,M=256", 8, 2), (OUTER, "N=128,K=8,M=128", 16, 2),
         (MTTKRP, "I=16,J=32,K=16,F=4", 2, 1), (MTTKRP, "I=16,J=32,K=32,F=4", 4, 2),
         (MTTKRP, "I=32,J=32,K=32,F=8", 8, 3), (MTTKRP, "I=16,J=64,K=64,F=4", 16, 2)]
VALUE = re.compile(r"%\w+ = (\w+).* : f64\[([^\]]*)\] @(\w+)(?:\(\w+\))?(?:\{([\w, ]+)\})?")


def runs(size, cuts, places, held):
    """The indices of an axis at one place of the mesh: pieces of pieces, all of them along held axes."""
    pieces = [numpy.arange(size)]
    for axis in cuts:
        count, at = places[axis]
        split = [numpy.array_split(piece, count) for piece in pieces]
        pieces = [part for parts in split for part in (parts if axis in held else [parts[at]])]
    return sum(len(piece) for piece in pieces)


def received(plan, sizes):
    """Elements that each worker receives, from the layouts that the plan's text names."""
    names, counts = zip(*re.findall(r"(\w) = (\d+)", re.search(r"\n  mesh (.*)", plan)[1]), strict=True)
    counts = [int(count) for count in counts]
    by_worker = []
    for at in itertools.product(*map(range, counts)):
        places, total = {name: (count, place) for name, count, place in zip(names, counts, at, strict=True)}, 0
        before = {}
        for line in plan.splitlines():
            value = VALUE.search(line)
            if not value:
                continue
            operator, dims, state, along = value.groups()
            cuts = [(dim.split("/") + [""])[:2] for dim in dims.split(",")]
            held = "" if along is None else "".join(names) if along == "all" else along.replace(", ", "")
            held = held if state in ("cons", "pre") else ""
            stored = numpy.prod([runs(sizes[dim], by, places, held) for dim, by in cuts])
            owned = numpy.prod([runs(sizes[dim], by, places, "") for dim, by in cuts])
            if operator == "scatter":
                total += stored - owned
            if operator == "gather":
                total += owned * (numpy.prod([places[axis][0] for axis in before["held"]]) - 1)
            if operator == "relayout":
                raise AssertionError("an array is cut anew")
            before = {"held": held}
        by_worker.append(int(total))
    return by_worker


class Bounds(ToolTest):
    def setUp(self):
        super().setUp()
        self.random = numpy.random.default_rng(17)

    def data(self, program, sizes):
        """The operands as files, and NumPy's result."""
        arrays = {}
        for name, dims in re.findall(r"(\w) : dense f64\[([^\]]*)\]", program[0]):
            arrays[name] = self.random.standard_normal([sizes[dim] for dim in dims.split(", ")])
            numpy.save(self.dir / f"{name}.npy", arrays[name])
        return [f"{name}={name}.npy" for name in arrays], numpy.einsum(program[1], *arrays.values())

    def cell(self, program, text, workers, axes):
        sizes = {name: int(size) for name, size in (item.split("=") for item in text.split(","))}
        (self.dir / "p.ks").write_text(program[0])
        inputs, wanted = self.data(program, sizes)
        self.kasen("plan", "p.ks", "-o", "p.kir")
        self.kasen("partition", "--program", "p.kir", *inputs, "--workers", workers, "-o", "data", "--replace")
        self.kasen("fuse", "p.kir", "--mesh", "auto", "--bundle", "data", "-o", "f.kir")
        self.kasen("run", "f.kir", "--bundle", "data", "--format", "npy", "-o", "r.npy", "--stats", "run.json")
        numpy.testing.assert_allclose(numpy.load(self.dir / "r.npy"), wanted, atol=1e-10)
        out, _ = self.kasen("measure", "f.kir", "--bundle", "data", "--against", "run.json", "--check")
        self.assertIn("agree to the byte", out)
        report = json.loads(self.kasen("measure", "f.kir", "--bundle", "data", "--format", "json")[0])
        bound = report["bounds"]["rows"][-1]
        self.assertEqual(bound["work"], "products" if program is MTTKRP else "product")
        self.assertLessEqual(bound["over_bound"], 1.05)
        plan = (self.dir / "f.kir").read_text()
        own = received(plan, sizes)
        self.assertEqual(bound["received_elements"], max(own))
        self.assertEqual([worker["received_bytes"] for worker in report["memory"]["workers"]], [8 * n for n in own])
        counted = json.loads((self.dir / "run.json").read_text())["traffic"]["worker_bytes"]
        self.assertEqual(counted, 8 * sum(own))
        self.assertEqual(len(re.findall(r"\w = \d+", re.search(r"\n  mesh (.*)", plan)[1])), axes)
        # From sizes alone, the same.
        again = json.loads(self.kasen("measure", "f.kir", "--sizes", f"{text},P={workers}", "--format", "json")[0])
        self.assertEqual(again["bounds"], report["bounds"])

    def test_meshes_that_the_planner_finds_reach_them(self):
        for program, text, workers, axes in CELLS:
            with self.subTest(program[1], sizes=text, workers=workers):
                self.cell(program, text, workers, axes)

    def test_sizes_that_do_not_divide(self):
        """Parts differ by an element along each axis; what is predicted for a worker is still counted for it."""
        for program, text, mesh in [(PRODUCT, "N=13,K=11,M=10", "2x2x2"), (INNER, "N=11,K=13,M=9", "2x2x3"),
                                    (OUTER, "N=10,K=15,M=9", "2x2x2"), (PRODUCT, "N=7,K=5,M=3", "3x3x2")]:
            sizes = {name: int(size) for name, size in (item.split("=") for item in text.split(","))}
            (self.dir / "p.ks").write_text(program[0])
            inputs, wanted = self.data(program, sizes)
            self.kasen("plan", "p.ks", "-o", "p.kir")
            self.kasen("partition", "--program", "p.kir", *inputs, "--workers", 1, "-o", "data", "--replace")
            layouts = []  # the program's own dimensions, so that three axes are cut whatever is cheapest
            rows, terms, columns = {"ik,kj->ij": "NKM", "ki,kj->ij": "KNM", "ik,jk->ij": "NKM"}[program[1]]
            for name, first, second in [("A", {rows: "a", terms: "bc"}, None), ("B", {terms: "ac", columns: "b"}, None),
                                        ("R", {rows: "a", columns: "bc"}, None)]:
                dims = re.search(rf"{name} : dense f64\[([^\]]*)\]", program[0])
                order = dims[1].split(", ") if dims else [rows, columns]
                layouts += ["--layout", f"{name}=[{','.join(f'{dim}/{first[dim]}' for dim in order)}]"]
            self.kasen("fuse", "p.kir", "--mesh", mesh, "--bundle", "data", *layouts, "-o", "f.kir")
            plan = (self.dir / "f.kir").read_text()
            for ranks in ([], ["-n", "3"]):
                self.kasen("run", "f.kir", *ranks, "--bundle", "data", "--format", "npy", "-o", "r.npy", "--stats", "run.json")
                numpy.testing.assert_allclose(numpy.load(self.dir / "r.npy"), wanted, atol=1e-10)
                self.kasen("measure", "f.kir", "--bundle", "data", "--against", "run.json", "--check")
            report = json.loads(self.kasen("measure", "f.kir", "--bundle", "data", "--format", "json")[0])
            self.assertEqual([worker["received_bytes"] for worker in report["memory"]["workers"]],
                             [8 * n for n in received(plan, sizes)])
            self.assertNotIn("relayout", plan)

    def test_three_factors_are_multiplied_in_the_best_order(self):
        """Whatever the language multiplies first, which goes by sizes: the tensor is cut where it is longest, and the factors
        alone travel."""
        for text, first in [("I=8,J=64,K=64,F=4", {"A"}), ("I=64,J=64,K=8,F=4", {"B", "C"}), ("I=64,J=8,K=64,F=4", {"B", "C"})]:
            for written_out in (False, True):  # the language knows the sizes, or not
                dims = f"dim {text.replace(',', ', ')}" if written_out else "dim I, J, K, F"
                (self.dir / "p.ks").write_text(MTTKRP[0].replace("dim I, J, K, F", dims))
                self.kasen("plan", "p.ks", "-o", "p.kir")
                sizes = f"{'' if written_out else text + ','}P=4"
                self.kasen("fuse", "p.kir", "--mesh", "auto", "--sizes", sizes, "-o", "f.kir")
                plan = (self.dir / "f.kir").read_text()
                steps = re.findall(r"= (?:contract|mxvt?)\[.*\] %(\w+), %(\w+)", plan)
                self.assertEqual({name.split("_")[0] for name in steps[0]}, {"B", "C"}, f"{text} {written_out}")
                if written_out:
                    before = re.findall(r"= contract\[.*\] %(\w+), %(\w+)", (self.dir / "p.kir").read_text())
                    self.assertTrue(first <= set(before[0]), f"{text}: {before}")
                report = json.loads(self.kasen("measure", "f.kir", "--sizes", sizes, "--format", "json")[0])
                self.assertLessEqual(report["bounds"]["rows"][-1]["over_bound"], 1.05)

    def test_element_wise_work_and_estimates(self):
        (self.dir / "p.ks").write_text("dim N, M\ninput A : dense f64[N, M], B : dense f64[N, M]\n"
                                       "output C = A + 2.0 * B, s = sum(A, over N), G = A' @ B\n")
        self.kasen("plan", "p.ks", "-o", "p.kir")
        self.kasen("fuse", "p.kir", "--mesh", "4", "--sizes", "N=4000,M=10", "-o", "f.kir")
        out, _ = self.kasen("measure", "f.kir", "--sizes", "N=4000,M=10,P=4")
        self.assertRegex(out, r"Element-wise operators: \d+. The bound of each is 0 elements, and no worker receives any \(NumS's estimate: 4 gamma\)")
        self.assertRegex(out, r"reduce.*  10 .* 3 gamma \+ 2 C\(10\)")
        self.assertRegex(out, r"  100 .* 7 gamma \+ R\(100\) \+ 2 C\(100\)")
        (self.dir / "m.yaml").write_text("network_latency: 1\nnetwork_bandwidth: 800\nloop_latency: 0.5\nmemory_bandwidth: 1600\n")
        out, _ = self.kasen("measure", "f.kir", "--sizes", "N=4000,M=10,P=4", "--machine", "m.yaml")
        self.assertIn("Times of messages and starts by NumS's formulas", out)
        # 7 x 0.5 + (0.5 + 800 / 1600) + 2 (1 + 800 / 800) = 8.5 seconds
        self.assertRegex(out, r"\n\d+ +t_2 = .* 8\.5 s")
        plain, _ = self.kasen("measure", "p.kir", "--sizes", "N=4000,M=10,P=4")
        self.assertNotIn("Element-wise", plain)
        # Of fewer sizes there are formulas alone.
        out, _ = self.kasen("measure", "f.kir", "--sizes", "N=4000")
        self.assertNotIn("Dense products", out)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
