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

    def test_elements_that_are_indices_are_shown_as_words(self):
        """On the screen, in every form of JSON, on the page and by kasen show; the program is given no option for it."""
        (self.dir / "i.ks").write_text("dim E, N\ninput from : id[N][E], to : id[N][E]\ndeg = sum(1.0, by from in N)\n"
                                       "output deg, from, pairs = map((a, b) -> (a, b), from, to), best = argmax(deg), place = i64(from)\n")
        of = ["i.ks", "from=web.csv", "to=web.csv", "--columns", "from=from", "--columns", "to=to", "--words", "from=from", "--words", "to=to"]
        links = [link.split(",") for link in LINKS]
        names = sorted({name for link in links for name in link})
        degrees = [sum(a == name for a, _ in links) for name in names]
        wanted = {"deg": [list(row) for row in zip(names, degrees)], "from": [[k, a] for k, (a, _) in enumerate(links)],
                  "pairs": [[k, a, b] for k, (a, b) in enumerate(links)], "best": [[names[degrees.index(max(degrees))]]],
                  "place": [[k, names.index(a)] for k, (a, _) in enumerate(links)]}
        for workers in ([], ["--workers", 2]):
            out = self.kasen("go", *of, "-o", "i.h5", "--force", *workers)[0]
            self.assertIn(f"best = {wanted['best'][0][0]}\n", out)
            self.assertRegex(out, r"\n +0 +home +about\n")
            self.assertRegex((self.dir / "i.run" / "report.html").read_text(), r"home</td>\s*<td[^>]*>about</td>")
            shown = {array["name"]: array["rows"] for array in self.shown("i.h5")["arrays"]}
            self.assertEqual(shown, wanted)
            for options in ([], ["--top", 3]):
                run = json.loads(self.kasen("go", *of, "-o", "i.h5", "--force", "--show", 20, "--format", "json", *options, *workers)[0])["run"]
                made = {array["name"]: array["rows"] for array in run["results"]}
                top = sorted(wanted["deg"], key=lambda row: -row[1])[:3] if options else wanted["deg"]
                self.assertEqual([row[1] for row in made["deg"]], [row[1] for row in top])
                self.assertTrue(all(row in wanted["deg"] for row in made["deg"]), made["deg"])
                self.assertEqual(made["pairs"], wanted["pairs"])
        self.kasen("go", *of, "-o", "i.csv", "--force")  # the file keeps the codes: another program reads them
        self.assertEqual((self.dir / "i-from.csv").read_text().splitlines()[1], f"0,{names.index('home')}")
        dictionary = self.dir / "i.dictionary.json"
        dictionary.write_text(dictionary.read_text().replace('"best": "N"', '"best": 3'))
        self.assertIn("its dimensions of elements are no texts", self.kasen("show", "i.h5", status=65)[1])

    def test_words_give_a_dimension_its_size(self):
        (self.dir / "c.ks").write_text("dim N, City local\ninput city : id[City][N], pay : f64[N]\noutput m = mean(pay, by city in City)\n")
        (self.dir / "c.csv").write_text("city,pay\nOslo,10\nRome,20\nOslo,30\nBern,7\n")
        self.kasen("go", "c.ks", "city=c.csv", "pay=c.csv", "--columns", "city=city", "--columns", "pay=pay", "--words", "city=city", "-o", "c.h5")
        text = self.kasen("show", "c.h5", "m", "--words", "City=city")[0]
        self.assertEqual([line.split() for line in text.splitlines()[2:]], [["Bern", "7"], ["Oslo", "20"], ["Rome", "20"]])

    def test_a_dimension_by_another_name_has_its_words(self):
        """One list for both, though one column lacks a word; a slice has the words of its indices, in every form of results."""
        (self.dir / "c.csv").write_text("was,said\ncat,dog\ndog,dog\nape,dog\ncat,cat\n")
        (self.dir / "c.ks").write_text("dim N, K local, T local = K[:], Later local = K[1:]\ninput was : id[K][N], said : id[T][N]\n"
                                       "A = [n in N, k in K: if was[n] == k then 1.0 else 0.0]\n"
                                       "B = [n in N, t in T: if said[n] == t then 1.0 else 0.0]\n"
                                       "output C = B' @ A, later = [k in Later: sum(n in N: A[n, k])]\n")
        columns = [word for name in ("was", "said") for word in (f"{name}=c.csv", "--columns", f"{name}={name}", "--words", f"{name}={name}")]
        told = self.kasen("go", "c.ks", *columns, "-o", "c.h5")[0]
        for text in (told, self.kasen("show", "c.h5")[0]):
            lines = [line.split() for line in text.splitlines()]
            for line in (["T\\K", "ape", "cat", "dog"], ["ape", "0", "0", "0"], ["cat", "0", "1", "0"], ["dog", "1", "1", "1"], ["cat", "2"]):
                self.assertIn(line, lines)
        made = {array["name"]: array for array in self.shown("c.h5")["arrays"]}
        self.assertEqual(made["C"]["rows"][-2:], [["dog", "cat", 1], ["dog", "dog", 1]])
        self.assertEqual([row[0] for row in made["later"]["rows"]], ["cat", "dog"])
        page = (self.dir / "c.run/report.html").read_text()
        results = page[page.index('<section id="results"'):page.index('<section id="program"')]
        for word in ("ape", "cat", "dog"):
            self.assertIn(f">{word}<", results)

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


