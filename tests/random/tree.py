"""Typed programs as trees: element types, expressions, statements, whole programs.

Element types are 'f64' 'f32' 'i64' 'i32' 'bool', ('id', 'N'), ('arr', 'f64', 3) and ('tup', (type, ...)).
"""
import copy
import math

FLOATS = ('f64', 'f32')
INTS = ('i64', 'i32')
BIT_REDUCERS = {'bit_and': -1, 'bit_or': 0, 'bit_xor': 0}  # of i64, with their identities
NUMBERS = FLOATS + INTS
SCALARS = NUMBERS + ('bool',)


def is_id(elem):
    return isinstance(elem, tuple) and elem[0] == 'id'


def is_arr(elem):
    return isinstance(elem, tuple) and elem[0] == 'arr'


def is_tup(elem):
    return isinstance(elem, tuple) and elem[0] == 'tup'


def is_scalar(elem):
    return isinstance(elem, str) or is_id(elem)


def kind_of(elem):
    """The element type without its size, for choices and tables."""
    return elem if isinstance(elem, str) else {'id': 'id', 'arr': 'array', 'tup': 'tuple'}[elem[0]]


def scalars_of(elem):
    """The scalar of each plane, in the order of words."""
    if is_arr(elem):
        return [elem[1]] * elem[2]
    if is_tup(elem):
        return [s for part in elem[1] for s in scalars_of(part)]
    return [elem]


class Expr:
    """kind says which fields of info count (text.py and meaning.py have a function for each)."""
    __slots__ = ('kind', 'elem', 'dims', 'args', 'info', 'bound')

    def __init__(self, kind, elem, dims, args=(), bound=1.0, **info):
        self.kind, self.elem, self.dims = kind, elem, tuple(dims)
        self.args, self.bound, self.info = list(args), bound, info

    def walk(self):
        yield self
        for arg in self.args:
            yield from arg.walk()


class Stmt:
    """assign(name, expr, typed), put(name, index, expr), push(name, expr),
    set(name, index, change, expr, elem, dims): index is places, or a mask; break(), formula(name, expr),
    list(name, elem, dims, length, expr),
    for(var, begin, end, bound, down, unroll, likely, expect, body, rows: of which dimension it takes blocks), while(test, likely, expect, body), if(test, likely, body, other)."""

    def __init__(self, kind, **fields):
        self.kind = kind
        self.__dict__.update(fields)

    def blocks(self):
        return [b for b in (getattr(self, 'body', None), getattr(self, 'other', None)) if b is not None]

    def exprs(self):
        return [e for e in (getattr(self, 'expr', None), getattr(self, 'test', None), getattr(self, 'index', None))
                if e is not None]


class Fn:
    """A scalar function: params are (name, elem, typed); steps are (name, Expr); the body sees both."""

    def __init__(self, name, params, steps, body):
        self.name, self.params, self.steps, self.body = name, params, steps, body


class Dim:
    """block: the rows of one, of a dimension that the program reads block by block, or their number ('rows', 'count')."""
    derived = None  # its text, where the size follows from those of others

    def __init__(self, name, local, size, known, block=None):
        self.name, self.local, self.size, self.known, self.block = name, local, size, known, block


class DerivedDim:
    """A slice of a dimension (`bounds`: begin, end, step), the product or sum (`*`, `+`) of several, or some of one: those
    of its indices i with i % bounds[0] != bounds[1], by a mask of the program that all picks share."""
    local, known, block = True, False, None

    def __init__(self, name, how, sources, bounds=None):
        self.name, self.how, self.sources, self.bounds = name, how, sources, bounds

    @property
    def size(self):
        sizes = [d.size for d in self.sources]
        if self.how == 'slice':
            return len(range(sizes[0])[slice(*self.bounds)])
        if self.how == 'some':
            return len(self.picked)
        return sum(sizes) if self.how == '+' else math.prod(sizes)

    @property
    def picked(self):
        return [i for i in range(self.sources[0].size) if i % self.bounds[0] != self.bounds[1]]

    @property
    def derived(self):
        names = [d.name for d in self.sources]
        if self.how == 'some':
            return f'some {names[0]}'
        if self.how != 'slice':
            return f' {self.how} '.join(names)
        begin, end, step = ('' if b is None else str(b) for b in self.bounds)
        return f'{names[0]}[{begin}:{end}' + (f':{step}]' if step else ']')


class Var:
    """An array with a name: of an input, a param, a const, an assignment, or (length > 0) a list."""

    def __init__(self, name, elem, dims, bound=1.0, length=0, sparse=False, fixed=False, positive=False):
        self.name, self.elem, self.dims, self.bound = name, elem, tuple(dims), bound
        self.length, self.sparse, self.fixed, self.positive = length, sparse, fixed, positive
        self.batches = None      # of a sparse input: the dimension that counts its matrices, before those of `dims`


class Program:
    def __init__(self, seed):
        self.seed = seed
        self.dims = {}      # name: Dim
        self.consts = []    # (name, elem, value)
        self.params = []    # (name, elem, value)
        self.inputs = []    # Var
        self.assumed = []      # reducers whose laws are the user's word
        self.identities = []   # (fn, elem, value): what there is where nothing was reduced
        self.fns = []
        self.lists = []     # (Var, value Expr)
        self.body = []      # statements
        self.outputs = []   # (name, Expr)

    def matrices(self):
        """Sparse inputs that are one matrix each."""
        return [v for v in self.inputs if v.sparse and not v.batches]

    def batches(self):
        """Sparse inputs of several matrices, which `at` reads."""
        return [v for v in self.inputs if v.batches and not self.dims[v.batches].block]

    def free_dims(self):
        """Those that stand anywhere, not in loops over blocks alone."""
        return [d for d in self.dims.values() if not d.block]

    def size(self, dim):
        return self.dims[dim].size

    def indices(self, dim):
        """As many as the dimension has in the program's words: the rows of all blocks."""
        d = self.dims[dim]
        return d.size * (self.dims[f'{dim}_blocks'].size if d.block else 1)

    def count(self, dims):
        total = 1
        for d in dims:
            total *= self.size(d)
        return total

    def is_local(self, dim):
        return self.dims[dim].local

    def copy(self):
        return copy.deepcopy(self)


def statements(block, planned=False):
    """Every statement of a block and of the blocks inside. planned: without those of loops unrolled into nothing."""
    for s in block:
        yield s
        if planned and s.kind == 'for' and s.unroll and s.end <= s.begin:
            continue
        for inner in s.blocks():
            yield from statements(inner, planned)


def functions_in(e):
    """Bodies of the functions written in place that an expression takes beside its arguments."""
    return [f[1] for f in (e.info.get('z'), e.info.get('r')) if isinstance(f, tuple)]


def expressions(program, planned=False):
    """Every expression of a program's statements, functions and outputs."""
    roots = [e for s in statements(program.body, planned) for e in s.exprs()] + [e for _, e in program.outputs]
    roots += [e for _, e in program.lists]
    for f in program.fns:
        roots += [e for _, e in f.steps] + [f.body]
    while roots:
        for e in roots.pop().walk():
            yield e
            roots += functions_in(e)


def assumable(program):
    """Its own reducers of which laws may be assumed: those that some operator of its plan applies."""
    return {e.info.get('r') for e in expressions(program, planned=True) if isinstance(e.info.get('r'), str)}
