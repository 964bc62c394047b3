"""What library_test.py wants of each call on docs/library.md, by NumPy and SciPy, of the arrays v. Calls stand under the
types of elements that they take (library_data.py)."""
import numpy as np
import scipy.spatial.distance as spatial
import scipy.special as sc
import scipy.stats as st
from applications_test import normal, random
from library_numpy import (away, by_group, canberra, correlation, cosine, count, covariance, divergence, focal, jarque_bera, largest, nanaverage,
                           orth, pca, pinball, place, projected, rescaled, standard, svd, trimmed, weighted_var)
import scipy.sparse.csgraph  # noqa: F401
from scipy import sparse
from scipy.linalg import expm, hilbert, solve_triangular



def links(graph):
    """With 1 for each entry."""
    return sparse.csr_matrix((np.ones(graph.nnz), graph.tocsr().indices, graph.tocsr().indptr), graph.shape)


def rank_by_links(graph, r, theta):
    """As pagerank of the library, written straight down."""
    steps = links(graph)
    out = np.asarray(steps.sum(1)).ravel()
    rank, change = np.ones(len(out)), np.inf
    while change > theta:
        with np.errstate(divide="ignore"):
            share = np.where(out > 0, rank / out, 0)
        rank, before = (1 - r) + r * (steps.T @ share), rank
        change = abs(rank - before).sum()
    return rank


def hops(graph, source):
    length = sparse.csgraph.shortest_path(graph, unweighted=True, indices=source)
    return np.where(np.isinf(length), -1, length)


def first_of_component(graph):
    labels = sparse.csgraph.connected_components(graph, directed=False)[1]
    return np.array([np.argmax(labels == label) for label in labels])


def dates(v):
    return np.floor(f64(60000 * v.x)).astype(int).astype("datetime64[D]")


