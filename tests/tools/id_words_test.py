#!/usr/bin/env python3
"""Words that are ids: columns of one dimension share one list of words, and only indices are shown as such words.

Usage: id_words_test.py FOLDER_OF_TOOLS SOURCE_ROOT [unittest arguments]
"""
import json
import sys
import unittest

sys.dont_write_bytecode = True  # the source tree stays as it is
import h5py  # noqa: E402
import numpy  # noqa: E402
from tools_test import USAGE, ToolTest  # noqa: E402

LINKS = ["home,about", "home,blog", "about,home", "blog,home", "blog,archive", "archive,blog", "archive,old page", "shop,home", "shop,blog",
         "contact,home", "contact,shop", "old page,home"]
RANKS = """dim E, N
input from : id[N][E], to : id[N][E]
param r = 0.85, theta = 1e-12
deg = sum(1.0, by from in N)
pr : f64[N] = 1
go = true
while go likely expect 30 {
  new_pr = (1 - r) + r * sum(take(pr / deg, from), by to in N)
  go = sum(abs(new_pr - pr)) > theta
  pr = new_pr
}
output pr, from
"""


def ranks():
    links = [tuple(line.split(",")) for line in LINKS]
    names = sorted({name for link in links for name in link})
    matrix = numpy.zeros((len(names), len(names)))
    for a, b in links:
        matrix[names.index(b), names.index(a)] += 1 / sum(link[0] == a for link in links)
    pr = numpy.ones(len(names))
    for _ in range(300):
        pr = 0.15 + 0.85 * matrix @ pr
    return dict(zip(names, pr))


class IdWords(ToolTest):
    def setUp(self):
        super().setUp()
        (self.dir / "web.csv").write_text("from,to\n" + "\n".join(LINKS) + "\n")
        (self.dir / "r.ks").write_text(RANKS)
        (self.dir / "s.csv").write_text("name,income\nZoe,10\nAnn,20\nMax,30\nBob,5\n")

    def shown(self, *options):
        rows = self.kasen("show", *options, "--format", "json")[0]
        return json.loads(rows)

    def test_two_columns_of_one_dimension_have_one_list_of_words(self):
        for workers in ([], ["--mesh", "auto", "--workers", 3]):
            self.kasen("go", "r.ks", "from=web.csv", "to=web.csv", "--columns", "from=from", "--columns", "to=to", "--words", "from=from", "--words", "to=to",
                       "-o", "r.h5", *workers)
            for column in ("from.from", "to.to"):
                text = self.kasen("show", "r.h5", "pr", "--words", f"N={column}", "--head", 20, "--digits", 15)[0]
                made = {line[:line.rindex("  ")].strip(): float(line.split()[-1]) for line in text.splitlines()[2:]}
                self.assertEqual(set(made), set(ranks()))
                for name, value in ranks().items():
                    self.assertAlmostEqual(made[name], value, 9, name)

    def test_words_give_a_dimension_its_size(self):
        (self.dir / "c.ks").write_text("dim N, City local\ninput city : id[City][N], pay : f64[N]\noutput m = mean(pay, by city in City)\n")
        (self.dir / "c.csv").write_text("city,pay\nOslo,10\nRome,20\nOslo,30\nBern,7\n")
        self.kasen("go", "c.ks", "city=c.csv", "pay=c.csv", "--columns", "city=city", "--columns", "pay=pay", "--words", "city=city", "-o", "c.h5")
        text = self.kasen("show", "c.h5", "m", "--words", "City=city")[0]
        self.assertEqual([line.split() for line in text.splitlines()[2:]], [["Bern", "7"], ["Oslo", "20"], ["Rome", "20"]])

    def test_lists_that_cannot_be_shared_are_refused(self):
        (self.dir / "two.ks").write_text("dim E, N local = 9\ninput links : (id[N], id[N])[E], to : id[N][E]\noutput s = sum(1, by to in N), t = sum(1, by links.0 in N)\n")
        err = self.kasen("go", "two.ks", "links=web.csv", "to=web.csv", "--columns", "to=to", "--words", "links=from,to", "--words", "to=to", status=USAGE)[1]
        self.assertIn("name indices of N by different words", err)
        self.assertIn("declare an input for each column", err)

    def test_rows_of_other_files_are_not_in_the_order_of_words(self):
        """Their order is that of the file; a result of the same words, or a dictionary, says otherwise."""
        (self.dir / "cities.csv").write_text("city,area\nRome,3\nBern,1\nOslo,2\n")
        (self.dir / "c.csv").write_text("city,pay\nOslo,10\nRome,20\nOslo,30\nBern,7\n")
        (self.dir / "m.ks").write_text("dim N, City\ninput city : id[City][N], pay : f64[N]\noutput m = mean(pay, by city in City)\n")
        (self.dir / "t.ks").write_text("dim N, City\ninput city : id[City][N], m : f64[City]\noutput each = take(m, city)\n")
        of = ["city=c.csv", "--columns", "city=city", "--words", "city=city"]
        says = ["the indices of City are words of input 'city', and input 'm' has a row for each"]
        err = self.kasen("go", "t.ks", *of, "m=cities.csv", "--columns", "m=area", status=USAGE)[1]
        for text in [*says, "in the order of their letters", "sum(m, by key in City)", "--dictionary FILE"]:
            self.assertIn(text, err)
        self.kasen("go", "m.ks", *of, "pay=c.csv", "--columns", "pay=pay", "-o", "m.h5")
        self.kasen("go", "t.ks", *of, "m=m.h5:/m", "-o", "t.h5")
        with h5py.File(self.dir / "t.h5") as file:
            self.assertEqual(file["each"][()].tolist(), [20, 20, 20, 7])
        (self.dir / "c.csv").write_text("city,pay\nOslo,10\nRome,20\nOslo,30\n")  # without Bern
        err = self.kasen("go", "t.ks", *of, "m=m.h5:/m", "-o", "t.h5", status=USAGE)[1]
        for text in [*says, "the run that made 'm.h5:/m' had other words", "--dictionary m.dictionary.json"]:
            self.assertIn(text, err)
        self.kasen("go", "t.ks", *of, "m=m.h5:/m", "-o", "t.h5", "--dictionary", "m.dictionary.json")
        with h5py.File(self.dir / "t.h5") as file:
            self.assertEqual(file["each"][()].tolist(), [20, 20, 20])

    def test_words_of_rows_are_no_names_of_indices(self):
        (self.dir / "s.ks").write_text("dim N\ninput name : i64[N], income : f64[N]\noutput tax = 0.2 * income, name\n")
        self.kasen("go", "s.ks", "name=s.csv", "income=s.csv", "--columns", "name=name", "--columns", "income=income", "--words", "name=name", "-o", "s.h5")
        err = self.kasen("show", "s.h5", "tax", "--words", "N=name", status=USAGE)[1]
        self.assertIn("--words N=name: 'name' is over N", err)
        err = self.kasen("show", "s.h5", "--words", "tax=name", status=USAGE)[1]
        self.assertIn("'tax' has elements of type f64", err)
        self.assertIn("Zoe", self.kasen("show", "s.h5", "name", "--words", "name=name")[0].split("\n")[2])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=1)
