#!/usr/bin/env python3
"""Sizes at their ends: dimensions of 10^15, no rows, no entries, more workers than rows.

Usage: sizes_test.py FOLDER_OF_TOOLS SOURCE_ROOT [unittest arguments]
"""
import json
import resource
import sys
import unittest

import numpy as np

sys.dont_write_bytecode = True  # the source tree stays as it is
from tools_test import BAD, EVERY_PLAN, LIMIT, PAGERANK, ROOT, USAGE, ToolTest, pagerank  # noqa: E402

HUGE = 10**15
TRUTH = {"false": 0, "true": 1}
IDS = [HUGE - 1, 0, 5, 123456789012345, 7, 10**14, HUGE - 2, 42, 10**12, 3]


def small():
    resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))


class Huge(ToolTest):
    def setUp(self):
        super().setUp()
        self.arcs = [(IDS[i], IDS[(3 * i + 1) % 10]) for i in range(10)]
        (self.dir / "graph.txt").write_text("".join(f"{u}\t{v}\n" for u, v in self.arcs))
        self.kasen("plan", PAGERANK, "-o", "plan.kir")
        self.kasen("fuse", "plan.kir", "-o", "fused.kir")

    def test_ids_near_a_quadrillion(self):
        """Only those that occur take room; the results have the user's ids."""
        for method in ["block", "hybrid-cut", "ml"]:
            self.kasen("go", PAGERANK, "G=graph.txt", "--workers", 3, "--method", method, "-D", "theta=1e-9", "--dir", method,
                       "--format", "csv", "-o", f"{method}.csv")
            want = pagerank(self.arcs)
            rows = [line.split(",") for line in (self.dir / f"{method}.csv").read_text().splitlines()[1:]]
            self.assertEqual([int(row[0]) for row in rows], sorted(want))
            for vertex, rank in rows:
                self.assertAlmostEqual(float(rank), want[int(vertex)], delta=1e-6)
        self.kasen("measure", "fused.kir", "--workers", "2,5", "--data", "G=graph.txt")

    def test_a_dimension_of_a_quadrillion_is_measured(self):
        out = self.kasen("measure", "fused.kir", "--sizes", f"N={HUGE},S=10,nnz=10", "--format", "json")[0]
        self.assertEqual(json.loads(out)["memory"]["buffers"]["value"], 32 * HUGE + 320)  # 32 N + 16 S + 16 S
        self.kasen("fuse", "plan.kir", "--sizes", f"N={HUGE},S=10,nnz=10", "-o", "-")
        self.fault("measure", "fused.kir", "--sizes", "N=1000000000000000000,S=10,nnz=10", status=LIMIT, says="64 bits")

    def test_ghosts_without_a_number(self):
        """They are taken for the most that they can be, and the report says so."""
        def report(sizes):
            return self.kasen("measure", "fused.kir", "--sizes", sizes)[0], json.loads(self.kasen("measure", "fused.kir", "--sizes", sizes, "--format", "json")[0])

        text, told = report("N=1000,nnz=8000,P=4")
        self.assertIn("Assumed: S(G.rows) is taken as (P - 1) N = 3000, the most that it can be", text)
        self.assertIn("network 8 S(G.rows) + 8 S(G.cols) + 16 P - 16 bytes <= 48,048 bytes", text)
        sent = told["loops"][0]["actual"]["network_bytes"]
        self.assertEqual((sent["value"], sent["at_most"]), (48048, True))
        self.assertTrue(any("the most that it can be" in note for note in told["sizes"]["assumed"]))
        self.assertIn("S(G.cols) is taken as nnz = 10, the most", report("N=1000,nnz=10,P=4")[0])
        text, told = report("N=1000,nnz=8000,P=4,S=70")
        self.assertIn("network 8 S(G.rows) + 8 S(G.cols) + 16 P - 16 bytes = 1,168 bytes", text)
        self.assertNotIn("at_most", told["loops"][0]["actual"]["network_bytes"])
        text, told = report("N=1000")
        self.assertIn("reads 32 N + 8 S(G.cols) + 12 nnz bytes (no number without P, nnz)\n", text)
        self.assertEqual(told["loops"][0]["actual"]["network_bytes"].get("lacks"), ["P"])
        self.assertNotIn("no number", self.kasen("measure", "fused.kir")[0])
        compared, _ = self.kasen("measure", "fused.kir", "--compare", "fused.kir", "--sizes", "N=1000,nnz=8000,P=4")
        self.assertIn("Assumed: S(G.rows) is taken as (P - 1) N = 3000", compared)
        self.assertIn("<= 48,048", compared)

    def test_bounds_of_ghosts_hold(self):
        for workers, method in [(1, "block"), (3, "block"), (4, "hybrid-cut")]:
            self.kasen("partition", "--program", "plan.kir", "G=graph.txt", "--workers", workers, "--method", method, "-o", f"{method}.{workers}")
            exact = json.loads(self.kasen("measure", "fused.kir", "--bundle", f"{method}.{workers}", "--format", "json")[0])
            most = json.loads(self.kasen("measure", "fused.kir", "--sizes", f"N=10,nnz=10,P={workers}", "--format", "json")[0])
            for part in ["read_bytes", "written_bytes", "network_bytes"]:
                self.assertLessEqual(exact["program_actual"][part]["value"], most["program_actual"][part]["value"])
            self.assertEqual(most["memory"]["not_counted"], ["exchange", "lists", "generated_kernels"])
            self.assertNotIn("not_counted", exact["memory"])

    def test_memory_tells_what_it_leaves_out(self):
        says = "not counted here, but in a run: exchange areas, lists of indices, kernels (known from --bundle)"
        self.assertIn(says, self.kasen("measure", "fused.kir", "--sizes", "N=1000,nnz=8000,P=4")[0])
        self.kasen("partition", "--program", "plan.kir", "G=graph.txt", "-o", "bundle")
        self.assertNotIn(says, self.kasen("measure", "fused.kir", "--bundle", "bundle")[0])

    def test_a_dimension_of_a_quadrillion_is_refused(self):
        """At once, in little memory, with what it takes and what would do."""
        (self.dir / "huge.mtx").write_text(f"%%MatrixMarket matrix coordinate pattern general\n{HUGE} {HUGE} 1\n{HUGE} 1\n")
        for data, more, says in [("G=graph.txt", ["--dim", f"N={HUGE}"], [f"dimension N has {HUGE} indices", "16 bytes or more", "edge list"]),
                                 ("G=huge.mtx", [], ["huge.mtx", "bytes of memory"])]:
            for command in [["partition", "--program", "plan.kir", data, "-o", "b"], ["go", PAGERANK, data, "--dir", "r"],
                            ["measure", "fused.kir", "--workers", "2", "--data", data]]:
                self.fault(*command, *more, status=LIMIT, says=says, preexec_fn=small)
        self.assertNotIn("b", self.files())

    def test_what_indices_take_without_data(self):
        """2^31 of them are numbered in 32 bits, but seldom fit."""
        (self.dir / "few.txt").write_text("0\t1\n7\t3\n")
        for workers in [1, 3]:
            self.fault("partition", "--program", "plan.kir", "G=few.txt", "--dim", "N=100000000", "--workers", workers, "-o", "b",
                       status=LIMIT, says=["dimension N has 100000000 indices", " are available", "edge list"], preexec_fn=small)
        self.fault("measure", "fused.kir", "--workers", "2", "--data", "G=few.txt", "--dim", "N=2000000000", status=LIMIT,
                   says=["2000000000 indices", " are available"], preexec_fn=small)
        self.assertNotIn("b", self.files())

    def test_many_indices_without_data(self):
        """No method takes long over them."""
        (self.dir / "few.txt").write_text("0\t1\n7\t3\n")
        self.kasen("partition", "--program", "plan.kir", "G=few.txt", "--dim", "N=1000000", "--workers", 3, "--method", "ml", "-o", "ml")
        self.assertIn("balance of masters 1.0", self.kasen("partition", "--stats", "ml")[0])


