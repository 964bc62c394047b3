"""The table of programs for programs_test.py: text, data, and what NumPy says the results are."""
import dataclasses
import io
from typing import Callable

import numpy as np


@dataclasses.dataclass
class Program:
    name: str
    text: str
    make: Callable  # rng -> ({file name: content}, {output: value})
    plan: tuple = ()
    run: tuple = ()
    partition: tuple = ()
    inputs: tuple = ()  # arguments of partition; default: NAME=file for each file, by the name's stem
    tolerance: float = 1e-9
    exact: bool = True  # interpreter and generated kernels agree bit for bit


PROGRAMS = []


def program(name, text, **options):
    def add(make):
        PROGRAMS.append(Program(name, text, make, **options))
        return make
    return add


class Graph:
    """A random graph over ids with gaps; positions 0..n-1, dense matrix `a` (1 where stored), `w` the weights."""

    def __init__(self, rng, n=40, arcs=120, symmetric=False, weight=None, sinks=5):
        ids = np.sort(rng.choice(10 * n, size=n, replace=False))
        pairs = {(int(rng.integers(n - sinks)), int(rng.integers(n))) for _ in range(arcs)}
        pairs |= {(i % (n - sinks), i) for i in range(n)}  # every vertex is mentioned
        if symmetric:
            pairs |= {(v, u) for u, v in pairs}
        self.pairs = sorted(pairs)
        self.n, self.ids = n, ids
        self.a = np.zeros((n, n), dtype=np.int64)
        self.w = np.zeros((n, n))
        lines = ["# a graph"]
        for u, v in self.pairs:
            self.a[u, v] = 1
            text = ""
            if weight:
                self.w[u, v] = weight(rng)
                text = f"\t{self.w[u, v]:.17g}"
            lines.append(f"{ids[u]}\t{ids[v]}{text}")
        self.file = "\n".join(lines) + "\n"


def csv(array, header=""):
    buffer = io.StringIO()
    np.savetxt(buffer, array, fmt="%.17g", delimiter=",", header=header, comments="")
    return buffer.getvalue()


def npy(array):
    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


def market(rows, cols, entries, symmetry="general", field="real"):
    lines = [f"%%MatrixMarket matrix coordinate {field} {symmetry}", f"{rows} {cols} {len(entries)}"]
    lines += [f"{i + 1} {j + 1} {v:.17g}" for i, j, v in entries]
    return "\n".join(lines) + "\n"


def pattern(stored):
    lines = ["%%MatrixMarket matrix coordinate pattern general", f"{stored.shape[0]} {stored.shape[1]} {stored.sum()}"]
    return "\n".join(lines + [f"{i + 1} {j + 1}" for i, j in zip(*np.nonzero(stored))]) + "\n"


def sparse(rng, rows, cols, density=0.2):
    """A random matrix and its Matrix Market text."""
    m = np.where(rng.random((rows, cols)) < density, rng.normal(size=(rows, cols)), 0.0)
    return m, market(rows, cols, [(i, j, m[i, j]) for i, j in zip(*np.nonzero(m))])


# ---- graphs -------------------------------------------------------------------------------------------------------

@program("k-core", """
dim V
input G : null[V, V]
alive : bool[V] = true
core : i64[V] = 0
k = 1
while any(alive) likely expect 5 {
  changed = true
  while changed likely {
    degree = G @ (if alive then 1 else 0)
    drop = alive && degree < k
    core = if drop then k - 1 else core
    alive = alive && !drop
    changed = any(drop)
  }
  k = k + 1
}
output core, k
""")
def _(rng):
    g = Graph(rng, 40, 200, symmetric=True)
    alive, core, k = np.ones(g.n, bool), np.zeros(g.n, np.int64), 1
    while alive.any():
        while True:
            drop = alive & (g.a @ alive.astype(np.int64) < k)
            if not drop.any():
                break
            core[drop] = k - 1
            alive &= ~drop
        k += 1
    return {"G.txt": g.file}, {"core": core, "k": np.int64(k)}


PPR = """
const k = 4
dim N
input G : null[N, N]
param r = 0.85, turns = 12
degree = G @ fill(1.0, N)
list p[k] : f64[N] = 0
list e[k] : f64[N] = 0
for j in 0..k unroll {
  e[j] = map((v, s) -> if i64(v) == s then 1.0 else 0.0, index(N), j * 3)
  p[j] = e[j]
}
for turn in 0..turns {
  for j in 0..k unroll {
    p[j] = (1 - r) * e[j] + r * (G' @ (if degree > 0 then p[j] / degree else 0.0))
  }
}
a = p[0]
b = p[1] + p[2] + p[3]
output a, b, mass = sum(b)
"""


def ppr(rng, k, r, turns):
    g = Graph(rng, 50, 220)
    degree = g.a.sum(1)
    result = []
    for j in range(k):
        e = np.zeros(g.n)
        e[3 * j] = 1
        p = e.copy()
        for _ in range(turns):
            p = (1 - r) * e + r * (g.a.T @ np.where(degree > 0, p / np.maximum(degree, 1), 0))
        result.append(p)
    b = sum(result[1:])
    return {"G.txt": g.file}, {"a": result[0], "b": b, "mass": b.sum()}


program("personal-pagerank", PPR)(lambda rng: ppr(rng, 4, 0.85, 12))
program("personal-pagerank-set", PPR.replace("p[2] + p[3]", "p[2]"), plan=("-D", "k=3", "-D", "turns=2"),
        run=("-D", "r=0.5", "-D", "turns=7"))(lambda rng: ppr(rng, 3, 0.5, 7))


@program("shortest-paths-i64", """
dim V
input G : i64[V, V]
const far = 1000000000000000
param source = 0
fn relax(x, w: i64) = if x < far then x + w else far
d = map((v, s) -> if i64(v) == s then 0 else far, index(V), source)
go_on = true
rounds = 0
while go_on likely expect 6 {
  n = min(d, mxv(relax, min, G, d))
  go_on = any(n < d)
  d = n
  rounds = rounds + 1
}
d = if d >= far then -1 else d
output d, rounds, reached = sum(if d >= 0 then 1 else 0)
""", run=("-D", "source=2"))
def _(rng):
    g = Graph(rng, 40, 70, weight=lambda r: float(r.integers(1, 50)), sinks=12)
    d = np.full(g.n, np.inf)
    d[2] = 0
    rounds = 0
    while True:
        n = d.copy()
        for u, v in g.pairs:
            n[v] = min(n[v], d[u] + g.w[u, v])
        rounds += 1
        stop = (n == d).all()
        d = n
        if stop:
            break
    out = np.where(np.isinf(d), -1, d).astype(np.int64)
    return {"G.txt": g.file}, {"d": out, "rounds": np.int64(rounds), "reached": np.int64((out >= 0).sum())}