# Of stored entries: SciPy's sparse matrices v.J, v.L (square) and v.D, and a vector v.a.
STORED = {
    "out_degree(J)": lambda v: links(v.J).sum(1),
    "in_degree(J)": lambda v: links(v.J).sum(0),
    "bfs(J, 0)": lambda v: hops(abs(v.J), 0),
    "shortest_paths(abs(J), 0)": lambda v: sparse.csgraph.shortest_path(abs(v.J), indices=0),
    "components(J)": lambda v: first_of_component(v.J),
    "pagerank(J, 0.85, 1e-12)": lambda v: rank_by_links(v.J, 0.85, 1e-12),
    "triangles(J + J')": lambda v: np.atleast_1d(links(v.J + v.J.T).multiply(links(v.J + v.J.T) @ links(v.J + v.J.T)).sum() / 6),
    "tril(J)": lambda v: sparse.tril(v.J),
    "triu(J, 1)": lambda v: sparse.triu(v.J, 1),
    "diag(J)": lambda v: v.J.diagonal(),
    "J'": lambda v: v.J.T,
    "(J + J') / 2": lambda v: (v.J + v.J.T) / 2,
    "J + L": lambda v: v.J + v.L,
    "J * L": lambda v: v.J.multiply(v.L),
    "J @ L": lambda v: v.J @ v.L,
    "J * (J @ L)": lambda v: v.J.multiply(v.J @ v.L),
    "J / at_rows(a)": lambda v: sparse.diags(1 / v.a) @ v.J,
    "sum(J as [N, Other], over Other)": lambda v: v.J.sum(1),
    "max(J as [Other, N], over Other)": lambda v: v.J.max(0),
    "argmax(J as [N, Other], over Other)": lambda v: v.J.argmax(1),
    "argmin(D, over N)": lambda v: v.D.argmin(0),
    "sumsq(D, over M)": lambda v: v.D.multiply(v.D).sum(1),
    "D @ D'": lambda v: v.D @ v.D.T,
}
# Of elements: the arrays v.x, v.y, ... have any shape.
ELEMENTS = {
    "number": {
        "absolute(x)": lambda v: np.absolute(v.x),
        "year(60000 * x)": lambda v: 1970 + dates(v).astype("datetime64[Y]").astype(int),
        "month(60000 * x)": lambda v: 1 + dates(v).astype("datetime64[M]").astype(int) % 12,
        "day(60000 * x)": lambda v: 1 + (dates(v) - dates(v).astype("datetime64[M]")).astype(int),
        "weekday(60000 * x)": lambda v: (np.floor(f64(60000 * v.x)).astype(int) + 3) % 7,
        "fabs(x)": lambda v: abs(v.x),
        "positive(x)": lambda v: v.x,
        "negative(x)": lambda v: np.negative(v.x),
        "subtract(x, y)": lambda v: np.subtract(v.x, v.y),
        "multiply(x, y)": lambda v: np.multiply(v.x, v.y),
        "divide(x, y)": lambda v: np.divide(v.x, v.y),
        "true_divide(x, y)": lambda v: np.true_divide(v.x, v.y),
        "floor_divide(x, y)": lambda v: np.floor_divide(v.x, v.y),
        "remainder(x, y)": lambda v: np.remainder(v.x, v.y),
        "float_power(a, x)": lambda v: np.float_power(v.a, v.x),
        "conj(x)": lambda v: np.conj(v.x),
        "conjugate(x)": lambda v: np.conjugate(v.x),
        "maximum(x, y)": lambda v: np.maximum(v.x, v.y),
        "minimum(x, y)": lambda v: np.minimum(v.x, v.y),
        "clip(x, -1, 1)": lambda v: np.clip(v.x, -1, 1),
        "where(b, x, y)": lambda v: np.where(v.b, v.x, v.y),
        "equal(x, y)": lambda v: np.equal(v.x, v.y),
        "not_equal(x, y)": lambda v: np.not_equal(v.x, v.y),
        "greater(x, y)": lambda v: np.greater(v.x, v.y),
        "greater_equal(x, y)": lambda v: np.greater_equal(v.x, v.y),
        "less(x, y)": lambda v: np.less(v.x, v.y),
        "less_equal(x, y)": lambda v: np.less_equal(v.x, v.y),
        "logical_and(b, x)": lambda v: np.logical_and(v.b, v.x),
        "logical_or(b, x)": lambda v: np.logical_or(v.b, v.x),
        "logical_xor(b, c)": lambda v: np.logical_xor(v.b, v.c),
        "logical_not(b)": lambda v: np.logical_not(v.b),
        "deg2rad(x)": lambda v: np.deg2rad(v.x),
        "radians(x)": lambda v: np.radians(v.x),
        "rad2deg(x)": lambda v: np.rad2deg(v.x),
        "degrees(x)": lambda v: np.degrees(v.x),
        "zeros_like(x)": lambda v: np.zeros_like(v.x),
        "ones_like(x)": lambda v: np.ones_like(v.x),
        "full_like(x, 7)": lambda v: np.full_like(v.x, 7),
        "relu(x)": lambda v: np.maximum(v.x, 0),
        "relu6(x)": lambda v: np.clip(v.x, 0, 6),
        "softshrink(x, 1)": lambda v: np.where(abs(v.x) > 1, v.x - np.sign(v.x), v.x - v.x),
        "hardshrink(x, 1)": lambda v: np.where(abs(v.x) > 1, v.x, 0),
        "threshold(x, 1, 7)": lambda v: np.where(v.x > 1, v.x, 7),
        "relu_slope(x)": lambda v: (v.x > 0).astype(v.x.dtype),
    },
    "real": {
        "power(p, y)": lambda v: np.power(v.p, v.y),
        "ln(p)": lambda v: np.log(v.p),
        "fmax(x, g)": lambda v: np.fmax(v.x, v.g),
        "fmin(x, g)": lambda v: np.fmin(v.x, v.g),
        "arcsin(p)": lambda v: np.arcsin(v.p),
        "arccos(p)": lambda v: np.arccos(v.p),
        "arctan(x)": lambda v: np.arctan(v.x),
        "arcsinh(x)": lambda v: np.arcsinh(v.x),
        "arccosh(a)": lambda v: np.arccosh(v.a),
        "arctanh(p)": lambda v: np.arctanh(v.p),
        "arctan2(x, y)": lambda v: np.arctan2(v.x, v.y),
        "rint(x)": lambda v: np.rint(v.x),
        "fix(x)": lambda v: np.fix(v.x),
        "fraction(x)": lambda v: np.modf(v.x)[0],
        "signbit(g)": lambda v: np.signbit(v.g),
        "isposinf(g)": lambda v: np.isposinf(v.g),
        "isneginf(g)": lambda v: np.isneginf(v.g),
        "nan_to_num(g, 0, 9, -9)": lambda v: np.nan_to_num(v.g, nan=0, posinf=9, neginf=-9),
        "heaviside(x, 0.5)": lambda v: np.heaviside(v.x, 0.5),
        "sinc(x)": lambda v: np.sinc(v.x),
        "logaddexp(x, y)": lambda v: np.logaddexp(v.x, v.y),
        "logaddexp2(x, y)": lambda v: np.logaddexp2(v.x, v.y),
        "lerp(x, y, p)": lambda v: v.x + v.p * (v.y - v.x),
        "isclose(x, y, 1e-5, 1e-8)": lambda v: np.isclose(v.x, v.y),
        "expit(x)": lambda v: sc.expit(v.x),
        "log_expit(x)": lambda v: sc.log_expit(v.x),
        "logit(p)": lambda v: sc.logit(v.p),
        "xlogy(x, p)": lambda v: sc.xlogy(v.x, v.p),
        "xlog1py(x, p)": lambda v: sc.xlog1py(v.x, v.p),
        "entr(x)": lambda v: sc.entr(v.x),
        "rel_entr(p, q)": lambda v: sc.rel_entr(v.p, v.q),
        "kl_div(p, q)": lambda v: sc.kl_div(v.p, v.q),
        "huber(1, x)": lambda v: sc.huber(1, v.x),
        "pseudo_huber(1, x)": lambda v: sc.pseudo_huber(1, v.x),
        "boxcox(p, 0.5)": lambda v: sc.boxcox(v.p, 0.5),
        "boxcox1p(p, 0.5)": lambda v: sc.boxcox1p(v.p, 0.5),
        "inv_boxcox(p, 0.5)": lambda v: sc.inv_boxcox(v.p, 0.5),
        "exprel(x)": lambda v: sc.exprel(v.x),
        "cosm1(x)": lambda v: sc.cosm1(v.x),
        "exp10(x)": lambda v: sc.exp10(v.x),
        "radian(x, y, p)": lambda v: sc.radian(v.x, v.y, v.p),
        "ndtr(x)": lambda v: sc.ndtr(v.x),
        "norm_cdf(x)": lambda v: st.norm.cdf(v.x),
        "norm_pdf(x)": lambda v: st.norm.pdf(v.x),
        "norm_logpdf(x)": lambda v: st.norm.logpdf(v.x),
        "expon_pdf(x)": lambda v: st.expon.pdf(v.x),
        "laplace_pdf(x)": lambda v: st.laplace.pdf(v.x),
        "cauchy_pdf(x)": lambda v: st.cauchy.pdf(v.x),
        "logistic_pdf(x)": lambda v: st.logistic.pdf(v.x),
        "gumbel_pdf(x)": lambda v: st.gumbel_r.pdf(v.x),
        "expon_cdf(x)": lambda v: st.expon.cdf(v.x),
        "laplace_cdf(x)": lambda v: st.laplace.cdf(v.x),
        "cauchy_cdf(x)": lambda v: st.cauchy.cdf(v.x),
        "leaky_relu(x, 0.1)": lambda v: np.where(v.x > 0, v.x, 0.1 * v.x),
        "elu(x, 1)": lambda v: np.where(v.x > 0, v.x, np.expm1(v.x)),
        "celu(x, 2)": lambda v: np.where(v.x > 0, v.x, 2 * np.expm1(v.x / 2)),
        "selu(x)": lambda v: 1.0507009873554805 * np.where(v.x > 0, v.x, 1.6732632423543772 * np.expm1(v.x)),
        "gelu(x)": lambda v: v.x * sc.ndtr(v.x),
        "gelu_tanh(x)": lambda v: v.x * sc.expit(2 * np.sqrt(2 / np.pi) * (v.x + 0.044715 * v.x ** 3)),
        "sigmoid(x)": lambda v: sc.expit(v.x),
        "log_sigmoid(x)": lambda v: sc.log_expit(v.x),
        "hard_sigmoid(x)": lambda v: np.clip(v.x / 6 + 0.5, 0, 1),
        "hard_tanh(x)": lambda v: np.clip(v.x, -1, 1),
        "silu(x)": lambda v: v.x * sc.expit(v.x),
        "hard_swish(x)": lambda v: v.x * np.clip(v.x / 6 + 0.5, 0, 1),
        "softplus(x)": lambda v: np.logaddexp(v.x, 0),
        "softsign(x)": lambda v: v.x / (1 + abs(v.x)),
        "mish(x)": lambda v: v.x * np.tanh(np.logaddexp(v.x, 0)),
        "tanhshrink(x)": lambda v: v.x - np.tanh(v.x),
        "sigmoid_slope(p)": lambda v: v.p * (1 - v.p),
        "tanh_slope(p)": lambda v: 1 - v.p * v.p,
    },
    "wide": {
        "ldexp(x, n)": lambda v: np.ldexp(v.x, v.n),
        "binary_exponent(x)": lambda v: np.int64(np.frexp(v.x)[1]),
        "spacing(x)": lambda v: np.spacing(v.x),
        "nextafter(x, y)": lambda v: np.nextafter(v.x, v.y),
    },
    "whole": {
        "bitwise_and(m, n)": lambda v: np.bitwise_and(v.m, v.n),
        "bitwise_or(m, n)": lambda v: np.bitwise_or(v.m, v.n),
        "bitwise_xor(m, n)": lambda v: np.bitwise_xor(v.m, v.n),
        "invert(n)": lambda v: np.invert(v.n),
        "bitwise_not(n)": lambda v: np.bitwise_not(v.n),
        "gcd(n, m)": lambda v: np.gcd(v.n, v.m),
        "lcm(n, m)": lambda v: np.lcm(v.n, v.m),
        "left_shift(n, m)": lambda v: np.left_shift(v.n, v.m),
        "right_shift(n, m)": lambda v: np.right_shift(v.n, v.m),
    },
}