class Empty(ToolTest):
    """No rows, no entries, more workers than rows: the interpreter's results, on any workers and ranks."""

    def setUp(self):
        super().setUp()
        for name, text in {"none.txt": "# no edges\n", "two.txt": "0\t1\n1\t0\n", "w.txt": "0 1 2.5\n1 0 1\n", "none.svm": "# none\n",
                           "zero.mtx": "%%MatrixMarket matrix coordinate real general\n0 0 0\n",
                           "five.mtx": "%%MatrixMarket matrix coordinate real general\n5 5 0\n",
                           "wide.mtx": "%%MatrixMarket matrix coordinate real general\n5 7 0\n",
                           "two.csv": "1\n2\n", "two2.csv": "1,2\n3,5\n", "five.csv": "1\n0\n1\n1\n0\n"}.items():
            (self.dir / name).write_text(text)
        for name, shape in {"no": (0,), "no3": (0, 3), "no2": (0, 2), "narrow": (2, 0)}.items():
            np.save(self.dir / f"{name}.npy", np.zeros(shape))

    def results(self, name):
        """All of a run, by file, as titles and rows of numbers."""
        found = {}
        for path in sorted(self.dir.glob(f"{name}*.csv")):
            rows = path.read_text().splitlines()
            found[path.name[len(name):]] = rows[0], np.array([[float(TRUTH.get(x, x)) for x in row.split(",")] for row in rows[1:]])
        self.assertTrue(found)
        return found

    def check(self, program, *data, options=(), ranks=False):
        """Results of the interpreter on one worker, which are returned, are those of kernels on more of them than rows."""
        self.checked = getattr(self, "checked", 0) + 1
        name = f"check{self.checked}"
        self.kasen("plan", ROOT / "examples" / f"{program}.ks", "-o", f"{name}.plan")
        self.kasen("fuse", f"{name}.plan", "-o", f"{name}.kir")
        runs = [(1, ["--kernels", "interpreter"]), (1, []), (9, []), (9, ["-n", 3])]
        if not EVERY_PLAN:
            runs = [runs[0], runs[3 if ranks else 2]]
        results = []
        for number, (workers, run) in enumerate(runs):
            bundle, result = f"{name}-{workers}", f"{name}-r{number}"
            if bundle not in self.files():
                self.kasen("partition", "--program", f"{name}.plan", *data, *options, "--workers", workers, "-o", bundle)
            self.kasen("run", f"{name}.kir", "--bundle", bundle, *run, "--threads", 1, "--format", "csv", "-o", f"{result}.csv",
                       "--stats", f"{result}.json")
            results.append(self.results(result))
        self.kasen("measure", f"{name}.kir", "--bundle", bundle, "--against", f"{result}.json", "--check")
        want = results[0]
        for got in results[1:]:
            self.assertEqual(got.keys(), want.keys())
            for file, (title, rows) in got.items():
                self.assertEqual(title, want[file][0])
                np.testing.assert_allclose(rows, want[file][1], rtol=1e-9, atol=1e-12, err_msg=f"{program} {data} {file}")
        return want

    def test_graphs(self):
        for program, dim in [("pagerank", "N"), ("components", "V")]:
            self.check(program, "G=none.txt", ranks=True)
            self.check(program, "G=two.txt")
            self.check(program, "G=none.txt", options=["--dim", f"{dim}=5"])
        got = self.check("bfs", "G=none.txt", options=["--dim", "V=5"])
        np.testing.assert_array_equal(next(iter(got.values()))[1], [[0, 0]] + [[v, -1] for v in range(1, 5)])
        got = self.check("sssp", "G=five.mtx")
        np.testing.assert_array_equal(got[".csv"][1], [[0, 0]] + [[v, np.inf] for v in range(1, 5)])
        np.testing.assert_array_equal(got["-negative_cycle.csv"][1], [[0]])

    def test_tables(self):
        self.check("blackscholes", "spot=no.npy", "strike=no.npy", ranks=True)
        self.check("blackscholes", "spot=two.csv", "strike=two.csv")
        self.check("kmeans", "X=no2.npy")
        self.check("kmeans-matrix", "X=two2.csv")

    def test_matrices(self):
        for x, y in [("wide.mtx", "five.csv"), ("zero.mtx", "no.npy")]:
            self.check("logistic", f"X={x}", f"y={y}", ranks=True)
        self.check("lbfgs", "X=wide.mtx", "label=five.csv")
        self.check("cg", "A=zero.mtx", "b=no.npy")

    def test_a_given_size_of_none(self):
        """--dim M=0 is a size as any other: where no input has the dimension, and where one has indices that it has not."""
        (self.dir / "given.ks").write_text("dim N, M\ninput x : f64[N]\noutput y = fill(1.0, M)\noutput s = sum(fill(2.0, M)) + sum(x)\n")
        self.kasen("plan", "given.ks", "-o", "given.plan")
        self.kasen("fuse", "given.plan", "-o", "given.kir")
        self.kasen("partition", "--program", "given.plan", "x=two.csv", "--dim", "M=0", "--workers", 2, "-o", "given")
        for kernels in ["interpreter", "generated"]:
            self.kasen("run", "given.kir", "--bundle", "given", "--kernels", kernels, "-o", "given.csv")
            self.assertEqual([path.name for path in sorted(self.dir.glob("given*.csv"))], ["given-s.csv", "given.csv"])
            self.assertEqual((self.dir / "given.csv").read_text().splitlines()[1:], [])
            self.assertEqual(float((self.dir / "given-s.csv").read_text().split()[-1]), sum(map(float, (self.dir / "two.csv").read_text().split())))
        self.fault("partition", "--program", "given.plan", "x=two.csv", "--dim", "M=1", "--dim", "N=0", "-o", "none", status=BAD,
                   says=["N", "0", "2"])
        self.assertNotIn("none", self.files())

    def test_no_columns(self):
        """A dense matrix of rows without columns."""
        self.check("kmeans-matrix", "X=narrow.npy")
        self.check("glm", "X=narrow.npy", "y=two.csv")
        self.check("glm", "X=no3.npy", "y=no.npy")

    def test_files_without_anything(self):
        """More likely a mistake than data: refused, with how to say that it is meant."""
        (self.dir / "nothing.txt").write_text("")
        (self.dir / "nothing.csv").write_text("# a comment\n")
        self.fault("go", PAGERANK, "G=nothing.txt", status=BAD, says=["nothing.txt", "the file is empty"])
        self.fault("go", ROOT / "examples" / "blackscholes.ks", "spot=nothing.csv", "strike=nothing.csv", status=BAD,
                   says=["nothing.csv", "no rows"])

    def test_ranks_and_workers(self):
        """More workers than rows run; more ranks than workers are refused."""
        (self.dir / "two.txt").write_text("0\t1\n1\t0\n")
        self.kasen("plan", PAGERANK, "-o", "plan.kir")
        self.kasen("fuse", "plan.kir", "-o", "fused.kir")
        for method in ["block", "hybrid-cut", "ml"]:
            self.kasen("partition", "--program", "plan.kir", "G=two.txt", "--workers", 7, "--method", method, "-o", method)
            self.kasen("run", "fused.kir", "--bundle", method, "-n", 3, "-o", "r.csv", "--format", "csv")
            self.assertEqual((self.dir / "r.csv").read_text(), "N,pr\n0,1\n1,1\n")
        self.fault("run", "fused.kir", "--bundle", "block", "-n", 8, "-o", "q.h5", status=USAGE, says=["8 ranks for 7 parts", "-n 7"])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=1)
