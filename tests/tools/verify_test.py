#!/usr/bin/env python3
"""`kasen run --verify`: outputs computed again by the interpreter, and wrong numbers found.

Usage: verify_test.py FOLDER_OF_TOOLS SOURCE_ROOT [unittest arguments]
"""
import json
import random
import sys
import unittest

sys.dont_write_bytecode = True  # the source tree stays as it is
import h5py  # noqa: E402
from tools_test import PAGERANK, ToolTest  # noqa: E402

NOT_RIGHT, USAGE, WRONG = 1, 64, 65
PROGRAM = """dim N, K local
input G : f64[N, N], w : f64[K]
param c = 0.5
X = random(3, N, K) * w
fn both(a, b, c) = (a, b * c)
list s[2] : f64[N] = 0
for i in 0..2 { s[i] = sum(X, over K) * f64(i) }
alone = exp(s[1]) + random(7, N)
ranked = map(both, f64(index(N)), alone, c)
y = G @ alone
near = y > sum(y) / size(N)
best = index(N)
total = sum(y)
output alone, ranked, best, X2 = X * c, y, near, total, turns = size(N) * 2
"""


class Verified(ToolTest):
    def setUp(self):
        super().setUp()
        rng = random.Random(5)
        (self.dir / "p.ks").write_text(PROGRAM)
        self.arrows = sorted({(rng.randrange(300) * 10 + 5, rng.randrange(300) * 10 + 5) for _ in range(900)})
        (self.dir / "g.txt").write_text("".join(f"{u} {v} {rng.random()}\n" for u, v in self.arrows))
        ids = {i for arrow in self.arrows for i in arrow}
        (self.dir / "w.csv").write_text("0.5\n2\n")
        self.size = len(ids)
        self.kasen("plan", "p.ks", "-o", "plan.kir")

    def bundle(self, workers=3):
        self.kasen("partition", "--program", "plan.kir", "G=g.txt", "w=w.csv", "--workers", workers, "-o", "bundle")
        self.kasen("fuse", "plan.kir", "--bundle", "bundle", "-o", "fused.kir")

    def verify(self, what, *args, **options):
        out, err = self.kasen("run", "fused.kir", "--bundle", "bundle", "--verify", what, "--stats", "run.json", "-o", "r.h5", *args, **options)
        self.rows = {row["output"]: row for row in json.loads((self.dir / "run.json").read_text()).get("verified", [])}
        return out, err

    def test_what_rounding_leaves_is_no_wrong_number(self):
        """The spread of equal numbers, and a sum whose terms cancel: the digits that remain are those of rounding."""
        (self.dir / "c.ks").write_text("dim N\ninput x : f64[N]\noutput s = std(x), apart = sum(x - mean(x)), t = sum(x), c = x / 3\n")
        for number in 0.1, 0.3, 19.99, 1000.1:
            for count in 6, 7, 101, 1000:
                (self.dir / "x.csv").write_text(f"{number}\n" * count)
                for workers in 1, 3:
                    self.kasen("go", "c.ks", "x=x.csv", "--no-report", "--workers", workers, "-o", "c.h5")
        (self.dir / "x.csv").write_text("1e16\n1\n-1e16\n")
        self.kasen("go", "c.ks", "x=x.csv", "--no-report", "-o", "c.h5")

    def test_outputs_are_computed_again(self):
        """Of what stands alone some elements, of the rest all; the same whatever the ranks."""
        self.bundle()
        lines = []
        for ranks in [], ["-n", 2], ["-n", 3]:
            _, err = self.verify(30, *ranks, "-D", "c=0.75")
            lines.append([line.split(";")[0] for line in err.splitlines()])
            self.assertEqual(list(self.rows), ["alone", "ranked", "best", "X2", "y", "near", "total", "turns"])
            for name, row in self.rows.items():
                self.assertEqual((row["differing"], row["not_verified"], row["by_rounding"]), (0, "", False))
                some = name in ("alone", "ranked", "best", "X2")
                self.assertTrue(30 <= row["recomputed"] < self.size if some else row["recomputed"] == row["elements"], row)
                self.assertLess(row["largest_difference"], 1e-13)
        self.assertEqual(lines[0], lines[1])
        self.assertEqual(lines[0], lines[2])
        self.assertIn(f"kasen-run: verified: all {self.size} elements of y recomputed", lines[0])
        self.assertIn("kasen-run: verified: total recomputed", lines[0])
        self.verify("all", "--program", "plan.kir")
        self.assertTrue(all(row["recomputed"] == row["elements"] for row in self.rows.values()))
        self.assertEqual(self.rows["X2"]["elements"], 2 * self.size)
        _, err = self.verify(0)
        self.assertEqual((err, self.rows), ("", {}))

    def test_a_wrong_number_is_found(self):
        """Of each output in turn: status 1, the user's id, both values; the old result stays, the counters say it."""
        self.bundle()
        self.verify("all")
        before = (self.dir / "r.h5").read_bytes()
        with h5py.File(self.dir / "r.h5") as f:
            ids, right = list(f["N_ids"]), f["y"][()]
        for k, name in enumerate(["alone", "ranked", "best", "X2", "y", "near", "total", "turns"]):
            for ranks in ([], ["-n", 3]) if name in ("alone", "near") else ([],):
                fault = f"output:flip:{3 * k + 2}" if not ranks else f"output:flip:{k + 1}@rank=1"
                _, err = self.verify("all", *ranks, status=NOT_RIGHT, env={"KASEN_FAULT": fault})
                self.assertEqual(err.count("error:"), 1, err)
                self.assertRegex(err, f"error: {name}.* is .*, but .* where it is computed again; .*no result is written")
                self.assertIn("wrong: 1 of ", err)
                self.assertEqual({n: row["differing"] for n, row in self.rows.items()}, {n: int(n == name) for n in self.rows})
                self.assertEqual((self.dir / "r.h5").read_bytes(), before)
                if name == "y":
                    at = ids.index(int(err.split("y at N = ")[1].split()[0]))
                    self.assertAlmostEqual(float(err.split(", but ")[1].split()[0]), right[at], delta=1e-12 * right[at])

    def test_too_much_is_told(self):
        """A loop, or products, of large data: not verified, with what forces it; `all` does it."""
        rng = random.Random(6)
        (self.dir / "g.txt").write_text("".join(f"{rng.randrange(9000)} {rng.randrange(9000)}\n" for _ in range(30000)))
        self.kasen("partition", "--repeats", "first", "G=g.txt", "--workers", 2, "-o", "bundle")
        self.kasen("plan", PAGERANK, "-o", "plan.kir")
        self.kasen("fuse", "plan.kir", "--bundle", "bundle", "-o", "fused.kir")
        _, err = self.verify("auto")
        self.assertRegex(err, "not verified: pr: .*--verify all")
        self.assertEqual(self.rows["pr"]["recomputed"], 0)
        _, err = self.verify("all", "-n", 2)
        self.assertIn("verified: all", err)

    def test_one_reason_is_told_once(self):
        """Of several outputs that are not verified for the same reason, in a line with all their names."""
        rng = random.Random(7)
        (self.dir / "p.ks").write_text("dim N\ninput A : f64[N, N]\nu = A @ fill(1.0, N)\nfor k in 0..3 { u = A @ (u / norm(u)) }\n"
                                       "output u\noutput v = A' @ u\noutput n = size(N)\n")
        (self.dir / "a.txt").write_text("".join(f"{rng.randrange(9000)} {rng.randrange(9000)} 1\n" for _ in range(90000)))
        _, err = self.kasen("go", "p.ks", "A=a.txt", "--workers", 2, "--repeats", "sum", "--verify", "auto")
        self.assertRegex(err, "(?m)^kasen-run: not verified: u, v, each: .*; --verify all does it$")
        self.assertEqual(err.count("not verified"), 1, err)
        self.assertIn("verified: n recomputed; equal", err)

    def test_rounding_is_no_fault(self):
        """Differences of nearly equal numbers; what depends on rounding alone is not verified, and not wrong."""
        (self.dir / "p.ks").write_text("dim N\ninput x : f64[N]\nsmall = x - sum(x) / size(N) - (x - sum(x) / size(N))\n"
                                       "left = sum(x - sum(x) / size(N))\nodd = i64(left * 1e18) % 2\n"
                                       "y = log(exp(x)) - x\noutput left, odd, small, y\n")
        rng = random.Random(9)
        (self.dir / "x.csv").write_text("".join(f"{rng.random()}\n" for _ in range(3001)))
        self.kasen("plan", "p.ks", "-o", "plan.kir")
        self.kasen("partition", "--program", "plan.kir", "x=x.csv", "--workers", 3, "-o", "bundle")
        self.kasen("fuse", "plan.kir", "--bundle", "bundle", "-o", "fused.kir")
        self.verify("all")
        self.assertTrue(self.rows["left"]["not_verified"] or self.rows["left"]["by_rounding"], self.rows)
        self.assertEqual({row["differing"] for row in self.rows.values()}, {0})

    def test_a_run_that_goes_on_is_verified(self):
        self.kasen("plan", PAGERANK, "-o", "plan.kir")
        self.kasen("partition", "--program", "plan.kir", "G=graph.txt", "--workers", 3, "-o", "bundle")
        self.kasen("fuse", "plan.kir", "--bundle", "bundle", "-o", "fused.kir")
        saved = ["--checkpoint", "saved", "--every", 2]
        self.kasen("run", "fused.kir", "--bundle", "bundle", *saved, status=75, env={"KASEN_FAULT": "border:term:5"})
        out, err = self.verify("all", *saved, "--resume")
        self.assertIn("resumed:", out)
        self.assertRegex(err, "verified: all .* of pr recomputed")

    def test_go_verifies_small_programs(self):
        """By the program as it was planned; with --verify 0 nothing is said; wrong numbers end it with 1."""
        _, err = self.kasen("go", "p.ks", "G=g.txt", "w=w.csv", "--workers", 2, "--param", "c=0.25", "-o", "r.npy")
        self.assertIn(f"kasen-run: verified: all {self.size} elements of y recomputed", err)
        _, err = self.kasen("go", "p.ks", "G=g.txt", "w=w.csv", "--workers", 2, "--verify", 0, "-o", "r.csv")
        self.assertNotIn("verified", err)
        self.fault("go", "p.ks", "G=g.txt", "w=w.csv", "--workers", 2, status=NOT_RIGHT, says=["y at N", "computed again"],
                   env={"KASEN_FAULT": "output:flip:10@tool=kasen-run"})

    def test_wrong_options_are_told(self):
        self.bundle()
        for wrong in "-1", "some", "1.5":
            self.fault("run", "fused.kir", "--bundle", "bundle", "--verify", wrong, status=USAGE, says=["--verify", "auto"])
        self.fault("go", "p.ks", "--verify", "most", status=USAGE, says="--verify most")
        self.kasen("plan", PAGERANK, "-o", "other.kir")
        self.fault("run", "fused.kir", "--bundle", "bundle", "--verify", 5, "--program", "other.kir", status=WRONG,
                   says=["other.kir", "not the program of this plan"])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=2)
