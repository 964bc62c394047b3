"""A case in NumPy or SciPy: FOLDER NUMBER FORM [RESULT]. Prints the seconds of the second of two turns; with a file of results of
Kasen, it compares these before."""
import pathlib
import sys
import time
import types

import numpy as np

from cases import CASES, DIMS

folder, case, form = pathlib.Path(sys.argv[1]), CASES[int(sys.argv[2])], sys.argv[3]


def loaded(name):
    if name == "G" or (name == "X" and form == "sparse"):
        import scipy.sparse
        return scipy.sparse.load_npz(folder / f"{name}.npz")
    return np.load(folder / f"{name}.npy")


def differs(got, wanted):
    """By rows, so that no further array of that size is made."""
    if np.ndim(wanted) == 0:
        return not np.allclose(got[()], wanted, rtol=1e-9)
    parts = [slice(first, first + (1 << 16)) for first in range(0, len(wanted), 1 << 16)]
    size = max(np.abs(wanted[part]).max() for part in parts)
    return not all(np.allclose(got[part], wanted[part], rtol=1e-9, atol=1e-9 * size) for part in parts)


def main():
    arrays = types.SimpleNamespace(**{name: loaded(name) for name in case.inputs if name in DIMS})
    function = getattr(case, form)
    if len(sys.argv) > 4:
        import h5py
        with h5py.File(sys.argv[4]) as file:
            for i, wanted in enumerate(function(arrays)):
                if differs(file[f"e{i}"], wanted):
                    sys.exit(f"{case.name} ({form}): output {i} is not that of NumPy")
    function(arrays)
    start = time.perf_counter()
    function(arrays)
    print(time.perf_counter() - start)


if __name__ == "__main__":
    main()
