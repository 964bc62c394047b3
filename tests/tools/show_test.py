#!/usr/bin/env python3
"""Results on the screen: what `kasen run` and `kasen go` print of them, and `kasen show`, beside NumPy on the same data.

Usage: show_test.py FOLDER_OF_TOOLS SOURCE_ROOT [unittest arguments]
"""
import csv
import io
import json
import os
import pathlib
import pty
import subprocess
import sys
import unittest

import h5py
import numpy as np

sys.dont_write_bytecode = True  # the source tree stays as it is
from folders import ClassFolderTest  # noqa: E402

TOOLS = pathlib.Path(sys.argv[1])
ROOT = pathlib.Path(sys.argv[2])
USAGE, BAD, MISSING, CREATE = 64, 65, 66, 73
ROWS, FEATURES = 30, 3
PROGRAM = """dim N
dim K local = 3
dim C local = 2
input X : f64[N, K]
input G : f64[N, N]
ones : f64[K] = 1
gram = X' @ X
total = sum(X)
row = X @ ones
H = G * 2
w : f64[K, C] = 1.5
count = sum(i64(row > 0))
many = row > 0
output gram, total, row, H, w, X, count, many
"""


def table_rows(text, head):
    """The rows below the line that begins with `head`, as texts."""
    lines = text.splitlines()
    at = next(k for k, line in enumerate(lines) if line.startswith(head))
    rows = []
    for line in lines[at + 1:]:
        if not line.startswith("  "):
            break
        rows.append(line.split())
    return lines[at], rows[0], rows[1:]


class ShowTest(ClassFolderTest):
    def kasen(self, *args, status=0, **env):
        done = subprocess.run([TOOLS / "kasen", *map(str, args)], cwd=self.dir, capture_output=True, text=True, timeout=300, check=False,
                              env={**os.environ, **env})
        self.assertEqual(done.returncode, status, f"{args}: {done.stdout}{done.stderr}")
        return done.stdout, done.stderr

    def on_terminal(self, columns, *args):
        """Standard output of a command whose standard output is a terminal of so many columns."""
        ours, theirs = pty.openpty()
        with subprocess.Popen([TOOLS / "kasen", *map(str, args)], cwd=self.dir, stdin=subprocess.DEVNULL, stdout=theirs, stderr=subprocess.DEVNULL,
                              env={**os.environ, "COLUMNS": str(columns)}) as process:
            os.close(theirs)
            text = b""
            try:
                while piece := os.read(ours, 4096):
                    text += piece
            except OSError:  # the other end is closed
                pass
            process.wait(timeout=100)
        os.close(ours)
        self.assertEqual(process.returncode, 0)
        return text.decode().replace("\r\n", "\n")