# Along dimensions: `over N` stands for any.
ALONG = {
    "number": {
        "var(X, over N)": lambda v, axis: v.X.var(axis=axis),
        "var(X, 1, over N)": lambda v, axis: v.X.var(axis=axis, ddof=1),
        "std(X, 0, over N)": lambda v, axis: v.X.std(axis=axis),
        "ptp(X, over N)": lambda v, axis: np.ptp(v.X, axis=axis),
        "midrange(X, over N)": lambda v, axis: (v.X.max(axis=axis) / 2 + v.X.min(axis=axis) / 2),
        "rms(X, over N)": lambda v, axis: np.sqrt(np.mean(v.X * v.X, axis=axis)),
        "gmean(A, over N)": lambda v, axis: st.gmean(v.A, axis=axis),
        "hmean(A, over N)": lambda v, axis: st.hmean(v.A, axis=axis),
        "pmean(A, 3, over N)": lambda v, axis: st.pmean(v.A, 3, axis=axis),
        "gstd(A, 1, over N)": lambda v, axis: np.exp(np.log(v.A).std(axis=axis, ddof=1)),
        "tmean(X, -1, 2, over N)": lambda v, axis: trimmed(v.X, axis)[0] / trimmed(v.X, axis)[1],
        "tsum(X, -1, 2, over N)": lambda v, axis: trimmed(v.X, axis)[0],
        "tcount(X, -1, 2, over N)": lambda v, axis: trimmed(v.X, axis)[1],
        "power_sum(X, 3, over N)": lambda v, axis: (v.X / 1 ** 3 * v.X * v.X).sum(axis=axis),
        "moment(X, 3, over N)": lambda v, axis: (away(v.X, axis) ** 3).mean(axis=axis),
        "mean_deviation(X, over N)": lambda v, axis: abs(away(v.X, axis)).mean(axis=axis),
        "sem(X, 1, over N)": lambda v, axis: v.X.std(axis=axis, ddof=1) / np.sqrt(count(v.X, axis)),
        "variation(A, 0, over N)": lambda v, axis: v.A.std(axis=axis) / v.A.mean(axis=axis),
        "center(X, over N)": lambda v, axis: away(v.X, axis),
        "standardize(X, 0, over N)": lambda v, axis: standard(v.X, axis),
        "zscore(X, 0, over N)": lambda v, axis: standard(v.X, axis),
        "whiten(X, over N)": lambda v, axis: v.X / v.X.std(axis=axis, keepdims=True),
        "skewness(X, over N)": lambda v, axis: (standard(v.X, axis) ** 3).mean(axis=axis),
        "kurtosis(X, over N)": lambda v, axis: (standard(v.X, axis) ** 4).mean(axis=axis) - 3,
        "jarque_bera(X, over N)": lambda v, axis: jarque_bera(v.X, axis),
        "covariance(X, Y, 1, over N)": lambda v, axis: covariance(v.X, v.Y, axis, 1),
        "correlation(X, Y, over N)": lambda v, axis: correlation(v.X, v.Y, axis),
        "mae(X, Y, over N)": lambda v, axis: abs(v.X - v.Y).mean(axis=axis),
        "max_error(X, Y, over N)": lambda v, axis: abs(v.X - v.Y).max(axis=axis, initial=0),
        "mape(A, X, over N)": lambda v, axis: (abs(v.A - v.X) / abs(v.A)).mean(axis=axis),
        "msle(A, B, over N)": lambda v, axis: ((np.log1p(v.A) - np.log1p(v.B)) ** 2).mean(axis=axis),
        "r2_score(X, Y, over N)": lambda v, axis: 1 - ((v.X - v.Y) ** 2).sum(axis=axis) / (away(v.X, axis) ** 2).sum(axis=axis),
        "explained_variance(X, Y, over N)": lambda v, axis: 1 - (v.X - v.Y).var(axis=axis) / v.X.var(axis=axis),
        "accuracy(X, Y, over N)": lambda v, axis: (v.X == v.Y).mean(axis=axis),
        "norm(X, over N)": lambda v, axis: np.sqrt((v.X * v.X).sum(axis=axis)),
        "norm1(X, over N)": lambda v, axis: abs(v.X).sum(axis=axis),
        "norm_inf(X, over N)": lambda v, axis: abs(v.X).max(axis=axis, initial=0),
        "norm_p(X, 3, over N)": lambda v, axis: np.cbrt((abs(v.X).astype(float) ** 3).sum(axis=axis)),
        "normalize(X, over N)": lambda v, axis: v.X / np.sqrt((v.X * v.X).sum(axis=axis, keepdims=True)),
        "distance(X, Y, over N)": lambda v, axis: np.sqrt(((v.X - v.Y) ** 2).sum(axis=axis)),
        "cosine(X, Y, over N)": lambda v, axis: cosine(v.X, v.Y, axis),
        "angle(X, Y, over N)": lambda v, axis: np.arccos(cosine(v.X, v.Y, axis)),
        "count_nonzero(X, over N)": lambda v, axis: np.count_nonzero(v.X, axis=axis),
        "count_zero(X, over N)": lambda v, axis: (v.X == 0).sum(axis=axis),
        "amax(X, over N)": lambda v, axis: np.amax(v.X, axis=axis),
        "amin(X, over N)": lambda v, axis: np.amin(v.X, axis=axis),
        "vecdot(X, Y, over N)": lambda v, axis: (v.X * v.Y).sum(axis=axis),
        "euclidean(X, Y, over N)": lambda v, axis: np.sqrt(((v.X - v.Y) ** 2).sum(axis=axis)),
        "sqeuclidean(X, Y, over N)": lambda v, axis: ((v.X - v.Y) ** 2).sum(axis=axis),
        "cityblock(X, Y, over N)": lambda v, axis: abs(v.X - v.Y).sum(axis=axis),
        "chebyshev(X, Y, over N)": lambda v, axis: abs(v.X - v.Y).max(axis=axis, initial=0),
        "canberra(X, Y, over N)": lambda v, axis: canberra(v.X, v.Y, axis),
        "braycurtis(X, A, over N)": lambda v, axis: abs(v.X - v.A).sum(axis=axis) / abs(v.X + v.A).sum(axis=axis),
        "cosine_distance(X, Y, over N)": lambda v, axis: 1 - cosine(v.X, v.Y, axis),
        "correlation_distance(X, Y, over N)": lambda v, axis: 1 - correlation(v.X, v.Y, axis),
        "hamming_distance(X, Y, over N)": lambda v, axis: (v.X != v.Y).mean(axis=axis),
        "jaccard(X, Y, over N)": lambda v, axis: (v.X != v.Y).sum(axis=axis) / ((v.X != 0) + (v.Y != 0)).sum(axis=axis),
    },
    "real": {
        "average(X, P, over N)": lambda v, axis: np.average(v.X, axis=axis, weights=v.P),
        "weighted_var(X, P, over N)": lambda v, axis: weighted_var(v.X, v.P, axis),
        "weighted_std(X, P, over N)": lambda v, axis: np.sqrt(weighted_var(v.X, v.P, axis)),
        "rescale(X, over N)": lambda v, axis: rescaled(v.X, axis),
        "softmax(X, over N)": lambda v, axis: sc.softmax(v.X, axis=axis),
        "log_softmax(X, over N)": lambda v, axis: sc.log_softmax(v.X, axis=axis),
        "logsumexp(X, over N)": lambda v, axis: sc.logsumexp(v.X, axis=axis),
        "entropy(P, over N)": lambda v, axis: sc.entr(v.P).sum(axis=axis),
        "kl_divergence(P, Q, over N)": lambda v, axis: sc.rel_entr(v.P, v.Q).sum(axis=axis),
        "js_divergence(P, Q, over N)": lambda v, axis: divergence(v.P, v.Q, axis),
        "cross_entropy(P, Q, over N)": lambda v, axis: -(v.P * np.log(v.Q)).sum(axis=axis),
        "hellinger(P, Q, over N)": lambda v, axis: np.sqrt(((np.sqrt(v.P) - np.sqrt(v.Q)) ** 2).sum(axis=axis) / 2),
        "total_variation(P, Q, over N)": lambda v, axis: abs(v.P - v.Q).sum(axis=axis) / 2,
        "mse(X, Y, over N)": lambda v, axis: ((v.X - v.Y) ** 2).mean(axis=axis),
        "rmse(X, Y, over N)": lambda v, axis: np.sqrt(((v.X - v.Y) ** 2).mean(axis=axis)),
        "ttest_1samp(X, 0.5, over N)": lambda v, axis: st.ttest_1samp(v.X, 0.5, axis=axis).statistic,
        "ttest_rel(X, Y, over N)": lambda v, axis: st.ttest_rel(v.X, v.Y, axis=axis).statistic,
        "chisquare(P, Q, over N)": lambda v, axis: ((v.P - v.Q) ** 2 / v.Q).sum(axis=axis),
        "project(X, Y, over N)": lambda v, axis: projected(v.X, v.Y, axis),
        "reject(X, Y, over N)": lambda v, axis: v.X - projected(v.X, v.Y, axis),
        "reflect(X, Y, over N)": lambda v, axis: v.X - 2 * projected(v.X, v.Y, axis),
        "minkowski(X, Y, 3, over N)": lambda v, axis: np.cbrt((abs(v.X - v.Y) ** 3).sum(axis=axis)),
        "layer_norm(X, 0.001, over N)": lambda v, axis: away(v.X, axis) / np.sqrt(v.X.var(axis=axis, keepdims=True) + 0.001),
        "huber_loss(X, Y, 1, over N)": lambda v, axis: sc.huber(1, v.X - v.Y).mean(axis=axis),
        "smooth_l1(X, Y, 2, over N)": lambda v, axis: sc.huber(2, v.X - v.Y).mean(axis=axis) / 2,
        "log_cosh(X, Y, over N)": lambda v, axis: np.log(np.cosh(v.X - v.Y)).mean(axis=axis),
        "pinball_loss(X, Y, 0.3, over N)": lambda v, axis: pinball(v.X - v.Y).mean(axis=axis),
        "poisson_loss(A, B, over N)": lambda v, axis: (v.B - v.A * np.log(v.B)).mean(axis=axis),
        "gaussian_nll(X, Y, P, over N)": lambda v, axis: (0.5 * (np.log(v.P) + (v.X - v.Y) ** 2 / v.P)).mean(axis=axis),
        "hinge(X, Y, over N)": lambda v, axis: np.maximum(1 - v.X * v.Y, 0).mean(axis=axis),
        "squared_hinge(X, Y, over N)": lambda v, axis: (np.maximum(1 - v.X * v.Y, 0) ** 2).mean(axis=axis),
        "logistic_loss(X, Y, over N)": lambda v, axis: np.logaddexp(0, -v.X * v.Y).mean(axis=axis),
        "binary_cross_entropy(P, Q, over N)": lambda v, axis: -(v.P * np.log(v.Q) + (1 - v.P) * np.log1p(-v.Q)).mean(axis=axis),
        "binary_cross_entropy_logits(P, Y, over N)": lambda v, axis: (np.logaddexp(v.Y, 0) - v.P * v.Y).mean(axis=axis),
        "focal_loss(P, Q, 2, over N)": lambda v, axis: focal(v.P * v.Q + (1 - v.P) * (1 - v.Q)).mean(axis=axis),
        "dice_loss(P, Q, over N)": lambda v, axis: 1 - 2 * (v.P * v.Q).sum(axis=axis) / (v.P.sum(axis=axis) + v.Q.sum(axis=axis)),
        "cross_entropy_logits(P, Y, over N)": lambda v, axis: -(v.P * sc.log_softmax(v.Y, axis=axis)).sum(axis=axis),
    },
    "gaps": {
        "count_nan(G, over N)": lambda v, axis: np.isnan(v.G).sum(axis=axis),
        "count_numbers(G, over N)": lambda v, axis: (~np.isnan(v.G)).sum(axis=axis),
        "nansum(G, over N)": lambda v, axis: np.nansum(v.G, axis=axis),
        "nanprod(G, over N)": lambda v, axis: np.nanprod(v.G, axis=axis),
        "nanmax(G, over N)": lambda v, axis: np.nanmax(v.G, axis=axis),
        "nanmin(G, over N)": lambda v, axis: np.nanmin(v.G, axis=axis),
        "nanptp(G, over N)": lambda v, axis: np.nanmax(v.G, axis=axis) - np.nanmin(v.G, axis=axis),
        "nanmean(G, over N)": lambda v, axis: np.nanmean(v.G, axis=axis),
        "nanvar(G, 0, over N)": lambda v, axis: np.nanvar(v.G, axis=axis),
        "nanstd(G, 1, over N)": lambda v, axis: np.nanstd(v.G, axis=axis, ddof=1),
        "nanaverage(G, P, over N)": lambda v, axis: nanaverage(v.G, v.P, axis),
    },
}