@program("bfs-bool", """
dim V
input G : null[V, V]
param source = 1
level : i32[V] = -1i32
frontier = map((v, s) -> i64(v) == s, index(V), source)
seen = frontier
depth = 0i32
while any(frontier) likely {
  level = if frontier then depth else level
  frontier = G' @ frontier && !seen
  seen = seen || frontier
  depth = depth + 1i32
}
output level, seen
""")
def _(rng):
    g = Graph(rng, 60, 80, sinks=20)
    level = np.full(g.n, -1, np.int32)
    todo, depth = {1}, 0
    while todo:
        for v in todo:
            level[v] = depth
        todo = {v for u in todo for v in range(g.n) if g.a[u, v] and level[v] < 0}
        depth += 1
    return {"G.txt": g.file}, {"level": level, "seen": (level >= 0).astype(np.uint8)}


def component(g):
    label = np.arange(g.n)
    for _ in range(g.n):
        for u, v in g.pairs:
            label[u] = label[v] = min(label[u], label[v])
    return label


COMPONENTS = """
dim V
input G : null[V, V]
label : i64[V] = map(v -> i64(v), index(V))
changed = true
while changed likely {
  down = mxv((x, e: bool) -> x, min, G, label)
  up = mxvt((x, e: bool) -> x, min, G, label)
  new = min(label, min(down, up))
  changed = any(new != label)
  label = new
}
output label, count = sum(if label == map(v -> i64(v), index(V)) then 1 else 0)
"""


@program("components-both-ways", COMPONENTS)
def _(rng):
    g = Graph(rng, 60, 15, sinks=30)
    label = component(g)
    return {"G.txt": g.file}, {"label": label, "count": np.int64(len(set(label)))}


@program("best-reliability-f32", """
dim V
input G : f32[V, V]
param source = 0
p = map((v, s) -> if i64(v) == s then 1f32 else 0f32, index(V), source)
more = true
while more likely {
  n = max(p, mxv(*, max, G, p))
  more = any(n > p)
  p = n
}
best = max(if p < 1f32 then p else 0f32)
output p, best
""", tolerance=1e-6)
def _(rng):
    g = Graph(rng, 40, 120, weight=lambda r: float(np.float32(r.integers(1, 1000) / 1024)))
    p = np.zeros(g.n, np.float32)
    p[0] = 1
    for _ in range(g.n):
        n = p.copy()
        for u, v in g.pairs:
            n[v] = max(n[v], p[u] * np.float32(g.w[u, v]))
        p = n
    return {"G.txt": g.file}, {"p": p, "best": p[p < 1].max()}


@program("nearest-neighbour", """
# the nearest source of each vertex: distance and its place
dim V
input G : f64[V, V]
fn step(x: (f64, i64), w: f64) = (x.0 + w, x.1)
fn nearer(a, b) = if a.0 < b.0 then a else if b.0 < a.0 then b else (a.0, min(a.1, b.1))
fn start(v) = if i64(v) % 10 == 0 then (0.0, i64(v)) else (inf, 9223372036854775807)
d = map(start, index(V))
for i in 0..8 {
  d = map(nearer, d, mxv(step, nearer, G, d))
}
nearest = reduce(nearer, map((x, v) -> if i64(v) % 10 == 0 then (inf, 9223372036854775807) else (x.0, i64(v)), d, index(V)))
output d, nearest
""")
def _(rng):
    g = Graph(rng, 40, 130, weight=lambda r: float(r.integers(1, 64)) / 4)
    big = np.iinfo(np.int64).max
    d = [(0.0, v) if v % 10 == 0 else (np.inf, big) for v in range(g.n)]
    for _ in range(8):
        n = list(d)
        for u, v in g.pairs:
            n[v] = min(n[v], (d[u][0] + g.w[u, v], d[u][1]))
        d = n
    nearest = min((d[v][0], v) for v in range(g.n) if v % 10)
    return {"G.txt": g.file}, {"d": [np.array([x[0] for x in d]), np.array([x[1] for x in d])], "nearest": [nearest[0], nearest[1]]}


@program("bottleneck", """
dim V
input G : i32[V, V]
fn narrow(x, w: i32) = min(x, w)
c : i32[V] = map((v) -> if i64(v) == 0 then 2147483647i32 else 0i32, index(V))
for i in 0..20 { c = max(c, mxv(narrow, max, G, c)) }
output c
""")
def _(rng):
    g = Graph(rng, 40, 150, weight=lambda r: float(r.integers(1, 100)))
    c = np.zeros(g.n, np.int32)
    c[0] = 2147483647
    for _ in range(20):
        n = c.copy()
        for u, v in g.pairs:
            n[v] = max(n[v], min(c[u], int(g.w[u, v])))
        c = n
    return {"G.txt": g.file}, {"c": c}


@program("independent-set", """
# Luby's, with priorities from a hash of the place
dim V
input G : null[V, V]
fn hash(v) {
  a = (i64(v) + 1) * 2654435761 % 1000003
  a * 1000 + i64(v) % 1000
}
priority = map(hash, index(V))
undecided : bool[V] = true
inside : bool[V] = false
while any(undecided) likely expect 4 {
  p = if undecided then priority else -1
  strongest = max(mxv((x, e: i64) -> x, max, G, p), mxvt((x, e: i64) -> x, max, G, p))
  joins = undecided && priority > strongest
  inside = inside || joins
  touched = mxv(&&, ||, G, joins) || mxvt(&&, ||, G, joins)
  undecided = undecided && !joins && !touched
}
output inside, priority, size_of_it = sum(if inside then 1 else 0)
""")
def _(rng):
    g = Graph(rng, 50, 120)
    g.pairs = [(u, v) for u, v in g.pairs if u != v] + []
    g.file = "".join(f"{g.ids[u]} {g.ids[v]}\n" for u, v in g.pairs)
    mentioned = sorted({x for p in g.pairs for x in p})
    assert len(mentioned) >= g.n - 1
    place = {v: i for i, v in enumerate(mentioned)}
    pairs = [(place[u], place[v]) for u, v in g.pairs]
    n = len(mentioned)
    priority = np.array([(v + 1) * 2654435761 % 1000003 * 1000 + v % 1000 for v in range(n)])
    inside, undecided = np.zeros(n, bool), np.ones(n, bool)
    while undecided.any():
        strongest = np.full(n, np.iinfo(np.int64).min)
        for u, v in pairs + [(v, u) for u, v in pairs]:
            strongest[v] = max(strongest[v], priority[u] if undecided[u] else -1)
        joins = undecided & (priority > strongest)
        touched = np.zeros(n, bool)
        for u, v in pairs + [(v, u) for u, v in pairs]:
            touched[v] |= joins[u]
        inside |= joins
        undecided &= ~joins & ~touched
    return {"G.txt": g.file}, {"inside": inside.astype(np.uint8), "priority": priority, "size_of_it": np.int64(inside.sum())}


