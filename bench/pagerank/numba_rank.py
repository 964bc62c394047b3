"""PageRank as users of Numba write it, a pull loop over compressed rows: EDGES.npy VERTICES UNTIL. Answers with the seconds
of an iteration, the iterations, and two sums of the ranks."""
import os
import sys
import time

sys.path.insert(0, __file__.rsplit("/", 2)[0])
from counted import missing, serve, uniform

import numpy as np

try:
    import numba
except ImportError:
    missing("Numba (Debian: python3-numba)")

file, n, until = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
numba.set_num_threads(min(int(os.environ["OMP_NUM_THREADS"]), numba.config.NUMBA_NUM_THREADS))
numba.set_parallel_chunksize(1024)


@numba.njit(parallel=True)
def iterate(pointers, sources, degree, share, rank, new_rank, new_share):
    change = 0.0
    for v in numba.prange(len(rank)):
        total = 0.0
        for e in range(pointers[v], pointers[v + 1]):
            total += share[sources[e]]
        value = (1 - 0.85) + 0.85 * total
        change += abs(rank[v] - value)
        new_rank[v] = value
        new_share[v] = value / degree[v]
    return change


edges = np.load(file)
order = np.argsort(edges[:, 1], kind="stable")
sources = edges[order, 0].astype(np.int32)
pointers = np.concatenate([[0], np.cumsum(np.bincount(edges[:, 1], minlength=n))])
degree = np.bincount(edges[:, 0], minlength=n).astype(np.float64)
degree[degree == 0] = np.inf  # never read; a quotient by 0 raises here
weights = uniform(31, 0, n)


def measure():
    rank, share = np.ones(n), 1 / degree
    new_rank, new_share = np.empty(n), np.empty(n)
    change, iterations = until + 1, 0
    start = time.perf_counter()
    while change > until:
        change = iterate(pointers, sources, degree, share, rank, new_rank, new_share)
        rank, new_rank, share, new_share = new_rank, rank, new_share, share
        iterations += 1
    return (time.perf_counter() - start) / iterations, iterations, rank @ rank, weights @ rank


iterate(pointers, sources, degree, 1 / degree, np.ones(n), np.empty(n), np.empty(n))  # compiles it
serve(measure)