# The same along one dimension.
PLACES = {
    "gaps": {
        "nanargmax(G, over N)": lambda v, axis: place(v.G, axis, np.argmax, -np.inf),
        "nanargmin(G, over N)": lambda v, axis: place(v.G, axis, np.argmin, np.inf),
    },
}

def ranks(x, axis):
    return np.argsort(np.argsort(x, axis, kind="stable"), axis, kind="stable")


def shifted(x, n, axis):
    x = np.moveaxis(x, axis, 0)
    made = np.zeros_like(x)
    made[n:] = x[:max(len(x) - n, 0)]
    return np.moveaxis(made, 0, axis)


def smoothed(x, a, axis):
    x = np.moveaxis(x, axis, 0)
    made = x.copy()
    for k in range(1, len(x)):
        made[k] = a * x[k] + (1 - a) * made[k - 1]
    return np.moveaxis(made, 0, axis)


def between(x, q, axis):
    x = f64(x)
    return np.quantile(x, q, axis=axis) if x.shape[axis] else np.full(x.sum(axis=axis).shape, np.nan)


def along_one(of):
    """Of rank 1 without an axis as along its only one."""
    return lambda v, axis: of(v, 0 if axis is None else axis)


def f64(x):
    return x.astype(np.float64)


# Along one axis, in its order.
ORDER = {
    "number": {call: along_one(of) for call, of in {
        "quantile(X, 0.3, over N)": lambda v, axis: between(v.X, 0.3, axis),
        "median(X, over N)": lambda v, axis: between(v.X, 0.5, axis),
        "percentile(X, 80.0, over N)": lambda v, axis: between(v.X, 0.8, axis),
        "iqr(X, over N)": lambda v, axis: between(v.X, 0.75, axis) - between(v.X, 0.25, axis),
        "rank(X, over N)": lambda v, axis: ranks(v.X, axis),
        "ecdf(X, over N)": lambda v, axis: (1 + ranks(v.X, axis)) / v.X.shape[axis],
        "is_sorted(X, over N)": lambda v, axis: np.all(np.diff(v.X, axis=axis) >= 0, axis=axis),
        "partition(X, 2, over N)": lambda v, axis: np.sort(v.X, axis),
        "argpartition(X, 2, over N)": lambda v, axis: np.argsort(v.X, axis, kind="stable"),
        "flip(X, over N)": lambda v, axis: np.flip(v.X, axis),
        "roll(X, 2, over N)": lambda v, axis: np.roll(v.X, 2, axis),
        "shift(X, 1, 0, over N)": lambda v, axis: shifted(v.X, 1, axis),
        "count_unique(X, over N)": lambda v, axis: np.sum(np.diff(np.sort(v.X, axis), axis=axis) != 0, axis=axis) + (v.X.shape[axis] > 0),
        "cummean(X, over N)": lambda v, axis: np.moveaxis(np.moveaxis(f64(np.cumsum(v.X, axis=axis, dtype=v.X.dtype)), axis, -1)
                                                          / np.arange(1, v.X.shape[axis] + 1), -1, axis)}.items()},
    "real": {call: along_one(of) for call, of in {
        "median_abs_deviation(X, over N)":
            lambda v, axis: between(abs(v.X - np.expand_dims(between(v.X, 0.5, axis), axis)), 0.5, axis),
        "trapezoid(X, 1.0, over N)": lambda v, axis: np.trapz(v.X, axis=axis),
        "smooth(Q, 0.3, over N)": lambda v, axis: smoothed(v.Q, 0.3, axis)}.items()},
}

