#!/usr/bin/env python3
"""Columns of tables by their names: in results, as dates, and as a column for each word.

Usage: columns_test.py FOLDER_OF_TOOLS SOURCE_ROOT [unittest arguments]
"""
import calendar
import csv
import datetime
import fractions
import json
import random
import sys
import unittest

import h5py
import numpy as np

sys.dont_write_bytecode = True  # the source tree stays as it is
from tools_test import BAD, USAGE, ToolTest  # noqa: E402

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
            shown = json.loads(self.kasen("show", "p.run", "w", "--format", "json")[0])["arrays"][0]
            self.assertEqual(shown["rows"], [[name, sum_] for name, sum_ in zip(self.HEAD, numbers.sum(axis=0).tolist())])
            self.go(SUMS, "X=x.csv", "--format", "csv", "-o", "r.csv", "--force", *how)
            self.assertEqual(self.cells("r.csv"), [["F", "w"], *([name, f"{sum_}"] for name, sum_ in zip(self.HEAD, numbers.sum(axis=0)))])
            products = numbers.T @ numbers
            self.assertEqual(self.cells("r-C.csv"),
                             [["F", "F", "C"], *([f, g, f"{products[i, j]}"] for i, f in enumerate(self.HEAD) for j, g in enumerate(self.HEAD))])
        self.assertEqual(self.kasen("show", "r.csv", "w", "--format", "csv")[0], self.kasen("show", "p.run", "w", "--format", "csv")[0])

    def test_results_that_are_read_again_keep_the_names(self):
        """The second program's dimensions have other names; its results show those of the first one's table."""
        numbers = self.numbers()
        self.table("x.csv", numbers, self.HEAD)
        first = SUMS + "output Y = X + 1\n"
        second = "dim G local\ninput r : f64[G]\noutput z = 2 * r\n"
        wide = "dim M, G local\ninput Y : f64[M, G]\noutput z = sum(Y, over M)\n"
        self.go(first, "X=x.csv", "--dir", "first", "-o", "r.h5")
        self.go(first, "X=x.csv", "--dir", "first", "--format", "csv", "-o", "c.csv", "--force")
        doubled = [[name, 2 * total] for name, total in zip(self.HEAD, numbers.sum(axis=0).tolist())]
        for program, data, expected in [(second, ["r=r.h5:/w"], doubled), (second, ["r=c.csv", "--columns", "r=w"], doubled),
                                        (wide, ["Y=r.h5:/Y"], [[name, total / 2 + 40] for name, total in doubled])]:
            for how in [[], ["--workers", 2]]:
                out = self.go(program, *data, "--force", *how)[0]
                self.assertIn("he,ight  ", out)
                self.assertEqual(self.names(), {"G": self.HEAD})
                shown = json.loads(self.kasen("show", "p.run", "z", "--format", "json")[0])["arrays"][0]["rows"]
                self.assertEqual(shown, expected)
        # A third program reads the second one's result; a file in another order keeps each name with its number.
        (self.dir / "z.h5").write_bytes((self.dir / "p.run" / "result.h5").read_bytes())
        (self.dir / "z.dictionary.json").write_bytes((self.dir / "p.run" / "result.dictionary.json").read_bytes())
        self.go(second.replace("G", "H"), "r=z.h5:/z")
        self.assertEqual(self.names(), {"H": self.HEAD})
        lines = self.cells("c.csv")
        self.table("c.csv", lines[:0:-1], lines[0])
        self.go(second, "r=c.csv", "--columns", "r=w")
        self.assertEqual(self.names(), {"G": self.HEAD[::-1]})
        np.testing.assert_array_equal(self.array("z"), 2 * numbers.sum(axis=0)[::-1])
        # Another output of a result in several files; a dictionary that has changed; a table with other names.
        self.go(first.replace("output w\n", ""), "X=x.csv", "--dir", "first", "--format", "csv", "-o", "d.csv", "--force")
        self.go(first.replace("output w\n", "output k = sum(X)\noutput w\n"), "X=x.csv", "--dir", "first", "--format", "csv", "-o", "d.csv", "--force")
        self.go(second, "r=d-w.csv", "--columns", "r=w")
        self.assertEqual(self.names(), {"G": self.HEAD})
        both = "dim M, G local\ninput r : f64[G], X : f64[M, G]\noutput z = sum(r * X, over M)\n"
        self.go(both, "r=r.h5:/w", "X=x.csv")
        self.assertEqual(self.names(), {"G": self.HEAD})
        dictionary = self.dir / "r.dictionary.json"
        dictionary.write_text(dictionary.read_text().replace("age", "years"))
        err = self.go(both, "r=r.h5:/w", "X=x.csv")[1]
        self.assertIn("inputs r and X name the columns of G in different ways", " ".join(err.split()))
        dictionary.write_text("{")  # none of Kasen's: names are for people, and the numbers are right without
        self.go(second, "r=r.h5:/w")
        np.testing.assert_array_equal(self.array("z"), 2 * numbers.sum(axis=0))

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

    def test_columns_in_another_order_are_refused(self):
        """A table and another one, or the coefficients that an earlier run made: names say that they do not belong together."""
        numbers, head = self.numbers()[:, :4], ["age", "height", "the town", "größe"]
        self.table("x.csv", numbers, head)
        turned = [3, 0, 1, 2]
        self.table("z.csv", numbers[:, turned], [head[k] for k in turned])
        program = "dim N, M, F local\ninput X : f64[N, F], Z : f64[M, F]\noutput w = mean(X, over N) - mean(Z, over M)\n"
        (self.dir / "p.ks").write_text(program)
        err = " ".join(self.kasen("go", "p.ks", "X=x.csv", "Z=z.csv", status=BAD)[1].split())
        self.assertIn("inputs X and Z have the columns of F in different orders", err)
        self.assertIn(f"column 1 is '{head[0]}' of X, and '{head[3]}' of Z", err)
        self.assertIn("--columns Z=" + ",".join(head), err)
        self.go(program, "X=x.csv", "Z=z.csv", "--columns", "Z=" + ",".join(head))
        np.testing.assert_array_equal(self.array("w"), np.zeros(4))
        self.go(SUMS, "X=x.csv", "-o", "r.h5", "--dir", "sums")
        (self.dir / "a.ks").write_text("dim M, F local\ninput X : f64[M, F], w : f64[F]\noutput p = X @ w\n")
        err = " ".join(self.kasen("go", "a.ks", "X=z.csv", "w=r.h5:/w", status=BAD)[1].split())
        self.assertIn("inputs X and w have the columns of F in different orders", err)
        self.assertIn("--columns X=" + ",".join(head), err)
        # A part of both.
        (self.dir / "p.ks").write_text(program)
        self.table("z.csv", numbers, [head[1], *head[1:3], "more"])
        err = self.kasen("go", "p.ks", "X=x.csv", "Z=z.csv", status=BAD)[1]
        self.assertIn("choose the same columns of both, in one order", " ".join(err.split()))

    def test_where_there_are_no_names(self):
        """Rows have none; nor have tables without a first line of names, or with different ones."""
        numbers = self.numbers()
        program = "dim N, M, F local\ninput X : f64[N, F], Z : f64[M, F], y : f64[N]\noutput w = sum(X, over N) + sum(Z, over M), v = 2 * y\n"
        self.table("x.csv", numbers, self.HEAD)
        self.table("z.csv", numbers[:9], ["other", *self.HEAD[1:]])
        self.table("y.csv", numbers[:, :1], ["age"])
        said = self.go(program, "X=x.csv", "Z=z.csv", "y=y.csv")
        self.assertIn("inputs X and Z name the columns of F in different ways: they meet by their places, and results have no names there", said[1])
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


