#!/usr/bin/env python3
"""What messages tell of tables and their cells: the place, the file's own text, the reason, what to do.

Usage: told_test.py FOLDER_OF_TOOLS SOURCE_ROOT [unittest arguments]
"""
import sys
import unittest

import numpy as np

sys.dont_write_bytecode = True  # the source tree stays as it is
from tools_test import BAD, CONFIG, USAGE, ToolTest  # noqa: E402

TABLE = "dim N, F local\ninput X : f64[N, F]\noutput w = sum(X, over N)\n"


class ToldTest(ToolTest):
    def write(self, name, text):
        (self.dir / name).write_text(text)

    def plan(self, program=TABLE):
        self.write("p.ks", program)
        self.kasen("plan", "p.ks", "-o", "p.kir")

    def partition(self, *args, **how):
        return self.kasen("partition", "--program", "p.kir", *args, "--workers", 2, "--replace", "-o", "b", **how)[1]

    def told(self, *args, says, status=BAD, lacks=()):
        """One error that says all of this; returned without line breaks of notes."""
        err = self.partition(*args, status=status)
        self.assertEqual(err.count("error:"), 1, err)
        for word in [says] if isinstance(says, str) else says:
            self.assertIn(word, err)
        for word in lacks:
            self.assertNotIn(word, err)
        return err

    def notes(self, *args):
        return " ".join(self.partition(*args).split())


class ToldCells(ToldTest):
    """A cell is quoted as the file has it, and what is wrong with it is named."""

    def test_what_stands_beside_the_number(self):
        self.plan()
        germans = ["--decimal", ",", "--thousands", "."]
        for cell, why in [("1.234,5 €", "'€' stands behind the number"), ("EUR 1.234,5", "'EUR' stands before the number"),
                          ("(2,5)", "'(' and ')' stand around the number"), ("-3,5%", "'%' stands behind the number")]:
            self.write("x.csv", f"a;b\n1,5;2\n3;{cell}\n")
            self.told("x.csv", *germans, says=[f"x.csv:3:3: error: '{cell}' is not a ", why, "write the number alone"],
                      lacks=["say so: --thousands .", "say so: --decimal ,"])
        self.write("x.csv", "a;b\n1;2\n3;2,5 €\n")
        self.told("x.csv", says=["'2,5 €' is not a number", "'€' stands behind the number", "--decimal ,"])

    def test_the_file_s_text_is_quoted(self):
        self.plan()
        self.write("x.csv", "a;b\n1,5;2\n3;2,5,7\n4;x2,5y\n")
        self.told("x.csv", "--decimal", ",", says="x.csv:3:3: error: '2,5,7' is not a")
        self.write("x.csv", 'a;b\n"1,5";2\n3;"2,5e"\n')
        self.told("x.csv", "--decimal", ",", says="error: '2,5e' is not a")

    def test_whole_cells_that_mark_missing_values(self):
        self.plan()
        for separator in [";", "\t", ",", "|"]:
            self.write("x.csv", "\n".join(separator.join(row) for row in [["a", "b"], ["1", "2"], ["3", "k. A."], ["4", "5"]]) + "\n")
            self.told("x.csv", says=["x.csv:3:3: error: 'k. A.' is not a ", 'if \'k. A.\' marks a missing value, say so: --missing-as "k. A." --missing X=drop'])
            told = self.told("x.csv", "--missing", "X=drop", says='--missing-as "k. A."')
            self.assertNotIn('"k. A." --missing', told)
            self.assertIn("note: 1 of 3 rows along N left out", self.notes("x.csv", "--missing-as", "k. A.", "--missing", "X=drop"))
        self.write("x.csv", "a;b\n1;2\n3;4x\n")
        self.told("x.csv", says="'4x' is not a", lacks=["--missing-as"])
        self.write("x.csv", "a;d\n1;2024-01-01\n3;k. A.\n")
        self.told("x.csv", "--dates", "X=d", says=["x.csv:3:3: error: 'k. A.' is no date", '--missing-as "k. A." --missing X=drop'])
        self.plan("dim N, M\ninput A : f64[N, M]\noutput s = sum(A)\n")
        self.write("a.csv", "1,2,3\n1,3,k. A.\n")
        self.told("a.csv", says="a.csv:2:5: error: 'k. A.' is not a value of type f64")

    def test_long_cells_end_between_characters(self):
        self.plan()
        self.write("x.csv", "a;b\n1;2\n3;" + "x" * 59 + "ü" * 9 + "\n")
        err = self.told("x.csv", says="'" + "x" * 59 + "' is not a")
        self.assertNotIn("?", err.splitlines()[0])

    def test_the_caret_stands_under_the_character(self):
        self.plan()
        for text, width in [("1;Köln;181,7", 7), ("1;北京;x", 7), ("1;e\u0301;x", 4), ("1\t;\tgrün;x", None)]:
            self.write("x.csv", "a;b;c\n2;Ulm;3\n" + text + "\n")
            lines = self.told("x.csv", "--words", "X=b", says="x.csv:3:").splitlines()
            at = next(k for k, line in enumerate(lines) if line.strip() == "^")
            if width is None:
                self.assertEqual(lines[at], "  " + " \t \t" + " " * 5 + "^")
            else:
                self.assertEqual(lines[at], "  " + " " * width + "^")
        self.write("q.ks", "dim N\ninput x : f64[N]\n# grün\noutput größe = x + unbekannt\n")
        err = self.kasen("plan", "q.ks", status=BAD)[1]
        self.assertIn("q.ks:4:", err)


