#!/usr/bin/env python3
"""Small expressions of the kinds that fusion plans are made for, each against NumPy: cells, rows, several aggregates of one
input, outer products, products there and back, ranges; by themselves and together, under every strategy.

Usage: expressions_test.py FOLDER_OF_TOOLS SOURCE_ROOT [unittest arguments]
"""
import re
import sys
import unittest

import h5py
import numpy as np

sys.dont_write_bytecode = True  # the source tree stays as it is
from tools_test import EVERY_PLAN, ToolTest  # noqa: E402

SIZES = {"N": 67, "M": 23, "F": 6, "C": 5, "K": 3, "D": 2}
DIMS = "dim N, M, F local = 6, C local = 5, K local = 3, D local = 2\n"
# Whoever is cut along N is large; v, V, T are shared; A, B lie by rows, with all of M on each worker.
ARRAYS = {"X": "NF", "Y": "NF", "Z": "NF", "P": "NC", "Q": "NK", "u": "N", "w": "N", "v": "F", "V": "FK", "T": "KF",
          "A": "NM", "B": "NM", "R": "MK", "m": "M"}
MATRICES = {"S": "NM"}  # of stored entries


def column(x):
    return x[:, None]


def softmax(x):
    e = np.exp(x - x.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


def second(d):
    """The paper's Expression (2)."""
    q = d.P[:, :3] * (d.X @ d.V)
    return d.X.T @ (q - d.P[:, :3] * column(q.sum(1)))


# kind: (the program's expression, the same in NumPy)
TABLE = {
    "cells": [
        ("X * Y * Z", lambda d: d.X * d.Y * d.Z),
        ("X * v + u", lambda d: d.X * d.v + column(d.u)),
        ("abs(X - Y) / (1 + abs(Z))", lambda d: abs(d.X - d.Y) / (1 + abs(d.Z))),
        ("if X > Y then X else -Z", lambda d: np.where(d.X > d.Y, d.X, -d.Z)),
        ("min(max(X, -0.5), 0.5) * u", lambda d: np.clip(d.X, -0.5, 0.5) * column(d.u)),
        ("1 / (1 + exp(-X * v))", lambda d: 1 / (1 + np.exp(-d.X * d.v))),
        ("sqrt(abs(X)) - Y ^ 3", lambda d: np.sqrt(abs(d.X)) - d.Y ** 3),
        ("log1p(abs(X * Y)) * w + v", lambda d: np.log1p(abs(d.X * d.Y)) * column(d.w) + d.v),
        ("floor(4 * X) % 3", lambda d: np.floor(4 * d.X) % 3),
        ("X > 0 && Y > 0 || Z < u", lambda d: (d.X > 0) & (d.Y > 0) | (d.Z < column(d.u))),
    ],
    "aggregates": [
        ("sum(X * Y * Z)", lambda d: (d.X * d.Y * d.Z).sum()),
        ("sum(X * Z)", lambda d: (d.X * d.Z).sum()),
        ("sumsq(X)", lambda d: (d.X ** 2).sum()),
        ("max(abs(X))", lambda d: abs(d.X).max()),
        ("min(X * v - u)", lambda d: (d.X * d.v - column(d.u)).min()),
        ("mean(X * u)", lambda d: (d.X * column(d.u)).mean()),
        ("prod(1 + 0.01 * X)", lambda d: (1 + 0.01 * d.X).prod()),
        ("sum(if X > Y then 1 else 0)", lambda d: (d.X > d.Y).sum()),
        ("any(X > 3.5) || all(abs(X) < 9)", lambda d: (d.X > 3.5).any() or (abs(d.X) < 9).all()),
        ("sum(X * Y) / sqrt(sumsq(X) * sumsq(Y))", lambda d: (d.X * d.Y).sum() / np.sqrt((d.X ** 2).sum() * (d.Y ** 2).sum())),
        ("sumsq(X - mean(X))", lambda d: ((d.X - d.X.mean()) ** 2).sum()),
        ("dot(u, w) + max(u) * min(w)", lambda d: d.u @ d.w + d.u.max() * d.w.min()),
        ("argmax(u * w)", lambda d: (d.u * d.w).argmax()),
    ],
    "rows": [
        ("sum(X * v, over F)", lambda d: (d.X * d.v).sum(1)),
        ("max(X * Y, over F) * u", lambda d: (d.X * d.Y).max(1) * d.u),
        ("min(X, over F) + mean(Y, over F)", lambda d: d.X.min(1) + d.Y.mean(1)),
        ("prod(X, over F)", lambda d: d.X.prod(1)),
        ("X / sumsq(X, over F)", lambda d: d.X / column((d.X ** 2).sum(1))),
        ("exp(X - max(X, over F)) / sum(exp(X - max(X, over F)), over F)", lambda d: softmax(d.X)),
        ("argmax(X, over F)", lambda d: d.X.argmax(1)),
        ("sum(if argmax(X, over F) == argmin(Y, over F) then 1 else 0)", lambda d: (d.X.argmax(1) == d.Y.argmin(1)).sum()),
        ("X >= max(X, over F)", lambda d: d.X >= d.X.max(1, keepdims=True)),
        ("sum(sqrt(sumsq(X - Y, over F)) * w)", lambda d: (np.sqrt(((d.X - d.Y) ** 2).sum(1)) * d.w).sum()),
    ],
    "columns": [
        ("sum(X * u, over N) / sum(u)", lambda d: (d.X * column(d.u)).sum(0) / d.u.sum()),
        ("max(abs(X), over N) * v", lambda d: abs(d.X).max(0) * d.v),
        ("(X - mean(X, over N)) / sqrt(mean((X - mean(X, over N)) ^ 2, over N))", lambda d: (d.X - d.X.mean(0)) / d.X.std(0)),
        ("argmin(X, over N)", lambda d: d.X.argmin(0)),
        ("sum(sum(X, over N) * v)", lambda d: (d.X.sum(0) * d.v).sum()),
        ("sum(A * B, over M) + max(A, over M)", lambda d: (d.A * d.B).sum(1) + d.A.max(1)),
        ("sum(A * u, over N) * m", lambda d: (d.A * column(d.u)).sum(0) * d.m),
    ],
    "products": [
        ("X' @ (X @ v)", lambda d: d.X.T @ (d.X @ d.v)),
        ("X' @ (w * (X @ v) - u)", lambda d: d.X.T @ (d.w * (d.X @ d.v) - d.u)),
        ("X' @ (X @ V)", lambda d: d.X.T @ (d.X @ d.V)),
        ("X' @ (Q - exp(X @ V) / sum(exp(X @ V), over K))", lambda d: d.X.T @ (d.Q - softmax(d.X @ d.V))),
        ("sum((X @ V) * Q)", lambda d: ((d.X @ d.V) * d.Q).sum()),
        ("X' @ X", lambda d: d.X.T @ d.X),
        ("min(-2 * (X @ T') + sum(T * T, over F), over K)", lambda d: (-2 * d.X @ d.T.T + (d.T ** 2).sum(1)).min(1)),
        ("T @ (X' @ (X @ V))", lambda d: d.T @ (d.X.T @ (d.X @ d.V))),
        ("(X' @ Q)'", lambda d: (d.X.T @ d.Q).T),
        ("X @ (X' @ Q)", lambda d: d.X @ (d.X.T @ d.Q)),
        ("T' @ V' + V @ T", lambda d: d.T.T @ d.V.T + d.V @ d.T),
        ("A' @ tanh(A @ m)", lambda d: d.A.T @ np.tanh(d.A @ d.m)),
        ("A' @ (A @ R)", lambda d: d.A.T @ (d.A @ d.R)),
    ],
    "outer": [
        ("outer(u, m)", lambda d: np.outer(d.u, d.m)),
        ("sum(A * log(abs(outer(u, m)) + 1))", lambda d: (d.A * np.log(abs(np.outer(d.u, d.m)) + 1)).sum()),
        ("max(A - u @ m', over M)", lambda d: (d.A - np.outer(d.u, d.m)).max(1)),
        ("(A * outer(u, m)) @ m", lambda d: (d.A * np.outer(d.u, d.m)) @ d.m),
        ("outer((a, b) -> if a > b then a - b else 0.0, u, m)", lambda d: np.maximum(column(d.u) - d.m, 0)),
    ],
    "ranges": [
        ("range(P, K, 1)", lambda d: d.P[:, 1:4]),
        ("sum(range(P, K) * Q)", lambda d: (d.P[:, :3] * d.Q).sum()),
        ("range(P, K, 2) - range(P, K) * u", lambda d: d.P[:, 2:] - d.P[:, :3] * column(d.u)),
        ("X' @ range(P, K, 1)", lambda d: d.X.T @ d.P[:, 1:4]),
        ("X' @ (range(P, K) * (X @ V) - range(P, K) * sum(range(P, K) * (X @ V), over K))", second),
        ("sum(range(P, K, 2), over N) + range(v, K, 3)", lambda d: d.P[:, 2:].sum(0) + d.v[3:]),
        ("range(V, D, 1, over K)' @ T'", lambda d: d.V[:, 1:].T @ d.T.T),
        ("range(T, D, 1, over K) @ V", lambda d: d.T[1:] @ d.V),
        ("max(range(exp(P) / sum(exp(P), over C), K, 1), over K)", lambda d: softmax(d.P)[:, 1:4].max(1)),
    ],
    "sparse": [
        ("S' @ (S @ m)", lambda d: d.S.T @ (d.S @ d.m)),
        ("S' @ (w * (S @ m) - u)", lambda d: d.S.T @ (d.w * (d.S @ d.m) - d.u)),
        ("S' @ (S @ R)", lambda d: d.S.T @ (d.S @ d.R)),
        ("sum((S @ R) * Q)", lambda d: ((d.S @ d.R) * d.Q).sum()),
        ("S' @ range(P, K, 2)", lambda d: d.S.T @ d.P[:, 2:]),
        ("max(abs(S @ (m * m)))", lambda d: abs(d.S @ (d.m * d.m)).max()),
        ("sum(S * log(abs(Q @ R') + 1))", lambda d: (d.S * np.log(abs(d.Q @ d.R.T) + 1)).sum()),
        ("(S * (Q @ R')) @ R", lambda d: (d.S * (d.Q @ d.R.T)) @ d.R),
        ("(S * exp(Q @ R'))' @ Q", lambda d: (d.S * np.exp(d.Q @ d.R.T)).T @ d.Q),
        ("sum(S * u * m) + sumsq(S)", lambda d: (d.S * column(d.u) * d.m).sum() + (d.S ** 2).sum()),
        ("sum(S * S * w, over M)", lambda d: (d.S * d.S * column(d.w)).sum(1)),
        ("S' @ (Q - Q * sum(Q, over K))", lambda d: d.S.T @ (d.Q - d.Q * column(d.Q.sum(1)))),
    ],
}


def declared(expressions):
    """The inputs that some expression names."""
    names = set(re.findall(r"\b[A-Za-z]\b", " ".join(expressions)))
    text = [f"input {name} : {'dense ' if len(dims) > 1 else ''}f64[{', '.join(dims)}]" for name, dims in ARRAYS.items() if name in names]
    text += [f"input {name} : f64[{', '.join(dims)}]" for name, dims in MATRICES.items() if name in names]
    return sorted(names & (ARRAYS.keys() | MATRICES.keys())), "\n".join(text) + "\n"


class Data:
    """Every array, and a file of each in the folder."""

    def __init__(self, folder):
        rng = np.random.default_rng(8)
        self.files = {}
        for name, dims in ARRAYS.items():
            array = rng.normal(size=[SIZES[d] for d in dims])
            np.save(folder / f"{name}.npy", array)
            self.__dict__[name], self.files[name] = array, f"{name}={name}.npy"
        for name, dims in MATRICES.items():
            shape = [SIZES[d] for d in dims]
            array = np.where(rng.random(shape) < 0.2, rng.normal(size=shape), 0)
            lines = [f"{i} {j} {array[i, j]:.17g}\n" for i, j in np.argwhere(array)]
            (folder / f"{name}.txt").write_text("".join(lines))
            self.__dict__[name], self.files[name] = array, f"{name}={name}.txt"


class Expressions(ToolTest):
    def setUp(self):
        super().setUp()
        self.data = Data(self.dir)

    def write(self, expressions):
        """A program whose outputs are the expressions; returns the inputs that it reads."""
        names, inputs = declared(expressions)
        outputs = [f"output e{i} = {text}" for i, text in enumerate(expressions)]
        (self.dir / "p.ks").write_text(DIMS + inputs + "\n".join(outputs) + "\n")
        self.kasen("plan", "p.ks", "-o", "plan.kir")
        return [self.data.files[name] for name in names]

    def split(self, inputs, workers):
        sizes = [word for d in "NM" for word in ("--dim", f"{d}={SIZES[d]}")]
        self.kasen("partition", "--program", "plan.kir", *inputs, "--workers", workers, *sizes, "-o", "bundle", "--replace")

    def agrees(self, table, strategy, ranks):
        """The plan gives what NumPy does, and costs what is predicted."""
        self.kasen("fuse", "plan.kir", "--strategy", strategy, "--bundle", "bundle", "-o", "fused.kir")
        self.kasen("run", *self.over(ranks), "fused.kir", "--bundle", "bundle", "-o", "r.h5", "--stats", "run.json")
        self.kasen("measure", "fused.kir", "--bundle", "bundle", "--against", "run.json", "--check")
        with h5py.File(self.dir / "r.h5") as file:
            for i, (text, wanted) in enumerate(table):
                with self.subTest(text=text, strategy=strategy, ranks=ranks):
                    got, wanted = file[f"e{i}"][()], np.asarray(wanted(self.data))
                    self.assertEqual(got.shape, wanted.shape)
                    np.testing.assert_allclose(got, wanted, rtol=1e-9, atol=1e-9 * abs(wanted).max())

    def together(self, kind):
        """All of a kind in one program: what they share is computed for all."""
        table = TABLE[kind]
        inputs = self.write([text for text, _ in table])
        cut = None
        for workers, ranks, strategy in self.plans():
            if workers != cut:
                self.split(inputs, workers)
            cut = workers
            self.agrees(table, strategy, ranks)

    def test_each_by_itself(self):
        self.assertGreaterEqual(sum(map(len, TABLE.values())), 60)
        for row in sum((rows if EVERY_PLAN else rows[::3] for rows in TABLE.values()), []):
            self.split(self.write([row[0]]), 2)
            self.agrees([row], "greedy", 1)


for _kind in TABLE:
    setattr(Expressions, f"test_{_kind}", lambda self, kind=_kind: self.together(kind))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
