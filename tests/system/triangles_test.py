#!/usr/bin/env python3
"""Triangles of graphs in seven ways, beside SuiteSparse:GraphBLAS: masked products of a matrix, of its triangles, and with
transposed ones. The counts are equal.

Usage: triangles_test.py GRAPHBLAS_PROGRAM FOLDER_OF_TOOLS [--all]
"""
import lzma
import os
import pathlib
import subprocess
import sys
import tempfile

import h5py
import numpy as np

PROGRAM = """dim N
input G : null[N, N]
S = i64(G != 0 || G' != 0)                   # each edge in both directions
A = tril(S, -1) + triu(S, 1)                 # without loops
L = tril(A)
U = triu(A)
output burkhardt = sum(A * (A @ A)), cohen = sum(A * (L @ U)), sandia = sum(L * (L @ L)), upper = sum(U * (U @ U))
output dot = sum(L * (L @ U')), other_dot = sum(U * (U @ L')), far = sum(triu(A, 4) * (U @ U))
"""
PLANS = [(1, "greedy"), (3, "cost"), (4, "none")]
GRAPHS = ["email-Enron.txt.xz", "p2p-Gnutella31.txt.xz"]


def made(vertices, arcs, seed):
    """Some vertices have many neighbours."""
    random = np.random.default_rng(seed)
    ends = (vertices * random.random((arcs, 2)) ** 3).astype(int)
    return vertices, np.unique(ends, axis=0)


def read(path):
    ends = np.loadtxt(lzma.open(path), np.int64, comments="#")
    return int(ends.max()) + 1, np.unique(ends, axis=0)


def run(*words, cwd, **more):
    done = subprocess.run([str(word) for word in words], cwd=cwd, capture_output=True, text=True, check=False, **more)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, words))} ends with status {done.returncode}: {done.stderr}")
    return done.stdout


def check(name, graph, reference, tools, folder):
    vertices, ends = graph
    text = f"{vertices}\n" + "".join(f"{i} {j}\n" for i, j in np.unique(np.sort(ends, axis=1), axis=0))
    wanted = {word: int(count) for word, count in (line.split() for line in run(reference, cwd=folder, input=text).splitlines())}
    assert wanted["burkhardt"] == 6 * wanted["sandia"] > 0, wanted
    (folder / "p.ks").write_text(PROGRAM)
    (folder / "G.txt").write_text("".join(f"{i} {j}\n" for i, j in ends))
    kasen = tools / "kasen"
    run(kasen, "plan", "p.ks", "-o", "p.kir", cwd=folder)
    for workers, strategy in PLANS:
        run(kasen, "partition", "--program", "p.kir", "G=G.txt", "--dim", f"N={vertices}", "--workers", workers, "-o", "bundle", "--replace",
            cwd=folder)
        run(kasen, "fuse", "p.kir", "--bundle", "bundle", "--strategy", strategy, "-o", "f.kir", cwd=folder)
        run(kasen, "run", "f.kir", "--bundle", "bundle", "-o", "r.h5", cwd=folder)
        with h5py.File(folder / "r.h5") as file:
            got = {word: int(file[word][()]) for word in file}
        assert got == wanted, f"{name}, {workers} workers, {strategy}: {got} and not {wanted}"
        print(f"{name}: {wanted['sandia']} triangles, {workers} workers, {strategy}", flush=True)


def main():
    reference, tools = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    data = pathlib.Path(os.environ.get("KASEN_DATA", ""))
    with tempfile.TemporaryDirectory() as folder:
        for seed, size in enumerate([(300, 2000), (3000, 20000)]):
            check(f"made {seed}", made(*size, seed), reference, tools, pathlib.Path(folder))
        for name in GRAPHS if "--all" in sys.argv else []:
            if not (data / name).is_file():
                print(f"KASEN_DATA has no {name}")
                continue
            check(name, read(data / name), reference, tools, pathlib.Path(folder))


if __name__ == "__main__":
    main()
