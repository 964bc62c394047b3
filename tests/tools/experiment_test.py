#!/usr/bin/env python3
"""YAML as all tools read it, and experiments: what kasen experiment runs, keeps and tells.

Usage: experiment_test.py FOLDER_OF_TOOLS SOURCE_ROOT [unittest arguments]
"""
import csv
import json
import os
import pathlib
import shutil
import signal
import statistics
import subprocess
import sys
import time
import unittest
import xml.etree.ElementTree

import h5py
import numpy as np

sys.dont_write_bytecode = True  # the source tree stays as it is
from tools_test import BAD, CONFIG, CREATE, MISSING, PAGERANK, ROOT, TOOLS, USAGE, ToolTest  # noqa: E402


class Yaml(ToolTest):
    # Of a configuration of kasen go: the text, where the fault is, what is said.
    FAULTS = [
        ("workres: 4\n", "1:1", ["unknown key 'workres'", "did you mean 'workers'?"]),
        ("workers: 4\nranks: 2\nworkers: 2\n", "3:1", ["'workers' stands twice"]),
        ("workers: 4\ndefine: {k: 1, k: 2}\n", "2:16", ["'k' stands twice"]),
        ("workers: four\n", "1:10", ["'workers' is an integer", "'four'"]),
        ("workers: 4.5\n", "1:10", ["'workers' is an integer", "'4.5'"]),
        ('workers: "4"\n', "1:10", ["'workers' is an integer", 'the text "4"']),
        ("workers: {a: 1}\n", "1:10", ["'workers' is an integer", "a map"]),
        ("workers:\nranks: 2\n", "1:1", ["'workers' has no value"]),
        ("workers: [1, 2]\n", "1:10", ["'workers' takes one value", "kasen experiment"]),
        ("workers: 010\n", "1:10", ["'010' begins with 0", "octal"]),
        ("workers: 99999999999\n", "1:10", ["'workers' is 99999999999"]),
        ("workers: &x 1\n", "1:10", ["anchor"]),
        ("a: 1\nb: *a\n", "2:4", ["not YAML", "anchor"]),
        ("workers: !!int 4\n", "1:10", ["tag"]),
        ("workers: 1\n---\nworkers: 2\n", "2:1", ["second document"]),
        ("? [1, 2]\n: 3\n", "1:3", ["a key is one word"]),
        ("- a\n", "1:1", ["a configuration is a map"]),
        ("workers: [1\n", "2:1", ["not YAML"]),
        ("a: " + "[" * 40 + "]" * 40 + "\n", "1:35", ["32 levels"]),
        ("data: [" + "a, " * 100_000 + "]\n", "1:299999", ["more than 100000 values", "name fewer"]),
        ("workers:\n\t- 1\n", "2:1", ["not YAML", "begins with a tab", "write spaces"]),
        ("{\n\tworkers: [1 2}\n", "2:15", ["not YAML", "flow"]),
        ('dir: "abc\n', "1:6", ["not YAML", "never closed"]),
        ("dir: 'it''s\n\n", "1:6", ["not YAML", "never closed"]),
        ("define: {theta: 010}\n", "1:17", ["'010' begins with 0"]),
        ('"x\\e[31m": 1\n', "1:1", ["unknown key 'x?[31m'"]),
    ]

    def refuse(self, text, place, says, *command):
        (self.dir / "c.yaml").write_text(text)
        err = self.fault(*command, "c.yaml", status=CONFIG, says=[f"c.yaml:{place}: error: ", *says])
        self.assertNotIn("\x1b", err)
        lines, (line, column) = err.splitlines(), map(int, place.split(":"))
        if line <= len(text.splitlines()) and column <= 200:
            self.assertEqual(lines[1][2:202], text.splitlines()[line - 1][:200])
            before = "".join(c if c == "\t" else " " for c in text.splitlines()[line - 1][:column - 1])
            self.assertEqual(lines[2], "  " + before + "^")

    def test_what_is_wrong_is_told_with_its_place(self):
        for text, place, says in self.FAULTS:
            with self.subTest(text[:40]):
                self.refuse(text, place, says, "go", PAGERANK, "--config")

    def test_a_text_that_is_no_yaml(self):
        for text, says in [("workers: 4\0\n", "byte 0"), ("#" * (1 << 20) + "\n", "more than 1 MiB")]:
            (self.dir / "c.yaml").write_text(text)
            self.fault("go", PAGERANK, "--config", "c.yaml", status=CONFIG, says=["c.yaml: error: ", says])

    def test_names_in_any_letters(self):
        (self.dir / "c.yaml").write_text("program: gr\u00f6\u00dfe.ks\n", encoding="utf-8")
        self.fault("plan", "--config", "c.yaml", status=MISSING, says="cannot open 'gr\u00f6\u00dfe.ks'")

    def test_letters_that_are_none(self):
        (self.dir / "c.yaml").write_bytes(b"workers: 1\ndir: gr\xfcn\n")
        self.fault("go", PAGERANK, "--config", "c.yaml", status=CONFIG, says=["c.yaml:2:8: error: ", "not UTF-8"])
        self.assertEqual(self.files(), ["c.yaml", "graph.txt"])

    def test_quotes_that_are_closed(self):
        (self.dir / "c.yaml").write_text("\ufeff\"program\": 'it''s \"\\'\ndir: \"a \\\" 'b\n  c\"\r\n", encoding="utf-8")
        self.fault("go", "--config", "c.yaml", status=MISSING, says="""cannot open 'it's "\\'""")

    def test_machine_profiles_are_read_alike(self):
        self.kasen("plan", PAGERANK, "-o", "plan.kir")
        command = ["fuse", "plan.kir", "--sync", "auto", "--machine"]
        for text, place, says in [("exp: 1e-9\nlgo: 1e-9\n", "2:1", ["unknown key 'lgo'", "did you mean 'log'?"]),
                                  ("exp: 1e-9\nexp: 2e-9\n", "2:1", ["'exp' stands twice"]),
                                  ("exp: fast\n", "1:6", ["'exp' is a number", "'fast'"]),
                                  ("exp: -1\n", "1:6", ["'exp' is -1", "positive"]),
                                  ("exp: .inf\n", "1:6", ["'exp' is a number"]),
                                  ("network_latency: 007\n", "1:18", ["octal"])]:
            with self.subTest(text):
                self.refuse(text, place, says, *command)


