#!/usr/bin/env python3
"""Every report in JSON, against its schema in docs/schemas, and messages in JSON.

A schema allows no field that it does not name. Each report is also changed (a field less, one more, another type), and
must then be refused: a schema that allows everything would pass unseen.

Usage: reports_test.py FOLDER_OF_TOOLS SOURCE_ROOT [unittest arguments]
"""
import copy
import json
import os
import pathlib
import re
import subprocess
import sys
import unittest

import jsonschema

sys.dont_write_bytecode = True  # the source tree stays as it is
from tools_test import BAD, PAGERANK, ROOT, TOOLS, USAGE, ToolTest  # noqa: E402

SCHEMAS = {path.name: json.loads(path.read_text()) for path in (ROOT / "docs/schemas").glob("*.schema.json")}
PARTIAL = "@pre(add){G.rows}"  # the state of a sum that is not complete


def validator(kind):
    schema = SCHEMAS[f"{kind}.schema.json"]
    return jsonschema.Draft202012Validator(schema, resolver=jsonschema.RefResolver.from_schema(schema, store=SCHEMAS))


def places(value, path=()):
    """All places of a document: of a list its first and last elements alone."""
    yield path
    if isinstance(value, dict):
        for key in value:
            yield from places(value[key], (*path, key))
    elif isinstance(value, list):
        for k in sorted({0, len(value) - 1}) if value else []:
            yield from places(value[k], (*path, k))


def at(document, path):
    for step in path:
        document = document[step]
    return document


def changed(document, path, change):
    made = copy.deepcopy(document)
    change(at(made, path[:-1]), path[-1]) if path else change(made, None)
    return made


class ReportTest(ToolTest):
    def check(self, text, kind, mutations=True):
        """The report, once it is valid and none of its mutants is."""
        report = json.loads(text) if isinstance(text, str) else text
        self.assertEqual((report["kind"], report["version"]), (kind, 1))
        self.assertEqual([key for key in report if key != "kasen_run"][:2], ["kind", "version"])
        against = validator(kind)
        faults = [f"{list(e.absolute_path)}: {e.message[:300]}" for e in against.iter_errors(report)]
        self.assertEqual(faults, [], kind)
        if mutations:
            self.refuses_mutants(report, against, kind)
        return report

    def refuses_mutants(self, report, against, kind):
        for key in SCHEMAS[f"{kind}.schema.json"]["required"]:
            self.assertFalse(against.is_valid({k: v for k, v in report.items() if k != key}), f"{kind} without {key}")
        known = {}  # one place of each form
        for path in places(report):
            known.setdefault(tuple("*" if isinstance(step, int) else step for step in path), path)
        for path in list(known.values())[:150]:
            value = at(report, path)
            if isinstance(value, dict):
                more = changed(report, (*path, "nobody_knows_this"), lambda place, key: place.__setitem__(key, []))
                self.assertFalse(against.is_valid(more), f"{kind}: one more field in {path}")
            if path:
                other = [[]] if isinstance(value, list) and not value else [] if not isinstance(value, list) else {"x": []}
                if other != [[]]:
                    retyped = changed(report, path, lambda place, key, other=other: place.__setitem__(key, other))
                    self.assertFalse(against.is_valid(retyped), f"{kind}: another type at {path}")

    def report(self, kind, *args, status=0, **options):
        return self.check(self.kasen(*args, "--format", "json", status=status, **options)[0], kind)


