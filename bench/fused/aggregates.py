"""sum(x * y) and sum(x * z) by einsum: ELEMENTS."""
import sys
import time

sys.path.insert(0, __file__.rsplit("/", 2)[0])
from counted import serve, uniform

import numpy as np

x, y, z = (1 + uniform(41 + v, 0, int(sys.argv[1])) for v in range(3))


def measure():
    start = time.perf_counter()
    total = np.einsum("i,i->", x, y) + np.einsum("i,i->", x, z)
    return time.perf_counter() - start, total


serve(measure)
