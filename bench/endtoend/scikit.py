"""A script as users of scikit-learn or numexpr write it.

kmeans FILE K TURNS RESULT | logistic FILE STEPS RESULT | chain FILE FILE THREADS RESULT
"""
import sys
import warnings

import numpy as np

warnings.simplefilter("ignore")


def read(file):
    if file.endswith(".npy"):
        return np.load(file)
    try:
        import pandas
    except ImportError:
        return np.loadtxt(file, delimiter=",")
    return pandas.read_csv(file, header=None).to_numpy()


what, file, *numbers, result = sys.argv[1:]
if what == "chain":
    import numexpr

    numexpr.set_num_threads(int(numbers[1]))
    x, y, a = np.load(file), np.load(numbers[0]), 2.0
    u = numexpr.evaluate("where(a * x + y > 0, a * x + y, 0)")
    w = numexpr.evaluate("sqrt(abs(u * u - y)) / (1 + u)")
    total, largest = numexpr.evaluate("sum(w)"), w.max()
    np.save(result, w)
    print(repr(float(total)), repr(float(largest)))
if what == "kmeans":
    from sklearn.cluster import KMeans

    k, turns = map(int, numbers)
    X = read(file)
    first = X[np.arange(k) * (len(X) // k)]
    fit = KMeans(k, init=first, n_init=1, max_iter=turns, tol=0, algorithm="lloyd", copy_x=False).fit(X)
    np.save(result, fit.labels_)
    print(repr(float(fit.inertia_)), fit.n_iter_)
elif what == "logistic":
    from sklearn.datasets import load_svmlight_file
    from sklearn.linear_model import LogisticRegression

    X, y = load_svmlight_file(file)
    fit = LogisticRegression(max_iter=int(numbers[0]), fit_intercept=False, solver="lbfgs").fit(X, y)
    np.save(result, fit.coef_)
    w = fit.coef_[0]
    print(repr(float(np.logaddexp(0, -y * (X @ w)).sum() + w @ w / 2)), fit.n_iter_[0])
