#!/usr/bin/env python3
"""Traces of runs.

Usage: trace_test.py FOLDER_OF_TOOLS SOURCE_ROOT [unittest arguments]
"""
import json
import sys
import unittest

sys.dont_write_bytecode = True  # the source tree stays as it is
from tools_test import USAGE, ToolTest  # noqa: E402


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
        parts = ["ready", "ghosts", "rest"]
        self.assertEqual([e["args"]["turn"] for e in products], [turn for turn in range(1, turns + 1) for _ in parts])
        self.assertEqual([e["name"].rsplit(", ", 1)[1] for e in products], [f"{part} rows" for part in parts] * turns)
        self.assertTrue(all("G' @ (pr / degree)" in e["args"]["line"] for e in products))
        self.assertEqual(sum(e["name"].startswith("iteration ") for e in events), turns)
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
        turns = sum(e["name"].startswith("iteration ") for e in events)
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


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=1)