class Shown(ShowTest):
    """The same outputs as HDF5, .npy and CSV."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        rng = np.random.default_rng(7)
        cls.x = rng.normal(size=(ROWS, FEATURES))
        cls.x[4, 1] = np.nan
        np.savetxt(cls.dir / "x.csv", cls.x, delimiter=",", fmt="%.17g")
        entries = {(k % ROWS, (7 * k) % ROWS if k < ROWS else (11 * k + 1) % ROWS): k + .5 for k in range(40)}
        cls.entries = entries
        (cls.dir / "g.txt").write_text("".join(f"{r} {c} {v}\n" for (r, c), v in entries.items()))
        (cls.dir / "p.ks").write_text(PROGRAM)
        cls.out = {}
        for ending in ["h5", "npy", "csv"]:
            done = subprocess.run([TOOLS / "kasen", "go", "p.ks", "X=x.csv", "G=g.txt", "--workers", "2", "--no-report", "-o", f"r.{ending}"],
                                  cwd=cls.dir, capture_output=True, text=True, timeout=300, check=True)
            cls.out[ending] = done.stdout

    def expected(self):
        row = self.x @ np.ones(FEATURES)
        return {"gram": self.x.T @ self.x, "total": self.x.sum(), "row": row, "w": np.full((3, 2), 1.5), "X": self.x, "count": (row > 0).sum(),
                "many": row > 0}

    def test_go_prints_scalars_small_arrays_and_first_rows(self):
        out, expected = self.out["h5"], self.expected()
        self.assertIn("total = nan\n", out)
        self.assertIn(f"count = {expected['count']}", out)
        for name in ["gram", "w"]:
            _, _, rows = table_rows(out, f"{name} (K = 3, ")
            np.testing.assert_allclose([[float(c) for c in row[1:]] for row in rows], expected[name], rtol=1e-5, equal_nan=True)
        head, names, rows = table_rows(out, "row (N = 30)")
        self.assertEqual(head, "row (N = 30), the first 10 of 30 rows:")
        self.assertEqual(names, ["N", "row"])
        np.testing.assert_allclose([float(r[1]) for r in rows], expected["row"][:10], rtol=1e-5, equal_nan=True)
        self.assertEqual(rows[4], ["4", "nan"])
        _, _, rows = table_rows(out, "many (N = 30)")
        self.assertEqual([r[1] for r in rows], [str(bool(v)).lower() for v in expected["many"][:10]])
        head, names, rows = table_rows(out, "H (N = 30, N = 30)")
        self.assertEqual((head, names), ("H (N = 30, N = 30), the first 10 of 40 nonzeros:", ["N", "N", "H"]))
        self.assertEqual([(int(r), int(c), float(v)) for r, c, v in rows], [(r, c, 2 * v) for (r, c), v in sorted(self.entries.items())][:10])

    def test_outputs_stand_in_the_order_of_the_program(self):
        places = [self.out["h5"].index(f"\n{name} ") for name in ["total", "row", "H", "w", "X", "count", "many"]]
        self.assertEqual(places, sorted(places))
        self.assertTrue(self.out["h5"].startswith("gram "))

    def test_every_format_prints_the_same_numbers(self):
        for ending in ["npy", "csv"]:
            for name in ["row", "many"]:
                here, there = (table_rows(self.kasen("show", f"r.{e}", name)[0], name)[2] for e in [ending, "h5"])
                self.assertEqual(here, there, f"{ending} {name}")
            self.assertIn("total = nan\n", self.out[ending])

    def test_rows_are_chosen(self):
        for given, rows in [(("--show", 3), 3), (("--show", 15), 30), (("--show", 0), None), (("-q",), None)]:
            out, _ = self.kasen("go", "p.ks", "X=x.csv", "G=g.txt", "--workers", 2, "--no-report", "-o", "r.h5", *given)
            if rows is None:
                self.assertNotIn("row (N", out)
                self.assertEqual(out == "", given == ("-q",), out)
                continue
            self.assertEqual(len(table_rows(out, "row (N = 30)")[2]), rows)
        out, _ = self.kasen("go", "p.ks", "X=x.csv", "G=g.txt", "--workers", 2, "--no-report", "-o", "r.h5", "--top", 2)
        self.assertNotIn("row (N", out)  # its largest stand there
        self.assertIn("w (K", out)

    def test_ranks_print_as_one_process_does(self):
        args = ["run", "p.run/fused.kir", "--bundle", "p.run/bundle"]
        alone, _ = self.kasen(*args, "-o", "alone.h5")
        two, _ = self.kasen(*args, "-o", "two.h5", "-n", 2)
        cut = "2 workers on"
        self.assertEqual(alone[:alone.index(cut)], two[:two.index(cut)])

    def test_show_reads_every_format(self):
        expected = self.expected()
        for ending in ["h5", "npy", "csv"]:
            names = {"gram": "r"} if ending == "npy" else {}
            for name in ["row", "gram", "X", "w"]:
                rows = json.loads(self.kasen("show", f"r.{ending}", names.get(name, name), "--format", "json")[0])["arrays"][0]["rows"]
                values = np.array([float(r[-1]) for r in rows]).reshape(expected[name].shape)
                np.testing.assert_array_equal(values, self.stored(name), f"{ending} {name}")
                np.testing.assert_allclose(values, expected[name], rtol=1e-12, equal_nan=True)
                shape = expected[name].shape
                self.assertEqual([tuple(r[:-1]) for r in rows], list(np.ndindex(*shape)))
                lines = list(csv.reader(io.StringIO(self.kasen("show", f"r.{ending}", names.get(name, name), "--format", "csv")[0])))
                np.testing.assert_array_equal([float(line[-1]) for line in lines[1:]], values.ravel())

    def test_a_table_without_names_loses_no_row(self):
        (self.dir / "t.csv").write_text("1.5,2\n3,-4\n5,6e2\n")
        text = self.kasen("show", "t.csv")[0]
        self.assertEqual([line.split() for line in text.splitlines()[1:]], [["t[0]", "t[1]"], ["1.5", "2"], ["3", "-4"], ["5", "600"]])
        (self.dir / "v.csv").write_text("7\n")
        self.assertEqual(json.loads(self.kasen("show", "v.csv", "v", "--format", "json")[0])["arrays"][0]["rows"], [[7]])

    def stored(self, name):
        with h5py.File(self.dir / "r.h5") as file:
            return file[name][()]

    def test_csv_of_show_is_that_of_run(self):
        for name, file in [("row", "r-row.csv"), ("gram", "r.csv"), ("H", "r-H.csv"), ("many", "r-many.csv")]:
            self.assertEqual(self.kasen("show", "r.h5", name, "--format", "csv")[0], (self.dir / file).read_text(), name)

    def test_largest(self):
        row = self.expected()["row"]
        order = sorted((-v, k) for k, v in enumerate(row) if not np.isnan(v))
        for ending in ["h5", "npy", "csv"]:
            rows = json.loads(self.kasen("show", f"r.{ending}", "row", "--top", 5, "--format", "json")[0])["arrays"][0]["rows"]
            self.assertEqual([r[0] for r in rows], [k for _, k in order[:5]])
            last = json.loads(self.kasen("show", f"r.{ending}", "row", "--top", 1000, "--format", "json")[0])["arrays"][0]["rows"][-1]
            self.assertEqual(last, [4, "nan"])
        _, _, rows = table_rows(self.kasen("show", "r.h5", "row", "--top", 2)[0], "row (N = 30), the largest 2 of 30:")
        self.assertEqual([int(r[0]) for r in rows], [k for _, k in order[:2]])

    def test_nan_is_counted(self):
        self.assertIn("row (N = 30), the first 10 of 30 rows, 1 NaN:", self.kasen("show", "r.h5", "row")[0])
        self.assertIn("gram (K = 3, K = 3), 5 NaN:", self.kasen("show", "r.h5", "gram")[0])

    def test_digits(self):
        exact = self.expected()["row"][0]
        self.assertEqual(table_rows(self.kasen("show", "r.h5", "row", "--digits", 3)[0], "row")[2][0][1], f"{exact:.3g}")
        self.assertEqual(float(table_rows(self.kasen("show", "r.h5", "row", "--digits", 0)[0], "row")[2][0][1]), self.stored("row")[0])

    def test_a_folder_of_go_is_its_result(self):
        self.kasen("go", "p.ks", "X=x.csv", "G=g.txt", "--no-report", "--dir", "d")
        self.assertEqual(self.kasen("show", "d", "gram")[0], self.kasen("show", "d/result.h5", "gram")[0])

    def test_wrong_uses(self):
        for args, status, told in [(("r.h5", "rwo"), USAGE, "did you mean 'row'?"), (("r.h5", "rwo"), USAGE, "'gram', 'many', 'row', 'total'"),
                                   (("none.h5",), MISSING, "none.h5"), (("p.ks",), BAD, "is not a result of kasen run"),
                                   (("r.h5", "--format", "csv"), USAGE, "name one of"), (("r.h5", "--top", 1, "--head", 1), USAGE, "--top and --head"),
                                   (("r.h5", "--top", 0), USAGE, "--top 0"), ((), USAGE, "no result"), (("r.h5", "--format", "xml"), USAGE, "does not know 'xml'"),
                                   (("x.npy",), BAD, "cut off"), (("y.csv", "--format", "csv"), BAD, "line 3 has 1 cells")]:
            (self.dir / "x.npy").write_bytes((self.dir / "r.npy").read_bytes()[:-8])
            (self.dir / "y.csv").write_text("N,pr\n0,1\n7\n")
            _, err = self.kasen("show", *args, status=status)
            self.assertIn(told, err, args)

    def test_damaged_files_are_refused_or_read(self):
        rng = np.random.default_rng(11)
        (self.dir / "s.ks").write_text("dim N\ninput G : f64[N, N]\nH = G * 3\noutput H\n")
        for ending in ["npz", "mtx"]:
            self.kasen("go", "s.ks", "G=g.txt", "--no-report", "-q", "-o", f"s.{ending}")
        for name in ["r.h5", "r.npy", "r.csv", "s.npz", "s.mtx"]:
            whole = (self.dir / name).read_bytes()
            damaged = self.dir / f"damaged.{name.split('.')[1]}"
            for turn in range(25):
                data = bytearray(whole)
                if turn % 5 == 0:
                    del data[int(rng.integers(len(data))):]
                for _ in range(1 + turn % 4):
                    if data:
                        data[int(rng.integers(min(len(data), 400 if turn % 2 else len(data))))] = int(rng.integers(256))
                damaged.write_bytes(data)
                done = subprocess.run([TOOLS / "kasen", "show", damaged, "--format", "json"], capture_output=True, timeout=100, check=False)
                self.assertIn(done.returncode, [0, BAD, 69], f"{name} {turn}: {done.stderr}")

    def test_a_table_fits_the_terminal_and_a_pipe_gets_all(self):
        np.savetxt(self.dir / "wide.csv", np.arange(40.0).reshape(4, 10) * 1234.5, delimiter=",")
        (self.dir / "wide.ks").write_text("dim N\ndim K local = 10\ninput X : f64[N, K]\noutput X\n")
        self.kasen("go", "wide.ks", "X=wide.csv", "--no-report")
        for columns in [40, 60, 200]:
            lines = self.on_terminal(columns, "show", "wide.run").splitlines()
            self.assertLessEqual(max(map(len, lines)), columns)
            self.assertEqual(any(line.endswith("...") for line in lines), columns < 100, lines)
        self.assertNotIn("...", self.kasen("show", "wide.run", COLUMNS="40")[0])
        lines = self.on_terminal(50, "measure", "wide.run/fused.kir", "--bundle", "wide.run/bundle").splitlines()
        self.assertLessEqual(max(map(len, lines)), 50)


class Ids(ShowTest):
    """Relabelled ids, words, and sparse matrices in their own formats."""

    def test_ids_are_the_users(self):
        (self.dir / "ids.ks").write_text("dim N\ninput G : null[N, N]\none : f64[N] = 1\ndegree = G @ one\noutput degree\n")
        edges = [(1000, 7), (1000, 52), (7, 1000), (52, 9000000000), (7, 52), (7, 7)]
        (self.dir / "ids.txt").write_text("".join(f"{a} {b}\n" for a, b in edges))
        ids = sorted({i for e in edges for i in e})
        degree = {i: float(sum(a == i for a, _ in edges)) for i in ids}
        for ending in ["h5", "csv", "npy"]:
            out, _ = self.kasen("go", "ids.ks", "G=ids.txt", "--workers", 2, "--no-report", "-o", f"ids.{ending}")
            self.assertEqual(table_rows(out, "degree")[2], [[str(i), f"{degree[i]:g}"] for i in ids], ending)
            rows = json.loads(self.kasen("show", f"ids.{ending}", "--format", "json")[0])["arrays"][0]["rows"]
            self.assertEqual(rows, [[i, degree[i]] for i in ids], ending)

    def test_words(self):
        (self.dir / "words.ks").write_text("dim N\ndim F local = 2\ninput X : i32[N, F]\ncode = sum(X, over F)\noutput code\n")
        words = ["tcp", "udp", "icmp", "tcp", "icmp"]
        (self.dir / "words.csv").write_text("protocol,count\n" + "".join(f"{w},0\n" for w in words))
        self.kasen("go", "words.ks", "X=words.csv", "--words", "X=protocol", "--no-report", "-o", "w.h5")
        self.assertEqual([r[1] for r in table_rows(self.kasen("show", "w.h5", "--words", "code=X.protocol")[0], "code")[2]], words)
        rows = json.loads(self.kasen("show", "w.h5", "code", "--words", "code=X", "--format", "json")[0])["arrays"][0]["rows"]
        self.assertEqual([r[1] for r in rows], words)
        self.assertIn("it has X.protocol", self.kasen("show", "w.h5", "--words", "code=X.protocl", status=USAGE)[1])
        self.assertIn("did you mean 'code'?", self.kasen("show", "w.h5", "--words", "cod=X", status=USAGE)[1])

    def test_sparse_formats(self):
        (self.dir / "s.ks").write_text("dim N\ninput G : f64[N, N]\nH = G * 3\noutput H\n")
        (self.dir / "s.mtx").write_text("%%MatrixMarket matrix coordinate real general\n4 4 3\n1 2 1.5\n4 1 -2\n2 2 0.25\n")
        expected = [[0, 1, 4.5], [1, 1, 0.75], [3, 0, -6.0]]
        for ending in ["h5", "npz", "mtx", "csv"]:
            out, _ = self.kasen("go", "s.ks", "G=s.mtx", "--no-report", "-o", f"s-out.{ending}")
            self.assertIn("H", out.splitlines()[0])
            rows = json.loads(self.kasen("show", f"s-out.{ending}", "--format", "json")[0])["arrays"][0]["rows"]
            self.assertEqual(rows, expected, ending)
            self.assertEqual([[float(c) for c in r] for r in table_rows(out, "H")[2]], expected, ending)


class Brief(ShowTest):
    """What go and measure tell, and less or more of it."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        (cls.dir / "g.txt").write_text("0 1\n1 2\n2 0\n2 1\n")
        done = subprocess.run([TOOLS / "kasen", "go", ROOT / "examples/pagerank.ks", "G=g.txt", "--workers", "2"], cwd=cls.dir, capture_output=True,
                              text=True, timeout=300, check=True)
        cls.out, cls.err = done.stdout, done.stderr

    def test_titles_alone_say_so(self):
        names = "abcdefghij"
        (self.dir / "many.ks").write_text("dim N\ninput x : f64[N]\n" + "".join(f"{n} = x + {k}\n" for k, n in enumerate(names)) + f"output {', '.join(names)}\n")
        (self.dir / "x.txt").write_text("".join(f"{k}\n" for k in range(50)))
        out = self.kasen("go", "many.ks", "x=x.txt", "--dir", "many")[0]
        self.assertRegex(out, r"\nj \(N = 50\)\n\d titles alone, beyond a screen; kasen show RESULT NAME prints one\n")

    def test_go_ends_in_one_line_of_agreement(self):
        self.assertEqual(self.out.splitlines()[-1], "Predicted and counted agree to the byte.")
        self.assertNotIn("equal", self.out)
        whole, _ = self.kasen("go", ROOT / "examples/pagerank.ks", "G=g.txt", "--workers", 2, "-v")
        self.assertIn("equal\n", whole)
        self.assertEqual(whole.splitlines()[-1], self.out.splitlines()[-1])

    def test_rows_that_differ_stand_there(self):
        run = json.loads((self.dir / "pagerank.run/run.json").read_text())
        run["operators"][0]["written_bytes"] += 8
        (self.dir / "wrong.json").write_text(json.dumps(run))
        args = ["measure", "pagerank.run/fused.kir", "--bundle", "pagerank.run/bundle", "--against", "wrong.json", "--check"]
        whole, brief = self.kasen(*args, status=1)[0], self.kasen(*args, "--differences", status=1)[0]
        self.assertIn("equal\n", whole)
        self.assertNotIn("equal\n", brief)
        self.assertRegex(brief, r"bytes written +[0-9,]+ +[0-9,]+ +DIFFERENT")

    def test_measure_has_the_model_on_demand(self):
        args = ["measure", "pagerank.run/fused.kir", "--bundle", "pagerank.run/bundle"]
        brief, both = self.kasen(*args)[0], self.kasen(*args, "--model")[0]
        self.assertNotIn("Model (", brief)
        self.assertLess(both.index("Actual ("), both.index("Model ("))
        self.assertTrue(set(brief.splitlines()) <= set(both.splitlines()))
        pair = ["measure", "pagerank.run/unfused.kir", "--compare", "pagerank.run/fused.kir"]
        self.assertNotIn("Model (", self.kasen(*pair)[0])
        self.assertIn("Model (", self.kasen(*pair, "--model")[0])

    def test_quiet_tools_tell_nothing(self):
        (self.dir / "b.csv").write_text("id,lower,upper,size\na,0,2,4\nb,1,3,4\n")
        commands = [["plan", ROOT / "examples/pagerank.ks", "-o", "q.kir"],
                    ["partition", "--program", "q.kir", "G=g.txt", "--workers", 2, "--replace", "-o", "q.bundle"],
                    ["fuse", "q.kir", "--sync", "auto", "-o", "qf.kir"],
                    ["run", "qf.kir", "--bundle", "q.bundle", "-o", "q.h5", "--top", 3],
                    ["run", "qf.kir", "--bundle", "q.bundle", "-o", "q.h5", "--verify", "all", "-n", 2],
                    ["go", ROOT / "examples/pagerank.ks", "G=g.txt", "--workers", 2],
                    ["verify", "q.kir", "q.bundle"], ["pack", "b.csv", "-o", "packed.csv"],
                    ["generate", "star", "--scale", 4, "-o", "star.npy"]]
        for command in commands:
            for option in ["-q", "--quiet"]:
                self.assertEqual(self.kasen(*command, option), ("", ""), command)
            self.assertIn("leave out one of them", self.kasen(*command, "-q", "-v", status=USAGE)[1], command)

    def test_verbose_tools_tell_files_and_time(self):
        _, err = self.kasen("plan", ROOT / "examples/pagerank.ks", "-o", "v.kir", "-v")
        source, made = ROOT / "examples/pagerank.ks", self.dir / "v.kir"
        self.assertRegex(err, rf"^kasen-plan: read {source} \({source.stat().st_size} bytes\); wrote v.kir \({made.stat().st_size} bytes\); \d+\.\d\d\d s\n$")
        self.assertEqual(self.kasen("plan", ROOT / "examples/pagerank.ks", "-o", "v.kir")[1], "")
        _, err = self.kasen("go", ROOT / "examples/pagerank.ks", "G=g.txt", "--workers", 2, "-v")
        for tool in ["kasen-fuse", "kasen-run", "kasen-measure", "kasen go"]:
            self.assertRegex(err, rf"(?m)^{tool}: .*\d s$")

    def test_quiet_shows_what_is_asked_for(self):
        self.assertIn("Actual (", self.kasen("measure", "pagerank.run/fused.kir", "-q")[0])
        self.assertIn("pr (N = 3)", self.kasen("show", "pagerank.run", "-q")[0])


