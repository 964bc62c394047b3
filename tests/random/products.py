"""Products of sparse matrices, of stored-entries expressions and of dense matrices."""
import numpy as np

import scalars
from folds import by_place, fold_last
from scalars import numpy_type
from values import each


def functions_of(meaning, e, entry):
    logic = e.elem == 'bool'
    z = e.info['z'] or ('&&' if logic else '*')
    r = e.info['r'] or ('||' if logic else '+')
    return meaning.function(z, (e.args[1].elem, entry)), r


def entries_of(meaning, e):
    """(rows, columns, values) of a sparse matrix, or of an expression over its entries."""
    matrix = e.info['sparse']
    stored = meaning.data.matrices[matrix.name]
    if e.info['formula']:
        return stored.rows, stored.cols, meaning.at_entries(matrix, e.args[0])
    if matrix.elem == 'null':
        return stored.rows, stored.cols, np.ones(len(stored.rows), numpy_type(e.info['entry']))
    return stored.rows, stored.cols, stored.values


def sparse_product(meaning, e):
    matrix = e.info['sparse']
    rows, cols, values = entries_of(meaning, e)
    source, place = (rows, cols) if e.info['transposed'] else (cols, rows)
    to = matrix.dims[1 if e.info['transposed'] else 0]
    vector = meaning.full(meaning.value(e.args[1]), e.args[1].dims)
    columns = len(e.args[1].dims) - 1
    z, r = functions_of(meaning, e, e.info['entry'])
    made = z(each(vector, lambda x: x[source]), values.reshape(values.shape + (1,) * columns))
    shape = (len(rows),) + meaning.shape(e.args[1].dims[1:])
    made = each(made, lambda x: np.broadcast_to(x, shape))
    return by_place(meaning, r, made, place, meaning.program.size(to), e.elem, e.info.get('identity'))


def dense_product(meaning, e):
    matrix, vector = e.args
    a = meaning.full(meaning.value(matrix), matrix.dims)
    if e.info['transposed']:
        a = each(a, np.transpose)
    x = meaning.full(meaning.value(vector), vector.dims)
    columns = len(vector.dims) - 1
    a = each(a, lambda m: m.reshape((m.shape[0],) + (1,) * columns + (m.shape[1],)))
    x = each(x, lambda v: np.moveaxis(v, 0, -1)[np.newaxis])
    z, r = functions_of(meaning, e, matrix.elem)
    made = z(x, a)
    to = matrix.dims[1 if e.info['transposed'] else 0]
    shape = meaning.shape((to,) + vector.dims[1:] + vector.dims[:1])
    return fold_last(meaning, r, each(made, lambda v: np.broadcast_to(v, shape)), e.elem, e.info.get('identity'))


def product(meaning, e):
    return sparse_product(meaning, e) if e.info['sparse'] is not None else dense_product(meaning, e)


def pairs(meaning, e):
    """U @ V' where entries are: of each, the sum over the columns."""
    _, rows, cols = meaning.entries
    kept, meaning.entries = meaning.entries, None
    u, v = (meaning.full(meaning.value(a), a.dims) for a in e.args)
    meaning.entries = kept
    made = scalars.binary(meaning.rounding, '*', e.elem, u[rows], v[cols])
    return fold_last(meaning, '+', made, e.elem)
