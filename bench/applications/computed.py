"""Spartan's applications and others of examples/ as NumPy scripts: each takes `a`, its inputs by name and the program's
constants, and gives the results that are compared with the program's. Dask's arrays take the same functions; what is
small, `a.get` brings to the script, as it does for NumPy nothing."""
import numpy as np


def first_centres(a):
    return a.get(a.X[np.arange(a.k) * (len(a.X) // a.k)])


def members(label, count):
    return (label[:, None] == np.arange(count)).astype(float)


# ---- samples


def linear(a):
    w, step = np.zeros(a.X.shape[1]), 2 * 0.1 / len(a.X)
    for _ in range(a.turns):
        w = w - step * a.get(a.X.T @ (a.X @ w - a.y))
    return {"w": w, "loss": ((a.X @ w - a.y) ** 2).mean()}


def logistic(a):
    w, step, target = np.zeros(a.X.shape[1]), 0.1 / len(a.X), a.y > 0
    for _ in range(a.turns):
        w = w - step * a.get(a.X.T @ (1 / (1 + np.exp(-(a.X @ w))) - target))
    return {"w": w, "right": ((a.X @ w > 0) == target).sum()}


def ridge(a):
    means, mean = a.get(a.X.mean(0), a.y.mean())
    c = a.X - means
    h, g = a.get(c.T @ c, c.T @ (a.y - mean))
    w = np.linalg.solve(h + np.eye(len(h)), g)
    b = mean - means @ w
    e = a.X @ w + b - a.y
    return {"w": w, "b": b, "loss": (e * e).sum() + w @ w}


def naive_bayes(a):
    member = members(a.y, a.classes)
    counts, share = a.get(a.X.T @ member, member.mean(0))
    counts, prior = counts + 1, np.log(share)
    theta = np.log(counts / counts.sum(0))
    label = (a.X @ theta + prior).argmax(1)
    return {"theta": theta, "prior": prior, "label": label, "right": (label == a.y).sum()}


def neighbours(a):
    """Squared distances by a product, and the k least of each query."""
    d = (a.X**2).sum(1)[:, None] - 2 * (a.X @ a.Q.T)
    votes = members(a.y[a.get(np.argpartition(d, a.k, axis=0)[: a.k]).ravel()], a.classes).reshape(a.k, -1, a.classes).sum(0)
    return {"label": votes.argmax(1), "votes": votes}


def perceptron(a):
    samples, features = a.X.shape[1:]
    w1, w2 = a.normal(42, features, a.hidden) * np.sqrt(2 / features), a.normal(43, a.hidden, a.classes) * np.sqrt(2 / a.hidden)
    weights = [w1, np.zeros(a.hidden), w2, np.zeros(a.classes)]
    moves = [np.zeros_like(w) for w in weights]
    for _ in range(a.epochs):
        loss = right = 0
        for t in range(a.batches):
            x, wanted = a.X[t], members(a.y[t], a.classes)
            hidden = np.maximum(x @ weights[0] + weights[1], 0)
            z = hidden @ weights[2] + weights[3]
            z = z - z.max(1)[:, None]
            e = np.exp(z)
            total = e.sum(1)
            d2 = e / total[:, None] - wanted
            d1 = (d2 @ weights[2].T) * (hidden > 0)
            *slopes, new_loss, new_right = a.get(x.T @ d1, d1.sum(0), hidden.T @ d2, d2.sum(0),
                                                 np.log(total).sum() - (z * wanted).sum(), (z.argmax(1) == a.y[t]).sum())
            loss, right = loss + new_loss, right + new_right
            moves = [0.9 * v - 0.1 / samples * g for v, g in zip(moves, slopes)]
            weights = [w + v for w, v in zip(weights, moves)]
    return {**dict(zip(("W1", "b1", "W2", "b2"), weights)), "loss": loss / (samples * a.batches), "right": right}


def dual_svm(a):
    batches, n, features = a.X.shape
    w, scale, alpha = np.zeros(features), 0.01 * n * batches, [np.zeros(n)] * batches
    sides = [np.where(y > 0, 1.0, -1.0) for y in a.get(a.y)]
    for _ in range(a.epochs):
        for t, s in enumerate(sides):
            x = a.X[t]
            new = np.clip(alpha[t] + scale / n * (1 - s * (x @ w)) / (x * x).sum(1), 0, 1)
            new, change = a.get(new, x.T @ (s * (new - alpha[t])))
            alpha[t], w = new, w + change / scale
    scores = [a.get(a.X[t] @ w) * s for t, s in enumerate(sides)]
    primal = sum(np.maximum(1 - score, 0).sum() for score in scores) / (n * batches) + 0.005 * w @ w
    dual = sum(m.sum() for m in alpha) / (n * batches) - 0.005 * w @ w
    return {"w": w, "primal": primal, "gap": primal - dual, "right": sum((score > 0).sum() for score in scores)}


def convolution(a):
    views = a.windows(a.X, a.W.shape[1:], (1, 2))
    y = np.maximum(np.tensordot(views, a.W, axes=((3, 4), (1, 2))) + a.b, 0)  # images, rows, columns, filters
    images, rows, cols, filters = y.shape
    y = y[:, : rows // 2 * 2, : cols // 2 * 2]
    return {"Z": y.reshape(images, rows // 2, 2, cols // 2, 2, filters).max((2, 4)).transpose(0, 3, 1, 2)}


# ---- ratings: SciPy's sparse matrices


def ratings(a):
    from scipy.sparse import csr_matrix
    i, j = a.X.nonzero()
    u, v, speed = (a.random(1, a.X.shape[0], 10) - 0.5) / 10**0.5, (a.random(2, a.X.shape[1], 10) - 0.5) / 10**0.5, 0.02
    for epoch in range(a.epochs):
        turn = a.mixed(a.mixed(1 + epoch, i), j) % 8
        for batch in range(8):
            there = turn == batch
            rows, cols, x = i[there], j[there], a.X.data[there]
            e = csr_matrix((x - (u[rows] * v[cols]).sum(1), (rows, cols)), a.X.shape)
            du = e @ v - 0.05 * u * np.bincount(rows, minlength=len(u))[:, None]
            dv = e.T @ u - 0.05 * v * np.bincount(cols, minlength=len(v))[:, None]
            u, v = u + speed * du, v + speed * dv
        speed *= 0.98
    e = a.X.data - (u[i] * v[j]).sum(1)
    return {"U": u, "V": v, "rmse": np.sqrt((e * e).mean())}


def recommender(a):
    users = np.arange(4)
    rated = a.X[users].toarray().T
    w = a.X.multiply(1 / np.sqrt(a.X.multiply(a.X).sum(0))).tocsr()
    scores = np.where(rated != 0, -np.inf, w.T @ (w @ rated))
    return {"item": scores.argmax(0), "score": scores.max(0)}


# ---- clusters


def kmeans(a):
    c = first_centres(a)
    squares = (a.X**2).sum()
    for _ in range(a.steps):
        d = (c * c).sum(1) - 2 * (a.X @ c.T)
        p = members(d.argmin(1), a.k)
        sums, sizes, _ = a.get(p.T @ a.X, p.sum(0), squares + d.min(1).sum())
        c = sums / sizes[:, None]
    d = (c * c).sum(1) - 2 * (a.X @ c.T)
    return {"C": c, "cluster": d.argmin(1), "wcss": squares + d.min(1).sum()}


def fuzzy_kmeans(a):
    c = first_centres(a)
    squares, u = (a.X**2).sum(1)[:, None], np.zeros((len(a.X), a.k))
    for _ in range(a.steps):
        d = np.maximum((c * c).sum(1) - 2 * (a.X @ c.T) + squares, 1e-300)
        near = (d.min(1)[:, None] / d) ** (1 / (a.fuzziness - 1))
        shares = near / near.sum(1)[:, None]
        change, u = abs(shares - u).max(), a.keep(shares)
        w = u**a.fuzziness
        sums, sizes, _ = a.get(w.T @ a.X, w.sum(0), change)
        c = sums / sizes[:, None]
    return {"C": c, "U": u}


def gaussian_mixture(a):
    m = first_centres(a).T
    mean, mean_square = a.get(a.X.mean(0), (a.X**2).mean(0))
    s, w = np.tile((mean_square - mean**2)[:, None], a.k), np.full(a.k, 1 / a.k)
    for _ in range(a.steps):
        logs = a.X @ (m / s) - 0.5 * (a.X**2 @ (1 / s)) + (np.log(w) - 0.5 * (m * m / s + np.log(s)).sum(0))
        top = logs.max(1)
        e = np.exp(logs - top[:, None])
        total = e.sum(1)
        p = e / total[:, None]
        size, sums, squares, now = a.get(p.sum(0), a.X.T @ p, (a.X**2).T @ p, (top + np.log(total)).mean())
        w, m = size / len(a.X), sums / size
        s = np.maximum(squares / size - m * m, 1e-6)
    return {"w": w, "M": m.T, "S": s.T, "P": p, "likelihood": now - 0.5 * a.X.shape[1] * np.log(2 * np.pi)}


# ---- matrices


def conjugate_gradient(a):
    x, r = np.zeros(len(a.b)), a.b
    p, rho = r, r @ r
    for _ in range(a.most):
        q = a.get(a.A @ p)
        alpha = rho / (p @ q)
        x, r = x + alpha * p, r - alpha * q
        before, rho = rho, r @ r
        p = r + rho / before * p
    return {"x": x}


def jacobi(a):
    d = a.get(np.diag(a.A)).copy()
    x = a.b / d
    r = a.b - a.get(a.A @ x)
    for _ in range(a.most):
        x = x + r / d
        r = a.b - a.get(a.A @ x)
    return {"x": x}


def lanczos(a):
    vectors, v = np.zeros((a.steps, len(a.A))), a.normal(1, len(a.A))
    vectors[0] = v = v / np.linalg.norm(v)
    for step in range(1, a.steps):
        v, known = a.get(a.A @ v), vectors[:step]
        v = v - known.T @ (known @ v)
        v = v - known.T @ (known @ v)
        vectors[step] = v = v / np.linalg.norm(v)
    w, s = np.linalg.eigh(vectors @ a.get(a.A @ vectors.T))
    return {"values": w[:-4:-1], "vectors": vectors.T @ s[:, :-4:-1]}


def spectral(a):
    scale = 1 / np.sqrt(a.get(a.A @ np.ones(len(a.A))))[:, None]
    v = a.random(1, len(a.A), 3)
    for _ in range(a.rounds):
        y = v + scale * a.get(a.A @ (v * scale))
        v = y @ np.linalg.inv(np.linalg.cholesky(y.T @ y)).T
    s = v / np.sqrt((v * v).sum(1))[:, None]
    c, cluster, moves = s[np.arange(3) * (len(s) // 3)], np.full(len(s), -1), True
    while moves:
        now = ((c * c).sum(1) - 2 * s @ c.T).argmin(1)
        moves, cluster, p = (now != cluster).any(), now, members(now, 3)
        c = p.T @ s / p.sum(0)[:, None]
    return {"cluster": cluster}


def qr(a):
    q, r = np.linalg.qr(a.X)
    return {"Q": q, "R": r}


def stochastic_svd(a):
    y = a.X @ a.normal(1, a.X.shape[1], a.rank + a.extra)
    for _ in range(2):
        z = a.get(a.X.T @ np.linalg.qr(y)[0])
        y = a.X @ np.linalg.qr(z)[0]
    q = np.linalg.qr(y)[0]
    b = a.get(a.X.T @ q)
    v, s, ut = np.linalg.svd(b, full_matrices=False)
    return {"U": q @ ut.T[:, : a.rank], "s": s[: a.rank], "V": v[:, : a.rank]}


def principal_components(a):
    centre = a.get(a.X.mean(0))
    c = a.X - centre
    w, v = np.linalg.eigh(a.get(c.T @ c) / (len(a.X) - 1))
    w, v = w[::-1], v[:, ::-1][:, : a.components]
    return {"components": v, "variance": w[: a.components], "share": w[: a.components] / w.sum(), "centre": centre, "scores": c @ v}


def cholesky(a):
    return {"L": a.cholesky(a.A)}


def least_squares(a):
    v, same = a.random(1, a.X.shape[1], a.factors) - 0.5, 0.1 * np.eye(a.factors)
    for _ in range(a.rounds):
        u = a.keep(a.X @ (v @ np.linalg.inv(v.T @ v + same)))
        v = a.get(a.X.T @ (u @ np.linalg.inv(a.get(u.T @ u) + same)))
    error = (a.X**2).sum() - 2 * (u * (a.X @ v)).sum() + ((u.T @ u) * (v.T @ v)).sum()
    return {"U": u, "V": v, "loss": error + 0.1 * ((u**2).sum() + (v**2).sum())}


# ---- finance and physics


def options(a):
    d = (np.log(a.spot / a.strike) + (0.02 + 0.3**2 / 2)) / 0.3
    n1, n2 = (1 + a.erf(d / np.sqrt(2))) / 2, (1 + a.erf((d - 0.3) / np.sqrt(2))) / 2
    present = a.strike * np.exp(-0.02)
    call = a.spot * n1 - present * n2
    return {"call": call, "put": call - a.spot + present}


def swaption(a):
    rates, bank, delta, sigma = np.full((a.N, 8), 0.06), 1.0, 0.5, 0.2
    for step in (1, 2):
        bank, rates = bank * (1 + delta * rates[:, :1]), rates[:, 1:]  # the first has been fixed
        drift = np.cumsum(sigma * delta * rates / (1 + delta * rates), axis=1)
        z = a.draws(1 + step, a.N)[:, None]
        rates = rates * np.exp(sigma * drift * delta - sigma**2 * delta / 2 + sigma * np.sqrt(delta) * z)
    bonds = np.cumprod(1 / (1 + delta * rates), axis=1)
    price = np.maximum(1 - bonds[:, -1] - 0.06 * delta * bonds.sum(1), 0) / bank[:, 0]
    return {"price": 1e4 * price.mean(), "error": 1e4 * price.std(ddof=1) / np.sqrt(a.N)}


def predict_price(a):
    spread, middle = a.ask - a.bid, (a.ask + a.bid) / 2
    change, move = spread[:, a.lag:-a.lag] - spread[:, : -2 * a.lag], middle[:, 2 * a.lag:] - middle[:, a.lag:-a.lag]
    slope = (change * move).sum(1) / (change**2).sum(1)
    return {"slope": slope, "error": abs(slope[:, None] * change - move).mean(), "error_of_none": abs(move).mean()}


def bodies(a):
    def pull(q):
        apart = q[None] - q[:, None]
        return (apart * (a.m / ((apart**2).sum(2) + 0.05**2) ** 1.5)[..., None]).sum(1)

    q, u = a.p, a.v
    force = pull(q)
    for _ in range(a.steps):
        u = u + 0.005 * force
        q = a.keep(q + 0.01 * u)
        force = a.keep(pull(q))
        u = u + 0.005 * force
    return {"q": q, "u": u}
