#!/usr/bin/env python3
"""Plots that compare methods: the numbers of their marks beside those of the tables.

Usage: plots_test.py FOLDER_OF_TOOLS SOURCE_ROOT [unittest arguments]
"""
import re
import sys
import unittest
import xml.etree.ElementTree as ET

sys.dont_write_bytecode = True  # the source tree stays as it is
from tools_test import ToolTest  # noqa: E402

SVG = "{http://www.w3.org/2000/svg}"


class ScalingPlots(ToolTest):
    def marks(self, name):
        """{(series, workers, unit): value} of the marks, and the texts of the plot."""
        root = ET.parse(self.dir / name).getroot()
        found = {}
        for circle in root.findall(f"{SVG}circle"):
            series, place = circle.find(f"{SVG}title").text.split("\n")
            workers, unit, value = re.fullmatch(r"workers (\d+): (\w+) (\S+)(?: \(.*\))?", place).groups()
            self.assertNotIn((series, int(workers), unit), found)
            found[series, int(workers), unit] = float(value)
        return found, [text.text for text in root.iter(f"{SVG}text")]

    def test_methods_beside_each_other(self):
        self.prepare()
        out, _ = self.kasen("measure", "fused.kir", "--data", "G=graph.txt", "--workers", "2,4", "--method", "all", "--plot", "all.svg")
        rows = [re.split(r"  +", line) for line in out.split("\n\n")[1].splitlines()[1:]]
        marks, texts = self.marks("all.svg")
        self.assertEqual({(method, int(workers)) for workers, method, *_ in rows}, {(series, workers) for series, workers, _ in marks})
        for workers, method, sent, *_ in rows:
            self.assertAlmostEqual(marks[method, int(workers), "MB"], int(sent.replace(",", "")) / 1e6, places=8)
        for title in ["slaves on all workers", "sent between workers", "predicted time", "slaves", "MB", "ms"]:  # a unit for each axis
            self.assertEqual(texts.count(title), 1)
        for method in {row[1] for row in rows}:
            self.assertEqual(texts.count(method), 1)  # one legend for all

    def test_one_method_is_one_of_all(self):
        self.prepare()
        for method in ["all", "block"]:
            self.kasen("measure", "fused.kir", "--data", "G=graph.txt", "--workers", "1,3", "--method", method, "--plot", f"{method}.svg")
        every, _ = self.marks("all.svg")
        one, _ = self.marks("block.svg")
        self.assertEqual(one, {key: value for key, value in every.items() if key[0] == "block"})
        self.assertEqual({unit for _, workers, unit in one if workers == 1}, {"ms"})  # one worker sends nothing

    def test_samples_have_whiskers(self):
        self.prepare()
        self.kasen("measure", "fused.kir", "--data", "G=graph.txt", "--workers", "2,4", "--sample", 0.5, "--plot", "sample.svg")
        titles = [c.find(f"{SVG}title").text for c in ET.parse(self.dir / "sample.svg").getroot().findall(f"{SVG}circle")]
        ranges = [re.search(r" (\S+) \((\S+) to (\S+)\)$", title) for title in titles if "slaves" in title]
        self.assertTrue(ranges and all(ranges))
        for found in ranges:
            value, low, high = map(float, found.groups())
            self.assertTrue(low <= value <= high)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=1)