class ToldRows(ToldTest):
    """Rows of other kinds than the rest: titles, footers, rows that are left out."""

    def test_rows_that_several_inputs_leave_out(self):
        self.plan("dim N\ninput a : f64[N], b : f64[N]\noutput s = sum(a * b)\n")
        self.write("a.csv", "a\n1\nNA\n3\nNA\n5\n")
        self.write("b.csv", "b\n1\n2\nNA\nNA\n5\n")
        drop = ["a=a.csv", "b=b.csv", "--missing", "a=drop", "--missing", "b=drop"]
        self.assertIn("note: 3 of 5 rows along N left out: values of inputs 'a' (2 rows), 'b' (2 rows) are missing", self.notes(*drop))
        self.write("b.csv", "b\n1\n2\n3\n4\n5\n")
        self.assertIn("note: 2 of 5 rows along N left out: values of input 'a' are missing", self.notes(*drop))

    def test_a_line_without_the_separator(self):
        self.plan()
        self.write("r.csv", "g;v\nA;1\nB;2\nGesamt: 2 Zeilen\n")
        self.told("r.csv", "--columns", "X=v", says=["r.csv:4:", "the row has 1 column, and the first has 2", "put # before the line"])
        self.write("r.csv", "g;v\n4;1\n5;2\nGesamt\n")
        self.told("r.csv", says=["r.csv:1:1: error: 'g;v' is not a value", "line 4 has no ';', which separates the cells of the others: put # before it"])
        self.write("r.csv", "g;v\nA;1\nB;2\nGesamt\n")
        self.told("r.csv", "--columns", "X=v", status=USAGE, says=["line 4 has no ';', which separates the cells of the others: put # before it"])
        self.write("w.csv", "a;b\nc\na;b\nc\n")  # words of one column may have a semicolon
        self.plan(TABLE.replace("f64[N, F]", "i64[N, F]"))
        self.partition("w.csv", "--words", "X=1")

    def test_a_title_above_the_names(self):
        self.plan()
        for title in ["Mikrozensus 2024;;", "Mikrozensus 2024"]:
            self.write("m.csv", f"{title}\nName;Alter;Einkommen\nA;30;1\nB;40;2\n")
            self.told("m.csv", "--columns", "X=Alter,Einkommen", status=USAGE,
                      says=["m.csv:1: error: the first line has no column 'Alter'", "line 2 has the names", "delete line 1, or put # before it"])
        self.write("m.csv", "Mikrozensus 2024;;\n\nBerlin;;\nName;Alter;Einkommen\nA;30;1\nB;40;2\n")
        self.told("m.csv", "--columns", "X=Alter", status=USAGE, says=["line 4 has it", "delete lines 1 to 3, or put #"])
        self.fault("fit", "linear", "m.csv", "--target", "Einkommen", "-o", "m.h5", status=USAGE, says=["m.csv:1: error: the first line has no column 'Einkommen'", "line 4 has it"])
        self.write("m.csv", "Name;Alter;Einkommen\nA;30;1\nB;40;2\n")
        self.told("m.csv", "--columns", "X=Beruf", status=USAGE, says="there is no column 'Beruf'; the first line has Name, Alter, Einkommen")


