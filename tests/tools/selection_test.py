#!/usr/bin/env python3
"""Fusion plans from the command line: strategies, the memo table, and what selection sees and chooses.

Usage: selection_test.py FOLDER_OF_TOOLS SOURCE_ROOT [unittest arguments]
"""
import re
import sys
import unittest

sys.dont_write_bytecode = True  # the source tree stays as it is
from tools_test import USAGE, ToolTest  # noqa: E402


class Selection(ToolTest):
    def test_strategies(self):
        (self.dir / "twice.ks").write_text("dim N\ninput x : f64[N]\ne = 2 * x\nt = sum(e)\noutput y = e / t\n")
        plan, _ = self.kasen("plan", "twice.ks")
        made = {}
        for strategy in ("none", "greedy", "fuse-all", "fuse-no-redundancy", "cost"):
            text, _ = self.kasen("fuse", "--strategy", strategy, "--no-history", "--sizes", "N=1e6,P=4", stdin=plan)
            made[strategy] = text
            (self.dir / f"{strategy}.kir").write_text(text)
            self.kasen("verify", f"{strategy}.kir")
        self.assertEqual(made["cost"].replace("strategy=cost:fuse-all", "strategy=fuse-all"), made["fuse-all"])
        self.assertEqual([made[s].count("region iter_on_vec") for s in ("none", "greedy", "fuse-all")], [0, 1, 2])
        # The same by a configuration file; wrong ones are told, with what was probably meant.
        (self.dir / "c.yaml").write_text("strategy: fuse-all\nsizes: N=1e6,P=4\n")
        self.assertEqual(self.kasen("fuse", "--no-history", "--config", "c.yaml", stdin=plan)[0], made["fuse-all"])
        self.fault("fuse", "--strategy", "fuse-al", status=USAGE, says=["'fuse-al'", "did you mean 'fuse-all'?", "cost"], stdin=plan)
        self.fault("go", "twice.ks", "--strategy", "costs", status=USAGE, says=["did you mean 'cost'?", "fuse-no-redundancy"])
        # Why: what each strategy would take, what the greedy plan loses, what is stored; of the finished plan as well.
        _, told = self.kasen("fuse", "--strategy", "cost", "--explain", "-o", "cost.kir", stdin=plan)
        again, _ = self.kasen("measure", "cost.kir", "--explain")
        for text in (told, again):
            seconds = dict(re.findall(r"^  (greedy|fuse-\S+|mpskip|none) +(\S+) ms$", text, re.M))
            self.assertEqual(len(seconds), 5, text)
            regret = re.search(r"regret of the greedy plan: (\S+) ", text)
            self.assertAlmostEqual(float(regret[1]), float(seconds["greedy"]) / float(seconds["fuse-all"]), 3)
            self.assertIn("the runner-up, mpskip, is predicted to take the same", text)
            self.assertIn("computed again: e in 2 operators", text)
        plans, _ = self.kasen("fuse", "--print-plans", "--sizes", "N=1e6,P=4", stdin=plan)
        self.assertIn("regret of the greedy plan: ", plans)

    def test_the_memo_table_is_printed_instead_of_a_plan(self):
        (self.dir / "rows.ks").write_text(
            "dim H, W local\ninput X : f64[H, W], y : f64[H]\nw : f64[W] = 0\n"
            "for turn in 0..20 {\n  e = X @ w - y\n  w = w - 0.1 * (X' @ (e * e))\n}\noutput w\n")
        plan, _ = self.kasen("plan", "rows.ks")
        table, told = self.kasen("fuse", "--print-memo", stdin=plan)
        self.assertIn("H = 1,000,000, ", told)
        self.assertIn("for at 4:1: 5 groups, 10 entries\n  inputs: 1 X, ", table)
        # One fused operator from the first product's rows to the second's columns.
        self.assertIn("\n  8 mxv  R(-1,6) R(7,-1) R(7,6)  # ", table)
        self.assertIn("\n  7 t  R(-1|x)  # ", table)
        self.assertNotIn("##end", table)
        _, told = self.kasen("fuse", "--print-memo", "--sizes", "H=1000,W=20,P=2", "-o", "memo.txt", stdin=plan)
        self.assertEqual(told, "")
        self.assertEqual((self.dir / "memo.txt").read_text(), table)
        (self.dir / "plan.kir").write_text(plan)
        self.kasen("fuse", "plan.kir", "-o", "fused.kir")
        self.kasen("verify", "fused.kir")
        empty, _ = self.kasen("plan", stdin="a = 1\noutput a\n")
        self.assertEqual(self.kasen("fuse", "--print-memo", stdin=empty)[0], "no operator that a template covers\n")

    def test_what_selection_sees_and_chooses(self):
        """The paper's Expression (2): one fused operator, found among all plans by costing two."""
        plan, _ = self.kasen("plan", stdin="dim N, F local, K local = 4\ninput X : f64[N, F], P : f64[N, K], V : f64[F, K]\n"
                             "Q = P * (X @ V)\noutput H = X' @ (Q - P * sum(Q, over K))\n")
        text, told = self.kasen("fuse", "--print-plans", "--sizes", "N=1e6,F=100,P=4", stdin=plan)
        self.assertEqual(told, "")
        self.assertIn("  partition of 4 5 6 7 8 9: roots 9, inputs 1 2 3, materialization points 5\n", text)
        self.assertIn("    points: 6->5 7->5 7->6* 9->7*\n    plans: 2^4; evaluated: 2, ", text)
        self.assertIn("without pruning 16\n  greedy: 40.4 ms, 1 operators\n    row_chain 4 5 6 7 9: reads 1 2 3, makes 9\n", text)
        seconds = {name: float(re.search(rf"^  {name}: ([0-9.e-]+) ms", text, re.M)[1])
                   for name in ["none", "fuse-all", "fuse-no-redundancy", "cost"]}
        self.assertEqual(min(seconds, key=seconds.get), "fuse-all")
        self.assertEqual(seconds["cost"], seconds["fuse-all"])
        blocks, weighed = text.split("strategies, the whole plan's predicted time:\n")
        self.assertTrue(blocks.endswith("    R 4 5 6 7 8 9: reads 1 2 3, makes 9\n"))
        self.assertRegex(weighed, r"cost takes greedy; the runner-up, .*\n.*regret of the greedy plan: 1 \(")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=1)