class Vertices(ToolTest):
    """Rows and columns of sparse matrices that are words."""

    PAGERANK = """dim N
input G : null[N, N]
param r = 0.85
deg = G @ fill(1.0, N)
pr : f64[N] = 1
for i in 0..60 { pr = (1 - r) + r * (G' @ (pr / (if deg > 0 then deg else 1))) }
output pr
"""

    def setUp(self):
        super().setUp()
        (self.dir / "web.csv").write_text("from,to\n" + "\n".join(LINKS) + "\n")
        (self.dir / "g.ks").write_text(self.PAGERANK)

    def rows(self, *options):
        return json.loads(self.kasen("show", *options, "--format", "json")[0])["arrays"][0]["rows"]

    def test_a_graph_of_words(self):
        (self.dir / "web.tsv").write_text("".join(link.replace(",", "\t") + "\n" for link in LINKS))
        (self.dir / "wide.csv").write_text("when,to,from\n" + "".join("1,{1},{0}\n".format(*link.split(",")) for link in LINKS))
        for data, columns in [("web.csv", "from,to"), ("web.tsv", None), ("wide.csv", "from,to")]:
            choice = ["--columns", f"G={columns}"] if columns else []
            for workers in (1, 3):
                self.kasen("go", "g.ks", f"G={data}", *choice, "--words", f"G={columns or '1,2'}", "-o", "r.h5", "--workers", workers)
                made = dict(self.rows("r.h5", "pr", "--head", 20))
                self.assertEqual(set(made), set(ranks()), data)
                for name, value in ranks().items():
                    self.assertAlmostEqual(made[name], value, 3)
        self.assertIn("home", self.kasen("show", "r.h5", "pr", "--top", 1)[0])

    def test_users_and_films(self):
        stars = [("Zoe", "Up", 5), ("Ann", "Up", 2), ("Zoe", "Alien", 1), ("Bob", "Jaws", 4)]
        (self.dir / "s.csv").write_text("user,film,stars\n" + "".join(f"{u},{f},{s}\n" for u, f, s in stars))
        (self.dir / "s.ks").write_text("dim U, F\ninput X : f64[U, F]\noutput of_user = sum(X, over F), of_film = sum(X, over U)\n")
        self.kasen("go", "s.ks", "X=s.csv", "--columns", "X=user,film,stars", "--words", "X=user,film", "-o", "s.h5", "--workers", 2)
        self.assertEqual(self.rows("s.h5", "of_user"), [["Ann", 2], ["Bob", 4], ["Zoe", 6]])
        self.assertEqual(self.rows("s.h5", "of_film"), [["Alien", 1], ["Jaws", 4], ["Up", 7]])
        (self.dir / "n.csv").write_text("user,film,stars\n" + "".join(f"{u},{i + 3},{s}\n" for i, (u, _, s) in enumerate(stars)))
        self.kasen("go", "s.ks", "X=n.csv", "--columns", "X=user,film,stars", "--words", "X=user", "-o", "n.h5")
        self.assertEqual(self.rows("n.h5", "of_film"), [[3, 5], [4, 2], [5, 1], [6, 4]])
        with open(self.dir / "s.csv", "a") as file:
            file.write("Ann,Up,3\n")
        of = ["go", "s.ks", "X=s.csv", "--columns", "X=user,film,stars", "--words", "X=user,film", "-o", "s.h5"]
        err = self.kasen(*of, status=65)[1]
        for text in ["rows 2 and 5 are one entry", "--repeats sum"]:
            self.assertIn(text, err)
        self.kasen(*of, "--repeats", "sum")
        self.assertEqual(self.rows("s.h5", "of_user"), [["Ann", 5], ["Bob", 4], ["Zoe", 6]])

    def test_several_inputs_share_the_words(self):
        (self.dir / "two.ks").write_text("dim N\ninput G : null[N, N], H : f64[N, N]\nb = H @ fill(1.0, N)\n"
                                         "output a = G @ fill(1.0, N), b, c = G @ b\n")
        (self.dir / "h.csv").write_text("x,y,w\nhome,zebra,2\nape,home,3\n")
        of = ["two.ks", "G=web.csv", "--columns", "G=from,to", "--words", "G=from,to", "-o", "r.h5"]
        self.kasen("go", *of, "H=h.csv", "--columns", "H=x,y,w", "--words", "H=x,y", "--workers", 2)
        links = [link.split(",") for link in LINKS]
        names = sorted({n for link in links for n in link} | {"zebra", "ape"})
        weights = {"home": 2, "ape": 3}
        wanted = {"a": {n: sum(f == n for f, _ in links) for n in names}, "b": weights,
                  "c": {n: sum(weights.get(t, 0) for f, t in links if f == n) for n in names}}
        for name, values in wanted.items():
            self.assertEqual(dict(self.rows("r.h5", name, "--head", 99)), {n: values.get(n, 0) for n in names}, name)
        (self.dir / "h.txt").write_text("0 1 2\n1 2 3\n")
        err = self.kasen("go", *of, "H=h.txt", status=USAGE)[1]
        for text in ["the indices of N are words of input 'G', and numbers in input 'H'", "--words H=COLUMNS"]:
            self.assertIn(text, err)

    def test_a_param_is_a_word(self):
        (self.dir / "p.ks").write_text("dim N\ninput G : null[N, N]\nparam from : id[N] = 0\n"
                                       "output next = (f64(G)' @ f64(index(N) == from)) > 0\n")
        of = ["go", "p.ks", "G=web.csv", "--columns", "G=from,to", "--words", "G=from,to", "-o", "r.h5"]
        self.kasen(*of, "--param", "from=shop", "--workers", 2)
        self.assertEqual([name for name, value in self.rows("r.h5", "next") if value], ["blog", "home"])
        self.assertIn("did you mean 'shop'?", self.kasen(*of, "--param", "from=shopp", status=USAGE)[1])
        self.assertIn("--param from=shop", self.kasen(*of, "-D", "from=shop", status=USAGE)[1])

    def test_a_dictionary_keeps_the_codes(self):
        of = ["go", "g.ks", "--columns", "G=from,to", "--words", "G=from,to"]
        self.kasen(*of, "G=web.csv", "-o", "r.h5")
        (self.dir / "less.csv").write_text("from,to\nshop,blog\nblog,shop\n")
        self.kasen(*of, "G=less.csv", "-o", "less.h5", "--dictionary", "r.dictionary.json", "--workers", 2)
        made = dict(self.rows("less.h5", "pr", "--head", 20))
        self.assertEqual(set(made), set(ranks()))
        self.assertAlmostEqual(made["shop"], 1, 3)
        self.assertAlmostEqual(made["home"], 0.15, 9)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=1)
