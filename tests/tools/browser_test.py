#!/usr/bin/env python3
"""Every page and picture in a browser, at two widths and in two themes: not blank, nothing cut off, all texts readable.

What is measured are the boxes and colours that the browser computes, not the text of the page.
Usage: browser_test.py FOLDER_OF_TOOLS SOURCE_ROOT [unittest arguments]
With KEEP_PICTURES=FOLDER the screenshots are kept there.
"""
import json
import os
import pathlib
import random
import sys
import unittest
import urllib.parse

import numpy

sys.dont_write_bytecode = True  # the source tree stays as it is
import browser  # noqa: E402
import region_tasks_test  # noqa: E402  (modules: their tests do not run here)
import streams_test  # noqa: E402
import swap_test  # noqa: E402
from tools_test import PAGERANK, ROOT, USAGE, ToolTest  # noqa: E402

LOOKS = [(width, dark) for width in (1280, 390) for dark in (False, True)]

# Everything that is wrong with the page that is open, as lines of text.
MEASURE = r"""(() => {
  const faults = [], say = (text) => faults.length < 12 && faults.push(text);
  const named = (e) => `${e.tagName}.${e.getAttribute("class") || ""} "${e.textContent.trim().slice(0, 40)}"`;
  const seen = (e) => e.checkVisibility({checkOpacity: true, checkVisibilityCSS: true}) && e.getBoundingClientRect().width > 0;
  const wide = document.scrollingElement.scrollWidth - innerWidth;
  if (wide > 0) say(`the page is ${wide} pixels wider than the window`);
  // Colours as numbers; the paper composes what the style says, whatever notation that has.
  const paper = document.createElementNS("http://www.w3.org/1999/xhtml", "canvas").getContext("2d", {willReadFrequently: true});
  const known = new Map();
  const color = (text) => {
    if (!known.has(text)) {
      paper.clearRect(0, 0, 1, 1);
      paper.fillStyle = text;
      paper.fillRect(0, 0, 1, 1);
      known.set(text, [...paper.getImageData(0, 0, 1, 1).data]);
    }
    return known.get(text);
  };
  const over = (top, below) => {
    const a = top[3] / 255;
    return [0, 1, 2].map((i) => top[i] * a + below[i] * (1 - a)).concat(255);
  };
  const light = (c) => [0, 1, 2].map((i) => c[i] / 255).map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const contrast = (a, b) => { const [x, y] = [light(a), light(b)]; return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05); };
  const ground = (e) => {  // behind an element of HTML, or a whole picture
    const layers = [];
    for (let at = e; at; at = at.parentElement) layers.push(color(getComputedStyle(at).backgroundColor));
    return layers.reverse().reduce((below, top) => over(top, below), color(getComputedStyle(document.documentElement).colorScheme.includes("dark")
      && matchMedia("(prefers-color-scheme:dark)").matches ? "#121212" : "#fff"));
  };
  const inside = (a, b, by) => a.left >= b.left - by && a.right <= b.right + by && a.top >= b.top - by && a.bottom <= b.bottom + by;
  const meet = (a, b, by) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > by && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > by;
  let texts = 0;
  const check = (e, ink, behind) => {
    texts += 1;
    const ratio = contrast(over(ink, behind), behind);
    if (ratio < 4.5) say(`contrast ${ratio.toFixed(2)}: ${named(e)}`);
  };
  for (const svg of document.querySelectorAll("svg:not([aria-hidden])")) {
    if (!seen(svg)) continue;
    const frame = svg.getBoundingClientRect(), shapes = [...svg.querySelectorAll("rect")].filter(seen), base = ground(svg);
    const words = [...svg.querySelectorAll("text")].filter(seen), boxes = words.map((e) => e.getBoundingClientRect());
    words.forEach((text, i) => {
      const box = boxes[i], center = {left: box.x + box.width / 2, right: box.x + box.width / 2, top: box.y + box.height / 2, bottom: box.y + box.height / 2};
      if (!inside(box, frame, 1)) say(`outside of its picture: ${named(text)}`);
      const own = text.closest(".node");
      if (own && !inside(box, own.querySelector("rect").getBoundingClientRect(), 1)) say(`outside of its box: ${named(text)}`);
      const below = shapes.filter((r) => text.compareDocumentPosition(r) & Node.DOCUMENT_POSITION_PRECEDING &&
        inside(center, r.getBoundingClientRect(), 0) && getComputedStyle(r).fill !== "none");
      check(text, color(getComputedStyle(text).fill), below.reduce((b, r) => over(color(getComputedStyle(r).fill), b), base));
      for (let j = 0; j < i; ++j) if (meet(box, boxes[j], 1.5)) say(`one over another: ${named(text)} and ${named(words[j])}`);
    });
    const nodes = [...svg.querySelectorAll(".node > rect")].map((r) => r.getBoundingClientRect());
    nodes.forEach((a, i) => nodes.slice(0, i).forEach((b) => meet(a, b, 1) && say("two boxes over another")));
    if (!words.length) say("a picture without a text");
  }
  const walk = document.createTreeWalker(document.body || document.documentElement, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const e = walk.currentNode.parentElement;
    if (!walk.currentNode.data.trim() || e.closest("svg,script,style,title,option") || !seen(e)) continue;
    check(e, color(getComputedStyle(e).color), ground(e));
  }
  for (const e of document.querySelectorAll("body *")) {  // text that a box hides without a bar to scroll
    const style = getComputedStyle(e);
    if (!e.closest("svg") && ["hidden", "clip"].includes(style.overflowX) && e.scrollWidth > e.clientWidth + 1 && seen(e)) say(`cut off: ${named(e)}`);
  }
  return {faults, texts};
})()"""


