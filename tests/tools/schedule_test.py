#!/usr/bin/env python3
"""Schedules (level 4): written, run, changed by hand, refused, and shown over time.

Usage: schedule_test.py FOLDER_OF_TOOLS SOURCE_ROOT [unittest arguments]
"""
import json
import re
import sys
import unittest

sys.dont_write_bytecode = True  # the source tree stays as it is
from tools_test import BAD, PAGERANK, ROOT, USAGE, ToolTest  # noqa: E402

SECONDS = {"us": 1e-6, "ms": 1e-3, "s": 1.0}


class Scheduled(ToolTest):
    def scheduled(self, workers=3, *options):
        self.kasen("plan", PAGERANK, "-D", "theta=1e-9", "-o", "plan.kir")
        self.kasen("partition", "--program", "plan.kir", "G=graph.txt", "--workers", workers, "--replace", "-o", "bundle")
        self.kasen("fuse", "plan.kir", *options, "-o", "fused.kir")
        self.kasen("fuse", "plan.kir", *options, "--level", 4, "-o", "four.kir")
        return (self.dir / "four.kir").read_text()

    def ranks(self, plan, *options):
        self.kasen("run", plan, "--bundle", "bundle", "-o", "ranks.csv", "--format", "csv", *options)
        self.check_ranks(self.dir / "ranks.csv")
        return (self.dir / "ranks.csv").read_text()

    def replaced(self, text, *edits):
        """The plan with some of its lines replaced, in edited.kir."""
        for before, after in edits:
            self.assertEqual(text.count(before), 1, before)
            text = text.replace(before, after)
        (self.dir / "edited.kir").write_text(text)

    def test_a_schedule_runs_like_the_plan_without_it(self):
        for options in [[], ["--epilogue", "on"], ["--sync", "lazy"], ["--strategy", "none"]]:
            text = self.scheduled(3, *options)
            self.assertTrue(text.startswith("kir 1 level 4\n"), options)
            want = self.ranks("fused.kir")
            for ranks in [1, 2, 3]:
                self.assertEqual(self.ranks("four.kir", "-n", ranks), want, options)
            self.assertEqual(self.kasen("fuse", "four.kir", "--level", 4, "--no-history")[0].count("schedule {"), 2)

    def test_a_level_3_plan_gets_its_schedule(self):
        self.scheduled()
        made, _ = self.kasen("fuse", "fused.kir", "--level", 4, "--no-history")
        body = (self.dir / "four.kir").read_text()
        self.assertEqual(made[made.index("module "):], body[body.index("module "):])

    def test_a_schedule_changed_by_hand(self):
        text = self.scheduled()
        want = self.ranks("fused.kir")
        apart = re.sub(r" *run %t_2 (ready|ghosts)\n", "", text).replace("      start %t_2_g\n      run %t_2 rest\n", "      run %t_2\n      start %t_2_g\n")
        (self.dir / "apart.kir").write_text(apart)
        self.assertLess(apart.count("\n"), text.count("\n") - 1)
        for ranks in [1, 3]:
            self.assertEqual(self.ranks("apart.kir", "-n", ranks), want)

    def test_wrong_schedules_are_refused_with_their_line(self):
        text = self.scheduled()
        for before, after, says in [
                ("      wait %t_2_g\n", "", ["'run %new_pr'", "%t_2_g is not complete there"]),
                ("      wait %diff_g\n      start %diff_s\n", "      start %diff_s\n      wait %diff_g\n", ["'start %diff_s'", "another exchange is under way"]),
                ("    free form 0\n", "    free form 1\n", ["form 1 is freed too early"]),
                ("      run %new_pr\n", "      hurry %new_pr\n", ["unknown line 'hurry'", "run, start, wait, move or copy"]),
                ("      move %new_pr, %t_next\n", "", ["does not end with what its block hands on"]),
                ("    run output \"pr\"\n", "", ["ends before it has run"])]:
            self.replaced(text, (before, after))
            err = self.fault("run", "edited.kir", "--bundle", "bundle", "-o", "no.h5", status=BAD, says=says)
            self.assertRegex(err, r"(edited\.kir|pagerank\.ks):\d+:\d+: error: ")
        self.replaced(text, ("kir 1 level 4\n", "kir 1 level 3\n"))
        self.fault("run", "edited.kir", "--bundle", "bundle", "-o", "no.h5", status=BAD, says="below level 4")
        self.fault("fuse", "plan.kir", "--level", 5, status=USAGE, says="level")

    def timeline(self, *options):
        return json.loads(self.kasen("measure", "four.kir", "--bundle", "bundle", "--timeline", "--format", "json", *options)[0])

    def test_over_time(self):
        for workers in [1, 3]:
            self.scheduled(workers)
            self.kasen("run", "four.kir", "--bundle", "bundle", "-o", "r.h5", "--stats", "run.json")
            machine = ROOT / "configs" / "machine.yaml"
            line = self.timeline("--machine", machine)
            text, _ = self.kasen("measure", "four.kir", "--bundle", "bundle", "--machine", machine)
            number, unit = re.search(r"whole program: ([\d.e-]+) (us|ms|s) ", text).groups()
            self.assertAlmostEqual(line["seconds"] / (float(number) * SECONDS[unit]), 1, delta=0.01)
            top = [one for one in line["lines"] if one["depth"] == 0]
            self.assertAlmostEqual(sum(one["seconds"] for one in top), line["seconds"], delta=1e-12)
            self.assertEqual(sorted(one["begin"] for one in top), [one["begin"] for one in top])
            held = [one["held_bytes"] for one in top]
            self.assertEqual(held, sorted(held, reverse=True))
            self.assertGreater(held[0], held[-1])
            self.assertEqual(line["held_bytes"], held[0])
            self.assertEqual(any(one["line"].startswith("wait %t_2_g") and one["seconds"] > 0 for one in line["lines"]), workers > 1)
            self.check_measured(self.timeline("--against", "run.json"))

    def check_measured(self, line):
        report = json.loads((self.dir / "run.json").read_text())
        ran = [one for one in line["lines"] if "measured_seconds" in one]
        self.assertTrue(all(one["measured_seconds"] >= 0 for one in ran))
        starts = {"run", "start", "wait", "move", "copy"}
        self.assertEqual(len(ran), sum(one["line"].split()[0] in starts for one in line["lines"]))
        self.assertEqual(len(report["schedule"]), len(line["lines"]))
        loop = next(one for one in line["lines"] if "iterations" in one)
        self.assertEqual(loop["iterations"], max(op["turns"] for op in report["operators"]))
        inside = sum(one["measured_seconds"] for one in ran if one["depth"] == 1) * loop["iterations"]
        self.assertLess(inside, loop["measured_seconds"])

    def test_over_time_as_text(self):
        self.scheduled()
        out, _ = self.kasen("measure", "four.kir", "--bundle", "bundle", "--timeline")
        for word in ["begins", "takes", "held", "each worker a process", "    wait %t_2_g  (line 11)", " iterations  (line 10)", "whole plan: "]:
            self.assertIn(word, out)
        self.fault("measure", "four.kir", "--timeline", status=USAGE, says="--timeline needs the bundle")
        self.fault("measure", "plan.kir", "--timeline", "--bundle", "bundle", status=USAGE, says="--timeline needs a plan")
        self.fault("measure", "four.kir", "--timeline", "--bundle", "bundle", "--explain", status=USAGE, says="--timeline does not go with")
        self.fault("measure", "four.kir", "--timeline", "--bundle", "bundle", "--format", "dot", status=USAGE, says="--timeline does not print in this format")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=1)
