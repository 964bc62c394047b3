#!/usr/bin/env python3
"""One bundle of dense arrays alone serves any number of workers and ranks, with the results of a bundle made for that number.

Usage: any_workers_test.py FOLDER_OF_TOOLS SOURCE_ROOT [unittest arguments]
"""
import json
import shutil
import sys
import unittest

import h5py
import numpy

sys.dont_write_bytecode = True  # the source tree stays as it is
from tools_test import BAD, USAGE, ToolTest  # noqa: E402

PROGRAM = """dim N
dim K local
input X : f64[N, K], y : f64[N], P : [f64; 3][N]
w : f64[K] = 0
for i in 0..3 {
  w = w - 0.001 * (X' @ (X @ w - y))
}
output w
output s = X @ w
output t = sum(y, over N)
output d = P[0] + 2 * P[1] - P[2]
"""


class AnyWorkers(ToolTest):
    def setUp(self):
        super().setUp()
        random = numpy.random.default_rng(5)
        self.x, self.y, self.p = random.normal(size=(1000, 4)), random.normal(size=1000), random.normal(size=(1000, 3))
        for name, array in (("X", self.x), ("y", self.y), ("P", self.p)):
            numpy.save(self.dir / f"{name}.npy", array)
        (self.dir / "fit.ks").write_text(PROGRAM)
        self.kasen("plan", "fit.ks", "-o", "p.kir")
        self.kasen("fuse", "p.kir", "-o", "f.kir")

    def partition(self, *more, bundle="b"):
        self.kasen("partition", "--program", "p.kir", "X=X.npy", "y=y.npy", "P=P.npy", "-o", bundle, "--replace", *more)

    def results(self, *arguments):
        self.kasen("run", "f.kir", "-o", "out.npy", "--stats", "run.json", *arguments)
        return [(self.dir / name).read_bytes() for name in ("out.npy", "out-s.npy", "out-t.npy", "out-d.npy")]

    def test_results_are_those_of_a_bundle_for_that_number(self):
        for made in [[], ["--workers", "3"], ["--references"]]:
            self.partition(*made)
            for workers in [1, 2, 3, 5]:
                self.partition("--workers", str(workers), bundle="own")
                own = self.results("--bundle", "own")
                for ranks in range(min(workers, 3) + 1):
                    same = self.results("--bundle", "b", "--workers", str(workers), *(["-n", str(ranks)] if ranks else []))
                    self.assertEqual(own, same, f"{made}, {workers} workers, {ranks} ranks")
                    self.assertEqual(json.loads((self.dir / "run.json").read_text())["workers"], workers)
                    out, _ = self.kasen("measure", "f.kir", "--bundle", "b", "--against", "run.json", "--check")
                    self.assertIn("agree to the byte", out)
        t = numpy.load(self.dir / "out-t.npy")
        numpy.testing.assert_allclose(t, self.y.sum(), atol=1e-10)
        numpy.testing.assert_allclose(numpy.load(self.dir / "out-d.npy"), self.p @ [1, 2, -1], atol=1e-10)

    def test_costs_are_those_of_a_bundle_for_that_number(self):
        self.partition()
        for workers in [2, 7]:
            self.partition("--workers", str(workers), bundle="own")
            own, _ = self.kasen("measure", "f.kir", "--bundle", "own", "--format", "json")
            there, _ = self.kasen("measure", "f.kir", "--bundle", "b", "--workers", str(workers), "--format", "json")
            own, there = json.loads(own), json.loads(there)
            self.assertEqual({k: v for k, v in own.items() if k not in ("bundle", "sizes", "origin")},
                             {k: v for k, v in there.items() if k not in ("bundle", "sizes", "origin")})
            fitted, _ = self.kasen("fuse", "p.kir", "--bundle", "b", "--workers", str(workers))
            self.assertIn("fitted", fitted)
            self.kasen("run", "--bundle", "b", "--workers", str(workers), "-o", "w.npy", stdin=fitted)
        table, _ = self.kasen("measure", "f.kir", "--bundle", "b", "--workers", "1,2,4")
        self.assertRegex(table, r"(?m)^4 +1,000 .* 250 ")
        self.kasen("measure", "f.kir", "--bundle", "b", "--workers", "1,2,4", "--plot", "p.svg")
        self.assertIn("<svg", (self.dir / "p.svg").read_text())

    def test_arrays_are_whole_in_the_file(self):
        self.partition("--workers", "4")
        self.assertEqual(sorted(file.name for file in (self.dir / "b").iterdir()), ["arrays.h5", "manifest.json"])
        with h5py.File(self.dir / "b" / "arrays.h5") as file:
            numpy.testing.assert_array_equal(file["arrays/X/values"][:], self.x)
            numpy.testing.assert_array_equal(file["arrays/P/values"][:], self.p.T)
            self.assertEqual(json.loads(file["arrays/X"].attrs["kasen"]), {"dims": ["N", "K"], "element": "f64"})
        text, _ = self.kasen("partition", "--stats", "b")
        self.assertIn("any number of workers", text)
        text, _ = self.kasen("verify", "b")
        self.assertIn("any number of workers", text)

    def test_checkpoints_go_on_with_any_number(self):
        self.partition()
        self.results("--bundle", "b", "--workers", "2", "--checkpoint", "saved", "--every", "1")
        for workers in ["2", "3"]:
            out, err = self.kasen("run", "f.kir", "--bundle", "b", "--workers", workers, "--checkpoint", "saved", "--resume", "-o", "c.npy")
            self.assertEqual(err, "")
            self.assertIn("resumed: saved/", out)
            self.assertEqual("another plan, of 2 workers" in out, workers == "3")
            numpy.testing.assert_allclose(numpy.load(self.dir / "c-t.npy"), self.y.sum(), atol=1e-10)

    def test_go_makes_one_bundle_for_all(self):
        data = ["X=X.npy", "y=y.npy", "P=P.npy", "--dir", "job"]
        results = {}
        for workers, more in [(2, []), (3, []), (3, ["-n", "2"]), (1, []), (2, ["--strategy", "cost"])]:
            out, told = self.kasen("go", "fit.ks", *data, "--workers", str(workers), *more, "--format", "npy")
            self.assertIn("agree to the byte", out)
            self.assertEqual("as it was" in told, bool(results), told)
            self.assertIn(f"{workers} worker", out)
            name = next((self.dir / "job").glob("result.npy")).read_bytes()
            self.assertEqual(results.setdefault(workers, name), name)
        (self.dir / "product.ks").write_text("dim N, K\ninput X : dense f64[N, K]\noutput C = X' @ X\n")
        for count, mesh in enumerate(["2x2", "1x3", "4"]):
            out, told = self.kasen("go", "product.ks", "X=X.npy", "--dir", "mesh", "--mesh", mesh, "--format", "npy")
            self.assertIn("agree to the byte", out)
            self.assertEqual("as it was" in told, count > 0, told)
            numpy.testing.assert_allclose(numpy.load(self.dir / "mesh" / "result.npy"), self.x.T @ self.x, atol=1e-9)

    def test_refusals(self):
        self.partition("--workers", "2")
        self.fault("run", "f.kir", "--bundle", "b", "-n", "3", "-o", "o.npy", status=USAGE, says=["3 ranks", "--workers 3"])
        self.fault("run", "f.kir", "--bundle", "b", "--workers", "0", "-o", "o.npy", status=USAGE, says="--workers")
        self.fault("fuse", "p.kir", "--workers", "2", status=USAGE, says="--bundle")
        self.fault("measure", "f.kir", "--workers", "2", status=USAGE, says="--bundle")
        self.fault("measure", "f.kir", "--bundle", "b", "--workers", "2", "--plot", "p.svg", status=USAGE, says="several")
        self.fault("run", "f.kir", "--bundle", "b", "-o", "b/arrays.h5", status=USAGE, says="also an input")
        shutil.copytree(self.dir / "b", self.dir / "part")
        (self.dir / "part" / "manifest.json").unlink()
        self.fault("verify", "part", status=1, says="manifest.json")
        with open(self.dir / "b" / "arrays.h5", "r+b") as file:
            file.seek(-9, 2)
            byte = file.read(1)[0]
            file.seek(-9, 2)
            file.write(bytes([byte ^ 1]))
        self.fault("run", "f.kir", "--bundle", "b", "--workers", "3", "-o", "o.npy", status=BAD, says="altered")
        self.fault("verify", "b", status=1, says="altered")
        (self.dir / "g.txt").write_text("0 1\n1 2\n2 0\n")
        (self.dir / "g.ks").write_text("dim N\ninput G : f64[N, N]\nx = fill(1.0, N)\noutput y = G @ x\n")
        self.kasen("partition", "G=g.txt", "--workers", "2", "-o", "graph")
        for tool in ["run", "measure"]:
            self.fault(tool, "f.kir", "--bundle", "graph", "--workers", "3", status=USAGE, says=["has 2 parts", "kasen partition"])
        self.kasen("fuse", "p.kir", "--mesh", "2", "-o", "m.kir")
        for tool in ["run", "measure"]:
            self.fault(tool, "m.kir", "--bundle", "b", "--workers", "3", status=USAGE, says=["3 for a plan over 2", "mesh"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