class Page(ShowTest):
    """The report page begins with the results."""

    def test_table_plot_and_histogram(self):
        rng = np.random.default_rng(3)
        x = rng.normal(size=(500, 2))
        x[7, 0] = np.nan
        np.savetxt(self.dir / "x.csv", x, delimiter=",", fmt="%.17g")
        (self.dir / "p.ks").write_text("dim N\ndim K local = 2\ninput X : f64[N, K]\nones : f64[K] = 1\nr = X @ ones\nw : f64[K] = 2.5\n"
                                       "many = sum(w)\noutput r, w, many\n")
        for ending in ["h5", "csv", "npy"]:
            self.kasen("go", "p.ks", "X=x.csv", "-o", f"r.{ending}")
            page = (self.dir / "p.run/report.html").read_text()
            results = page[page.index('<section id="results"'):page.index('<section id="program"')]
            self.assertIn('<a href="#results">Results</a>', page)
            self.assertIn("many = 5", results)
            self.assertEqual(results.count("<svg"), 2, ending)  # a histogram of r, a plot of w
            row = np.nansum(x, axis=1)
            row[7] = np.nan
            self.assertIn("1 of 500 numbers are NaN.", results)
            self.assertIn(f"From {np.nanmin(row):.6g} to {np.nanmax(row):.6g}.", results)
            self.assertIn(f'<td class="n">{row[0]:.6g}</td>', results)
            self.assertEqual(results.count("<circle"), 2)
            self.assertIn("1: 2.5", results)

    def test_a_page_of_a_plan_has_no_results(self):
        (self.dir / "p.ks").write_text("dim N\ninput x : f64[N]\noutput y = x * 2\n")
        self.kasen("plan", "p.ks", "-o", "p.kir")
        self.kasen("fuse", "p.kir", "-o", "f.kir")
        self.assertNotIn('id="results"', self.kasen("measure", "f.kir", "--format", "html")[0])


