"""The programs of examples/ for programs_test.py, each with a computation of its own in NumPy."""
import collections
import heapq
import math
import pathlib

import numpy as np

from programs import Graph, csv, npy, program, sparse

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "examples"


def example(name, **options):
    return program(f"examples/{name}", (FOLDER / f"{name}.ks").read_text(), **options)


def symmetric(rng, n, density=0.2):
    """A positive definite matrix and its Matrix Market text: the lower half stands for both."""
    half = np.tril(np.where(rng.random((n, n)) < density, rng.normal(size=(n, n)), 0.0), -1)
    a = half + half.T
    np.fill_diagonal(a, np.abs(a).sum(1) + 1 + rng.random(n))
    entries = [(i, j) for i in range(n) for j in range(i + 1) if a[i, j] != 0]
    lines = ["%%MatrixMarket matrix coordinate real symmetric", f"{n} {n} {len(entries)}"]
    return a, "\n".join(lines + [f"{i + 1} {j + 1} {a[i, j]:.17g}" for i, j in entries]) + "\n"


# ---- graphs -------------------------------------------------------------------------------------------------------

def ranks(g):
    out = {v: [] for v in range(g.n)}
    for u, v in g.pairs:
        out[u].append(v)
    rank, change = np.ones(g.n), 1.0
    while change > 1e-6:
        new = np.full(g.n, 1 - 0.85)
        for u, to in out.items():
            for v in to:
                new[v] += 0.85 * rank[u] / len(to)
        change, rank = np.abs(new - rank).sum(), new
    return rank


for name in ("pagerank", "pagerank-i32", "pagerank-primitives"):
    @example(name)
    def _(rng):
        g = Graph(rng, 40, 200)
        return {"G.txt": g.file}, {"pr": ranks(g)}


@example("bfs", run=("-D", "source=3"))
def _(rng):
    g = Graph(rng, 60, 90)
    level, queue = {3: 0}, collections.deque([3])
    while queue:
        u = queue.popleft()
        for v in np.flatnonzero(g.a[u]):
            if v not in level:
                level[v] = level[u] + 1
                queue.append(v)
    return {"G.txt": g.file}, {"level": np.array([level.get(v, -1) for v in range(g.n)])}


@example("sssp", run=("-D", "source=5"))
def _(rng):
    g = Graph(rng, 60, 90, weight=lambda r: r.random())
    distance, heap = np.full(g.n, np.inf), [(0.0, 5)]
    while heap:
        d, u = heapq.heappop(heap)
        if d >= distance[u]:
            continue
        distance[u] = d
        for v in np.flatnonzero(g.a[u]):
            heapq.heappush(heap, (d + g.w[u, v], v))
    return {"G.txt": g.file}, {"distance": distance, "negative_cycle": np.array(False)}


@example("components")
def _(rng):
    g = Graph(rng, 70, 20)
    root = list(range(g.n))

    def find(v):
        while root[v] != v:
            v = root[v]
        return v
    for u, v in g.pairs:
        a, b = find(u), find(v)
        root[max(a, b)] = min(a, b)
    return {"G.txt": g.file}, {"component": np.array([find(v) for v in range(g.n)])}


@example("hits", run=("-D", "turns=60"))
def _(rng):
    g = Graph(rng, 40, 200)
    authority = np.linalg.svd(g.a.astype(float))[2][0]
    authority = np.abs(authority)  # of the largest singular value: of one sign
    hub = g.a @ authority
    return {"G.txt": g.file}, {"authority": authority, "hub": hub / np.linalg.norm(hub)}


def personalized(rng, k, turns, seeds):
    g = Graph(rng, 40, 150)
    degree = g.a.sum(1)
    walk = np.divide(g.a, degree[:, None], out=np.zeros((g.n, g.n)), where=degree[:, None] > 0)
    start = np.zeros((k, g.n))
    start[np.arange(k), seeds] = 1
    p = start
    for _ in range(turns):
        p = 0.15 * start + 0.85 * (p @ walk)
    return {"G.txt": g.file}, {"rank": p.max(0), "seed": p.argmax(0)}


example("personalized", run=("-D", "turns=7"))(lambda rng: personalized(rng, 4, 7, [0, 1, 2, 3]))
example("personalized", plan=("-D", "k=3"), run=("-D", "turns=4", "-D", "seeds=[7, 20, 31]"))(
    lambda rng: personalized(rng, 3, 4, [7, 20, 31]))


