#!/usr/bin/env python3
"""Streams of disks over time: in a run's counters and its trace, predicted of a plan, and as pictures; kasen go --swap.

Usage: streams_test.py FOLDER_OF_TOOLS SOURCE_ROOT [unittest arguments]
"""
import json
import re
import sys
import unittest
import xml.etree.ElementTree as ET

import numpy

sys.dont_write_bytecode = True  # the source tree stays as it is
from tools_test import BAD, LIMIT, USAGE, ToolTest  # noqa: E402

LOOP = """dim N
input x : f64[N]
u = exp(x)
v = tanh(x)
w = sin(x)
for i in 0..6 {
  s = sum(u)
  v = v * 0.5 + sqrt(u) / s
  t = sum(v)
  w = w * 0.9 + v * t
  u = u * 0.5 + sum(w) * 1e-9
}
output u, s = sum(v), t = sum(w)
"""
PRODUCTS = """dim N, F local
input X : f64[N, F]
w : f64[F] = 1
for i in 0..4 { w = w - 1e-6 * (X' @ (X @ w)) }
output w
"""
LANES = ("operators", "disk-read", "disk-write")
KEYS = {"disk read": "disk_read_bytes", "disk write": "disk_written_bytes"}
SVG = "{http://www.w3.org/2000/svg}"