class ToldColumns(ToldTest):
    """Columns that are more, fewer, taken by place, or by a range of names."""

    def read(self, *args):
        import h5py
        self.partition(*args)
        with h5py.File(self.dir / "b/arrays.h5") as file:
            return file["arrays/X/values"][()]

    def test_ranges_of_names(self):
        self.plan()
        self.write("x.csv", "a,b,c,d,e-f,e,f\n1,2,3,4,5,6,7\n2,3,4,5,6,7,8\n")
        for choice, columns in [("b-d", [1, 2, 3]), ("f,a-c", [6, 0, 1, 2]), ("d-e-f", [3, 4]), ("e-f", [4]), ("c-c,1", [2, 0])]:
            np.testing.assert_array_equal(self.read("x.csv", "--columns", f"X={choice}")[0], np.array([1, 2, 3, 4, 5, 6, 7])[columns], choice)
        self.told("x.csv", "--columns", "X=d-b", status=USAGE, says=["the range d-b is empty", "'d' is column 4, and 'b' is column 2", "write b-d"])
        self.told("x.csv", "--columns", "X=a-x", status=USAGE, says=["there is no column 'a-x'", "ranges are of numbers, as 2-5, or of two of these names"])
        self.write("long.csv", "income,rent\n1,2\n2,3\n")
        self.told("long.csv", "--columns", "X=income-z", status=USAGE, says="or of two of these names", lacks=["did you mean"])
        self.write("y.csv", "a,b,a-b,b-b,z\n1,2,3,4,5\n2,3,4,5,6\n")
        self.told("y.csv", "--columns", "X=a-b-b", status=USAGE, says=["the range a-b-b has two meanings", "choose it by numbers"])
        self.write("n.csv", "1,2,3\n2,3,4\n")
        self.told("n.csv", "--columns", "X=a-c", status=USAGE, says=["there is no column 'a-c'", "ranges are of numbers there, as 2-5"])
        self.write("words.csv", "id,u,v\n1,x,y\n2,y,x\n")
        self.partition("words.csv", "--words", "X=u-v")

    def test_columns_that_are_missing_or_more(self):
        self.plan("dim N, F local\ninput X : f64[N, F], w : f64[F]\noutput s = X @ w\n")
        self.write("first.ks", TABLE)
        self.write("x.csv", "a,b,c\n1,2,3\n4,5,7\n")
        self.kasen("go", "first.ks", "x.csv", "-o", "w.h5", "--no-report", "--kernels", "interpreter", "--verify", 0)
        self.write("y.csv", "a,c\n1,2\n")
        self.told("X=y.csv", "w=w.h5:/w", says=["y.csv: error: input 'X' lacks column 'b', which input 'w' has", "dimension F, with 2 and 3 columns"])
        self.write("y.csv", "a,b,c,d\n1,2,3,4\n")
        self.told("X=y.csv", "w=w.h5:/w", says=["input 'X' has column 'd', which input 'w' lacks", "--columns X=COLUMNS"])
        self.write("y.csv", "c,b,a\n1,2,3\n")
        self.told("X=y.csv", "w=w.h5:/w", says=["inputs X and w have the columns of F in different orders", "--columns X=a,b,c"])
        self.plan("dim T local = 2, N, M local\ninput X : f64[T, N], Z : f64[M, N]\noutput s = sum(X) + sum(Z)\n")
        self.write("one.csv", "x\n" + "1\n" * 6)
        self.write("z.csv", "a,b,c\n1,2,3\n4,5,6\n")
        self.partition("X=one.csv", "Z=z.csv")  # the rows of X are those of both dimensions
        self.plan(TABLE.replace("F local", "F local = 5"))
        self.told("y.csv", says=["y.csv: error: input 'X' has 3 indices of dimension F", "the file's columns are c, b, a", "give a table of 5 columns"])

    def test_a_table_that_is_read_as_entries(self):
        self.plan("dim N, F\ninput X : f64[N, F]\noutput s = sum(X)\n")
        self.write("h.csv", "kids,age,income\n1,30,100\n2,40,200\n")
        said = "X is sparse: columns kids, age, income of h.csv are taken as row, column and value; for a table write dim F local"
        self.assertIn(said, self.notes("h.csv"))
        self.write("h.csv", "user_id,item_id,stars\n1,30,100\n2,40,200\n")
        self.assertNotIn("is sparse", self.notes("h.csv"))
        self.write("h.csv", "N,F,stars\n1,30,100\n2,40,200\n")
        self.assertNotIn("is sparse", self.notes("h.csv"))
        self.write("h.csv", "1,30,100\n2,40,200\n")
        self.assertNotIn("is sparse", self.notes("h.csv"))
        self.plan("dim N\ninput X : f64[N, N]\noutput s = sum(X)\n")
        self.write("h.csv", "kids,age,income\n1,30,100\n2,40,200\n")
        self.assertNotIn("is sparse", self.notes("h.csv"))

    def test_a_table_without_names_for_a_model_with_names(self):
        draw = np.random.default_rng(3)
        rows = draw.normal(size=(30, 3))
        rows[:, 2] = rows[:, 0] - 2 * rows[:, 1]
        np.savetxt(self.dir / "t.csv", rows, delimiter=",", header="a,b,y", comments="")
        np.savetxt(self.dir / "nohead.csv", rows[:, :2], delimiter=",")
        np.savetxt(self.dir / "head.csv", rows[:, :2], delimiter=",", header="a,b", comments="")
        self.kasen("fit", "linear", "t.csv", "--target", "y", "-o", "m.h5")
        err = self.kasen("predict", "m.h5", "nohead.csv")[1]
        self.assertIn("kasen predict: note: columns of nohead.csv are taken by their places: it has no names; the model has a, b", err)
        self.assertNotIn("taken by their places", self.kasen("predict", "m.h5", "head.csv")[1])
        self.assertNotIn("taken by their places", self.kasen("predict", "m.h5", "nohead.csv", "-q")[1])