@example("kcore")
def _(rng):
    g = Graph(rng, 50, 250)
    links = g.a + g.a.T
    core, left = np.zeros(g.n, np.int64), set(range(g.n))
    k = 0
    while left:  # the vertex with the fewest links goes first
        degree = {v: links[v, sorted(left)].sum() for v in left}
        v = min(left, key=lambda u: degree[u])
        k = max(k, degree[v])
        core[v] = k
        left.remove(v)
    return {"G.txt": g.file}, {"core": core, "largest": core.max()}


# ---- matrices -----------------------------------------------------------------------------------------------------

@example("cg", tolerance=1e-8)
def _(rng):
    a, text = symmetric(rng, 40)
    b = rng.normal(size=40)
    return {"A.mtx": text, "b.npy": npy(b)}, {"x": np.linalg.solve(a, b)}


@example("cg-jacobi", tolerance=1e-8)
def _(rng):
    a, text = symmetric(rng, 40)
    b = rng.normal(size=40)
    return {"A.mtx": text, "D.npy": npy(np.diag(a)), "b.npy": npy(b)}, {"x": np.linalg.solve(a, b)}


@example("power", run=("-D", "theta=1e-14", "-D", "most=3000"), tolerance=1e-5)
def _(rng):
    a, text = symmetric(rng, 30)
    values, vectors = np.linalg.eigh(a)
    v = vectors[:, -1] * np.sign(vectors[:, -1].sum())
    return {"A.mtx": text}, {"value": values[-1], "v": v}


# ---- samples ------------------------------------------------------------------------------------------------------

def samples(rng, h=50, w=12):
    x, text = sparse(rng, h, w, 0.4)
    return x, text, rng.choice([-1.0, 1.0], size=h)


@example("linear", run=("-D", "turns=60"))
def _(rng):
    x, text, _ = samples(rng)
    y = rng.normal(size=50)
    hessian, w = x.T @ x / 50, np.zeros(12)
    for _ in range(60):
        w = w - 0.1 * 2 * (hessian @ w - x.T @ y / 50)
    return {"X.mtx": text, "y.npy": npy(y)}, {"w": w, "loss": ((x @ w - y) ** 2).mean()}


def logistic_gradient(x, y, w):
    p = np.array([1 / (1 + math.exp(-v)) for v in x @ w])
    return x.T @ (p - (y > 0))


# exp, log and erf of the vector library differ from the interpreter's in the last bit.
@example("logistic", exact=False, run=("-D", "turns=40"))
def _(rng):
    x, text, y = samples(rng)
    w = np.zeros(12)
    for _ in range(40):
        w = w - 0.1 / 50 * logistic_gradient(x, y, w)
    return {"X.mtx": text, "y.npy": npy(y)}, {"w": w, "right": ((x @ w > 0) == (y > 0)).sum()}


@example("svm", run=("-D", "turns=30"))
def _(rng):
    x, text, y = samples(rng)
    w = np.zeros(12)
    for turn in range(30):
        wrong = y * (x @ w) < 1
        g = -(x[wrong] * y[wrong, None]).sum(0) / 50 + 0.001 * w
        w = w - 0.1 / math.sqrt(turn + 1) * g
    z = x @ w
    return {"X.mtx": text, "y.npy": npy(y)}, {
        "w": w, "loss": np.maximum(0, 1 - y * z).mean() + 0.0005 * (w @ w), "right": (z * y > 0).sum()}


def newton(x, y, m, turns, search):
    """L-BFGS with the inverse Hessian written out as a matrix."""
    n = x.shape[1]

    def loss(w):
        return sum(math.log1p(math.exp(-abs(v))) + max(0.0, -v) for v in y * (x @ w))
    pairs = []
    w, searches = np.zeros(n), 0
    g = logistic_gradient(x, y, w)
    if not search:
        w_new = w - 0.001 * g
    else:
        scale = 1 / math.sqrt(g @ g)
    for turn in range(turns):
        if not search:
            new = logistic_gradient(x, y, w_new)
            pairs = (pairs + [(w_new - (np.zeros(n) if turn == 0 else w), new - g)])[-m:]
            w, g = w_new, new
        h = np.eye(n)
        if pairs:
            s, d = pairs[-1]
            h = h * ((s @ d) / (d @ d))
        elif search:
            h = h * scale
        for s, d in pairs:
            v = np.eye(n) - np.outer(d, s) / (s @ d)
            h = v.T @ h @ v + np.outer(s, s) / (s @ d)
        direction = -h @ g
        step = 1.0 if search else 0.5
        while search and loss(w + step * direction) > loss(w) + 1e-4 * step * (g @ direction) and step > 1e-9:
            step, searches = step / 2, searches + 1
        w_new = w + step * direction
        if search:
            new = logistic_gradient(x, y, w_new)
            pairs = (pairs + [(w_new - w, new - g)])[-m:]
            w, g = w_new, new
    return w_new, loss(w_new), searches


