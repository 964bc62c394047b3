"""A product of matrices by a BLAS library: LIBRARY f64|f32 N K M THREADS; M of 0: A'A of the N x K matrix A, by syrk.
Prints the seconds of one and the sum of some of its elements."""
import ctypes
import os
import sys
import time

sys.path.insert(0, __file__.rsplit("/", 2)[0])
from counted import missing, serve, uniform

import numpy as np

library, kind, n, k, m, threads = sys.argv[1], sys.argv[2], *map(int, sys.argv[3:6]), sys.argv[6]
os.environ["BLIS_NUM_THREADS"] = threads
try:
    blas = ctypes.CDLL(library)
except OSError as error:
    missing(str(error))
dtype, letter, number = {"f64": (np.float64, "d", ctypes.c_double), "f32": (np.float32, "s", ctypes.c_float)}[kind]
a = uniform(71, 0, n * k).astype(dtype)
b = uniform(72, 0, k * m).astype(dtype)
c = np.zeros(n * m if m else k * k, dtype)
pa, pb, pc = (array.ctypes.data_as(ctypes.c_void_p) for array in (a, b, c))
ROWS, PLAIN, TRANSPOSED, UPPER = 101, 111, 112, 121  # of CBLAS


def call():
    if m:
        getattr(blas, f"cblas_{letter}gemm")(ROWS, PLAIN, PLAIN, n, m, k, number(1), pa, k, pb, m, number(0), pc, m)
    else:
        getattr(blas, f"cblas_{letter}syrk")(ROWS, UPPER, TRANSPOSED, k, n, number(1), pa, k, number(0), pc, k)


def measure():
    call()
    start = time.perf_counter()
    for _ in range(4):
        call()
    return (time.perf_counter() - start) / 4, c[:m or k].sum(dtype=np.float64)


serve(measure)
