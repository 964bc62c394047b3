"""Values of elements: a NumPy array of a scalar type, a list of them (a small array), or a tuple of both."""
import numpy as np


def leaves(value):
    if isinstance(value, (list, tuple)):
        return [leaf for part in value for leaf in leaves(part)]
    return [value]


def each(value, f):
    if isinstance(value, list):
        return [each(v, f) for v in value]
    if isinstance(value, tuple):
        return tuple(each(v, f) for v in value)
    return f(value)


def zip_values(f, *values):
    if isinstance(values[0], list):
        return [zip_values(f, *parts) for parts in zip(*values)]
    if isinstance(values[0], tuple):
        return tuple(zip_values(f, *parts) for parts in zip(*values))
    return f(*values)


def align(leaf, dims, to):
    """An array over `dims` as one over `to`, with axes of length 1 for what is new. Names match from the last on."""
    if dims == to or leaf.ndim == 0:
        return leaf
    shape, at = [1] * len(to), len(to)
    for axis in reversed(range(len(dims))):
        at = max(i for i in range(at) if to[i] == dims[axis])
        shape[at] = leaf.shape[axis]
    return leaf.reshape(shape)


def sized(value, shape):
    return each(value, lambda leaf: np.broadcast_to(np.asarray(leaf), shape))
