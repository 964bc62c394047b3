#!/usr/bin/env python3
"""How dense arrays are cut over a mesh of workers: every choice gives NumPy's numbers, sends what was predicted, and is
shown with its reasons.

Usage: tiling_test.py FOLDER_OF_TOOLS SOURCE_ROOT [unittest arguments]
"""
import json
import re
import shutil
import subprocess
import sys
import unittest

import numpy

sys.dont_write_bytecode = True  # the source tree stays as it is
from tools_test import BAD, MISSING, USAGE, ToolTest  # noqa: E402

# Training of a network with one hidden layer: products of all forms in a loop, weights that it carries.
NETWORK = """dim B, D, H, O
input X : dense f64[B, D], Y : dense f64[B, O], U : dense f64[D, H], V : dense f64[H, O]
E = -Y
for step in 0..4 {
  Z = tanh(X @ U)
  E = Z @ V - Y
  G = Z' @ E
  R = (E @ V') * (1.0 - Z * Z)
  V = V - 0.01 * G
  U = U - 0.01 * (X' @ R)
}
output U, V, loss = sum(E * E)
"""
PATTERN = """dim N
input A : dense f64[N, N], B : dense f64[N, N]
C = A + B
D = [i in N, j in N: A[j, i] + B[j, i]]
output E = C + D
"""
# One array that an iteration reads along both axes.
BOTH = """dim N, K
input A : dense f64[N, K], x : f64[K], y : f64[N]
for i in 0..6 {
  y = 0.5 * y + [n in N: max(k in K: A[n, k] + x[k])]
  x = 0.5 * x + [k in K: max(n in N: A[n, k] - y[n])]
}
output x, y
"""
# Along the rows in a loop, along the columns once: so many iterations decide how M is cut.
LOOP = """dim R, C
param n : i64 = 10
input M : dense f64[R, C]
i = 0
while i < n {
  M = 0.5 * M + [r in R: max(c in C: M[r, c])]
  i = i + 1
}
if n > 4 {
  M = M + 1.0
}
output y = [c in C: max(r in R: M[r, c])]
"""
SEARCHES = ["exact", "greedy", "mincost", "worst", "none"]


