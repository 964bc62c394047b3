#!/usr/bin/env python3
"""Plans fitted to a bundle, and plans chosen by cost.

Usage: fit_test.py FOLDER_OF_TOOLS SOURCE_ROOT [unittest arguments]
"""
import json
import re
import sys
import unittest

sys.dont_write_bytecode = True  # the source tree stays as it is
from tools_test import BAD, CONFIG, PAGERANK, ROOT, USAGE, ToolTest  # noqa: E402


class Fitted(ToolTest):
    def test_a_plan_names_its_bundle(self):
        self.prepare()
        digest = json.loads((self.dir / "bundle" / "manifest.json").read_text())["digest"]
        out, _ = self.kasen("fuse", "plan.kir", "--bundle", "bundle", "-o", "fitted.kir")
        self.assertEqual(out, "")
        text = (self.dir / "fitted.kir").read_text()
        self.assertEqual(text.count(f'fitted "{digest}"'), 1)
        self.assertNotIn("fitted", (self.dir / "fused.kir").read_text())
        self.kasen("verify", "fitted.kir")
        for ranks in [[], ["-n", 2]]:
            self.kasen("run", "fitted.kir", "--bundle", "bundle", "-o", "r.csv", "--format", "csv", "--stats", "run.json", *ranks)
            self.check_ranks(self.dir / "r.csv")
            self.kasen("measure", "fitted.kir", "--bundle", "bundle", "--against", "run.json", "--check")

    def test_another_bundle_is_refused(self):
        self.prepare()
        self.kasen("fuse", "plan.kir", "--bundle", "bundle", "-o", "fitted.kir")
        self.kasen("partition", "--program", "plan.kir", "G=graph.txt", "--workers", 2, "-o", "other")
        says = ["fitted.kir: error", "another bundle than 'other'", "--bundle other"]
        self.fault("run", "fitted.kir", "--bundle", "other", "-o", "r.h5", status=BAD, says=says)
        self.fault("run", "-n", 2, "fitted.kir", "--bundle", "other", "-o", "r.h5", status=BAD, says=says)
        self.fault("measure", "fitted.kir", "--bundle", "other", status=BAD, says=says)
        self.fault("measure", "fused.kir", "--compare", "fitted.kir", "--bundle", "other", status=BAD, says=says)
        self.fault("fuse", "fitted.kir", "--bundle", "other", status=BAD, says=says)
        self.fault("fuse", "fused.kir", "--bundle", "other", status=BAD, says=["fused.kir:1", "level 3"])
        self.assertNotIn("r.h5", self.files())
        self.kasen("run", "fused.kir", "--bundle", "other", "-o", "r.h5")  # one that was fitted to nothing runs anywhere

    def test_the_same_bundle_again(self):
        """The digest is of the content: data that are partitioned anew alike are the same bundle."""
        self.prepare()
        self.kasen("fuse", "plan.kir", "--bundle", "bundle", "-o", "fitted.kir")
        self.kasen("partition", "--program", "plan.kir", "G=graph.txt", "--workers", 3, "-o", "copy")
        self.kasen("run", "fitted.kir", "--bundle", "copy", "-o", "r.h5")

    def test_sizes(self):
        plan, _ = self.kasen("plan", PAGERANK)
        self.kasen("fuse", "--sizes", "N=1000,S=500,nnz=8e3,P=4", stdin=plan)
        self.fault("fuse", "--sizes", "M=1000", stdin=plan, status=USAGE, says=["'M'", "nnz"])
        self.fault("fuse", "--sizes", "N=1", "--bundle", "b", stdin=plan, status=USAGE, says=["--sizes", "--bundle"])


