#!/usr/bin/env python3
"""Plans fitted to a bundle, traces of runs, ids as params, and the frame that all tools share.

Usage: fit_test.py FOLDER_OF_TOOLS SOURCE_ROOT [unittest arguments]
"""
import csv
import json
import os
import pathlib
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
        turns = [loop["trips"]["value"] for side in both.values() for loop in side["loops"]]
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
                      "sends 8 S(G.cols) bytes = 4,000, in each turn of the while at line 10"]:
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
        self.fault("measure", "--explain", "--format", "json", stdin=fused, status=USAGE, says="text only")

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


class Times(ToolTest):
    MACHINE = "memory_bandwidth: 2e9\nnetwork_bandwidth: 1e8\nnetwork_latency: 1e-3\n"
    SIZES = "N=1000000,S=500000,nnz=8000000,P=4"
    COMPUTE = ["plain_operation", "compound_operation", "division", "exp", "log", "erf", "tanh", "sine", "power", "near_entry", "far_entry", "loop_latency"]

    def test_bytes_over_bandwidths(self):
        self.prepare()
        (self.dir / "m.yaml").write_text(self.MACHINE + "".join(f"{key}: 0\n" for key in self.COMPUTE))
        out, _ = self.kasen("measure", "fused.kir", "--sizes", self.SIZES, "--machine", "m.yaml")
        turn = json.loads(self.kasen("measure", "fused.kir", "--sizes", self.SIZES, "--format", "json")[0])["loops"][0]["actual"]
        reads = 8 * 8000000  # of the product's vector: priced by entry, here with nothing
        memory = (turn["read_bytes"]["value"] + turn["written_bytes"]["value"] - reads) / 4 / 2e9
        network = turn["network_bytes"]["value"] / 4 / 1e8
        messages = (2 + 2 * 2) * 1e-3  # gather and scatter; both of the shared change in log2(4) rounds
        found = re.search(r"a turn of the while at line 10: ([0-9.]+) ms \(memory ([0-9.]+) ms, computing beyond that 0 us, network ([0-9.]+) ms, messages ([0-9.]+) ms\)", out)
        self.assertIsNotNone(found, out)
        for text, seconds in zip(found.groups(), [memory + network + messages, memory, network, messages]):
            self.assertAlmostEqual(float(text), seconds * 1e3, delta=0.006 * seconds * 1e3)
        out, _ = self.kasen("measure", "fused.kir", "--machine", "m.yaml")
        self.assertIn("whole program: not known", out)

    def test_computing(self):
        """A product's entries take longer than their bytes; a file with the old keys alone stands for the built-in rest."""
        self.prepare()
        for text, least, most in [(self.MACHINE + "near_entry: 50e-9\nfar_entry: 50e-9\n", 8e6 / 4 * 50e-9, 2 * 8e6 / 4 * 50e-9), (self.MACHINE, 0, 8e6 / 4 * 50e-9)]:
            (self.dir / "m.yaml").write_text(text)
            out, _ = self.kasen("measure", "fused.kir", "--sizes", self.SIZES, "--machine", "m.yaml")
            total = float(re.search(r"a turn of the while at line 10: ([0-9.]+) ms", out).group(1)) / 1e3
            self.assertTrue(least < total < most, out)

    def test_against_what_was_measured(self):
        self.prepare()
        (self.dir / "m.yaml").write_text(self.MACHINE)
        for ranks in [[], ["-n", 2]]:
            self.kasen("run", "fused.kir", "--bundle", "bundle", "-o", "r.h5", "--stats", "run.json", *ranks)
            out, _ = self.kasen("measure", "fused.kir", "--bundle", "bundle", "--against", "run.json", "--check", "--machine", "m.yaml")
            self.assertRegex(out, r"time of a turn of the while at line 10: predicted [0-9.]+ [um]?s, measured [0-9.]+ [um]?s \([+-][0-9]+ %\)")

    def test_calibrate(self):
        self.kasen("measure", "--calibrate", "-o", "m.yaml")
        lines = (self.dir / "m.yaml").read_text().splitlines()
        keys = dict(line.split("  #")[0].split(": ") for line in lines if not line.startswith("#"))
        self.assertEqual(sorted(keys), sorted(self.COMPUTE + ["memory_bandwidth", "cache_bytes", "cache_bandwidth", "threads", "network_bandwidth", "network_latency"]))
        self.assertTrue(all(1e-13 < float(keys[key]) < 1e-3 for key in self.COMPUTE), keys)
        self.assertGreater(float(keys["exp"]), float(keys["plain_operation"]))
        self.assertEqual(int(keys["threads"]), len(os.sched_getaffinity(0)))
        self.assertTrue(1e8 < float(keys["memory_bandwidth"]) < 1e13 and 1e6 < float(keys["network_bandwidth"]) < 1e13, keys)
        self.assertTrue(0 < float(keys["network_latency"]) < 1, keys)
        self.kasen("plan", PAGERANK, "-o", "plan.kir")
        self.kasen("fuse", "plan.kir", "--sync", "auto", "--machine", "m.yaml", "-o", "auto.kir")
        self.assertEqual(self.files(), ["auto.kir", "graph.txt", "m.yaml", "plan.kir"])

    def test_what_does_not_go_together(self):
        (self.dir / "m.yaml").write_text(self.MACHINE)
        plan, _ = self.kasen("plan", PAGERANK)
        self.kasen("plan", PAGERANK, "-o", "plan.kir")
        self.fault("measure", "plan.kir", "--calibrate", status=USAGE, says="--calibrate")
        self.fault("measure", "--calibrate", "--machine", "m.yaml", status=USAGE, says=["--calibrate", "'machine'"])
        self.fault("measure", "--against", "-", stdin=plan, status=USAGE, says="standard input")
        self.fault("measure", "--workers", 2, "--data", "G=-", stdin=plan, status=USAGE, says="standard input")
        self.fault("measure", "--machine", "m.yaml", "--format", "json", stdin=plan, status=USAGE, says="--format")
        self.fault("run", "--network-profile", "-n", 1, status=USAGE, says=["two ranks", "-n 2"])