class Tiling(ToolTest):
    def setUp(self):
        super().setUp()
        random = numpy.random.default_rng(5)
        shapes = {"X": (30, 7), "Y": (30, 3), "U": (7, 5), "V": (5, 3), "A": (24, 24), "B": (24, 24), "M": (8, 64), "x": 24, "y": 24}
        self.arrays = {name: random.normal(size=shape) for name, shape in shapes.items()}
        for name, array in self.arrays.items():
            numpy.save(self.dir / f"{name}.npy", array)
        for name, text in {"network": NETWORK, "pattern": PATTERN, "both": BOTH, "loop": LOOP}.items():
            (self.dir / f"{name}.ks").write_text(text)

    def trained(self):
        x, y, u, v = (self.arrays[name] for name in "XYUV")
        for _ in range(4):
            z = numpy.tanh(x @ u)
            e = z @ v - y
            g, r = z.T @ e, (e @ v.T) * (1 - z * z)
            v = v - 0.01 * g
            u = u - 0.01 * (x.T @ r)
        return {"U": u, "V": v, "loss": (e * e).sum()}

    def files(self, names):
        return [f"{name}={name}.npy" for name in names]

    def bundle(self, program, names):
        self.kasen("plan", f"{program}.ks", "-o", f"{program}.kir")
        self.kasen("partition", "--program", f"{program}.kir", *self.files(names), "--workers", 4, "--replace", "-o", program)

    def tiling(self, program, *options):
        out, _ = self.kasen("fuse", f"{program}.kir", "--bundle", program, *options, "--print-tiling=json")
        return json.loads(out)

    def sent(self, program, *options):
        """Bytes that a run sends between workers; what was predicted is checked on the way."""
        self.kasen("fuse", f"{program}.kir", "--bundle", program, *options, "-o", "f.kir")
        self.kasen("run", "f.kir", "--bundle", program, "-o", "out.npy", "--stats", "run.json")
        out, _ = self.kasen("measure", "f.kir", "--bundle", program, "--against", "run.json", "--check")
        self.assertIn("agree to the byte", out)
        line = next(line for line in out.splitlines() if line.startswith("network bytes between workers"))
        return int(line.split()[4].replace(",", ""))

    def test_every_search_gives_the_same_numbers(self):
        for options in [["--mesh", "auto", "--workers", 6], ["--mesh", "2x2"], ["--mesh", "4"]]:
            for search in SEARCHES if "auto" not in options else ["exact", "worst"]:
                out, _ = self.kasen("go", "network.ks", *self.files("XYUV"), *options, "--tile", search, "-o", "out.npy")
                self.assertIn("Predicted and counted agree to the byte", out)
                for name, wanted in self.trained().items():
                    got = numpy.load(self.dir / ("out.npy" if name == "U" else f"out-{name}.npy"))
                    numpy.testing.assert_allclose(got, wanted, rtol=1e-12, err_msg=f"{name} {options} {search}")

    def test_runs_send_what_the_search_says(self):
        self.bundle("network", "XYUV")
        self.bundle("pattern", "AB")
        self.bundle("both", "Axy")
        for program in ["network", "pattern", "both"]:
            for costs in ["--tile-costs", "paper"], ["--memory", "300"]:
                for search in SEARCHES:  # predicted and counted agree
                    self.assertGreaterEqual(self.sent(program, "--mesh", "4", "--tile", search, *costs), 0)
            for mesh in ["4", "2x2"]:
                said = self.tiling(program, "--mesh", mesh)
                self.assertTrue(said["proven"])
                sent = {search: self.sent(program, "--mesh", mesh, "--tile", search) for search in SEARCHES}
                self.assertEqual(sent["exact"], said["bytes"], f"{program} {mesh}")
                self.assertEqual(sent["exact"], min(sent.values()), f"{program} {mesh} {sent}")
                self.assertLessEqual(sent["worst"], said["worst_bytes"])
                self.assertGreater(sent["worst"], sent["exact"])

    def test_the_pattern_of_the_paper(self):
        self.bundle("pattern", "AB")
        array = 24 * 24 * 8
        said = self.tiling("pattern", "--mesh", "4", "--tile-costs", "paper")
        self.assertEqual(said["bytes"], array)
        self.assertEqual(self.tiling("pattern", "--mesh", "4")["bytes"], array * 3 // 4)  # a quarter stays

    def test_copies_keep_to_the_memory(self):
        """With memory for a copy, A moves once; without, in each of six iterations or not at all."""
        self.bundle("both", "Axy")
        numpy.save(self.dir / "A.npy", self.arrays["A"])
        free = self.sent("both", "--mesh", "4")
        for memory in ["1", "100", "1K", "1M"]:
            said = self.tiling("both", "--mesh", "4", "--memory", memory)
            self.assertGreaterEqual(said["bytes"], free)
            self.assertEqual(self.sent("both", "--mesh", "4", "--memory", memory), said["bytes"])
        self.assertEqual(said["bytes"], free)

    def test_texts(self):
        self.bundle("network", "XYUV")
        text, _ = self.kasen("fuse", "network.kir", "--bundle", "network", "--mesh", "auto", "--print-tiling")
        for says in ["moved in the whole run (least, proven)", "greedy", "worst", "mesh 4", "mesh 2x2", "layout", "moved for"]:
            self.assertIn(says, text)
        dot, _ = self.kasen("fuse", "network.kir", "--bundle", "network", "--mesh", "2x2", "--print-tiling=dot")
        if shutil.which("dot"):
            drawn = subprocess.run(["dot", "-Tsvg"], input=dot, capture_output=True, text=True, check=True)
            self.assertIn("</svg>", drawn.stdout)
        plan, told = self.kasen("fuse", "network.kir", "--sizes", "B=1e6,D=100,H=50,O=10,P=16", "--mesh", "16", "--explain")
        self.assertIn("mesh a = 16", plan)
        for says in ["line 2: input X", "X is [B/a,D]", "second best: [B,D/a]", "another cut if", "times larger", "as good: [D,H/a]"]:
            self.assertIn(says, told)

    def test_sizes_that_nobody_gave_are_told(self):
        plan, _ = self.kasen("plan", "pattern.ks")
        _, told = self.kasen("fuse", "--mesh", "4", "-o", "f.kir", stdin=plan)
        self.assertIn("these are defaults: N = 1,000,000;", told)
        _, told = self.kasen("fuse", "--mesh", "4", "--sizes", "N=100", "-o", "f.kir", stdin=plan)
        self.assertEqual(told, "")

    def test_an_earlier_run_gives_iterations(self):
        self.bundle("loop", ["M"])
        for turns, cut in (1, "[R,C/a]"), (3, "[R,C/a]"), (200, "[R/a,C]"):
            self.kasen("fuse", "loop.kir", "--bundle", "loop", "--mesh", "4", "-o", "f.kir")
            self.kasen("run", "f.kir", "--bundle", "loop", "-o", "out.npy", "--stats", f"run-{turns}.json", "-D", f"n={turns}")
            said = self.tiling("loop", "--mesh", "4", "--observed", f"run-{turns}.json")
            self.assertEqual(next(array["layout"] for array in said["arrays"] if array["name"] == "M"), cut)
            self.assertEqual(said["observed"], [f"trips = {turns}", f"then@9 = {int(turns > 4)}"])
        default = self.tiling("loop", "--mesh", "4")
        self.assertEqual(default["defaults"], ["trips = 10"])
        self.assertEqual(next(array["layout"] for array in default["arrays"] if array["name"] == "M"), "[R/a,C]")

        # without a bundle, the run gives the sizes as well, and only these
        plan, told = self.kasen("fuse", "loop.kir", "--mesh", "4", "--observed", "run-3.json", "--explain")
        self.assertIn("an earlier run gave P = 4, C = 64, R = 8, trips = 3, then@9 = 0", told)
        self.assertNotIn("defaults", told)
        self.assertIn("f64[R,C/a]", plan)
        _, told = self.kasen("fuse", "loop.kir", "--mesh", "4", "--observed", "run-3.json", "--sizes", "trips=200,R=100", "--explain")
        self.assertIn("an earlier run gave P = 4, C = 64, then@9 = 0", told)

        # of a run that lacks something, the rest
        run = json.loads((self.dir / "run-3.json").read_text())
        run["control"], run["sizes"] = [], []
        (self.dir / "less.json").write_text(json.dumps(run))
        _, told = self.kasen("fuse", "loop.kir", "--mesh", "4", "--observed", "less.json", "-o", "f.kir")
        self.assertIn("defaults: C = 1,000,000, R = 1,000,000, trips = 10", told)

    def test_the_run_of_go_is_one_too(self):
        self.kasen("go", "loop.ks", "M=M.npy", "--mesh", "4", "--param", "n=2", "--dir", "one")
        self.assertIn("[R/a,C]", (self.dir / "one" / "fused.kir").read_text())
        self.kasen("go", "loop.ks", "M=M.npy", "--mesh", "4", "--param", "n=2", "--dir", "one", "--observed", "one/run.json")
        self.assertIn("[R,C/a]", (self.dir / "one" / "fused.kir").read_text())

    def on_the_page(self, *args):
        """The bytes of tilings on the page that go leaves."""
        self.kasen("go", *args, "--dir", "page")
        text = (self.dir / "page" / "report.html").read_text()
        table = text[text.index('class="tilings"'):].split("</table>")[0]
        return dict(re.findall(r'<tr><th>([^<]*)</th><td class="n">([^<]*)</td>', table)), table

    def test_the_page_has_other_tilings_beside_the_plan(self):
        said, table = self.on_the_page("network.ks", *self.files("XYUV"), "--mesh", "2x2")
        self.assertEqual(list(said), ["this plan", "exact", "greedy", "worst"])
        self.assertEqual(said["this plan"], said["exact"])
        self.assertNotEqual(said["worst"], said["exact"])
        self.assertIn("least, proven", table)
        # a plan for ten iterations that ran two: the least is that of two
        said, _ = self.on_the_page("loop.ks", "M=M.npy", "--mesh", "4", "--param", "n=2")
        self.assertEqual((said["this plan"], said["exact"]), ("1.54 kB", "768 bytes"))
        self.kasen("go", "loop.ks", "M=M.npy", "--workers", "2", "--dir", "page")
        self.assertNotIn('class="tilings"', (self.dir / "page" / "report.html").read_text())

    def test_runs_of_other_programs_are_refused(self):
        self.bundle("loop", ["M"])
        self.kasen("fuse", "loop.kir", "--bundle", "loop", "--mesh", "4", "-o", "f.kir")
        self.kasen("run", "f.kir", "--bundle", "loop", "-o", "out.npy", "--stats", "run.json")
        other, _ = self.kasen("plan", "pattern.ks")
        self.fault("fuse", "--mesh", "4", "--observed", "run.json", stdin=other, status=BAD, says=["the program 'loop'", "this is 'pattern'", "--stats"])
        (self.dir / "loop.ks").write_text(LOOP.replace("0.5", "0.25"))
        newer, _ = self.kasen("plan", "loop.ks")
        self.fault("fuse", "--mesh", "4", "--observed", "run.json", stdin=newer, status=BAD, says=["another version of 'loop'", "by line", "--stats"])
        run = json.loads((self.dir / "run.json").read_text())
        del run["source_digest"]
        (self.dir / "old.json").write_text(json.dumps(run))
        self.fault("fuse", "--observed", "old.json", stdin=other, status=BAD, says=["older version", "--stats"])
        run["control"] = [{"what": "turns", "line": 1, "column": 1, "executions": 1, "times": 1}]
        (self.dir / "odd.json").write_text(json.dumps(run))
        self.fault("fuse", "--observed", "odd.json", stdin=other, status=BAD, says="'turns' is not counted")
        self.fault("fuse", "--observed", "M.npy", stdin=other, status=BAD, says="not JSON")
        self.fault("fuse", "--observed", "none.json", stdin=other, status=MISSING, says="none.json")

    def test_own_result(self):
        """A module with cuts keeps them."""
        self.bundle("network", "XYUV")
        once, _ = self.kasen("fuse", "network.kir", "--bundle", "network", "--mesh", "2x2", "--passes", "tile", "--no-history")
        again, _ = self.kasen("fuse", "--bundle", "network", "--passes", "tile", "--no-history", stdin=once)
        self.assertEqual(once, again)
        direct, _ = self.kasen("fuse", "network.kir", "--bundle", "network", "--mesh", "2x2", "--passes", "tile,place", "--no-history")
        placed, _ = self.kasen("fuse", "--bundle", "network", "--passes", "place", "--no-history", stdin=once)
        self.assertEqual(direct, placed)

    def test_refusals(self):
        plan, _ = self.kasen("plan", "pattern.ks")
        self.fault("fuse", "--mesh", "auto", stdin=plan, status=USAGE, says=["number of workers", "--bundle"])
        self.fault("fuse", "--mesh", "2", "--tile", "best", stdin=plan, status=USAGE, says=["--tile", "exact"])
        self.fault("fuse", "--mesh", "2", "--tile-costs", "real", stdin=plan, status=USAGE, says=["--tile-costs", "paper"])
        self.fault("fuse", "--mesh", "2", "--memory", "much", stdin=plan, status=USAGE, says="--memory")
        self.fault("fuse", "--mesh", "2", "--print-tiling=svg", stdin=plan, status=USAGE, says=["--print-tiling", "dot"])
        (self.dir / "v.ks").write_text("dim N\ninput x : f64[N]\noutput y = x * 2.0\n")
        plain, _ = self.kasen("plan", "v.ks")
        self.fault("fuse", "--print-tiling", stdin=plain, status=USAGE, says=["--mesh"])
        tiled, _ = self.kasen("fuse", "--mesh", "2", "--passes", "tile", stdin=plan)
        self.fault("fuse", "--print-tiling", stdin=tiled, status=BAD, says=["are cut", "level 1"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
