"""Reductions: along axes, and by the place that each element goes to. Combined in pairs, as a tree."""
import numpy as np

import scalars
from scalars import EPSILON, numpy_type
from tree import BIT_REDUCERS, is_arr, is_id, is_tup
from values import each, leaves, zip_values

RULES = {'sum': '+', 'prod': '*', 'min': 'min', 'max': 'max', 'any': '||', 'all': '&&', 'sumsq': '+', 'mean': '+'}


# Operators by their names.
SYMBOLS = {'add': '+', 'sub': '-', 'mul': '*', 'div': '/', 'and': '&&', 'or': '||'}


def rule_of(e):
    return RULES.get(e.info['spelling']) or e.info['r']


def symbol(rule):
    return SYMBOLS.get(rule, rule) if isinstance(rule, str) else rule


def scalar_identity(rule, scalar):
    low, high = (-np.inf, np.inf) if scalar in EPSILON else (0, 1) if scalar == 'bool' else scalars.ends(scalar)
    return {'+': 0, '*': 1, 'min': high, 'max': low, '&&': 1, '||': 0, **BIT_REDUCERS}[rule]


def nothing(elem):
    """Where nothing was reduced, of a reducer without an identity."""
    if is_tup(elem):
        return tuple(nothing(part) for part in elem[1])
    if is_arr(elem):
        return [nothing(elem[1])] * elem[2]
    return np.nan if elem in EPSILON else 0


def typed(value, elem):
    if is_tup(elem):
        return tuple(typed(v, part) for v, part in zip(value, elem[1]))
    if is_arr(elem):
        return [typed(v, elem[1]) for v in value]
    return np.asarray(value, numpy_type(elem))


def identity_of(rule, elem, stated):
    """What there is where nothing was reduced. stated: of a reducer of the program's own (None: it has none)."""
    rule = symbol(rule)
    if isinstance(rule, str) and rule in ('+', '*', 'min', 'max', '&&', '||', *BIT_REDUCERS):
        return typed(scalar_identity(rule, elem), elem)
    return typed(nothing(elem) if stated is None else stated, elem)


def reducer_function(rounding, name, elem):
    if name in ('min', 'max'):
        return lambda a, b: scalars.extremum(elem, a, b, name == 'max')
    if name in BIT_REDUCERS:
        return scalars.BITS[name]
    return lambda a, b: scalars.binary(rounding, symbol(name), elem, a, b)


def lowest_bits(value):
    """Of each number the value of the last bit that is set; inf of 0."""
    fraction, exponent = np.frexp(np.where(np.isfinite(value), value, 0).astype(np.float64))
    digits = (fraction * 2.0 ** 53).astype(np.int64)
    return np.where(digits == 0, np.inf, np.ldexp((digits & -digits).astype(np.float64), exponent - 53))


def sum_last(rounding, value, elem):
    count = value.shape[-1]
    if elem in EPSILON:
        total = np.sum(value, axis=-1, dtype=np.float64).astype(numpy_type(elem))
        if rounding.random is None:
            return total
        size = np.sum(np.abs(value), axis=-1, dtype=np.float64)
        moved = rounding.off(total, elem, 1 + count ** 0.5 / 2, size)
        # Exact in whatever order: every part of the sum has few enough digits. An exact total alone does not say so.
        exact = size * EPSILON[elem] <= np.min(lowest_bits(value), axis=-1, initial=np.inf)
        return np.where(exact, total, moved).astype(numpy_type(elem))
    low, high = scalars.ends(elem)
    total = np.sum(value, axis=-1, dtype=np.int64).astype(numpy_type(elem))
    total = np.where(np.any(value == high, axis=-1), high, total)
    return np.where(np.any(value == low, axis=-1), low, total).astype(numpy_type(elem))


def fold_last(meaning, rule, value, elem, stated=None):
    """Reduces the last axis."""
    shape = leaves(value)[0].shape
    count = shape[-1]
    if count == 0:
        return each(identity_of(rule, elem, stated), lambda x: np.broadcast_to(x, shape[:-1]))
    if symbol(rule) == '+':
        return sum_last(meaning.rounding, value, elem)
    f = meaning.function(rule, (elem, elem))
    while count > 1:
        half = count // 2
        joined = f(each(value, lambda x: x[..., :half]), each(value, lambda x: x[..., half:2 * half]))
        value = zip_values(lambda x, y: np.concatenate([np.broadcast_to(x, shape[:-1] + (half,)), y[..., 2 * half:]], -1),
                           joined, value)
        count -= half
    return each(value, lambda x: x[..., 0])