class ToldIds(ToldTest):
    """Ids that their dimension does not have."""

    def test_elements_that_are_ids(self):
        self.plan("dim N, T local = 7\ninput town : id[T][N]\noutput n = [t in T: sum(i in N: f64(town[i] == t))]\n")
        self.write("towns.csv", "town\n" + "".join(f"{k}\n" for k in range(1, 8)))
        self.told("towns.csv", says=["towns.csv: error: input 'town' names 7 in row 7, which dimension T does not have; it has 7 indices, from 0 on; ",
                                     "the ids look 1-based: subtract 1 from each"])
        self.write("towns.csv", "town\n0\n1\n9\n")
        self.told("towns.csv", says=["names 9 in row 3", "correct the id, or give T a larger size"])


class ToldOptions(ToldTest):
    """Options and keys are told as they were typed."""

    def test_params(self):
        self.write("p.ks", "dim N\nparam k : f64 = 1, at : id[N] = 0\ninput x : f64[N]\noutput y = k * x, z = [i in N: f64(i == at)]\n")
        self.write("x.csv", "1\n2\n3\n")
        go = ["go", "p.ks", "x.csv", "--no-report", "--kernels", "interpreter", "--verify", 0]
        self.fault(*go, "--param", "at=Berne", status=USAGE, says="--param at=Berne: the indices of N have numbers")
        self.fault(*go, "--param", "x=y.csv", status=USAGE, says="--param x=y.csv: 'x' is an array")
        self.fault(*go, "--param", "k=much", status=USAGE, says="--param k=much")
        self.fault("run", "p.run/fused.kir", "--bundle", "p.run/bundle", "-D", "at=Berne", status=USAGE, says="-D at=Berne: the indices of N have numbers")
        self.fault("run", "p.run/fused.kir", "--bundle", "p.run/bundle", "-Dat=9", status=USAGE, says="-D at=ID")

    def experiment(self, text, *args, **how):
        self.write("e.yaml", text)
        return self.kasen("experiment", "e.yaml", "-o", "e", *args, **how)

    def test_yaml(self):
        self.write("p.ks", TABLE)
        self.write("x.csv", "a,b\n1,2\n3,4\n")
        for text, place in [("program: p.ks\ndata: {X: x.csv}\nparam:\n\tk: 1\n", "e.yaml:4:1"), ("program: p.ks\nparam:\n  k: 1\n\tl: 2\n", "e.yaml:4:1"),
                            ("program: p.ks\nparam:\n  \tk: 1\n", "e.yaml:3:3")]:
            err = self.experiment(text, status=CONFIG)[1]
            self.assertIn(f"{place}: error: this is not YAML; the line ", err)
            self.assertIn("tab; write spaces", err)
        err = self.experiment("program: p.ks\ndata: {X: x.csv}\nmissing: drop\n", status=CONFIG)[1]
        self.assertIn("'drop' is not NAME=VALUE; 'missing' takes names and values; write missing: {NAME: drop}, as missing: {X: drop}", err)

    def test_one_fault_of_all_runs_is_told_once(self):
        self.write("p.ks", TABLE)
        self.write("x.csv", "a,b\n1,2\n3,4\n")
        err = self.experiment("program: p.ks\ndata: {X: x.csv}\ncolumns: {X: a-z}\nworkers: [1, 2, 3]\nrepetitions: 2\n", status=1)[1]
        self.assertEqual(err.count("there is no column 'a-z'"), 1, err)
        self.assertIn("failed (status 64), as run 1", err)
        self.assertIn("\n  e.yaml:3: columns.X=a-z\n", err)
        self.assertNotIn("data.X", err)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
