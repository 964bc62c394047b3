"""scikit-learn's logistic regression (L-BFGS, a product with X and one with X' a turn or more): ROWS COLS."""
import sys
import time
import warnings

sys.path.insert(0, __file__.rsplit("/", 2)[0])
from counted import missing, serve, uniform

import numpy as np

try:
    import scipy.sparse
    from sklearn.linear_model import LogisticRegression
except ImportError:
    missing("scikit-learn (Debian: python3-sklearn)")

rows, cols = map(int, sys.argv[1:])
places = (uniform(21, 0, rows * 23) ** 2 * cols).astype(np.int32)
X = scipy.sparse.csr_matrix(
    (uniform(22, 0, rows * 23) - 0.5, places, np.arange(0, rows * 23 + 1, 23)), shape=(rows, cols)
)
X.sum_duplicates()
y = np.where(uniform(23, 0, rows) < 0.5, -1, 1)


def measure():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        start = time.perf_counter()
        fit = LogisticRegression(max_iter=6, tol=1e-12, fit_intercept=False, solver="lbfgs").fit(X, y)
        return ((time.perf_counter() - start) / fit.n_iter_[0],)


serve(measure)
