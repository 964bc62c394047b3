#!/usr/bin/env python3
"""kasen fit and kasen predict on tables with missing cells, decimal commas and large ids, against NumPy.

Usage: model_cells_test.py FOLDER_OF_TOOLS SOURCE_ROOT [unittest arguments]
"""
import ctypes
import json
import sys
import unittest

sys.dont_write_bytecode = True  # the source tree stays as it is
import h5py  # noqa: E402
import numpy as np  # noqa: E402
from models_test import LAMBDA, ModelTest, newton, softmax_fit  # noqa: E402
from tools_test import BAD, USAGE  # noqa: E402


class Xxh3(ctypes.Structure):
    _fields_ = [("low", ctypes.c_uint64), ("high", ctypes.c_uint64)]


def xxh3(data):
    """The digest that files have."""
    library = ctypes.CDLL("libxxhash.so.0")
    library.XXH3_128bits.restype, library.XXH3_128bits.argtypes = Xxh3, [ctypes.c_char_p, ctypes.c_size_t]
    both = library.XXH3_128bits(data, len(data))
    return f"{both.high:016x}{both.low:016x}"


def ridge(X, y, penalty=1.0):
    """(w, b) of ridge regression by the normal equations."""
    centre = X.mean(0)
    A = X - centre
    w = np.linalg.solve(A.T @ A + penalty * np.eye(X.shape[1]), A.T @ (y - y.mean()))
    return w, y.mean() - centre @ w