class Scaling(ToolTest):
    def table(self, out, header):
        """The rows of the table whose first line begins with `header`, as lists of words."""
        lines = out[out.index(header):].split("\n\n")[0].splitlines()[1:]
        return [line.split() for line in lines]

    def test_as_bundles_would_be(self):
        self.prepare()
        for method in ["hybrid-cut", "block"]:
            out, _ = self.kasen("measure", "fused.kir", "--workers", "5,1,3", "--data", "G=graph.txt", "--method", method, "--theta", 2,
                                "--plot", "scale.svg")
            rows = self.table(out, "workers  masters")
            self.assertEqual([row[0] for row in rows], ["1", "3", "5"])
            turns = self.table(out, "workers  network bytes")
            for row, turn in zip(rows, turns):
                workers = int(row[0])
                self.kasen("partition", "--program", "plan.kir", "G=graph.txt", "--workers", workers, "--method", method, "--theta", 2,
                           "-o", "cut", "--replace")
                stats = json.loads((self.dir / "cut" / "manifest.json").read_text())["content"]
                dim, matrix = stats["dims"][0], stats["matrices"][0]
                want = [dim["size"], dim["slaves"], matrix["entries"], max(dim["masters_by_worker"]), max(dim["slaves_by_worker"]),
                        max(matrix["entries_by_worker"])]
                self.assertEqual([int(n.replace(",", "")) for n in row[1:7]], want)
                report = json.loads(self.kasen("measure", "fused.kir", "--bundle", "cut", "--format", "json")[0])
                self.assertEqual(int(turn[1].replace(",", "")), report["loops"][0]["actual"]["network_bytes"]["value"])
            picture = (self.dir / "scale.svg").read_text()
            self.assertIn("</svg>", picture)
            self.assertIn("network bytes", picture)

    @staticmethod
    def cells(out, header):
        """The numbers of a table: by row, by column; of an estimate with how far it may be off."""
        lines = out[out.index(header):].split("\n\n")[0].splitlines()[1:]
        number = lambda text: [int(n.replace(",", "")) for n in text.split(" +- ")] if re.fullmatch(r"[0-9,]+( \+- [0-9,]+)?", text) else [text]
        return [[number(text) for text in re.split("  +", line)] for line in lines]

    def test_exact_numbers_lie_within_the_error_bars_of_a_sample(self):
        self.kasen("plan", PAGERANK, "-o", "plan.kir")
        self.kasen("fuse", "plan.kir", "--epilogue", "on", "-o", "fused.kir")
        folders = [ROOT / "datasets", pathlib.Path(os.environ.get("KASEN_DATA", ROOT / "datasets"))]
        for graph in [folder / name for folder, name in zip(folders, ["cnr-2000.txt.xz", "soc-Slashdot0902.txt.xz"]) if (folder / name).exists()]:
            args = ["measure", "fused.kir", "--workers", "4,16,256", "--data", f"G={graph}"]
            exact, _ = self.kasen(*args)
            every, _ = self.kasen(*args, "--sample", 1)
            self.assertEqual(every.split("\n", 1)[1], exact.split("\n", 1)[1])
            for fraction in [0.1, 0.02]:
                sampled, _ = self.kasen(*args, "--sample", fraction)
                for header in ["workers  masters", "workers  network bytes"]:
                    uncertain = 0
                    for want, got in zip(self.cells(exact, header), self.cells(sampled, header)):
                        for a, b in zip(want, got):
                            if len(b) == 2:
                                uncertain += 1
                                self.assertLessEqual(abs(a[0] - b[0]), b[1], f"{graph} {fraction} {header}: {want} {got}")
                                self.assertLess(b[1], (0.3 if fraction == 0.1 else 1) * b[0], f"{graph} {fraction} {header}: {got}")
                            elif header == "workers  masters":
                                self.assertEqual(a, b)
                    self.assertEqual(uncertain, 6)  # two columns, three numbers of workers

    def test_what_does_not_go_together(self):
        self.prepare()
        for fraction in ["0", "1.5", "-1"]:
            self.fault("measure", "fused.kir", "--workers", "2", "--data", "G=graph.txt", f"--sample={fraction}", status=USAGE, says=["--sample"])
        self.fault("measure", "fused.kir", "--sample", "0.1", status=USAGE, says=["--workers"])
        for args, says in [(["--workers", "2"], ["--data"]), (["--data", "G=graph.txt"], ["--workers"]),
                           (["--workers", "2,x", "--data", "G=graph.txt"], ["'x'"]), (["--workers", "0", "--data", "G=graph.txt"], ["'0'"]),
                           (["--workers", "2", "--data", "G=graph.txt", "--bundle", "bundle"], ["--bundle"]),
                           (["--workers", "2", "--data", "H=graph.txt"], ["no input 'H'"])]:
            self.fault("measure", "fused.kir", *args, status=USAGE, says=says)
        self.fault("measure", "plan.kir", "--workers", 2, "--data", "G=graph.txt", status=USAGE, says="needs a plan")


