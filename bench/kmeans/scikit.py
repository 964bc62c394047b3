"""scikit-learn's Lloyd iterations: POINTS COLUMNS K TURNS."""
import sys
import time
import warnings

sys.path.insert(0, __file__.rsplit("/", 2)[0])
from counted import missing, serve, uniform

import numpy as np

try:
    from sklearn.cluster import KMeans
except ImportError:
    missing("scikit-learn (Debian: python3-sklearn)")

points, columns, k, turns = map(int, sys.argv[1:])
X = np.empty((points, columns))
for j in range(columns):
    X[:, j] = 4 * np.resize(uniform(100 + j, 0, 64), points) + uniform(j, 0, points)
first = X[np.arange(k) * (points // k)]


def measure():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        start = time.perf_counter()
        fit = KMeans(k, init=first, n_init=1, max_iter=turns, tol=0, algorithm="lloyd", copy_x=False).fit(X)
        return (time.perf_counter() - start) / fit.n_iter_, fit.inertia_


serve(measure)
