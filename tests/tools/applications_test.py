#!/usr/bin/env python3
"""Applications of examples/, most of them Spartan's: their results are NumPy's, on one to six workers and over meshes.

Usage: applications_test.py FOLDER_OF_TOOLS SOURCE_ROOT [unittest arguments]
"""
import sys
import unittest

import numpy

sys.dont_write_bytecode = True  # the source tree stays as it is
from beside_numpy import COLUMNS, FEATURES, MESHES, WORKERS, BesideNumPy, mix64, normal, random, squares  # noqa: E402
from scipy.special import ndtr  # noqa: E402


def one_of(labels, classes):
    return numpy.eye(classes)[labels]


def signed(vectors):
    """The first component of at least half the size of the largest is positive."""
    return vectors * numpy.sign([c[numpy.argmax(abs(c) >= abs(c).max() / 2)] for c in vectors.T])


class Applications(BesideNumPy):
    # ---- matrices

    def test_qr(self):
        x = self.numbers.normal(size=(70, 6))
        q, r = numpy.linalg.qr(x)
        signs = numpy.sign(numpy.diag(r))
        self.agrees("qr", [self.whole("X", x)], {"Q": q * signs, "R": signs[:, None] * r})

    def test_stochastic_svd(self):
        u, v = (numpy.linalg.qr(self.numbers.normal(size=(n, 12)))[0] for n in (50, 40))
        x = u * (0.5 ** numpy.arange(12)) @ v.T + 1e-4 * self.numbers.normal(size=(50, 40))
        y = x @ normal(1, 40, 8)
        for _ in range(2):
            y = x @ (numpy.linalg.qr(x.T @ numpy.linalg.qr(y)[0])[0])
        q = numpy.linalg.qr(y)[0]
        u, s, vt = numpy.linalg.svd(q.T @ x)
        near = q @ (u[:, :4] * s[:4]) @ vt[:4]
        self.agrees("ssvd", [self.whole("X", x)], {"s": s[:4], "X": near, "one": numpy.eye(4), "other": numpy.eye(4)},
                    define=["rank=4", "extra=4"], shown=lambda got: {
                        "s": got["s"], "X": got["U"] * got["s"] @ got["V"].T, "one": got["U"].T @ got["U"], "other": got["V"].T @ got["V"]})
        numpy.testing.assert_allclose(s[:4], numpy.linalg.svd(x)[1][:4], rtol=1e-6)

    def test_pca(self):
        x = self.numbers.normal(size=(80, 5)) @ self.numbers.normal(size=(5, 5)) + 3
        centre = x.mean(0)
        s, vt = numpy.linalg.svd(x - centre)[1:]
        w = signed(vt.T)[:, :2]
        self.agrees("pca", [self.whole("X", x)], {"components": w, "variance": s[:2] ** 2 / 79, "share": s[:2] ** 2 / (s**2).sum(),
                                                  "centre": centre, "scores": (x - centre) @ w})

    def test_cholesky(self):
        for n, width in [(37, 8), (24, 32)]:
            a = self.numbers.normal(size=(n, n))
            a = a @ a.T + n * numpy.eye(n)
            self.agrees("cholesky", [self.whole("A", a)], {"L": numpy.linalg.cholesky(a)}, define=[f"width={width}"],
                        layouts=[*WORKERS, *MESHES, ("--mesh", "4", "--layout", "A=[N,M/a]", "-n", 2)] if width == 8 else MESHES[:1])

    def test_jacobi(self):
        a = self.numbers.normal(size=(45, 45)) + 50 * numpy.eye(45)
        b = self.numbers.normal(size=45)
        self.agrees("jacobi", [self.whole("A", a), self.whole("b", b)], {"x": numpy.linalg.solve(a, b)},
                    layouts=[*WORKERS, *MESHES, COLUMNS], shown=lambda got: {"x": got["x"]})

    def test_lanczos(self):
        """As many steps as the matrix has rows: values are exact."""
        a = numpy.where(self.numbers.random((30, 30)) < 0.2, self.numbers.normal(size=(30, 30)), 0)
        a = a + a.T + numpy.diag(numpy.arange(30.0))
        w, v = numpy.linalg.eigh(a)
        wanted = {"values": w[:-4:-1], "vectors": signed(v[:, :-4:-1])}
        shown = lambda got: {**got, "vectors": signed(got["vectors"])}  # noqa: E731
        self.agrees_in_both("lanczos", "A", a, [], wanted, COLUMNS, shown=shown)

    # ---- samples

    def test_ridge(self):
        x, y = self.numbers.normal(size=(60, 5)) + 1, self.numbers.normal(size=60)
        centred, mean = x - x.mean(0), y.mean()
        w = numpy.linalg.lstsq(numpy.vstack([centred, 0.5 * numpy.eye(5)]), numpy.append(y - mean, numpy.zeros(5)), rcond=None)[0]
        e = x @ w + mean - x.mean(0) @ w - y
        self.agrees("ridge", [self.whole("X", x), self.whole("y", y)], {
            "w": w, "b": mean - x.mean(0) @ w, "loss": e @ e + 0.25 * w @ w, "r2": 1 - e @ e / ((y - mean) ** 2).sum()}, define=["lambda=0.25"])

    def test_dual_svm(self):
        x = self.numbers.normal(size=(4, 12, 5))
        y = numpy.sign(x @ self.numbers.normal(size=5) + 0.3 * self.numbers.normal(size=(4, 12)))
        alpha, w, scale = numpy.zeros((4, 12)), numpy.zeros(5), 0.05 * 48
        for _ in range(30):
            for t in range(4):
                step = 2 / 12 * scale * (1 - y[t] * (x[t] @ w)) / (x[t] ** 2).sum(1)
                new = numpy.clip(alpha[t] + step, 0, 1)
                w = w + x[t].T @ (y[t] * (new - alpha[t])) / scale
                alpha[t] = new
        score = y * (x @ w)
        primal = numpy.maximum(1 - score, 0).mean() + 0.025 * w @ w
        gap = primal - alpha.mean() + 0.025 * w @ w
        self.assertLess(gap, 0.01)
        self.agrees("svm-dual", [self.whole("X", x), self.whole("y", y)], {"w": w, "primal": primal, "gap": gap, "right": (score > 0).sum()},
                    define=["batches=4", "lambda=0.05", "epochs=30", "boldness=2.0"])

    def test_naive_bayes(self):
        y = self.numbers.integers(0, 3, 50)
        x = self.numbers.poisson(0.2 + 2 * self.numbers.random((3, 9))[y]).astype(float)
        member = one_of(y, 3)
        counts = x.T @ member + 0.5
        theta, prior = numpy.log(counts / counts.sum(0)), numpy.log(member.mean(0))
        label = (x @ theta + prior).argmax(1)
        wanted = {"theta": theta, "prior": prior, "label": label, "right": (label == y).sum()}
        define, labels = ["classes=3", "smoothing=0.5"], self.whole("y", y)
        self.agrees("naive-bayes", [self.whole("X", x), labels], wanted, define=define)
        self.agrees(self.other("naive-bayes", "dim N, F local, K", "dim N, F, K"), [self.entries("X", x), labels], wanted, define=define,
                    layouts=WORKERS[1:])

    def test_neighbours(self):
        x, y, q = self.numbers.normal(size=(40, 3)), self.numbers.integers(0, 3, 40), self.numbers.normal(size=(17, 3))
        votes = one_of(y, 3)[squares(q, x).argsort(1)[:, :4]].sum(1)
        self.agrees("knn", [self.whole("X", x), self.whole("y", y), self.whole("Q", q)], {"label": votes.argmax(1), "votes": votes},
                    define=["k=4", "classes=3"])

    def test_perceptron(self):
        x, y = self.numbers.random((5, 12, 6)), self.numbers.integers(0, 3, (5, 12))
        w1, w2 = normal(42, 6, 8) * numpy.sqrt(2 / 6), normal(43, 8, 3) * numpy.sqrt(2 / 8)
        weights = [w1, numpy.zeros(8), w2, numpy.zeros(3)]
        moves = [numpy.zeros_like(w) for w in weights]
        for _ in range(6):
            loss = right = 0
            for b, labels in zip(x, y):
                a = numpy.maximum(b @ weights[0] + weights[1], 0)
                z = a @ weights[2] + weights[3]
                p = numpy.exp(z) / numpy.exp(z).sum(1, keepdims=True)
                loss -= numpy.log(p[numpy.arange(12), labels]).sum()
                right += (z.argmax(1) == labels).sum()
                d2 = p - one_of(labels, 3)
                d1 = (d2 @ weights[2].T) * (a > 0)
                moves = [0.9 * v - 0.2 / 12 * g for v, g in zip(moves, (b.T @ d1, d1.sum(0), a.T @ d2, d2.sum(0)))]
                weights = [w + v for w, v in zip(weights, moves)]
        wanted = {**dict(zip(("W1", "b1", "W2", "b2"), weights)), "loss": loss / 60, "right": right}
        self.agrees("mlp", [self.whole("X", x), self.whole("y", y)], wanted, define=["batches=5", "hidden=8", "classes=3", "epochs=6", "rate=0.2"])

    def test_convolution(self):
        """Squares that the image does not fill are left out."""
        x, w, b = self.numbers.normal(size=(7, 9, 8)), self.numbers.normal(size=(3, 3, 3)), self.numbers.normal(size=3)
        views = numpy.lib.stride_tricks.sliding_window_view(x, (3, 3), axis=(1, 2))
        y = numpy.maximum(numpy.einsum("nijrs,frs->nfij", views, w) + b[:, None, None], 0)
        wanted = y[:, :, :6, :6].reshape(7, 3, 3, 2, 3, 2).max((3, 5))
        self.agrees("convolution", [self.whole("X", x), self.whole("W", w), self.whole("b", b)], {"Z": wanted},
                    define=["height=9", "width=8", "filter=3"])

    # ---- clusters

    def test_fuzzy_kmeans(self):
        x = self.numbers.normal(size=(60, 4)) + 3 * self.numbers.integers(0, 3, size=(60, 1))
        centres, shares, change, steps = x[[0, 20, 40]], numpy.zeros((60, 3)), 1.0, 0
        while change > 1e-9:
            nearness = numpy.maximum(squares(x, centres), 1e-30) ** (-1 / 0.7)
            new = nearness / nearness.sum(1, keepdims=True)
            change, shares, steps = abs(new - shares).max(), new, steps + 1
            centres = (shares**1.7).T @ x / (shares**1.7).sum(0)[:, None]
        self.agrees("fuzzy-kmeans", [self.whole("X", x)], {"C": centres, "U": shares}, define=["fuzziness=1.7"],
                    shown=lambda got: {"C": got["C"], "U": got["U"]})

    def test_spectral_clustering(self):
        """Two of the first centres are of one cluster, and the clusters run into each other: the centres have to move."""
        block = numpy.arange(45) // 18
        a = numpy.where(block[:, None] == block, 0.5, 0.3) + self.numbers.random((45, 45))
        a = numpy.triu(a, 1) + numpy.triu(a, 1).T
        scale = a.sum(1) ** -0.5
        v = numpy.linalg.eigh(scale[:, None] * a * scale)[1][:, -3:]
        s = v / numpy.linalg.norm(v, axis=1, keepdims=True)
        centres = s[[0, 15, 30]]
        cluster, step = numpy.full(45, -1), 0
        while not step or moves:
            now = squares(s, centres).argmin(1)
            moves, cluster, step = (now != cluster).any(), now, step + 1
            centres = numpy.array([s[cluster == j].mean(0) for j in range(3)])
        self.assertGreater(step, 3)
        self.agrees_in_both("spectral", "A", a, [], {"cluster": cluster, "step": step}, COLUMNS, define=["rounds=2000"])

    # ---- ratings

    def ratings(self):
        return numpy.where(self.numbers.random((30, 20)) < 0.4, self.numbers.integers(1, 6, (30, 20)), 0).astype(float)

    def test_ratings_by_stochastic_descent(self):
        x = self.ratings()
        u, v, speed = (random(1, 30, 4) - 0.5) / 2, (random(2, 20, 4) - 0.5) / 2, 0.05
        for epoch in range(5):
            turn = mix64(mix64(1 + epoch, numpy.arange(30))[:, None], numpy.arange(20)) % 3
            for batch in range(3):
                there = (x != 0) & (turn == batch)
                e = there * (x - u @ v.T)
                du, dv = e @ v - 0.05 * u * there.sum(1)[:, None], e.T @ u - 0.05 * v * there.sum(0)[:, None]
                u, v = u + speed * du, v + speed * dv
            speed *= 0.98
        e = (x - u @ v.T)[x != 0]
        self.agrees("ratings-sgd", [self.entries("X", x)], {"U": u, "V": v, "rmse": numpy.sqrt((e**2).mean())},
                    define=["factors=4", "rate=0.05", "epochs=5", "batches=3"], layouts=WORKERS)

    def test_recommender(self):
        x, users = self.ratings(), [3, 8, 20]
        unit_columns = x / numpy.linalg.norm(x, axis=0)
        scores = x[users] @ (unit_columns.T @ unit_columns)
        scores[x[users] != 0] = -numpy.inf
        self.agrees("recommender", [self.entries("X", x)], {"item": scores.argmax(1), "score": scores.max(1)},
                    define=["k=3", "users=[3,8,20]"], layouts=WORKERS)

    # ---- finance and physics

    def test_swaption(self):
        """Only the rates that are not yet fixed are kept, a bank account beside them."""
        n, count, wait, delta, sigma = 500, 6, 2, 0.5, 0.2
        rates, bank = numpy.full((n, count), 0.06), numpy.ones(n)
        for step in range(1, wait + 1):
            bank = bank * (1 + delta * rates[:, 0])
            rates = rates[:, 1:]  # the first has been fixed
            drift = numpy.cumsum(sigma * delta * rates / (1 + delta * rates), axis=1)
            z = normal(1 + step, n)[:, None]
            rates = rates * numpy.exp(sigma * drift * delta - sigma**2 * delta / 2 + sigma * numpy.sqrt(delta) * z)
        bonds = numpy.cumprod(1 / (1 + delta * rates), axis=1)
        price = numpy.maximum(1 - bonds[:, -1] - 0.06 * delta * bonds.sum(1), 0) / bank
        self.agrees("swaption", [], {"price": 1e4 * price.mean(), "error": 1e4 * price.std(ddof=1) / numpy.sqrt(n)}, define=["count=6"],
                    layouts=[(*layout, "--dim", f"N={n}") for layout in (*WORKERS, *MESHES)])

    def test_predict_price(self):
        middle = 100 + self.numbers.normal(size=(13, 30)).cumsum(1)
        spread = 0.5 + self.numbers.random((13, 30))
        ask, bid = middle + spread / 2, middle - spread / 2
        change, move = spread[:, 3:-3] - spread[:, :-6], middle[:, 6:] - middle[:, 3:-3]
        slope = (change * move).sum(1) / (change**2).sum(1)
        self.agrees("predict-price", [self.whole("ask", ask), self.whole("bid", bid)], {
            "slope": slope, "error": abs(slope[:, None] * change - move).mean(), "error_of_none": abs(move).mean()}, define=["times=30", "lag=3"])

    def test_bodies(self):
        """Near encounters would amplify the last bits; 20 steps of this cloud do not."""
        p, v, m = self.numbers.normal(size=(23, 3)), 0.1 * self.numbers.normal(size=(23, 3)), self.numbers.random(23)

        def pull(q):
            apart = q[None] - q[:, None]
            return (apart * (m / ((apart**2).sum(2) + 0.01) ** 1.5)[..., None]).sum(1)

        q, u = p, v
        for _ in range(20):
            u = u + 0.005 * pull(q)
            q = q + 0.01 * u
            u = u + 0.005 * pull(q)
        self.agrees("nbody", [self.whole("p", p), self.whole("v", v), self.whole("m", m)], {"q": q, "u": u},
                    define=["steps=20", "softening=0.1"])