class Experiments(ToolTest):
    MATRIX = f"""program: {PAGERANK}
data:
  G: {{generate: rmat, scale: 6}}
seeds: [1, 2]
workers: [1, 2, 4]
ranks: none
strategy: [none, greedy]
define: {{theta: 1e-3}}
kernels: interpreter
threads: 1
repetitions: 2
"""
    POINTS = 12  # seeds, workers, strategies

    def write(self, text=MATRIX):
        (self.dir / "e.yaml").write_text(text)

    def experiment(self, *args, **options):
        return self.kasen("experiment", "e.yaml", *args, **options)

    def lines(self, folder="e.experiment"):
        return (self.dir / folder / "runs.jsonl").read_bytes().splitlines(keepends=True)

    def rows(self, folder="e.experiment"):
        return [json.loads(line) for line in self.lines(folder)]

    def keys(self):
        return sorted((row["setting"], row["repetition"]) for row in self.rows())

    def plot(self, name):
        """The circles of a plot, once it is read as XML."""
        root = xml.etree.ElementTree.parse(self.dir / "e.experiment" / name).getroot()
        self.assertEqual(root.tag, "{http://www.w3.org/2000/svg}svg")
        circles = root.findall("{http://www.w3.org/2000/svg}circle")
        for circle in circles:
            self.assertTrue(0 < float(circle.get("cx")) < float(root.get("width")))
            self.assertTrue(0 < float(circle.get("cy")) < float(root.get("height")))
        return circles

    def test_a_matrix(self):
        self.write()
        out, err = self.experiment()
        rows = self.rows()
        self.assertEqual(len(rows), 2 * self.POINTS)
        self.assertEqual(len(set(self.keys())), 2 * self.POINTS)
        self.assertEqual(len(err.splitlines()), 2 * self.POINTS)  # one for each run
        self.check_rows(rows)
        self.check_table(out, rows)
        self.assertEqual(len(list((self.dir / "e.experiment" / "bundles").iterdir())), 6)  # two graphs, three numbers of workers
        self.assertEqual(len(self.plot("speedup.svg")), self.POINTS)
        sending = sum(row["workers"] != "1" for row in self.csv())
        self.assertEqual(len(self.plot("bytes.svg")), self.POINTS + sending)
        totals = sum(both["predicted"] > 0 for row in rows if row["repetition"] == 0 for both in row["bytes"].values())
        self.assertEqual(len(self.plot("predicted.svg")), totals)
        self.assertFalse([p.name for p in (self.dir / "e.experiment").iterdir() if p.name.startswith("now")])
        # What is done is not done again; the same rows give the same bytes.
        lines, before = self.lines(), {p.name: p.read_bytes() for p in (self.dir / "e.experiment").iterdir() if p.is_file()}
        again, err = self.experiment()
        self.assertEqual((again, err), (out, ""))
        self.assertEqual({p.name: p.read_bytes() for p in (self.dir / "e.experiment").iterdir() if p.is_file()}, before)
        # The order of the keys is not a setting; more repetitions add rows.
        self.write("".join(reversed(self.MATRIX.splitlines(keepends=True)[3:])) + "".join(self.MATRIX.splitlines(keepends=True)[:3]))
        self.experiment("--set", "repetitions=3", "--set", "workers=[4]")
        self.assertEqual(len(self.lines()), len(lines) + 4)
        self.assertEqual(self.lines()[:len(lines)], lines)

    def check_rows(self, rows):
        for row in rows:
            self.assertEqual(row["status"], "done")
            self.assertTrue(row["agrees"])
            self.assertEqual(row["versions"]["kasen"], self.kasen("--version")[0].split()[1] if row is rows[0] else row["versions"]["kasen"])
            for key in ["compiler", "mpi", "hdf5", "llvm"]:
                self.assertRegex(row["versions"][key], r"\d")
            self.assertEqual(row["host"]["name"], os.uname().nodename)
            self.assertGreater(row["host"]["memory_bytes"], 0)
            self.assertEqual(row["seeds"], {"data.G": row["settings"]["data.G"].split("seed=")[1]})
            self.assertGreater(row["sizes"]["matrices"]["G"]["entries"], 0)
            self.assertEqual(len(row["held_bytes"]), row["settings"]["workers"])
            self.assertGreater(row["peak_bytes"], max(row["held_bytes"]))
            self.assertLessEqual(sum(row["turn_seconds"]), row["seconds"])
            self.assertGreater(len(row["turn_seconds"]), 5)
            for both in row["bytes"].values():
                self.assertEqual(both["predicted"], both["counted"])

    def csv(self):
        with (self.dir / "e.experiment" / "table.csv").open(newline="") as file:
            return list(csv.DictReader(file))

    def check_table(self, out, rows):
        """All numbers of the table and the CSV, from the rows."""
        table = [line.split("  ") for line in out.splitlines()[2:]]
        table = [[cell.strip() for cell in line if cell.strip()] for line in table]
        head, lines = table[0], table[1:]
        self.assertEqual(head[:3], ["data.G", "workers", "strategy"])
        self.assertEqual(len(lines), self.POINTS)
        first = {}
        for line, row in zip(lines, self.csv(), strict=True):
            cells = dict(zip(head, line, strict=True))
            mine = [r for r in rows if all(str(r["settings"][k]) == cells[k] for k in head[:3])]
            self.assertEqual(cells["runs"], str(len(mine)))
            seconds = [r["seconds"] for r in mine]
            middle = statistics.median(seconds)
            spread = statistics.median(abs(s - middle) for s in seconds)
            base = first.setdefault((cells["data.G"], cells["strategy"]), middle)
            for name, column, number in [("median s", "median_s", middle), ("MAD s", "mad_s", spread),
                                         ("min s", "min_s", min(seconds)), ("max s", "max_s", max(seconds))]:
                self.assertAlmostEqual(float(cells[name]), number, delta=6e-7)
                self.assertAlmostEqual(float(row[column]), number, delta=1e-15)
            turn = statistics.median(t for r in mine for t in r["turn_seconds"])
            self.assertAlmostEqual(float(cells["turn ms"]), turn * 1e3, delta=6e-4)
            self.assertAlmostEqual(float(cells["speed-up"]), base / middle, delta=6e-3)
            self.assertEqual(cells["network bytes"], f"{mine[0]['bytes']['network bytes']['counted']:,}")
            self.assertEqual(row["network bytes, counted"], str(mine[0]["bytes"]["network bytes"]["counted"]))
            self.assertEqual(cells["most held"], f"{max(mine[0]['held_bytes']):,}")
            self.assertEqual(row["held_bytes"], str(sum(mine[0]["held_bytes"])))
            self.assertEqual(cells["peak"], f"{max(r['peak_bytes'] for r in mine):,}")
            self.assertEqual((cells["check"], row["check"]), ("equal", "equal"))

    def start(self):
        return subprocess.Popen([TOOLS / "kasen", "experiment", "e.yaml"], cwd=self.dir, stdout=subprocess.DEVNULL,
                                stderr=subprocess.PIPE, text=True)

    def processes(self):
        """Of this test: those that run in its folder."""
        found = []
        for process in pathlib.Path("/proc").iterdir():
            try:
                if process.name.isdigit() and os.readlink(process / "cwd") == str(self.dir.resolve()):
                    found.append((process / "cmdline").read_bytes().replace(b"\0", b" "))
            except OSError:
                continue
        return [line for line in found if line]

    def wait_for_rows(self, count):
        path = self.dir / "e.experiment" / "runs.jsonl"
        while not path.exists() or path.read_bytes().count(b"\n") < count:
            time.sleep(0.005)

    def test_killed_and_gone_on_with(self):
        self.write()
        child = self.start()
        self.wait_for_rows(3)
        child.kill()
        child.communicate()
        kept = self.lines()
        self.assertLess(len(kept), 2 * self.POINTS)
        deadline = time.time() + 10
        while (left := self.processes()) and time.time() < deadline:
            time.sleep(0.01)
        self.assertFalse(left)  # what it has started ends with it
        self.assertEqual(len(list((self.dir / "e.experiment").glob("now.tmp-*"))), 1)
        mine = self.leave_folders()
        with (self.dir / "e.experiment" / "runs.jsonl").open("ab") as file:
            file.write(kept[0][:-40])  # as if the machine had lost power while it wrote
        _, err = self.experiment()
        self.assertEqual(len(err.splitlines()), 2 * self.POINTS - len(kept))
        self.assertEqual(self.lines()[:len(kept)], kept)
        self.assertEqual(len(self.lines()), 2 * self.POINTS)
        self.assertEqual(len(set(self.keys())), 2 * self.POINTS)
        self.assertEqual(sorted((self.dir / "e.experiment").glob("now*")), mine)  # that of the killed one went, nobody else's

    def leave_folders(self):
        """What looks like an experiment's own and is not."""
        names = ["now-1234", "now-important", "now.tmp-1234", "now.tmp-0123456789ab", "now"]
        for name in names:
            folder = self.dir / "e.experiment" / name
            folder.mkdir()
            (folder / "notes.txt").write_text("mine")
        return sorted(self.dir / "e.experiment" / name for name in names)

    SMALL = f"program: {PAGERANK}\ndata: {{G: graph.txt}}\nkernels: interpreter\nrepetitions: 1\n"

    def test_what_runs_said_and_made_is_kept(self):
        self.write(self.SMALL + "workers: [1, 2]\nresults: keep\n")
        self.experiment()
        for row in self.rows():
            self.assertIn("result: ", row["output"])
            self.assertIn("kernels\npool: ", row["output"])
            counters = json.loads((self.dir / "e.experiment" / row["result"].replace(".h5", ".json")).read_text())
            self.assertEqual(counters["plan_digest"], row["plan"])
        names = sorted(row["result"] for row in self.rows())
        self.assertEqual(names, sorted(f"results/{row['setting']}-0.h5" for row in self.rows()))
        self.kasen("verify", *[f"e.experiment/{name}" for name in names])
        self.experiment("--set", "results=drop", "--set", "repetitions=2")
        self.assertEqual(len(list((self.dir / "e.experiment" / "results").iterdir())), 4)
        self.assertNotIn("result", self.rows()[-1])
        self.fault("experiment", "e.yaml", "--set", "results=kepe", status=CONFIG, says=["'results' does not know 'kepe'", "did you mean 'keep'?"])

    def test_scalar_outputs_are_columns(self):
        """The folds of a cross-validation, beside NumPy; text, dates and words in the table."""
        draw = np.random.default_rng(4)
        X, kinds = draw.normal(size=(80, 2)), draw.integers(0, 2, 80)
        y = X @ [2.0, -1.0] + 3 * kinds + 4 + 0.1 * draw.normal(size=80)
        lines = [f"{a!r},{'ba'[kind]},{b!r}" for a, kind, b in zip(X[:, 0].tolist(), kinds, X[:, 1].tolist())]
        (self.dir / "x.csv").write_text("one,kind,two\n" + "\n".join(lines) + "\n")
        with h5py.File(self.dir / "y.h5", "w") as file:
            file["g/y"] = y
        (self.dir / "folds.ks").write_text('''dim N, F local
dim Train some N, Test some N
input X : f64[N, F], y : f64[N]
param folds = 4, fold = 0
mine = i64(index(N)) % folds == fold
others = not mine
A = pick(X, others, Train)
w = solve([f in F, g in F: sum(i in Train: A[i, f] * A[i, g])], A' @ pick(y, others, Train))
miss = pick(y, mine, Test) - pick(X, mine, Test) @ w
output error = sqrt(mean(miss ^ 2)), count = sum(f64(mine)), w, flag = fold == folds, bad = log(0.0 - f64(folds))
''')
        self.write('''program: folds.ks
data: {X: x.csv, y: "y.h5:/g/y"}
one-hot: {X: kind}
param: {fold: [0, 1, 2, 3]}
kernels: interpreter
repetitions: 1
results: keep
''')
        out, _ = self.experiment()
        wide = np.column_stack([X[:, 0], kinds == 1, kinds == 0, X[:, 1]]).astype(float)
        wanted = []
        for fold in range(4):
            mine = np.arange(80) % 4 == fold
            w = np.linalg.lstsq(wide[~mine], y[~mine], rcond=None)[0]
            wanted.append(np.sqrt(np.mean((y[mine] - wide[mine] @ w) ** 2)))
        table = list(csv.DictReader((self.dir / "e.experiment/table.csv").read_text().splitlines()))
        self.assertEqual([row["param.fold"] for row in table], ["0", "1", "2", "3"])
        np.testing.assert_allclose([float(row["output error"]) for row in table], wanted, rtol=1e-6)
        self.assertEqual([(float(row["output count"]), row["output flag"], row["output bad"]) for row in table], [(20, "false", "nan")] * 4)
        self.assertNotIn("output w", table[0])
        head = next(line for line in out.splitlines() if "median s" in line)
        self.assertEqual(head.split()[-4:], ["bad", "count", "error", "flag"])
        self.assertIn(f"{wanted[0]:.4g}"[:5], out)
        for row in self.rows():
            with h5py.File(self.dir / "e.experiment" / row["result"]) as file:
                self.assertEqual(row["outputs"]["error"], file["error"][()].item() if file["error"].shape == () else file["error"][0])
        # The same table from the rows alone, and from rows of a version without outputs.
        before = (self.dir / "e.experiment/table.csv").read_bytes()
        self.experiment()
        self.assertEqual((self.dir / "e.experiment/table.csv").read_bytes(), before)
        older = [{key: value for key, value in row.items() if key != "outputs"} for row in self.rows()]
        (self.dir / "e.experiment/runs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in older))
        self.experiment()
        self.assertNotIn("output error", (self.dir / "e.experiment/table.csv").read_text())
        older[0]["outputs"] = {"error": [1]}
        (self.dir / "e.experiment/runs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in older))
        self.fault("experiment", "e.yaml", status=BAD, says="runs.jsonl:1: error: this is no row of an experiment")

    def test_means_over_the_folds(self):
        """Means and deviations of scalar outputs over settings that vary, on every way out; NumPy's are the same."""
        random = np.random.default_rng(5)
        X, noise = random.normal(size=(60, 3)), random.normal(size=60)
        y = X @ [1, -2, 0.5] + noise
        np.savetxt(self.dir / "x.csv", X, "%.17g", ",")
        np.savetxt(self.dir / "y.csv", y, "%.17g")
        (self.dir / "folds.ks").write_text('''dim N, F local
dim Train some N, Test some N
input X : f64[N, F], y : f64[N]
const penalty = 0.0
param folds = 5, fold = 0, worst = 9
mine = i64(index(N)) % folds == fold
others = not mine
A = pick(X, others, Train)
w = solve([f in F, g in F: sum(i in Train: A[i, f] * A[i, g]) + (if f == g then penalty else 0)], A' @ pick(y, others, Train))
miss = pick(y, mine, Test) - pick(X, mine, Test) @ w
output error = sqrt(mean(miss ^ 2)), flag = fold == folds, bad = if fold == worst then nan else 1.0
''')
        settings = "program: folds.ks\ndata: {X: x.csv, y: y.csv}\ndefine: {penalty: [0.0, 10.0]}\nparam: {fold: [0, 1, 2, 3, 4], worst: 2}\n"
        self.write(settings + "kernels: interpreter\nrepetitions: 1\nmean: fold\n")
        out, _ = self.experiment()
        wanted = []
        for penalty in (0, 10):
            errors = []
            for fold in range(5):
                mine = np.arange(60) % 5 == fold
                A = X[~mine]
                w = np.linalg.solve(A.T @ A + penalty * np.eye(3), A.T @ y[~mine])
                errors.append(np.sqrt(np.mean((y[mine] - X[mine] @ w) ** 2)))
            wanted.append([np.mean(errors), np.std(errors, ddof=1)])
        table = list(csv.DictReader((self.dir / "e.experiment/means.csv").read_text().splitlines()))
        self.assertEqual([(row["define.penalty"], row["points"], row["mean bad"]) for row in table], [("0.0", "5", "nan"), ("10.0", "5", "nan")])
        self.assertEqual(list(table[0]), ["define.penalty", "points", "mean bad", "deviation bad", "mean error", "deviation error"])
        made = [[float(row["mean error"]), float(row["deviation error"])] for row in table]
        np.testing.assert_allclose(made, wanted, rtol=1e-9)
        lines = out[out.index("means over param.fold:"):].splitlines()
        self.assertEqual(lines[3].split(), ["10.0", "5", "nan", "nan", f"{wanted[1][0]:.6g}", f"{wanted[1][1]:.6g}"])
        page = (self.dir / "e.experiment/report.html").read_text()
        for text in ["Means over param.fold", f"{wanted[0][0]:.6g}"]:
            self.assertIn(text, page)
        report = json.loads(self.experiment("--format", "json")[0])
        self.assertEqual(report["means"]["over"], ["param.fold"])
        self.assertEqual([group["settings"] for group in report["means"]["groups"]], [{"define.penalty": "0.0"}, {"define.penalty": "10.0"}])
        self.assertEqual(report["means"]["groups"][1]["outputs"][1], {"name": "error", "mean": made[1][0], "deviation": made[1][1]})
        self.assertEqual(report["means"]["groups"][1]["outputs"][0]["mean"], "nan")
        errors = [point["outputs"]["error"] for point in report["points"] if point["settings"]["define.penalty"] == "0.0"]
        self.assertEqual(np.mean(errors), made[0][0])
        # Over all that varies; no means; one that a point lacks; and names that mean nothing.
        whole = json.loads(self.experiment("--set", "mean=[fold, penalty]", "--format", "json")[0])["means"]["groups"]
        self.assertEqual([(group["settings"], group["points"]) for group in whole], [({}, 10)])
        self.write(settings + "kernels: interpreter\nrepetitions: 1\n")
        self.assertIsNone(json.loads(self.experiment("--format", "json")[0])["means"])
        self.assertFalse((self.dir / "e.experiment/means.csv").exists())
        rows = self.rows()
        del rows[0]["outputs"]
        (self.dir / "e.experiment/runs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        groups = json.loads(self.experiment("--set", "mean=fold", "--format", "json")[0])["means"]["groups"]
        self.assertEqual([groups[0]["outputs"][1][key] for key in ("mean", "deviation")], [None, None])
        self.assertEqual(groups[1]["outputs"][1]["mean"], made[1][0])
        for name in ("folds", "worst", "fould", "workers"):
            self.fault("experiment", "e.yaml", "--set", f"mean={name}", status=CONFIG,
                       says=[f"'mean': '{name}' is no setting of several values", "param.fold"])

    def test_data_of_the_same_size_and_time_are_other_data(self):
        """And the same data under another time are the same."""
        self.write(self.SMALL)
        self.experiment()
        graph = self.dir / "graph.txt"
        facts, text = graph.stat(), graph.read_text()
        os.utime(graph)
        self.assertEqual(self.experiment()[1], "")
        one, two = next((one, two) for one in self.arcs for two in self.arcs if not {(one[0], two[1]), (two[0], one[1])} & {*self.arcs})
        other = text.splitlines()[0] + "\n" + "".join("{}\t{}\n".format(*{one: (one[0], two[1]), two: (two[0], one[1])}.get(arc, arc)) for arc in self.arcs)
        self.assertEqual(len(other), len(text))
        graph.write_text(other)
        os.utime(graph, ns=(facts.st_atime_ns, facts.st_mtime_ns))
        self.assertIn("of other settings, data or tools", self.experiment()[1])
        one, two = self.rows()
        self.assertNotEqual(one["bundle"], two["bundle"])

    def test_a_step_that_a_signal_ends_is_told(self):
        self.write(self.SMALL)
        self.experiment(status=1, env={"KASEN_FAULT": "border:kill:2@tool=kasen-run"})
        row = self.rows()[0]
        self.assertEqual((row["step"], row["exit_status"]), ("run", 137))
        self.assertIn("kasen-run was ended by signal 9 (SIGKILL); the system ends programs so where memory runs out", row["message"])

    def test_rows_of_others(self):
        """An altered line is told with its number; what is no file is never opened."""
        self.write(f"program: {PAGERANK}\ndata: {{G: graph.txt}}\nkernels: interpreter\nrepetitions: 2\n")
        self.experiment()
        path, good = self.dir / "e.experiment" / "runs.jsonl", self.rows()
        changes = [{"seconds": "x"}, {"seconds": -1}, {"agrees": 1}, {"turn_seconds": ["x"]}, {"turn_seconds": 1}, {"bytes": []},
                   {"bytes": {"bytes read": {"predicted": 1}}}, {"held_bytes": [0.5]}, {"peak_bytes": None}, {"repetition": 99999999999},
                   {"repetition": -1}, {"setting": 1}]
        for change in changes:
            path.write_text(json.dumps(good[0]) + "\n" + json.dumps({**good[1], **change}) + "\n")
            self.fault("experiment", "e.yaml", status=BAD, says=["runs.jsonl:2: ", "no row"])
        path.unlink()
        os.mkfifo(path)
        self.fault("experiment", "e.yaml", status=CREATE, says="not a regular file")

    def test_stopped(self):
        for number, status in [(signal.SIGINT, 130), (signal.SIGTERM, 75)]:
            with self.subTest(number):
                self.write()
                shutil.rmtree(self.dir / "e.experiment", ignore_errors=True)
                child = self.start()
                self.wait_for_rows(2)
                child.send_signal(number)
                _, err = child.communicate(timeout=30)
                self.assertEqual(child.returncode, status, err)
                done = len(self.lines())
                self.assertIn(f"stopped after {done} of {2 * self.POINTS} runs; the same command goes on", err)
                self.assertTrue(all(row["status"] == "done" for row in self.rows()))
        _, err = self.experiment()
        self.assertEqual(len(err.splitlines()), 2 * self.POINTS - done)
        self.assertEqual(len(set(self.keys())), 2 * self.POINTS)

    def test_failures_are_rows(self):
        (self.dir / "bad.txt").write_text("1 2\nthree 4\n")
        self.write(f"program: {PAGERANK}\ndata: {{G: [graph.txt, bad.txt]}}\nkernels: interpreter\nrepetitions: 2\n")
        out, err = self.experiment(status=1)
        self.assertIn("bad.txt:2", err)
        self.assertEqual([row["status"] for row in self.rows()], ["done", "failed", "done", "failed"])
        failed = self.rows()[1]
        self.assertEqual((failed["step"], failed["exit_status"]), ("partition", 65))
        self.assertIn("bad.txt:2", failed["message"])
        self.assertRegex(out, r"bad\.txt +0, 2 failed +- ")
        self.experiment("--stop", status=1)
        self.assertEqual(len(self.rows()), 5)  # tried again, and stopped there
        (self.dir / "bad.txt").write_text("1 2\n3 4\n")
        out, err = self.experiment()
        self.assertEqual(len(self.rows()), 7)
        self.assertIn("of other settings, data or tools", err)
        self.assertNotIn("failed", out)

    def test_a_count_that_differs(self):
        """A measure that says no makes the status 1, and the row and the table say so."""
        tools = self.dir / "tools"
        tools.mkdir()
        shutil.copy(TOOLS / "kasen", tools)
        for name in ["plan", "partition", "fuse", "run", "generate"]:
            (tools / f"kasen-{name}").symlink_to(TOOLS / f"kasen-{name}")
        measure = tools / "kasen-measure"
        measure.write_text(f"#!/bin/sh\n{TOOLS}/kasen-measure \"$@\" | sed 's/\"agrees\": true/\"agrees\": false/; s/\"counted\": /&1/'\nexit 1\n")
        measure.chmod(0o755)
        self.write(f"program: {PAGERANK}\ndata: {{G: graph.txt}}\nkernels: interpreter\nrepetitions: 1\n")
        done = subprocess.run([tools / "kasen", "experiment", "e.yaml"], cwd=self.dir, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("predicted and counted differ", done.stderr)
        self.assertRegex(done.stdout, r"differs *$")
        self.assertFalse(self.rows()[0]["agrees"])

    def test_overrides_and_dry_runs(self):
        self.write()
        out, _ = self.experiment("--dry-run", "--set", "workers=[2, 8]", "-D", "theta=[1e-2, 1e-4]", "--set", "seeds=5",
                                 "--set", "ranks=[none, 4, workers]", "-o", "other")
        self.assertIn("20 points, 2 repetitions, into other", out)
        self.assertIn("4 points of more ranks than workers are left out", out)
        self.assertIn("data.G=rmat scale=6 seed=5", out)
        lines = out.splitlines()[3:]
        self.assertEqual(len(lines), 20)
        self.assertEqual(lines[0], "workers=2, ranks=none, strategy=none, define.theta=1e-2")
        self.assertEqual(self.files(), ["e.yaml", "graph.txt"])
        self.write(f"program: {PAGERANK}\ndata: {{G: graph.txt}}\nparam: {{theta: [1, 2], r: [0.5, 0.6]}}\n")
        lines = self.experiment("--dry-run", "-D", "theta=[3, 4, 5]")[0].splitlines()
        self.assertEqual([line for line in lines if line.startswith("param.theta=")][0], "param.theta=3, param.r=0.5")
        self.assertEqual(sum("param.theta=" in line for line in lines), 6)
        self.assertNotIn("define.theta", "\n".join(lines))
        self.fault("experiment", "e.yaml", "--dry-run", "--set", "define.theta=3", status=CONFIG,
                   says=["e.yaml:3:17:", "'theta' has a value from define, and another from param", "leave out one"])
        self.write()
        self.fault("experiment", "e.yaml", "--set", "workres=2", status=USAGE, says="did you mean 'workers'?")
        self.fault("experiment", "e.yaml", "--set", "workers=two", status=CONFIG, says=["--set workers:1:10", "an integer"])
        self.fault("experiment", "e.yaml", "--set", "workers", status=USAGE, says="KEY=VALUE")
        self.fault("experiment", status=USAGE, says="no experiment")
        self.write(f"program: {PAGERANK}\ndata: {{G: none.txt}}\n")
        for how in [[], ["--dry-run"]]:
            self.fault("experiment", "e.yaml", *how, status=MISSING, says=["e.yaml:2:", "cannot open 'none.txt'"])
            self.assertEqual(self.files(), ["e.yaml", "graph.txt"])

    def test_ranks(self):
        self.write(f"program: {PAGERANK}\ndata: {{G: graph.txt}}\nworkers: 2\nranks: [1, workers]\nrepetitions: 1\nkernels: interpreter\n")
        self.experiment()
        rows = self.rows()
        self.assertEqual([row["settings"]["ranks"] for row in rows], [1, "workers"])
        self.assertEqual([row["bytes"]["network bytes between ranks"]["counted"] > 0 for row in rows], [False, True])

    def test_meshes(self):
        (self.dir / "p.ks").write_text("dim N, K, M\ninput A : dense f64[N, K], B : dense f64[K, M]\noutput C = A @ B\n")
        for name, shape in {"A": (12, 8), "B": (8, 10)}.items():
            np.save(self.dir / f"{name}.npy", np.ones(shape))
        self.write("program: p.ks\ndata: {A: A.npy, B: B.npy}\nmesh: [none, 2x2, 1x3, 4]\nranks: [none, 4]\nrepetitions: 1\nkernels: interpreter\n")
        self.experiment()
        rows = [(row["settings"]["mesh"], row["settings"]["ranks"], row["bytes"]["network bytes between workers"]["counted"]) for row in self.rows()]
        self.assertTrue(all(row["agrees"] for row in self.rows()))
        sent = {"none": 0, "1x3": 2 * 80 * 8, "2x2": (96 + 80) * 8, "4": 3 * 80 * 8}
        self.assertEqual(sorted((str(mesh), str(ranks)) for mesh, ranks, _ in rows), [("1x3", "none"), ("2x2", "4"), ("2x2", "none"), ("4", "4"), ("4", "none"), ("none", "none")])
        for mesh, _, counted in rows:
            self.assertEqual(counted, sent[str(mesh)], mesh)
        self.write("program: p.ks\ndata: {A: A.npy, B: B.npy}\nmesh: auto\nworkers: 4\ntile: [exact, worst]\nrepetitions: 1\nkernels: interpreter\n")
        self.experiment()
        tiled = {row["settings"]["tile"]: row["bytes"]["network bytes between workers"]["counted"] for row in self.rows() if "tile" in row["settings"]}
        self.assertEqual(tiled["exact"], (96 + 80) * 8)
        self.assertGreater(tiled["worst"], tiled["exact"])
        self.write("program: p.ks\ndata: {A: A.npy, B: B.npy}\nmesh: 2x2\nspread: [none, lshs, round-robin]\ngrid: {A: 4x2}\nrepetitions: 1\nkernels: interpreter\n")
        self.experiment()
        placed = {row["settings"]["spread"]: row for row in self.rows() if "spread" in row["settings"]}
        self.assertEqual(sorted(placed), ["lshs", "none", "round-robin"])
        self.assertTrue(all(row["agrees"] for row in placed.values()))
        moved = {search: row["bytes"]["network bytes between workers"]["counted"] for search, row in placed.items()}
        self.assertEqual(moved["none"], (96 + 80) * 8)
        self.assertLess(moved["lshs"], moved["round-robin"])

    def test_what_is_wrong_is_told_with_its_place(self):
        yaml = Yaml()
        yaml.dir, program = self.dir, f"program: {PAGERANK}\n"
        for text, place, says in [("workres: [1, 2]\n", "2:1", ["unknown key 'workres'", "did you mean 'workers'?"]),
                                  ("workers: 1\nworkers: 2\n", "3:1", ["'workers' stands twice"]),
                                  ("mesh: 2x2\nspread: [none, best]\n", "3:16", ["'spread' does not know 'best'", "lshs"]),
                                  ("workers: [1, two]\n", "2:14", ["'workers' is an integer", "'two'"]),
                                  ("workers: [1, 1]\n", "2:14", ["'1' stands twice in the list", "repetitions"]),
                                  ("workers: []\n", "2:10", ["'workers' is an empty list", "leave the key out"]),
                                  ("data: {web: {G: graph.txt}}\n", "2:13", ["data are a file, or a map that says what to generate", "data: [{G: FILE"]),
                                  ("workers: 0\n", "2:10", ["'workers' is 0", "1 to 65536"]),
                                  ("method: [block, hybrid]\n", "2:17", ["does not know 'hybrid'", "hybrid-cut"]),
                                  ("strategy: gredy\n", "2:11", ["did you mean 'greedy'?"]),
                                  ("mesh: [none, 2x0]\n", "2:14", ["'2x0' is no mesh of workers", "mesh: [none, 2x2, auto]"]),
                                  ("ranks: some\n", "2:8", ["'ranks' is an integer"]),
                                  ("define: {thta: 1}\n", "2:16", ["no const, param or dimension 'thta'", "did you mean 'theta'?"]),
                                  ("define: {theta: [1e-2, x]}\n", "2:24", ["theta=x", "unknown name 'x'"]),
                                  ("define: {theta: 1e400}\n", "2:17", ["theta=1e400", "out of range"]),
                                  ("define: {theta: [1, 007]}\n", "2:21", ["'007' begins with 0"]),
                                  ("param: {thta: 1}\n", "2:15", ["no param 'thta'", "did you mean 'theta'?"]),
                                  ("param: {theta: [1, one]}\n", "2:20", ["theta=one"]),
                                  ("data: {H: graph.txt}\n", "2:11", ["no input 'H'", "it has G"]),
                                  ("columns: {H: \"1,2\"}\ndata: {G: graph.txt}\n", "2:14", ["no input 'H'"]),
                                  ("dim: {M: 9}\n", "2:10", ["no dimension 'M'", "it has N"]),
                                  ("dim: {N: -9}\n", "2:10", ["'N' is -9"]),
                                  ("memory: 10Q\n", "2:9", ["'memory' is a size", "as 8G", "'10Q'"]),
                                  ("timeout: -1\n", "2:10", ["'timeout' is a number of seconds above 0"]),
                                  ("repetitions: 0\n", "2:14", ["'repetitions' is 0"]),
                                  ("seeds: [1]\n", "2:8", ["nothing to vary"]),
                                  ("define: [theta]\n", "2:10", ["not NAME=VALUE"]),
                                  ("data: {G: {generate: ring}}\n", "2:22", ["'ring'", "grid and star"]),
                                  ("data: {G: {generate: small-world, rewired: half}}\n", "2:44", ["number"]),
                                  ("data: {G: {generate: rmat, scal: 3}}\n", "2:28", ["did you mean 'scale'?"]),
                                  ("data: {G: {generate: rmat, scale: 99}}\n", "2:35", ["'scale' is 99"])]:
            with self.subTest(text):
                yaml.refuse(program + text, place, says, "experiment")
        self.write("workers: 1\n")
        self.fault("experiment", "e.yaml", status=CONFIG, says=["e.yaml:1:1: ", "no program"])
        self.write("# nothing\n")
        self.fault("experiment", "e.yaml", status=CONFIG, says=["e.yaml: ", "no program"])
        self.write(program)
        self.fault("experiment", "e.yaml", status=CONFIG, says=["no data for input 'G'", "data: {G: FILE}"])
        self.write("program: bad.ks\ndata: {G: graph.txt}\n")
        (self.dir / "bad.ks").write_text("dim N\nx = )\n")
        self.fault("experiment", "e.yaml", status=BAD, says="bad.ks:2:")
        self.assertEqual(self.files(), ["bad.ks", "c.yaml", "e.yaml", "graph.txt"])

    def test_constants_that_go_together(self):
        """Those that a program refuses for what they make of it are rows; the others run."""
        (self.dir / "p.ks").write_text("const k = 1\ndim N, K local = k\ninput G : null[N, N]\n"
                                       "output y = (G @ fill(1.0, N)) * f64(size(K))\n")
        self.write("program: p.ks\ndata: {G: graph.txt}\ndefine: {k: [1, -9]}\nrepetitions: 1\nkernels: interpreter\n")
        out, _ = self.experiment(status=1)
        self.assertEqual([row["status"] for row in self.rows()], ["done", "failed"])

    def test_the_examples(self):
        out, _ = self.kasen("experiment", "configs/pagerank.yaml", "--dry-run", cwd=ROOT)
        self.assertIn("12 points, 3 repetitions, into pagerank.experiment", out)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
