"""A product of two matrices, or of a matrix and a vector, by a BLAS library: LIBRARY dgemm|dgemv N THREADS [plain].
plain: BLIS chooses its kernels itself."""
import ctypes
import os
import sys
import time

sys.path.insert(0, __file__.rsplit("/", 2)[0])
from counted import missing, serve, uniform

import numpy as np

library, what, n, threads = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
os.environ["BLIS_NUM_THREADS"] = threads
if "plain" in sys.argv:
    os.environ.pop("BLIS_ARCH_TYPE", None)
try:
    blas = ctypes.CDLL(library)
except OSError as error:
    missing(str(error))
a, b, c = (np.ascontiguousarray(uniform(61 + v, 0, n * n).reshape(n, n)) for v in range(3))
address = [m.ctypes.data_as(ctypes.c_void_p) for m in (a, b, c)]
number = ctypes.c_double
ROWS, PLAIN = 101, 111  # CblasRowMajor, CblasNoTrans


def call():
    if what == "dgemm":
        blas.cblas_dgemm(ROWS, PLAIN, PLAIN, n, n, n, number(1), address[0], n, address[1], n, number(0), address[2], n)
    else:
        blas.cblas_dgemv(ROWS, PLAIN, n, n, number(1), address[0], n, address[1], 1, number(0), address[2], 1)


def measure():
    call()
    start = time.perf_counter()
    turns = 3 if what == "dgemm" else 20
    for _ in range(turns):
        call()
    return (time.perf_counter() - start) / turns, c[0].sum()


serve(measure)