class Reports(ReportTest):
    def test_schemas_are_schemas(self):
        own, listed = pathlib.Path(__file__).read_text(), (ROOT / "docs/tools.md").read_text()
        for name, schema in SCHEMAS.items():
            jsonschema.Draft202012Validator.check_schema(schema)
            self.assertEqual(schema["$id"], name)
            kind = name.removesuffix(".schema.json")
            self.assertEqual(schema["properties"]["kind"], {"const": kind})
            self.assertIn(f'"{kind}"', own, "no test here sees such a report")
            self.assertIn(f"`{kind}`", listed)

    def test_measure(self):
        self.prepare()
        self.kasen("run", "fused.kir", "--bundle", "bundle", "-o", "r.h5", "--stats", "run.json")
        (self.dir / "m.yaml").write_text("memory_bandwidth: 2e9\n")
        self.report("cost", "measure", "plan.kir")
        whole = self.report("cost", "measure", "fused.kir", "--bundle", "bundle", "--machine", "m.yaml")
        self.assertEqual(whole["program"], "pagerank")
        # The table of times says the same.
        text = self.kasen("measure", "fused.kir", "--bundle", "bundle", "--machine", "m.yaml")[0]
        printed = float(re.search(r"an iteration of the while at line 10: ([0-9.]+) us", text).group(1))
        self.assertAlmostEqual(whole["times"]["loops"][0]["time"]["seconds"] * 1e6, printed, delta=0.01 * printed)
        self.report("comparison", "measure", "plan.kir", "--compare", "fused.kir", "--bundle", "bundle")
        against = ["measure", "fused.kir", "--bundle", "bundle", "--against", "run.json", "--check"]
        self.assertTrue(self.report("check", *against)["agrees"])
        times = self.report("check", *against, "--machine", "m.yaml")["times"]
        self.assertEqual(times[0]["what"], "an iteration of the while at line 10")
        self.report("timeline", "measure", "fused.kir", "--bundle", "bundle", "--timeline", "--against", "run.json")
        self.report("disk", "measure", "fused.kir", "--bundle", "bundle", "--memory", "1GB")
        self.check((self.dir / "run.json").read_text(), "counters")

    def test_counters_that_differ(self):
        self.prepare()
        self.kasen("run", "fused.kir", "--bundle", "bundle", "-o", "r.h5", "--stats", "run.json")
        run = json.loads((self.dir / "run.json").read_text())
        run["operators"][-1]["read_bytes"] += 8
        (self.dir / "wrong.json").write_text(json.dumps(run))
        check = self.report("check", "measure", "fused.kir", "--bundle", "bundle", "--against", "wrong.json", "--check", status=1)
        self.assertFalse(check["agrees"])
        self.assertEqual([(c["what"], c["counted"] - c["predicted"]) for c in check["mismatches"]][0], ("bytes read", 8))

    def test_explanation(self):
        """The lines of the text are those of the report, in their order."""
        self.prepare()
        for extra in [[], ["--bundle", "bundle"]]:
            told = self.report("explanation", "measure", "fused.kir", "--explain", *extra)
            text = self.kasen("measure", "fused.kir", "--explain", *extra)[0]
            lines = []

            def walk(items):
                for item in items:
                    lines.append(item["what"])
                    walk(item["notes"])
            for section in told["sections"]:
                lines.append(section["title"])
                walk(section["items"])
            places_of_text = [line.strip() for line in text.splitlines()]
            shown = [line for line in places_of_text[1:] if line and not re.match(r"(line \d+ \||\(made by|Sizes from|The cost of the whole)", line)]
            self.assertEqual([line.strip() for line in lines], shown)
            sent = next(s for s in told["sections"] if s["section"] == "transitions")["items"][0]["amounts"][0]
            self.assertEqual(sent["value"] is not None, bool(extra))
            self.assertIn(sent["formula"], text)

    def test_scaling(self):
        self.prepare()
        for extra in [[], ["--sample", 0.5]]:
            told = self.report("scaling", "measure", "fused.kir", "--workers", "1,2,4", "--data", "G=graph.txt", *extra)
            self.assertEqual([p["workers"] for p in told["points"]], [1, 2, 4])
            self.assertEqual([p["slaves_between"] is not None for p in told["points"]], [bool(extra)] * 3)
        exact = self.report("scaling", "measure", "fused.kir", "--workers", "2,3", "--data", "G=graph.txt")["points"][1]
        of_bundle = self.report("bundle", "partition", "--stats", "bundle")
        self.assertEqual(exact["masters"], of_bundle["dims"][0]["size"])
        self.assertEqual(exact["most_entries"], max(of_bundle["matrices"][0]["entries_by_worker"]))

    def test_bundle(self):
        self.prepare()
        told = self.report("bundle", "partition", "--stats", "bundle")
        text = self.kasen("partition", "--stats", "bundle")[0]
        self.assertIn(f"bundle {told['digest']}\n", text)
        matrix = told["matrices"][0]
        self.assertEqual(sum(matrix["entries_by_worker"]), matrix["entries"])
        self.assertEqual(matrix["entries"], len(set(self.arcs)))
        made = self.report("bundle", "partition", "G=graph.txt", "--workers", 2, "-o", "two")
        self.assertEqual(made["workers"], 2)

    def test_fusion(self):
        self.prepare()
        told = self.report("fusion", "fuse", "plan.kir", "--bundle", "bundle", "-o", "f.kir")
        plan = (self.dir / "f.kir").read_text()
        self.assertEqual(len(told["regions"]), len(re.findall(r"= region ", plan)))
        self.assertIsNone(told["explanation"])
        self.assertEqual(told["cost"]["memory"]["buffers"].get("value") is not None, True)
        told = self.report("fusion", "fuse", "plan.kir", "--explain", "-o", "f.kir")
        self.assertIn("transitions", [s["section"] for s in told["explanation"]["sections"]])
        self.report("passes", "fuse", "--list-passes")
        self.fault("fuse", "plan.kir", "--format", "json", status=USAGE, says="-o FILE")
        self.fault("fuse", "plan.kir", "--passes", "place", "--format", "json", "-o", "x", status=USAGE, says="--passes")

    def test_fusion_tables(self):
        """The tables of fused operators, with the numbers of their texts."""
        plan, _ = self.kasen("plan", stdin="dim N, F local, K local = 4\ninput X : f64[N, F], P : f64[N, K], V : f64[F, K]\n"
                             "Q = P * (X @ V)\noutput H = X' @ (Q - P * sum(Q, over K))\n")
        (self.dir / "p.kir").write_text(plan)
        sizes = ["--sizes", "N=1e6,F=100,P=4"]
        (memo,) = self.report("memo", "fuse", "p.kir", *sizes, "--print-memo")["blocks"]
        text = self.kasen("fuse", "p.kir", *sizes, "--print-memo")[0]
        self.assertIn(f"{memo['block']}: {memo['groups']} groups, {memo['entries']} entries\n", text)
        letters = {"outer": "O", "row": "R", "cell": "C", "magg": "M", "mxm": "P"}
        for group in memo["operators"]:
            entries = ["{}({}{})".format(letters[e["template"]], ",".join(str(r or -1) for r in e["absorbs"]), "" if e["may_end"] else "|x")
                       for e in group["entries"]]
            operands = ",".join(map(str, group["operands"]))
            value = f"{group['value']} of " if group["value"] else ""
            self.assertIn(f"\n  {group['number']} {group['operator']}  {' '.join(entries) or '-'}  # {value}({operands})", text)
        report = self.report("plans", "fuse", "p.kir", *sizes, "--print-plans", "-o", "-")
        text = self.kasen("fuse", "p.kir", *sizes, "--print-plans")[0]
        (block,) = report["blocks"]
        self.assertEqual({key: block[key] for key in memo}, memo)
        (partition,) = block["partitions"]
        self.assertEqual(partition["evaluated"]["unpruned"], {"plans": 2 ** len(partition["points"]), "exact": True})
        for made in block["selections"]:
            self.assertIn(f"  {made['strategy']}: {made['seconds'] * 1e3:.4g} ms, {len(made['operators'])} operators\n", text)
        weighed = report["strategies"]
        prices = {price["strategy"]: price["seconds"] for price in weighed["prices"]}
        self.assertEqual(prices[weighed["chosen"]], min(prices.values()))
        self.assertIn(f"cost takes {weighed['chosen']}; the runner-up, {weighed['runner_up']}, ", text)
        self.assertIn(f"regret of the greedy plan: {weighed['regret_of_greedy']:.4g} (", text)
        (self.dir / "e.kir").write_text(self.kasen("plan", stdin="a = 1\noutput a\n")[0])
        self.assertEqual(self.report("memo", "fuse", "e.kir", "--print-memo")["blocks"], [])
        self.assertIsNone(self.report("plans", "fuse", "e.kir", "--print-plans")["strategies"])
        self.assertTrue(self.report("memo", "fuse", "p.kir", "--print-memo")["defaults"])

    def test_fit(self):
        """A model of each form, with the numbers of its table."""
        rows = "".join(f"{k % 7},{(k * k) % 11},{'north' if k % 3 else 'south'},{k % 5}\n" for k in range(40))
        (self.dir / "t.csv").write_text("age,income,zone,group\n" + rows)
        (self.dir / "r.csv").write_text("user,item,stars\n" + "".join(f"{k % 4},{k % 5},{1 + k % 3}\n" for k in range(20)))
        features = ["--columns", "age,income,zone"]
        for model, extra in [("linear", ["--target", "income", "--columns", "age,zone"]), ("kmeans", features), ("pca", features),
                             ("multinomial", ["--target", "group", *features])]:
            told = self.report("fit", "fit", model, "t.csv", *extra, "-o", "m.h5", "--top", 2)
            text = self.kasen("fit", model, "t.csv", *extra, "-o", "m.h5", "--top", 2)[0]
            self.assertEqual((told["model"], told["table"], told["output"], len(told["coefficients"])), (model, "t.csv", "m.h5", 2))
            rows = [(row["feature"], row["values"]) for row in told["coefficients"]]
            for name, values in rows + ([("(intercept)", told["intercepts"])] if told["intercepts"] else []):
                self.assertRegex(text, rf"(?m)^{re.escape(name)} +" + " +".join(re.escape(f"{v:.6g}") for v in values) + "$")
            self.assertRegex(text, "(?m)^feature +" + " +".join(map(re.escape, told["columns"])) + "$")
            for key, shown in [("loss", "loss       {:.9g}"), ("iterations", "iterations {}"), ("r_squared", "R squared  {:.6g}"),
                               ("right", "right      {} of ")]:
                if told[key] is not None:
                    self.assertIn(shown.format(told[key]), text)
            self.assertEqual(told["classes"], ["0", "1", "2", "3", "4"] if model == "multinomial" else [])
            self.assertEqual(len(told["shares"]), 2 if model == "pca" else 0)
        told = self.report("fit", "fit", "als", "r.csv", "-o", "m.h5", "--param", "factors=2", "-q")
        self.assertEqual((told["target"], told["coefficients"], told["columns"]), (None, [], []))
        self.assertIsNotNone(told["rmse"])
        self.fault("fit", "linear", "t.csv", "--target", "age", "--show-program", "--format", "json", status=USAGE, says="--show-program")

    def test_dense_plans(self):
        (self.dir / "p.ks").write_text("dim N, K, M\ninput A : dense f64[N, K], B : dense f64[K, M]\noutput C = A @ B\n")
        self.kasen("plan", "p.ks", "-o", "p.kir")
        sizes = ["--sizes", "N=64,K=32,M=16"]
        self.check(self.kasen("fuse", "p.kir", *sizes, "--mesh", "2x2", "--print-tiling=json")[0], "tilings")
        self.check(self.kasen("fuse", "p.kir", *sizes, "--cluster", "2x2", "--print-spread=json")[0], "placements")
        told = self.report("fusion", "fuse", "p.kir", *sizes, "--mesh", "2x2", "--explain", "-o", "f.kir")
        self.assertEqual(told["tilings"]["mesh"], "2x2")
        self.kasen("fuse", "p.kir", *sizes, "--mesh", "2x2", "--spread", "lshs", "-o", "s.kir")
        self.report("tasks", "measure", "s.kir", *sizes, "--tasks")

    def test_run(self):
        self.prepare()
        for ranks in [[], ["-n", 2]]:
            told = self.report("run", "run", "fused.kir", "--bundle", "bundle", "-o", "r.npy", "--show", 3, "--verify", "all",
                               "--stats", "run.json", "--trace", "t.json", *ranks)
            self.assertEqual(told["files"]["results"][0], "r.npy")  # its ending is the format
            self.assertEqual(told["ranks"], len(ranks) or 1)
            (pr,) = [r for r in told["results"] if r["name"] in ("pr", "r")]
            self.assertEqual((len(pr["rows"]), pr["chosen"]), (3, "first"))
            counters = json.loads((self.dir / "run.json").read_text())
            self.assertEqual(told["network"]["worker_bytes"], counters["traffic"]["worker_bytes"])
            self.assertEqual(told["verified"][0]["differing"], 0)
        shown = self.report("result", "show", "r.npy", "--head", 3)["arrays"][0]["rows"]
        self.assertEqual([row[1:] for row in shown], [row[1:] for row in pr["rows"]])
        told = self.report("run", "run", "fused.kir", "--bundle", "bundle", "-o", "r.h5", "--top", 4, "-q")
        values = [row[-1] for row in told["results"][0]["rows"]]
        self.assertEqual((len(values), values), (4, sorted(values, reverse=True)))
        told = self.report("run", "run", "fused.kir", "--bundle", "bundle", "-o", "r.h5", "--checkpoint", "saved", "--every", 5)
        self.assertGreater(told["checkpoints"]["written"], 0)

    def test_go(self):
        told = self.report("go", "go", PAGERANK, "G=graph.txt", "--workers", 2)
        self.assertTrue(told["comparison"]["agrees"])
        for name in told["files"].values():
            self.assertTrue((self.dir / name).exists(), name)
        told = self.report("go", "go", PAGERANK, "G=graph.txt", "--workers", 2, "--no-report", "-q")
        self.assertIsNone(told["comparison"])

    def test_verification(self):
        self.prepare()
        told = self.report("verification", "verify", "plan.kir", "bundle")
        self.assertEqual([t["verdict"] for t in told["things"]], ["right", "right"])
        (self.dir / "wrong.kir").write_text((self.dir / "fused.kir").read_text().replace(PARTIAL, "@part"))
        out, _ = self.kasen("verify", "plan.kir", "wrong.kir", "--format", "json", status=1)
        told = self.check(out, "verification")
        self.assertFalse(told["right"])
        self.assertTrue(told["things"][1]["problems"])

    def test_numbers_that_are_none(self):
        (self.dir / "n.ks").write_text("dim N\ninput x : f64[N]\noutput y = x / (x - x)\n")
        (self.dir / "x.csv").write_text("1\n-1\n0\n")
        told = self.report("go", "go", "n.ks", "x=x.csv")
        self.assertEqual([row[-1] for row in told["run"]["results"][0]["rows"]], ["inf", "-inf", "nan"])
        told = self.report("result", "show", "n.run")
        self.assertEqual([row[-1] for row in told["arrays"][0]["rows"]], ["inf", "-inf", "nan"])

    def test_large_integers_stay_whole(self):
        """Beyond 2^53, where a reader of reals alone would round."""
        self.prepare()
        told = self.report("cost", "measure", "fused.kir", "--sizes", f"N=10,S=10,nnz={2**53 + 1}")
        self.assertIn(2**53 + 1, told["sizes"]["values"].values())
        read = told["program_actual"]["read_bytes"]
        self.assertIsInstance(told["loops"][0]["actual"]["read_bytes"]["value"], int, read)

    def test_experiment(self):
        (self.dir / "e.yaml").write_text(f"program: {PAGERANK}\ndata: {{G: graph.txt}}\nworkers: [1, 2]\nrepetitions: 1\n")
        told = self.report("matrix", "experiment", "e.yaml", "--dry-run")
        self.assertEqual((len(told["points"]), told["varied"]), (2, ["workers"]))
        told = self.report("experiment", "experiment", "e.yaml")
        self.assertEqual([p["runs"] for p in told["points"]], [1, 1])
        table = (self.dir / told["folder"] / "table.csv").read_text().splitlines()
        self.assertEqual(len(table) - 1, len(told["points"]))

    def test_pack_and_doctor(self):
        (self.dir / "b.csv").write_text("id,lower,upper,size\n1,0,2,10\n2,1,3,10\n")
        self.assertEqual(self.report("packing", "pack", "b.csv")["size"], 20)
        self.report("doctor", "doctor", "--only", "memory", "--only", "open-files")

    def test_swap(self):
        tensors = [{"name": f"x{k}", "bytes": 4000} for k in range(3)]
        operators = [{"name": f"f{k}", "seconds": 1e-6, "reads": [f"x{k - 1}"] if k else [], "writes": [f"x{k}"]} for k in range(3)]
        (self.dir / "g.json").write_text(json.dumps({"kasen_tasks": 1, "name": "g", "tensors": tensors, "operators": operators}))
        self.kasen("swap", "g.json", "--memory", "12000", "-o", "plan.json", "--compare")
        self.check((self.dir / "plan.json").read_text(), "swap")
        self.report("swap", "swap", "g.json", "--memory", "12000")
        self.kasen("swap", "g.json", "--memory", "12000", "--serve", "10,20", "-o", "times.json")
        self.check((self.dir / "times.json").read_text(), "serving")
        out, _ = self.kasen("swap", "g.json", "--memory", "12000", "--serve", "10,20", "--format", "json")
        self.assertEqual(out, (self.dir / "times.json").read_text())

    def test_descriptions(self):
        itself = self.check(self.kasen("--describe")[0], "tools", mutations=False)
        for command in itself["commands"]:
            tool = self.check(self.kasen(command["name"], "--describe")[0], "tool", mutations=False)
            self.assertIn("messages", [option["name"] for option in tool["options"]])

    def test_every_tool_is_listed(self):
        """The table of reports has each tool, and whatever takes --format has a kind there."""
        listed = (ROOT / "docs/tools.md").read_text().split("| tool | kind | report |")[1].split("\n\n")[0]
        for command in json.loads(self.kasen("--describe")[0])["commands"]:
            rows = [row for row in listed.splitlines() if f"`kasen {command['name']}" in row]
            self.assertTrue(rows, command)
            options = [option["name"] for option in json.loads(self.kasen(command["name"], "--describe")[0])["options"]]
            self.assertEqual("format" in options, any("| none |" not in row for row in rows), command)

    def test_wrong_formats(self):
        self.prepare()
        for args in [["measure", "fused.kir"], ["partition", "--stats", "bundle"], ["verify", "fused.kir"], ["doctor"], ["show", "fused.kir"],
                     ["fuse", "plan.kir", "-o", "f.kir"], ["run", "fused.kir", "--bundle", "bundle"], ["go", PAGERANK, "G=graph.txt"],
                     ["experiment", "e.yaml"], ["pack", "b.csv"], ["fit", "linear", "t.csv", "-o", "m.h5"], ["swap", "g.json", "--memory", "12000"]]:
            self.fault(*args, "--format", "xml", status=USAGE, says=["--format", "'xml'"])