@example("lbfgs", exact=False, plan=("-D", "m=3"), run=("-D", "turns=8"), tolerance=1e-6)
def _(rng):
    x, text, y = samples(rng)
    return {"X.mtx": text, "label.npy": npy(y)}, {"w": newton(x, y, 3, 8, False)[0]}


@example("lbfgs-linesearch", exact=False, plan=("-D", "m=4"), run=("-D", "turns=7"), tolerance=1e-6)
def _(rng):
    x, text, y = samples(rng)
    w, loss, searches = newton(3 * x, y, 4, 7, True)
    lines = text.split("\n")
    scaled = lines[:2] + [" ".join(p[:2] + [f"{3 * float(p[2]):.17g}"]) for p in (line.split() for line in lines[2:] if line)]
    return {"X.mtx": "\n".join(scaled) + "\n", "label.npy": npy(y)}, {"w": w, "loss": loss, "searches": np.int64(searches)}


@example("logistic-lbfgs", exact=False, plan=("-D", "m=4"), tolerance=1e-6,
         run=("-D", "lambda=0.5", "-D", "tolerance=1e-7", "-D", "progress=-1", "-D", "steps=200"))
def _(rng):
    x, y = rng.normal(size=(60, 5)), rng.choice([-1.0, 1.0], size=60)
    wide, penalties = np.hstack([x, np.ones((60, 1))]), np.array([0.5] * 5 + [0.0])
    w = np.zeros(6)
    for _ in range(30):  # Newton's method with the whole Hessian
        p = 1 / (1 + np.exp(-(wide @ w)))
        hessian = wide.T @ (wide * (p * (1 - p))[:, None]) + np.diag(penalties)
        w = w - np.linalg.solve(hessian, wide.T @ (p - (y > 0)) + penalties * w)
    scores = wide @ w
    return {"X.npy": npy(x), "y.npy": npy(y)}, {
        "w": w[:5], "b": w[5], "loss": np.logaddexp(0, -y * scores).sum() + 0.25 * (w[:5] @ w[:5]), "right": (scores * y > 0).sum()}


@example("cp", exact=False, plan=("-D", "rank=1"), run=("-D", "sweeps=6"), tolerance=1e-6)
def _(rng):
    a, b, c = 1 + rng.random(17), 1 + rng.random(9), 1 + rng.random(11)
    return {"X.npy": npy(np.einsum("i,j,k->ijk", a, b, c))}, {"fit": np.float64(1)}


# ---- element by element -------------------------------------------------------------------------------------------

def options_(rng):
    spot, strike = 50 + 100 * rng.random(77), 50 + 100 * rng.random(77)

    def normal(x):
        return 0.5 * math.erfc(-x / math.sqrt(2))
    call = []
    for s, k in zip(spot, strike):
        d1 = (math.log(s) - math.log(k) + 0.02 + 0.045) / 0.3
        call.append(s * normal(d1) - k * math.exp(-0.02) * normal(d1 - 0.3))
    put = np.array(call) + strike * math.exp(-0.02) - spot
    return {"spot.npy": npy(spot), "strike.npy": npy(strike)}, {"call": np.array(call), "put": put}


example("blackscholes", exact=False)(options_)
example("blackscholes-half", exact=False)(options_)


@example("chain", run=("-D", "a=-1.5"))
def _(rng):
    x, y = rng.normal(size=91), rng.normal(size=91)
    u = np.clip(y - 1.5 * x, 0, None)
    w = np.abs(u * u - y) ** 0.5 / (1 + u)
    return {"x.npy": npy(x), "y.npy": npy(y)}, {"w": w, "total": w.sum(), "largest": w.max()}


@example("kmeans", plan=("-D", "k=4", "-D", "d=3"), run=("-D", "turns=6"))
def _(rng):
    x = rng.normal(size=(60, 3)) + 3 * rng.integers(0, 3, size=(60, 1))
    centres = x[np.arange(4) * 15]
    for turn in range(7):
        distance = np.linalg.norm(x[:, None] - centres[None], axis=2) ** 2
        cluster = distance.argmin(1)
        if turn < 6:
            centres = np.array([x[cluster == j].mean(0) if (cluster == j).any() else centres[j] for j in range(4)])
    return {"X.csv": csv(x)}, {"cluster": cluster, "inertia": distance.min(1).sum()}
