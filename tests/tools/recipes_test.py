#!/usr/bin/env python3
"""The programs of docs/recipes.md beside NumPy.

Usage: recipes_test.py FOLDER_OF_TOOLS SOURCE_ROOT [unittest arguments]
"""
import datetime
import re
import sys
import unittest

import h5py
import numpy as np
from scipy import io, sparse

sys.dont_write_bytecode = True  # the source tree stays as it is
from beside_numpy import random  # noqa: E402
from tools_test import ROOT, ToolTest  # noqa: E402

PAGE = (ROOT / "docs" / "recipes.md").read_text()
SECTIONS = [section.split("\n", 1) for section in PAGE.split("\n## ")[1:]]
RECIPES = {title: re.search(r"```\n(.*?)```", text, re.S)[1] for title, text in SECTIONS if "```" in text}
NUMBERS = np.random.default_rng(5)
KEYS = np.concatenate([np.arange(6), NUMBERS.integers(0, 6, 34)])
X = NUMBERS.normal(size=(40, 3))
X[:, 1] = 2.5
VALUES = NUMBERS.normal(size=40)
SQUARE = NUMBERS.normal(size=(12, 12)) + 30 * np.eye(12)
COUNTS = sparse.random(20, 30, 0.2, random_state=3).tocsr()
COUNTS.data = np.ceil(9 * COUNTS.data)
COUNTS = COUNTS + sparse.csr_matrix((np.ones(30), (np.arange(30) % 20, np.arange(30))), COUNTS.shape)


def regression():
    Y = NUMBERS.normal(size=(40, 3))
    y = Y @ [1.0, -2.0, 0.5] + 0.1 * VALUES
    chosen = random(7, 40) < 0.8
    w = np.linalg.lstsq(Y[chosen], y[chosen], rcond=None)[0]
    return {"X": Y, "y": y}, {"w": w, "error": np.sqrt(np.mean((y[~chosen] - Y[~chosen] @ w) ** 2))}


def folds():
    Y = NUMBERS.normal(size=(60, 3))
    y = Y @ [1.0, -2.0, 0.5] + 4 + 0.1 * NUMBERS.normal(size=60)
    mine = (random(7, 60) * 5).astype(int) == 0
    *w, intercept = np.linalg.lstsq(np.column_stack([Y, np.ones(60)])[~mine], y[~mine], rcond=None)[0]
    return {"X": Y, "y": y}, {"w": w, "intercept": [intercept], "error": [np.sqrt(np.mean((y[mine] - Y[mine] @ w - intercept) ** 2))]}


def groups():
    parts = [VALUES[KEYS == key] for key in range(6)]
    return {"value": VALUES, "group": KEYS}, {
        "count": [len(p) for p in parts], "total": [p.sum() for p in parts], "average": [p.mean() for p in parts], "largest": [p.max() for p in parts]}


def join():
    price = NUMBERS.normal(size=6)
    return {"item": KEYS, "number": VALUES, "price": price}, {"cost": VALUES * price[KEYS], "revenue": VALUES @ price[KEYS]}


def join_by_words():
    names = ["Zoe", "Adam", "Mia", "Ben", "Ida", "Eve"]  # not in the order of letters
    listed = NUMBERS.normal(size=6)
    item = [*(names[key] for key in KEYS), "Quark"]
    number = np.append(VALUES, 2.0)
    price = dict(zip(names, listed)) | {"Quark": 0.0}
    return {"name": names, "listed": listed, "item": item, "number": number}, {
        "cost": [n * price[i] for n, i in zip(number, item)], "missing": [1]}


def standard():
    spread = X.std(0)
    return {"X": X}, {"centre": X.mean(0), "spread": spread, "Z": (X - X.mean(0)) / np.where(spread > 1e-12, spread, 1)}


def shares():
    dense = COUNTS.toarray()
    R = dense / dense.sum(1, keepdims=True) * np.log(len(dense) / (dense != 0).sum(0))
    return {"counts": COUNTS}, {"norm": np.sqrt((R ** 2).sum(1))}


def best():
    order = np.argsort(-VALUES)[:10]
    return {"score": VALUES}, {"best": VALUES[order], "place": order}


def descent():
    Y = NUMBERS.normal(size=(40, 3))
    y = Y @ [1.0, -2.0, 0.5] + 0.1 * VALUES
    w = np.zeros(3)
    for _ in range(20):
        loss = 0.0
        for rows in np.split(np.arange(40), 5):
            e = Y[rows] @ w - y[rows]
            w, loss = w - 0.1 / 8 * (Y[rows].T @ e), loss + e @ e
    return {"X": Y, "y": y}, {"w": w, "loss": [loss / 40]}


def months():
    days = np.concatenate([NUMBERS.integers(19358, 20089, 36), [19357, 20089, 19358, 20088]])  # 2023-01-01 is 19358
    dates = [datetime.date(1970, 1, 1) + datetime.timedelta(int(day)) for day in days]
    keys = [12 * (date.year - 2023) + date.month - 1 for date in dates]
    total = [sum(VALUES[k] for k in range(40) if keys[k] == month) for month in range(24)]
    return {"date": days + 0.25, "value": VALUES}, {"total": total, "left_out": [sum(not 0 <= key < 24 for key in keys)]}


WANTED = {
    "Group by": groups, "Join": join, "Join by words": join_by_words, "Standardise": standard, "Rows for training and rows for a test": regression, "Cross-validation": folds,
    "Steps on blocks of rows": descent, "The largest ten": best, "Shares of each row": shares,
    "Columns for words": lambda: ({"colour": KEYS}, {"X": np.eye(6)[KEYS]}),
    "The total by month": months,
    "A moving average": lambda: ({"x": VALUES}, {"smooth": np.convolve(VALUES, np.full(5, 0.2), "valid")}),
    "Until nothing changes": lambda: ({"A": SQUARE, "b": VALUES[:12]}, {"x": np.linalg.solve(SQUARE, VALUES[:12])}),
}


class Recipes(ToolTest):
    def given(self, name, value):
        if sparse.issparse(value):
            io.mmwrite(self.dir / f"{name}.mtx", value)
            return [f"{name}={name}.mtx"]
        if isinstance(value, list) and isinstance(value[0], str):
            (self.dir / f"{name}.csv").write_text("\n".join(value) + "\n")
            return [f"{name}={name}.csv", "--words", f"{name}=1"]
        np.savetxt(self.dir / f"{name}.csv", value, fmt="%d" if np.asarray(value).dtype.kind == "i" else "%.17g", delimiter=",")
        return [f"{name}={name}.csv"]

    def test_every_recipe_gives_what_numpy_gives(self):
        self.assertEqual(sorted(RECIPES), sorted(WANTED))
        for title, program in RECIPES.items():
            (self.dir / "p.ks").write_text(program)
            data, wanted = WANTED[title]()
            inputs = [word for name, value in data.items() for word in self.given(name, value)]
            for options in ([], ["--workers", 3, "-n", 2]):
                self.kasen("go", "p.ks", *inputs, "-o", "out.h5", *options)
                with h5py.File(self.dir / "out.h5") as file:
                    for name, value in wanted.items():
                        np.testing.assert_allclose(np.asarray(file[name]).astype("f8"), value, rtol=1e-8, atol=1e-9, err_msg=f"{title}: {name}")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
