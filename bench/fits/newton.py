#!/usr/bin/env python3
"""Logistic regression by Newton's method from a table's file to coefficients: kasen fit beside scikit-learn and Dask.

Usage: newton.py FOLDER_OF_TOOLS [TURNS [ROWSxCOLUMNS...]]

Each contestant is a whole command: it starts, reads the table (.npy or CSV), fits, and writes its coefficients. Its loss is
computed here from these, and all must have the same loss, to a millionth, before any is timed. scikit-learn takes the best of its
solvers, and Dask, for which Newton's method is written out over dask.array, the better of two sizes of chunks. They take turns.
The best and the median of each are printed, and the least time of processors; behind them kasen's as shares of each other's. Before
all that stands what the others take to import alone.
"""
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

PYTHON = "/usr/bin/python3"
SIZES = ["1000000x28", "2000000x50"]
SCIKIT = """
import sys
import numpy as np
from sklearn.linear_model import LogisticRegression
table, solver, out = sys.argv[1:]
if table.endswith(".csv"):
    import pandas
    frame = pandas.read_csv(table)
    X, y = frame.iloc[:, :-1].to_numpy(), frame.iloc[:, -1].to_numpy()
else:
    X, y = np.load(table), np.load("y.npy")
fit = LogisticRegression(C=1.0, max_iter=1000, solver=solver).fit(X, y)
np.savetxt(out, np.append(fit.coef_[0], fit.intercept_), fmt="%.17g")
"""
DASK = """
import sys
import dask
import dask.array as da
import numpy as np
table, chunks, out = sys.argv[1], int(sys.argv[2]), sys.argv[3]
dask.config.set(scheduler="threads")
if table.endswith(".csv"):
    import os
    import dask.dataframe
    blocks = os.path.getsize(table) // chunks + 1
    Z = dask.dataframe.read_csv(table, blocksize=blocks).persist().to_dask_array(lengths=True).persist()
    X, y = Z[:, :-1], Z[:, -1]
else:
    X, y = np.load(table, mmap_mode="r"), np.load("y.npy", mmap_mode="r")
    rows = len(X) // chunks + 1
    X, y = da.from_array(X, chunks=(rows, -1), name=False), da.from_array(y, chunks=rows, name=False)
F = X.shape[1]
w, b, last = np.zeros(F), 0.0, np.inf
for step in range(50):
    m = X @ w + b
    p = 1 / (1 + da.exp(-m))
    W, r = p * (1 - p), p - y
    WX = W[:, None] * X
    loss, H, e, t, g, c = dask.compute(da.logaddexp(0, m).sum() - (y * m).sum(), X.T @ WX, WX.sum(axis=0), W.sum(), X.T @ r, r.sum())
    loss += w @ w / 2
    if last - loss <= 1e-9 * loss:
        break
    last = loss
    H = np.block([[H + np.eye(F), e[:, None]], [e[None, :], np.array([[t]])]])
    step = np.linalg.solve(H, np.append(g + w, c))
    w, b = w - step[:-1], b - step[-1]
np.savetxt(out, np.append(w, b), fmt="%.17g")
"""


def write_csv(path, X, y):
    """Numbers below 10 of four decimals, each in seven characters."""
    rows, columns = X.shape
    with open(path, "wb") as out:
        out.write((",".join(f"x{j}" for j in range(columns)) + ",y\n").encode())
        for first in range(0, rows, 100_000):
            part = X[first:first + 100_000]
            digits = np.abs(np.rint(part * 10_000)).astype(np.int64)
            text = np.empty((*part.shape, 8), dtype=np.uint8)
            text[..., 0] = np.where(part < 0, ord("-"), ord("0"))
            text[..., 2] = ord(".")
            text[..., 7] = ord(",")
            for place, power in zip([1, 3, 4, 5, 6], [10_000, 1_000, 100, 10, 1]):
                text[..., place] = digits // power % 10 + ord("0")
            labels = np.empty((len(part), 2), dtype=np.uint8)
            labels[:, 0] = y[first:first + 100_000].astype(np.uint8) + ord("0")
            labels[:, 1] = ord("\n")
            out.write(np.concatenate([text.reshape(len(part), -1), labels], axis=1).tobytes())


def samples(folder, rows, columns):
    rng = np.random.default_rng(1)
    X = np.round(rng.normal(size=(rows, columns)), 4)
    y = (X @ rng.normal(size=columns) / 3 + rng.normal(size=rows) > 0).astype(float)
    np.save(folder / "X.npy", X)
    np.save(folder / "y.npy", y)
    write_csv(folder / "t.csv", X, y)
    os.sync()  # else the first to sync a file of its own waits for these
    return X, y


def loss_of(w, X, y):
    m = X @ w[:-1] + w[-1]
    return np.logaddexp(0, m).sum() - y @ m + w[:-1] @ w[:-1] / 2


