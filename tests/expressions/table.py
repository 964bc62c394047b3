"""Expressions that fused operators are made for: cells, rows, several aggregates, and products at the entries of a matrix.

A row is the template, the forms (d: X is dense; s: X is sparse), the program's text and the same in NumPy. The text is
statements between `; `, and then outputs between ` and `. NumPy gives one array for each output. A text may name:

  X, Y, Z, G [N, F] any numbers  P [N, F] rows of chances    A [N, F] positive
  V, W [F, K] positive           U, Q [N, K] positive        B [K, K], C [K, F], T [K, F] any numbers
  u, w [N] positive              y [N] -1 or 1               v [F], c [K] any numbers          s: a number

X and G are dense, or both sparse; Y, Z, P and A are dense.
"""
import numpy as np


def col(x):
    return x[:, None]


def softmax(x):
    e = np.exp(x - x.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def at(x, numbers):
    """x times numbers where x is not 0."""
    return np.where(x != 0, x * numbers, 0)


def of_softmax(p, y):
    return p * (y - (p * y).sum(1, keepdims=True))


def nearest(x, c):
    d = ((x[:, None] - c[None]) ** 2).sum(2)
    return d.min(1), (d <= d.min(1, keepdims=True)).astype(float)


def log_abs(x):
    return np.log(np.where(x != 0, abs(x), 1))


CELLS = [
    ("Cell", "d", "X * Y * Z", lambda d: d.X * d.Y * d.Z),
    ("Cell", "d", "X + 2 * Y - Z / 3", lambda d: d.X + 2 * d.Y - d.Z / 3),
    ("Cell", "d", "X * v + u", lambda d: d.X * d.v + col(d.u)),
    ("Cell", "ds", "X * u * v", lambda d: d.X * col(d.u) * d.v),
    ("Cell", "d", "abs(X - Y) / (1 + abs(Z))", lambda d: abs(d.X - d.Y) / (1 + abs(d.Z))),
    ("Cell", "d", "exp(-X ^ 2 / 2)", lambda d: np.exp(-d.X**2 / 2)),
    ("Cell", "d", "1 / (1 + exp(-X))", lambda d: sigmoid(d.X)),
    ("Cell", "d", "max(X, 0)", lambda d: np.maximum(d.X, 0)),
    ("Cell", "d", "min(max(X, -1), 1) * u", lambda d: np.clip(d.X, -1, 1) * col(d.u)),
    ("Cell", "d", "X * Y + (1 - X) * Z", lambda d: d.X * d.Y + (1 - d.X) * d.Z),
    ("Cell", "d", "if X > Y then X else Z", lambda d: np.where(d.X > d.Y, d.X, d.Z)),
    ("Cell", "d", "X > 0 && Y > 0 || Z < u", lambda d: (d.X > 0) & (d.Y > 0) | (d.Z < col(d.u))),
    ("Cell", "d", "tanh(X) * (1 - Y ^ 2)", lambda d: np.tanh(d.X) * (1 - d.Y**2)),
    ("Cell", "d", "log(A) + X / A", lambda d: np.log(d.A) + d.X / d.A),
    ("Cell", "d", "X * s + Y * (1 - s)", lambda d: d.X * d.s + d.Y * (1 - d.s)),
    ("Cell", "ds", "sum(X)", lambda d: d.X.sum()),
    ("Cell", "d", "sum(X * Y * Z)", lambda d: (d.X * d.Y * d.Z).sum()),
    ("Cell", "d", "sum(X * Y)", lambda d: (d.X * d.Y).sum()),
    ("Cell", "ds", "sumsq(X)", lambda d: (d.X**2).sum()),
    ("Cell", "d", "sum((X - Y) ^ 2)", lambda d: ((d.X - d.Y) ** 2).sum()),
    ("Cell", "ds", "sum(X * u * v)", lambda d: (d.X * col(d.u) * d.v).sum()),
    ("Cell", "ds", "sum(abs(X))", lambda d: abs(d.X).sum()),
    ("Cell", "ds", "max(abs(X))", lambda d: abs(d.X).max()),
    ("Cell", "ds", "sum(if X > 0 then 1.0 else 0.0)", lambda d: (d.X > 0).sum()),
    ("Cell", "ds", "sum(X * log(abs(X)))", lambda d: at(d.X, log_abs(d.X)).sum()),
    ("Cell", "ds", "any(X > 3)", lambda d: (d.X > 3).any()),
    ("Cell", "d", "prod(1 + 0.001 * X)", lambda d: (1 + 0.001 * d.X).prod()),
    ("Cell", "d", "sum(exp(-s * (X - v) ^ 2))", lambda d: np.exp(-d.s * (d.X - d.v) ** 2).sum()),
    ("Cell", "d", "-sum(P * log(P))", lambda d: -(d.P * np.log(d.P)).sum()),
    ("Cell", "d", "u * w + y", lambda d: d.u * d.w + d.y),
    ("Cell", "d", "sum(u * w)", lambda d: d.u @ d.w),
    ("Cell", "d", "sum(if u > w then u - w else 0)", lambda d: np.maximum(d.u - d.w, 0).sum()),
    ("MAgg", "ds", "sum(X) and sumsq(X)", lambda d: (d.X.sum(), (d.X**2).sum())),
    ("MAgg", "d", "sum(X * Y) and sum(X * Z)", lambda d: ((d.X * d.Y).sum(), (d.X * d.Z).sum())),
    ("MAgg", "ds", "min(X) and max(X) and mean(X)", lambda d: (d.X.min(), d.X.max(), d.X.mean())),
    ("MAgg", "d", "sum(X * Y) and sumsq(X) and sumsq(Y)", lambda d: ((d.X * d.Y).sum(), (d.X**2).sum(), (d.Y**2).sum())),
    ("MAgg", "ds", "sum(X ^ 2) and sum(X ^ 3) and sum(X ^ 4)", lambda d: [(d.X**k).sum() for k in (2, 3, 4)]),
    ("MAgg", "ds", "sum(X * u) and sum(X * v)", lambda d: ((d.X * col(d.u)).sum(), (d.X * d.v).sum())),
    ("MAgg", "d", "sum(X * Y) / sqrt(sumsq(X) * sumsq(Y))",
     lambda d: (d.X * d.Y).sum() / np.sqrt((d.X**2).sum() * (d.Y**2).sum())),
    ("MAgg", "d", "sumsq(X - mean(X))", lambda d: ((d.X - d.X.mean()) ** 2).sum()),
    ("MAgg", "d", "sum(u) and sum(u * w) and sumsq(w)", lambda d: (d.u.sum(), d.u @ d.w, d.w @ d.w)),
    ("MAgg", "ds", "sum(X) and sum(X, over F) and sum(X, over N)", lambda d: (d.X.sum(), d.X.sum(1), d.X.sum(0))),
]

ROWS = [
    # A row of results for each row.
    ("Row", "d", "X / sum(A, over F)", lambda d: d.X / col(d.A.sum(1))),
    ("Row", "d", "A / sum(A, over F)", lambda d: d.A / col(d.A.sum(1))),
    ("Row", "d", "X - mean(X, over F)", lambda d: d.X - d.X.mean(1, keepdims=True)),
    ("Row", "d", "e = exp(X - max(X, over F)); e / sum(e, over F)", lambda d: softmax(d.X)),
    ("Row", "d", "t = X - max(X, over F); t - log(sum(exp(t), over F))", lambda d: np.log(softmax(d.X))),
    ("Row", "d", "P * (Y - sum(P * Y, over F))", lambda d: of_softmax(d.P, d.Y)),
    ("Row", "d", "e = exp(X - max(X, over F)); p = e / sum(e, over F); p * (Y - sum(p * Y, over F))",
     lambda d: of_softmax(softmax(d.X), d.Y)),
    ("Row", "d", "t = X - mean(X, over F); t / sqrt(mean(t * t, over F) + 0.001)",
     lambda d: (d.X - d.X.mean(1, keepdims=True)) / np.sqrt(d.X.var(1, keepdims=True) + 0.001)),
    ("Row", "ds", "X / sqrt(sumsq(X, over F))", lambda d: d.X / np.maximum(np.sqrt((d.X**2).sum(1, keepdims=True)), 1e-300)),
    ("Row", "d", "X >= max(X, over F)", lambda d: d.X >= d.X.max(1, keepdims=True)),
    ("Row", "d", "X - Y * sum(X * Y, over F)", lambda d: d.X - d.Y * col((d.X * d.Y).sum(1))),
    ("Row", "d", "min(X, mean(X, over F)) * u", lambda d: np.minimum(d.X, d.X.mean(1, keepdims=True)) * col(d.u)),
    # A number for each row.
    ("Row", "ds", "sum(X, over F)", lambda d: d.X.sum(1)),
    ("Row", "ds", "sum(X * v, over F)", lambda d: (d.X * d.v).sum(1)),
    ("Row", "ds", "sumsq(X, over F)", lambda d: (d.X**2).sum(1)),
    ("Row", "d", "max(X, over F)", lambda d: d.X.max(1)),
    ("Row", "d", "sum(X * Y, over F)", lambda d: (d.X * d.Y).sum(1)),
    ("Row", "d", "argmax(X, over F)", lambda d: d.X.argmax(1)),
    ("Row", "d", "m = max(X, over F); m + log(sum(exp(X - m), over F))", lambda d: np.log(np.exp(d.X).sum(1))),
    ("Row", "d", "max(X, over F) - min(X, over F)", lambda d: d.X.max(1) - d.X.min(1)),
    ("Row", "d", "sqrt(sumsq(X - Y, over F))", lambda d: np.sqrt(((d.X - d.Y) ** 2).sum(1))),
    ("Row", "d", "sum(abs(X - v), over F) * u", lambda d: abs(d.X - d.v).sum(1) * d.u),
    ("Row", "d", "-sum(P * log(P), over F)", lambda d: -(d.P * np.log(d.P)).sum(1)),
    ("Row", "d", "sum(A / sum(A, over F) * X, over F)", lambda d: (d.A / col(d.A.sum(1)) * d.X).sum(1)),
    ("Row", "ds", "X @ v", lambda d: d.X @ d.v),
    ("Row", "ds", "1 / (1 + exp(-(X @ v)))", lambda d: sigmoid(d.X @ d.v)),
    ("Row", "ds", "u * (X @ v) - y", lambda d: d.u * (d.X @ d.v) - d.y),
    ("Row", "ds", "(X @ v) / sqrt(1 + sumsq(X, over F))", lambda d: d.X @ d.v / np.sqrt(1 + (d.X**2).sum(1))),
    ("Row", "ds", "sumsq(X, over F) + min(sumsq(C, over F) - 2 * (X @ C'), over K)", lambda d: nearest(d.X, d.C)[0]),
    ("Row", "ds", "argmin(sumsq(C, over F) - 2 * (X @ C'), over K)", lambda d: nearest(d.X, d.C)[1].argmax(1)),
    # A number for each column.
    ("Row", "ds", "sum(X, over N)", lambda d: d.X.sum(0)),
    ("Row", "ds", "sum(X * u, over N)", lambda d: (d.X * col(d.u)).sum(0)),
    ("Row", "ds", "sum(X ^ 2, over N)", lambda d: (d.X**2).sum(0)),
    ("Row", "d", "max(abs(X), over N)", lambda d: abs(d.X).max(0)),
    ("Row", "ds", "mean(X, over N) and sqrt(mean(X ^ 2, over N))", lambda d: (d.X.mean(0), np.sqrt((d.X**2).mean(0)))),
    ("Row", "d", "(X - mean(X, over N)) / sqrt(mean((X - mean(X, over N)) ^ 2, over N))", lambda d: (d.X - d.X.mean(0)) / d.X.std(0)),
    ("Row", "d", "sum(A / sum(A, over F), over N)", lambda d: (d.A / col(d.A.sum(1))).sum(0)),
    ("Row", "ds", "sum(X / (1 + sum(X * X, over F)), over N)", lambda d: (d.X / (1 + col((d.X**2).sum(1)))).sum(0)),
    ("Row", "ds", "sum(X * sum(X, over F), over N)", lambda d: (d.X * col(d.X.sum(1))).sum(0)),
    ("Row", "d", "e = exp(X - max(X, over F)); mean(e / sum(e, over F), over N)", lambda d: softmax(d.X).mean(0)),
    ("Row", "d", "sum(if X >= max(X, over F) then 1.0 else 0.0, over N)", lambda d: (d.X >= d.X.max(1, keepdims=True)).sum(0)),
    ("Row", "ds", "X' @ u", lambda d: d.X.T @ d.u),
    ("Row", "d", "X' @ sum(X * Y, over F)", lambda d: d.X.T @ (d.X * d.Y).sum(1)),
    ("Row", "ds", "X' @ sumsq(X, over F)", lambda d: d.X.T @ (d.X**2).sum(1)),
    ("Row", "ds", "X' @ (X @ v)", lambda d: d.X.T @ (d.X @ d.v)),
    ("Row", "ds", "X' @ (w * (X @ v))", lambda d: d.X.T @ (d.w * (d.X @ d.v))),
    ("Row", "ds", "X' @ (w * (X @ v)) + s * v", lambda d: d.X.T @ (d.w * (d.X @ d.v)) + d.s * d.v),
    ("Row", "ds", "X' @ (X @ v - y)", lambda d: d.X.T @ (d.X @ d.v - d.y)),
    ("Row", "ds", "X' @ (1 / (1 + exp(-(X @ v))) - u)", lambda d: d.X.T @ (sigmoid(d.X @ d.v) - d.u)),
    ("Row", "ds", "m = y * (X @ v); X' @ (if m < 1 then -y * (1 - m) else 0)",
     lambda d: d.X.T @ (-d.y * np.maximum(1 - d.y * (d.X @ d.v), 0))),
    ("Row", "ds", "m = X @ v; X' @ (exp(m) - u) and sum(exp(m) - u * m)",
     lambda d: (d.X.T @ (np.exp(d.X @ d.v) - d.u), (np.exp(d.X @ d.v) - d.u * (d.X @ d.v)).sum())),
    # A number for the whole.
    ("Row", "ds", "sum((X @ v) * u)", lambda d: (d.X @ d.v) @ d.u),
    ("Row", "ds", "sumsq(X @ v - y)", lambda d: ((d.X @ d.v - d.y) ** 2).sum()),
    ("Row", "ds", "sum(log1p(exp(-y * (X @ v))))", lambda d: np.log1p(np.exp(-d.y * (d.X @ d.v))).sum()),
    ("Row", "ds", "sum(max(0, 1 - y * (X @ v)) ^ 2)", lambda d: (np.maximum(1 - d.y * (d.X @ d.v), 0) ** 2).sum()),
    ("Row", "d", "sum(max(X, over F))", lambda d: d.X.max(1).sum()),
    ("Row", "ds", "sum(sqrt(sumsq(X, over F)))", lambda d: np.sqrt((d.X**2).sum(1)).sum()),
    ("Row", "ds", "sum(sum(X, over F) * u)", lambda d: d.X.sum(1) @ d.u),
    ("Row", "d", "sum(if argmax(X, over F) == argmax(Y, over F) then 1 else 0)", lambda d: (d.X.argmax(1) == d.Y.argmax(1)).sum()),
    ("Row", "d", "e = exp(X - max(X, over F)); -sum(Y * log(e / sum(e, over F)))", lambda d: -(d.Y * np.log(softmax(d.X))).sum()),
]

PRODUCTS = [
    # Columns of results for each row.
    ("Row", "ds", "X @ V", lambda d: d.X @ d.V),
    ("Row", "ds", "max(X @ V + c, 0)", lambda d: np.maximum(d.X @ d.V + d.c, 0)),
    ("Row", "ds", "(X @ V) * Q", lambda d: (d.X @ d.V) * d.Q),
    ("Row", "ds", "e = exp(X @ V); e / sum(e, over K)", lambda d: softmax(d.X @ d.V)),
    ("Row", "ds", "max(X @ V + c, 0) @ B", lambda d: np.maximum(d.X @ d.V + d.c, 0) @ d.B),
    ("Row", "ds", "X @ V @ W'", lambda d: d.X @ d.V @ d.W.T),
    ("Row", "d", "X - X @ V @ V'", lambda d: d.X - d.X @ d.V @ d.V.T),
    ("Row", "ds", "D = sumsq(C, over F) - 2 * (X @ C'); if D <= min(D, over K) then 1.0 else 0.0", lambda d: nearest(d.X, d.C)[1]),
    ("Row", "d", "S = X @ C' / 4; e = exp(S - max(S, over K)); (e / sum(e, over K)) @ T",
     lambda d: softmax(d.X @ d.C.T / 4) @ d.T),
    # Products with the transposed matrix.
    ("Row", "ds", "X' @ Q", lambda d: d.X.T @ d.Q),
    ("Row", "ds", "X' @ (X @ V)", lambda d: d.X.T @ (d.X @ d.V)),
    ("Row", "ds", "X' @ (w * (X @ V))", lambda d: d.X.T @ (col(d.w) * (d.X @ d.V))),
    ("Row", "ds", "R = Q * (X @ V); X' @ (R - Q * sum(R, over K))",
     lambda d: d.X.T @ (d.Q * (d.X @ d.V) - d.Q * (d.Q * (d.X @ d.V)).sum(1, keepdims=True))),
    ("Row", "ds", "e = exp(X @ V); X' @ (e / sum(e, over K) - Q)", lambda d: d.X.T @ (softmax(d.X @ d.V) - d.Q)),
    ("Row", "ds", "D = sumsq(C, over F) - 2 * (X @ C'); X' @ (if D <= min(D, over K) then 1.0 else 0.0)",
     lambda d: d.X.T @ nearest(d.X, d.C)[1]),
    ("Row", "ds", "H = max(X @ V, 0); X' @ (if H > 0 then Q else 0)", lambda d: d.X.T @ np.where(d.X @ d.V > 0, d.Q, 0)),
    ("Row", "ds", "R = X @ V; R' @ R", lambda d: (d.X @ d.V).T @ (d.X @ d.V)),
    ("Row", "d", "X' @ X", lambda d: d.X.T @ d.X),
    ("Row", "d", "X' @ (w * X)", lambda d: d.X.T @ (col(d.w) * d.X)),
    ("Row", "d", "R = X - mean(X, over N); R' @ R", lambda d: (d.X - d.X.mean(0)).T @ (d.X - d.X.mean(0))),
    ("Row", "d", "X' @ Y", lambda d: d.X.T @ d.Y),
    ("Row", "d", "Y' @ (X @ V)", lambda d: d.Y.T @ (d.X @ d.V)),
    ("Row", "d", "X' @ tanh(Y @ V)", lambda d: d.X.T @ np.tanh(d.Y @ d.V)),
    ("Row", "d", "range(X, K, 1)' @ (X @ V)", lambda d: d.X[:, 1:6].T @ (d.X @ d.V)),
    ("Row", "ds", "sum((X @ V) * Q)", lambda d: ((d.X @ d.V) * d.Q).sum()),
    ("Row", "ds", "R = X @ V; sum(log(sum(exp(R), over K))) - sum(Q * R)",
     lambda d: np.log(np.exp(d.X @ d.V).sum(1)).sum() - (d.Q * (d.X @ d.V)).sum()),
    ("Row", "d", "sumsq(X - X @ V @ V')", lambda d: ((d.X - d.X @ d.V @ d.V.T) ** 2).sum()),
]

OUTER = [
    ("Outer", "ds", "sum(X * log(U @ V' + 0.001))", lambda d: at(d.X, np.log(d.U @ d.V.T + 0.001)).sum()),
    ("Outer", "ds", "sum(X * (U @ V'))", lambda d: (d.X * (d.U @ d.V.T)).sum()),
    ("Outer", "ds", "sum(X * exp(-(U @ V')), over F)", lambda d: (d.X * np.exp(-d.U @ d.V.T)).sum(1)),
    ("Outer", "ds", "sum(X / (U @ V'), over N)", lambda d: (d.X / (d.U @ d.V.T)).sum(0)),
    ("Outer", "ds", "sumsq(X - f64(X != 0) * (U @ V'))", lambda d: ((d.X - (d.X != 0) * (d.U @ d.V.T)) ** 2).sum()),
    ("Outer", "ds", "sum(f64(X != 0) * abs(U @ V'))", lambda d: ((d.X != 0) * abs(d.U @ d.V.T)).sum()),
    ("Outer", "ds", "sum(X * u * v * (U @ V'))", lambda d: (d.X * col(d.u) * d.v * (d.U @ d.V.T)).sum()),
    ("Outer", "ds", "max(X * (U @ V'))", lambda d: (d.X * (d.U @ d.V.T)).max()),
    ("Outer", "ds", "(X * (U @ V')) @ V", lambda d: (d.X * (d.U @ d.V.T)) @ d.V),
    ("Outer", "ds", "(X * (U @ V'))' @ U", lambda d: (d.X * (d.U @ d.V.T)).T @ d.U),
    ("Outer", "ds", "(X / (U @ V')) @ V", lambda d: (d.X / (d.U @ d.V.T)) @ d.V),
    ("Outer", "ds", "(f64(X != 0) * (U @ V') - X)' @ U", lambda d: ((d.X != 0) * (d.U @ d.V.T) - d.X).T @ d.U),
    ("Outer", "ds", "(f64(X != 0) * (U @ V')) @ V + s * U", lambda d: ((d.X != 0) * (d.U @ d.V.T)) @ d.V + d.s * d.U),
    ("Outer", "ds", "(X / (1 + exp(-(U @ V')))) @ v", lambda d: (d.X * sigmoid(d.U @ d.V.T)) @ d.v),
    ("Outer", "ds", "R = X / (U @ V'); R @ V and R' @ U", lambda d: ((d.X / (d.U @ d.V.T)) @ d.V, (d.X / (d.U @ d.V.T)).T @ d.U)),
    ("Outer", "ds", "(X - f64(X != 0) * (U @ V')) @ V and sumsq(X - f64(X != 0) * (U @ V'))",
     lambda d: ((d.X - (d.X != 0) * (d.U @ d.V.T)) @ d.V, ((d.X - (d.X != 0) * (d.U @ d.V.T)) ** 2).sum())),
    ("Outer", "ds", "X * (U @ V')", lambda d: d.X * (d.U @ d.V.T)),
    ("Outer", "ds", "sumsq(X - U @ V')", lambda d: ((d.X - d.U @ d.V.T) ** 2).sum()),
    ("Outer", "ds", "U * (X @ V) / (U @ (V' @ V))", lambda d: d.U * (d.X @ d.V) / (d.U @ (d.V.T @ d.V))),
    ("Outer", "ds", "sum(X * outer(u, v))", lambda d: (d.X * np.outer(d.u, d.v)).sum()),
]

# G is sparse where X is.
TWO = [
    ("Cell", "ds", "X + G", lambda d: d.X + d.G),
    ("Cell", "ds", "X * G", lambda d: d.X * d.G),
    ("Cell", "ds", "max(X, G) - X * G", lambda d: np.maximum(d.X, d.G) - d.X * d.G),
    ("Cell", "ds", "sum(X * G)", lambda d: (d.X * d.G).sum()),
    ("Cell", "ds", "sum(abs(X - G))", lambda d: abs(d.X - d.G).sum()),
    ("Cell", "ds", "sum(if G != 0 then X else 0)", lambda d: np.where(d.G != 0, d.X, 0).sum()),
    ("MAgg", "ds", "sum(X * G) / sqrt(sumsq(X) * sumsq(G))", lambda d: (d.X * d.G).sum() / np.sqrt((d.X**2).sum() * (d.G**2).sum())),
    ("MAgg", "ds", "D = X - G; sumsq(D) and max(abs(D))", lambda d: (((d.X - d.G) ** 2).sum(), abs(d.X - d.G).max())),
    ("Row", "ds", "sum(X * G, over F)", lambda d: (d.X * d.G).sum(1)),
    ("Row", "ds", "max(X + G, over F)", lambda d: (d.X + d.G).max(1)),
    ("Row", "ds", "argmax(X, over F)", lambda d: d.X.argmax(1)),
    ("Row", "ds", "argmin(X, over N)", lambda d: d.X.argmin(0)),
    ("Row", "ds", "argmax(X - G, over F)", lambda d: (d.X - d.G).argmax(1)),
    ("Row", "ds", "(X + G) @ v", lambda d: (d.X + d.G) @ d.v),
    ("Row", "ds", "(X - G)' @ u", lambda d: (d.X - d.G).T @ d.u),
    ("Row", "ds", "X' @ (G @ v)", lambda d: d.X.T @ (d.G @ d.v)),
    ("Row", "ds", "D = X + 0.5 * G; D' @ (w * (D @ v))", lambda d: (d.X + d.G / 2).T @ (d.w * ((d.X + d.G / 2) @ d.v))),
    ("Row", "ds", "(X * G) @ V", lambda d: (d.X * d.G) @ d.V),
    ("Row", "s", "X' @ G", lambda d: d.X.T @ d.G),
    ("Outer", "ds", "sum((X + G) * (U @ V'))", lambda d: ((d.X + d.G) * (d.U @ d.V.T)).sum()),
    ("Outer", "ds", "(X * G / (U @ V'))' @ U", lambda d: (d.X * d.G / (d.U @ d.V.T)).T @ d.U),
]

TABLE = CELLS + ROWS + PRODUCTS + OUTER + TWO