class ModelCells(ModelTest):
    """Missing cells."""

    def table(self, seed=5, rows=80, marks=("", "NA", "?", "nan", "N/A")):
        """a, b, zone and a target, some cells of a, b and zone missing: (text cells, values with NaN, words)."""
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(rows, 2)) * [1, 30] + [5, -7]
        zone = rng.choice(["east", "north", "west"], rows).astype(object)
        y = X @ [2.0, 0.1] + (zone == "west") * 3 + rng.normal(size=rows)
        holes = rng.random((rows, 3)) < [0.1, 0.15, 0.08]
        holes[0] = False
        cells = [[rng.choice(marks) if holes[r, c] else repr(float(X[r, c])) for c in range(2)] for r in range(rows)]
        X[holes[:, :2]] = np.nan
        zones = [("NA" if holes[r, 2] else zone[r]) for r in range(rows)]
        return cells, X, zones, y

    def write(self, name, cells, zones, y, head="a,zone,b,y"):
        rows = [f"{a},{z},{b},{t if isinstance(t, str) else repr(float(t))}" for (a, b), z, t in zip(cells, zones, y)]
        (self.dir / name).write_text("\n".join([head, *rows]) + "\n")

    @staticmethod
    def one_hot(zones, levels):
        return np.column_stack([np.array([float(z == level) for z in zones]) for level in levels])

    def numbers(self, path, table, *args):
        return [row[0] for row in self.predicted(path, table, *args)[1]]

    def test_comments_are_told(self):
        """As kasen go tells them, by fit and by predict."""
        rows = [f"{a},{b},{2 * a + b}" for a in range(5) for b in range(4)]
        (self.dir / "t.csv").write_text("\n".join(["a,b,y", *rows[:3], "# 9,9,9", *rows[3:], "% 1,1,1"]) + "\n")
        says = "note: 2 lines of 't.csv' that begin with # or % were left out as comments; quote the cell to keep it\n"
        _, err = self.kasen("fit", "ridge", "t.csv", "-t", "y", "-o", "m.h5")
        self.assertEqual(err.count(says), 1, err)
        out, err = self.kasen("predict", "m.h5", "t.csv")
        self.assertEqual(err.count(says), 1, err)
        self.assertEqual(len(out.splitlines()), 21)
        (self.dir / "r.csv").write_text("u,i,s\nann,x,3\n# bob,y,4\nbob,x,2\nann,y,5\n")
        says = "note: 1 line of 'r.csv' that begins with # or % was left out as a comment; quote the cell to keep it\n"
        _, err = self.kasen("fit", "als", "r.csv", "--param", "factors=1", "-o", "r.h5")
        self.assertEqual(err.count(says), 1, err)
        self.assertEqual(self.kasen("predict", "r.h5", "r.csv")[1].count(says), 1)

    def test_rows_are_left_out(self):
        cells, X, zones, y = self.table()
        zones[3], cells[3], X[3, 0] = "south", ["", cells[3][1]], np.nan  # a word of such rows alone
        self.write("t.csv", cells, zones, y)
        kept = ~np.isnan(X).any(1) & (np.array(zones) != "NA")
        levels = ["east", "north", "west"]
        A = np.column_stack([X, self.one_hot(zones, levels)])
        w, b = ridge(A[kept], y[kept])
        for workers in (1, 3):
            arrays, content, out, path = self.fit("ridge", "t.csv", "-t", "y", "--missing", "drop", "--workers", workers)
            self.near(arrays["coefficients"], w)
            self.near(arrays["intercept"], [b])
            self.assertIn(f"rows       {kept.sum()}, of 5 features", out)
            self.assertEqual([c["levels"] for c in content["features"]], [[], [], levels])
        _, err = self.kasen("fit", "ridge", "t.csv", "-t", "y", "--missing", "drop", "-o", "m.h5")
        self.assertIn(f"note: {(~kept).sum()} rows left out: values are missing", err)
        # Predictions stay beside the rows.
        zones[3] = "east"
        self.write("t.csv", cells, zones, y)
        told, err = self.kasen("predict", path, "t.csv", "--missing", "drop")
        lines = told.splitlines()[1:]
        self.assertEqual([line == "NA" for line in lines], (~kept).tolist())
        self.near([float(line) for line in lines if line != "NA"], A[kept] @ w + b)
        self.assertIn(f"note: {(~kept).sum()} of 80 rows have no prediction (NA): values are missing", err)
        self.assertEqual(self.kasen("predict", path, "t.csv", "--missing", "drop", "-q")[1], "")
        # The program that is shown runs by the line in it.
        self.assertIn("--missing=table=drop", self.kasen("fit", "ridge", "t.csv", "-t", "y", "--missing", "drop", "--show-program")[0])
        self.fault("predict", path, "t.csv", status=BAD, says=["t.csv:", "--missing drop (or put a number there: 0)"])

    def test_targets_of_rows_that_are_left_out(self):
        cells, X, zones, y = self.table()
        X[5:9] = X[10:14]
        cells[5:9] = cells[10:14]
        y_cells = [repr(float(v)) for v in y]
        y_cells[7], y_cells[11] = "", "NA"
        self.write("t.csv", cells, zones, y_cells)
        kept = ~np.isnan(X).any(1)
        kept[[7, 11]] = False
        w, b = ridge(X[kept], y[kept])
        arrays, _, _, _ = self.fit("ridge", "t.csv", "-t", "y", "--columns", "a,b", "--missing", "drop")
        self.near(arrays["coefficients"], w)
        self.near(arrays["intercept"], [b])
        for rule in ("mean", "0"):
            self.fault("fit", "ridge", "t.csv", "-t", "y", "--columns", "a,b", "--missing", rule, "-o", "m.h5", status=BAD,
                       says=["t.csv", "row 8 of the table has no value in column 'y'", "--missing drop"])
        # The target in another file: rows go from both.
        (self.dir / "y.csv").write_text("\n".join(["y", *y_cells]).replace("\n\n", '\n""\n') + "\n")
        (self.dir / "x.csv").write_text("\n".join(["a,b", *(",".join(pair) for pair in cells)]) + "\n")
        arrays, _, _, _ = self.fit("ridge", "x.csv", "-t", "y.csv", "--missing", "drop")
        self.near(arrays["coefficients"], w)
        np.save(self.dir / "y.npy", y)
        arrays, _, _, _ = self.fit("ridge", "x.csv", "-t", "y.npy", "--missing", "drop")
        w, b = ridge(X[~np.isnan(X).any(1)], y[~np.isnan(X).any(1)])
        self.near(arrays["coefficients"], w)
        np.save(self.dir / "x.npy", np.nan_to_num(X))
        arrays, _, _, _ = self.fit("ridge", "x.npy", "-t", "y.csv", "--missing", "drop")
        kept = np.ones(len(y), bool)
        kept[[7, 11]] = False
        self.near(arrays["coefficients"], ridge(np.nan_to_num(X)[kept], y[kept])[0])

    def test_classes_of_rows_that_are_left_out(self):
        """A class that only such rows have is none; codes of words keep their order."""
        rng = np.random.default_rng(3)
        X = rng.normal(size=(60, 2))
        kind = np.where(X[:, 0] + rng.normal(size=60) > 0, "low", "high").astype(object)
        cells = [[repr(float(v)) for v in row] for row in X]
        for row, word in ((4, "a"), (5, "in"), (6, "z")):
            cells[row][1], kind[row] = "", word
        numbers = {"a": "-9", "high": "2", "in": "3", "low": "7", "z": "99"}
        kept = np.ones(60, bool)
        kept[4:7] = False
        w, b, _ = (*newton("logistic", X[kept], (kind[kept] == "low").astype(float), 1.0, True), None)
        for targets, classes in ((list(kind), ["high", "low"]), ([numbers[k] for k in kind], ["2", "7"])):
            self.write("t.csv", cells, ["o"] * 60, targets)
            arrays, content, _, path = self.fit("logistic", "t.csv", "-t", "y", "--columns", "a,b", "--missing", "drop")
            self.near(arrays["coefficients"], w)
            self.near(arrays["intercept"], [b])
            self.assertEqual(content["classes"], classes)
            head, rows = self.predicted(path, "t.csv", "--missing", "drop", "--proba")
            self.assertEqual((head, rows[4:7]), (["prediction", *classes], [["NA"] * 3] * 3))
            chance = 1 / (1 + np.exp(-(X[kept] @ w + b)))
            self.near([float(row[2]) for row, there in zip(rows, kept) if there], chance)
            arrays, _, _, _ = self.fit("multinomial", "t.csv", "-t", "y", "--columns", "a,b", "--missing", "drop")
            self.near(arrays["coefficients"], softmax_fit(X[kept], (kind[kept] == "low").astype(int), 2, 1.0)[0])

    def test_means_go_with_the_model(self):
        cells, X, _, y = self.table(7)
        zones = ["north" if k % 3 else "east" for k in range(80)]
        self.write("t.csv", cells, zones, y)
        means = np.nanmean(X, 0)
        filled = np.where(np.isnan(X), means, X)
        A = np.column_stack([filled, self.one_hot(zones, ["east", "north"])])
        w, b = ridge(A, y)
        new = np.array([[np.nan, 100.0], [1e3, np.nan], [2.0, 3.0]])
        self.write("new.csv", [["NA", "100"], ["1000", ""], ["2", "3"]], ["east", "north", "east"], [0, 0, 0])
        B = np.column_stack([np.where(np.isnan(new), means, new), self.one_hot(["east", "north", "east"], ["east", "north"])])
        for workers in (1, 2):
            arrays, content, _, path = self.fit("ridge", "t.csv", "-t", "y", "--missing", "mean", "--workers", workers)
            self.near(arrays["coefficients"], w)
            self.near([c["mean"] for c in content["features"][:2]], means)
            self.assertNotIn("mean", content["features"][2])
            for options in ([], ["--missing", "mean"]):
                self.near([float(v) for v in self.numbers(path, "new.csv", "--workers", workers, *options)], B @ w + b)
            zero = np.column_stack([np.nan_to_num(new), B[:, 2:]])
            self.near([float(v) for v in self.numbers(path, "new.csv", "--missing", "0")], zero @ w + b)
            self.assertEqual(self.numbers(path, "new.csv", "--missing", "drop")[:2], ["NA", "NA"])
            self.fault("predict", path, "new.csv", "--missing", "error", status=BAD, says=["new.csv:2:", "--missing drop"])
        with h5py.File(self.dir / path) as file:
            self.assertEqual(json.loads(bytes(file["about"][:]))["kasen_model"], 1)  # which older programs read
        # Without names, all columns numbers.
        rows = ["\t".join(c if c else "NA" for c in pair) + f"\t{t!r}" for pair, t in zip(cells, y.tolist())]
        (self.dir / "plain.txt").write_text("\n".join(rows) + "\n")
        arrays, _, _, path = self.fit("ridge", "plain.txt", "-t", "3", "--missing", "mean")
        w, b = ridge(filled, y)
        self.near(arrays["coefficients"], w)
        (self.dir / "new.txt").write_text("NA 100\n1000 NA\n2 3\n")
        self.near([float(v) for v in self.numbers(path, "new.txt")], B[:, :2] @ w + b)
        # Of other models.
        for model in ("kmeans", "pca"):
            arrays, _, _, path = self.fit(model, "plain.txt", "--columns", "1,2", "--missing", "mean")
            _, got = self.predicted(path, "new.txt")
            if model == "pca":
                self.near([[float(v) for v in row] for row in got], (B[:, :2] - filled.mean(0)) @ arrays["components"])
            else:
                near = ((B[:, None, :2] - arrays["centres"]) ** 2).sum(2).argmin(1)
                self.assertEqual([int(row[0]) for row in got], near.tolist())
        _, _, _, path = self.fit("ridge", "plain.txt", "-t", "3", "--missing", "0")
        self.fault("predict", path, "new.txt", status=BAD, says=["new.txt:1:1", "--missing drop (or put a number there: 0)"])
        self.fault("predict", path, "new.txt", "--missing", "mean", status=USAGE, says=["the model has no means", "--missing mean", "--missing 0"])

    def test_a_number_for_missing_cells(self):
        cells, X, _, y = self.table(9)
        self.write("t.csv", cells, ["o"] * 80, y)
        w, b = ridge(np.where(np.isnan(X), -1.5, X), y)
        arrays, _, _, path = self.fit("ridge", "t.csv", "-t", "y", "--columns", "a,b", "--missing", "-1.5")
        self.near(arrays["coefficients"], w)
        self.near([float(v) for v in self.numbers(path, "t.csv", "--missing", "-1.5")], np.where(np.isnan(X), -1.5, X) @ w + b)

    def test_other_marks(self):
        """A mark goes with the model: it is no number, whatever becomes of it."""
        cells, X, _, y = self.table(11, marks=("-999",))
        self.write("t.csv", cells, ["o"] * 80, y)
        kept = ~np.isnan(X).any(1)
        w, b = ridge(X[kept], y[kept])
        arrays, content, _, path = self.fit("ridge", "t.csv", "-t", "y", "--columns", "a,b", "--missing", "drop", "--missing-as=-999")
        self.near(arrays["coefficients"], w)
        self.assertEqual(content["missing_as"], ["-999"])
        self.assertEqual([v == "NA" for v in self.numbers(path, "t.csv", "--missing", "drop")], (~kept).tolist())
        row = int(np.flatnonzero(~kept)[0]) + 1
        self.fault("predict", path, "t.csv", status=BAD, says=[f"row {row} of the table has no value", "--missing drop"])
        self.fault("fit", "ridge", "t.csv", "-t", "y", "--columns", "a,b", "--missing-as=-999", "-o", "m.h5", status=BAD,
                   says=[f"row {row} of the table has no value", "--missing drop"])

    def test_decimal_commas(self):
        rng = np.random.default_rng(2)
        X = np.round(rng.normal(size=(40, 2)) * [3000, 1], 2)
        y = np.round(X @ [0.01, 3] + rng.normal(size=40), 2)

        def text(value):
            return f"{value:,.2f}".replace(",", "_").replace(".", ",").replace("_", ".")
        lines = [";".join(map(text, (*row, t))) for row, t in zip(X, y)]
        (self.dir / "t.csv").write_text("\n".join(["a;b;y", *lines]) + "\n")
        style = ["--decimal", ",", "--thousands", "."]
        w, b = ridge(X, y)
        arrays, content, _, path = self.fit("ridge", "t.csv", "-t", "y", *style)
        self.near(arrays["coefficients"], w)
        self.assertEqual([c["levels"] for c in content["features"]], [[], []])
        self.near([float(v) for v in self.numbers(path, "t.csv", *style)], X @ w + b)
        self.fault("predict", path, "t.csv", status=BAD, says=["t.csv:2:1", "say so: --decimal ,"])
        two = (y + 40 * rng.normal(size=40) > np.median(y)).astype(int)
        (self.dir / "t.csv").write_text("\n".join(["a;b;y", *(";".join([*map(text, row), f"{t},5"]) for row, t in zip(X, two))]) + "\n")
        arrays, content, _, _ = self.fit("logistic", "t.csv", "-t", "y", *style)
        self.near(arrays["coefficients"], newton("logistic", X, two.astype(float), 1.0, True)[0], X.std(0))
        self.assertEqual(content["classes"], ["0.5", "1.5"])

    def test_wrong_options(self):
        cells, _, zones, y = self.table()
        self.write("t.csv", cells, zones, y)
        fit = ["fit", "ridge", "t.csv", "-t", "y", "-o", "m.h5"]
        for what, says in (("X=drop", "write --missing drop"), ("none", "'none' is none of error, drop, mean"), ("nan", "no finite number"), ("inf", "no finite number")):
            self.fault(*fit, "--missing", what, status=USAGE, says=says)
        self.fault(*fit, "--decimal", "x", status=USAGE, says="--decimal: 'x'")
        self.fault(*fit, status=BAD, says=["t.csv:", "--missing drop (or put a number there: mean, 0)"])
        np.save(self.dir / "x.npy", np.eye(4))
        self.fault("fit", "ridge", "x.npy", "-t", "1", "--missing", "drop", "-o", "m.h5", status=USAGE, says=["--missing for an array", ".npy"])
        self.write_libsvm("t.svm", np.eye(4), np.ones(4))
        self.fault("fit", "ridge", "t.svm", "--missing-as", "x", "-o", "m.h5", status=USAGE, says="--missing-as for LIBSVM")
        (self.dir / "r.csv").write_text("u,i,s\n1,2,3\n")
        self.fault("fit", "als", "r.csv", "--decimal", ",", "-o", "m.h5", status=USAGE, says="--decimal for ratings")
        (self.dir / "t.csv").write_text("a,b,y\n1,NA,2\nNA,3,4\n")
        self.fault(*fit, "--missing", "drop", status=BAD, says="each row of the table lacks a value")
        (self.dir / "t.csv").write_text("a,b,y\n1,NA,2\n2,NA,4\n")
        self.fault(*fit, "--missing", "mean", status=BAD, says="column 'b' has no value at all")
        (self.dir / "t.csv").write_text("a,z,y\n1,u,2\n2,,4\n5,u,4\n")
        self.fault(*fit, "--missing", "mean", status=BAD, says=["t.csv:3:3", "write a word there, or leave such rows out: --missing drop"])

    def test_values_of_params(self):
        (self.dir / "t.csv").write_text("a,b,y\n1,2,0\n2,1,1\n3,4,1\n4,4,0\n")
        for model, param, says in [("ridge", "lambda=-1", "negative penalty"), ("lasso", "lambda=-0.5", "negative penalty"), ("elastic-net", "share=1.5", "give 0 to 1"),
                                   ("elastic-net", "lambda=-1", "negative penalty"), ("logistic", "lambda=-2", "negative penalty"), ("ridge", "tolerance=0", "above 0"),
                                   ("logistic", "tolerance=-1", "above 0"), ("lasso", "steps=-1", "at least 1"), ("multinomial", "inner_steps=0", "at least 1")]:
            self.fault("fit", model, "t.csv", "-t", "y", "--param", param, "-o", "m.h5", status=USAGE, says=[f"--param {param}", says])
        self.fault("fit", "kmeans", "t.csv", "--param", "k=0", "-o", "m.h5", status=USAGE, says=["--param k=0", "at least 1"])
        self.fault("fit", "als", "t.csv", "--param", "factors=0", "-o", "m.h5", status=USAGE, says=["--param factors=0", "at least 1"])

    def test_more_centres_than_different_rows(self):
        (self.dir / "t.csv").write_text("a,b\n" + "1,2\n" * 5 + "3,4\n" * 4 + "9,9\n")
        np.savetxt(self.dir / "t.svm", np.zeros(0))
        self.write_libsvm("t.svm", np.array([[1, 2]] * 5 + [[3, 4]] * 4 + [[9, 9]]), np.zeros(10))
        for table in (["t.csv"], ["t.svm", "--samples", "sparse"]):
            _, err = self.kasen("fit", "kmeans", *table, "--param", "k=5", "-o", "m.h5")
            told = [int(row[0]) for row in self.predicted("m.h5", table[0])[1]]
            used = len(set(told))
            self.assertIn(f"note: {5 - used} of 5 centres have no rows", err)
            self.assertIn(f"--param k={used}", err)
            _, err = self.kasen("fit", "kmeans", *table, "--param", "k=2", "-o", "m.h5")
            self.assertNotIn("no rows", err)


