#!/usr/bin/env python3
"""Ids as params, and the frame that all tools share.

Usage: frame_test.py FOLDER_OF_TOOLS SOURCE_ROOT [unittest arguments]
"""
import csv
import re
import sys
import unittest

sys.dont_write_bytecode = True  # the source tree stays as it is
from tools_test import BAD, CONFIG, PAGERANK, USAGE, ToolTest  # noqa: E402


class Ids(ToolTest):
    PROGRAM = """dim V
input G : null[V, V]
param source : id[V] = 0
level = map((v, s) -> if v == s then 1 else 0, index(V), source)
output level
output who = fill(source, V)
"""

    def prepare_ids(self):
        (self.dir / "p.ks").write_text(self.PROGRAM)
        self.kasen("plan", "p.ks", "-o", "p.kir")
        self.kasen("partition", "--program", "p.kir", "G=graph.txt", "--workers", 3, "-o", "b")
        self.kasen("fuse", "p.kir", "-o", "f.kir")

    def test_params_take_the_user_s_ids(self):
        self.prepare_ids()
        ids = sorted({v for arc in self.arcs for v in arc})
        for vertex in [ids[0], ids[17], ids[-1]]:
            for ranks in [[], ["-n", 2]]:
                self.kasen("run", "f.kir", "--bundle", "b", "-D", f"source={vertex}", "-o", "r.csv", "--format", "csv", *ranks)
                levels = list(csv.reader((self.dir / "r.csv").read_text().splitlines()))[1:]
                self.assertEqual([row[0] for row in levels if row[1] == "1"], [str(vertex)])
                who = list(csv.reader((self.dir / "r-who.csv").read_text().splitlines()))[1:]
                self.assertEqual({row[1] for row in who}, {str(vertex)})
        # As the program's default, set by plan.
        self.kasen("plan", "p.ks", "-D", f"source={ids[5]}", "-o", "p5.kir")
        self.kasen("fuse", "p5.kir", "-o", "f5.kir")
        self.kasen("run", "f5.kir", "--bundle", "b", "-o", "r.csv", "--format", "csv")
        self.assertIn(f"\n{ids[5]},1\n", (self.dir / "r.csv").read_text())

    def test_ids_that_the_data_do_not_have(self):
        self.prepare_ids()
        missing = next(v for v in range(10_000) if v not in {w for arc in self.arcs for w in arc})
        self.fault("run", "f.kir", "--bundle", "b", "-D", f"source={missing}", "-o", "r.csv", status=USAGE, says=[str(missing), "V", "-D source=ID"])
        self.fault("run", "f.kir", "--bundle", "b", "-D", "source=1.5", "-o", "r.csv", status=USAGE, says=["source", "1.5"])
        if 0 not in {w for arc in self.arcs for w in arc}:
            self.fault("run", "f.kir", "--bundle", "b", "-o", "r.csv", status=USAGE, says=["source", "give one with --param source=ID"])

    def test_arrays_of_ids_name_the_data_s(self):
        """Between ids that are there, whether these lie close together or far apart."""
        (self.dir / "p.ks").write_text("""dim N, M
input G : null[N, N]
input p : id[N][M]
one : f64[N] = 1
entries = G @ one
output entries, p
""")
        self.kasen("plan", "p.ks", "-o", "p.kir")
        self.kasen("fuse", "p.kir", "-o", "f.kir")
        for far in [9, 9_000_000]:
            (self.dir / "g.txt").write_text(f"1 5\n5 {far}\n{far} 1\n")
            (self.dir / "p.csv").write_text(f"5\n{far}\n1\n")
            args = ["partition", "--program", "p.kir", "G=g.txt", "p=p.csv", "--workers", 2, "-o", "b", "--replace"]
            self.kasen(*args)
            self.kasen("run", "f.kir", "--bundle", "b", "-o", "r.csv", "--format", "csv")
            rows = list(csv.reader((self.dir / "r-p.csv").read_text().splitlines()))[1:]
            self.assertEqual([row[1] for row in rows], ["5", str(far), "1"])
            for missing in [3, far + 1]:
                (self.dir / "p.csv").write_text(f"5\n{missing}\n1\n")
                self.fault(*args, status=BAD, says=["'p'", str(missing), "N"])