@program("betweenness", """
# Brandes from one source, levels kept in a list
const depth = 6
dim V
input G : null[V, V]
list frontier[depth] : f64[V] = 0
paths = map(v -> if i64(v) == 0 then 1.0 else 0.0, index(V))
frontier[0] = paths
for d in 1..depth {
  x = G' @ frontier[d - 1]
  x = if paths == 0 then x else 0.0
  frontier[d] = x
  paths = paths + x
}
delta : f64[V] = 0
for d in reversed(1..depth) {
  w = if frontier[d] > 0 then (1 + delta) / paths else 0.0
  back = G @ w
  delta = delta + (if frontier[d - 1] > 0 then back * paths else 0.0)
}
output paths, delta
""")
def _(rng):
    g = Graph(rng, 40, 90)
    depth = 6
    paths = np.zeros(g.n)
    paths[0] = 1
    f = [paths.copy()]
    for _ in range(1, depth):
        x = np.where(paths == 0, g.a.T @ f[-1], 0)
        f.append(x)
        paths = paths + x
    delta = np.zeros(g.n)
    for d in range(depth - 1, 0, -1):
        w = np.where(f[d] > 0, (1 + delta) / np.maximum(paths, 1), 0)
        delta = delta + np.where(f[d - 1] > 0, (g.a @ w) * paths, 0)
    return {"G.txt": g.file}, {"paths": paths, "delta": delta}


