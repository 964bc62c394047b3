"""An application by a Python library: NAME numpy|dask|dask-processes FOLDER [make|whole], or names paper|others.

FOLDER has the inputs and the program's results. `make` writes the inputs, the program, and what kasen go is told in
words.txt; `whole` reads, computes and writes. Without a word it answers with the seconds of an iteration, by how many times
what is allowed its results differ from the program's, and the number of iterations."""
import os
import pathlib
import sys
import time
from types import SimpleNamespace

sys.path.insert(0, __file__.rsplit("/", 2)[0])
for word in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"):  # OpenBLAS chooses for this processor
    os.environ.pop(word, None)
if "whole" in sys.argv:
    os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")

import numpy as np
from counted import factors, missing, mixed, normal, serve
from table import APPLICATIONS, OTHERS, PAPER

if sys.argv[1] == "names":
    print(*{"paper": PAPER, "others": OTHERS}[sys.argv[2]], sep="\n")
    sys.exit(0)
name, library, folder = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
app = APPLICATIONS[name]
PARTS = 8  # blocks of rows of an array of Dask: four for each thread


def make():
    arrays = app.inputs(np.random.default_rng(7))
    files = {word: store(word, array) for word, array in arrays.items()}
    text = (pathlib.Path(__file__).parents[2] / "examples" / f"{app.program}.ks").read_text()
    assert f"input {app.dense} : f64" in text or not app.dense
    (folder / "program.ks").write_text(text.replace(f"input {app.dense} : f64", f"input {app.dense} : dense f64") if app.dense else text)
    words = [f"{word}={file}" for word, file in files.items()]
    words += ["--mesh"] if app.mesh else []
    words += [f"-D\n{word}={value}" for word, value in app.constants.items()] + [f"--dim\n{dim}={size}" for dim, size in app.dims.items()]
    (folder / "words.txt").write_text("\n".join(words) + "\n")


def store(word, array):
    """Writes an input for both, and returns the program's file."""
    if isinstance(array, np.ndarray):
        np.save(folder / f"{word}.npy", array)
        return folder / f"{word}.npy"
    from scipy import io, sparse
    sparse.save_npz(folder / f"{word}.npz", array, compressed=False)
    io.mmwrite(folder / f"{word}.mtx", array, symmetry="general")
    return folder / f"{word}.mtx"


def load(file):
    if file.suffix == ".npy":
        return np.load(file)
    from scipy.sparse import load_npz
    return load_npz(file.with_suffix(".npz"))


def inputs():
    pairs = (line.split("=") for line in (folder / "words.txt").read_text().split() if "=" in line)
    return {word: load(pathlib.Path(file)) for word, file in pairs if file.endswith((".npy", ".mtx"))}


def identity(*values):
    return values[0] if len(values) == 1 else values


def by_numpy():
    try:
        from scipy.special import erf
    except ImportError:
        missing("SciPy, for erf (Debian: python3-scipy)")
    a = SimpleNamespace(**inputs(), **app.constants, **app.dims, get=identity, keep=identity, erf=erf, cholesky=np.linalg.cholesky, normal=normal,
                        random=factors, mixed=mixed, windows=np.lib.stride_tricks.sliding_window_view,
                        draws=lambda seed, size: np.random.default_rng(seed).standard_normal(size))
    return lambda: app.script(a), identity


class File:
    """Rows of an array in a file, read where a part of it is needed."""

    def __init__(self, path):
        array = np.load(path, mmap_mode="r")
        self.path, self.shape, self.dtype, self.ndim = path, array.shape, array.dtype, array.ndim

    def __getitem__(self, place):
        return np.array(np.load(self.path, mmap_mode="r")[place])


def by_dask():
    try:
        import dask
        import dask.array as da
        from scipy.special import erf
    except ImportError:
        missing("Dask (Debian: python3-dask)")
    wait, held, forget = identity, [], identity
    if library == "dask":
        dask.config.set(scheduler="threads", num_workers=2)
    else:
        try:
            from distributed import Client, LocalCluster, futures_of, wait
        except ImportError:
            missing("Dask's processes (Debian: python3-distributed)")
        client = Client(LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None))

        def forget(arrays):  # else they are there when the same is asked for again
            client.cancel(futures_of(arrays), force=True)

    def get(*values):
        values = dask.compute(*values)
        return values[0] if len(values) == 1 else values

    def parts(word):
        file = File(folder / f"{word}.npy")
        rows = -(-file.shape[0] // PARTS)
        if name == "cholesky":
            return da.from_array(file, chunks=rows)
        if name in ("perceptron", "dual-svm"):
            return da.from_array(file, chunks=(1, file.shape[1] // 2, *file.shape[2:]))
        small = np.prod(file.shape) < (100_000 if file.ndim == 1 else 1000)
        return np.load(file.path) if small else da.from_array(file, chunks=(rows, *file.shape[1:]))

    if any(not isinstance(array, np.ndarray) for array in inputs().values()):
        missing("Sparse matrices: Dask's arrays have none")
    made = {word: array if isinstance(array, np.ndarray) else array.persist() for word, array in ((word, parts(word)) for word in inputs())}
    a = SimpleNamespace(**made, **app.constants, **app.dims, get=get, keep=lambda value: value.persist(), erf=erf,
                        cholesky=lambda x: da.linalg.cholesky(x, lower=True), normal=normal, random=factors,
                        windows=da.lib.stride_tricks.sliding_window_view,
                        draws=lambda seed, size: da.random.RandomState(seed).standard_normal(size, chunks=-(-size // PARTS)))

    def compute():
        results = app.script(a)
        held[:] = dask.persist(*results.values())
        wait(held)  # where persist begins alone
        return dict(zip(results, held))

    def done():
        forget(held)
        held.clear()

    return compute, done


def difference(results):
    """The largest from Kasen's results, as a part of what is allowed."""
    import h5py

    with h5py.File(folder / "result.h5") as file:
        ours = app.same({word: file[word][()] for word in file if not word.endswith("_ids")})
    theirs = app.same({word: np.asarray(value) for word, value in results.items()})
    largest = 0.0
    for word, value in theirs.items():
        if np.issubdtype(value.dtype, np.integer):  # labels: one of ten thousand may be a tie
            largest = max(largest, np.mean(ours[word] != value) / 1e-4)
        else:
            largest = max(largest, np.max(abs(ours[word] - value)) / np.max(abs(value)) / app.close)
    return largest


def main():
    if "make" in sys.argv:
        return make()
    compute, done = by_numpy() if library == "numpy" else by_dask()
    if "whole" in sys.argv:
        for word, value in compute().items():
            np.save(folder / f"script-{word}.npy", value)
        return None

    def measure():
        start = time.perf_counter()
        results = compute()
        taken = time.perf_counter() - start
        answer = taken / app.turns, difference(results), app.turns
        done()
        return answer

    return serve(measure)


if __name__ == "__main__":
    main()