class LoopsOfOneLine(ToolTest):
    """The loops of a function are where it is called; names of sizes, titles and steps tell them apart."""

    PROGRAM = """dim N
input x : f64[N]
def settle(v) {
  u = v
  while max(abs(u)) > 1 { u = u / 2 }
  t = u
  while max(abs(t)) > 0.1 { t = t * 0.7 }
  return t
}
a = settle(x)
b = settle(2 * x) + settle(3 * x)
s = 0.0
for i in 0..3 { s = s + sum(a) }; for j in 0..i64(s) { s = s - 1 }
output a, b, s
"""
    NAMES = ["trips@10:5#1", "trips@10:5#2", "trips@11:5#1", "trips@11:5#2", "trips@11:21#1", "trips@11:21#2", "trips@13:35"]

    def setUp(self):
        super().setUp()
        (self.dir / "p.ks").write_text(self.PROGRAM)
        self.kasen("plan", "p.ks", "-o", "p.kir")
        self.kasen("fuse", "p.kir", "-o", "f.kir")

    def test_names_of_sizes(self):
        for plan in ["p.kir", "f.kir"]:
            _, err = self.kasen("measure", plan, "--sizes", "trips=3", status=USAGE)
            listed = re.findall(r"trips[^\s,;]+", err.split("its sizes are")[1].split(";")[0])
            self.assertCountEqual(listed, self.NAMES)  # fuse puts loops in another order
            for name, carried in [("trips@10:5#1", "u"), ("trips@10:5#2", "t"), ("trips@11:21#2", "t")]:
                self.assertRegex(err, rf"{name} \(of settle\.{carried}\w*\), ")
            sizes = ",".join(f"{name}={7 + k}" for k, name in enumerate(self.NAMES))
            told = json.loads(self.kasen("measure", plan, "--sizes", f"N=100,P=1,{sizes}", "--format", "json")[0])
            self.assertCountEqual([loop["trips"].get("value") for loop in told["loops"]], [3, 7, 8, 9, 10, 11, 12, 13])
        text = self.kasen("measure", "p.kir")[0]
        titles = re.findall(r"Per iteration of the (while at line \d+ \(.*?\)|for at line \d+ \(.*?\))", text)
        self.assertEqual(len(set(titles)), 8, text)

    def test_steps_of_a_run(self):
        (self.dir / "x.csv").write_text("".join(f"{k}\n" for k in range(200)))
        out, _ = self.kasen("go", "p.ks", "x=x.csv", "--no-report")
        rows = re.findall(r"(?m)^ +[0-9.]+ %  +[0-9.]+ ms  (.*)$", out.split("where the time went:")[1])
        self.assertEqual(len(rows), 5)
        self.assertEqual(len(set(rows)), 5, rows)
        self.assertRegex("\n".join(rows), r"p\.ks:1[01]: .*settle\(.*\) \(settle\.\w+\)")
        for row in rows:  # loops of `u` and `t` stand beside other lines that make these
            line = re.search(r"p\.ks:(1[01]): ", row)
            if line and "settle." in row:
                self.assertRegex(row, rf", settle\(\) at line 3 called from line {line[1]}$")

    def test_lines_of_a_function(self):
        """Each step tells the line of the function, and that of the call."""
        (self.dir / "q.ks").write_text("dim N\ninput x : f64[N]\ndef near(v) {\n  w = cumsum(v * 2)  # = w\n  s = max(w)\n"
                                       "  return cumsum(w / s)\n}\ndef far(v) {\n  return near(v) + 1\n}\nb = far(x)\noutput b\n")
        (self.dir / "x.csv").write_text("".join(f"{k}\n" for k in range(200)))
        out, _ = self.kasen("go", "q.ks", "x=x.csv", "--no-report")
        rows = out.split("where the time went:")[1]
        self.assertRegex(rows, r"q\.ks:11: b = far\(x\).*, near\(\) at line 4 called from line 11\n")


class Compared(ToolTest):
    def test_each_module_has_its_own_numbers(self):
        self.prepare()
        self.kasen("fuse", "plan.kir", "--strategy", "none", "--sync", "lazy", "-o", "unfused.kir")
        for sizes in [["--bundle", "bundle"], ["--sizes", "N=100,S=50,nnz=1000,P=3,trips=7"]]:
            out, _ = self.kasen("measure", "unfused.kir", "--compare", "fused.kir", "--format", "json", *sizes)
            both = json.loads(out)
            for side in ["before", "after"]:
                for column in ["program_model", "program_actual"]:
                    for what, number in both[side][column].items():
                        self.assertIn("value", number, f"{side} {column} {what}: {number}")
        turns = [loop["trips"]["value"] for side in ("before", "after") for loop in both[side]["loops"]]
        self.assertEqual(turns, [7, 7])