class Ratings(ModelTest):
    """Whose ratings: large numbers, and words."""

    OPTIONS = ("--param", "factors=2", "--param", "lambda=0.0001", "--param", "rounds=200", "--param", "tolerance=1e-9")

    def ratings(self):
        rng = np.random.default_rng(8)
        U, V = rng.random((12, 2)) + 0.5, rng.random((9, 2)) + 0.5
        pairs = [(u, v) for u in range(12) for v in range(9) if (u + v) % 3 or u == 0 or v == 0]
        return pairs, [float(U[u] @ V[v]) for u, v in pairs]

    def test_large_numbers(self):
        """Numbers that f64 does not tell apart."""
        pairs, stars = self.ratings()
        users = [9007199254740992 + u for u in range(11)] + [9223372036854775806]
        items = [4611686018427387905 + v for v in range(9)]
        self.write_csv("r.csv", [[users[u] for u, _ in pairs], [items[v] for _, v in pairs], stars], ["user", "item", "stars"])
        arrays, _, _, path = self.fit("als", "r.csv", *self.OPTIONS)
        self.assertEqual((arrays["N_ids"].tolist(), arrays["M_ids"].tolist()), (users, items))
        self.assertEqual(arrays["N_ids"].dtype, np.int64)
        got = arrays["U"] @ arrays["V"].T
        self.near([float(row[0]) for row in self.predicted(path, "r.csv")[1]], [got[u, v] for u, v in pairs])
        (self.dir / "new.csv").write_text(f"user,item\n9007199254740993,{items[0]}\n9007199254741003,{items[0]}\n")
        self.fault("predict", path, "new.csv", status=BAD, says=["row 2", "the model knows no row 9007199254741003"])
        self.write_csv("r.csv", [[18446744073709551615 if u == 3 else u for u, _ in pairs], [v for _, v in pairs], stars], ["user", "item", "stars"])
        self.fault("fit", "als", "r.csv", "-o", "m.h5", status=BAD, says=["r.csv:", "'18446744073709551615'", "the largest possible is 9223372036854775806"])
        arrays, content, _, path = self.fit("als", "r.csv", "--words", "user", *self.OPTIONS)
        self.assertIn("18446744073709551615", content["features"][0]["levels"])
        self.assertEqual(len(self.predicted(path, "r.csv")[1]), len(pairs))

    def test_words(self):
        pairs, stars = self.ratings()
        users = [f"user {u}" if u % 2 else f"\"ä\", {u}" for u in range(12)]
        quoted = ['"' + word.replace('"', '""') + '"' for word in users]
        for items in ([f"i{v}" for v in range(9)], [100 + v * 1000 for v in range(9)]):
            self.write_csv("r.csv", [[items[v] for _, v in pairs], stars, [quoted[u] for u, _ in pairs]], ["item", "stars", "user"])
            codes = sorted(users, key=str.encode)
            self.write_csv("n.csv", [[codes.index(users[u]) for u, _ in pairs], [items[v] if items[0] == 100 else v for _, v in pairs], stars], ["user", "item", "stars"])
            same = self.fit("als", "n.csv", *self.OPTIONS)[0]
            for workers in (1, 3):
                arrays, content, out, path = self.fit("als", "r.csv", "--columns", "user,item,stars", *self.OPTIONS, "--workers", workers)
                self.assertEqual(content["features"][0]["levels"], sorted(users, key=str.encode))
                self.near(arrays["U"], same["U"])
                self.near(arrays["V"], same["V"])
                error = np.array([float(row[0]) for row in self.predicted(path, "r.csv")[1]]) - stars
                self.assertAlmostEqual(content["facts"]["rmse"], np.sqrt((error**2).mean()), delta=1e-9)
            # Some of them, in another order; without a line of names.
            some = [3, 0, 17]
            told = [self.predicted(path, "r.csv")[1][k] for k in some]
            lines = [f"{quoted[pairs[k][0]]},{items[pairs[k][1]]}" for k in some]
            for text in (["user,item", *lines], lines, lines[:1]):
                (self.dir / "new.csv").write_text("\n".join(text) + "\n")
                self.assertEqual(self.predicted(path, "new.csv")[1], told[: len(text) - ("user,item" in text)])
            (self.dir / "new.csv").write_text(f"user,item\n{lines[0]}\nnobody,{items[0]}\n")
            self.fault("predict", path, "new.csv", status=BAD, says=["row 2", "the model knows no row 'nobody'"])
        self.assertIn("ratings.txt has numbers in place of words", self.kasen("fit", "als", "r.csv", "--columns", "user,item,stars", "--show-program")[0])
        (self.dir / "r.csv").write_text("user,item,stars\nann,x,5\nbob,x,3\nann,x,4\n")
        self.fault("fit", "als", "r.csv", "-o", "m.h5", status=BAD, says=["rows 1 and 3 of the table rate the same", "keep one"])
        (self.dir / "r.csv").write_text("user,item,stars\nann,x,good\nbob,x,bad\n")
        self.fault("fit", "als", "r.csv", "-o", "m.h5", status=BAD, says="a rating is a number")
        (self.dir / "r.csv").write_text("user,item,stars\nann,x,5\nbob,,3\n")
        self.fault("fit", "als", "r.csv", "-o", "m.h5", status=BAD, says=["r.csv:3:5: error: a cell is missing", "leave the row out"])
        (self.dir / "r.csv").write_text("user,item,stars\nann,-3,5\nbob,2,4\n")
        self.fault("fit", "als", "r.csv", "-o", "m.h5", status=BAD, says=["row 1 of the table has -3 in column 'item'", "--words item"])

    def test_large_classes(self):
        lines = "".join(f"{k},{9007199254740992 + k % 2}\n" for k in range(8))
        (self.dir / "t.csv").write_text("a,y\n" + lines)
        self.fault("fit", "logistic", "t.csv", "-t", "y", "-o", "m.h5", status=BAD, says=["class number of 2^53 or more", "--words y"])
        _, content, _, path = self.fit("logistic", "t.csv", "-t", "y", "--words", "y")
        self.assertEqual(content["classes"], ["9007199254740992", "9007199254740993"])
        self.assertLessEqual({row[0] for row in self.predicted(path, "t.csv")[1]}, set(content["classes"]))

    def test_models_of_version_1(self):
        """Numbers of rows and columns were f64."""
        pairs, stars = self.ratings()
        self.write_csv("r.csv", [[5 * u + 1 for u, _ in pairs], [v + 7 for _, v in pairs], stars], ["user", "item", "stars"])
        _, _, _, path = self.fit("als", "r.csv", *self.OPTIONS)
        told = self.predicted(path, "r.csv")[1]

        def older(name, change):
            with h5py.File(self.dir / path) as file:
                arrays = {key: file[key][()] for key in file if key != "about"}
                whole = json.loads(bytes(file["about"][:]))
            arrays["N_ids"], arrays["M_ids"] = arrays["N_ids"].astype(float), arrays["M_ids"].astype(float)
            change(arrays, whole)
            self.write_model(name, arrays, whole)

        older("old.h5", lambda arrays, whole: whole.update(kasen_model=1))
        self.assertEqual(self.predicted("old.h5", "r.csv")[1], told)
        for value in (1.5, -1.0, 1e300):
            older("bad.h5", lambda arrays, whole, value=value: arrays["N_ids"].__setitem__(0, value))
            self.fault("predict", "bad.h5", "r.csv", status=BAD, says="'N_ids' has no whole numbers")
        older("bad.h5", lambda arrays, whole: arrays.update(U=arrays["U"].astype(np.int64)))
        self.fault("predict", "bad.h5", "r.csv", status=BAD, says="'U' holds integers")
        older("bad.h5", lambda arrays, whole: arrays.update(N_ids=np.arange(12) - 3))
        self.fault("predict", "bad.h5", "r.csv", status=BAD, says="'N_ids' has a number that is not there")

    def write_model(self, name, arrays, whole):
        """A model with these arrays, all its digests right."""
        for item in whole["content"]["arrays"]:
            item["digest"] = xxh3(arrays[item["name"]].tobytes())
        text = json.dumps(whole["content"], separators=(",", ":"), ensure_ascii=False)
        whole["digest"] = xxh3(text.encode())
        with h5py.File(self.dir / name, "w") as file:
            for key, array in arrays.items():
                file[key] = array
            file["about"] = np.frombuffer(json.dumps(whole, ensure_ascii=False).encode(), "u1")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=1)
