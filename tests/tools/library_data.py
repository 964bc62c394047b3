"""The arrays of library_test.py, as docs/library.md names them, and layouts of them."""
import itertools
import re
import types
import warnings

import numpy as np

TYPES = {"f64": np.float64, "f32": np.float32, "i64": np.int64, "i32": np.int32}
FITTING = {"number": list(TYPES), "real": ["f64", "f32"], "gaps": ["f64", "f32"], "wide": ["f64"], "whole": ["i64"]}  # of a group of calls


def numbers_of(random, shape, of):
    """Of both signs, some of them 0 and small whole ones, which are equal to others."""
    whole = random.integers(-4, 5, size=shape)
    if not np.issubdtype(of, np.floating):
        return np.asarray(whole, of)
    return np.asarray(np.where(random.random(shape) < 0.2, whole, 2 * random.normal(size=shape)), of)


def positive_of(random, shape, of):
    if not np.issubdtype(of, np.floating):
        return np.asarray(random.integers(1, 9, size=shape), of)
    return np.asarray(1 + 3 * random.random(shape), of)


def with_gaps(random, shape, of, specials):
    values = np.asarray(random.normal(size=shape) * 2, of)
    return np.where(random.random(shape) < 0.3, random.choice(np.array(specials, of), size=shape), values)


def real_of(of):
    return of if np.issubdtype(of, np.floating) else np.float64


def arrays_of(random, shape, of):
    """Those of one shape: the page's vectors in small letters, its matrices in capitals."""
    v = types.SimpleNamespace()
    real = real_of(of)
    for name in "xyXY":
        setattr(v, name, numbers_of(random, shape, of))
    for name in "pqPQ":
        setattr(v, name, np.asarray(0.05 + 0.9 * random.random(shape), real))
    for name in "aAB":
        setattr(v, name, positive_of(random, shape, of))
    v.g = with_gaps(random, shape, real, [np.nan, np.inf, -np.inf, -0.0])
    v.G = with_gaps(random, shape, real, [np.nan])
    v.n, v.m = random.integers(-99, 100, size=shape), random.integers(0, 9, size=shape)
    v.b, v.c = random.random(shape) < 0.5, random.random(shape) < 0.5
    return v


def axes_of(rank):
    """All sets of axes but the empty one; None, for all of them, comes first."""
    return [None, *(axes if len(axes) > 1 else axes[0] for count in range(1, rank) for axes in itertools.combinations(range(rank), count))]


# The arrays of the page that have dimensions of their own.
OF_PAGE = {"H": "NE", "S": "FF", "R": "FF", "C": "KF", "z": "F", "T": "NFK", "W": "NKF", "Z": "FKF", "V": ["N", "One"]}


def page_of(random, of, N, F, K):
    """Those of the page, of these sizes."""
    sizes = {"N": N, "E": N, "One": 1, "F": F, "K": K}
    v = arrays_of(random, (N,), of)
    v.__dict__.update({name: array for name, array in vars(arrays_of(random, (N, F), of)).items() if name.isupper()})
    for name, dims in OF_PAGE.items():
        setattr(v, name, numbers_of(random, tuple(sizes[d] for d in dims), of))
    part = numbers_of(random, (N, N), np.float64)
    v.H = np.asarray(part @ part.T / max(N, 1) + 2 * np.eye(N), real_of(of))
    v.u, v.w = numbers_of(random, (N, 3), of), numbers_of(random, (N, 3), of)
    v.N, v.F, v.K = N, F, K
    return v


def names_in(calls, v):
    """The arrays that calls name."""
    words = {word for call in calls for word in re.findall(r"\b[a-zA-Z]\b", call)}
    return [name for name, value in vars(v).items() if name in words and isinstance(value, (np.ndarray, np.generic))]


def type_of(array):
    return next((text for text, scalar in TYPES.items() if array.dtype == scalar), "bool")


def declared(name, array, dims, local=()):
    """The input, or the param with its value where it has no dimensions. u and w hold points."""
    of = type_of(array)
    if not dims:
        return f"param {name} : {of} = {str(array.item()).lower()}\n"
    if name in ("u", "w"):
        return f"input {name} : [{of}; 3][N]\n"
    dense = sum(d not in local for d in dims) > 1
    return f"input {name} : {'dense ' if dense else ''}{of}[{', '.join(dims)}]\n"


def dims_text(dims, local):
    return f"dim {', '.join(d + ' local' * (d in local) for d in dims)}\n" if dims else ""


MESHES = {"a": "4", "ab": "2x2", "ba": "3x2", "abc": "2x2x2"}  # by the names of their axes


def layout_of(random, dims_of, local=()):
    """A layout at random, of arrays that have these dimensions: options of kasen go."""
    kind = random.integers(4)
    if kind == 0:
        return ["--workers", str(random.integers(1, 5)), "--strategy", str(random.choice(["none", "greedy", "fuse-all", "cost"]))]
    axes = str(random.choice(list(MESHES)))
    options = ["--mesh", MESHES[axes], "--tile", str(random.choice(["exact", "greedy", "mincost", "worst", "none"]))]
    if kind == 1:
        return options
    for name, dims in dims_of.items():
        if random.random() < 0.5 and len(set(dims)) == len(dims):
            cut = iter(random.permutation(list(axes)))
            places = [f"{d}/{axis}" if d not in local and random.random() < 0.6 and (axis := next(cut, None)) else d for d in dims]
            options += ["--layout", f"{name}=[{','.join(places)}]"]
    return options


def wanted(of, *args):
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return of(*args)
