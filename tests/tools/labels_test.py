#!/usr/bin/env python3
"""What boxes of a graph and formulas of a page say: the user's own words, and the largest terms first.

Usage: labels_test.py FOLDER_OF_TOOLS SOURCE_ROOT [unittest arguments]
"""
import re
import sys
import unittest
import xml.etree.ElementTree as ET

sys.dont_write_bytecode = True  # the source tree stays as it is
from tools_test import PAGERANK, ROOT, ToolTest  # noqa: E402

SVG = "{http://www.w3.org/2000/svg}"
PROGRAMS = ["als", "bfs", "cp", "gaussian-mixture", "kmeans-matrix", "lbfgs", "multinomial", "nmf", "plsa", "svm"]


class Labels(ToolTest):
    def boxes(self, program):
        """The lines of each box of a program's plan, without its badge."""
        plan, _ = self.kasen("plan", program)
        fused, _ = self.kasen("fuse", stdin=plan)
        picture, _ = self.kasen("measure", "--format", "svg", stdin=fused)
        nodes = [g for g in ET.fromstring(picture).iter(f"{SVG}g") if g.get("class", "").startswith("node ")]
        return [lines for lines in ([t.text for t in node.iter(f"{SVG}text") if t.get("class") != "badge"] for node in nodes) if lines]

    def test_boxes_say_what_the_program_says(self):
        boxes = self.boxes(PAGERANK)
        self.assertEqual({box[0] for box in boxes}, {
            "G", "r", "theta", "pr", "degree", "pr / degree", "not_converged", "G' @ (pr / degree)", "new_pr",
            "abs(pr - new_pr)", "new_pr / degree", "diff"})
        does = {tuple(box) for box in boxes}
        for made in [("degree", "= G @ pr"), ("new_pr", "= 1 - r + r * (G' @ (pr / degree))"), ("diff", "= sum(abs(pr - new_pr))"),
                     ("not_converged", "= diff > theta"), ("pr / degree", "map div"), ("G' @ (pr / degree)", "mxv mul, add")]:
            self.assertIn(made, does)

    def test_no_box_has_a_name_of_the_plan_alone(self):
        """t_2_g, t_carried and the like are nothing that a user has written."""
        for name in PROGRAMS:
            program = ROOT / "examples" / f"{name}.ks"
            boxes, says_t = self.boxes(program), re.search(r"^ *t = ", program.read_text(), re.M)
            self.assertGreater(len(boxes), 5)
            for box in boxes:
                self.assertNotRegex(" ".join(box), r"\bt_(\d|g\b|s\b|first|carried|next|last)", name)
                self.assertFalse(box[0] == "t" and not says_t, name)

    def test_a_program_that_says_t(self):
        """The name that the plan gives to its own values, where the program has it, too."""
        (self.dir / "t.ks").write_text("dim N\ninput x : f64[N]\nt = x * 2.0\ny = (x + t) * (x - 1.0)\ns = sum(y * y)\noutput t\noutput s\n")
        boxes = {tuple(box) for box in self.boxes("t.ks")}
        self.assertIn(("t", "= x * 2"), boxes)
        self.assertIn(("y", "= (x + t) * (x - 1)"), boxes)
        self.assertIn(("s", "= sum(y * y)"), boxes)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=1)
