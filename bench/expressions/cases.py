"""Expressions, each as a program and in NumPy: dense, or with a sparse matrix of SciPy; None: not in this form. `inputs` are names of
DIMS, `gives` the dimensions of each output. Functions take the arrays by name and give those of all outputs."""
import collections

import numpy as np

FACTORS = 5
DIMS = {"X": "NF", "P": "NF", "Y": "NF", "v": "F", "w": "N", "U": "NK", "V": "FK", "G": "NN"}
Case = collections.namedtuple("Case", "name inputs gives text dense sparse")


def softmax(a):
    e = np.exp(a.X - a.X.max(1, keepdims=True))
    e /= e.sum(1, keepdims=True)
    return [e]


def slope_of_softmax(a):
    return [a.P * (a.Y - np.einsum("ij,ij->i", a.P, a.Y)[:, None])]


def standardised(a):
    apart = a.X - a.X.mean(0)
    return [apart / np.sqrt(np.einsum("ij,ij->j", apart, apart) / len(apart))]


def shares(a):
    return [a.X.T @ (1 / a.X.sum(1))]


def sparse_shares(a):
    rows = np.asarray(a.X.sum(1)).ravel()
    return [a.X.T @ (1 / (1 + rows))]


def there_and_back(a):
    return [a.X.T @ (a.w * (a.X @ a.v))]


def two_sums(a):
    return [a.X.sum(), np.vdot(a.X, a.X)]


def two_sparse_sums(a):
    return [a.X.data.sum(), a.X.data @ a.X.data]


def pairs(a):
    return [np.einsum("ij,ij->", a.X, a.U @ a.V.T)]


def stored_pairs(a):
    rows = np.repeat(np.arange(a.X.shape[0]), np.diff(a.X.indptr))
    return [a.X.data @ np.einsum("ek,ek->e", a.U[rows], a.V[a.X.indices])]


def along(axis):
    return lambda a: [np.asarray(a.X.sum(axis)).ravel()]


def product(a):
    return [a.X @ a.v]


def triangles(a):
    return [(a.G @ a.G).multiply(a.G).sum() / 6]


CASES = [
    Case("softmax", "X", ["NF"], "e = exp(X - max(X, over F)); e / sum(e, over F)", softmax, None),
    Case("slope of softmax", "PY", ["NF"], "P * (Y - sum(P * Y, over F))", slope_of_softmax, None),
    Case("standardised", "X", ["NF"], "a = X - mean(X, over N); a / sqrt(mean(a * a, over N))", standardised, None),
    Case("shares of rows", "X", ["F"], "sum(X / sum(X, over F), over N)", shares, None),
    Case("shares of rows", "X", ["F"], "sum(X / (1 + sum(X, over F)), over N)", None, sparse_shares),
    Case("X'(w (X v))", "Xvw", ["F"], "X' @ (w * (X @ v))", there_and_back, there_and_back),
    Case("two sums", "X", ["", ""], "sum(X) and sumsq(X)", two_sums, two_sparse_sums),
    Case("X * (U V')", "XUV", [""], "sum(X * (U @ V'))", pairs, stored_pairs),
    Case("X v", "Xv", ["N"], "X @ v", product, product),
    Case("sums of rows", "X", ["N"], "sum(X, over F)", along(1), along(1)),
    Case("sums of columns", "X", ["F"], "sum(X, over N)", along(0), along(0)),
    Case("triangles", "G", [""], "sum(G * (G @ G)) / 6", None, triangles),
]


def program(case, form):
    """The case, several times: columns are local, so a worker has whole rows of a sparse X."""
    words = {"X": "sparse " if form == "sparse" else "", "G": ""}
    inputs = [f"input {name} : {words.get(name, '')}f64[{', '.join(DIMS[name])}]" for name in case.inputs]
    *statements, outputs = case.text.split("; ")
    outputs = outputs.split(" and ")
    first = [f"e{i} : f64{'[' + ', '.join(dims) + ']' if dims else ''} = 0" for i, dims in enumerate(case.gives)]
    each = [*statements, *(f"e{i} = {output}" for i, output in enumerate(outputs))]
    used = {dim for name in case.inputs for dim in DIMS[name]}
    dims = "dim N" + ", F local" * ("F" in used) + f", K local = {FACTORS}" * ("K" in used)
    loop = ["for turn in 0..turns {", *each, "}"]
    return "\n".join([dims, *inputs, "param turns = 1", *first, *loop, "output " + ", ".join(f"e{i}" for i in range(len(outputs)))]) + "\n"
