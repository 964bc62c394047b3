"""Axes that count places in an order: sorted arrays, eigenvalues. The words, names and ids of the dimension do not hold there,
on the screen, in files and on the page, in loops, over workers, and where a result is read again.

Usage: places_test.py TOOLS SOURCE_ROOT [unittest arguments]
"""
import json
import sys
import unittest

sys.dont_write_bytecode = True  # the source tree stays as it is
import numpy as np  # noqa: E402
from tools_test import ToolTest  # noqa: E402

ORDERS = """dim N, M, Three = M[0:3]
input customer : id[M][N]
input s : f64[N]
total = sum(s, by customer in M)
best = topk(total, over M, Three)
last = sort(total)
for i in 0..2 { last = last + 1.0 }
output total, best, who = argtopk(total, over M, Three), at = rank(total), last, first = take(total, argsort(total), over M)
"""
SALES = "customer,sum\nAnn,5.5\nBob,1\nCem,9\nAnn,2\nEve,3\n"


class Places(ToolTest):
    def setUp(self):
        super().setUp()
        (self.dir / "sales.csv").write_text(SALES)
        (self.dir / "orders.ks").write_text(ORDERS)

    def go(self, *options):
        return self.kasen("go", "orders.ks", "customer=sales.csv", "s=sales.csv", "--columns", "s=sum", "--columns", "customer=customer", "--words",
                          "customer=1", *options)[0]

    def shown(self, path):
        return {array["name"]: array for array in json.loads(self.kasen("show", path, "--format", "json")[0])["arrays"]}

    def test_words_are_those_of_elements_alone(self):
        for workers in ([], ["--workers", "2"], ["--workers", "2", "-n", "2"]):
            told = self.go("-o", "r.h5", *workers)
            lines = [line.split() for line in told.splitlines()]
            for line in (["Ann", "7.5"], ["Three_place", "best"], ["0", "9"], ["1", "7.5"], ["0", "Cem"], ["Cem", "3"], ["M_place", "last"],
                         ["0", "3"]):
                self.assertIn(line, lines)
            arrays = self.shown("r.h5")
            self.assertEqual(arrays["total"]["rows"], [["Ann", 7.5], ["Bob", 1], ["Cem", 9], ["Eve", 3]])
            self.assertEqual(arrays["best"]["rows"], [[0, 9], [1, 7.5], [2, 3]])
            self.assertEqual(arrays["who"]["rows"], [[0, "Cem"], [1, "Ann"], [2, "Eve"]])
            self.assertEqual(arrays["at"]["rows"], [["Ann", 2], ["Bob", 0], ["Cem", 3], ["Eve", 1]])
            self.assertEqual(arrays["last"]["rows"], [[0, 3], [1, 5], [2, 9.5], [3, 11]])
            self.assertEqual(arrays["first"]["rows"], [[0, 1], [1, 3], [2, 7.5], [3, 9]])

    def test_csv_and_pages_have_places(self):
        self.go("-o", "r.csv")
        self.assertEqual((self.dir / "r-best.csv").read_text(), "Three_place,best\n0,9\n1,7.5\n2,3\n")
        self.assertTrue((self.dir / "r.csv").read_text().startswith("M,total\n"))
        page = (self.dir / "orders.run/report.html").read_text()
        results = page[page.index('<section id="results"'):page.index('<section id="program"')]
        self.assertIn("M_place", results)

    def test_eigenvectors_have_names_of_rows(self):
        table = np.random.default_rng(3).normal(size=(40, 3))
        (self.dir / "z.csv").write_text("a,b,c\n" + "\n".join(",".join(map(str, row)) for row in table) + "\n")
        (self.dir / "e.ks").write_text("dim N, F local, C local = size(F)\ninput Z : f64[N, F]\nw, V = eigh(cov(Z))\n"
                                       "output w, V, y = w as [C], back = V @ w, m = mean(Z, over N)\n")
        self.kasen("go", "e.ks", "z.csv", "-o", "e.h5")
        arrays = self.shown("e.h5")
        for name, rows in (("w", [0, 1, 2]), ("y", [0, 1, 2]), ("back", ["a", "b", "c"]), ("m", ["a", "b", "c"])):
            self.assertEqual([row[0] for row in arrays[name]["rows"]], rows, name)
        self.assertEqual([row[:2] for row in arrays["V"]["rows"]], [[a, k] for a in "abc" for k in range(3)])
        w, V = np.linalg.eigh(np.cov(table.T, bias=True))
        ratio = [row[1] for row in arrays["w"]["rows"]] / w
        np.testing.assert_allclose(ratio, ratio[0], rtol=1e-9)

    def test_a_result_that_is_read_again_has_no_names_of_places(self):
        self.go("-o", "r.h5")
        (self.dir / "again.ks").write_text("dim M local\ninput last : f64[M]\ninput total : f64[M]\noutput a = last + 1, b = total + 1\n")
        self.kasen("go", "again.ks", "last=r.h5:/last", "total=r.h5:/total", "-o", "a.h5")
        self.assertEqual([row[0] for row in self.shown("a.h5")["b"]["rows"]], ["Ann", "Bob", "Cem", "Eve"])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=1)
