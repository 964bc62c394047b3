#!/usr/bin/env python3
"""Columns of tables by their names: in results, as dates, and as a column for each word.

Usage: columns_test.py FOLDER_OF_TOOLS SOURCE_ROOT [unittest arguments]
"""
import csv
import json
import sys
import unittest

import h5py
import numpy as np

sys.dont_write_bytecode = True  # the source tree stays as it is
from tools_test import BAD, ToolTest  # noqa: E402

SUMS = "dim N, F local\ninput X : f64[N, F]\nw = sum(X, over N)\noutput w\noutput C = [f in F, g in F: sum(i in N: X[i, f] * X[i, g])]\n"


class ColumnsTest(ToolTest):
    def table(self, name, rows, head=None):
        with (self.dir / name).open("w", newline="") as file:
            out = csv.writer(file, lineterminator="\n")
            for row in ([head] if head else []) + list(rows):
                out.writerow(row)

    def cells(self, name):
        with (self.dir / name).open(newline="") as file:
            return list(csv.reader(file))

    def go(self, program, *args, **how):
        (self.dir / "p.ks").write_text(program)
        return self.kasen("go", "p.ks", *args, "--kernels", "interpreter", "--no-report", "--verify", 0, **how)

    def array(self, name, result="p.run/result.h5"):
        with h5py.File(self.dir / result) as file:
            return file[name][()]

    def names(self, result="p.run/result"):
        return json.loads((self.dir / f"{result}.dictionary.json").read_text()).get("names")