# Of arrays of given dimensions.
OTHERS = {
    "number": {
        "low_below(-1, 2)": lambda v: 0,
        "bincount(m, over M)": lambda v: np.bincount(v.m, minlength=9),
        "histogram(x, -2, 2, over K)": lambda v: np.histogram(v.x, v.K, (-2, 2))[0] if v.K else np.zeros(0, int),
        "group_var(X, m, 0, over M)": lambda v: by_group(np.var, v.X, v.m, 9),
        "group_std(X, m, 0, over M)": lambda v: by_group(np.std, v.X, v.m, 9),
        "ravel(X, over NF)": lambda v: v.X.ravel(),
        "flatten(T, over NFK)": lambda v: v.T.ravel(),
        "vec(X, over FN)": lambda v: v.X.ravel(order="F"),
        "concatenate(x, y, over NN)": lambda v: np.concatenate([v.x, v.y]),
        "append(X, C, over N_and_K)": lambda v: np.append(v.X, v.C, axis=0),
        "hstack(X, Y, over FF)": lambda v: np.hstack([v.X, v.Y]),
        "vstack(X, Y, over NN)": lambda v: np.vstack([v.X, v.Y]),
        "stack(x, y, over One, Two)": lambda v: np.stack([v.x, v.y]),
        "column_stack(x, y, over One, Two)": lambda v: np.column_stack([v.x, v.y]),
        "interleave(x, y, over One, Two, N2)": lambda v: np.stack([v.x, v.y], 1).ravel(),
        "tile(x, over K, KN)": lambda v: np.tile(v.x, v.K),
        "repeat(x, over K, NK)": lambda v: np.repeat(v.x, v.K),
        "kron(x, z, over NF)": lambda v: np.outer(v.x, v.z).ravel(),
        "front, back = split(X, over Front, Back)": lambda v: (v.X[:2], v.X[2:]),
        "delete(X, over Front, Rest, Shorter)": lambda v: np.concatenate([v.X[:2], v.X[3:]]),
        "insert(X, C, over Front, Back, Longer)": lambda v: np.concatenate([v.X[:2], v.C, v.X[2:]]),
        "pad(x, 7, over K, One, Padded)": lambda v: np.pad(v.x, (v.K, 1), constant_values=7),
        "diff(X, over N, Later)": lambda v: np.diff(v.X, axis=0),
        "topk(X, over N, Top)": lambda v: -np.sort(-v.X, axis=0)[:3],
        "argtopk(X, over N, Top)": lambda v: np.argsort(-v.X, axis=0, kind="stable")[:3],
        "flipud(X, over Up)": lambda v: np.flipud(v.X),
        "fliplr(X, over Left)": lambda v: np.fliplr(v.X),
        "rot90(X, over Left)": lambda v: np.rot90(v.X),
        "block_sum(ravel(X, over NF), over N, F)": lambda v: v.X.sum(axis=1, dtype=v.X.dtype),
        "block_mean(ravel(X, over NF), over N, F)": lambda v: v.X.mean(axis=1, dtype=np.float64).astype(
            v.X.dtype if v.X.dtype.kind == "f" else np.float64),
        "block_max(ravel(X, over NF), over N, F)": lambda v: v.X.max(axis=1),
        "block_min(ravel(X, over NF), over N, F)": lambda v: v.X.min(axis=1),
        "diag(S)": lambda v: np.diag(v.S),
        "diagonal(S)": lambda v: np.diag(v.S),
        "trace(S)": lambda v: np.trace(v.S),
        "symmetric_part(S)": lambda v: (v.S + v.S.T) / 2,
        "skew_part(S)": lambda v: (v.S - v.S.T) / 2,
        "is_symmetric(S)": lambda v: (v.S == v.S.T).all(),
        "commutator(S, R)": lambda v: v.S @ v.R - v.R @ v.S,
        "inner(X, C)": lambda v: np.inner(v.X, v.C),
        "batch_matmul(T, W)": lambda v: v.T @ v.W,
        "double_contraction(T, Z)": lambda v: np.tensordot(v.T, v.Z, 2),
        "mttkrp(T, S, C)": lambda v: np.einsum("ijk,jf,kf->if", v.T, v.S, v.C),
        "matrix_norm1(X)": lambda v: abs(v.X).sum(axis=0).max(initial=0),
        "matrix_norm_inf(X)": lambda v: abs(v.X).sum(axis=1).max(initial=0),
        "gram(X)": lambda v: v.X.T @ v.X,
        "weighted_gram(X, x)": lambda v: v.X.T @ (v.X * v.x[:, None]),
        "matrix_power(S, 3)": lambda v: np.linalg.matrix_power(v.S, 3),
        "quotient, rest = divmod(x, y)": lambda v: np.divmod(v.x, v.y),
        "array_equal(x, x)": lambda v: True,
        "array_equiv(X, x)": lambda v: np.array_equiv(v.X, v.x[:, None]),
        "row_stack(X, Y, over NN)": lambda v: np.vstack([v.X, v.Y]),
        "dstack(X, Y)": lambda v: np.dstack([v.X, v.Y]),
        "expand_dims(X)": lambda v: v.X[None],
        "atleast_1d(size(N))": lambda v: np.atleast_1d(len(v.x)),
        "atleast_2d(x)": lambda v: np.atleast_2d(v.x),
        "atleast_3d(X)": lambda v: np.atleast_3d(v.X),
        "squeeze(V, over One)": lambda v: v.V[:, 0],
        "isin(n, m)": lambda v: np.isin(v.n, v.m),
        "vdot(X, Y)": lambda v: np.vdot(v.X, v.Y),
        "transpose(X)": lambda v: v.X.T,
        "add_outer(x, z)": lambda v: np.add.outer(v.x, v.z),
        "subtract_outer(x, z)": lambda v: np.subtract.outer(v.x, v.z),
        "divide_outer(x, z)": lambda v: np.divide.outer(v.x, v.z),
        "maximum_outer(x, z)": lambda v: np.maximum.outer(v.x, v.z),
        "minimum_outer(x, z)": lambda v: np.minimum.outer(v.x, v.z),
        "equal_outer(x, z)": lambda v: np.equal.outer(v.x, v.z),
        "broadcast_like(x, X)": lambda v: np.repeat(v.x[:, None], v.X.shape[1], axis=1),
        "arange(over N)": lambda v: np.arange(len(v.x)),
        "tril(X)": lambda v: np.tril(v.X),
        "triu(S, 1)": lambda v: np.triu(v.S, 1),
        "diagflat(z)": lambda v: np.diagflat(v.z),
        "left, right = meshgrid(x, z)": lambda v: np.meshgrid(v.x, v.z, indexing="ij"),
    },
    "real": {
        "zmap(x, y)": lambda v: (v.x - v.y.mean()) / v.y.std(),
        "slope, offset = linear_fit(x, y)": lambda v: np.polyfit(v.x, v.y, 1),
        "cov(X)": lambda v: away(v.X, 0).T @ away(v.X, 0) / max(len(v.X) - 1, 0),
        "weighted_cov(X, p)": lambda v: np.cov(v.X, rowvar=False, aweights=v.p),
        "cross_cov(X, Y)": lambda v: away(v.X, 0).T @ away(v.Y, 0) / max(len(v.X) - 1, 0),
        "corrcoef(X)": lambda v: standard(v.X, 0).T @ standard(v.X, 0) / len(v.X),
        "cross(u, w)": lambda v: np.cross(v.u, v.w),
        "quadratic(x, X, z)": lambda v: v.x @ v.X @ v.z,
        "rayleigh(S, z)": lambda v: v.z @ v.S @ v.z / (v.z @ v.z),
        "distances(X, C)": lambda v: ((v.X[:, None, :] - v.C[None]) ** 2).sum(axis=2),
        "polyval(x, z)": lambda v: np.polynomial.polynomial.polyval(v.x, v.z),
        "part, whole = modf(x)": lambda v: np.modf(v.x),
        "allclose(x, y)": lambda v: np.allclose(v.x, v.y),
        "matmul(X, S)": lambda v: v.X @ v.S,
        "zeros(over N, F)": lambda v: np.zeros(v.X.shape),
        "ones(over N)": lambda v: np.ones(len(v.x)),
        "full(2.5, over N)": lambda v: np.full(len(v.x), 2.5),
        "linspace(1.0, 3.0, over N)": lambda v: np.linspace(1, 3, len(v.x)),
        "logspace(0.0, 2.0, over N)": lambda v: np.logspace(0, 2, len(v.x)),
        "geomspace(1.0, 8.0, over N)": lambda v: np.geomspace(1, 8, len(v.x)),
        "eye(over N, F)": lambda v: np.eye(*v.X.shape),
        "identity(over K)": lambda v: np.identity(v.K),
        "tri(1, over N, F)": lambda v: np.tri(*v.X.shape, 1),
        "vander(p, over F)": lambda v: np.vander(v.p, v.F, increasing=True),
        "hilbert(over K)": lambda v: hilbert(v.K),
        "middle(over N)": lambda v: np.linspace(-1, 1, len(v.x)) * (len(v.x) > 1),
        "bartlett(over N)": lambda v: np.bartlett(len(v.x)),
        "hanning(over N)": lambda v: np.hanning(len(v.x)),
        "hamming(over N)": lambda v: np.hamming(len(v.x)),
        "blackman(over N)": lambda v: np.blackman(len(v.x)),
        "mahalanobis(z, mean(X, over N), gram(S))": lambda v: spatial.mahalanobis(v.z, v.X.mean(axis=0), v.S.T @ v.S),
        "pairwise_euclidean(X, C)": lambda v: spatial.cdist(v.X, v.C),
        "pairwise_cityblock(X, C)": lambda v: spatial.cdist(v.X, v.C, "cityblock"),
        "pairwise_chebyshev(X, C)": lambda v: spatial.cdist(v.X, v.C, "chebyshev"),
        "pairwise_hamming(X, C)": lambda v: spatial.cdist(v.X, v.C, "hamming"),
        "pairwise_cosine(X, C)": lambda v: spatial.cdist(v.X, v.C, "cosine"),
        "linear_kernel(X, C)": lambda v: v.X @ v.C.T,
        "polynomial_kernel(X, C, 0.5, 1, 3)": lambda v: (0.5 * v.X @ v.C.T + 1) ** 3,
        "sigmoid_kernel(X, C, 0.5, 1)": lambda v: np.tanh(0.5 * v.X @ v.C.T + 1),
        "rbf_kernel(X, C, 0.5)": lambda v: np.exp(-0.5 * spatial.cdist(v.X, v.C) ** 2),
        "laplacian_kernel(X, C, 0.5)": lambda v: np.exp(-0.5 * spatial.cdist(v.X, v.C, "cityblock")),
        "dense_layer(X, S, z)": lambda v: v.X @ v.S + v.z,
        "attention(X, C, C)": lambda v: sc.softmax(v.X @ v.C.T / np.sqrt(v.F), axis=1) @ v.C,
    },
    "wide": {
        "fraction_of_2, power_of_2 = frexp(x)": lambda v: [np.frexp(v.x)[0], np.int64(np.frexp(v.x)[1])],
    },
    "whole": {
        "rand(7, over N, F)": lambda v: random(7, *v.X.shape),
        "randint(7, -2, 3, over N, F)": lambda v: np.floor(5 * random(7, *v.X.shape) - 2).astype(int),
        "randn(7, over N, F)": lambda v: normal(7, *v.X.shape),
        "one_hot(m, over M)": lambda v: (v.m[:, None] == np.arange(9)) * 1.0,
    },
}

