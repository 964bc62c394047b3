#!/usr/bin/env python3
"""Tables in text that others write: separators, quotes, comments, heads and marks, beside Python's csv module.

Usage: cells_test.py FOLDER_OF_TOOLS SOURCE_ROOT [unittest arguments]
"""
import csv
import random
import subprocess
import sys
import unittest

import h5py
import numpy as np

sys.dont_write_bytecode = True  # the source tree stays as it is
from tables_test import TABLE, TableTest  # noqa: E402
from tools_test import USAGE  # noqa: E402

NOT_BESIDE = "other commas separate cells only where some of the first lines have cells in quotes"


def written(value, point, group):
    text = f"{value:,.3f}".rstrip("0").rstrip(".") if value != int(value) else f"{int(value):,}"
    return text.translate({ord(","): group or "", ord("."): point})


class TextCells(TableTest):
    def setUp(self):
        super().setUp()
        self.plan(TABLE)

    def write(self, text, name="x.csv"):
        (self.dir / name).write_text(text)

    def test_quoted_numbers_between_commas(self):
        """Random tables as csv.writer writes them, with head or without, in either style."""
        draw = random.Random(5)
        for k in range(24):
            point, group, options = [(".", ",", ["--thousands", ","]), (",", "", ["--decimal", ","]), (",", ".", ["--thousands", "."])][k % 3]
            rows, columns = draw.randrange(2, 40), draw.randrange(2, 5)
            table = [[draw.choice([draw.randrange(-5, 6), draw.randrange(10 ** 7), round(draw.uniform(-1e4, 1e4), 3)]) for _ in range(columns)] for _ in range(rows)]
            table[draw.randrange(rows)][0] = 1234.5  # one that has to be quoted
            head = [[f"c{c}" for c in range(columns)]] if draw.random() < 0.5 else []
            with (self.dir / "x.csv").open("w", newline="") as file:
                writer = csv.writer(file, delimiter=draw.choice(",,,;\t"), quoting=draw.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
                                    lineterminator=draw.choice(["\n", "\r\n"]))
                writer.writerows(head + [[written(v, point, group) for v in row] for row in table])
            np.testing.assert_allclose(self.values("x.csv", *options), table, rtol=1e-15, err_msg=(self.dir / "x.csv").read_text())
        self.write('name,income\nann,"87,613"\nbob,500\n')
        np.testing.assert_array_equal(self.values("x.csv", "--thousands", ",", "--columns", "X=income"), [[87613], [500]])
        self.refused("x.csv", "--columns", "X=income", says=["x.csv:2:6: error: ", "(87.613), say so: --decimal ,; if commas group digits (87613): --thousands ,"])
        self.write("a,b\n" + "1,2\n" * 2000 + '1,"2,000"\n')  # far behind the first lines that are looked at
        self.assertEqual(self.values("x.csv", "--thousands", ",").sum(), 2000 * 3 + 2001)

    def test_commas_that_nothing_explains(self):
        self.write("a,b\n1,2\n3,4\n")
        self.refused("x.csv", "--thousands", ",", says=["beside --thousands ,", NOT_BESIDE])
        self.refused("x.csv", "--decimal", ",", "--columns", "X=2", says=["there is no column 2", "beside --decimal ,", NOT_BESIDE], status=USAGE)
        self.write('"ann" 1,5\n"bob" 2,25\n')  # blanks separate
        np.testing.assert_array_equal(self.values("x.csv", "--decimal", ",", "--words", "X=1"), [[0, 1.5], [1, 2.25]])
        self.write('1,5 "ann"\n2,25 "bob"\n')
        np.testing.assert_array_equal(self.values("x.csv", "--decimal", ",", "--words", "X=2"), [[1.5, 0], [2.25, 1]])
        self.write('a,"1,5"\nb,2,5\n')
        self.refused("x.csv", "--decimal", ",", "--words", "X=1", says="x.csv:2:5: error: the row has more columns than the first, which has 2")

    def test_bars(self):
        self.write("name|size\nann|1.5\nbob|-2e3\n")
        np.testing.assert_array_equal(self.values("x.csv", "--words", "X=name"), [[0, 1.5], [1, -2000]])
        self.write(" ann | 1 | 4\n bob b | 2 | 5\n")
        np.testing.assert_array_equal(self.values("x.csv", "--words", "X=1"), [[0, 1, 4], [1, 2, 5]])
        self.refused("x.csv", says="x.csv:1:2: error: 'ann' is not a")
        self.write("a|b 1\nb|c 2\n")  # blanks separate what has numbers
        np.testing.assert_array_equal(self.values("x.csv", "--words", "X=1"), [[0, 1], [1, 2]])
        self.write("1~2\n3~4\n")
        self.refused("x.csv", "--columns", "X=2", says=["there is no column 2", "cells are separated by commas, semicolons, tabs, | or blanks"], status=USAGE)
        self.write("a~b\n3~4\n")
        self.refused("x.csv", "--columns", "X=b", says=["there is no column 'b'", "cells are separated by commas"], status=USAGE)

    def test_separators_at_the_end_of_lines(self):
        self.write("a,b\n1,2,\n3,4,\n")
        err = self.refused("x.csv", says=["x.csv:1:1: error: the first line names 2 columns, and the line below has 3", "behind its last ',' stands no value", "sed 's/,$//'"])
        self.assertNotIn("write.table", err)
        self.write("a;b;\n1;2;\n3;4;\n")
        self.refused("x.csv", says=["x.csv:2:5: error: each line ends with ';'", "column 3, which has no value", "sed 's/;$//'"])
        np.testing.assert_array_equal(self.values("x.csv", "--columns", "X=1-2"), [[1, 2], [3, 4]])
        np.testing.assert_array_equal(self.values("x.csv", "--missing", "X=0"), [[1, 2, 0], [3, 4, 0]])
        self.write("a b\nx 1 2\ny 3 4\n")
        self.refused("x.csv", says=["write.table"])

    def test_comments_between_rows(self):
        """A note counts them, whatever the threads; a quoted cell is kept."""
        self.write("# made today\ntag,n\n#sun,1\nrain,2\n%x,3\nwind,4\n#end,5\n")
        said = self.partition("x.csv", "--words", "X=tag")
        self.assertIn("note: 3 lines of 'x.csv' that begin with # or % were left out as comments; quote the cell to keep it\n", said)
        self.assertEqual(said.count("comments"), 1)
        self.write('tag,n\n"#sun",1\nrain,2\n')
        self.assertNotIn("comment", self.partition("x.csv", "--words", "X=tag"))
        self.write("# one\n% two\ntag,n\nsun,1\n\nrain,2\n  # three\n")
        self.assertIn("note: 1 line of 'x.csv' that begins with # or % was left out as a comment; ", self.partition("x.csv", "--words", "X=tag"))
        self.write("".join(f"{k},1\n" if k % 3 else f"#{k},1\n" for k in range(400000)))
        for threads in ["1", "3"]:
            self.assertIn("note: 133333 lines of 'x.csv'", self.partition("x.csv", env={"OMP_NUM_THREADS": threads}))
        self.plan("dim N\ninput G : null[N, N]\noutput s = G @ ones(N)\n")
        self.write("1 2\n# a comment of an edge list\n2 3\n", "g.txt")
        self.assertNotIn("comment", self.partition("g.txt"))

    def test_marks_that_are_numbers(self):
        for point, group, options in [(".", "", []), (",", "", ["--decimal", ","]), (",", ".", ["--thousands", "."])]:
            for mark, cells in {"-999": ["-999", "-999.0", "-9.99e2", "-99900e-2", "-0999"], "1e3": ["1000", "1000.00", "1e+03", "+1000"], "0": ["0.0", "-0", "0e7"]}.items():
                cells = [cell.replace(".", point) for cell in cells] + (["1.000"] if group and mark == "1e3" else [])
                self.write("".join(f"{k + 5};{cell}\n" for k, cell in enumerate([*cells, "-998", "1"])))
                got = self.values("x.csv", "--missing", "X=77", "--missing-as", mark, *options)
                np.testing.assert_array_equal(got[:, 1], [77] * len(cells) + [-998, 1])
        self.write("007;a\n7;b\n")  # words are text
        np.testing.assert_array_equal(self.values("x.csv", "--words", "X=1,2", "--missing", "X=drop", "--missing-as", "7"), [[0, 0]])

    def test_a_first_line_that_may_be_a_head(self):
        note = "is taken for data; choose columns by name if it is a head"
        self.write("name,city\nann,rome\nbob,oslo\n")
        words = ["--columns", "X=2", "--words", "X=2"]
        self.assertIn(f"note: the first line (name,city) {note}\n", self.partition("x.csv", *words))
        self.assertNotIn(note, self.partition("x.csv", "--columns", "X=city", "--words", "X=city"))
        for text in ["name,size\nann,1\nbob,2\n", "ann,rome\nbob,oslo\ncid,rome\n", "1,rome\n2,oslo\n", "rome,rome\noslo,oslo\n"]:
            self.write(text)
            self.assertNotIn(note, self.partition("x.csv", *words) if "size" not in text else self.partition("x.csv", "--columns", "X=1", "--words", "X=1"))
        self.write("ann,1\nbob,2\n")
        self.assertNotIn(note, self.partition("x.csv", "--words", "X=1"))

    def test_arrays_of_other_things(self):
        """Each remedy is a line that works."""
        words, numbers = np.array(["b", "a,1", "#c"]), np.array([1 + 2j, 3 - 1j])
        records = np.array([(1, 2.5), (3, 4.5)], dtype=[("n", "i8"), ("v", "f8")])
        with h5py.File(self.dir / "x.h5", "w") as file:
            file["words"], file["numbers"], file["records"] = words.tolist(), numbers, records
            file["short"] = words.astype("S3")
            file.create_dataset("packed", data=words.astype("S3"), compression="gzip")
        for name, array in [("words", words), ("short", words.astype("S3")), ("numbers", numbers), ("records", records)]:
            np.save(self.dir / f"{name}.npy", array)
        for name in ["words", "short", "packed", "numbers", "records"]:
            for file in [f"x.h5:/{name}"] + ([f"{name}.npy"] if name != "packed" else []):
                said = self.refused(file, says="python3 -c \"")
                line = said[said.index("python3 -c \"") + 12:].split('"')[0]
                self.run_python(line)
                if name == "numbers":
                    np.testing.assert_array_equal(self.values("real.npy")[:, 0], [1, 3])
                    np.testing.assert_array_equal(self.values("imaginary.npy")[:, 0], [2, -1])
                elif name == "records":
                    np.testing.assert_array_equal(self.values("n.npy")[:, 0], [1, 3])
                    np.testing.assert_array_equal(self.values("v.npy")[:, 0], [2.5, 4.5])
                else:
                    np.testing.assert_array_equal(self.values("data.csv", "--words", "X=1"), [[2], [1], [0]])
                    (self.dir / "data.csv").unlink()

    def run_python(self, line):
        subprocess.run([sys.executable, "-c", line], cwd=self.dir, check=True)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