class ByCost(ToolTest):
    PROGRAM = """dim N
input G : f64[N, N], x : f64[N]
a = G' @ x
s = sum(2 * a)
b = G @ x
output s
output b
"""

    def note(self, *args, stdin):
        out, err = self.kasen("fuse", "--sync", "auto", *args, stdin=stdin)
        return out, err

    def test_auto_sends_less(self):
        (self.dir / "p.ks").write_text(self.PROGRAM)
        plan, _ = self.kasen("plan", "p.ks")
        auto, _ = self.note(stdin=plan)
        hybrid, _ = self.kasen("fuse", stdin=plan)
        gathers = [text.count(" = gather ") for text in (auto, hybrid)]
        self.assertEqual(gathers, [2, 3])  # s and b; hybrid gathers a as well

    def test_default_sizes_are_told_where_they_decide(self):
        plan, _ = self.kasen("plan", PAGERANK)
        _, err = self.note(stdin=plan)
        self.assertRegex(err, r"^kasen-fuse: note: sizes decide, .*N = 1,000,000, P = 16, S = 1,000,000, nnz = 16,000,000")
        _, err = self.note("--sizes", "N=1000,S=100,nnz=8000,P=4", stdin=plan)
        self.assertEqual(err, "")
        _, err = self.note("--sizes", "N=1000", stdin=plan)
        self.assertIn("nnz = 16,000;", err)
        self.assertNotIn("N = 1,000", err)
        self.prepare()
        _, err = self.note("--bundle", "bundle", stdin=plan)
        self.assertEqual(err, "")

    def test_every_mode_runs(self):
        self.prepare()
        results = []
        for mode in ["lazy", "eager", "hybrid", "auto"]:
            self.kasen("fuse", "plan.kir", "--bundle", "bundle", "--sync", mode, "-o", "f.kir")
            self.kasen("run", "f.kir", "--bundle", "bundle", "-o", "r.csv", "--format", "csv", "--stats", "run.json")
            self.kasen("measure", "f.kir", "--bundle", "bundle", "--against", "run.json", "--check")
            self.check_ranks(self.dir / "r.csv")
            results.append((self.dir / "f.kir").read_text().split("module", 1)[1])
        self.assertEqual(len(set(results[:3])), 3)

    def test_explain(self):
        plan, _ = self.kasen("plan", PAGERANK)
        fused, told = self.kasen("fuse", "--explain", "--sync", "lazy", "--sizes", "N=1000,S=500,nnz=8000,P=4", stdin=plan)
        self.assertTrue(fused.endswith("##end\n"))
        for words in ["Transitions\n", "Splits\n", "Laws that the plan relies on\n", "Regions\n", "Buffers\n", "Modes (one was asked for",
                      "hybrid would be", "Fusing, as a whole\n", "line 11 | new_pr = (1 - r) + r * (G' @ (pr / degree))",
                      "sends 8 S(G.cols) bytes = 4,000, in each iteration of the while at line 10"]:
            self.assertIn(words, told)
        read, _ = self.kasen("measure", "--explain", "--sizes", "N=1000,S=500,nnz=8000,P=4", stdin=fused)
        self.assertEqual(read, told)  # planned again from the source that the plan carries
        edited = fused.replace(" likely", "", 1)
        self.assertNotEqual(edited, fused)
        self.assertIn("its source does not give this very plan", self.kasen("measure", "--explain", stdin=edited)[0])
        _, auto = self.kasen("fuse", "--explain", "--sync", "auto", stdin=plan)
        self.assertRegex(auto, r"Modes \(the cheapest of \d+ ways")
        self.assertIn("sizes that are taken: N = 1,000,000", auto)
        self.assertIn("the runner-up, eager, is", auto)
        self.fault("measure", "--explain", stdin=plan, status=USAGE, says="needs a plan")
        self.fault("measure", "--explain", "--format", "csv", stdin=fused, status=USAGE, says="--format csv without --tasks")

    def test_dot(self):
        plan, _ = self.kasen("plan", PAGERANK)
        fused, _ = self.kasen("fuse", stdin=plan)
        dot, _ = self.kasen("measure", "--format", "dot", stdin=fused)
        self.assertEqual(dot.count("style=dashed"), fused.count(" = gather ") + fused.count(" = scatter "))
        for words in ['label="iter_on_vec"', "gather: 8 S(G.rows) bytes", "(line 11)", '"@cons: masters and slaves agree"', "f64[N]"]:
            self.assertIn(words, dot)

    def test_machine(self):
        plan, _ = self.kasen("plan", PAGERANK)
        self.note("--machine", self.config("machine.yaml"), stdin=plan)
        for text, place, says in [("network_latenzy: 3\n", "1:1", ["network_latenzy", "network_latency"]), ("memory_bandwidth: -1\n", "1:19", ["positive"]),
                                  ("memory_bandwidth: fast\n", "1:19", ["fast"]), ("network_latency: 1\nnetwork_latency: 2\n", "2:1", ["twice"])]:
            (self.dir / "m.yaml").write_text(text)
            self.fault("fuse", "--sync", "auto", "--machine", "m.yaml", stdin=plan, status=CONFIG, says=[f"m.yaml:{place}", *says])

    @staticmethod
    def config(name):
        return ROOT / "configs" / name


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=1)
