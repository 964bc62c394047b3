#!/usr/bin/env python3
"""The page of kasen measure --format html, of a plan and of a run: its form, its numbers, hostile names; in a browser.

Usage: pictures_test.py FOLDER_OF_TOOLS SOURCE_ROOT [unittest arguments]
"""
import base64
import hashlib
import html
import html.parser
import json
import os
import re
import shutil
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True  # the source tree stays as it is
from tools_test import PAGERANK, ROOT, USAGE, ToolTest  # noqa: E402

VOID = {"meta", "input", "br"}
SHAPES = {"rect", "path", "circle"}


class Page(html.parser.HTMLParser):
    """The page's elements, with what is wrong with its form."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.faults, self.elements, self.by_id, self.texts = [], [], [], {}, {}
        self.feed(text)
        self.close()
        self.faults += [f"{e['tag']} is not closed" for e in self.open]

    def handle_starttag(self, tag, attrs, closed=False):
        element = {"tag": tag, "text": "", "inside": [e["id"] for e in self.open if e.get("id")], **dict(attrs)}
        if len(dict(attrs)) != len(attrs):
            self.faults.append(f"{tag} says {attrs}")
        self.elements.append(element)
        if "id" in element:
            if element["id"] in self.by_id:
                self.faults.append(f"two elements are {element['id']}")
            self.by_id[element["id"]] = element
        if self.open:
            self.open[-1].setdefault("children", []).append(element)
        if not closed and tag not in VOID:
            self.open.append(element)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs, closed=True)

    def handle_endtag(self, tag):
        if not self.open or self.open[-1]["tag"] != tag:
            self.faults.append(f"</{tag}> closes {self.open[-1]['tag'] if self.open else 'nothing'}")
        else:
            self.open.pop()

    def handle_data(self, data):
        for element in self.open:
            element["text"] += data

    def of(self, tag, **attributes):
        return [e for e in self.elements if e["tag"] == tag and all(e.get(k) == v for k, v in attributes.items())]


class PageTest(ToolTest):
    def page(self, *args, **options):
        """The page of `measure ARGS`, its form checked."""
        text, _ = self.kasen("measure", *args, "--format", "html", **options)
        page = Page(text)
        self.assertEqual(page.faults, [])
        for element in page.elements:
            for name, value in element.items():
                if name in ("text", "children", "inside", "tag", "title", "aria-label"):
                    continue
                self.assertFalse(name.startswith("on"), element)
                self.assertNotRegex(str(value), r"^\s*(\w+:)?//|javascript:|data:", element)
            if "href" in element:
                self.assertIn(element["href"][0] + element["href"][1:], ["#" + i for i in page.by_id], element)
            self.assertNotIn("src", element)
            self.assertNotIn(element["tag"], {"link", "img", "iframe", "object", "base", "form"})
        style = page.of("style")[0]["text"]
        self.assertNotRegex(style, r"url\(|@import")
        self.check_script(page)
        return page, text

    def check_script(self, page):
        """One script, and the policy lets that one run and nothing else."""
        scripts = page.of("script")
        self.assertEqual(len(scripts), 1)
        digest = base64.b64encode(hashlib.sha256(scripts[0]["text"].encode()).digest()).decode()
        policy = page.of("meta", **{"http-equiv": "Content-Security-Policy"})[0]["content"]
        self.assertEqual(policy, f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'")

    def check_operators(self, page, key, report):
        """Every operator has its box or frame and its row, with the numbers of the JSON."""
        for row in report["operators"]:
            if row["operator"].startswith("yield"):
                continue
            name = f"{key}{row['number']}"
            shown = page.by_id[name]
            self.assertEqual(shown["tag"], "g")
            self.assertTrue({e["tag"] for e in shown["children"]} & SHAPES, name)
            self.assertEqual(shown.get("data-line"), str(row["line"]) if "source" in row else None)
            cells = [e for e in page.by_id[f"row-{name}"]["children"] if e.get("class") == "n"]
            if "actual" in row:
                want = [row["actual"][what].get("value") for what in ("read_bytes", "written_bytes", "network_bytes")]
                self.assertEqual([None if "data-value" not in c else int(c["data-value"]) for c in cells], want, row)


class Pictures(PageTest):
    def test_the_ending_of_the_output_is_its_format(self):
        self.prepare()
        for ending, begin in [("svg", "<svg"), ("html", "<!doctype html>"), ("json", "{"), ("dot", "digraph"), ("txt", "pagerank")]:
            self.kasen("measure", "fused.kir", "-o", f"shown.{ending}")
            self.assertTrue((self.dir / f"shown.{ending}").read_text().startswith(begin), ending)
        self.kasen("measure", "fused.kir", "-o", "text.json", "--format", "text", "--force")
        self.fault("measure", "fused.kir", "-o", "p.png", status=USAGE, says=["no pictures of the kind '.png'", ".svg"])

    def test_page_of_a_plan(self):
        self.prepare()
        page, text = self.page("fused.kir", "--bundle", "bundle")
        after = json.loads(self.kasen("measure", "fused.kir", "--bundle", "bundle", "--format", "json")[0])
        self.check_operators(page, "a", after)
        self.kasen("fuse", "plan.kir", "--strategy", "none", "--sync", "lazy", "-o", "unfused.kir")
        before = json.loads(self.kasen("measure", "unfused.kir", "--bundle", "bundle", "--format", "json")[0])
        self.check_operators(page, "b", before)
        self.assertEqual(self.page("fused.kir", "--bundle", "bundle")[1], text)
        compared, _ = self.page("unfused.kir", "--compare", "fused.kir", "--bundle", "bundle")
        self.assertEqual([e.get("d") for e in compared.of("path")], [e.get("d") for e in page.of("path")])
        self.check_costs(page, before, after)

    def check_costs(self, page, before, after):
        """The tables of a turn and of the program: each number of the JSON is there, before and after."""
        values = [int(e["data-value"]) for e in page.of("td") if "data-value" in e and "program" in e["inside"]]
        want = []
        for column in ["actual", "model"]:
            for first, second in [(before["loops"][0][column], after["loops"][0][column]),
                                  (before[f"program_{column}"], after[f"program_{column}"])]:
                for what in first:
                    if what != "network_bytes_by_axis":
                        want += [first[what]["value"], second[what]["value"]]
        self.assertEqual(values, want)

    def test_states_regions_and_transitions(self):
        self.prepare()
        page, _ = self.page("fused.kir", "--bundle", "bundle")
        report = json.loads(self.kasen("measure", "fused.kir", "--bundle", "bundle", "--format", "json")[0])
        kinds = {"@part": "part", "@cons{": "cons", "@pre(add){": "pre"}
        for row in report["operators"]:
            name, style = page.by_id.get(f"a{row['number']}", {}), ""
            style = name.get("class", "")
            if " = gather " in row["operator"] or " = scatter " in row["operator"]:
                self.assertEqual(style, "node network")
                sent = row["actual"]["network_bytes"]["value"]
                self.assertIn(f"{sent} bytes", name["text"])
            elif " = region " in row["operator"]:
                self.assertEqual(style, "frame region")
            elif " = mxv" in row["operator"]:
                self.assertIn(f"node {next(k for s, k in kinds.items() if row['state'].startswith(s))}", style)

    def test_sizes_and_levels(self):
        """A program without states, formulas without numbers, and a plan that carries no program."""
        self.prepare()
        for module in ["plan.kir", "fused.kir"]:
            page, _ = self.page(module)
            self.check_operators(page, "a", json.loads(self.kasen("measure", module, "--format", "json")[0]))
        bare = "".join(line for line in (self.dir / "fused.kir").read_text().splitlines(True) if line[0] != "|" and line[:7] != "source ")
        (self.dir / "bare.kir").write_text(bare)
        page, _ = self.page("bare.kir")
        self.assertNotIn("v-before", page.by_id)

    def test_labels_of_loops_in_functions(self):
        """What a loop carries has its name, and not its text before the loop, which is that of the first iteration."""
        (self.dir / "rich.ks").write_text(
            "dim N\ninput A : f64[N, N], b : f64[N]\n"
            "def rich(A, b, steps) {\n  x = 0 * b\n  k = 0\n  while k < steps {\n    res = b - A @ x\n    x = x + 0.01 * res\n    k = k + 1\n  }\n"
            "  return x\n}\noutput z = rich(A, b, 30)\n")
        self.kasen("plan", "rich.ks", "-o", "rich.kir")
        text = html.unescape(self.kasen("measure", "rich.kir", "--format", "html")[0])
        self.assertNotIn("A @ (0 * b)", text)
        self.assertNotRegex(text, r"\b0 \+ 1\b")
        self.assertRegex(text, r"A @ (rich\.)?x\b")

    def test_large_programs_are_folded(self):
        self.kasen("plan", ROOT / "examples" / "multinomial.ks", "-o", "plan.kir")
        self.kasen("fuse", "plan.kir", "-o", "fused.kir")
        page, _ = self.page("fused.kir")
        self.check_operators(page, "a", json.loads(self.kasen("measure", "fused.kir", "--format", "json")[0]))
        inside = [name for name in page.by_id if name.endswith("-inside") and name.startswith("a")]
        self.assertGreater(len(inside), 1)
        for name in inside:
            self.assertTrue(page.of("a", href="#" + name))

    def test_without_graphviz(self):
        self.prepare()
        text, err = self.kasen("measure", "fused.kir", "--format", "html", env={"PATH": str(self.dir)})
        self.assertIn("note: Graphviz (dot) is not in PATH", err)
        self.assertEqual(Page(text).faults, [])
        self.check_operators(Page(text), "a", json.loads(self.kasen("measure", "fused.kir", "--format", "json")[0]))
        (self.dir / "dot").write_text("#!/bin/sh\necho '{\"bb\": \"0,0,9,9\"}'\n")
        (self.dir / "dot").chmod(0o755)
        again, _ = self.kasen("measure", "fused.kir", "--format", "html", env={"PATH": f"{self.dir}:{os.environ['PATH']}"})
        self.assertEqual(again, text)  # an answer that is none

    def test_graphviz_needs_no_file(self):
        """No file that could be gone before Graphviz opens it: here all temporary files are removed, and /tmp takes none."""
        self.prepare()
        whole, _ = self.kasen("measure", "fused.kir", "--format", "html")
        (self.dir / "dot").write_text(f"#!/bin/sh\nrm -f $TMPDIR/*\nexec {shutil.which('dot')} \"$@\"\n")
        (self.dir / "dot").chmod(0o755)
        (self.dir / "tmp").mkdir()
        found = {"PATH": f"{self.dir}:{os.environ['PATH']}"}
        for folder in (self.dir / "tmp", self.dir / "none"):
            text, err = self.kasen("measure", "fused.kir", "--format", "html", env={**found, "TMPDIR": str(folder)})
            self.assertNotIn("dot", err)
            self.assertEqual(text, whole)

    def test_hostile_names(self):
        evil = '</pre></style><script>alert(1)</script><img src=x onerror="alert(2)">\'"&amp;'
        program = PAGERANK.read_text().splitlines()
        lines = [*program[2:], "# " + evil, "# bad \xff"]
        name = "p'<b onload=x>\"&.ks"
        (self.dir / name).write_bytes("\n".join(lines).encode("latin-1") + b"\n# \xff\xc0\x80\xed\xa0\x80\x01\n")
        self.kasen("plan", name, "-o", "plan.kir")
        self.kasen("fuse", "plan.kir", "-o", "fused.kir")
        text = (self.dir / "fused.kir").read_bytes().replace(b'output "pr"', b'output "<svg onload=alert(3)>"')
        (self.dir / "evil.kir").write_bytes(text)
        self.kasen("partition", "--program", "plan.kir", "G=graph.txt", "--workers", 2, "-o", "<i>bundle")
        page, shown = self.page("fused.kir", "--bundle", "<i>bundle")
        self.assertEqual(page.of("b", onload="x"), [])
        source = page.of("span", id=f"L{len(lines) - 1}")[0]["text"]
        self.assertEqual(source, f"{len(lines) - 1}# {evil}\n")
        self.assertNotIn("\x01", shown)
        for quoted in [name, "<i>bundle"]:
            self.assertIn(quoted, page.of("p", **{"class": "sub"})[0]["text"])
        self.fault("measure", "evil.kir", "--format", "html", status=65, says="<svg onload=alert(3)>")

    def test_wrong_options(self):
        self.prepare()
        self.fault("measure", "fused.kir", "--format", "dot", "--machine", ROOT / "configs" / "machine.yaml", status=USAGE,
                   says="--machine")


class RunPages(PageTest):
    def run_and_page(self, *args):
        self.kasen("run", "fused.kir", "--bundle", "bundle", "-o", "r.h5", "--stats", "run.json", *args)
        against = ["fused.kir", "--bundle", "bundle", "--against", "run.json"]
        page, text = self.page(*against, "--machine", ROOT / "configs" / "machine.yaml")
        return page, text, json.loads((self.dir / "run.json").read_text()), against

    def test_page_of_a_run(self):
        self.prepare()
        for ranks in [1, 2]:
            page, _, run, against = self.run_and_page("-n", ranks)
            check = json.loads(self.kasen("measure", *against, "--format", "json")[0])
            values = [int(e["data-value"]) for e in page.of("td") if "data-value" in e and "check" in e["inside"]]
            self.assertEqual(values, [c[side] for c in check["totals"] for side in ("predicted", "counted")])
            took = {e["data-op"] for e in page.of("tr") if "time" in e["inside"] and "data-op" in e}
            for number, op in enumerate(run["operators"]):
                control = op["operator"].startswith("yield") or " = while " in op["operator"]
                if op["seconds"] > 0 and not control:
                    self.assertIn(f"a{number}", took)
            rows = [e for e in page.of("tr") if "balance" in e["inside"]]
            self.assertEqual(len(rows), 1 + ranks + 1 + 3)  # two tables with their heads; three workers
            touched = sum(int(c["data-value"]) for row in rows[-3:] for c in row["children"] if "data-value" in c)
            self.assertEqual(touched, sum(op["read_bytes"] + op["written_bytes"] for op in run["operators"]))
            self.assertEqual([(r["rank"], r["workers"]) for r in run["by_rank"]], [(0, 3)] if ranks == 1 else [(0, 1), (1, 2)])
            self.assertTrue(all(r["resident_bytes"] > 1e6 and 0 <= r["transition_seconds"] <= r["seconds"] for r in run["by_rank"]))
            self.check_turns(page, run)

    def check_turns(self, page, run):
        (loop,) = run["loops"]
        turns = run["operators"][loop["number"]]["turns"]
        self.assertEqual((loop["watched"], loop["limit"], loop["every"]), ("diff", 1e-9, 1))
        self.assertEqual([t[0] for t in loop["turns"]], list(range(1, turns + 1)))
        changes = [t[1] for t in loop["turns"]]
        self.assertTrue(all(c > 1e-9 for c in changes[:-1]) and changes[-1] <= 1e-9)
        self.assertEqual([t[2] for t in loop["turns"]], sorted(t[2] for t in loop["turns"]))
        curves = [e for e in page.of("svg") if e.get("class") == "curve"]
        self.assertEqual([e["aria-label"] for e in curves], ["diff", "time of an iteration, ms"])
        self.assertEqual(sum(c["tag"] == "circle" for c in curves[0]["children"]), turns)
        self.assertEqual(sum(c.get("class") == "limit" for c in curves[0]["children"]), 1)

    def test_boxes_show_predicted_and_counted(self):
        self.prepare()
        page, text, run, against = self.run_and_page("-n", 2)
        self.assertNotIn('class="bad"', text)
        self.assertEqual([e for e in page.of("g") if "differs" in e["class"]], [])
        headings = [e["text"] for e in page.of("text") if e.get("class") == "heading region"]
        outer, depth = [], None  # operators inside of regions are part of the region
        report = json.loads(self.kasen("measure", "fused.kir", "--format", "json")[0])
        for row in report["operators"]:
            if depth is None or row["depth"] <= depth:
                outer.append(row["number"])
                depth = row["depth"] if " = region " in row["operator"] else None
        self.assertGreater(len(outer), 10)
        for number in outer:
            op = run["operators"][number]
            shown = page.by_id.get(f"a{number}", {"text": ""})["text"]
            if " = region " in op["operator"]:
                self.assertTrue(headings and all(re.search(r"\d (bytes|[kM]B) = predicted$", h) for h in headings), headings)
                self.assertIn(f"read {op['read_bytes']:,} bytes, as predicted", shown)
            elif op["network_bytes"]:
                self.assertRegex(shown, r"\d (bytes|[kM]B) sent = predicted")
                self.assertIn(f"sent {op['network_bytes']:,} bytes, as predicted", shown)
            elif op["read_bytes"] + op["written_bytes"]:
                self.assertRegex(shown, r"\d (bytes|[kM]B) = predicted")
        self.check_altered(run, against)

    def check_altered(self, run, against):
        """What a box, a frame or a transition counted otherwise stands there exactly, as a warning; nowhere else."""
        altered = {" = mxv[": ("read_bytes", 1, "read"), " = region ": ("written_bytes", 8, "written"),
                   " = scatter t_": ("network_bytes", -8, "sent"), " = while ": ("read_bytes", 4, "read")}
        wanted = {}
        for op in run["operators"]:
            for what, (key, by, word) in altered.items():
                if what in op["operator"]:
                    wanted[f"a{op['number']}"] = (op[key] + by, word, op[key])
                    op[key] += by
        self.assertEqual(len(wanted), len(altered))
        (self.dir / "run.json").write_text(json.dumps(run))
        page, _ = self.page(*against)
        self.assertEqual({e["id"] for e in page.of("g") if "differs" in e["class"].split()}, set(wanted))
        warnings = [e["text"] for e in page.elements if e["tag"] in ("text", "tspan") and e.get("class") == "bad"]
        for counted, word, predicted in wanted.values():
            self.assertTrue(any(f"{counted:,} B {word}" in w for w in warnings), warnings)
            self.assertTrue(any(f"{predicted:,} B predicted" in w for w in warnings), warnings)
        self.assertEqual(sum(w.count("predicted") for w in warnings), len(wanted))
        small = {e["text"] for e in page.of("small") if "time" in e["inside"] and e.get("class") == "bad"}
        self.assertEqual(len(small), len(wanted) - 1)  # the loop's time is that of what it holds

    def test_loops_without_a_number(self):
        self.prepare(workers=1)
        for program, says, curves in [("for i in 0 .. 9 {\n  x = x * 0.5\n}", "no number: it counts its iterations", ["time of an iteration, ms"]),
                                      ("a = 1.0\nb = 8.0\nwhile b > 1.0 {\n  a = a * 3.0\n  b = b / 2.0\n  x = x * a\n}", "^while at line 6.*b: 1 at the end",
                                       ["b", "time of an iteration, ms"]),
                                      ("a = 1.0\nfor i in 0 .. 1 {\n  a = a * 3.0\n  x = x * a\n}", "[^_]a: 3 at the end", [])]:
            (self.dir / "p.ks").write_text(f"dim N\ninput G : null[N, N]\nx : f64[N] = 1\n{program}\noutput x\n")
            self.kasen("plan", "p.ks", "-o", "p.kir")
            self.kasen("fuse", "p.kir", "-o", "fused.kir")
            page, text, _, _ = self.run_and_page()
            (loop,) = [e for e in page.of("tr") if "convergence" in e["inside"] and "data-op" in e]
            self.assertRegex(loop["text"], says)
            self.assertEqual([e["aria-label"] for e in page.of("svg") if e.get("class") == "curve"], curves)
            self.assertEqual("No curves" in text, not curves)

    def test_long_loops_are_thinned(self):
        self.prepare(workers=1)
        (self.dir / "p.ks").write_text("dim N\ninput G : null[N, N]\nx : f64[N] = 1\nfor i in 0 .. 5001 {\n  x = x * 0.999\n}\noutput x\n")
        self.kasen("plan", "p.ks", "-o", "p.kir")
        self.kasen("fuse", "p.kir", "-o", "fused.kir")
        _, _, run, _ = self.run_and_page()
        (loop,) = run["loops"]
        self.assertEqual((loop["every"], loop["watched"]), (8, ""))
        self.assertEqual([t[0] for t in loop["turns"]], [*range(1, 5002, 8)] + ([] if 5001 % 8 == 1 else [5001]))
        self.assertTrue(all(t[1] is None for t in loop["turns"]))

    def test_counters_of_before(self):
        """Files of older runs say nothing of ranks and turns, and edited ones nothing true."""
        self.prepare()
        _, _, run, against = self.run_and_page()
        older = {k: v for k, v in run.items() if k not in ("by_rank", "loops")}
        (self.dir / "run.json").write_text(json.dumps(older))
        page, _ = self.page(*against)
        self.assertNotIn("balance", page.by_id)
        for loops in [[{"number": 99, "watched": "", "every": 1, "turns": []}],
                      [{"number": 9, "watched": "", "every": 1, "turns": [[1, "x", 2]]}]]:
            (self.dir / "run.json").write_text(json.dumps({**run, "loops": loops}))
            self.fault("measure", *against, "--format", "html", status=65, says="run.json")

    def test_go_leaves_the_page(self):
        self.kasen("go", PAGERANK, "G=graph.txt", "--workers", 2, "--dir", "all")
        page = Page((self.dir / "all" / "report.html").read_text())
        self.assertEqual(page.faults, [])
        for name in ["graph", "time", "convergence", "balance", "check", "memory"]:
            self.assertIn(name, page.by_id)


# Looks at the page in a frame: what is seen, what lights up, what is wider than the window.
LOOK = """<!doctype html><iframe id=f style="width:%WIDTH%px;height:900px;border:0" src="%PAGE%"></iframe><pre id=o></pre><script>
onload = () => {
  const d = f.contentDocument, w = f.contentWindow, found = {};
  const boxes = (sel) => [...d.querySelectorAll(sel)].map((e) => e.getBoundingClientRect());
  found.wide = d.documentElement.scrollWidth - d.documentElement.clientWidth;
  found.nodes = boxes(".after .ddag .node").length;
  found.seen = boxes(".after .ddag .node").filter((r) => r.width > 20 && r.height > 10).length;
  found.hidden = boxes(".before .ddag .node").filter((r) => r.width > 0).length;
  found.fits = [...d.querySelectorAll(".after .ddag .node")].every((n) => [...n.querySelectorAll("text:not(.badge)")].every(
    (t) => t.getBoundingClientRect().right <= n.querySelector("rect").getBoundingClientRect().right + 1));
  const line = [...d.querySelectorAll(".src")].find((e) => d.querySelector(`.node[data-line="${e.dataset.line}"]`));
  line.dispatchEvent(new w.MouseEvent("mouseover", {bubbles: true}));
  found.lit = d.querySelectorAll(`.node.hot[data-line="${line.dataset.line}"]`).length;
  d.querySelector(".after .node[data-op]").dispatchEvent(new w.MouseEvent("mouseover", {bubbles: true}));
  found.row = d.querySelectorAll("tr.hot").length;
  const before = d.querySelector("label[for=v-before]");
  if (before) { before.click(); found.shown = boxes(".before .ddag .node").filter((r) => r.width > 20).length; }
  found.dark = w.getComputedStyle(d.body).backgroundColor;
  o.textContent = JSON.stringify(found);
};
</script>"""


@unittest.skipUnless(shutil.which("chromium"), "Debian's chromium is not installed: apt-get install chromium")
class Browser(PageTest):
    def look(self, page, width, *args):
        (self.dir / "look.html").write_text(LOOK.replace("%WIDTH%", str(width)).replace("%PAGE%", page))
        done = subprocess.run(["chromium", "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={self.dir / 'profile'}",
                               "--allow-file-access-from-files", "--enable-logging=stderr", "--virtual-time-budget=5000",
                               "--window-size=1700,1000", *args, "--dump-dom", f"file://{self.dir / 'look.html'}"],
                              text=True, capture_output=True, timeout=120, check=True)
        self.assertEqual([line for line in done.stderr.splitlines() if "CONSOLE" in line], [])
        return json.loads(re.search(r"<pre id=\"o\">(.*?)</pre>", done.stdout, re.S).group(1).replace("&amp;", "&"))

    def check_look(self, page, width, *args):
        found = self.look(page, width, *args)
        self.assertLessEqual(found["wide"], 0, found)
        self.assertGreater(found["nodes"], 5)
        self.assertEqual(found["seen"], found["nodes"])
        self.assertEqual(found["hidden"], 0)
        self.assertTrue(found["fits"])
        self.assertGreater(found["lit"], 0)
        self.assertGreater(found["row"], 0)
        self.assertGreater(found["shown"], 5)
        return found

    def test_plans(self):
        for name in ["pagerank", "lbfgs", "multinomial"]:
            self.kasen("plan", ROOT / "examples" / f"{name}.ks", "-o", "plan.kir")
            self.kasen("fuse", "plan.kir", "-o", "fused.kir")
            self.kasen("measure", "fused.kir", "--format", "html", "-o", "page.html")
            for width in [1600, 700]:
                self.check_look("page.html", width)

    def test_a_run(self):
        self.kasen("go", PAGERANK, "G=graph.txt", "--workers", 3, "-n", 2, "--dir", "all")
        for width in [1600, 700]:
            self.assertEqual(self.check_look("all/report.html", width)["dark"], "rgb(255, 255, 255)")
        dark = self.check_look("all/report.html", 1600, "--blink-settings=preferredColorScheme=0")
        self.assertEqual(dark["dark"], "rgb(20, 24, 31)")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=1)
