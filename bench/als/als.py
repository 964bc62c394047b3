"""Rounds of examples/als.ks in NumPy and SciPy: FILE RATINGS USERS ITEMS ROUNDS STEPS (no FILE: made by counting). Answers
with the seconds of a round, the first left out, and the loss after the last."""
import lzma
import sys
import time

sys.path.insert(0, __file__.rsplit("/", 2)[0])
from counted import factors, missing, serve, uniform

import numpy as np

try:
    from scipy.sparse import csr_matrix
except ImportError:
    missing("SciPy (Debian: python3-scipy)")

file = sys.argv[1]
wanted, users, items, rounds, steps = map(int, sys.argv[2:])
rank, weight = 20, 0.05


def some_of_file():
    with lzma.open(file) as lines:
        user, item, rating = np.loadtxt(lines, dtype=np.int64, usecols=(0, 1, 2)).T - [[1], [1], [0]]
    taken = uniform(33, 0, 943 * 1682)[user * 1682 + item] < wanted / 100000
    return csr_matrix((rating[taken].astype(float), (user[taken], item[taken])), (943, 1682))


def made():
    cells = users * items
    piece = 2_500_000
    rated = [first + np.flatnonzero(uniform(31, first, piece) < wanted / cells) for first in range(0, cells, piece)]
    numbers = [np.floor(5 * uniform(32, first, piece)[at - first]) for first, at in zip(range(0, cells, piece), rated)]
    at = np.concatenate(rated)
    return csr_matrix((1 + np.concatenate(numbers), (at // items, at % items)), (users, items))


X = some_of_file() if file else made()
X.sort_indices()
users, items = X.shape
i, j = np.repeat(np.arange(users), np.diff(X.indptr)), X.indices
wu = weight * np.diff(X.indptr)[:, None]
wv = weight * np.bincount(j, minlength=items)[:, None]


def products(U, V):
    """U V' where there are ratings; in pieces that stay in a cache."""
    out = np.empty(X.nnz)
    piece = 1 << 14
    for at in range(0, X.nnz, piece):
        part = slice(at, at + piece)
        np.einsum("ek,ek->e", U[i[part]], V[j[part]], out=out[part])
    return out


def with_entries(values):
    return csr_matrix((values, X.indices, X.indptr), X.shape)


def loss(U, V):
    return ((X.data - products(U, V)) ** 2).sum() + (wu * U * U).sum() + (wv * V * V).sum()


def conjugate_gradients(U, r, applied):
    s, rr = r.copy(), (r * r).sum()
    for _ in range(steps):
        h = applied(s)
        a = rr / (s * h).sum()
        U = U + a * s
        r = r - a * h
        after = (r * r).sum()
        s = r + after / rr * s
        rr = after
    return U


def one_round(U, V):
    U = conjugate_gradients(U, with_entries(X.data - products(U, V)) @ V - U * wu,
                            lambda s: with_entries(products(s, V)) @ V + s * wu)
    V = conjugate_gradients(V, with_entries(X.data - products(U, V)).T @ U - V * wv,
                            lambda t: with_entries(products(U, t)).T @ U + t * wv)
    return U, V, loss(U, V)


def measure():
    U, V = factors(1, users, rank) - 0.5, factors(2, items, rank) - 0.5
    U, V, _ = one_round(U, V)
    start = time.perf_counter()
    for _ in range(rounds - 1):
        U, V, last = one_round(U, V)
    return (time.perf_counter() - start) / (rounds - 1), last / 2


serve(measure)