def kasen_weights(path):
    import h5py
    with h5py.File(path) as model:
        return np.append(model["coefficients"][:], model["intercept"][:])


def has(module):
    return subprocess.run([PYTHON, "-c", f"import {module}"], capture_output=True, check=False).returncode == 0


def contestants(tools, folder, table):
    """name: the commands of which the fastest counts, each (command, the weights that it has written)."""
    target = ["--target", "y"] if table.endswith(".csv") else ["--target", "y.npy"]
    made = {"kasen": [([str(tools / "kasen"), "fit", "logistic", table, *target, "-o", "k.h5"], lambda: kasen_weights(folder / "k.h5"))]}

    def text(name):
        return lambda: np.loadtxt(folder / name)

    if has("sklearn"):
        (folder / "scikit.py").write_text(SCIKIT)
        made["scikit-learn"] = [([PYTHON, "scikit.py", table, solver, "s.txt"], text("s.txt"))
                                for solver in ["newton-cholesky", "lbfgs", "newton-cg"]]
    else:
        print("missing: scikit-learn (Debian: python3-sklearn)")
    if has("dask.dataframe"):
        (folder / "dasked.py").write_text(DASK)
        made["dask"] = [([PYTHON, "dasked.py", table, chunks, "d.txt"], text("d.txt")) for chunks in ["2", "16"]]
    else:
        print("missing: Dask (Debian: python3-dask, python3-pandas)")
    return made


def processors():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def run(command, folder):
    """Seconds by the clock and of processors."""
    start, used = time.perf_counter(), processors()
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    return time.perf_counter() - start, processors() - used


def fastest(ways, folder, X, y, losses, who):
    """The command that took least, of those whose loss is noted; all have read and compiled what they need."""
    taken = []
    for command, weights in ways:
        run(command, folder)
        losses[" ".join([who, *command[3:-1]])] = loss_of(weights(), X, y)
        taken.append((run(command, folder), command))
    return min(taken)[1]


def compare(tools, folder, rows, columns, turns):
    X, y = samples(folder, rows, columns)
    for table in ["X.npy", "t.csv"]:
        losses, chosen = {}, {}
        for who, ways in contestants(tools, folder, table).items():
            chosen[who] = fastest(ways, folder, X, y, losses, who)
        least = min(losses.values())
        for who, loss in losses.items():
            if not abs(loss - least) <= 1e-6 * abs(least):
                sys.exit(f"{who} comes to {loss}, and {least} is least")
        times = {who: [] for who in chosen}
        for _ in range(turns):
            for who, command in chosen.items():
                times[who].append(run(command, folder))
        print(f"logistic regression of {rows} x {columns} from {table}, all to the loss {least:.9g}")
        best = {who: [min(each) for each in zip(*taken)] for who, taken in times.items()}
        for who, (wall, used) in best.items():
            how = "" if who == "kasen" else f" ({chosen[who][-2]})"
            print(f"{who + how:<32} best {wall:7.3f} s  median {statistics.median(t for t, _ in times[who]):7.3f} s  "
                  f"processors {used:7.3f} s  kasen {best['kasen'][0] / wall:.2f}, {best['kasen'][1] / used:.2f}", flush=True)


def guide(tools):
    """The guide's own table: fitted and applied, with kernels compiled and with those that are kept."""
    text = (pathlib.Path(__file__).resolve().parents[2] / "docs" / "guide.md").read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as name:
        for table in ["people.csv", "new.csv"]:
            head = f"cat > {table} <<'END'\n"
            (pathlib.Path(name) / table).write_text(text[text.index(head) + len(head):].split("END\n")[0])
        fit = ["env", f"XDG_CACHE_HOME={name}", tools / "kasen", "fit", "logistic", "people.csv", "--target", "member", "-o", "member.h5"]
        predict = [*fit[:3], "predict", "member.h5", "new.csv", "--proba", "-o", "told.csv"]
        first, again = run(fit, name)[0], min(run(fit, name)[0] for _ in range(5))
        told, later = run(predict, name)[0], min(run(predict, name)[0] for _ in range(5))
    print(f"the guide's table: fit {first:.2f} s, again {again:.2f} s; predict {told:.2f} s, again {later:.2f} s", flush=True)


def main(tools, turns="3", *sizes):
    for name, modules in {"scikit-learn": "sklearn.linear_model", "dask": "dask.array, dask.dataframe"}.items():
        if has(modules):
            print(f"{name} to import: {min(run([PYTHON, '-c', 'import ' + modules], '.')[0] for _ in range(3)):.2f} s")
    guide(tools)
    for size in sizes or SIZES:
        rows, columns = map(int, size.split("x"))
        with tempfile.TemporaryDirectory() as name:
            compare(tools, pathlib.Path(name), rows, columns, int(turns))


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]).resolve(), *sys.argv[2:])
