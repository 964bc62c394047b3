"""What NumPy has no function for: values of library functions, for library_calls.py."""
import numpy as np
import scipy.special as sc


def away(x, axis):
    return x - x.mean(axis=axis, keepdims=True)


def standard(x, axis):
    return away(x, axis) / x.std(axis=axis, keepdims=True)


def count(x, axis):
    return x.size if axis is None else np.prod([x.shape[a] for a in np.atleast_1d(axis)])


def weighted_var(x, weights, axis):
    mean = (x * weights).sum(axis=axis, keepdims=True) / weights.sum(axis=axis, keepdims=True)
    return np.average((x - mean) ** 2, axis=axis, weights=weights)


def trimmed(x, axis):
    inside = (-1 <= x) & (x <= 2)
    return np.where(inside, x, 0).sum(axis=axis), inside.sum(axis=axis)


def rescaled(x, axis):
    least = x.min(axis=axis, keepdims=True)
    return (x - least) / (x.max(axis=axis, keepdims=True) - least)


def divergence(p, q, axis):
    middle = (p + q) / 2
    return (sc.rel_entr(p, middle) + sc.rel_entr(q, middle)).sum(axis=axis) / 2


def jarque_bera(x, axis):
    z = standard(x, axis)
    return count(x, axis) / 6 * ((z ** 3).mean(axis=axis) ** 2 + ((z ** 4).mean(axis=axis) - 3) ** 2 / 4)


def covariance(x, y, axis, ddof):
    return (away(x, axis) * away(y, axis)).sum(axis=axis) / max(count(x, axis) - ddof, 0)


def correlation(x, y, axis):
    return covariance(x, y, axis, 0) / (x.std(axis=axis) * y.std(axis=axis))


def cosine(x, y, axis):
    return (x * y).sum(axis=axis) / np.sqrt((x * x).sum(axis=axis) * (y * y).sum(axis=axis))


def projected(x, y, axis):
    return y * (x * y).sum(axis=axis, keepdims=True) / (y * y).sum(axis=axis, keepdims=True)


def canberra(x, y, axis):
    total = abs(x) + abs(y)
    return (abs(x - y) / np.where(total == 0, 1, total)).sum(axis=axis)


def pinball(apart):
    return np.maximum(0.3 * apart, -0.7 * apart)


def focal(right):
    return -((1 - right) ** 2) * np.log(right)


def place(x, axis, of, instead):
    return of(np.where(np.isnan(x), instead, x), axis=axis)


def nanaverage(x, weights, axis):
    return np.nansum(x * weights, axis=axis) / np.where(np.isnan(x), 0, weights).sum(axis=axis)


def orth(x):
    """Q, R with a diagonal that is not negative."""
    q, r = np.linalg.qr(x)
    sign = np.sign(np.diag(r))
    return q * sign, r * sign[:, None]


def signs(vectors):
    """What makes the first component of at least half the size of the largest positive."""
    large = abs(vectors) >= abs(vectors).max(axis=0) / 2
    return np.sign(np.take_along_axis(vectors, large.argmax(axis=0)[None], axis=0))


def svd(x):
    """The vectors with the signs of svd (docs/language.md)."""
    left, values, right = np.linalg.svd(x, full_matrices=False)
    return left * signs(right.T), values, right.T * signs(right.T)


def pca(x):
    """The vectors with the signs of eigh (docs/language.md)."""
    values, vectors = np.linalg.eigh(np.atleast_2d(np.cov(x, rowvar=False)))
    return values, vectors * signs(vectors)


def largest(a, start):
    values, vectors = np.linalg.eigh(a)
    return values[-1], vectors[:, -1] * np.sign(vectors[:, -1] @ start)


def by_group(f, x, keys, size):
    """f of the rows of x with each key; NaN of none."""
    return np.array([f(x[keys == k], axis=0) if (keys == k).any() else np.full(x.shape[1:], np.nan) for k in range(size)])
