#!/usr/bin/env python3
"""Regions of blocks: each block operator runs on the worker where the plan places it.

Usage: blocks_test.py FOLDER_OF_TOOLS SOURCE_ROOT [unittest arguments]
"""
import json
import re
import sys
import unittest

import numpy

sys.dont_write_bytecode = True  # the source tree stays as it is
from tools_test import BAD, LIMIT, USAGE, ToolTest  # noqa: E402

HEAD = """dim N, K, M, F local
input A : dense f64[N, K], B : dense f64[K, M], C : dense f64[N, M], X : f64[N, F], y : f64[N]
"""
PRODUCTS = HEAD + """P = A @ B
D = tanh(P * 0.1) + C
E = [i in M, j in N: D[j, i] - C[j, i]]
output P, D, E, s = sum(D, over N), t = sum(A), m = max(C, over M), G = [i in K, j in K: sum(n in N: A[n, i] * A[n, j])]
"""
NEWTON = HEAD + """w : f64[F] = 0
for i in 0..4 {
  mu = 1 / (1 + exp(-(X @ w)))
  g = X' @ (mu - y)
  H = [a in F, b in F: sum(n in N: X[n, a] * (mu[n] * (1 - mu[n]) + 0.1) * X[n, b])]
  w = w - solve(H, g)
}
output w
"""


