"""The applications: each one's program, script, data and constants. Data of about 10 to 400 MB, so that a script takes
from half a second to three."""
from typing import Callable, NamedTuple

import computed as of
import numpy as np


class Application(NamedTuple):
    program: str  # of examples/
    script: Callable
    inputs: Callable  # of a generator of random numbers
    constants: dict
    turns: int = 1  # iterations of the loop, all of which are timed
    dense: str = ""  # the input that the program takes as a sparse matrix, here a dense one
    mesh: bool = False  # the program is planned over a mesh
    dims: dict = {}  # sizes of dimensions that no input has
    close: float = 1e-7  # relative to the largest number of an array
    same: Callable = lambda results: results  # what is compared, where the sign of a vector is anybody's


def samples(n, f):
    return lambda r: {"X": r.normal(size=(n, f)), "y": r.normal(size=n)}


def labelled(n, f, classes):
    return lambda r: {"X": r.poisson(1.0, size=(n, f)).astype(float), "y": r.integers(0, classes, n)}


def groups(n, f, k):
    return lambda r: {"X": r.normal(size=(n, f)) + 2 * r.normal(size=(k, f))[np.arange(n) * k // n]}


def definite(n):
    def made(r):
        a = r.normal(size=(n, n))
        return {"A": a + a.T + 4 * np.sqrt(n) * np.eye(n)}
    return made


def system(n):
    return lambda r: {**definite(n)(r), "b": r.normal(size=n)}


def dominant(n):
    return lambda r: {"A": r.normal(size=(n, n)) + 3 * np.sqrt(n) * np.eye(n), "b": r.normal(size=n)}


def decaying(n, f):
    def made(r):
        u, v = r.normal(size=(n, 30)), r.normal(size=(30, f))
        return {"X": u * 0.6 ** np.arange(30) @ v + 1e-3 * r.normal(size=(n, f))}
    return made


def quotes(n, times):
    def made(r):
        middle, spread = 100 + r.normal(size=(n, times)).cumsum(1), 0.5 + r.random((n, times))
        return {"ask": middle + spread / 2, "bid": middle - spread / 2}
    return made


def cloud(n):
    return lambda r: {"p": r.normal(size=(n, 3)), "v": 0.1 * r.normal(size=(n, 3)), "m": r.random(n) / n}


def alike(n, k):
    """Weights of a graph of k communities."""
    def made(r):
        block = np.arange(n) * k // n
        a = r.random((n, n)) * np.where(block[:, None] == block, 1.0, 0.2)
        return {"A": a + a.T}
    return made


def ratings(n, m, each):
    """A sparse matrix: so many ratings a user, of 1 to 5."""
    def made(r):
        from scipy.sparse import coo_matrix
        items = np.argpartition(r.random((n, m), dtype=np.float32), each, axis=1)[:, :each].ravel()
        return {"X": coo_matrix((r.integers(1, 6, n * each).astype(float), (np.repeat(np.arange(n), each), items)), (n, m)).tocsr()}
    return made


def batches_of(batches, n, f):
    def made(r):
        x = r.normal(size=(batches, n, f))
        return {"X": x, "y": np.sign(x @ r.normal(size=f) + r.normal(size=(batches, n)))}
    return made


def sizes(results):
    return {name: abs(value) for name, value in results.items()}


def near(results):
    return {"s": results["s"], "U": abs(results["U"]), "V": abs(results["V"])}


PAPER = {  # the twelve of Spartan's
    "linear": Application("linear", of.linear, samples(400_000, 50), {"turns": 20}, 20, "X"),
    "logistic": Application("logistic", of.logistic, samples(400_000, 50), {"turns": 20}, 20, "X"),
    "cg": Application("cg", of.conjugate_gradient, system(5000), {"most": 30, "tolerance": 0.0}, 30, "A",
                      same=lambda results: {"x": results["x"]}),
    "qr": Application("qr", of.qr, lambda r: {"X": r.normal(size=(400_000, 40))}, {}, same=sizes),
    "ssvd": Application("ssvd", of.stochastic_svd, decaying(60_000, 500), {"rank": 10, "extra": 10}, 2, same=near),
    "pca": Application("pca", of.principal_components, lambda r: {"X": r.normal(size=(600_000, 50)) * np.linspace(2, 1, 50) + 3},
                       {"components": 5}, same=sizes),
    "kmeans": Application("kmeans-matrix", of.kmeans, groups(400_000, 50, 10), {"k": 10, "steps": 10, "tolerance": -1.0}, 10,
                          same=lambda results: {name: results[name] for name in ("C", "cluster", "wcss")}),
    "fuzzy-kmeans": Application("fuzzy-kmeans", of.fuzzy_kmeans, groups(200_000, 20, 10),
                                {"k": 10, "steps": 10, "tolerance": -1.0, "fuzziness": 1.7}, 10,
                                same=lambda results: {name: results[name] for name in "CU"}),
    "als": Application("als-dense", of.least_squares, lambda r: {"X": r.random((20_000, 2000))}, {"factors": 20, "rounds": 5}, 5),
    "cholesky": Application("cholesky", of.cholesky, definite(3000), {"width": 256}),
    "black-scholes": Application("blackscholes", of.options, lambda r: {name: 50 + 100 * r.random(5_000_000) for name in ("spot", "strike")}, {}),
    "predict-price": Application("predict-price", of.predict_price, quotes(40_000, 250), {"times": 250, "lag": 5}),
}
OTHERS = {
    "ridge": Application("ridge", of.ridge, samples(600_000, 50), {}, same=lambda results: {name: results[name] for name in ("w", "b", "loss")}),
    "naive-bayes": Application("naive-bayes", of.naive_bayes, labelled(300_000, 100, 10), {"classes": 10}),
    "neighbours": Application("knn", of.neighbours, lambda r: {"X": r.normal(size=(20_000, 10)), "y": r.integers(0, 5, 20_000),
                                                              "Q": r.normal(size=(2000, 10))}, {"k": 5, "classes": 5}),
    "perceptron": Application("mlp", of.perceptron, lambda r: {"X": r.random((20, 2000, 400)), "y": r.integers(0, 10, (20, 2000))},
                              {"batches": 20, "hidden": 64, "classes": 10, "epochs": 5}, 100, mesh=True),
    "mixture": Application("gaussian-mixture", of.gaussian_mixture, groups(200_000, 20, 5), {"k": 5, "steps": 10, "tolerance": -1.0}, 10,
                           same=lambda results: {name: results[name] for name in ("w", "M", "S", "P")}),
    "jacobi": Application("jacobi", of.jacobi, dominant(5000), {"most": 30, "tolerance": 0.0}, 30, same=lambda results: {"x": results["x"]}),
    "lanczos": Application("lanczos", of.lanczos, definite(5000), {"steps": 30}, 30, "A", same=lambda results: {"values": results["values"]}),
    "dual-svm": Application("svm-dual", of.dual_svm, batches_of(20, 20_000, 50), {"batches": 20, "epochs": 5}, 100, mesh=True),
    "spectral": Application("spectral", of.spectral, alike(4000, 3), {"rounds": 30}, 30, "A",
                            same=lambda results: {"cluster": results["cluster"]}),
    "convolution": Application("convolution", of.convolution, lambda r: {"X": r.normal(size=(5000, 28, 28)), "W": r.normal(size=(8, 5, 5)),
                                                                         "b": r.normal(size=8)}, {"height": 28, "width": 28}),
    "ratings": Application("ratings-sgd", of.ratings, ratings(6000, 4000, 200), {"epochs": 2}, 16),
    "recommender": Application("recommender", of.recommender, ratings(6000, 4000, 200), {}),
    "swaption": Application("swaption", of.swaption, lambda r: {}, {}, dims={"N": 2_000_000}, close=2e-2,  # other random numbers
                            same=lambda results: {"price": results["price"]}),
    "bodies": Application("nbody", of.bodies, cloud(1500), {"steps": 5}, 5),
}
APPLICATIONS = {**PAPER, **OTHERS}