def scanned(meaning, rule, value, elem):
    """Each element of the last axis with all before it, one after another."""
    made = np.array(value, numpy_type(elem))
    f = meaning.function(rule, (elem, elem))
    for k in range(1, made.shape[-1]):
        made[..., k] = f(made[..., k - 1], made[..., k])
    return made


def prepared(meaning, e, value):
    elem = e.args[0].elem
    if e.info['spelling'] == 'sumsq':
        return scalars.binary(meaning.rounding, '*', elem, value, value)
    if e.info['spelling'] == 'mean':
        return scalars.convert(meaning.rounding, e.elem, elem, value)
    return value


def finish(meaning, e, total, count):
    if e.info['spelling'] != 'mean':
        return total
    return scalars.binary(meaning.rounding, '/', e.elem, total, np.asarray(count, numpy_type(e.elem)))


def fold(meaning, e, value, dims, over, count=None):
    """The value of a reduction over some of the dimensions; count: of elements, if it is not theirs (mean)."""
    value = prepared(meaning, e, value)
    gone = [i for i, d in enumerate(dims) if d in over]
    kept = [i for i in range(len(dims)) if i not in gone]
    shape = leaves(value)[0].shape
    reduced = int(np.prod([shape[i] for i in gone], dtype=np.int64))
    flat = each(value, lambda x: np.transpose(x, kept + gone).reshape([shape[i] for i in kept] + [reduced]))
    elem = e.elem if e.info['spelling'] == 'mean' else e.args[0].elem
    total = fold_last(meaning, rule_of(e), flat, elem, e.info.get('identity'))
    return finish(meaning, e, total, reduced if count is None else count)


def by_place(meaning, rule, value, places, size, elem, stated=None):
    """Result i is what is reduced of the elements (along the first axis) whose place is i."""
    shape = leaves(value)[0].shape[1:]
    order = np.argsort(places, kind='stable')
    places, value = places[order], each(value, lambda x: x[order])
    if symbol(rule) == '+' and elem in EPSILON:
        total, scale = np.zeros((size,) + shape), np.zeros((size,) + shape)
        np.add.at(total, places, value)
        np.add.at(scale, places, np.abs(value))
        moved = meaning.rounding.off(total, elem, 2, scale)
        return np.where(scale == 0, total, moved).astype(numpy_type(elem))
    f = meaning.function(rule, (elem, elem))
    while len(places) > 1 and np.any(places[1:] == places[:-1]):
        new = np.concatenate([[True], places[1:] != places[:-1]])
        starts = np.maximum.accumulate(np.where(new, np.arange(len(places)), 0))
        even = (np.arange(len(places)) - starts) % 2 == 0
        left = np.flatnonzero(even[:-1] & (places[1:] == places[:-1]))
        joined = f(each(value, lambda x: x[left]), each(value, lambda x: x[left + 1]))

        def put(x, j):
            x = x.copy()
            x[left] = j
            return x[even]
        value = zip_values(put, value, joined)
        places = places[even]

    def spread(x, empty):
        result = np.array(np.broadcast_to(empty, (size,) + shape))
        result[places] = x
        return result
    return zip_values(spread, value, identity_of(rule, elem, stated))


def with_zeros(meaning, e, value, stored, gone):
    """A reduction of a sparse matrix along an axis, or both (None), that meets what is not stored: one more 0 for each line that
    has any."""
    matrix, elem = e.info['entries'], e.args[0].elem
    lines, across = (meaning.program.size(d) for d in matrix.dims)
    places = stored.rows
    if gone == 0:
        lines, across, places = across, lines, stored.cols
    if gone is None:
        lines, across, places = 1, lines * across, np.zeros(len(stored.rows), np.int64)
    fewer = np.flatnonzero(np.bincount(places, minlength=lines) < across)
    every = each(value, lambda x: np.concatenate([x, np.zeros(len(fewer), x.dtype)]))
    total = by_place(meaning, rule_of(e), every, np.concatenate([places, fewer]), lines, elem)
    return each(total, lambda x: x[0]) if gone is None else total


def argument(value, axis, largest):
    """The place of the largest or smallest element; no index where there is none."""
    if value.shape[axis] == 0:
        shape = value.shape[:axis] + value.shape[axis + 1:]
        return np.full(shape, np.iinfo(np.int64).max)
    return (np.argmax if largest else np.argmin)(value, axis).astype(np.int64)