class Blocks(ToolTest):
    def setUp(self):
        super().setUp()
        random = numpy.random.default_rng(7)
        shapes = {"A": (23, 17), "B": (17, 10), "C": (23, 10), "X": (23, 3), "y": (23,)}
        self.arrays = {name: random.normal(size=shape) for name, shape in shapes.items()}
        self.arrays["y"] = (self.arrays["y"] > 0).astype(float)
        for name, array in self.arrays.items():
            numpy.save(self.dir / f"{name}.npy", array)

    def plan(self, program, *options):
        (self.dir / "p.ks").write_text(program)
        self.kasen("plan", "p.ks", "-o", "p.kir")
        if not (self.dir / "bundle").exists():
            data = [f"{name}={name}.npy" for name in self.arrays]
            self.kasen("partition", "--program", "p.kir", *data, "--workers", 2, "-o", "bundle")
        self.kasen("fuse", "p.kir", "--bundle", "bundle", "-o", "plan.kir", *options)
        self.kasen("verify", "plan.kir")
        return (self.dir / "plan.kir").read_text()

    def results(self, *ranks):
        for file in self.dir.glob("out*.npy"):
            file.unlink()
        said, _ = self.kasen("run", "plan.kir", "--bundle", "bundle", "-o", "out.npy", "--stats", "run.json", *ranks)
        self.sent = int(re.search(r"network: ([\d,]+) bytes between workers", said)[1].replace(",", ""))
        self.kasen("measure", "plan.kir", "--bundle", "bundle", "--against", "run.json", "--check")
        return {file.stem[4:]: numpy.load(file) for file in self.dir.glob("out*.npy")}  # the first output is ""

    def products(self):
        a = self.arrays
        product = a["A"] @ a["B"]
        made = numpy.tanh(product * 0.1) + a["C"]
        return {"": product, "D": made, "E": (made - a["C"]).T, "s": made.sum(axis=0), "t": a["A"].sum(),
                "m": a["C"].max(axis=1), "G": a["A"].T @ a["A"]}

    def test_results_are_numpys_and_bytes_as_predicted(self):
        for mesh, search, more in [("1", "lshs", []), ("2x2", "lshs", []), ("3", "owner", ["--grid", "A=4x2"]),
                                   ("2x3", "heft", ["--grid", "A=5x3", "--grid", "C=5x4"]), ("2x2", "round-robin", ["--grid", "A=23x2"]),
                                   ("2x2", "ahead=2", ["--nodes", "a"]), ("2x2", "lshs-all", ["--layout", "A=[N/a:4,K/b:5]", "--layout", "P=[N/a:4,M/b:3]"])]:
            with self.subTest(mesh=mesh, search=search):
                text = self.plan(PRODUCTS, "--mesh", mesh, "--spread", search, *more)
                self.assertIn("region blocks[", text)
                first = None
                for ranks in [[], ["-n", 2]] if mesh == "2x2" else [[]]:
                    found = self.results(*ranks)
                    for name, wanted in self.products().items():
                        numpy.testing.assert_allclose(found[name], wanted, rtol=1e-12, atol=1e-12, err_msg=name)
                    first = first or {name: array.tobytes() for name, array in found.items()}
                    self.assertEqual(first, {name: array.tobytes() for name, array in found.items()})

    def test_threads_and_kernels(self):
        self.plan(PRODUCTS, "--mesh", "2x2", "--spread", "lshs", "--grid", "A=4x4")
        bits = [{name: array.tobytes() for name, array in self.results(*more).items()}
                for more in (["--threads", 1], ["--threads", 3])]
        self.assertEqual(bits[0], bits[1])
        interpreted = self.results("--kernels", "interpreter")
        for name, wanted in self.products().items():
            numpy.testing.assert_allclose(interpreted[name], wanted, rtol=1e-12, atol=1e-12)

    def test_a_loop(self):
        text = self.plan(NEWTON, "--mesh", "4", "--spread", "lshs", "--grid", "X=8x1")
        self.assertIn("tree [", text)
        found = next(iter(self.results().values()))
        features, labels, weights = self.arrays["X"], self.arrays["y"], numpy.zeros(3)
        for _ in range(4):
            mu = 1 / (1 + numpy.exp(-features @ weights))
            hessian = features.T @ ((mu * (1 - mu) + 0.1)[:, None] * features)
            weights = weights - numpy.linalg.solve(hessian, features.T @ (mu - labels))
        numpy.testing.assert_allclose(found, weights, rtol=1e-10)

    def test_blocks_that_lie_alike_send_nothing(self):
        self.plan(HEAD + "D = A * 2.0 + A\noutput D, r = sum(D, over K)\n", "--mesh", "4", "--spread", "lshs",
                  "--layout", "A=[N/a:3,K]", "--layout", "D=[N/a:3,K]", "--layout", "r=[N/a:3]")
        numpy.testing.assert_allclose(self.results()["r"], self.arrays["A"].sum(axis=1) * 3)
        self.assertEqual(self.sent, 0)

    def test_a_product_moves_blocks_alone(self):
        sent = {}
        for search in ["lshs", "round-robin"]:
            self.plan(HEAD + "output P = A @ B\n", "--mesh", "2x2", "--spread", search)
            self.results()
            sent[search] = self.sent
        self.assertLess(sent["lshs"], sent["round-robin"])

    def test_a_limit_counts_all_that_a_run_takes(self):
        self.plan(PRODUCTS, "--mesh", "2x2", "--spread", "lshs")
        self.results()
        parts = json.loads((self.dir / "run.json").read_text())["parts"]
        taken = sum(part[kind] for part in parts for kind in ("buffer_bytes", "exchange_bytes", "matrix_bytes", "input_bytes"))
        few = ("run", "plan.kir", "--bundle", "bundle", "-o", "x", "--memory")
        needed = int(re.search(r"needs (\d+) bytes", self.fault(*few, taken - 1, status=LIMIT, says=["--memory"]))[1])
        self.assertTrue(taken <= needed <= 1.02 * taken, (taken, needed))  # with the ends of its arrays' lines
        self.kasen(*few, needed)

    def test_plans_of_other_sizes_are_refused(self):
        text = self.plan(HEAD + "output P = A @ B\n", "--mesh", "2x2", "--spread", "lshs", "--layout", "A=[N/a:4,K/b:4]")
        self.assertRegex(text, r"region blocks\[.*N :4")
        for wrong, says in [(re.sub(r"N :4", "N :2", text), "tasks"), (re.sub(r"on \[(\d+)", r"on [9", text), "worker"),
                            (re.sub(r"tree \[\((\d+), (\d+)", r"tree [(\1, \1", text), "operand")]:
            self.assertNotEqual(wrong, text)
            (self.dir / "wrong.kir").write_text(wrong)
            self.fault("run", "wrong.kir", "--bundle", "bundle", "-o", "x", status=BAD, says=[says])

    def test_options(self):
        (self.dir / "p.ks").write_text(HEAD + "output P = A @ B\n")
        self.kasen("plan", "p.ks", "-o", "p.kir")
        self.fault("fuse", "p.kir", "--spread", "lshs", status=USAGE, says=["--print-spread", "--mesh"])
        self.fault("fuse", "p.kir", "--mesh", "2x2", "--spread", "best", status=USAGE, says=["best"])
        self.fault("fuse", "p.kir", "--mesh", "2x2", "--spread", "lshs", "--grid", "Q=2x2", status=USAGE, says=["'Q'"])
        self.fault("fuse", "p.kir", "--mesh", "2x2", "--spread", "lshs", "--grid", "A=2", status=USAGE, says=["2 dimensions"])
        self.fault("fuse", "p.kir", "--mesh", "2x2", "--spread", "lshs", "--grid", "A=2x2", "--grid", "B=3x1", status=USAGE, says=["K"])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
