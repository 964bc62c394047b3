"""sum(x * y * z) by einsum or numexpr: KIND ELEMENTS."""
import sys
import time

sys.path.insert(0, __file__.rsplit("/", 2)[0])
from counted import missing, serve, uniform

import numpy as np

kind, elements = sys.argv[1], int(sys.argv[2])
if kind == "numexpr":
    try:
        import numexpr
    except ImportError:
        missing("numexpr (Debian: python3-numexpr)")
x, y, z = (1 + uniform(41 + v, 0, elements) for v in range(3))


def measure():
    start = time.perf_counter()
    total = np.einsum("i,i,i->", x, y, z) if kind == "einsum" else numexpr.evaluate("sum(x * y * z)")
    return time.perf_counter() - start, total


serve(measure)