class Streams(ToolTest):
    def plan(self, text, size, *fuse, columns=0):
        rows = numpy.random.default_rng(3).normal(size=(size, columns) if columns else size)
        name = "X" if columns else "x"
        numpy.save(self.dir / f"{name}.npy", rows)
        (self.dir / "p.ks").write_text(text)
        self.kasen("plan", "p.ks", "-o", "p.kir")
        self.kasen("partition", "--program", "p.kir", f"{name}={name}.npy", "-o", "bundle", "--references", "--replace")
        return self.kasen("fuse", "p.kir", "--bundle", "bundle", "--strategy", "none", "-o", "f.kir", *fuse)[1]

    def pool(self, text, size):
        """The bytes of a plan's buffers that stores nothing."""
        self.plan(text, size)
        return self.run_it()["parts"][0]["buffer_bytes"]

    def run_it(self, *more):
        self.kasen("run", "f.kir", "--bundle", "bundle", "-o", "r.h5", "--stats", "run.json", *more)
        return json.loads((self.dir / "run.json").read_text())

    def check_streams(self, timeline, report=None):
        """Spans in order, one after another; the bytes that the operators count."""
        moved = dict.fromkeys(KEYS, 0)
        for stream in timeline["streams"]:
            before = 0
            for begin, end, busy, count, size, number in stream["spans"]:
                self.assertLessEqual(before, begin + 1e-9)
                self.assertLessEqual(begin, end)
                self.assertLessEqual(busy, end - begin + 1e-9)
                self.assertLessEqual(end, timeline["seconds"] * (1 + 1e-9))
                self.assertGreater(count, 0)
                self.assertEqual(number < 0 or stream["stream"] == "operators", True)
                before = end
                if stream["stream"] in moved:
                    moved[stream["stream"]] += size
        self.assertEqual([at for at, _ in timeline["held"]], sorted(at for at, _ in timeline["held"]))
        for kind, key in KEYS.items():
            if report is not None:
                self.assertEqual(moved[kind], sum(op.get(key, 0) for op in report["operators"]), kind)
        return moved

    def picture(self, *more):
        """The lanes of each panel of the picture: how many bars each has; and the titles."""
        args = ["measure", "f.kir", "--bundle", "bundle", "--timeline", "--format", "svg", "-o", "s.svg", *more]
        self.kasen(*args)
        root = ET.parse(self.dir / "s.svg").getroot()
        lanes = [(group.get("class").split()[1], len(list(group.iter(f"{SVG}path")))) for group in root.iter(f"{SVG}g")
                 if (group.get("class") or "").startswith("stream ")]
        titles = [text.text for text in root.iter(f"{SVG}text") if text.get("class") == "key"]
        held = [path for path in root.iter(f"{SVG}path") if path.get("class") == "held"]
        self.assertEqual(len(titles), len(held))
        limits = [group for group in root.iter(f"{SVG}g") if group.get("class") == "memory-limit"]
        again = (self.dir / "s.svg").read_bytes()
        self.kasen(*args)
        self.assertEqual((self.dir / "s.svg").read_bytes(), again)
        return lanes, titles, len(limits)

    def test_a_plan_that_stores(self):
        size = 100_000
        memory = self.pool(LOOP, size) * 2 // 3
        told = self.plan(LOOP, size, "--swap", "--memory", memory, "--explain")
        iteration = float(re.search(r"an iteration takes ([\d.e-]+) ms", told)[1]) * 1e-3
        report = self.run_it("--trace", "trace.json")
        measured = report["timeline"]
        self.assertNotIn("memory", measured)
        moved = self.check_streams(measured, report)
        self.assertGreater(min(moved.values()), 0)
        self.assertGreater(max(size for _, size in measured["held"]), 8 * size)
        out = json.loads(self.kasen("measure", "f.kir", "--bundle", "bundle", "--timeline", "--format", "json", "--against", "run.json")[0])
        self.assertEqual(out["measured_streams"], measured)
        predicted = out["predicted_streams"]
        self.check_streams(predicted)
        self.assertEqual(predicted["memory"], memory)
        self.assertLessEqual(max(size for _, size in predicted["held"]), memory)
        (loop,) = predicted["loops"]
        self.assertEqual(loop["iterations"], 6)
        self.assertAlmostEqual(loop["iteration_seconds"] / iteration, 1, delta=1e-3)
        self.assertGreater(predicted["seconds"], 6 * loop["iteration_seconds"])
        lanes, titles, limits = self.picture("--against", "run.json")
        self.assertEqual([name for name, _ in lanes], 2 * list(LANES))
        self.assertGreater(min(bars for _, bars in lanes), 0)
        self.assertEqual([title.split(":")[0] for title in titles], ["predicted for a worker", "measured"])
        self.assertEqual(limits, 1)
        self.assertEqual(self.picture()[1], titles[:1])
        self.check_trace(measured)
        page, _ = self.kasen("measure", "f.kir", "--bundle", "bundle", "--against", "run.json", "--format", "html")
        for lane in LANES:
            self.assertEqual(page.count(f'class="stream {lane}"'), 2)

    def check_trace(self, measured):
        """A track for each array and way, with all bytes."""
        events = json.loads((self.dir / "trace.json").read_text())["traceEvents"]
        tracks = {e["tid"]: e["args"]["name"] for e in events if e["name"] == "thread_name"}
        wanted = {f"{s['stream']}: {s['array']}" for s in measured["streams"] if s["stream"] != "operators"}
        self.assertEqual(set(tracks.values()) - {"steps"}, wanted)
        disk = [e for e in events if e.get("cat") == "disk" and "bytes" in e["args"]]
        self.assertEqual(sum(e["args"]["bytes"] for e in disk), sum(span[4] for s in measured["streams"] for span in s["spans"]))
        self.assertTrue(all(e["ts"] >= 0 and e["dur"] >= 0 for e in disk))
        self.assertTrue(any(e["name"].startswith("waits for stores and loads: ") for e in events))

    def test_rows_that_go_by(self):
        self.plan(PRODUCTS, 60_000, columns=40)
        self.assertNotIn("timeline", self.run_it())
        report = self.run_it("--memory", "40M")
        moved = self.check_streams(report["timeline"], report)
        self.assertGreater(moved["disk read"], 0)
        self.assertEqual(moved["disk write"], 0)
        self.assertEqual(report["timeline"]["memory"], 40 << 20)
        self.assertEqual({s.get("array") for s in report["timeline"]["streams"]}, {None, "X"})
        lanes, titles, limits = self.picture("--against", "run.json")
        self.assertEqual([name for name, _ in lanes], ["operators", "disk-read"])
        self.assertEqual((len(titles), limits), (1, 1))

    def test_go(self):
        size = 100_000
        memory = self.pool(LOOP, size) * 2 // 3
        go = ["go", "p.ks", "x=x.npy", "--strategy", "none", "--swap", "--memory"]
        self.kasen("go", "p.ks", "x=x.npy", "--strategy", "none", "--dir", "whole")
        out, _ = self.kasen(*go, memory, "--dir", "part")
        self.assertIn("agree", out)
        self.assertIn(f"memory {memory}", (self.dir / "part" / "fused.kir").read_text())
        self.assertEqual((self.dir / "part" / "result.h5").read_bytes(), (self.dir / "whole" / "result.h5").read_bytes())
        self.assertEqual((self.dir / "part" / "report.html").read_text().count('<section id="streams"'), 1)
        self.assertNotIn('<section id="streams"', (self.dir / "whole" / "report.html").read_text())
        self.fault(*go[:-1], "--dir", "no", status=USAGE, says="--swap without --memory")
        self.assertFalse((self.dir / "no").exists())
        self.fault(*go, 1000, "--dir", "less", status=LIMIT, says="do not fit into 1000 bytes")

    def test_what_is_refused(self):
        self.plan(LOOP, 1000)
        report = self.run_it()
        shown = ["measure", "f.kir", "--bundle", "bundle"]
        self.fault(*shown, "--timeline", "--format", "svg", "--against", "run.json", status=USAGE, says="nothing moves")
        report["timeline"] = {"seconds": 1, "streams": [{"stream": "disk read", "array": "x", "spans": [[0, 2, 1, 1, 8, -1]]}], "held": []}
        (self.dir / "run.json").write_text(json.dumps(report))
        self.fault(*shown, "--against", "run.json", status=BAD, says="the timeline is not")
        report["timeline"]["seconds"] = 2
        (self.dir / "run.json").write_text(json.dumps(report))
        self.kasen(*shown, "--against", "run.json")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