class Named(ColumnsTest):
    """A result over the columns of a table has their names."""

    HEAD = ["age", "he,ight", "size \"big\"", "the town", "größe", "2020 x"]

    def numbers(self, rows=40):
        return np.random.default_rng(5).integers(-50, 50, (rows, len(self.HEAD)))

    def test_results_have_names_of_columns(self):
        numbers = self.numbers()
        self.table("x.csv", numbers, self.HEAD)
        for how in [[], ["--workers", 3], ["--workers", 2, "-n", 2]]:
            out = self.go(SUMS, "X=x.csv", "--force", *how)[0]
            for name in self.HEAD:
                self.assertIn(f"{name}  ", out)
            self.assertEqual(self.names(), {"F": self.HEAD})
            np.testing.assert_array_equal(self.array("w"), numbers.sum(axis=0))
            shown = json.loads(self.kasen("show", "p.run", "w", "--format", "json")[0])[0]
            self.assertEqual(shown["rows"], [[name, sum_] for name, sum_ in zip(self.HEAD, numbers.sum(axis=0).tolist())])
            self.go(SUMS, "X=x.csv", "--format", "csv", "-o", "r.csv", "--force", *how)
            self.assertEqual(self.cells("r.csv"), [["F", "w"], *([name, f"{sum_}"] for name, sum_ in zip(self.HEAD, numbers.sum(axis=0)))])
            products = numbers.T @ numbers
            self.assertEqual(self.cells("r-C.csv"),
                             [["F", "F", "C"], *([f, g, f"{products[i, j]}"] for i, f in enumerate(self.HEAD) for j, g in enumerate(self.HEAD))])
        self.assertEqual(self.kasen("show", "r.csv", "w", "--format", "csv")[0], self.kasen("show", "p.run", "w", "--format", "csv")[0])

    def test_columns_that_are_chosen(self):
        numbers = self.numbers()
        self.table("x.csv", numbers, self.HEAD)
        self.go(SUMS, "X=x.csv", "--columns", "X=größe,1,4-5".replace("4-5", "4"))
        self.assertEqual(self.names(), {"F": ["größe", "age", "the town"]})
        np.testing.assert_array_equal(self.array("w"), numbers[:, [4, 0, 3]].sum(axis=0))
        # Words of a column stand beside.
        self.table("y.csv", [["a", 1], ["b", 2]], ["kind", "size"])
        self.go(SUMS, "X=y.csv", "--words", "X=kind", "--force")
        self.assertEqual(self.names(), {"F": ["kind", "size"]})
        self.assertIn("  kind  ", self.kasen("show", "p.run", "w")[0])

    def test_nonzeros_and_the_page(self):
        (self.dir / "p.ks").write_text("dim M, F\ninput X : dense f64[M, F], G : f64[M, F]\nw = sum(X, over M)\noutput S = G * 2, w\n")
        self.table("x.csv", [[1, 2, 3], [4, 5, 6]], ["age", "a<b>", "w"])
        (self.dir / "g.txt").write_text("0 1 2.0\n1 0 3.0\n1 2 4.0\n")
        self.kasen("go", "p.ks", "X=x.csv", "G=g.txt")
        page = (self.dir / "p.run/report.html").read_text()
        self.assertIn(">a&lt;b&gt;<", page)
        self.assertNotIn("a<b>", page)
        self.assertIn("\n           w  9\n        a<b>  7\n",
                      self.kasen("run", "p.run/fused.kir", "--bundle", "p.run/bundle", "-o", "t.h5", "--top", 2)[0])
        for name in ["p.run/result.h5", "r.csv"]:
            self.kasen("run", "p.run/fused.kir", "--bundle", "p.run/bundle", "--format", "csv", "-o", "r.csv", "--force")
            self.assertEqual(self.kasen("show", name, "S", "--format", "csv")[0], "M,F,S\n0,a<b>,4\n1,age,6\n1,w,8\n")

    def test_where_there_are_no_names(self):
        """Rows have none; nor have tables without a first line of names, or with different ones."""
        numbers = self.numbers()
        program = "dim N, M, F local\ninput X : f64[N, F], Z : f64[M, F], y : f64[N]\noutput w = sum(X, over N) + sum(Z, over M), v = 2 * y\n"
        self.table("x.csv", numbers, self.HEAD)
        self.table("z.csv", numbers[:9], ["other", *self.HEAD[1:]])
        self.table("y.csv", numbers[:, :1], ["age"])
        said = self.go(program, "X=x.csv", "Z=z.csv", "y=y.csv")
        self.assertIn("inputs X and Z name the columns of F in different ways: results have no names there", said[1])
        self.assertFalse((self.dir / "p.run/result.dictionary.json").exists())
        self.table("z.csv", numbers[:9], self.HEAD)
        self.go(program, "X=x.csv", "Z=z.csv", "y=y.csv", "--force")
        self.assertEqual(self.names(), {"F": self.HEAD})
        # The names of an older result go with it.
        self.table("z.csv", numbers[:9])
        self.table("x.csv", numbers)
        self.go(program, "X=x.csv", "Z=z.csv", "y=y.csv", "--force")
        self.assertFalse((self.dir / "p.run/result.dictionary.json").exists())
        np.testing.assert_array_equal(self.array("w"), numbers.sum(axis=0) + numbers[:9].sum(axis=0))
        # A file of the user's stays.
        self.table("x.csv", numbers, self.HEAD)
        (self.dir / "r.dictionary.json").write_text("mine\n")
        self.kasen("run", "p.run/fused.kir", "--bundle", "p.run/bundle", "-o", "r.h5", "--kernels", "interpreter")
        self.assertEqual((self.dir / "r.dictionary.json").read_text(), "mine\n")
        self.fault("show", "r.h5", "w", status=BAD, says="r.dictionary.json: error: this is no dictionary of words")

    def test_one_program_s_result_in_another(self):
        """A result in CSV, whose lines begin with names, and in HDF5, is an input."""
        numbers = self.numbers()
        self.table("x.csv", numbers, self.HEAD)
        self.go(SUMS, "X=x.csv", "--format", "csv", "-o", "w.csv")
        self.go(SUMS, "X=x.csv", "-o", "w.h5", "--force")
        apply = "dim N, F local\ninput X : f64[N, F], w : f64[F]\noutput s = X @ w\n"
        for given in [["w=w.csv", "--columns", "w=w"], ["w=w.h5:/w"]]:
            self.go(apply, "X=x.csv", *given, "--force")
            np.testing.assert_allclose(self.array("s"), numbers @ numbers.sum(axis=0))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
