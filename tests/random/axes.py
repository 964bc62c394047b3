"""Calls of functions whose heads name both axes of a square array, `def f(A : [R, C], v : [R]) = v * A`: a vector meets the
rows or the columns, as the head says. An expression of the kind 'axes' has the array and one or two vectors as operands;
`sides` are the axes that these meet, R or C, `ops` the operators, and `left` tells whether a vector comes first."""
import numpy as np

import scalars
from tree import Expr, expressions

WORDS = {'+': 'add', '-': 'sub', '*': 'mul'}


def axes(array, vectors, sides, ops, left):
    return Expr('axes', array.elem, array.dims, [array, *vectors], bound=1e4, sides=sides, ops=ops, left=left)


def name_of_def(e):
    """One for each body."""
    parts = [f'{WORDS[op]}{side}{"l" if left else ""}' for op, side, left in zip(e.info['ops'], e.info['sides'], e.info['left'])]
    return 'axes_' + '_'.join(parts)


def def_text(e):
    body, head = 'A', ['A : [R, C]']
    for k, (op, side, left) in enumerate(zip(e.info['ops'], e.info['sides'], e.info['left'])):
        head.append(f'v{k} : [{side}]')
        body = f'v{k} {op} {body}' if left else f'{body} {op} v{k}'
        if k + 1 < len(e.info['ops']):
            body = f'({body})'
    return f'def {name_of_def(e)}({", ".join(head)}) = {body}'


def axes_defs(program):
    return sorted({def_text(e) for e in expressions(program) if e.kind == 'axes'})


def axes_value(meaning, e):
    value = np.asarray(meaning.full(meaning.value(e.args[0]), e.dims))
    for vector, op, side, left in zip(e.args[1:], e.info['ops'], e.info['sides'], e.info['left']):
        beside = np.asarray(meaning.full(meaning.value(vector), vector.dims))
        beside = beside[:, None] if side == 'R' else beside[None, :]
        value = scalars.binary(meaning.rounding, op, e.elem, *((beside, value) if left else (value, beside)))
    return value
