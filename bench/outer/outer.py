"""sum(X * log(U V' + eps)) of a matrix with few entries: KIND ROWS COLS RANK DENSITY. dense: as NumPy writes it, with all
pairs; entries: SciPy's and NumPy's best, pairs of stored entries alone."""
import sys
import time

sys.path.insert(0, __file__.rsplit("/", 2)[0])
from counted import serve, uniform

import numpy as np

kind, rows, cols, rank, density = sys.argv[1], *map(int, sys.argv[2:5]), float(sys.argv[5])


def factors(seed, count):
    """random(seed, N, K) of the language."""
    def mix64(a, b):
        z = a + (b + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))

    with np.errstate(over="ignore"):
        state = mix64(np.array([[seed]], np.uint64), np.uint64(0))
        bits = mix64(mix64(state, np.arange(count, dtype=np.uint64)[:, None]), np.arange(rank, dtype=np.uint64)[None, :])
    return (bits.astype(np.int64) >> 11) * 2.0**-53 + 0.5


cells = uniform(3, 0, rows * cols)
at = np.flatnonzero(cells < density)
values = 1 + cells[at] / density
i, j = np.divmod(at, cols)
U, V = factors(1, rows), factors(2, cols)
if kind == "dense":
    X = np.zeros(rows * cols)
    X[at] = values
    X = X.reshape(rows, cols)
del cells


def measure():
    start = time.perf_counter()
    if kind == "dense":
        s = (X * np.log(U @ V.T + 1e-3)).sum()
    else:
        s = (values * np.log(np.einsum("ek,ek->e", U[i], V[j]) + 1e-3)).sum()
    return time.perf_counter() - start, s


serve(measure)
