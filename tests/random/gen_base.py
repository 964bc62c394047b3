"""What all parts of the generator use: chance, scopes, sizes, and bounds that keep numbers small.

bound: no number of the expression is larger, as far as that is known; inf where it may be no number.
"""
import random

from tree import (FLOATS, INTS, Dim, Expr, Fn, Program, Var, is_arr, is_id, is_scalar, is_tup)

SIZES = [0, 1, 2, 3, 5, 7, 8, 9, 10, 15, 16, 17, 31, 33, 63, 64, 65, 100]
LARGE = [4095, 4096, 4097]
FLOAT_LIMIT, INT_LIMIT = 8.0, 100.0
MOST_ELEMENTS = 40_000


def lit(elem, value):
    return Expr('lit', elem, (), bound=abs(value), value=value)


def name_of(v):
    return Expr('name', v.elem, v.dims, bound=v.bound, name=v.name)


def op(symbol, a, b, dims, elem=None, bound=1.0):
    return Expr('op', elem or a.elem, dims, [a, b], bound=bound, op=symbol)


def call(fn, args, dims, elem=None, bound=1.0):
    return Expr('call', elem or args[0].elem, dims, args, bound=bound, fn=fn)


def scalar_kinds(elem):
    if is_tup(elem):
        return [s for part in elem[1] for s in scalar_kinds(part)]
    return [elem[1]] if is_arr(elem) else [elem]


def limit_of(elem):
    return INT_LIMIT if any(s in INTS for s in scalar_kinds(elem)) else FLOAT_LIMIT


class Base:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.program = Program(seed)
        self.scopes = [{}]
        self.number = 0
        self.names_of_params = None    # in a function: its parameters
        self.fn_uses = 0
        self.in_blocks = False         # within a loop over blocks of rows
        self.leaves = False            # a loop around this place may break

    # -- chance

    def chance(self, p):
        return self.random.random() < p

    def pick(self, options):
        return options[self.random.randrange(len(options))]

    def below(self, n):
        return self.random.randrange(n)

    def fresh(self, prefix):
        self.number += 1
        return f'{prefix}_{self.number}'     # i_32 is a name, i32 is a type

    # -- what there is

    def visible(self):
        return [v for scope in self.scopes for v in scope.values()]

    def find(self, elem, dims):
        return [v for v in self.visible() if v.elem == elem and v.dims == tuple(dims) and not v.length and not v.sparse]

    def define(self, v):
        self.scopes[-1][v.name] = v
        return v

    def size(self, dim):
        return self.program.size(dim)

    def count(self, dims):
        return self.program.count(dims)

    def fits(self, dims):
        return self.count(dims) <= MOST_ELEMENTS

    def local(self, dims):
        return all(self.program.is_local(d) for d in dims)

    def sub_dims(self, dims):
        """Some of the dimensions, in their order."""
        if len(set(dims)) < len(dims):
            return self.pick([(), dims[-1:]])
        return tuple(d for d in dims if self.chance(0.5))

    # -- small numbers

    def literal(self, elem):
        if elem == 'bool':
            return lit(elem, self.chance(0.5))
        if elem in INTS:
            return lit(elem, self.below(11) - 4)
        return lit(elem, self.pick([0.0, 0.5, -0.5, 0.25, 1.0, -1.0, 1.5, 2.0, 0.75, -2.0, 0.125, 3.0, 0.1]))

    def positive(self, elem):
        return lit(elem, self.pick([0.5, 1.0, 2.0, 1.5, 4.0]) if elem in FLOATS else 1 + self.below(5))

    def tame(self, e, limit=None):
        """e, brought below the limit if need be; in wild programs as it is."""
        limit = limit or limit_of(e.elem)
        if e.bound <= limit or not is_scalar(e.elem) or e.elem == 'bool' or is_id(e.elem):
            return e
        if e.elem in INTS:
            return self.tame_int(e, int(limit))
        if e.bound == float('inf') and not self.program.wild:
            return Expr('fn', e.elem, e.dims, [e], bound=3.0, name=self.tame_fn(e.elem),
                        mapped=self.names_of_params is None and self.chance(0.3))
        return self.tame_float(e, limit)

    def tame_float(self, e, limit):
        how = self.below(4)
        if how == 0 and e.bound < float('inf'):       # stays linear: laws see through it
            factor = 2.0 ** -(int(e.bound / limit).bit_length())
            return op('*', e, lit(e.elem, factor), e.dims, bound=limit)
        if how == 1:
            low = call('min', [e, lit(e.elem, 3.0)], e.dims)
            return call('max', [low, lit(e.elem, -3.0)], e.dims, bound=3.0)
        if how == 2 and e.bound < 1e4:
            return call('sin', [e], e.dims)
        return call('tanh', [op('*', lit(e.elem, 0.25), e, e.dims)], e.dims)

    def tame_int(self, e, limit):
        if e.bound < float('inf') and self.chance(0.5):
            return op('%', e, lit(e.elem, min(13, limit)), e.dims, bound=min(13, limit))
        top = min(50, limit)
        low = call('min', [e, lit(e.elem, top)], e.dims)
        return call('max', [low, lit(e.elem, -top)], e.dims, bound=top)

    def tame_fn(self, elem):
        """What is no number becomes one."""
        name = f'tame_{elem}'
        if all(f.name != name for f in self.program.fns):
            x = Expr('name', elem, (), name='x')
            low = call('min', [x, lit(elem, 3.0)], ())
            kept = call('max', [low, lit(elem, -3.0)], ())
            body = Expr('if', elem, (), [op('==', x, x, (), 'bool'), kept, lit(elem, 0.5)])
            self.program.fns.append(Fn(name, [('x', elem, True)], [], body))
        return name