class LastRun(ShowTest):
    """kasen show of a folder: the result of its last run, wherever that is."""

    def test_a_folder_shows_the_last_result(self):
        (self.dir / "x.csv").write_text("1\n2\n3\n")
        (self.dir / "p.ks").write_text("dim N\ninput x : f64[N]\nparam r = 1.0\noutput s = sum(x) * r\n")
        self.kasen("go", "p.ks", "x=x.csv", "--no-report")
        self.assertIn("s = 6", self.kasen("show", "p.run")[0])
        self.kasen("go", "p.ks", "x=x.csv", "--no-report", "-D", "r=2", "-o", "other.csv")
        self.assertIn("12", self.kasen("show", "p.run")[0])
        self.kasen("go", "p.ks", "x=x.csv", "--no-report", "-D", "r=3", "--timeout", "5", "-o", "none/other.h5", status=73)
        self.assertIn("12", self.kasen("show", "p.run")[0])
        self.kasen("go", "p.ks", "x=x.csv", "--no-report", "-D", "r=nan", "--nan", "error", status=1)
        self.assertIn("has made no result", self.kasen("show", "p.run", status=66)[1])

    def test_a_run_that_fails_is_told(self):
        """Also one that ends before its run; the earlier result stays."""
        (self.dir / "x.csv").write_text("1\n2\n3\n")
        program = "dim N\ninput x : f64[N]\nparam r = 1.0\noutput s = sum(x) * r\n"
        for text, data, options, status in [("dim N\nx = )\n", "1\n2\n3\n", [], 65), (program, "1\nx\n", [], 65), (program, "1\n2\n3\n", ["--param", "r=x"], 64),
                                            (program, "1\n2\n3\n", ["-D", "r=2", "--param", "r=3"], 64)]:
            (self.dir / "p.ks").write_text(program)
            (self.dir / "x.csv").write_text("1\n2\n3\n")
            self.kasen("go", "p.ks", "x=x.csv", "--no-report")
            (self.dir / "p.ks").write_text(text)
            (self.dir / "x.csv").write_text(data)
            self.kasen("go", "p.ks", "x=x.csv", "--no-report", *options, status=status)
            self.assertIn("the last run in 'p.run' has made no result", self.kasen("show", "p.run", status=66)[1])
            self.assertIn("s = 6", self.kasen("show", "p.run/result.h5")[0])

    def test_run_tells_of_a_result_that_stays(self):
        (self.dir / "x.csv").write_text("1\n2\n3\n")
        (self.dir / "p.ks").write_text("dim N\ninput x : f64[N]\nparam r = 1.0\noutput s = sum(x) * r\n")
        self.kasen("plan", "p.ks", "-o", "p.kir")
        self.kasen("fuse", "p.kir", "-o", "f.kir")
        self.kasen("partition", "--program", "p.kir", "x.csv", "-o", "b")
        run = ["run", "f.kir", "--bundle", "b", "-o", "r.h5"]
        says = "note: 'r.h5' is as it was before: this run has not written it\n"
        self.assertNotIn(says, self.kasen(*run, "-D", "r=nan", "--nan", "error", status=1)[1])  # there is none
        for ranks in [[], ["-n", 1]]:
            self.assertNotIn(says, self.kasen(*run, *ranks)[1])
            self.assertIn(says, self.kasen(*run, *ranks, "-D", "r=nan", "--nan", "error", status=1)[1])
            self.assertNotIn(says, self.kasen(*run, *ranks, "-D", "q=1", status=64)[1])
            self.assertIn("s = 6", self.kasen("show", "r.h5")[0])


