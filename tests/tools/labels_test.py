#!/usr/bin/env python3
"""What boxes of a graph and formulas of a page say: the user's own words, and the largest terms first.

Usage: labels_test.py FOLDER_OF_TOOLS SOURCE_ROOT [unittest arguments]
"""
import re
import sys
import unittest
import xml.etree.ElementTree as ET

sys.dont_write_bytecode = True  # the source tree stays as it is
from pictures_test import Page  # noqa: E402
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


class Formulas(ToolTest):
    """Iterations stand before brackets, and of many terms the three largest are shown."""

    @staticmethod
    def value(text, sizes):
        """A formula's value: names and numbers beside each other are multiplied."""
        for name in sorted(sizes, key=len, reverse=True):
            text = re.sub(rf"(?<![\w(]){re.escape(name)}(?![\w(])", f" {sizes[name]} ", text)
        text = re.sub(r"(?<=[\d)])\s+(?=[\d(])", "*", text.replace("^", "**"))
        return eval(text, {"__builtins__": {}})  # numbers, + - * and brackets: a name that is left is an error

    def check_leading(self, leading, whole, sizes):
        """Three terms and that there are more; none of the others is larger."""
        self.assertRegex(leading, r" \+ …$")
        shown = self.expanded(leading[:-len(" + …")], sizes)
        every = self.expanded(whole, sizes)
        self.assertEqual(len(shown), 3, leading)
        self.assertGreater(len(every), 3, whole)
        self.assertEqual(shown, sorted(every, reverse=True)[:3], whole)

    def expanded(self, text, sizes):
        """The absolute value of each term, brackets multiplied out; names of sizes have brackets, too."""
        for name in sorted(sizes, key=len, reverse=True):
            text = text.replace(name, f"<{sizes[name]}>")
        text = re.sub(r"(<\d+>) \(([^()]*)\)", lambda m: re.sub(r" ([+-]) ", rf" {m[1]} \1 ", m[2]) + " " + m[1], text)
        self.assertNotIn("(", text)
        return sorted((abs(self.value(term.replace("<", " ").replace(">", " ").strip(), {})) for term in re.split(r" [+-] ", text)),
                      reverse=True)

    def test_the_largest_terms_are_shown(self):
        self.prepare()
        page = Page(self.kasen("measure", "fused.kir", "--bundle", "bundle", "--format", "html")[0])
        (chips,) = page.of("div", **{"class": "chips"})
        sizes = dict(chip["text"].replace(",", "").split(" = ") for chip in chips["children"])
        sizes = {**{re.sub(r"(?<=\w) (?=\w)", ", ", name): number for name, number in sizes.items()}, "trips": 30}  # as the program expects
        folded = checked = 0
        for cell in page.of("td"):
            small = [c for c in cell.get("children", []) if c.get("class") == "small"]
            if not small or "data-value" not in cell:
                continue
            text = small[0]["text"]
            for details in small[0].get("children", []):
                summary = details["children"][0]["text"]
                text = text[len(summary):]
                self.check_leading(summary, text, sizes)
                folded += 1
            self.assertEqual(self.value(text, sizes), int(cell["data-value"]), text)
            checked += 1
        self.assertGreater(folded, 3)
        self.assertGreater(checked, 20)

    def test_without_sizes(self):
        """The terms with most sizes in them come first."""
        self.prepare()
        page = Page(self.kasen("measure", "fused.kir", "--format", "html")[0])
        leading = [e["text"] for e in page.of("summary") if e["text"].endswith(" + …")]
        self.assertTrue(leading)
        self.assertTrue(any(text.startswith("trips (") for text in leading), leading)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=1)
