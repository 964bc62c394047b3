#!/usr/bin/env python3
"""The pool of every example's plan beside the most that is live at one time: equal, or the report prints the gap.

Usage: pools_test.py FOLDER_OF_TOOLS SOURCE_ROOT [unittest arguments]
"""
import json
import re
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True  # the source tree stays as it is
from tools_test import ROOT, TOOLS, ToolTest  # noqa: E402

EXAMPLES = sorted(path.stem for path in (ROOT / "examples").glob("*.ks"))


class Pools(ToolTest):
    def sizes(self):
        """1000 of all that the formulas of memory name, but for what follows from others, on four workers."""
        report = self.kasen("measure", "fused.kir", "--format", "json")[0]
        formulas = " ".join(part["formula"] for part in json.loads(report)["memory"].values() if isinstance(part, dict))
        ghosts = re.findall(r"\bS\([^()]*\)", report)  # those that no buffer has may be live, too
        names = sorted({"P"} | set(re.findall(r"[A-Za-z_]\w*(?:\([^()]*\))?", formulas)) | set(ghosts))
        for _ in range(2 * len(names)):
            sizes = ",".join(f"{name}={4 if name == 'P' else 1000}" for name in names)
            done = subprocess.run([TOOLS / "kasen", "measure", "fused.kir", "--sizes", sizes], cwd=self.dir, text=True, capture_output=True)
            refused = re.search(r"for dimension '(\w+)'|no size '([^']+)'", done.stderr)
            if done.returncode == 0 or refused is None:
                break
            names.remove(refused[1] or refused[2])
        return sizes

    def lines(self, text):
        """What the report has about the memory of all workers, by its first words."""
        section = text[text.index("Memory held by the run"):]
        return {match[1]: match[2] for match in re.finditer(r"^  (buffers|live at one time|gap between these) (.*)$", section, re.MULTILINE)}

    def test_every_example_has_its_bound_or_its_gap(self):
        gaps = {}
        for example in EXAMPLES:
            with self.subTest(example=example):
                self.kasen("plan", ROOT / "examples" / f"{example}.ks", "-o", "plan.kir")
                self.kasen("fuse", "plan.kir", "-o", "fused.kir")
                sizes = self.sizes()
                memory = json.loads(self.kasen("measure", "fused.kir", "--sizes", sizes, "--format", "json")[0])["memory"]
                buffers, live, gap = (memory[key]["value"] for key in ("buffers", "live", "gap"))
                self.assertEqual(gap, buffers - live)
                self.assertGreaterEqual(gap, 0)
                self.assertGreater(live, 0)
                text = self.kasen("measure", "fused.kir", "--sizes", sizes)[0]
                printed = self.lines(text)
                self.assertIn("live at one time", printed)
                self.assertEqual("gap between these" in printed, memory["gap"]["formula"] != "0")
                self.assertRegex(text, "live at one time take most at line [0-9]+")
                gaps[example] = (buffers, live, memory["gap"]["formula"])
        for example, (buffers, live, formula) in sorted(gaps.items(), key=lambda entry: entry[1][0] / entry[1][1]):
            print(f"{example:20} {buffers / live:.3f}  {formula}")

    def test_a_gap_is_that_of_the_worker(self):
        self.prepare()
        memory = json.loads(self.kasen("measure", "fused.kir", "--bundle", "bundle", "--format", "json")[0])["memory"]
        text = self.kasen("measure", "fused.kir", "--bundle", "bundle")[0]
        rows = [line.split() for line in text.splitlines() if re.match(r"  \d+ +[0-9,]+ ", line)]
        self.assertEqual(len(rows), 3)
        for row, worker in zip(rows, memory["workers"]):
            self.assertEqual([int(word.replace(",", "")) for word in row[1:4]],
                             [worker["buffer_bytes"], worker["live_bytes"], worker["buffer_bytes"] - worker["live_bytes"]])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
