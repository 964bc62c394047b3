"""sum(X * log(U V' + eps)) of a matrix with few entries: KIND ROWS COLS RANK DENSITY. dense: as NumPy writes it, with all
pairs; entries: SciPy's and NumPy's best, pairs of stored entries alone."""
import sys
import time

sys.path.insert(0, __file__.rsplit("/", 2)[0])
from counted import factors, serve, uniform

import numpy as np

kind, rows, cols, rank, density = sys.argv[1], *map(int, sys.argv[2:5]), float(sys.argv[5])
cells = uniform(3, 0, rows * cols)
at = np.flatnonzero(cells < density)
values = 1 + cells[at] / density
i, j = np.divmod(at, cols)
U, V = factors(1, rows, rank), factors(2, cols, rank)
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
