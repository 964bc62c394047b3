#!/usr/bin/env python3
"""Whole commands that fit logistic regression to a table: kasen fit beside liblinear-train and scikit-learn, on the same rows.

Usage: whole.py FOLDER_OF_TOOLS [ROWS [TURNS]]

Each reads its file, fits, and ends. All must come to the same loss, to a millionth, before any is timed. They take turns; the
best and the median of each are printed, and kasen's best as a share of each other's.
"""
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

COLUMNS = 28
SCIKIT = """
import sys
import numpy as np
from sklearn.linear_model import LogisticRegression
X, y = np.load(sys.argv[1]), np.load(sys.argv[2])
fit = LogisticRegression(C=1.0, max_iter=1000).fit(X, y)
np.savetxt(sys.argv[3], np.append(fit.coef_[0], fit.intercept_), fmt="%.17g")
"""


def samples(folder, rows):
    rng = np.random.default_rng(1)
    X = np.round(rng.normal(size=(rows, COLUMNS)), 4)
    y = (X @ rng.normal(size=COLUMNS) / 3 + rng.normal(size=rows) > 0).astype(float)
    np.save(folder / "X.npy", X)
    np.save(folder / "y.npy", y)
    with open(folder / "t.csv", "w") as out:
        out.write(",".join(f"x{j}" for j in range(COLUMNS)) + ",y\n")
        np.savetxt(out, np.column_stack([X, y]), delimiter=",", fmt=["%.4f"] * COLUMNS + ["%d"])
    with open(folder / "t.svm", "w") as out:
        for row, label in zip(X, y):
            out.write(f"{int(label)} " + " ".join(f"{j + 1}:{v:.4f}" for j, v in enumerate(row)) + "\n")
    os.sync()  # else the first to sync a file of its own waits for these
    return X, y


def kasen_loss(path):
    import h5py
    with h5py.File(path) as model:
        return json.loads(bytes(model["about"][:]))["content"]["facts"]["loss"]


def loss_of(w, X, y, intercept_penalty=0.0):
    m = X @ w[:-1] + w[-1]
    return np.logaddexp(0, m).sum() - y @ m + w[:-1] @ w[:-1] / 2 + intercept_penalty * w[-1] ** 2 / 2


def liblinear_weights(path):
    lines = path.read_text().splitlines()
    labels = next(line for line in lines if line.startswith("label")).split()[1:]
    w = np.array([float(line) for line in lines[lines.index("w") + 1:]])
    return w if labels[0] == "1" else -w


def contestants(tools, folder):
    """name: (command, the weights' loss)."""
    kasen = [str(tools / "kasen"), "fit", "logistic"]
    made = {f"kasen, {table}": ([*kasen, table, "-o", "kasen.h5", *target], None)
            for table, target in [("X.npy", ["--target", "y.npy"]), ("t.csv", ["--target", "y"]), ("t.svm", [])]}
    if shutil.which("liblinear-train"):
        made["liblinear, t.svm"] = (["liblinear-train", "-q", "-s", "0", "-c", "1", "-B", "1", "-e", "0.0001", "t.svm", "liblinear.txt"],
                                    lambda X, y: loss_of(liblinear_weights(folder / "liblinear.txt"), X, y))
    else:
        print("missing: liblinear-train (Debian: liblinear-tools)")
    if subprocess.run(["/usr/bin/python3", "-c", "import sklearn"], capture_output=True, check=False).returncode == 0:
        (folder / "fit.py").write_text(SCIKIT)
        made["scikit-learn, X.npy"] = (["/usr/bin/python3", "fit.py", "X.npy", "y.npy", "scikit.txt"],
                                       lambda X, y: loss_of(np.loadtxt(folder / "scikit.txt"), X, y))
    else:
        print("missing: scikit-learn (Debian: python3-sklearn)")
    return made


def run(command, folder):
    start = time.perf_counter()
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    return time.perf_counter() - start


def main(tools, rows=1_000_000, turns=5):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        X, y = samples(folder, rows)
        made = contestants(tools, folder)
        losses = {}
        for who, (command, loss) in made.items():  # also fills caches of files and kernels
            run(command, folder)
            losses[who] = kasen_loss(folder / "kasen.h5") if loss is None else loss(X, y)
        least = min(losses.values())
        for who, loss in losses.items():
            if not abs(loss - least) <= 1e-6 * abs(least):
                sys.exit(f"{who} comes to {loss}, and {least} is least")
        times = {who: [] for who in made}
        for _ in range(turns):
            for who, (command, _) in made.items():
                times[who].append(run(command, folder))
        print(f"logistic regression of {rows} x {COLUMNS}, whole commands, all to the loss {least:.9g}")
        for who, taken in times.items():
            print(f"{who:<22} best {min(taken):7.3f} s  median {statistics.median(taken):7.3f} s")
        for other in (who for who in made if not who.startswith("kasen")):
            same = "kasen, " + other.split(", ")[1]
            print(f"{same} / {other}: {min(times[same]) / min(times[other]):.2f}")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]).resolve(), *map(int, sys.argv[2:4]))