@unittest.skipIf(browser.WHY_NOT, browser.WHY_NOT)
class InBrowser(ToolTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.browser = browser.Browser()

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()
        super().tearDownClass()

    def look(self, name, texts=10, colors=20):
        """Opens a file of the test's folder in all widths and themes; its papers differ by the theme."""
        path = pathlib.Path(name) if pathlib.Path(name).is_absolute() else self.dir / name
        for width, dark in LOOKS:
            with self.subTest(page=path.name, width=width, dark=dark):
                self.browser.open(path, width, dark)
                measured = self.browser.value(MEASURE)
                png = self.browser.picture()
                if os.environ.get("KEEP_PICTURES"):
                    kept = pathlib.Path(os.environ["KEEP_PICTURES"]) / f"{self._testMethodName}-{path.name}-{width}-{'dark' if dark else 'light'}.png"
                    kept.write_bytes(png)
                self.assertEqual(measured["faults"], [])
                self.assertGreaterEqual(measured["texts"], texts)
                self.assertEqual(self.browser.faults(), [])
                seen = self.browser.looks(png)
                self.assertGreater(seen["colors"], colors)
                self.assertLess(seen["share"], 0.995)
                self.assertEqual(seen["width"], width)


    def wait_for(self, condition):
        """Until an expression of JavaScript is true: after frames and observers of the page."""
        self.assertTrue(self.browser.value(f"""new Promise((done) => {{
          let left = 200;
          const look = () => {{ const is = ({condition}); is || !left-- ? done(!!is) : setTimeout(look, 20); }};
          look();
        }})"""), condition)

    def box(self, what, place=0):
        """The box of an element in the window: left, top, width, height."""
        return self.browser.value(f"(() => {{ const r = document.querySelectorAll({what!r})[{place}].getBoundingClientRect(); return [r.x, r.y, r.width, r.height]; }})()")

    def click(self, what, place=0):
        x, y, width, height = self.box(what, place)
        for kind in ["Pressed", "Released"]:
            self.browser.mouse(kind, x + width / 2, y + height / 2, button="left", clickCount=1)


class Measures(InBrowser):
    """The measures find what they are for: each of these pages has one fault."""

    def fault_of(self, body):
        (self.dir / "page.html").write_text(f"<!doctype html><html><body style='margin:0'>{body}</body></html>")
        self.browser.open(self.dir / "page.html", 390)
        return self.browser.value(MEASURE)["faults"]

    def test_faults_are_found(self):
        svg = "<svg width='200' height='100' viewBox='0 0 200 100' font-size='12'>%s</svg>"
        box = "<g class='node'><rect x='5' y='5' width='60' height='20' fill='#fff'/><text x='8' y='18'>%s</text></g>"
        for body, says in [("<div style='width:400px'>wide</div>", "wider than the window"),
                           ("<p style='color:#888'>pale</p>", "contrast 3.5"),
                           ("<p style='background:#123;color:#246'>dark</p>", "contrast 1"),
                           (svg % "<text x='190' y='20'>over the edge</text>", "outside of its picture"),
                           (svg % box % "much too long", "outside of its box"),
                           (svg % "<text x='9' y='20'>one</text><text x='12' y='22'>two</text>", "one over another"),
                           (svg % (box % "a" + box.replace("'8'", "'50'") % "b"), "two boxes"),
                           (svg % "<rect width='90' height='90' fill='#000'/><text x='9' y='20'>black</text>", "contrast 1.00"),
                           (svg % "", "without a text"),
                           ("<div style='width:30px;overflow:hidden;white-space:nowrap'>hidden text</div>", "cut off")]:
            with self.subTest(says=says):
                self.assertRegex("\n".join(self.fault_of(body)), says)
        self.assertEqual(self.fault_of(svg % box % "fits" + "<p>plain</p>"), [])

    def test_what_a_page_says_is_heard(self):
        self.fault_of("<script>console.log('heard')</script><script>nobody.home()</script>")
        self.assertRegex(" ".join(self.browser.faults()), "heard.*nobody is not defined")

    def test_blank_pages_have_one_color(self):
        self.fault_of("")
        seen = self.browser.looks(self.browser.picture())
        self.assertEqual((seen["colors"], seen["share"], seen["width"]), (1, 1, 390))


class Looked(InBrowser):
    """The pages and pictures that the tools make."""

    def test_page_of_go(self):
        self.kasen("go", PAGERANK, "G=graph.txt", "--workers", 3, "-n", 2, "--dir", "all")
        self.look("all/report.html", texts=300)
        self.look("all/plan.svg")

    def test_page_of_a_table(self):
        (self.dir / "x.csv").write_text("a,b\n" + "".join(f"{i % 7},{i % 5 * 10}\n" for i in range(60)))
        self.kasen("go", ROOT / "examples" / "kmeans.ks", "X=x.csv", "--workers", 2, "--dir", "all")
        self.look("all/report.html", texts=200)

    def test_large_programs(self):
        self.kasen("plan", ROOT / "examples" / "multinomial.ks", "-o", "plan.kir")
        self.kasen("fuse", "plan.kir", "-o", "fused.kir")
        self.kasen("measure", "fused.kir", "--format", "html", "-o", "page.html")
        self.look("page.html", texts=200)

    def test_pictures_of_the_documents(self):
        for path in (ROOT / "docs").glob("**/*.svg"):
            self.look(path)

    def test_scaling(self):
        self.prepare()
        self.kasen("measure", "fused.kir", "--data", "G=graph.txt", "--workers", "1,2,4,8", "--method", "all", "--plot", "scaling.svg")
        self.look("scaling.svg")


class OverTime(InBrowser):
    """Pictures of what goes on over time, on pages and as files; and the trace, which the page links."""

    def test_streams(self):
        streams_test.Streams.plan(self, streams_test.LOOP, 100_000)
        pool = streams_test.Streams.run_it(self)["parts"][0]["buffer_bytes"]
        streams_test.Streams.plan(self, streams_test.LOOP, 100_000, "--swap", "--memory", pool * 2 // 3)
        streams_test.Streams.run_it(self, "--trace", "trace.json")
        shown = ["measure", "f.kir", "--bundle", "bundle", "--against", "run.json"]
        self.kasen(*shown, "--timeline", "--format", "svg", "-o", "streams.svg")
        self.look("streams.svg")
        self.kasen(*shown, "--trace", "trace.json", "--format", "html", "-o", "page.html")
        self.look("page.html", texts=150)

    def test_tasks(self):
        self.arrays = {"A": numpy.ones((23, 16)), "B": numpy.ones((16, 10)), "C": numpy.ones((23, 10))}
        region_tasks_test.RegionTasks.plan(self, region_tasks_test.MIXED)
        self.kasen("measure", "plan.kir", "--bundle", "bundle", "--tasks", "--format", "svg", "-o", "tasks.svg")
        self.look("tasks.svg")
        self.kasen("measure", "plan.kir", "--bundle", "bundle", "--format", "html", "-o", "page.html")
        self.look("page.html", texts=150)

    def test_swaps(self):
        (self.dir / "graph.json").write_text(json.dumps(swap_test.layers(12, random.Random(3))))
        self.kasen("swap", "graph.json", "--memory", 24_000, "--population", 16, "--generations", 10, "--timeline", "swap.svg")
        self.look("swap.svg")

    def test_the_page_links_the_trace(self):
        (self.dir / "of a run").mkdir()
        self.kasen("go", PAGERANK, "G=graph.txt", "--workers", 2, "--dir", "all", "--trace", "of a run/t#1.json")
        self.browser.open(self.dir / "all" / "report.html")
        link = "document.querySelector('#trace a')"
        self.assertEqual(self.browser.value(f"{link}.textContent"), "../of a run/t#1.json")
        self.assertEqual(self.browser.value("document.querySelector('nav a[href=\"#trace\"]').textContent"), "Trace")
        path = urllib.parse.unquote(urllib.parse.urlsplit(self.browser.value(f"{link}.href")).path)
        self.assertIn("traceEvents", json.loads(pathlib.Path(path).read_text()))
        self.assertEqual(self.browser.value(MEASURE)["faults"], [])
        self.kasen("go", PAGERANK, "G=graph.txt", "--workers", 2, "--dir", "all")
        self.assertNotIn('id="trace"', (self.dir / "all" / "report.html").read_text())
        self.fault("measure", "all/fused.kir", "--bundle", "all/bundle", "--trace", "of a run/t#1.json", status=USAGE, says="--trace needs --against")


class Graphs(InBrowser):
    """Zoom, overview, dragging and search of a graph that is larger than its frame."""

    def setUp(self):
        super().setUp()
        self.prepare()
        self.kasen("measure", "fused.kir", "--bundle", "bundle", "--format", "html", "-o", "page.html")
        self.browser.open(self.dir / "page.html", 700, height=600)
        self.browser.value("document.querySelector('.after .viewer').scrollIntoView()")
        self.wait_for("document.querySelector('.after .mini .seen')?.getAttribute('width')")

    def seen(self):
        """The part of the picture that the overview frames: left, top, width, height."""
        return self.browser.value("['x', 'y', 'width', 'height'].map((n) => +document.querySelector('.after .mini .seen').getAttribute(n))")

    def scale(self):
        return self.browser.value("(() => { const s = document.querySelector('.after .ddag'); return s.getBoundingClientRect().width / s.viewBox.baseVal.width; })()")

    def test_buttons_and_keys_zoom(self):
        self.assertAlmostEqual(self.scale(), 1, places=3)
        for act, scale in [(lambda: self.click(".after .zoom button", 0), 1.25), (lambda: self.click(".after .zoom button", 1), 1),
                           (lambda: self.browser.press("-"), 1), (lambda: self.browser.press("+"), 1)]:
            act()
            self.assertAlmostEqual(self.scale(), scale, places=3)
        self.browser.value("document.querySelector('.after .canvas').focus()")
        for key, scale in [("+", 1.25), ("+", 1.25 ** 2), ("-", 1.25), ("1", 1)]:
            self.browser.press(key)
            self.assertAlmostEqual(self.scale(), scale, places=3)
        self.browser.press("0")
        self.assertLess(self.scale(), 1)
        self.assertEqual(self.browser.faults(), [])
        whole = self.browser.value("(() => { const c = document.querySelector('.after .canvas'); return [c.scrollWidth - c.clientWidth, c.scrollHeight - c.clientHeight]; })()")
        self.assertLessEqual(whole[0], 1)

    def test_the_wheel_zooms_where_the_pointer_is(self):
        x, y, width, height = self.box(".after .node")
        at = (x + width / 2, y + height / 2)
        self.browser.mouse("Wheel", *at, deltaX=0, deltaY=-100, modifiers=2)
        self.wait_for("document.querySelector('.after .ddag').getBoundingClientRect().width > 1.1 * document.querySelector('.after .ddag').viewBox.baseVal.width")
        x, y, width, height = self.box(".after .node")
        self.assertTrue(x < at[0] < x + width and y < at[1] < y + height)
        self.assertEqual(self.browser.value("scrollX"), 0)

    def test_the_overview_follows_and_leads(self):
        left, top, width, height = self.seen()
        self.assertEqual((left, top), (0, 0))
        frame = self.browser.value("(() => { const c = document.querySelector('.after .canvas'), s = c.querySelector('.ddag').viewBox.baseVal; return [c.clientWidth, c.clientHeight, s.width, s.height]; })()")
        self.assertLess(height, frame[3])
        self.assertAlmostEqual(width, min(frame[0], frame[2]), delta=20)
        self.browser.value("document.querySelector('.after .canvas').scrollTop = 150")
        self.wait_for("+document.querySelector('.after .mini .seen').getAttribute('y') > 90")
        boxes = self.browser.value("[document.querySelectorAll('.after .canvas .node').length, document.querySelectorAll('.after .mini .node').length]")
        self.assertEqual(boxes[0], boxes[1])
        before = self.seen()[1]
        x, y, width, height = self.box(".after .mini")
        self.browser.mouse("Pressed", x + width / 2, y + height - 2, button="left", buttons=1, clickCount=1)
        self.browser.mouse("Released", x + width / 2, y + height - 2, button="left", clickCount=1)
        self.wait_for(f"+document.querySelector('.after .mini .seen').getAttribute('y') > {before + 50}")

    def test_the_pointer_drags_and_follows_no_link(self):
        x, y, width, height = self.box(".after a .node")
        at = (x + width / 2, y + height / 2)
        self.browser.mouse("Pressed", *at, button="left", buttons=1, clickCount=1)
        for step in (10, 40, 60):
            self.browser.mouse("Moved", at[0], at[1] - step, button="left", buttons=1)
        self.browser.mouse("Released", at[0], at[1] - 60, button="left", clickCount=1)
        self.wait_for("document.querySelector('.after .canvas').scrollTop === 60")
        self.assertEqual(self.browser.value("location.hash"), "")
        self.browser.value("document.querySelector('.after .canvas').scrollTop = 0")
        self.click(".after a .node")
        self.wait_for("location.hash.startsWith('#L')")

    def test_search(self):
        self.browser.value("document.querySelector('.find input').focus()")
        self.browser.call("Input.insertText", text="G' @ (PR")
        self.wait_for("document.querySelector('.find output').textContent.includes('found')")
        found = self.browser.value("[...document.querySelectorAll('.found')].map((e) => e.querySelector('.name').textContent)")
        self.assertGreater(len(found), 1)
        self.assertTrue(any("G' @ (pr / degree)" == name for name in found))
        self.assertEqual(self.browser.value("document.querySelectorAll('.node.found').length"), len(found))
        for _ in found:
            self.browser.press("Enter", "\r")
        self.wait_for(f"document.querySelector('.find output').textContent === '{len(found)} of {len(found)}'")
        x, y, width, height = self.box(".at")
        self.assertTrue(0 <= x and x + width <= 700 and 0 <= y and y + height <= 600)
        self.browser.value("document.querySelector('.find input').value = 'no such box'; document.querySelector('.find input').dispatchEvent(new Event('input'))")
        self.wait_for("document.querySelector('.find output').textContent === 'nothing found' && !document.querySelector('.found')")
        for word in ["t_2_g", "mxv"]:  # the plan's names and operators are found, too
            self.browser.value(f"document.querySelector('.find input').value = '{word}'; document.querySelector('.find input').dispatchEvent(new Event('input'))")
            self.wait_for("document.querySelector('.found')")

    def test_without_script(self):
        for width in (1280, 390):
            self.browser.open(self.dir / "page.html", width, script=False)
            seen = self.browser.looks(self.browser.picture())
            self.assertGreater(seen["colors"], 500)
            self.assertEqual(seen["width"], width)


class Values(InBrowser):
    """The values of curves under the pointer and by keys."""

    def test_a_run(self):
        self.kasen("go", PAGERANK, "G=graph.txt", "--workers", 2, "--dir", "all")
        run = json.loads((self.dir / "all" / "run.json").read_text())
        self.browser.open(self.dir / "all" / "report.html", 1280)
        self.browser.value("document.querySelector('#convergence .curve').scrollIntoView({block: 'center'})")
        curve = "#convergence .curve"
        turns = run["loops"][0]["turns"]
        x, y, width, height = self.box(curve)
        shapes = self.browser.value(f"[...document.querySelectorAll('{curve}:first-child circle:not(.spot)')].length")
        self.assertGreaterEqual(shapes, len(turns))
        for place in (0, len(turns) // 2, len(turns) - 1):
            cx, cy, w, h = self.box(f"{curve} circle:not(.spot)", place)
            self.browser.mouse("Moved", cx + w / 2, cy + h / 2)
            self.wait_for(f"document.querySelector('.told').textContent === 'iteration {turns[place][0]}: {turns[place][1]:.6g}'")
            tx, ty, tw, th = self.box(".told")
            self.assertTrue(tx >= 0 and tx + tw <= 1280 and ty >= 0)
        self.browser.mouse("Moved", 5, y + height + 30)
        self.wait_for("getComputedStyle(document.querySelector('.told')).display === 'none'")
        self.browser.value(f"document.querySelector('{curve}').focus()")
        for number in (1, 2):
            self.browser.press("ArrowRight")
            self.wait_for(f"document.querySelector('.told').textContent.startsWith('iteration {number}:')")
        self.assertEqual(self.browser.faults(), [])

    def test_a_histogram(self):
        (self.dir / "p.ks").write_text("dim N\ninput x : f64[N]\ny = x * x\noutput y\n")
        (self.dir / "x.csv").write_text("\n".join(str(i / 100) for i in range(400)) + "\n")
        self.kasen("go", "p.ks", "x=x.csv", "--dir", "all")
        self.browser.open(self.dir / "all" / "report.html", 390)
        told = self.browser.value("document.querySelector('#results .curve path[data-values]').dataset.values.split('|').filter((v) => v)")
        self.assertEqual(sum(int(value.split(": ")[1]) for value in told), 2 * 400)  # both corners of each column
        self.browser.value("document.querySelector('#results .curve').focus()")
        self.browser.press("ArrowRight")
        self.wait_for(f"document.querySelector('.told').textContent === '{told[0]}'")


class ExperimentPages(InBrowser):
    """One page for an experiment: rows are sorted, filtered and compared as Python does it with the same rows."""

    MATRIX = f"""program: {PAGERANK}
data: {{G: graph.txt}}
workers: [1, 2]
strategy: [none, greedy]
kernels: interpreter
repetitions: 2
"""

    def setUp(self):
        super().setUp()
        (self.dir / "e.yaml").write_text(self.MATRIX)
        self.kasen("experiment", "e.yaml")
        self.page = self.dir / "e.experiment" / "report.html"

    def table(self, place=1):
        """The head and the shown rows of a table, without the column to tick."""
        cells = self.browser.value(f"[...document.querySelectorAll('.runs')[{place}].rows].filter((r) => !r.hidden).map((r) => [...r.cells].slice(0, -1).map((c) => c.textContent))")
        return cells[0], cells[1:]

    def test_the_page(self):
        self.look("e.experiment/report.html", texts=80)
        head, rows = self.table()
        self.assertEqual(head[:3], ["workers", "strategy", "repetition"])
        kept = [json.loads(line) for line in (self.page.parent / "runs.jsonl").read_text().splitlines()]
        want = {(str(r["settings"]["workers"]), r["settings"]["strategy"], str(r["repetition"])): r for r in kept}
        self.assertEqual(len(rows), 8)
        for row in rows:
            run = want.pop(tuple(row[:3]))
            self.assertAlmostEqual(float(row[3]), run["seconds"], delta=6e-7)
            self.assertEqual(int(row[head.index("network bytes")].replace(",", "")), run["bytes"]["network bytes"]["counted"])
            self.assertEqual(row[-1], "equal")
        self.assertEqual(self.browser.value("document.querySelectorAll('svg.plot').length"), 3)
        for name in ["speedup.svg", "bytes.svg", "predicted.svg"]:
            self.look(f"e.experiment/{name}")

    def test_sort_and_filter(self):
        self.browser.open(self.page)
        head, rows = self.table()
        for name, key in [("seconds", lambda r: float(r[3])), ("strategy", lambda r: r[1])]:
            button = f"document.querySelectorAll('.runs')[1].querySelectorAll('.sort')[{head.index(name)}]"
            for falls in (False, True):
                self.browser.value(f"{button}.click()")
                _, sorted_rows = self.table()
                self.assertEqual([key(r) for r in sorted_rows], sorted(map(key, rows), reverse=falls))
                self.assertEqual(sorted(sorted_rows), sorted(rows))
                self.assertEqual(self.browser.value(f"{button}.parentElement.getAttribute('aria-sort')"), "descending" if falls else "ascending")
        for choice in [{0: "2"}, {0: "2", 1: "none"}, {1: "greedy"}, {}]:
            for place in (0, 1):
                self.browser.value(f"""(() => {{ const s = document.querySelectorAll('.choice')[1].querySelectorAll('select')[{place}];
                  s.value = {choice.get(place, "")!r}; s.dispatchEvent(new Event('change')); }})()""")
            _, shown = self.table()
            want = [r for r in rows if all(r[i] == value for i, value in choice.items())]
            self.assertEqual(sorted(shown), sorted(want))
            self.assertEqual(self.browser.value("document.querySelectorAll('.filters output')[1].textContent"), f"{len(want)} of 8 rows" if choice else "")
        self.assertEqual(len(self.table(0)[1]), 4)  # the other table stays as it is

    def test_the_difference_of_two_runs(self):
        self.browser.open(self.page, 390)
        head, rows = self.table()
        tick = "document.querySelectorAll('.choice')[1].querySelectorAll('input')[%d].click()"
        self.browser.value(tick % 0)
        self.assertEqual(self.browser.value("document.querySelectorAll('.difference table').length"), 0)
        for place in (5, 7):  # the third takes the place of the first
            self.browser.value(tick % place)
            a, b = (rows[0], rows[5]) if place == 5 else (rows[5], rows[7])
            lines = {line[0]: line[1:] for line in self.browser.value("[...document.querySelectorAll('.difference tbody tr')].map((r) => [...r.cells].map((c) => c.textContent))")}
            for i, name in enumerate(head):
                if i < 2 or name == "check":
                    self.assertEqual(name in lines, a[i] != b[i])
                    continue
                x, y = (float(cells[i].replace(",", "")) for cells in (a, b))
                self.assertEqual(lines[name][:2], [a[i], b[i]])
                if x == y:
                    self.assertEqual(lines[name][2], "same")
                else:
                    self.assertAlmostEqual(float(lines[name][2].replace(",", "")), y - x, delta=1e-5 * abs(y - x))
                if x:
                    self.assertAlmostEqual(float(lines[name][3].replace(",", "")), y / x, delta=1e-5 * abs(y / x))
        measured = self.browser.value(MEASURE)
        self.assertEqual(measured["faults"], [])
        self.assertEqual(self.browser.faults(), [])

    def test_values_of_plots(self):
        self.browser.open(self.page)
        self.browser.value("document.querySelector('svg.plot').scrollIntoView({block: 'center'})")
        x, y, width, height = self.box("svg.plot circle[cx]", 0)
        title = self.browser.value("document.querySelector('svg.plot circle title').textContent")
        self.assertRegex(title, r"^strategy=\w+\nworkers 1: speed-up 1( \(.* to .*\))?$")
        self.browser.mouse("Moved", x + width / 2, y + height / 2)
        self.wait_for("/^strategy=\\w+\\nworkers 1: speed-up/.test(document.querySelector('.told').textContent)")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=1)
