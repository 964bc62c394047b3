"""X'(X B) as two products of whatever BLAS NumPy has: ROWS COLS COLUMNS."""
import sys
import time

sys.path.insert(0, __file__.rsplit("/", 2)[0])
from counted import serve, uniform

import numpy as np

rows, cols, columns = map(int, sys.argv[1:])
X = uniform(7, 0, rows * cols).reshape(rows, cols) - 0.5


def measure():
    v = np.ones((cols, columns) if columns > 1 else cols)
    start = time.perf_counter()
    for _ in range(6):
        z = X.T @ (X @ v)
        v = z / np.abs(z).sum()
    return (time.perf_counter() - start) / 6, v.flat[0]


serve(measure)