class Replaced(ShowTest):
    """No tool replaces a file that it did not make."""

    def refuses(self, name, *args, status=CREATE):
        mine = b"the words of a user; kasen go does not know them\n"
        (self.dir / name).unlink(missing_ok=True)  # with the mark of what was there
        (self.dir / name).write_bytes(mine)
        _, err = self.kasen(*args, status=status)
        self.assertIn(f"'{name}' is there, and Kasen has not made it", err)
        self.assertIn("--force", err)
        self.assertEqual((self.dir / name).read_bytes(), mine)
        self.kasen(*args, "--force")
        self.assertNotEqual((self.dir / name).read_bytes(), mine)
        self.kasen(*args)  # its own, again
        (self.dir / name).write_bytes(b"")
        self.kasen(*args)  # nothing is lost

    def test_texts(self):
        (self.dir / "g.txt").write_text("0 1\n1 2\n2 0\n")
        (self.dir / "b.csv").write_text("id,lower,upper,size\na,0,2,4\nb,1,3,4\n")
        program = ROOT / "examples/pagerank.ks"
        self.refuses("p.kir", "plan", program, "-o", "p.kir")
        self.refuses("f.kir", "fuse", "p.kir", "-o", "f.kir")
        self.kasen("partition", "--program", "p.kir", "G=g.txt", "--workers", 1, "-o", "b")
        for file, more in [("m.txt", []), ("m.json", ["--format", "json"]), ("m.html", ["--format", "html"]), ("m.dot", ["--format", "dot"])]:
            self.refuses(file, "measure", "f.kir", *more, "-o", file)
        self.refuses("o.csv", "pack", "b.csv", "-o", "o.csv")
        self.refuses("s.json", "run", "f.kir", "--bundle", "b", "-o", "r.h5", "--stats", "s.json")
        self.refuses("t.json", "run", "f.kir", "--bundle", "b", "-o", "r.h5", "--trace", "t.json")

    def test_results(self):
        (self.dir / "s.ks").write_text("dim N\ninput G : f64[N, N]\nH = G * 3\noutput H\n")
        (self.dir / "v.ks").write_text("dim N\ninput x : f64[N]\noutput y = x * 2\n")
        (self.dir / "data.mtx").write_text("%%MatrixMarket matrix coordinate real general\n4 4 1\n1 2 1.5\n")
        np.savetxt(self.dir / "x.csv", np.arange(4.0))
        for program, data, endings in [("s.ks", "G=data.mtx", ["h5", "npz", "mtx", "csv"]), ("v.ks", "x=x.csv", ["h5", "npy", "csv"])]:
            for ending in endings:
                name = f"{program[0]}.{ending}"
                self.refuses(name, "go", program, data, "--no-report", "-o", name)

    def test_arrays_of_numpy_stay(self):
        (self.dir / "v.ks").write_text("dim N\ninput x : f64[N]\noutput y = x * 2\n")
        np.save(self.dir / "x.npy", np.arange(4.0))
        np.save(self.dir / "y.npy", np.arange(4.0))
        _, err = self.kasen("go", "v.ks", "x=x.npy", "--no-report", "-o", "y.npy", status=CREATE)
        self.assertIn("'y.npy' is there", err)
        np.testing.assert_array_equal(np.load(self.dir / "y.npy"), np.arange(4.0))
        with h5py.File(self.dir / "y.h5", "w") as file:
            file["y"] = np.arange(4.0)
        self.kasen("go", "v.ks", "x=x.npy", "--no-report", "-o", "y.h5", status=CREATE)
        self.kasen("go", "v.ks", "x=x.npy", "--no-report", "-o", "z.npy")
        np.testing.assert_array_equal(np.load(self.dir / "z.npy"), 2 * np.arange(4.0))
        (self.dir / "c.csv").write_text("N,weight\n0,1\n")
        self.kasen("go", "v.ks", "x=x.npy", "--no-report", "-o", "c.csv", status=CREATE)

    def test_text_of_others_stays(self):
        """A file that begins as ours does, a copy of ours, and ours with changes; each needs --force."""
        (self.dir / "v.ks").write_text("dim N\ninput x : f64[N]\nparam r = 2.0\noutput y = x * r\n")
        (self.dir / "x.csv").write_text("1\n2\n")
        go = ["go", "v.ks", "x=x.csv", "--no-report", "-o"]
        self.kasen(*go, "y.csv")
        made = (self.dir / "y.csv").read_bytes()
        self.kasen(*go, "y.csv", "-D", "r=3")  # others of its results
        self.kasen(*go, "y.csv", "-n", 2, "--workers", 2)
        self.assertEqual((self.dir / "y.csv").read_bytes(), made)
        (self.dir / "moved.csv").write_bytes(b"")
        os.replace(self.dir / "y.csv", self.dir / "moved.csv")
        self.kasen(*go, "moved.csv")  # it goes with the file
        for other, says in [("copy.csv", "Kasen has not made it"), ("moved.csv", "was changed since Kasen made it")]:
            (self.dir / other).write_bytes(made.replace(b"y\n", b"profit\n", 1) if other == "moved.csv" else made)
            before = (self.dir / other).read_bytes()
            _, err = self.kasen(*go, other, "-D", "r=5", status=CREATE)
            self.assertIn(f"'{other}' is there, and {says}", err)
            self.assertEqual((self.dir / other).read_bytes(), before)
            self.kasen(*go, other, "--force")
            self.assertEqual((self.dir / other).read_bytes(), made)
            self.kasen(*go, other, "-D", "r=5")

    def test_equal_bytes_may_be_written_again(self):
        """Also where there is no mark, as on a file system without attributes."""
        (self.dir / "b.csv").write_text("id,lower,upper,size\na,0,2,4\nb,1,3,4\n")
        self.kasen("pack", "b.csv", "-o", "o.csv")
        os.removexattr(self.dir / "o.csv", "user.kasen.made")
        self.kasen("pack", "b.csv", "-o", "o.csv")
        os.removexattr(self.dir / "o.csv", "user.kasen.made")
        (self.dir / "b.csv").write_text("id,lower,upper,size\na,0,2,4\nb,1,3,8\n")
        self.kasen("pack", "b.csv", "-o", "o.csv", status=CREATE)

    def test_go_again(self):
        (self.dir / "v.ks").write_text("dim N\ninput x : f64[N]\noutput y = x * 2\n")
        np.save(self.dir / "x.npy", np.arange(4.0))
        for more in [[], [], ["--sync", "lazy"], ["--workers", 2]]:
            self.kasen("go", "v.ks", "x=x.npy", "--trace", "t.json", *more)
        (self.dir / "other.run").mkdir()
        (self.dir / "other.run/plan.kir").write_text("mine\n")
        _, err = self.kasen("go", "v.ks", "x=x.npy", "--dir", "other.run", status=CREATE)
        self.assertIn("plan.kir' is there", err)
        self.assertEqual((self.dir / "other.run/plan.kir").read_text(), "mine\n")

    def test_graphs(self):
        for name in ["g.txt", "g.npy"]:
            (self.dir / name).write_text("mine\n")
            self.kasen("generate", "star", "--scale", 4, "-o", name, status=CREATE)
            self.kasen("generate", "star", "--scale", 4, "-o", name, "--force")
            self.kasen("generate", "star", "--scale", 5, "-o", name)  # its own


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=1)
