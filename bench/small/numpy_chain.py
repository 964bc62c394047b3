"""bench/chain/chain.ks by NumPy, in place: ELEMENTS PASSES."""
import sys
import time

sys.path.insert(0, __file__.rsplit("/", 2)[0])
from counted import serve, uniform

import numpy as np

elements, passes = map(int, sys.argv[1:])
x, start = uniform(51, 0, elements), uniform(52, 0, elements)


def measure():
    y = start.copy()
    begin = time.perf_counter()
    for _ in range(passes):
        t = 2.0 * x + y
        u = np.maximum(t, 0)
        v = u * u - y
        y = np.sqrt(np.abs(v)) / (1 + u)
        total = y.sum()
    return (time.perf_counter() - begin) / passes, total


serve(measure)