class Traced(ToolTest):
    def trace(self, name):
        trace = json.loads((self.dir / name).read_text())
        return trace, [e for e in trace["traceEvents"] if e["ph"] == "X"]

    def test_trace_of_every_rank(self):
        self.prepare()
        for ranks in [1, 2, 3]:
            self.kasen("run", "-n", ranks, "fused.kir", "--bundle", "bundle", "-o", "r.h5", "--stats", "run.json", "--trace", "t.json")
            trace, events = self.trace("t.json")
            self.assertEqual({e["pid"] for e in events}, set(range(ranks)))
            names = [e["args"]["name"] for e in trace["traceEvents"] if e["name"] == "process_name"]
            self.assertEqual([name.split(":")[0] for name in names], [f"pagerank rank {r}" for r in range(ranks)])
            self.check_format(trace["traceEvents"], ranks)
            self.check_arrows(trace["traceEvents"], json.loads((self.dir / "run.json").read_text())["traffic"])
            self.assertEqual(trace["otherData"], {"program": "pagerank", "dropped_events": 0})
            report = json.loads((self.dir / "run.json").read_text())
            for key in ["read_bytes", "written_bytes", "network_bytes"]:
                counted = {n: op[key] for n, op in enumerate(report["operators"]) if op.get(key)}
                traced = {}
                for event in events:
                    number = event["args"]["operator"]
                    traced[number] = traced.get(number, 0) + event["args"][key]
                self.assertEqual({n: bytes_ for n, bytes_ in traced.items() if bytes_}, counted)

    def test_what_an_event_says(self):
        self.prepare()
        out, _ = self.kasen("run", "fused.kir", "--bundle", "bundle", "-o", "r.h5", "--stats", "run.json", "--trace", "t.json")
        self.assertIn("trace: t.json\n", out)
        _, events = self.trace("t.json")
        turns = next(op["turns"] for op in json.loads((self.dir / "run.json").read_text())["operators"] if op.get("turns"))
        products = [e for e in events if " = mxv[" in e["name"] and "start" not in e["name"] and "finish" not in e["name"]]
        self.assertEqual([e["args"]["turn"] for e in products], list(range(1, turns + 1)))
        self.assertTrue(all("G' @ (pr / degree)" in e["args"]["line"] for e in products))
        self.assertEqual(sum(e["name"].startswith("turn ") for e in events), turns)
        for what in ["start: ", "finish: "]:
            self.assertEqual(sum(e["name"].startswith(what) and " = gather " in e["name"] and "turn" in e["args"] for e in events), turns)
        self.check_nesting(events)

    def check_format(self, events, ranks):
        """What the format asks for: times in all but metadata, pairs of asynchronous events, numbers in counters."""
        waiting = {}
        for event in events:
            self.assertIn(event["ph"], "XMCbesf")
            self.assertTrue(event["name"] and isinstance(event["pid"], int) and isinstance(event["tid"], int))
            if event["ph"] != "M":
                self.assertGreaterEqual(event["ts"], 0)
            if event["ph"] == "X":
                self.assertGreaterEqual(event["dur"], 0)
            elif event["ph"] == "C":
                self.assertTrue(all(isinstance(v, (int, float)) for v in event["args"].values()))
            elif event["ph"] == "b":
                waiting[event["pid"], event["id"]] = event
            elif event["ph"] == "e":
                begun = waiting.pop((event["pid"], event["id"]))
                self.assertEqual((begun["name"], begun["cat"]), (event["name"], event["cat"]))
                self.assertLessEqual(begun["ts"], event["ts"])
        self.assertEqual(waiting, {})
        self.assertEqual(any(e["ph"] == "b" for e in events), ranks > 1)
        turns = sum(e["name"].startswith("turn ") for e in events)
        for name in ["memory traffic", "network"]:  # and nothing behind the last turn
            self.assertEqual(sum(e["ph"] == "C" and e["name"] == name for e in events), turns + ranks)
        self.assertEqual({e["pid"] for e in events if e["name"] == "memory held" and e["args"]["MB"] > 1}, set(range(ranks)))

    def check_arrows(self, events, traffic):
        """Every message between ranks is an arrow, from an event of its sender's exchange to one of its receiver's."""
        ends = {phase: {e["id"]: e for e in events if e["ph"] == phase} for phase in "sf"}
        self.assertEqual(len([e for e in events if e["ph"] in "sf"]), 2 * traffic["rank_messages"])
        self.assertEqual(ends["s"].keys(), ends["f"].keys())
        self.assertEqual(sum(e["args"]["bytes"] for e in ends["s"].values()), traffic["rank_bytes"])
        for name, sent in ends["s"].items():
            come = ends["f"][name]
            self.assertNotEqual(sent["pid"], come["pid"])
            self.assertEqual((sent["name"], sent["cat"], come["bp"]), (come["name"], come["cat"], "e"))
            self.assertLessEqual(sent["ts"], come["ts"])
            operators = set()
            for end, word in [(sent, "start: "), (come, "finish: ")]:
                around = [e for e in events if e["ph"] == "X" and e["pid"] == end["pid"] and e["ts"] <= end["ts"] <= e["ts"] + e["dur"]]
                inner = max(around, key=lambda e: (e["ts"], -e["dur"]))
                self.assertTrue(inner["name"].startswith(word) or inner["cat"] == "network", inner)
                operators.add(inner["args"]["operator"])
            self.assertEqual(len(operators), 1)

    def check_nesting(self, events):
        open_ends = []
        for event in sorted(events, key=lambda e: (e["ts"], -e["dur"])):
            end = event["ts"] + event["dur"]
            while open_ends and open_ends[-1] <= event["ts"] + 1e-6:
                open_ends.pop()
            if open_ends:
                self.assertLessEqual(end, open_ends[-1] + 1e-3, event)
            open_ends.append(end)

    def test_long_runs_are_cut(self):
        """200,000 events at most: what is left out is told, and the bytes of what is there stay right."""
        self.prepare(workers=1)
        (self.dir / "p.ks").write_text("dim N\ninput G : null[N, N]\nx : f64[N] = 1\nfor i in 0 .. 70000 {\n  y = x * 1.0000001\n  x = y + 0.5\n}\noutput x\n")
        self.kasen("plan", "p.ks", "-o", "p.kir")
        self.kasen("fuse", "p.kir", "--strategy", "none", "-o", "pf.kir")
        out, _ = self.kasen("run", "pf.kir", "--bundle", "bundle", "-o", "r.h5", "--trace", "t.json")
        trace, events = self.trace("t.json")
        self.assertLessEqual(len(events), 200_000)
        self.assertGreater(trace["otherData"]["dropped_events"], 0)
        self.assertIn(f"{trace['otherData']['dropped_events']} more are not in it", out)

    def test_nothing_without_it(self):
        self.prepare()
        out, _ = self.kasen("run", "fused.kir", "--bundle", "bundle", "-o", "r.h5")
        self.assertNotIn("trace", out)
        self.assertEqual([f for f in self.files() if f.endswith(".json")], [])

    def test_failed_runs_leave_no_trace(self):
        self.prepare()
        self.fault("run", "fused.kir", "--bundle", "bundle", "-o", "r.h5", "--trace", "no/such/t.json", status=73, says="no/such/t.json")
        self.assertNotIn("r.h5", self.files())
        self.fault("run", "fused.kir", "--bundle", "bundle", "-o", "r.h5", "--trace", "-", status=USAGE, says="standard output")


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
                levels = list(csv.reader((self.dir / "r-level.csv").read_text().splitlines()))[1:]
                self.assertEqual([row[0] for row in levels if row[1] == "1"], [str(vertex)])
                who = list(csv.reader((self.dir / "r-who.csv").read_text().splitlines()))[1:]
                self.assertEqual({row[1] for row in who}, {str(vertex)})
        # As the program's default, set by plan.
        self.kasen("plan", "p.ks", "-D", f"source={ids[5]}", "-o", "p5.kir")
        self.kasen("fuse", "p5.kir", "-o", "f5.kir")
        self.kasen("run", "f5.kir", "--bundle", "b", "-o", "r.csv", "--format", "csv")
        self.assertIn(f"\n{ids[5]},1\n", (self.dir / "r-level.csv").read_text())

    def test_ids_that_the_data_do_not_have(self):
        self.prepare_ids()
        missing = next(v for v in range(10_000) if v not in {w for arc in self.arcs for w in arc})
        self.fault("run", "f.kir", "--bundle", "b", "-D", f"source={missing}", "-o", "r.csv", status=USAGE, says=[str(missing), "V", "-D source=ID"])
        self.fault("run", "f.kir", "--bundle", "b", "-D", "source=1.5", "-o", "r.csv", status=USAGE, says=["source", "1.5"])
        if 0 not in {w for arc in self.arcs for w in arc}:
            self.fault("run", "f.kir", "--bundle", "b", "-o", "r.csv", status=USAGE, says=["source", "-D source=ID"])

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
        rows = [line.split("  ")[0] for line in listed.splitlines()[1:-1]]
        self.assertLess(rows.index("place"), rows.index("fuse-vector"))
        self.assertLess(rows.index("fuse-products"), rows.index("buffers"))
        steps = {s for line in listed.splitlines()[1:-1] for s in re.findall(r"\b[1-5]\b", line[18:25])}
        self.assertEqual(steps, set("12345"))
        (self.dir / "kept.txt").write_text("old\n")
        self.kasen("fuse", "--list-passes", "-o", "kept.txt")
        self.assertEqual((self.dir / "kept.txt").read_text(), listed)
        self.prepare()
        _, told = self.kasen("fuse", "plan.kir", "--time-passes", "-o", "f.kir")
        for row in rows:
            (self.assertNotIn if row == "fuse-selected" else self.assertIn)(row, told)
        _, told = self.kasen("fuse", "plan.kir", "--strategy", "fuse-all", "--time-passes", "-o", "f.kir")
        self.assertIn("fuse-selected", told)
        self.assertNotIn("fuse-vector", told)

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