# The same, where the columns are a local dimension.
LOCAL = {
    "real": {
        "spectral_norm(S)": lambda v: np.linalg.norm(v.S, 2),
        "nuclear_norm(S)": lambda v: np.linalg.norm(v.S, "nuc"),
        "cond(S)": lambda v: np.linalg.cond(v.S),
        "matrix_rank(S, 0.001)": lambda v: np.linalg.matrix_rank(v.S, 0.001),
        "expm(S)": lambda v: expm(v.S),
        "lstsq(X, x)": lambda v: np.linalg.lstsq(v.X, v.x, rcond=None)[0],
        "ridge(X, x, 0.5)": lambda v: np.linalg.solve(v.X.T @ v.X + 0.5 * np.eye(v.X.shape[1]), v.X.T @ v.x),
        "pinv(X)": lambda v: np.linalg.pinv(v.X),
        "basis, upper = cholesky_qr(X)": lambda v: orth(v.X),
        "variances, axes = pca(X)": lambda v: pca(v.X),
        "polyfit(p, x, over F)": lambda v: np.polyfit(v.p, v.x, v.F - 1)[::-1],
        "tall_q, tall_r = tsqr(X)": lambda v: orth(v.X),
        "tsqr_r(X)": lambda v: orth(v.X)[1],
        "indirect_q, indirect_r = tsqr_indirect(X)": lambda v: orth(v.X),
        "refined_q, refined_r = tsqr_refined(X)": lambda v: orth(v.X),
        "tall_u, tall_s, tall_v = svd_tall(X)": lambda v: svd(v.X),
        "tall_variances, tall_axes = pca_tall(X)": lambda v: [a[..., ::-1] for a in pca(v.X)],
        "lstsq_tall(X, x)": lambda v: np.linalg.lstsq(v.X, v.x, rcond=None)[0],
        "ridge_tall(X, x, 0.5)": lambda v: np.linalg.solve(v.X.T @ v.X + 0.5 * np.eye(v.X.shape[1]), v.X.T @ v.x),
        "block_solve_lower(H, x, 4)": lambda v: solve_triangular(v.H, v.x, lower=True),
        "block_solve_upper(H, x)": lambda v: solve_triangular(v.H, v.x),
        "block_solve_transposed(H, X, 4)": lambda v: solve_triangular(v.H, v.X, lower=True, trans=1),
        "block_cholesky(H, 4)": lambda v: np.linalg.cholesky(v.H),
        "block_solve_spd(H, x, 4)": lambda v: np.linalg.solve(v.H, v.x),
        "block_inv_spd(H, 4)": lambda v: np.linalg.inv(v.H),
        "block_solve(H, x, 4)": lambda v: np.linalg.solve(v.H, v.x),
        "block_inv(H, 4)": lambda v: np.linalg.inv(v.H),
        "abs_det(S)": lambda v: abs(np.linalg.det(v.S)),
        "logdet_spd(gram(X))": lambda v: np.linalg.slogdet(v.X.T @ v.X)[1],
        "det_spd(gram(X))": lambda v: np.linalg.det(v.X.T @ v.X),
        "jacobi([f in F, g in F: S[f, g] + f64(max(0, 99 - 99 * abs(i64(f) - i64(g))))], z, 30)": lambda v: np.linalg.solve(v.S + 99 * np.eye(len(v.S)), v.z),
        "cg(gram(X), X' @ x, 3)": lambda v: np.linalg.solve(v.X.T @ v.X, v.X.T @ v.x),
        "largest, vector = power_iteration(gram(X), z, 300)": lambda v: largest(v.X.T @ v.X, v.z),
    },
}