TABLE = "dim N, F local\ninput X : f64[N, F]\noutput Y = X * 1.0\n"


class ReadTest(ColumnsTest):
    def setUp(self):
        super().setUp()
        (self.dir / "p.ks").write_text(TABLE)
        self.kasen("plan", "p.ks", "-o", "p.kir")

    def partition(self, *args, **how):
        return self.kasen("partition", "--program", "p.kir", *args, "--workers", 2, "--replace", "-o", "b", **how)[1]

    def read(self, *args):
        self.partition(*args)
        return self.array("arrays/X/values", "b/arrays.h5")

    def refused(self, *args, says, status=BAD):
        err = self.partition(*args, status=status)
        self.assertEqual(err.count("error:"), 1, err)
        for word in [says] if isinstance(says, str) else says:
            self.assertIn(word, err)


class Dates(ReadTest):
    """Beside Python's datetime and NumPy's datetime64."""

    def moments(self, count=400):
        draw = random.Random(11)
        first, last = datetime.datetime(1, 1, 2), datetime.datetime(9999, 12, 30)
        some = [first + (last - first) * draw.random() for _ in range(count)]
        return [datetime.datetime(1970, 1, 1), datetime.datetime(1969, 12, 31, 23, 59, 59), datetime.datetime(2000, 2, 29),
                datetime.datetime(2100, 2, 28), datetime.datetime(2024, 12, 31, 23, 59, 59, 999999), first, last, *some]

    def test_days(self):
        days = [moment.date() for moment in self.moments()]
        self.table("x.csv", [[k, day.isoformat()] for k, day in enumerate(days)], ["k", "day"])
        want = np.array([day.isoformat() for day in days], dtype="datetime64[D]").astype(float)
        for choice in ["day", "2", "day:days"]:
            np.testing.assert_array_equal(self.read("x.csv", "--dates", f"X={choice}")[:, 1], want)
        self.assertIn('"names":{"F":["k","day"]}', (self.dir / "b/manifest.json").read_text().replace(" ", "").replace("\n", ""))
        years = [day.year - 1970 + (day - datetime.date(day.year, 1, 1)).days / (366 if calendar.isleap(day.year) else 365) for day in days]
        np.testing.assert_allclose(self.read("x.csv", "--dates", "X=day:years")[:, 1], years, rtol=1e-15, atol=1e-15)
        np.testing.assert_array_equal(self.read("x.csv", "--dates", "X=day:seconds")[:, 1], want * 86400)

    def test_days_first(self):
        """Beside Python's strftime, with and without leading zeros, and beside a time."""
        days = [moment.date() for moment in self.moments(200)]
        self.table("x.csv", [[f"{day.day:02}.{day.month:02}.{day.year:04}", f"{day.day}.{day.month}.{day.year:04}"] for day in days], ["a", "b"])
        want = np.array([day.isoformat() for day in days], dtype="datetime64[D]").astype(float)
        np.testing.assert_array_equal(self.read("x.csv", "--dates", "X=a,b"), np.column_stack([want, want]))
        (self.dir / "y.csv").write_text("29.02.2024 12:00;01.01.1970T00:00+01:00\n1.1.0001;31.12.9999 23:59:59\n")
        np.testing.assert_array_equal(self.read("y.csv", "--dates", "X=1,2:seconds"), [[19782.5, -3600], [-719162, 253402300799.0]])
        (self.dir / "x.csv").write_text("1,2024-01-01\n2,01/02/2024\n")
        self.refused("x.csv", "--dates", "X=2", says=["write it like 2024-02-29; in Python: pandas.to_datetime(column, dayfirst=True), or dayfirst=False"])
        (self.dir / "x.csv").write_text("1,1.2.2024\n")
        self.refused("x.csv", says=["if column 2 holds dates, say so: --dates X=2"])

    def test_times_and_zones(self):
        epoch = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
        draw = random.Random(3)
        rows, want = [], []
        for k, moment in enumerate(self.moments()):
            zone = draw.choice([None, datetime.timezone.utc, datetime.timezone(datetime.timedelta(minutes=draw.randrange(-1439, 1440)))])
            moment = moment.replace(tzinfo=zone)
            text = moment.isoformat("T" if k % 2 else " ", draw.choice(["auto", "microseconds"]) if k % 3 else "milliseconds")
            moment = datetime.datetime.fromisoformat(text)
            rows.append([text.replace("+00:00", "Z") if k % 5 else text, k])
            from_epoch = moment.replace(tzinfo=moment.tzinfo or datetime.timezone.utc) - epoch
            want.append(float(fractions.Fraction(from_epoch // datetime.timedelta(microseconds=1), 10 ** 6)))
        self.table("x.csv", rows)
        got = self.read("x.csv", "--dates", "X=1:seconds")
        np.testing.assert_allclose(got[:, 0], want, rtol=2.3e-16, atol=0)
        np.testing.assert_allclose(self.read("x.csv", "--dates", "X=1")[:, 0], np.array(want) / 86400, rtol=4e-16, atol=0)
        (self.dir / "y.csv").write_text('"2024-02-29 12:00";1970-01-01T00:00+01:00\n"0001-01-01T00:00";9999-12-31T23:59:59.999999999z\n')
        np.testing.assert_array_equal(self.read("y.csv", "--dates", "X=1,2:seconds"), [[19782.5, -3600], [-719162, 253402300800.0]])

    def test_names_and_missing_values(self):
        """A name stands over a date, also where all columns hold dates; missing values are as in other columns."""
        (self.dir / "x.csv").write_text("born,seen\n2024-01-01,2024-01-02\nNA,2024-01-04\n2024-01-03,\n")
        day = 19723.0
        np.testing.assert_array_equal(self.read("x.csv", "--dates", "X=1-2", "--missing", "X=drop"), [[day, day + 1]])
        np.testing.assert_array_equal(self.read("x.csv", "--dates", "X=born,seen", "--missing", "X=mean"),
                                      [[day, day + 1], [day + 1, day + 3], [day + 2, day + 2]])
        np.testing.assert_array_equal(self.read("x.csv", "--dates", "X=1,2", "--missing", "X=0"), [[day, day + 1], [0, day + 3], [day + 2, 0]])
        (self.dir / "y.csv").write_text("2024-01-01,1\n2024-01-03,2\n")
        np.testing.assert_array_equal(self.read("y.csv", "--dates", "X=1"), [[day, 1], [day + 2, 2]])
        self.go(TABLE, "X=y.csv", "--dates", "X=1:years")
        np.testing.assert_array_equal(self.array("Y"), [[54, 1], [54 + 2 / 366, 2]])

    def test_wrong_dates(self):
        for text, why in [("2023-02-29", "the month has no such day"), ("2024-13-01", "months are 01 to 12"), ("0000-01-01", "years are 0001 to 9999"),
                          ("24-01-01", "a date is written like 2024-02-29"), ("2024-1-1", "a date is written like 2024-02-29"),
                          ("2024/01/01", "a date is written"), ("01.02.24", "a date is written"), ("30.02.2024", "the month has no such day"), ("1.13.2024", "months are 01 to 12"),
                          ("1.2.2024x", "a date is written"), ("01/02/2024", "whether the day or the month comes first is not known"), ("1/13/24", "whether the day"), ("2024-01-01x", "a date is written"),
                          ("2024-01-01T", "a time is written"), ("2024-01-01T1:00", "a time is written"), ("2024-01-01T24:00", "times are 00:00:00 to 23:59:59"),
                          ("2024-01-01T12:60", "times are"), ("2024-01-01T12:00:60", "times are"), ("2024-01-01T12:00:00.", "a second has 1 to 9 digits"),
                          ("2024-01-01T12:00:00.1234567891", "a second has 1 to 9 digits"), ("2024-01-01T12:00+1", "a zone is written"),
                          ("2024-01-01T12:00+24:00", "zones are"), ("2024-01-01T12:00 UTC", "a zone is written"), ("20240101", "a date is written"),
                          ("-024-01-01", "a date is written"), ("12", "a date is written"), ("soon", "a date is written")]:
            (self.dir / "x.csv").write_text(f"1,2024-01-01\n2,{text}\n")
            self.refused("x.csv", "--dates", "X=2", says=[f"x.csv:2:3: error: '{text}' is no date; {why}"])
        (self.dir / "x.csv").write_text("1,2024-01-01\n2,\n")
        self.refused("x.csv", "--dates", "X=2", says="x.csv:2:3: error: ")
        self.refused("x.csv", says=["x.csv:1:3: error: '2024-01-01' is not a value of type f64", "if column 2 holds dates, say so: --dates X=2"])
        (self.dir / "x.csv").write_text("1,2024-01-01\n2,2024-01-02\n")
        for choice, says in [("X=2:weeks", ["'weeks' is no unit of dates", "days, seconds or years"]), ("X=3", "there is no column 3"), ("Y=2", "the program has no input 'Y'"),
                             ("X=2,2:years", "column 2 is chosen twice"), ("X=day", "no line names the columns"), ("X=", "a place without a column"), ("2", "--dates")]:
            self.refused("x.csv", "--dates", choice, status=USAGE, says=says)
        self.refused("x.csv", "--dates", "X=2", "--words", "X=2", status=USAGE, says="column 2 holds dates and words")
        self.refused("x.csv", "--dates", "X=2", "--columns", "X=1", status=USAGE, says="column 2 holds dates and is not taken")
        np.save(self.dir / "x.npy", np.eye(3))
        self.refused("x.npy", "--dates", "X=2", status=USAGE, says="dates are read in columns of a table")
        (self.dir / "p.ks").write_text(TABLE.replace("f64", "f32").replace("1.0", "f32(1)"))
        self.kasen("plan", "p.ks", "-o", "p.kir")
        self.refused("x.csv", "--dates", "X=2", status=USAGE, says=["dates are no values of type f32", "declare the input f64"])


class OneHot(ReadTest):
    """A column of words as a column for each of them."""

    ROWS = [["red", 1, "S"], ["blue", 2, "XL"], ["red", 3, "S"], ["grün", 4, "M"], ["blue", 5, "S"]]

    def wide(self, rows, colors, sizes=None):
        return np.array([[*(float(row[0] == c) for c in colors), row[1], *([float(row[2] == s) for s in sizes] if sizes else [])] for row in rows])

    def names(self, result="b/manifest.json"):
        whole = json.loads((self.dir / result).read_text())
        return (whole.get("content") or whole)["names"]["F"]

    def test_a_column_for_each_word(self):
        self.table("x.csv", self.ROWS, ["color", "n", "size"])
        colors, sizes = sorted({row[0] for row in self.ROWS}), sorted({row[2] for row in self.ROWS})
        for choice in ["color,size", "1,3", "1,size"]:
            np.testing.assert_array_equal(self.read("x.csv", "--one-hot", f"X={choice}"), self.wide(self.ROWS, colors, sizes))
            self.assertEqual(self.names(), [*(f"color={c}" for c in colors), "n", *(f"size={s}" for s in sizes)])
        self.assertIn("column 1 'color' (3 words, each a column, the first is 'blue')", self.partition("x.csv", "--one-hot", "X=color,size"))
        coded = np.array([sizes.index(row[2]) for row in self.ROWS])
        got = self.read("x.csv", "--one-hot", "X=color", "--words", "X=color,size")
        np.testing.assert_array_equal(got, np.column_stack([self.wide(self.ROWS, colors), coded]))
        self.table("y.csv", self.ROWS)
        np.testing.assert_array_equal(self.read("y.csv", "--columns", "X=2,1", "--one-hot", "X=1"),
                                      np.roll(self.wide(self.ROWS, colors), 1, axis=1))
        self.assertEqual(self.names(), ["2", *(f"1={c}" for c in colors)])
        for kind in ["f32", "i64", "i32"]:
            (self.dir / "p.ks").write_text(TABLE.replace("f64", kind).replace("X * 1.0", "X"))
            self.kasen("plan", "p.ks", "-o", "p.kir")
            np.testing.assert_array_equal(self.read("x.csv", "--one-hot", "X=color,size"), self.wide(self.ROWS, colors, sizes))

    def test_large_tables(self):
        """Many pieces of text, with any number of workers, and rows that are left out."""
        draw = np.random.default_rng(2)
        words = np.array(["w%03d" % k for k in range(300)])
        rows = [[word, k, "" if k % 7 == 3 else k] for k, word in enumerate(draw.choice(words, 30000))]
        self.table("x.csv", rows)
        kept = [row for row in rows if row[2] != ""]
        want = np.column_stack([np.array([row[0] for row in kept])[:, None] == words[None, :], [[row[1], row[2]] for row in kept]])
        np.testing.assert_array_equal(self.read("x.csv", "--one-hot", "X=1", "--missing", "X=drop"), want)

    def test_results_and_other_tables(self):
        """Results have the names; other tables get the same columns by the dictionary."""
        self.table("x.csv", self.ROWS, ["color", "n", "size"])
        colors, sizes = sorted({row[0] for row in self.ROWS}), sorted({row[2] for row in self.ROWS})
        self.go(SUMS, "X=x.csv", "--one-hot", "X=color,size", "--format", "csv", "-o", "w.csv")
        sums = self.wide(self.ROWS, colors, sizes).sum(axis=0)
        head = [*(f"color={c}" for c in colors), "n", *(f"size={s}" for s in sizes)]
        self.assertEqual(self.cells("w.csv"), [["F", "w"], *([name, f"{s:g}"] for name, s in zip(head, sums))])
        other = [["blue", 7, "S"], ["blue", 8, "M"]]
        self.table("y.csv", [[n, size, color] for color, n, size in other], ["n", "size", "color"])
        for dictionary in ["w.dictionary.json", "p.run/bundle"]:
            got = self.read("y.csv", "--columns", "X=color,n,size", "--dictionary", dictionary)
            np.testing.assert_array_equal(got, self.wide(other, colors, sizes))
            self.assertEqual(self.names(), head)
        self.table("y.csv", [["pink", 1, "S"]], ["color", "n", "size"])
        self.refused("y.csv", "--dictionary", "w.dictionary.json", says="'pink' is no word of the dictionary")

    def test_wrong_uses(self):
        self.table("x.csv", [[f"w{k}", k] for k in range(1001)])
        self.refused("x.csv", "--one-hot", "X=1", status=69, says=["column '1' has 1001 different words", "at most 1000 become columns", "leave it out of --one-hot"])
        self.table("x.csv", [[f"w{k % 1000}", k] for k in range(1001)])
        self.assertEqual(self.read("x.csv", "--one-hot", "X=1").shape, (1001, 1001))
        for choice, says in [("X=3", "there is no column 3"), ("Y=1", "the program has no input 'Y'"), ("X=color", "no line names the columns"), ("X=1,1", "column 1"), ("1", "--one-hot")]:
            self.refused("x.csv", "--one-hot", choice, status=USAGE, says=says)
        self.refused("x.csv", "--one-hot", "X=1", "--columns", "X=2", status=USAGE, says="column 1 holds words and is not taken")
        np.save(self.dir / "x.npy", np.eye(3))
        self.refused("x.npy", "--one-hot", "X=1", status=USAGE, says=["words are read in columns of a table", "leave out --one-hot"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