@program("ids-and-sizes", """
dim N
input G : null[N, N]
v = index(N)
place = i64(v)
n = size(N)
half = place < n // 2
least = mxv((x, e: bool) -> x, min, G, place)
same = v == v
later : bool[N] = map((a, b) -> a > b, v, v)
output v, place, n, half, least, same, later, last = max(place)
""")
def _(rng):
    g = Graph(rng, 41, 100)
    place = np.arange(g.n)
    least = np.full(g.n, np.iinfo(np.int64).max)
    for u, v in g.pairs:
        least[v] = min(least[v], u)
    return {"G.txt": g.file}, {"v": g.ids, "place": place, "n": np.int64(g.n), "half": (place < g.n // 2).astype(np.uint8),
                               "least": least, "same": np.ones(g.n, np.uint8), "later": np.zeros(g.n, np.uint8),
                               "last": np.int64(g.n - 1), "N_ids": g.ids}


@program("spread-of-points", """
# each vertex holds a point; neighbours' points are averaged by weight
dim N
input G : f64[N, N]
fn weigh(p: [f64; 3], w: f64) = [i in 3: p[i] * w]
fn plus(a, b) = [i in 3: a[i] + b[i]]
fn start(v) = [f64(i64(v)), 1.0, f64(i64(v) % 3)]
x = map(start, index(N))
for turn in 0..3 {
  y = mxvt(weigh, plus, G, x)
  x = map((a, b) -> [i in 3: 0.5 * a[i] + 0.25 * b[i]], x, y)
}
centre = reduce(plus, x)
output x, centre
""")
def _(rng):
    g = Graph(rng, 30, 100, weight=lambda r: float(r.normal()))
    place = np.arange(g.n)
    x = np.stack([place * 1.0, np.ones(g.n), place % 3 * 1.0], 1)
    for _ in range(3):
        x = 0.5 * x + 0.25 * (g.w @ x)
    return {"G.txt": g.file}, {"x": x, "centre": x.sum(0)}


@program("degree-statistics", """
dim N
input G : null[N, N]
one : i64[N] = 1
out = G @ one
ins = one @ G
total = sum(out)
both = map((a, b) -> (a, b, a - b), out, ins)
largest = max(out); smallest = min(ins)
mean = total / size(N)
spread = sqrt(sum((f64(out) - mean) ^ 2) / size(N))
product = prod(f64(out + 1) / 4)
none = any(out == 0); every = all(ins > 0)
least = min(f32(out) - 3.5f32)
output both, total, largest, smallest, mean, spread, product, none, every, least
""", exact=False)
def _(rng):
    g = Graph(rng, 40, 100)
    out, ins = g.a.sum(1), g.a.sum(0)
    return {"G.txt": g.file}, {"both": [out, ins, out - ins], "total": out.sum(), "largest": out.max(), "smallest": ins.min(),
                               "mean": out.mean(), "spread": out.std(), "product": np.prod((out + 1) / 4), "none": np.uint8((out == 0).any()),
                               "every": np.uint8((ins > 0).all()), "least": np.float32(out.min() - 3.5)}


@program("nested-control", """
dim N
input G : null[N, N]
param limit = 7, mode = 2
x : f64[N] = 1
count = 0
small = 0
for i in 0..4 {
  j = i
  while j < limit likely {
    if j % 2 == 0 {
      y = G' @ x
      x = y / (1 + max(y))
      if mode == 2 && i > 1 { x = x + 0.5; small = small + 1 } else if mode == 3 { x = x * 2 }
    } else {
      x = 0.5 * x + 0.125
    }
    j = j + 2 - i % 2
    count = count + 1
  }
}
output x, count, small
""", run=("-D", "limit=6"))
def _(rng):
    g = Graph(rng, 30, 90)
    x, count, small = np.ones(g.n), 0, 0
    for i in range(4):
        j = i
        while j < 6:
            if j % 2 == 0:
                y = g.a.T @ x
                x = y / (1 + y.max())
                if i > 1:
                    x = x + 0.5
                    small += 1
            else:
                x = 0.5 * x + 0.125
            j += 2 - i % 2
            count += 1
    return {"G.txt": g.file}, {"x": x, "count": np.int64(count), "small": np.int64(small)}


ZERO = """
dim N
input G : null[N, N]
param theta = 1e-6, turns = 0
pr : f64[N] = 1
degree = G @ pr
n = 0
diff = 0.0
go = theta > 1
while go likely expect 10 {
  new = 0.15 + 0.85 * (G' @ (pr / degree))
  diff = sum(abs(new - pr))
  pr = new
  n = n + 1
  go = diff > theta && n < 3
}
x = pr
for i in 0..turns {
  x = G @ x
}
while any(x < 0) likely { x = x + 1 }
output pr, x, n, diff
"""


def zero(rng, go, turns):
    g = Graph(rng, 30, 90, sinks=0)
    pr, degree, n, diff = np.ones(g.n), g.a.sum(1), 0, 0.0
    while go:
        new = 0.15 + 0.85 * (g.a.T @ (pr / degree))
        diff = np.abs(new - pr).sum()
        pr = new
        n += 1
        go = n < 3
    x = pr
    for _ in range(turns):
        x = g.a @ x
    return {"G.txt": g.file}, {"pr": pr, "x": x, "n": np.int64(n), "diff": np.float64(diff)}


program("no-turns", ZERO)(lambda rng: zero(rng, False, 0))
program("some-turns", ZERO.replace("theta > 1", "theta < 1"), run=("-D", "turns=2"))(lambda rng: zero(rng, True, 2))

EMPTY = """
dim N
input G : null[N, N]
param r = 0.85
pr : f64[N] = 1
degree = G @ pr
go = true; turn = 0
while go likely {
  new = (1 - r) + r * (G' @ (if degree > 0 then pr / degree else 0.0))
  diff = sum(abs(new - pr))
  pr = new
  turn = turn + 1
  go = diff > 1e-3 && turn < 4
}
low = min(pr); high = max(i64(pr)); p = prod(degree); some = any(pr > 0); every = all(pr > 1000)
pair = reduce((a, b) -> if a.0 < b.0 then a else if b.0 < a.0 then b else (a.0, min(a.1, b.1)), map((x, v) -> (x, i64(v)), pr, index(N)))
output pr, low, high, p, some, every, n = size(N), v = index(N)
"""


def small_graph(n, pairs, lines):
    a = np.zeros((n, n))
    for u, v in pairs:
        a[u, v] = 1
    pr, degree, turn = np.ones(n), a.sum(1), 0
    while True:
        new = 0.15 + 0.85 * (a.T @ np.where(degree > 0, pr / np.maximum(degree, 1), 0))
        diff = np.abs(new - pr).sum()
        pr = new
        turn += 1
        if not (diff > 1e-3 and turn < 4):
            break
    big = np.iinfo(np.int64)
    return {"G.txt": lines}, {"pr": pr, "low": pr.min() if n else np.inf, "high": np.int64(int(pr.max())) if n else np.int64(big.min),
                              "p": degree.prod(), "some": np.uint8((pr > 0).any()), "every": np.uint8((pr > 1000).all()),
                              "n": np.int64(n)}


program("empty-graph", EMPTY)(lambda rng: small_graph(0, [], "# nothing\n"))
program("no-arcs", EMPTY, partition=("--dim", "N=7"))(lambda rng: small_graph(7, [], "# nothing\n"))
program("one-vertex", EMPTY)(lambda rng: small_graph(1, [(0, 0)], "77 77\n"))
program("two-vertices", EMPTY)(lambda rng: small_graph(2, [(1, 0)], "900 4\n"))


# ---- numbers ------------------------------------------------------------------------------------------------------

@program("integers", """
dim N
input a : i64[N], b : i64[N], c : i32[N]
q = a // b
r = a % b
d = a / b
e = c // 7i32
f = c % -3i32
w = a * 4611686018427387905 + b
wi = c * 1000000007i32
neg = -a
x = i32(a * 1000000000)
y = i64(f64(a) * 1e18)
z = i32(f64(c) / 3)
t = f32(a) / f32(b)
lo = min(a); hi = max(c); total = sum(a); times = prod(2 * a + 21)
s = 7 // 2 + -7 // 2 + -7 % 3
g = bool(a)
m = abs(a) - abs(b)
u = sum(c)
v = f64(c) ^ 2 + f64(c) ^ 3
output q, r, d, e, f, w, wi, neg, x, y, z, t, lo, hi, total, times, s, g, m, u, v
""")
def _(rng):
    n = 57
    a = rng.integers(-10, 10, n)
    b = rng.integers(-4, 5, n)
    c = rng.integers(-1000, 1000, n).astype(np.int32)
    with np.errstate(all="ignore"):
        q = np.where(b == 0, 0, np.floor_divide(a, np.where(b == 0, 1, b)))
        r = np.where(b == 0, 0, a - b * q)
        files = {"a.csv": csv(a), "b.npy": npy(b), "c.npy": npy(c)}
        m32 = lambda v: np.array([(int(x) + 2**31) % 2**32 - 2**31 for x in v], np.int32)
        m64 = lambda v: np.array([(int(x) + 2**63) % 2**64 - 2**63 for x in v], np.int64)
        clamp = lambda v, lo, hi: np.array([min(max(int(x), lo), hi) for x in v])
        times = 1
        for x in a:
            times *= 2 * int(x) + 21
        return files, {
            "q": q, "r": r, "d": a / b.astype(float), "e": c // np.int32(7), "f": c % np.int32(-3),
            "w": m64([int(x) * 4611686018427387905 + int(y) for x, y in zip(a, b)]), "wi": m32([int(x) * 1000000007 for x in c]),
            "neg": -a, "x": clamp(a * 1000000000, -2**31, 2**31 - 1).astype(np.int32),
            "y": clamp(a.astype(float) * 1e18, -2**63, 2**63 - 1), "z": np.trunc(c / 3).astype(np.int32),
            "t": a.astype(np.float32) / b.astype(np.float32), "lo": a.min(), "hi": c.max(), "total": a.sum(), "times": m64([times])[0],
            "s": np.int64(3 - 4 + 2), "g": (a != 0).astype(np.uint8), "m": np.abs(a) - np.abs(b), "u": c.sum(dtype=np.int32),
            "v": c.astype(float) ** 2 + c.astype(float) ** 3}


@program("functions", """
dim N
input x : f64[N], y : f32[N]
a = exp(-x * x) + log(1 + abs(x)) + sqrt(abs(x)) + sin(x) * cos(x) + tanh(x)
b = log1p(abs(x)) - expm1(x / 10) + pow(abs(x), 1.5) + abs(x) ^ -2.5 + floor(x) - ceil(x)
c = exp(-y) + sin(y) * tanh(y) + sqrt(abs(y))
lo = min(x, -x); hi = max(f64(y), x)
d = if x > 0.5 then x elseless(x)
output a, b, c, lo, hi, d
fn elseless(x) = 0 - x
""".replace("elseless(x)\noutput", "else 0 - x\noutput").replace("fn elseless(x) = 0 - x\n", ""), exact=False, tolerance=2e-6)
def _(rng):
    x = rng.normal(size=100) * 3
    y = rng.normal(size=100).astype(np.float32)
    return {"x.npy": npy(x), "y.npy": npy(y)}, {
        "a": np.exp(-x * x) + np.log(1 + np.abs(x)) + np.sqrt(np.abs(x)) + np.sin(x) * np.cos(x) + np.tanh(x),
        "b": np.log1p(np.abs(x)) - np.expm1(x / 10) + np.abs(x) ** 1.5 + np.abs(x) ** -2.5 + np.floor(x) - np.ceil(x),
        "c": np.exp(-y) + np.sin(y) * np.tanh(y) + np.sqrt(np.abs(y)), "lo": np.minimum(x, -x), "hi": np.maximum(y, x),
        "d": np.where(x > 0.5, x, -x)}


@program("many-types", """
const shift = 2
const d = 3
dim N
input x : f64[N]
param c : [f64; 2] = [0.5, 1], flag = true, small : i32 = 3, fine : f32 = 0.5
a = x > 0
b = f32(x) * fine
i = i64(x * 10) + shift
j = i32(x * 10) * small
p = map((u, c) -> [u * c[0], u + c[1]], x, c)
t = map(u -> (u, i64(u), [k in d: u * f64(k)], u > 0), x)
second = t.1
third = t.2
coordinate = p[1]
yes = if flag then a else !a
top = reduce(max, b)
tt = (sum(x), size(N))
output a, b, i, j, p, t, second, third, coordinate, yes, top, tt
""", plan=("-D", "shift=5"), run=("-D", "small=-2", "-D", "flag=false", "-D", "c=[2, 3.5]"), tolerance=1e-6)
def _(rng):
    x = rng.normal(size=33) * 4
    b = x.astype(np.float32) * np.float32(0.5)
    u = np.trunc(x).astype(np.int64)
    return {"x.csv": csv(x, "x")}, {
        "a": (x > 0).astype(np.uint8), "b": b, "i": np.trunc(x * 10).astype(np.int64) + 5,
        "j": np.trunc(x * 10).astype(np.int32) * np.int32(-2), "p": np.stack([2 * x, x + 3.5], 1),
        "t": [x, u, np.stack([0 * x, x, 2 * x], 1), (x > 0).astype(np.uint8)], "second": u, "third": np.stack([0 * x, x, 2 * x], 1),
        "coordinate": x + 3.5, "yes": (x <= 0).astype(np.uint8), "top": b.max(), "tt": [x.sum(), np.int64(33)]}


# ---- matrices -----------------------------------------------------------------------------------------------------

@program("conjugate-gradient", """
dim N
input A : f64[N, N], b : f64[N], D : f64[N]
param steps = 12
x : f64[N] = 0
r = b - A @ x
z = r / D
p = z
rz = dot(r, z)
for i in 0..steps {
  q = A @ p
  alpha = rz / (p @ q)
  x = x + alpha * p
  r = r - alpha * q
  z = r / D
  new = dot(r, z)
  p = z + (new / rz) * p
  rz = new
}
output x, residual = sqrt(sum(r ^ 2))
""", tolerance=1e-6)
def _(rng):
    n = 60
    m = np.tril(np.where(rng.random((n, n)) < 0.1, rng.normal(size=(n, n)), 0), -1)
    m = m + np.diag(np.abs(m).sum(1) + np.abs(m).sum(0) + 1)
    full = m + np.tril(m, -1).T
    b = rng.normal(size=n)
    x, r = np.zeros(n), b.copy()
    d = np.diag(full)
    z = r / d
    p, rz = z, r @ z
    for _ in range(12):
        q = full @ p
        alpha = rz / (p @ q)
        x = x + alpha * p
        r = r - alpha * q
        z = r / d
        p, rz = z + (r @ z / rz) * p, r @ z
    entries = [(i, j, m[i, j]) for i, j in zip(*np.nonzero(m))]
    return {"A.mtx": market(n, n, entries, "symmetric"), "b.csv": csv(b), "D.npy": npy(d)}, {"x": x, "residual": np.sqrt(r @ r)}


@program("power-iteration", """
dim N
input A : f64[N, N]
param theta = 1e-12
x = 1 / sqrt(f64(size(N))) * fill(1.0, N)
old = 0.0
lambda = 1.0
turn = 0
while abs(lambda - old) > theta * abs(lambda) likely expect 50 {
  y = A @ x
  old = lambda
  lambda = dot(x, y)
  x = y / sqrt(dot(y, y))
  turn = turn + 1
}
output lambda
""")
def _(rng):
    n = 30
    m = np.where(rng.random((n, n)) < 0.3, rng.random((n, n)), 0)
    m = np.tril(m) + np.diag(np.full(n, 0.1))
    full = m + np.tril(m, -1).T
    entries = [(i, j, m[i, j]) for i, j in zip(*np.nonzero(m))]
    return {"A.mtx": market(n, n, entries, "symmetric")}, {"lambda": np.linalg.eigvalsh(full)[-1]}


@program("linear-regression", """
dim H, W
input X : f64[H, W], y : f64[H]
param rate = 0.05, turns = 20
w : f64[W] = 0
bias = 0.0
for t in 0..turns {
  e = X @ w + bias - y
  w = w - rate / size(H) * (X' @ e)
  bias = bias - rate * sum(e) / size(H)
}
loss = sum((X @ w + bias - y) ^ 2) / (2 * size(H))
output w, bias, loss
""", inputs=("X=data.svm", "y=data.svm"), run=("-D", "turns=30"))
def _(rng):
    h, w = 50, 13
    x = np.where(rng.random((h, w)) < 0.3, rng.normal(size=(h, w)), 0)
    x[0, w - 1] = 1
    y = rng.normal(size=h)
    lines = [f"{y[i]:.17g} " + " ".join(f"{j + 1}:{x[i, j]:.17g}" for j in np.nonzero(x[i])[0]) for i in range(h)]
    v, bias = np.zeros(w), 0.0
    for _ in range(30):
        e = x @ v + bias - y
        v = v - 0.05 / h * (x.T @ e)
        bias = bias - 0.05 * e.sum() / h
    loss = ((x @ v + bias - y) ** 2).sum() / (2 * h)
    return {"data.svm": "\n".join(lines) + "\n"}, {"w": v, "bias": bias, "loss": loss}


@program("dense-local", """
# a data matrix whose columns every worker holds
dim N, F local
input A : f64[N, F], v : f64[N]
mean = sum(A, over N) / size(N)
centred = A - mean
variance = sum(centred ^ 2, over N) / size(N)
z = centred / sqrt(variance)
w : f64[F] = 1
for t in 0..5 {
  s = w / sqrt(variance)
  e = A @ s - dot(mean, s) - v
  w = w - 0.1 / size(N) * (A' @ e - mean * sum(e)) / sqrt(variance)
}
rows = sum(A, over F)
top = max(A)
back = A' @ v
output mean, variance, w, rows, top, z, back
""", exact=False)  # BLIS adds in an order of its own
def _(rng):
    a = rng.normal(size=(40, 6)) * [1, 2, 3, 4, 5, 6] + 1
    v = rng.normal(size=40)
    mean = a.mean(0)
    z = (a - mean) / a.std(0)
    w = np.ones(6)
    for _ in range(5):
        w = w - 0.1 / 40 * (z.T @ (z @ w - v))
    return {"A.csv": csv(a), "v.npy": npy(v)}, {"mean": mean, "variance": a.var(0), "w": w, "rows": a.sum(1), "top": a.max(), "z": z,
                                               "back": a.T @ v}


@program("ratings", """
# a bipartite graph: biases of users and items by turns
dim U, I
input R : f64[U, I], prior : f64[I]
param damping = 3.0, turns = 6
fn one(x, e: f64) = x
fn value(x, e: f64) = x * e
users : f64[U] = 1
n_u = mxvt(one, +, R, fill(1.0, I))
n_i = mxv(one, +, R, users)
total = sum(R @ fill(1.0, I))
mu = total / sum(n_u)
b_u : f64[U] = 0
b_i = prior
for t in 0..turns {
  b_u = (R @ fill(1.0, I) - mu * n_u - mxvt(one, +, R, b_i)) / (damping + n_u)
  b_i = (R' @ users - mu * n_i - mxv(one, +, R, b_u)) / (damping + n_i)
}
output mu, b_u, b_i
""", partition=("--columns", "R=1,2,3"))
def _(rng):
    nu, ni = 25, 17
    have = rng.random((nu, ni)) < 0.3
    have[:, 0] = True
    have[0, :] = True
    r = np.where(have, rng.integers(1, 6, (nu, ni)), 0).astype(float)
    prior = rng.normal(size=ni)
    order = rng.permutation(np.argwhere(have))
    lines = [f"{u + 1}\t{i}\t{int(r[u, i])}\t{rng.integers(10**9)}" for u, i in order]
    n_u, n_i, mu = have.sum(1), have.sum(0), r.sum() / have.sum()
    bi = prior
    for _ in range(6):
        bu = (r.sum(1) - mu * n_u - have @ bi) / (3 + n_u)
        bi = (r.sum(0) - mu * n_i - have.T @ bu) / (3 + n_i)
    return {"R.txt": "\n".join(lines) + "\n", "prior.csv": csv(prior)}, {"mu": mu, "b_u": bu, "b_i": bi}


@program("k-means", """
const k = 3, d = 3
dim N
input X : [f64; d][N]
fn far(p, c) = sum(j in d: (p[j] - c[j]) ^ 2)
fn closer(best, p, c, j) {
  now = far(p, c)
  if now < best.0 then (now, j) else best
}
fn mine(p, best, j) = if best.1 == j then (p, 1) else ([i in d: 0.0], 0)
fn plus(a, b) = ([i in d: a.0[i] + b.0[i]], a.1 + b.1)
fn mean(s, old) = if s.1 > 0 then [i in d: s.0[i] / s.1] else old
list c[k] : [f64; d] = 0
c[0] = [1.0, 2.0, 3.0]; c[1] = [100.0, 100.0, 100.0]; c[2] = [250.0, 1.0, 100.0]
cluster : i64[N] = -1
moved = 1
while moved > 0 likely expect 10 {
  best = map((p, c) -> (far(p, c), 0), X, c[0])
  for j in 1..k unroll { best = map(closer, best, X, c[j], j) }
  for j in 0..k unroll { c[j] = mean(reduce(plus, map(mine, X, best, j)), c[j]) }
  moved = sum(if best.1 != cluster then 1 else 0)
  cluster = best.1
}
c0 = c[0]; c1 = c[1]; c2 = c[2]
output cluster, c0, c1, c2
""", partition=("--columns", "X=1,2,3"))
def _(rng):
    x = np.concatenate([rng.integers(0, 90, (40, 3)), rng.integers(80, 200, (50, 3)), rng.integers(150, 255, (30, 3))]).astype(float)
    rows = np.concatenate([x, rng.integers(1, 3, (120, 1))], 1)
    c = np.array([[1.0, 2, 3], [100, 100, 100], [250, 1, 100]])
    cluster = np.full(120, -1)
    while True:
        d = ((x[:, None, :] - c[None]) ** 2).sum(2)
        best = d.argmin(1)
        for j in range(3):
            if (best == j).any():
                c[j] = x[best == j].mean(0)
        if (best == cluster).all():
            break
        cluster = best
    text = "\n".join("\t".join(str(int(v)) for v in row) for row in rows) + "\n"
    return {"X.txt": text}, {"cluster": cluster, "c0": c[0], "c1": c[1], "c2": c[2]}


@program("chebyshev", """
# three-term recurrence in a rotating list, with a memory of norms
const m = 3
dim N
input A : f64[N, N]
param turns = 9
list t[m] : f64[N] = 1
list norm[m] : f64 = 0
push(t, 0.1 * (A @ t[m - 1]))
s = t[m - 2] + t[m - 1]
for k in 0..turns {
  push(t, 0.2 * (A @ t[m - 1]) - t[m - 2])
  push(norm, sqrt(dot(t[m - 1], t[m - 1])))
  if k % 3 == 2 {
    for i in 0..m { t[i] = t[i] * 0.5 }
  }
  s = s + t[m - 1]
}
a = t[0]; b = t[1]; c = t[2]
output s, a, b, c, last = norm[2], before = norm[0]
""")
def _(rng):
    a, text = sparse(rng, 40, 40)
    t, norm = [np.ones(40)] * 3, [0.0] * 3
    t = t[1:] + [0.1 * (a @ t[2])]
    s = t[1] + t[2]
    for k in range(9):
        t = t[1:] + [0.2 * (a @ t[2]) - t[1]]
        norm = norm[1:] + [np.sqrt(t[2] @ t[2])]
        if k % 3 == 2:
            t = [0.5 * x for x in t]
        s = s + t[2]
    return {"A.mtx": text}, {"s": s, "a": t[0], "b": t[1], "c": t[2], "last": norm[2], "before": norm[0]}


@program("normal-equations", """
# conjugate gradients on A'A over a matrix that is not square, both products in each turn
dim R, C
input A : f64[R, C], b : f64[R]
param damp = 0.5
x : f64[C] = 0
r = A' @ b
p = r
rr = dot(r, r)
first = rr
turn = 0
while rr > 1e-18 * first && turn < 100 likely expect 15 {
  q = A' @ (A @ p) + damp * p
  alpha = rr / dot(p, q)
  x = x + alpha * p
  r = r - alpha * q
  new = dot(r, r)
  p = r + new / rr * p
  rr = new
  turn = turn + 1
}
output x, fit = sum((b - A @ x) ^ 2)
""")
def _(rng):
    a, text = sparse(rng, 40, 15, 0.3)
    b = rng.normal(size=40)
    x = np.linalg.solve(a.T @ a + 0.5 * np.eye(15), a.T @ b)
    return {"A.mtx": text, "b.npy": npy(b)}, {"x": x, "fit": ((b - a @ x) ** 2).sum()}


@program("dense-products", """
# a dense matrix that is cut by rows, against a vector over its columns; products over other semirings
dim N, M local
input A : dense f64[N, M], x : f64[M], y : f64[N]
a = A @ x
b = A' @ y
s = sum(A * 2)
t = sum(A, over M)
p = mxvt(+, max, A, x)
q = mxv((u, e: f64) -> abs(u - e), min, A, y)
output a, b, s, t, p, q
""", exact=False)  # BLIS adds in an order of its own
def _(rng):
    a = rng.normal(size=(23, 11))
    x, y = rng.normal(size=11), rng.normal(size=23)
    return {"A.npy": npy(a), "x.npy": npy(x), "y.npy": npy(y)}, {
        "a": a @ x, "b": a.T @ y, "s": 2 * a.sum(), "t": a.sum(1), "p": (a + x).max(1), "q": np.abs(a - y[:, None]).min(0)}


@program("shareds", """
# local dimensions alone: no data is cut, besides one vector
dim F local = 4, N
input x : f64[N]
param r = 0.5
W : f64[F] = 1
W = map((w, i) -> w + f64(i64(i)), W, index(F))
a = dot(W, W)
total = 0.0
i = 10
while i > 0 {
  total = total + r * sum(x) + a
  i = i // 2
}
out = outer(x, W)
s = sum(out, over N)
output W, a, total, out, s
fn outer(u, v) = u * v
""".replace("outer(x, W)", "map(outer, fill(0.0, N, F) + x, W)"))
def _(rng):
    x = rng.normal(size=21)
    w = 1.0 + np.arange(4)
    out = np.outer(x, w)
    return {"x.npy": npy(x)}, {"W": w, "a": w @ w, "total": 4 * (0.5 * x.sum() + w @ w), "out": out, "s": out.sum(0)}


@program("two-graphs", """
# two matrices over one dimension, alternating, and one of them transposed
dim V
input G : null[V, V], H : f64[V, V]
x : f64[V] = 1
y : f64[V] = 2
for i in 0..5 {
  u = G' @ x
  v = H @ y
  x = 0.1 * u + 0.2 * v + 0.01 * (H' @ x)
  y = 0.3 * (G @ v) + y / (1 + abs(u))
}
output x, y
""")
def _(rng):
    g = Graph(rng, 30, 80)
    h = Graph(rng, 30, 50, weight=lambda r: float(r.normal()))
    ids = np.union1d(g.ids, h.ids)
    place = {v: i for i, v in enumerate(ids)}
    n = len(ids)
    a, w = np.zeros((n, n)), np.zeros((n, n))
    for u, v in g.pairs:
        a[place[g.ids[u]], place[g.ids[v]]] = 1
    for u, v in h.pairs:
        w[place[h.ids[u]], place[h.ids[v]]] = h.w[u, v]
    x, y = np.ones(n), 2 * np.ones(n)
    for _ in range(5):
        u, v = a.T @ x, w @ y
        x, y = 0.1 * u + 0.2 * v + 0.01 * (w.T @ x), 0.3 * (a @ v) + y / (1 + np.abs(u))
    return {"G.txt": g.file, "H.txt": h.file}, {"x": x, "y": y, "V_ids": ids}


@program("wide-fan", """
# one matrix, many products of several element types in one turn
dim V
input G : null[V, V]
a : f64[V] = 1
b : f32[V] = 2f32
c : i64[V] = 1
d : i32[V] = 1i32
e : bool[V] = true
for i in 0..3 {
  na = G' @ a; nb = G' @ b; nc = G' @ c; nd = G' @ d; ne = G' @ e
  ga = G @ a; gc = G @ c
  a = 0.5 * na + 0.25 * ga; b = 0.125f32 * nb; c = nc - gc; d = nd % 7i32; e = ne && na > 0.5
}
output a, b, c, d, e
""", tolerance=1e-6)
def _(rng):
    g = Graph(rng, 40, 150)
    t = g.a.T
    a, b, c, d, e = np.ones(40), np.full(40, 2, np.float32), np.ones(40, np.int64), np.ones(40, np.int32), np.ones(40, bool)
    for _ in range(3):
        na, nb, nc, nd, ne = t @ a, (t @ b.astype(float)).astype(np.float32), t @ c, t @ d.astype(np.int64), (t @ e.astype(int)) > 0
        ga, gc = g.a @ a, g.a @ c
        a, b, c, d, e = 0.5 * na + 0.25 * ga, np.float32(0.125) * nb, nc - gc, (nd % 7).astype(np.int32), ne & (na > 0.5)
    return {"G.txt": g.file}, {"a": a, "b": b, "c": c, "d": d, "e": e.astype(np.uint8)}


# ---- names, buffers and control -----------------------------------------------------------------------------------

ALIASES = """
# names that change places: what is copied and what is only renamed
dim V
input G : null[V, V]
param turns = 5, choice = 1
a = map(v -> f64(i64(v)), index(V))
b = fill(1.0, V)
c = a
output start = a
for i in 0..turns {
  t = a; a = b; b = t
  c = a
  if i % 2 == choice { t = b; b = c; c = t; a = a + 1 } else { c = b }
}
output a, b, c
d = a
e = a
for i in 0..turns {
  e = d
  d = 0.5 * (G' @ d) + b
  if i == 3 { d = e }
}
output d, e
p = a
q = p
while any(q < 0) likely { q = p; p = p + 1 }
output p, q
x = b
y = x
for i in 0..turns {
  for j in 0..i {
    z = x; x = y; y = z + f64(j)
  }
  x = x + f64(i)
  b = x
}
output x, y, last = b
"""


def aliases(rng, turns, choice):
    g = Graph(rng, 30, 80)
    a, b = np.arange(30.0), np.ones(30)
    c = start = a
    for i in range(turns):
        a, b = b, a
        c = a
        if i % 2 == choice:
            b, c = c, b
            a = a + 1
        else:
            c = b
    want = {"start": start, "a": a, "b": b, "c": c}
    d = e = a
    for i in range(turns):
        e = d
        d = 0.5 * (g.a.T @ d) + b
        if i == 3:
            d = e
    want |= {"d": d, "e": e, "p": a, "q": a}
    x = y = b
    for i in range(turns):
        for j in range(i):
            x, y = y, x + j
        x = x + i
        b = x
    return {"G.txt": g.file}, want | {"x": x, "y": y, "last": b}


program("aliases", ALIASES)(lambda rng: aliases(rng, 5, 1))
program("aliases-other", ALIASES, run=("-D", "turns=4", "-D", "choice=0"))(lambda rng: aliases(rng, 4, 0))
program("aliases-once", ALIASES, run=("-D", "turns=1", "-D", "choice=7"))(lambda rng: aliases(rng, 1, 7))
program("aliases-never", ALIASES, run=("-D", "turns=0"))(lambda rng: aliases(rng, 0, 1))


@program("lists", """
# lists read and written at places known only when running, in nested loops, with pushes between
const m = 4
dim V
input G : f64[V, V]
list s[m] : f64[V] = 1
list w[m] : f64 = 0.5
list k[m] : i64 = 0
for i in 0..m { s[i] = f64(i + 1) * s[i]; w[i] = 1 / f64(i + 1) }
for turn in 0..6 {
  x = s[turn % m]
  for i in reversed(0..m) {
    j = (i + turn) % m
    s[j] = s[j] - w[i] * (0.1 * (G @ s[i]))
    k[j] = k[j] + i
    if i == turn { s[i] = s[(i + 1) % m]; push(k, turn) }
  }
  push(s, x + s[0])
  w[turn % m] = dot(s[m - 1], s[m - 1]) / (1 + dot(s[0], s[0]))
  while w[turn % m] > 1 { w[turn % m] = w[turn % m] / 2 }
}
a = s[0]; b = s[1]; c = s[2]; d = s[3]
output a, b, c, d, w0 = w[0], w1 = w[1], w3 = w[3], k0 = k[0], k2 = k[2], k3 = k[3]
""")
def _(rng):
    g = Graph(rng, 30, 80, weight=lambda r: float(r.normal()) / 4)
    m = 4
    s, w, k = [(i + 1) * np.ones(g.n) for i in range(m)], [1 / (i + 1) for i in range(m)], [0] * m
    for turn in range(6):
        x = s[turn % m]
        for i in reversed(range(m)):
            j = (i + turn) % m
            s[j] = s[j] - w[i] * (0.1 * (g.w @ s[i]))
            k[j] += i
            if i == turn:
                s[i] = s[(i + 1) % m]
                k = k[1:] + [turn]
        s = s[1:] + [x + s[0]]
        w[turn % m] = (s[m - 1] @ s[m - 1]) / (1 + s[0] @ s[0])
        while w[turn % m] > 1:
            w[turn % m] /= 2
    return {"G.txt": g.file}, {"a": s[0], "b": s[1], "c": s[2], "d": s[3], "w0": w[0], "w1": w[1], "w3": w[3],
                               "k0": np.int64(k[0]), "k2": np.int64(k[2]), "k3": np.int64(k[3])}


@program("branches", """
# products, reductions and shareds in branches, loops in branches, branches that are never taken
dim V
input G : null[V, V]
param mode = 2
x = 1 / f64(size(V)) * fill(1.0, V)
best = -inf
kind = 0i32
for i in 0..6 likely {
  if i % 3 == 0 likely {
    x = G' @ x
    if sum(x) > 1.5 { x = x / sum(x) } else if sum(x) < 0.01 { x = x + 1 }
  } else if i % 3 == 1 {
    y = x
    while max(y) > 0.125 { y = 0.5 * y }
    x = x + y
    kind = kind + 1i32
  } else {
    if mode == 2 { x = G @ x + x; best = max(best, max(x)) } else { x = -x }
  }
}
if mode > 5 { x = x * 100; best = 0.0 }
output x, best, kind
""")
def _(rng):
    g = Graph(rng, 30, 80)
    x, best, kind = np.ones(30) / 30, -np.inf, 0
    for i in range(6):
        if i % 3 == 0:
            x = g.a.T @ x
            if x.sum() > 1.5:
                x = x / x.sum()
            elif x.sum() < 0.01:
                x = x + 1
        elif i % 3 == 1:
            y = x
            while y.max() > 0.125:
                y = 0.5 * y
            x = x + y
            kind += 1
        else:
            x = g.a @ x + x
            best = max(best, x.max())
    return {"G.txt": g.file}, {"x": x, "best": best, "kind": np.int32(kind)}


@program("unnormalised-scores", """
# hubs and authorities by the largest score, the change as a condition, several shareds carried
dim N
input G : null[N, N]
param theta = 1e-7
hub = fill(1.0, N)
auth : f64[N] = 0
change = 1.0
turns = 0
history = 0.0
while change > theta && turns < 30 likely expect 20 {
  new_auth = G' @ hub
  new_auth = new_auth / max(new_auth)
  new_hub = G @ new_auth
  new_hub = new_hub / max(new_hub)
  change = max(abs(new_hub - hub)) + sum(abs(new_auth - auth)) / size(N)
  hub = new_hub
  auth = new_auth
  turns = turns + 1
  history = 0.5 * history + change
}
output hub, auth, history, turns
""", tolerance=1e-8)
def _(rng):
    g = Graph(rng, 40, 160)
    hub, auth, change, turns, history = np.ones(40), np.zeros(40), 1.0, 0, 0.0
    while change > 1e-7 and turns < 30:
        na = g.a.T @ hub
        na = na / na.max()
        nh = g.a @ na
        nh = nh / nh.max()
        change = np.abs(nh - hub).max() + np.abs(na - auth).sum() / 40
        hub, auth, turns, history = nh, na, turns + 1, 0.5 * history + change
    return {"G.txt": g.file}, {"hub": hub, "auth": auth, "history": history, "turns": np.int64(turns)}


# ---- dense arrays whose dimensions are all cut --------------------------------------------------------------------

@program("dense-by-rows", """
# ridge regression and scaling on a dense matrix; M is cut as well, and by a hash, because H is over it
dim N, M
input X : dense f64[N, M], y : f64[N], H : f64[M, M]
param step = 0.01, lambda = 0.1
mean = sum(X, over N) / size(N)
C = X - mean
deviation = sqrt(sum(C * C, over N) / size(N))
Z = C / deviation
w : f64[M] = 0
for i in 0..20 {
  w = w - step * (Z' @ (Z @ w - y) / size(N) + lambda * (H @ w))
}
output w, mean, deviation, Z, fit = Z @ w, rows = sum(abs(Z), over M), largest = max(Z)
""", inputs=("X=X.csv", "y=y.npy", "H=H.mtx"), exact=False)
def _(rng):
    n, m = 37, 9
    x, y = rng.normal(size=(n, m)) * 3 + 1, rng.normal(size=n)
    h, text = sparse(rng, m, m, 0.5)
    z = (x - x.mean(0)) / x.std(0)
    w = np.zeros(m)
    for _ in range(20):
        w = w - 0.01 * (z.T @ (z @ w - y) / n + 0.1 * (h @ w))
    return {"X.csv": csv(x), "y.npy": npy(y), "H.mtx": text}, {
        "w": w, "mean": x.mean(0), "deviation": x.std(0), "Z": z, "fit": z @ w, "rows": np.abs(z).sum(1), "largest": z.max()}


@program("all-pairs", """
# distances between all points of two sets, the nearest of each, and a low-rank matrix that is never stored as data
dim N, M
input P : [f64; 3][N], Q : [f64; 3][M], u : f64[N], v : f64[M], G : null[N, M]
D = outer((p, q) -> sum(j in 3: (p[j] - q[j]) ^ 2), P, Q)
near = reduce((a, b) -> if b.0 < a.0 || (b.0 == a.0 && b.1 < a.1) then b else a, map((d, j) -> (d, i64(j)), D, index(M)), over M)
A = u @ v' + D
reached = G' @ u
output D, near, x = A @ v, y = A' @ u, t = max(A * reached, over N), s = (A - 2.0 * D) @ reached
""", tolerance=1e-9, exact=False)
def _(rng):
    p, q, u, v = rng.normal(size=(19, 3)), rng.normal(size=(13, 3)), rng.normal(size=19), rng.normal(size=13)
    g = rng.random((19, 13)) < 0.3
    d = ((p[:, None, :] - q[None, :, :]) ** 2).sum(2)
    a = np.outer(u, v) + d
    reached = g.T @ u
    return {"P.csv": csv(p), "Q.csv": csv(q), "u.npy": npy(u), "v.npy": npy(v),
            "G.mtx": pattern(g)}, {
        "D": d, "near": [d.min(1), d.argmin(1)], "x": a @ v, "y": a.T @ u, "t": (a * reached).max(0), "s": (a - 2 * d) @ reached}


@program("square-matrix", """
# a dense symmetric matrix over one dimension: conjugate gradient, and its largest eigenvalue
dim N
input A : dense f64[N, N], b : f64[N]
x : f64[N] = 0
r = b
p = r
rho = r @ r
for i in 0..25 {
  q = A @ p
  alpha = rho / (p @ q)
  x = x + alpha * p
  r = r - alpha * q
  next = r @ r
  p = r + (next / rho) * p
  rho = next
}
scaled = A * x
e = fill(1.0, N)
for i in 0..200 {
  y = A' @ e
  e = y / max(abs(y))
}
output x, scaled, eigenvalue = (e @ (A @ e)) / (e @ e)
""", tolerance=1e-7, exact=False)
def _(rng):
    m = rng.normal(size=(30, 30))
    a = m @ m.T / 30 + 3 * np.eye(30)
    b = rng.normal(size=30)
    x = np.linalg.solve(a, b)
    return {"A.npy": npy(a), "b.npy": npy(b)}, {"x": x, "scaled": a * x, "eigenvalue": np.linalg.eigvalsh(a)[-1]}
