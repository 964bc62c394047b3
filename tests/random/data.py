"""Random inputs of a program, and their words as the runner takes them."""
import numpy as np

from scalars import numpy_type
from tree import is_arr, is_id, is_tup
from values import leaves


class Stored:
    """A sparse matrix: its entries in order of rows."""

    def __init__(self, rows, cols, values, batches=None):
        self.rows, self.cols, self.values, self.batches = rows, cols, values, batches


class Data:
    def __init__(self):
        self.arrays, self.matrices = {}, {}


def random_floats(random, count, scalar, wild):
    """Quarters mostly, of which sums are exact; or anything up to 3."""
    if random.integers(3) == 0:
        values = random.uniform(-3, 3, count)
    else:
        values = random.integers(-12, 13, count) / 4
    if wild:
        special = random.choice([np.nan, np.inf, -np.inf, -0.0, 0.0, 1e300 if scalar == 'f64' else 1e38], count)
        values = np.where(random.integers(12, size=count) == 0, special, values)
    return values.astype(numpy_type(scalar))


def random_scalars(program, random, scalar, count, wild):
    if scalar == 'bool':
        return random.integers(2, size=count) == 1
    if is_id(scalar):
        return random.integers(max(1, program.size(scalar[1])), size=count)
    if scalar in ('i64', 'i32'):
        return random.integers(-6, 7, count).astype(numpy_type(scalar))
    return random_floats(random, count, scalar, wild)


def random_elements(program, random, elem, shape, wild):
    if is_tup(elem):
        return tuple(random_elements(program, random, part, shape, wild) for part in elem[1])
    if is_arr(elem):
        return [random_elements(program, random, elem[1], shape, wild) for _ in range(elem[2])]
    return random_scalars(program, random, elem, int(np.prod(shape, dtype=np.int64)), wild).reshape(shape)


def random_matrix(program, random, v, wild):
    rows, cols = (program.size(d) for d in v.dims)
    wanted = int(random.choice([0, 1, 2, 4])) * max(rows, cols) if rows * cols else 0
    if wanted and random.integers(6) == 0:      # a row and a column that all others meet
        places = np.concatenate([np.arange(cols), np.arange(rows) * cols])
    else:
        places = random.integers(rows * cols, size=wanted) if rows * cols else np.zeros(0, np.int64)
    places = np.unique(places)
    values = None if v.elem == 'null' else random_elements(program, random, v.elem, (len(places),), wild)
    return Stored(places // max(1, cols), places % max(1, cols), np.ones(len(places)) if values is None else values)


def random_batches(program, random, v, wild):
    """One behind the other; entries have the number of their batch."""
    made = [random_matrix(program, random, v, wild) for _ in range(program.size(v.batches))]
    of = np.concatenate([np.full(len(one.rows), t) for t, one in enumerate(made)]).astype(np.int64)
    return Stored(*(np.concatenate([getattr(one, part) for one in made]) for part in ('rows', 'cols', 'values')), of)


def random_data(program):
    random = np.random.default_rng(program.seed)
    data, wild = Data(), program.wild
    for v in program.inputs:
        if v.sparse:
            make = random_batches if v.batches else random_matrix
            made = data.matrices[v.name] = make(program, random, v, wild)
            made.values = above_zero(made.values) if v.positive else made.values
        else:
            made = random_elements(program, random, v.elem, tuple(map(program.size, v.dims)), wild)
            data.arrays[v.name] = above_zero(made) if v.positive else made
    return data


def above_zero(numbers):
    return (np.where(np.abs(numbers) > 0, np.abs(numbers), 1)).astype(numbers.dtype)


def words(value):
    """Elements in row-major order, all planes of one after another: 8 bytes each."""
    planes = [np.asarray(p) for p in leaves(value)]
    wide = [(p.astype(np.float64).view(np.int64) if p.dtype.kind == 'f' else p.astype(np.int64)).reshape(-1)
            for p in planes]
    return np.stack(wide, axis=-1).reshape(-1).astype('<i8')