class OlderApplications(BesideNumPy):
    """Those that take a sparse matrix meet it over workers, and a dense one over meshes; the ratings of als.ks stay sparse,
    since only where some are stored may U @ V' be all pairs: over workers alone. als-dense.ks is that over meshes."""

    def lloyd(self, x, steps):
        """Centres, clusters and squared distances after so many steps from points that are evenly apart."""
        centres = x[[0, len(x) // 3, len(x) // 3 * 2]]
        for _ in range(steps):
            cluster = squares(x, centres).argmin(1)
            centres = numpy.array([x[cluster == j].mean(0) for j in range(3)])
        return centres, squares(x, centres).argmin(1), squares(x, centres).min(1).sum()

    def test_linear_regression(self):
        x, y, w = self.numbers.normal(size=(60, 9)), self.numbers.normal(size=60), numpy.zeros(9)
        for _ in range(30):
            w = w - 2 * 0.1 / 60 * x.T @ (x @ w - y)
        self.agrees_in_both("linear", "X", x, [self.whole("y", y)], {"w": w, "loss": ((x @ w - y) ** 2).mean()}, FEATURES, define=["turns=30"])

    def test_logistic_regression(self):
        x, w = self.numbers.normal(size=(60, 9)), numpy.zeros(9)
        y = numpy.sign(x @ self.numbers.normal(size=9) + self.numbers.normal(size=60))
        for _ in range(30):
            w = w - 0.1 / 60 * x.T @ (1 / (1 + numpy.exp(-x @ w)) - (y > 0))
        self.agrees_in_both("logistic", "X", x, [self.whole("y", y)], {"w": w, "right": ((x @ w > 0) == (y > 0)).sum()}, FEATURES,
                            define=["turns=30"])

    def test_conjugate_gradient(self):
        a, b = self.numbers.normal(size=(45, 45)), self.numbers.normal(size=45)
        a = a @ a.T + 45 * numpy.eye(45)
        x, r, p, turns = numpy.zeros(45), b, b, 0
        while r @ r > 1e-16 * (b @ b):
            q = a @ p
            x, new = x + r @ r / (p @ q) * p, r - r @ r / (p @ q) * q
            p, r, turns = new + new @ new / (r @ r) * p, new, turns + 1
        self.agrees_in_both("cg", "A", a, [self.whole("b", b)], {"x": x, "turns": turns}, COLUMNS, define=["tolerance=1e-8"])

    def test_kmeans(self):
        x = self.numbers.normal(size=(60, 4)) + 2 * self.numbers.integers(0, 3, size=(60, 1))
        _, cluster, inertia = self.lloyd(x, 5)
        self.agrees("kmeans", [self.whole("X", x)], {"cluster": cluster, "inertia": inertia}, define=["d=4", "turns=5"])

    def test_kmeans_in_matrix_form(self):
        x = self.numbers.normal(size=(60, 4)) + 2 * self.numbers.integers(0, 3, size=(60, 1))
        centres, cluster, inertia = self.lloyd(x, 5)
        self.agrees("kmeans-matrix", [self.whole("X", x)], {"C": centres, "cluster": cluster, "wcss": inertia, "step": 5},
                    define=["steps=5", "tolerance=-1.0"])

    def test_gaussian_mixture(self):
        x = self.numbers.normal(size=(60, 4)) * [1, 2, 1, 0.5] + 3 * self.numbers.integers(0, 3, size=(60, 1))
        m, s, w = x[[0, 20, 40]], numpy.tile(x.var(0), (3, 1)), numpy.full(3, 1 / 3)
        for _ in range(6):
            chances = w * numpy.exp(-((x[:, None] - m) ** 2 / s + numpy.log(2 * numpy.pi * s)).sum(2) / 2)
            p = chances / chances.sum(1, keepdims=True)
            w, m = p.mean(0), (p.T @ x) / p.sum(0)[:, None]
            s = numpy.array([p[:, j] @ (x - m[j]) ** 2 for j in range(3)]) / p.sum(0)[:, None]
        self.agrees("gaussian-mixture", [self.whole("X", x)], {"w": w, "M": m, "S": s, "P": p, "likelihood": numpy.log(chances.sum(1)).mean(),
                                                               "step": 6}, define=["steps=6", "tolerance=-1.0"])

    def test_least_squares_of_ratings(self):
        x = numpy.where(self.numbers.random((30, 20)) < 0.4, self.numbers.integers(1, 6, (30, 20)), 0).astype(float)
        u, v, seen = random(1, 30, 4) - 0.5, random(2, 20, 4) - 0.5, x != 0
        for _ in range(2):
            for one, other, there, ratings in ((u, v, seen, x), (v, u, seen.T, x.T)):
                for i in range(len(one)):
                    near = other[there[i]]
                    one[i] = numpy.linalg.solve(near.T @ near + 0.05 * there[i].sum() * numpy.eye(4), near.T @ ratings[i, there[i]])
        e = (x - u @ v.T)[seen]
        loss = (e**2).sum() + 0.05 * (seen.sum(1) @ (u**2).sum(1) + seen.sum(0) @ (v**2).sum(1))
        self.agrees("als", [self.entries("X", x)], {"U": u, "V": v, "loss": loss / 2, "rounds": 2, "rmse": numpy.sqrt((e**2).mean())},
                    define=["factors=4", "rounds=2", "tolerance=-1.0", "inner_tolerance=1e-26", "inner_steps=200"], layouts=WORKERS)

    def test_least_squares_of_a_dense_matrix(self):
        x, v, ridge = self.numbers.normal(size=(30, 20)), random(1, 20, 4) - 0.5, 0.1 * numpy.eye(4)
        for _ in range(5):
            u = numpy.linalg.solve(v.T @ v + ridge, v.T @ x.T).T
            v = numpy.linalg.solve(u.T @ u + ridge, u.T @ x).T
        loss = ((x - u @ v.T) ** 2).sum() + 0.1 * ((u**2).sum() + (v**2).sum())
        for program, layouts in (("als-dense", [*WORKERS, *MESHES]),
                                 (self.other("als-dense", "M local", "M"), [*MESHES, ("--mesh", "4", "--layout", "X=[N,M/a]", "-n", 2)])):
            self.agrees(program, [self.whole("X", x)], {"U": u, "V": v, "loss": loss}, define=["factors=4", "rounds=5"], layouts=layouts)

    def test_options(self):
        spot, strike = 50 + 100 * self.numbers.random(57), 50 + 100 * self.numbers.random(57)
        d = (numpy.log(spot / strike) + 0.02 + 0.3**2 / 2) / 0.3
        call = spot * ndtr(d) - strike * numpy.exp(-0.02) * ndtr(d - 0.3)
        for program in ("blackscholes", "blackscholes-half"):
            self.agrees(program, [self.whole("spot", spot), self.whole("strike", strike)],
                        {"call": call, "put": call - spot + strike * numpy.exp(-0.02)})


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
