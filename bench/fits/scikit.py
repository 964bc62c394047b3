"""scikit-learn's fit of a model to dense_samples.h or samples.h: MODEL ROWS COLUMNS. Answers with the seconds and what was minimised."""
import sys
import time
import warnings

sys.path.insert(0, __file__.rsplit("/", 2)[0])
from counted import missing, serve, uniform

import numpy as np

try:
    import scipy.sparse
    from sklearn.cluster import KMeans
    from sklearn.linear_model import LogisticRegression
    from sklearn.svm import LinearSVC
except ImportError:
    missing("scikit-learn (Debian: python3-sklearn)")

model, rows, columns = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])


def dense_samples():
    """Samples, and the score on which their labels depend."""
    X = uniform(7, 0, rows * columns).reshape(rows, columns) - 0.5
    return X, 2 * (X[:, 0] + X[:, 1] + (uniform(24, 0, rows) - 0.5))


def sparse_samples(cols=30_000, each=23):
    """samples.h, with predictable labels."""
    u = uniform(21, 0, rows * each)
    places = np.sort((u * u * cols).astype(np.int32).reshape(rows, each), axis=1)
    for e in range(each):
        if e > 0:
            places[:, e] = np.maximum(places[:, e], places[:, e - 1] + 1)
        places[:, e] = np.minimum(places[:, e], cols - (each - e))
    X = scipy.sparse.csr_matrix((uniform(22, 0, rows * each) - 0.5, places.ravel(), np.arange(0, rows * each + 1, each)), shape=(rows, cols))
    return X, np.where(X @ (uniform(25, 0, cols) - 0.5) > uniform(23, 0, rows) - 0.5, 1.0, -1.0)


X, score = sparse_samples() if model == "logistic-sparse" else dense_samples()


def logistic():
    """By the rule to end that scikit-learn has by default."""
    y = np.where(score > 0, 1.0, -1.0)
    fit = LogisticRegression(C=1.0, fit_intercept=False, solver="lbfgs", max_iter=1000).fit(X, y)
    w = fit.coef_[0]
    return lambda: np.logaddexp(0, -y * (X @ w)).sum() + w @ w / 2


def l2svm():
    """lambda = 1: a half of each squared hinge and of |w|^2."""
    y = np.where(score > 0, 1.0, -1.0)
    fit = LinearSVC(loss="squared_hinge", dual=False, C=0.5, fit_intercept=False, tol=1e-5, max_iter=1000).fit(X, y)
    w = fit.coef_[0]
    return lambda: (np.maximum(0, 1 - y * (X @ w)) ** 2).sum() / 2 + w @ w / 2


def multinomial():
    y = np.clip(3 + np.sign(score) * np.floor(np.abs(score) + 0.5), 1, 5).astype(np.int64)
    fit = LogisticRegression(C=1.0, fit_intercept=False, multi_class="multinomial", solver="newton-cg", tol=1e-5).fit(X, y)

    def loss():
        scores = X @ fit.coef_.T
        top = scores.max(1)
        right = scores[np.arange(rows), y - 1]
        return (top + np.log(np.exp(scores - top[:, None]).sum(1)) - right).sum() + (fit.coef_**2).sum() / 2

    return loss


def kmeans():
    """Ten steps from five samples, evenly apart."""
    first = X[np.arange(5) * (rows // 5)]
    fit = KMeans(5, init=first, n_init=1, max_iter=10, tol=0, algorithm="lloyd", copy_x=False).fit(X)
    return lambda: fit.inertia_


def measure():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        start = time.perf_counter()
        minimum = {"logistic": logistic, "logistic-sparse": logistic, "l2svm": l2svm, "multinomial": multinomial, "kmeans": kmeans}[model]()
        taken = time.perf_counter() - start
        return taken, minimum()


serve(measure)
