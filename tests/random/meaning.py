"""What a program means: its outputs, evaluated with NumPy on whole arrays. docs/language.md is what it follows.

The value of an expression is a NumPy array of a scalar type, a list of them (a small array) or a tuple of both. Each has
an axis for each dimension of the expression, of the dimension's size or 1, or no axes at all.
"""
import numpy as np

import scalars
from axes import axes_value
from data import Stored
from folds import (argument, by_place, finish, fold, fold_last, prepared, reducer_function, rule_of, scanned, symbol, typed,
                   with_zeros)
from products import pairs, product
from scalars import numpy_type
from tree import Expr, is_arr
from values import align, each, leaves, sized, zip_values


class Unsteady(Exception):
    """A program that goes on and on."""


# Kinds that make whole arrays: beside stored entries they are computed before, and stand at rows or columns.
WHOLE = {'reduce', 'arg', 'product', 'fill', 'index', 'random', 'size', 'range', 'at', 'transpose', 'get', 'dot', 'outer', 'scan',
         'sort', 'take', 'group', 'slice', 'leading', 'concat', 'reshape', 'pick', 'pick_one', 'as', 'gram', 'axes'}


class Left(Exception):
    """A break was reached."""


class Positions:
    def __init__(self, rows, cols):
        self.rows, self.cols = rows, cols