class Frame(ToolTest):
    def test_wrong_values_in_a_configuration_have_a_place(self):
        self.prepare()
        for tool, text, place, says in [
                ("fuse", "sync: often\n", "1:7", ["often", "hybrid"]),
                ("fuse", "sizes: N=x\n", "1:8", ["N=x"]),
                ("measure", "format: pdf\n", "1:9", ["pdf", "html"]),
                ("run", "threads: -4\nbundle: bundle\n", "1:10", ["-4"]),
                ("run", "bundle: bundle\nkernels: fast\n", "2:10", ["fast", "generated"]),
                ("run", "bundle: bundle\nparam:\n  thetta: 1\n", "3:3", ["thetta", "theta"]),
                ("plan", "define: {tetha: 1}\n", "1:9", ["tetha", "theta"]),
                ("partition", "method: random\noutput: b\n", "1:9", ["random", "block"]),
                ("partition", "workers: 0\noutput: b\n", "1:10", ["1 to 65536"]),
                ("run", "bundle: bundle\noutput: ''\n", "2:9", ["--output is empty"]),
                ("run", "bundle: bundle\noutput: fused.kir\n", "2:9", ["also an input"]),
        ]:
            (self.dir / "c.yaml").write_text(text)
            argument = {"plan": str(PAGERANK), "partition": "G=graph.txt"}.get(tool, "fused.kir")
            self.fault(tool, argument, "--config", "c.yaml", status=CONFIG, says=[f"c.yaml:{place}: error", *says])
        # The command line wins: the file's value is not looked at.
        (self.dir / "c.yaml").write_text("sync: often\n")
        self.kasen("fuse", "plan.kir", "--config", "c.yaml", "--sync", "lazy")
        self.fault("fuse", "plan.kir", "--sync", "often", status=USAGE, says=["often", "hybrid"])

    def test_passes_are_listed_in_their_order_with_the_papers_steps(self):
        listed, _ = self.kasen("fuse", "--list-passes")
        table = [line for line in listed.splitlines()[1:-2] if not line.startswith(" ")]
        rows = [line.split("  ")[0] for line in table]
        self.assertLess(rows.index("place"), rows.index("fuse-selected"))
        self.assertLess(rows.index("fuse-selected"), rows.index("buffers"))
        steps = {s for line in table for s in re.findall(r"\b[1-5]\b", line[18:25])}
        self.assertEqual(steps, set("12345"))
        (self.dir / "kept.txt").write_text("old\n")
        self.kasen("fuse", "--list-passes", "-o", "kept.txt", "--force")
        self.assertEqual((self.dir / "kept.txt").read_text(), listed)
        self.prepare()
        _, told = self.kasen("fuse", "plan.kir", "--level", 4, "--time-passes", "-o", "f.kir")
        for row in rows:
            (self.assertNotIn if row in ("fuse-vector", "spread", "swap") else self.assertIn)(row, told)  # on request alone
        _, told = self.kasen("fuse", "plan.kir", "--strategy", "fuse-all", "--time-passes", "-o", "f.kir")
        self.assertIn("fuse-selected", told)
        _, told = self.kasen("fuse", "plan.kir", "--strategy", "none", "--time-passes", "-o", "f.kir")
        self.assertNotIn("fuse-selected", told)

    def test_empty_values(self):
        self.prepare()
        for command in [["plan", PAGERANK, "-o", ""], ["fuse", "plan.kir", "-o", ""], ["measure", "fused.kir", "-o", ""],
                        ["run", "fused.kir", "--bundle", "bundle", "-o", ""], ["run", "fused.kir", "--bundle", ""],
                        ["partition", "--program", "plan.kir", "G=graph.txt", "-o", ""], ["plan", ""], ["verify", ""],
                        ["go", PAGERANK, "G=graph.txt", "--dir", ""]]:
            self.fault(*command, status=USAGE, says="empty")

    def test_no_tool_writes_over_its_inputs(self):
        self.prepare()
        self.kasen("run", "fused.kir", "--bundle", "bundle", "-o", "r.h5", "--stats", "run.json")
        (self.dir / "p.ks").write_text(PAGERANK.read_text())
        (self.dir / "c.yaml").write_text("sync: lazy\n")
        before = {name: (self.dir / name).read_bytes() for name in self.files() if (self.dir / name).is_file()}
        part = "bundle/part-0000.h5"
        whole = (self.dir / part).read_bytes()
        measure = ["measure", "fused.kir", "--bundle", "bundle"]
        for command in [["measure", "fused.kir", "-o", "fused.kir"], ["measure", "fused.kir", "-o", "./fused.kir"],
                        [*measure, "--compare", "plan.kir", "-o", "plan.kir"], [*measure, "--against", "run.json", "-o", "run.json"],
                        [*measure, "-o", part], ["plan", "p.ks", "-o", "p.ks"], ["fuse", "plan.kir", "-o", "plan.kir"],
                        ["fuse", "plan.kir", "--config", "c.yaml", "-o", "c.yaml"], ["fuse", "plan.kir", "--bundle", "bundle", "-o", part],
                        ["run", "fused.kir", "--bundle", "bundle", "-o", "r.h5", "--trace", "fused.kir"],
                        ["run", "fused.kir", "--bundle", "bundle", "-o", "r.h5", "--trace", part],
                        ["go", "p.ks", "G=graph.txt", "-o", "graph.txt"], ["go", "p.ks", "G=graph.txt", "-o", "p.ks"],
                        ["go", "p.ks", "G=fused.kir", "--dir", "."], ["go", "p.ks", "G=./result.csv", "--format", "csv", "--dir", "."]]:
            if "G=./result.csv" in command:
                (self.dir / "result.csv").write_text("1 2\n")
            self.fault(*command, status=USAGE, says="also an input")
        with (self.dir / "plan.kir").open() as plan:
            self.fault("fuse", "-o", "plan.kir", stdin=None, status=USAGE, says="also an input", input_file=plan)
        self.fault("run", "fused.kir", "--bundle", "bundle", "-o", "x.h5", "--trace", "x.h5", status=USAGE, says="two outputs")
        self.fault("run", "fused.kir", "--bundle", "bundle", "--stats", "./pagerank.h5", status=USAGE, says="two outputs")
        self.assertEqual({name: (self.dir / name).read_bytes() for name in before}, before)
        self.assertEqual((self.dir / part).read_bytes(), whole)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=1)
