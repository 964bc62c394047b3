#!/usr/bin/env python3
"""docs/performance.md is what scripts/bench-table makes of bench/results/, and takes further results.

Usage: performance_test.py SOURCE_ROOT [unittest arguments]
"""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(sys.argv[1])


def machine(name):
    return {"processor": name, "number": "1/2", "processors": 4, "caches": [32768, 2 << 20], "threads": 4,
            "read_bytes_s": 12.34e9, "triad_bytes_s": 9e9, "multiply_add_flop_s": 1e11}


def row(question, contestant, median, ratio):
    return {"question": question, "contestant": contestant, "threads": 4, "ranks": 1, "unit": "ms/iteration",
            "median": median, "min": median, "max": median, "ratio": ratio}


class Page(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.dir = pathlib.Path(self.folder.name)
        (self.dir / "scripts").mkdir()
        (self.dir / "docs").mkdir()
        shutil.copy(ROOT / "scripts" / "bench-table", self.dir / "scripts")
        self.page = self.dir / "docs" / "performance.md"
        shutil.copy(ROOT / "docs" / "performance.md", self.page)
        if (ROOT / "bench" / "results").is_dir():
            shutil.copytree(ROOT / "bench" / "results", self.dir / "bench" / "results")

    def table(self, *arguments, status=0):
        done = subprocess.run([self.dir / "scripts" / "bench-table", *map(str, arguments)], text=True, capture_output=True, check=False)
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stderr

    def add(self, name, rows):
        file = self.dir / "run.json"
        file.write_text(json.dumps({"machine": machine(name), "rows": rows}))
        return self.table("--add", file)

    def test_is_made_of_the_results(self):
        self.table("--check")
        self.assertLessEqual(len(self.page.read_text().splitlines()), 150)
        self.page.write_text(self.page.read_text().replace("<!-- to here -->", "by hand\n<!-- to here -->"))
        self.assertIn("run scripts/bench-table", self.table("--check", status=1))
        self.table()
        self.table("--check")

    def test_names_every_peer(self):
        text = self.page.read_text()
        for file in (ROOT / "bench" / "results").glob("*.json"):
            results = json.loads(file.read_text())
            self.assertIn(results["machine"]["processor"], text)
            for peer in {row["contestant"] for row in results["rows"] if "question" in row} - {"kasen"}:
                self.assertIn(peer, text, file)

    def test_adds_a_processor_and_replaces_rows_of_a_question(self):
        before = self.page.read_text()
        self.add("A new one", [row("pagerank", "kasen", 2.0, 1.0), row("pagerank", "gap", 4.0, 0.5), row("strange", "kasen", 0.0123, 1.0)])
        self.assertIn("| 4, 4 | 32 KiB, 2 MiB | 12.3 GB/s | 9 GB/s | 100 GFLOP/s |", self.page.read_text())
        self.assertIn("| PageRank, an iteration on cnr-2000 | 2 ms/iteration | gap 0.50 |", self.page.read_text())
        told = self.add("A new one", [row("pagerank", "kasen", 1234.0, 1.0), {"question": "pagerank", "contestant": "numba", "missing": "not there"},
                                      {"question": "strange", "failed": "it is"}])
        self.assertIn("strange failed", told)
        text = self.page.read_text()
        self.assertIn("| PageRank, an iteration on cnr-2000 | 1230 ms/iteration | numba - |", text)
        self.assertIn("Not measured: numba (not there).", text)
        self.assertIn("| strange | 0.0123 ms/iteration |  |", text)
        self.table("--check")
        (self.dir / "bench" / "results" / "a-new-one-1-2-4.json").unlink()
        self.table()
        self.assertEqual(self.page.read_text(), before)

    def test_refuses_other_files(self):
        (self.dir / "list.json").write_text("[]")
        self.assertIn("no result", self.table("--add", self.dir / "list.json", status=1))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], verbosity=1)