class Meaning:
    most_turns = 64

    def __init__(self, program, data, rounding):
        self.program, self.data, self.rounding = program, data, rounding
        self.names = {}           # name: (value, dims)
        self.lists = {}
        self.formulas = {}
        self.fns = {f.name: f for f in program.fns}
        self.entries = None       # (matrix, rows, cols) while stored entries are evaluated

    # -- shapes

    def shape(self, dims):
        return tuple(len(self.entries[1]) if d == '#' else self.program.size(d) for d in dims)

    def full(self, value, dims):
        return sized(value, self.shape(dims))

    def fit(self, e, to):
        """The value of e with the axes of `to`."""
        value, dims = self.value(e), self.dims_of(e)
        return each(value, lambda leaf: align(np.asarray(leaf), dims, to))

    def dims_of(self, e):
        """The axes of an expression's value: one of all stored entries for what stands at them."""
        if self.entries is None:
            return e.dims
        side = self.entries[0].dims
        touches = [d for d in e.dims if d in side]
        return ('#',) if touches else ()

    def sided(self, value, dims):
        """An array over rows or columns, as it stands at the entries; of a square matrix a vector stands at columns."""
        matrix, rows, cols = self.entries
        if not dims:
            return value
        if dims == matrix.dims and matrix.dims[0] != matrix.dims[1]:    # a dense array
            return each(value, lambda leaf: leaf[rows, cols])
        at = cols if dims[0] == matrix.dims[1] else rows
        return each(value, lambda leaf: leaf[at])

    # -- the program

    def run(self):
        with np.errstate(all='ignore'):
            for name, elem, value in self.program.consts + self.program.params:
                self.names[name] = (typed(value, elem), ())
            for v in self.program.inputs:
                if not v.sparse:
                    self.names[v.name] = (self.data.arrays[v.name], v.dims)
            for v, e in self.program.lists:
                first = self.full(self.fit(e, v.dims), v.dims)
                self.lists[v.name] = [[first] * v.elem[2] if is_arr(v.elem) else first] * v.length
            self.block(self.program.body)
            return {name: self.output(e) for name, e in self.program.outputs}

    def output(self, e):
        """Of a sparse value row, column and number of each stored entry, in the order of rows."""
        if 'at' not in e.info:
            return self.full(self.value(e), e.dims)
        matrix = self.data.matrices[e.info['at'].name]
        self.entries = (e.info['at'], matrix.rows, matrix.cols)
        value = self.full(self.fit(e, ('#',)), ('#',))
        self.entries = None
        return matrix.rows, matrix.cols, value

    def block(self, statements):
        for s in statements:
            getattr(self, 'do_' + s.kind)(s)

    def do_assign(self, s):
        dims = s.typed[1] if getattr(s, 'typed', None) else s.expr.dims
        self.names[s.name] = (self.full(self.fit(s.expr, dims), dims), dims)

    def do_formula(self, s):
        if s.expr.kind == 'batch':
            whole = self.data.matrices[s.expr.info['batch_of']]
            here = whole.batches == self.place(s.expr.args[0])
            self.data.matrices[s.name] = Stored(whole.rows[here], whole.cols[here], np.asarray(whole.values)[here])
            return
        # Its names keep what they stand for here.
        self.formulas[s.name] = (s.expr, dict(self.names), dict(self.formulas))

    def place(self, e):
        return int(np.asarray(self.value(e)).reshape(()))

    def do_put(self, s):
        arrays = list(self.lists[s.name])
        arrays[self.place(s.index)] = self.full(self.fit(s.expr, s.dims), s.dims)
        self.lists[s.name] = arrays

    def do_set(self, s):
        """Elements at places, or under a mask."""
        array = self.names[s.name][0]
        whole = Expr('name', s.elem, s.dims, name=s.name)
        places = s.index.kind == 'places'
        old = Expr('pick_one', s.elem, (), [whole] + s.index.args) if places else whole
        new = Expr('op', s.elem, old.dims, [old, s.expr], op=s.change) if s.change else s.expr
        if places:
            array = np.array(array)
            array[tuple(self.place(p) for p in s.index.args)] = self.full(self.fit(new, ()), ())
        else:
            array = np.where(self.full(self.fit(s.index, s.dims), s.dims), self.full(self.fit(new, s.dims), s.dims), array)
        self.names[s.name] = (array, s.dims)

    def do_list(self, s):
        self.lists[s.name] = [self.full(self.fit(s.expr, s.dims), s.dims)] * s.length

    def do_push(self, s):
        self.lists[s.name] = self.lists[s.name][1:] + [self.full(self.fit(s.expr, s.dims), s.dims)]

    def inner(self, block):
        """A block: names that are new in it end with it."""
        known, formulas = set(self.names), dict(self.formulas)
        try:
            self.block(block)
        finally:
            self.names = {n: v for n, v in self.names.items() if n in known}
            self.formulas = {n: f for n, f in self.formulas.items() if n in formulas}

    def do_break(self, s):
        raise Left()

    def turn(self, block):
        """False after a break."""
        try:
            self.inner(block)
            return True
        except Left:
            return False

    def do_for(self, s):
        turns = range(s.begin, s.end)
        for i in (reversed(turns) if s.down else turns):
            self.names[s.var] = (np.int64(i), ())
            if not self.turn(s.body):
                break
        self.names.pop(s.var, None)

    def holds(self, e):
        return bool(np.asarray(self.value(e)).reshape(()))

    def do_while(self, s):
        for _ in range(self.most_turns):
            if not self.holds(s.test) or not self.turn(s.body):
                return
        raise Unsteady()

    def do_if(self, s):
        self.inner(s.body if self.holds(s.test) else s.other)

    # -- expressions

    def value(self, e):
        if self.entries is None or e.kind not in WHOLE:
            return getattr(self, 'of_' + e.kind)(e)
        kept, self.entries = self.entries, None
        value = self.full(self.value(e), e.dims)
        self.entries = kept
        return self.sided(value, e.dims)

    def args(self, e):
        dims = self.dims_of(e)
        return [self.fit(a, dims) for a in e.args]

    def of_lit(self, e):
        return np.asarray(e.info['value'], numpy_type(e.elem))

    def of_name(self, e):
        name = e.info['name']
        if name in self.formulas:
            expr, names, formulas = self.formulas[name]
            kept = self.names, self.formulas
            self.names, self.formulas = names, formulas
            value = self.value(expr)
            self.names, self.formulas = kept
            return value
        if self.entries is not None and name in self.data.matrices:
            return self.at_positions(name, *self.entries[1:])
        value, dims = self.names[name]
        return value if self.entries is None else self.sided(value, dims)

    def of_op(self, e):
        a, b = self.args(e)
        left, right = e.args[0].elem, e.args[1].elem
        if e.info['op'] == '/':
            left = e.elem
            a, b = (scalars.convert(self.rounding, e.elem, x.elem, v) for x, v in zip(e.args, (a, b)))
        elif e.info['op'] == '^' and e.args[1].kind == 'lit' and e.args[1].elem == 'i64':
            times = [a] * (e.args[1].info['value'] - 1)
            for b in times:
                a = scalars.binary(self.rounding, '*', left, a, b)
            return a
        return scalars.binary(self.rounding, e.info['op'], left, a, b)

    def of_neg(self, e):
        return scalars.unary(self.rounding, 'neg', e.elem, self.args(e)[0])

    def of_not(self, e):
        return np.logical_not(self.args(e)[0])

    def of_call(self, e):
        fn, args = e.info['fn'], self.args(e)
        if fn in scalars.TYPES:
            return scalars.convert(self.rounding, fn, e.args[0].elem, args[0])
        if fn in ('min', 'max'):
            return scalars.extremum(e.elem, args[0], args[1], fn == 'max')
        if fn in scalars.BITS:
            return scalars.BITS[fn](*args)
        if fn == 'pow':
            return scalars.binary(self.rounding, '^', e.elem, *args)
        if fn in scalars.PAIRS:
            return scalars.pair(self.rounding, fn, e.elem, *args)
        if fn in scalars.TESTS:
            return scalars.TESTS[fn](args[0])
        return scalars.unary(self.rounding, fn, e.elem, args[0])

    def of_if(self, e):
        test, yes, no = self.args(e)
        return zip_values(lambda a, b: np.where(test, a, b), yes, no)

    def of_coord(self, e):
        array, index = self.args(e)
        index = np.clip(index, 0, len(array) - 1)
        if index.ndim == 0:
            return array[int(index)]
        value = array[-1]
        for j in range(len(array) - 1):
            value = np.where(index == j, array[j], value)
        return value

    def of_comp(self, e):
        return self.args(e)[0][e.info['index']]

    def of_small(self, e):
        return list(self.args(e))

    def of_tuple(self, e):
        return tuple(self.args(e))

    def coordinates(self, e):
        var, dims = e.info['var'], self.dims_of(e)
        for j in range(e.info['count']):
            self.names[var] = (np.int64(j), ())
            yield self.fit(e.args[0], dims)
        self.names.pop(var, None)

    def of_build(self, e):
        return list(self.coordinates(e))

    def of_over(self, e):
        which, elem = e.info['which'], e.elem
        if which in ('min', 'max'):
            values = list(self.coordinates(e))
            total = values[0]
            for v in values[1:]:
                total = scalars.extremum(elem, total, v, which == 'max')
            return total
        op, total = ('+', 0) if which == 'sum' else ('*', 1)
        total = np.asarray(total, numpy_type(elem))
        for v in self.coordinates(e):
            total = scalars.binary(self.rounding, op, elem, total, v)
        return total

    def within(self, names, e, steps=()):
        """e, where these names are known. Elements of arrays stand for single values there."""
        kept = self.names, self.entries
        self.names, self.entries = names, None
        for name, step in steps:
            self.names[name] = (self.value(step), ())
        value = self.value(e)
        self.names, self.entries = kept
        return value

    def call_fn(self, f, args):
        names = {n: (typed(v, t), ()) for n, t, v in self.program.consts}
        names.update({p[0]: (a, ()) for p, a in zip(f.params, args)})
        return self.within(names, f.body, f.steps)

    def of_fn(self, e):
        return self.call_fn(self.fns[e.info['name']], self.args(e))

    def of_map(self, e):
        dims = self.dims_of(e)
        args = [self.fit(a, dims) for a in e.args[1:]]
        return self.within({**self.names, **{p[0]: (a, ()) for p, a in zip(e.info['params'], args)}}, e.args[0])

    def function(self, f, elems):
        """A function of two elements: an operator or name, or (params, body)."""
        if isinstance(f, str):
            if f in self.fns:
                return lambda a, b: self.call_fn(self.fns[f], [a, b])
            return reducer_function(self.rounding, f, elems[0])
        params, body = f
        consts = {n: (typed(v, t), ()) for n, t, v in self.program.consts}
        return lambda a, b: self.within({**consts, params[0][0]: (a, ()), params[1][0]: (b, ())}, body)

    def of_reduce(self, e):
        array = e.args[0]
        if e.info.get('entries'):
            return self.of_entries_reduce(e)
        over = e.info['over'] or array.dims
        value = self.full(self.value(array), array.dims)
        return fold(self, e, value, array.dims, over)

    def of_arg(self, e):
        array = e.args[0]
        over = (e.info['over'] or array.dims)[0]
        if e.info.get('entries'):
            value = self.with_all_zeros(e.info['entries'], array.args[0] if array.kind == 'as' else array)
        else:
            value = self.full(self.value(array), array.dims)
        return argument(value, array.dims.index(over), e.info['which'] == 'argmax')

    def of_scan(self, e):
        value = self.full(self.value(e.args[0]), e.dims)
        axis = e.dims.index(e.info['over'][0])
        return each(value, lambda x: np.moveaxis(scanned(self, e.info['r'], np.moveaxis(x, axis, -1), e.elem), -1, axis))

    def of_sort(self, e):
        value = self.full(self.value(e.args[0]), e.dims)
        axis = e.dims.index(e.info['over'][0])
        if e.info['which'] == 'sort':
            return np.sort(value, axis=axis)
        return np.argsort(value, axis=axis, kind='stable').astype(np.int64)

    def of_take(self, e):
        array, places = e.args
        line, = e.info['over']
        value, at = self.full(self.value(array), array.dims), self.full(self.value(places), places.dims)
        axis, shape = array.dims.index(line), self.shape(e.dims)
        behind = tuple(d for d in array.dims if d != line) + ('line',)
        full = np.broadcast_to(align(np.asarray(at), places.dims, e.dims), shape)[..., None].astype(np.int64)

        def taken(x):
            wide = align(np.moveaxis(np.asarray(x), axis, -1), behind, e.dims + ('line',))
            return np.take_along_axis(np.broadcast_to(wide, shape + wide.shape[-1:]), full, -1)[..., 0]
        return each(value, taken)

    def of_group(self, e):
        array, places = e.args
        walked, gone, into = e.info['walked'], e.info['over'], e.info['into']
        kept = [d for d in walked if d not in gone]
        shape, size = self.shape(walked), self.shape((into,))[0]
        order = [walked.index(d) for d in kept] + [walked.index(d) for d in gone]

        def rows(x, dims):
            return np.transpose(np.broadcast_to(align(np.asarray(x), dims, walked), shape), order).reshape(-1)
        value = prepared(self, e, self.full(self.value(array), array.dims))
        groups = int(np.prod([shape[walked.index(d)] for d in kept], dtype=np.int64))
        keys = rows(self.full(self.value(places), places.dims), places.dims).astype(np.int64)
        keys = keys + size * np.repeat(np.arange(groups), len(keys) // max(groups, 1))
        made = by_place(self, rule_of(e), each(value, lambda x: rows(x, array.dims)), keys, groups * size, e.args[0].elem,
                        e.info.get('identity'))
        axis = e.dims.index(into)
        return each(made, lambda x: np.moveaxis(x.reshape([shape[walked.index(d)] for d in kept] + [size]), -1, axis))

    def of_slice(self, e):
        array = e.args[0]
        value, line = self.full(self.value(array), array.dims), self.program.dims[e.info['dim']]
        pick = [slice(None)] * len(array.dims)
        whole = self.program.dims[e.info['source']]
        if getattr(whole, 'how', '') == '+':
            first = sum(s.size for s in whole.sources[:[s.name for s in whole.sources].index(line.name)])
            indices = first + np.arange(line.size)
        else:
            indices = np.arange(whole.size)[slice(*line.bounds)]
        pick[e.dims.index(line.name)] = indices + e.info['by']
        return each(value, lambda x: np.asarray(x)[tuple(pick)])

    def of_leading(self, e):
        array, axis = e.args[0], e.dims.index(e.info['dim'])
        value = self.full(self.value(array), array.dims)
        return each(value, lambda x: np.moveaxis(np.moveaxis(np.asarray(x), axis, 0)[:self.program.size(e.info['dim'])], 0, axis))

    def of_concat(self, e):
        axis, values = e.dims.index(e.info['dim']), [self.full(self.value(a), a.dims) for a in e.args]
        return zip_values(lambda *parts: np.concatenate(parts, axis), *values)

    def of_pick(self, e):
        value, line = self.full(self.value(e.args[0]), e.args[0].dims), self.program.dims[e.info['dim']]
        axis = e.dims.index(line.name)
        return each(value, lambda x: np.take(np.asarray(x), np.array(line.picked, dtype=np.int64), axis))

    def of_reshape(self, e):
        value = self.full(self.value(e.args[0]), e.args[0].dims)
        return each(value, lambda x: np.reshape(np.asarray(x), self.shape(e.dims)))

    def of_product(self, e):
        return product(self, e)

    def of_pairs(self, e):
        return pairs(self, e)

    def at_positions(self, name, rows, cols):
        """A sparse matrix's values there, 0 where it stores nothing."""
        stored = self.data.matrices[name]
        if rows is stored.rows:
            return stored.values
        places = {place: k for k, place in enumerate(zip(stored.rows, stored.cols))}
        found = np.array([places.get(place, -1) for place in zip(rows, cols)], int)
        none = np.zeros((), np.asarray(stored.values).dtype)
        return np.where(found < 0, none, np.asarray(stored.values)[found] if len(stored.rows) else none)

    def with_all_zeros(self, matrix, e):
        """An expression over stored entries as a whole array."""
        stored = self.positions(matrix, e)
        value = self.at_entries(matrix, e, stored)
        made = np.zeros(self.shape(matrix.dims), np.asarray(value).dtype)
        made[stored.rows, stored.cols] = value
        return made

    def positions(self, matrix, e):
        """Where the matrix, or another one that the expression reads, stores an entry."""
        others = sorted(self.sparse_names(e) - {(matrix.name, False)})
        if not others:
            return self.data.matrices[matrix.name]
        places = set()
        for name, turned in [(matrix.name, False), *others]:
            stored = self.data.matrices[name]
            places |= set(zip(stored.cols, stored.rows) if turned else zip(stored.rows, stored.cols))
        places = sorted(places)
        return Positions(*(np.array([place[axis] for place in places], int) for axis in (0, 1)))

    def sparse_names(self, e, formulas=None):
        """Matrices whose entries it reads, and whether transposed. A product is computed at the entries of others."""
        formulas = self.formulas if formulas is None else formulas
        if e.kind == 'meet':
            return set()
        if e.kind == 'turned':
            return {(name, not turned) for name, turned in self.sparse_names(e.args[0], formulas)}
        if e.kind != 'name':
            return {name for a in e.args for name in self.sparse_names(a, formulas)}
        name = e.info['name']
        if name in formulas:  # it has the names that there were before it
            return self.sparse_names(formulas[name][0], formulas[name][2])
        return {(name, False)} if name in self.data.matrices else set()

    def of_turned(self, e):
        _, rows, cols = self.entries
        return self.at_positions(e.args[0].info['name'], cols, rows)

    def of_meet(self, e):
        """The product of two sparse matrices, where entries are."""
        _, rows, cols = self.entries
        left, right = (self.whole(a) for a in e.args)
        return fold_last(self, '+', scalars.binary(self.rounding, '*', e.elem, left[rows], right[:, cols].T), e.elem)

    def of_gram(self, e):
        left, right = (self.whole(a) for a in e.args)
        return fold_last(self, '+', scalars.binary(self.rounding, '*', e.elem, left.T[:, None, :], right.T[None, :, :]), e.elem)

    def whole(self, e):
        stored = self.data.matrices[e.info['name']]
        made = np.zeros(self.shape(e.dims))
        made[stored.rows, stored.cols] = stored.values
        return made

    def at_entries(self, matrix, e, stored=None):
        """Evaluates e, an expression over a sparse matrix's stored entries."""
        stored = stored or self.positions(matrix, e)
        kept, self.entries = self.entries, (matrix, stored.rows, stored.cols)
        value = self.full(self.value(e), ('#',))
        self.entries = kept
        return value

    def of_entries_reduce(self, e):
        matrix = e.info['entries']
        array = e.args[0]
        names, array = (array.dims, array.args[0]) if array.kind == 'as' else (matrix.dims, array)
        stored = self.positions(matrix, array)
        value = self.at_entries(matrix, array, stored)
        over = e.info['over'] or matrix.dims
        gone = names.index(over[0]) if len(over) == 1 else None
        if symbol(rule_of(e)) in ('*', 'min', 'max', '&&'):
            return with_zeros(self, e, value, stored, gone)
        if gone is None:
            return fold(self, e, value, ('#',), ('#',), count=self.program.count(matrix.dims))
        places, kept = (stored.rows, stored.cols)[1 - gone], matrix.dims[1 - gone]
        value = prepared(self, e, value)
        total = by_place(self, rule_of(e), value, places, self.program.size(kept), e.args[0].elem)
        return finish(self, e, total, self.program.size(over[0]))

    def of_dot(self, e):
        a, b = e.args
        value = scalars.binary(self.rounding, '*', e.elem, self.full(self.value(a), a.dims), self.full(self.value(b), a.dims))
        return fold(self, e, value, a.dims, a.dims)

    def of_outer(self, e):
        a, b = e.args
        left = each(self.full(self.value(a), a.dims), lambda x: x.reshape(x.shape + (1,) * len(b.dims)))
        right = self.value(b)
        if not e.info['z']:
            return scalars.binary(self.rounding, '*', e.elem, left, right)
        return self.function(e.info['z'], (a.elem, b.elem))(left, right)

    def of_fill(self, e):
        return self.full(self.value(e.args[0]), e.dims)

    def of_index(self, e):
        return np.arange(self.program.size(e.dims[0]), dtype=np.int64)

    def of_random(self, e):
        key = scalars.mix64(self.value(e.args[0]), np.int64(0))
        for d in e.dims:
            ids = np.arange(self.program.size(d), dtype=np.int64)
            key = scalars.mix64(key, align(ids, (d,), e.dims))
        key = np.broadcast_to(key, self.shape(e.dims))
        return scalars.uniform(key) if e.info['which'] == 'random' else scalars.normal(self.rounding, key)

    def of_size(self, e):
        return np.int64(self.program.indices(e.info['dim']))

    def of_range(self, e):
        array = e.args[0]
        value, axis = self.full(self.value(array), array.dims), array.dims.index(e.info['over'])
        begin = self.place(e.args[1])
        pick = [slice(None)] * len(array.dims)
        pick[axis] = slice(begin, begin + self.program.size(e.info['dim']))
        return each(value, lambda leaf: leaf[tuple(pick)])

    def of_at(self, e):
        array = e.args[0]
        value, axis = self.full(self.value(array), array.dims), array.dims.index(e.info['over'])
        at = self.place(e.args[1])
        return each(value, lambda leaf: np.take(leaf, at, axis))

    def of_pick_one(self, e):
        array = e.args[0]
        return self.full(self.value(array), array.dims)[tuple(self.place(p) for p in e.args[1:])]

    def of_transpose(self, e):
        return each(self.full(self.value(e.args[0]), e.args[0].dims), np.transpose)

    def of_as(self, e):
        return self.full(self.value(e.args[0]), e.args[0].dims)

    def of_axes(self, e):
        return axes_value(self, e)

    def of_get(self, e):
        return self.lists[e.info['name']][self.place(e.args[0])]


def planes_of(value, count):
    """An output's elements, an array a plane."""
    return [np.asarray(p).reshape(count) for p in leaves(value)]