class MessagesInJson(ReportTest):
    def messages(self, *args, status, env=None):
        _, err = self.kasen(*args, status=status, env=env)
        return [self.check(line, "message") for line in err.splitlines()]

    def error(self, *args, status, **options):
        errors = [m for m in self.messages(*args, status=status, **options) if m["severity"] == "error"]
        self.assertEqual(len(errors), 1, errors)
        self.assertEqual(errors[0]["status"], status)
        return errors[0]

    def test_error_of_a_program(self):
        (self.dir / "a.ks").write_text("dim N\ninput G : null[N, N]\nx : f64[N] = 1\noutput degree = G @ xs\n")
        told = self.error("plan", "a.ks", "--messages", "json", status=BAD)
        self.assertEqual((told["file"], told["line"], told["column"]), ("a.ks", 4, 21))
        _, text = self.kasen("plan", "a.ks", status=BAD)
        self.assertEqual(text.splitlines()[0], f"a.ks:4:21: error: {told['what']}; {told['why']}; {told['remedy']}")
        self.assertEqual(text.splitlines()[1].strip(), told["source"])
        self.assertIn(f"Exit status {told['code']}:", self.kasen("help", told["code"])[0])

    def test_errors_before_the_command_line_is_read(self):
        for args in [["plan", "--messages", "json", "--nothing"], ["nothing", "--messages=json"], ["plan", "a.ks", "-D", "x", "--messages", "json"],
                     ["measure", "--messages", "json", "--format", "xml"]]:
            self.assertEqual(self.error(*args, status=USAGE)["code"], "64")
        self.assertEqual(self.error("go", "--format", "xml", status=USAGE, env={"KASEN_MESSAGES": "json"})["tool"], "kasen go")

    def test_broken_rule(self):
        self.prepare()
        (self.dir / "wrong.kir").write_text((self.dir / "fused.kir").read_text().replace(PARTIAL, "@part"))
        told = self.messages("verify", "wrong.kir", "--messages", "json", status=1)
        rules = [m["code"] for m in told if m["code"].startswith("rule-")]
        self.assertTrue(rules)
        for rule in rules:
            self.kasen("help", rule)

    def test_ranks(self):
        """Errors of ranks, and of what starts them, in one line each."""
        self.prepare()
        run = ["run", "fused.kir", "--bundle", "bundle", "-o", "r.h5", "--messages", "json"]
        for ranks in [[], ["-n", 2]]:
            told = self.error(*run, *ranks, "-D", "damping=x", status=USAGE)
            self.assertEqual(told["tool"], "kasen-run")

    def test_killed_rank(self):
        self.prepare()
        env = self.with_mpirun("echo other; exit 137")
        told = self.messages("run", "fused.kir", "--bundle", "bundle", "-o", "r.h5", "-n", 2, "--messages", "json", status=69, env=env)
        self.assertIn("killed by signal 9", [m["what"] for m in told if m["severity"] == "error"][0])

    def test_notes_of_all_steps(self):
        told = self.messages("go", PAGERANK, "G=graph.txt", "--workers", 2, "--messages", "json", status=0)
        self.assertTrue(all(m["severity"] == "note" for m in told))
        self.assertTrue(any(m["what"].startswith("page ") for m in told))
        self.assertEqual(self.messages("go", PAGERANK, "G=graph.txt", "--workers", 2, "-q", "--messages", "json", status=0), [])

    def test_last_words(self):
        """A process that ends where nothing can be caught tells in JSON, too."""
        library = next((TOOLS.parent / "tests/tools").glob("*failing-new.so"), None)
        if library is None:
            self.skipTest("failing-new is not built")
        told = 0
        for number in range(40, 400, 24):
            for again in ["", "+"]:
                env = {**os.environ, "LD_PRELOAD": str(library), "FAILING_NEW": f"{number}{again}"}
                done = subprocess.run([TOOLS / "kasen-plan", PAGERANK, "--messages", "json"], capture_output=True, text=True, timeout=60, check=False, env=env)
                for line in done.stderr.splitlines():
                    if line.startswith("{"):  # before main() begins nobody knows the form
                        told += self.check(line, "message", mutations=False)["status"] == done.returncode == 69
        self.assertGreater(told, 0)

    def test_wrong_words(self):
        self.fault("plan", "a.ks", "--messages", "xml", status=USAGE, says=["--messages", "'xml'"])
        self.fault("plan", "a.ks", status=USAGE, says="KASEN_MESSAGES=xml", env={"KASEN_MESSAGES": "xml"})


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
