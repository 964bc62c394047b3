"""Expressions that share parts, as programs of learning have them: cells, rows and columns, totals, products with few
columns, and stored entries of a sparse matrix beside them. Straight lines of f64, and every name may be read again."""
from gen_base import call, lit, name_of, op
from gen_idioms import add, fold, mul, over, sub, tanh, times
from gen_product import as_valued
from generate import Generator
from plans import OWNERS, STRATEGIES, SYNCS, Request
from tree import DerivedDim, Expr, Stmt, Var

ROWS = [0, 1, 2, 3, 7, 8, 9, 16, 33, 65, 200]
COLUMNS = [1, 2, 3, 5, 8, 9, 17, 40]
FEW = [1, 2, 3, 4, 7]


class Dags(Generator):
    def make(self):
        self.program.wild = False
        self.declare('N', False, self.pick(ROWS))
        self.declare('M', False, self.pick(ROWS[1:8]))
        self.declare('F', True, self.pick(COLUMNS))
        self.declare('K', True, self.pick(FEW))
        self.program.dims['K'].known = True       # pairs over it stand at stored entries
        self.program.dims['F'].known = self.chance(0.5)    # then a dense array stands beside T
        self.program.dims['O'] = DerivedDim('O', 'slice', [self.program.dims['N']], [None, None, None])    # N by another name
        self.program.dims['O'].local = False
        self.shapes = [('N', 'F'), ('N', 'K'), ('F', 'K'), ('M', 'K'), ('N',), ('F',), ('M',)]
        for name, dims in [('X', 'NF'), ('Y', 'NF'), ('U', 'NK'), ('V', 'FK'), ('Q', 'MK'), ('u', 'N'), ('w', 'N'), ('v', 'F'), ('q', 'M')]:
            self.add_input(Var(name, 'f64', tuple(dims), 6.0))
        # Of T a worker has whole rows. R is read transposed, and P is a factor of products.
        for name, dims in [('A', 'NN'), ('R', 'MN'), ('P', 'FM'), ('Z', 'NM'), ('S', 'NM'), ('T', 'NF')]:
            self.add_input(Var(name, 'f64', tuple(dims), 4.0, sparse=True))
        for _ in range(self.pick([2, 4, 6, 8, 12])):
            made = self.pick(self.FORMS)(self)
            if made is not None:
                v = self.define(Var(self.fresh('v'), 'f64', made.dims, max(1.0, made.bound)))
                self.program.body.append(Stmt('assign', name=v.name, expr=made, typed=None))
        self.sinks()
        return self.program

    def sinks(self):
        """What nothing reads, and some of what is read."""
        made = [v for v in self.scopes[0].values() if v.name[0] == 'v' and len(v.name) > 1]
        read = {e.info['name'] for s in self.program.body for e in s.expr.walk() if e.kind == 'name'}
        shown = [v for v in made if v.name not in read or self.chance(0.25)]
        for v in shown or made:
            self.program.outputs.append((v.name, name_of(v)))
        if not self.program.outputs:
            self.program.outputs.append(('o', fold('sum', self.any_of(('N', 'F')))))

    # -- operands

    def any_of(self, dims):
        """Mostly what was made last."""
        known = [v for v in self.scopes[0].values() if v.dims == dims and not v.sparse]
        late = known[-2:] if self.chance(0.6) else known
        return self.tame(name_of(self.pick(late)), 50)

    def beside(self, dims):
        """Over these, some of them, or a number."""
        ways = [s for s in self.shapes if set(s) <= set(dims)] + [()]
        shape = self.pick([dims, dims] + ways)
        return self.any_of(shape) if shape and shape in self.shapes else lit('f64', self.pick([0.5, 2.0, -1.5]))

    def matrix(self):
        return self.any_of(self.pick([('N', 'F'), ('N', 'F'), ('N', 'F'), ('N', 'K')]))

    # -- forms

    def cell(self):
        a = self.matrix()
        b = self.beside(a.dims)
        how = self.below(6)
        if how == 0:
            return tanh(a)
        if how == 1:
            return self.where(a, b)
        if how == 2:
            return over(a, b)
        return self.pick([add, sub, mul])(a, b)

    def where(self, a, b):
        test = op('>', a, b, a.dims, 'bool')
        return Expr('if', 'f64', a.dims, [test, a, mul(a, lit('f64', 0.5))], bound=a.bound)

    def vector(self):
        a = self.any_of(self.pick([('N',), ('N',), ('F',), ('M',)]))
        return self.pick([tanh, lambda x: over(x, self.beside(x.dims)), lambda x: add(x, self.beside(x.dims))])(a)

    def line_fold(self):
        """By rows or by columns, of a matrix or of cells of one."""
        a = self.matrix() if self.chance(0.5) else self.tame(self.cell(), 50)
        which = self.pick(['sum', 'sum', 'sumsq', 'max', 'min'])
        if self.size('N') == 0 and which in ('max', 'min'):
            which = 'sum'
        return fold(which, a, self.pick(a.dims))

    def total(self):
        a = self.matrix() if self.chance(0.5) else self.tame(self.cell(), 50)
        return fold(self.pick(['sum', 'sumsq']), a)

    def spread(self):
        """A matrix beside what its rows or columns come to."""
        a = self.matrix()
        line = fold(self.pick(['sum', 'sumsq']), a, self.pick(a.dims))
        return self.pick([over, sub])(a, self.tame(line, 50))

    def product(self):
        a, b = self.any_of(('N', 'F')), self.pick([('F',), ('F', 'K'), ('N',), ('N', 'K')])
        return times(a, self.any_of(b), transposed=b[0] == 'N')

    def there_and_back(self):
        """X' @ f(X @ v)"""
        a = self.any_of(('N', 'F'))
        inner = self.tame(times(a, self.any_of(self.pick([('F',), ('F', 'K')]))), 50)
        return times(a, self.pick([mul, sub, over])(inner, self.beside(('N',))), transposed=True)

    def low_rank(self):
        """X beside U V', which need not be made."""
        columns = Expr('transpose', 'f64', ('K', 'F'), [self.any_of(('F', 'K'))], bound=50)
        wide = self.tame(times(self.any_of(('N', 'K')), columns), 50)
        return self.pick([sub, mul, over])(self.any_of(('N', 'F')), wide)

    # -- stored entries

    def stored(self):
        v = self.pick(self.program.inputs[-2:])
        e = x = Expr('name', 'f64', v.dims, bound=4.0, name=v.name)
        for _ in range(1 + self.below(2)):
            beside = self.pick([self.at_row, self.at_column, self.pairs, self.dense])(v)
            e = mul(e, beside)
            e = e if e.bound <= 50 else tanh(e)
        return v, e if self.chance(0.7) else sub(e, x)

    def at_row(self, v):
        return self.any_of(v.dims[:1])

    def at_column(self, v):
        return self.any_of(v.dims[1:])

    def dense(self, v):
        """An array over the matrix's dimensions."""
        return self.any_of(v.dims) if v.name == 'T' and self.program.dims['F'].known else self.at_row(v)

    def pairs(self, v):
        a, b = (self.any_of((d, 'K')) for d in v.dims)
        return Expr('pairs', 'f64', v.dims, [a, b], bound=a.bound * b.bound * self.size('K'))

    def stored_fold(self):
        v, e = self.stored()
        if v.name == 'S' and self.chance(0.6):    # with the entries of another matrix, which are elsewhere
            e = self.pick([add, sub, mul])(e, self.another(v))
        if v.name == 'S' and self.chance(0.3):
            e = mul(e, self.meeting(v))
        gone = self.pick([(), v.dims[:1], v.dims[1:]])
        made = fold(self.pick(['sum', 'sum', 'sumsq']), e, *gone)
        made.info['entries'] = v
        return made

    def another(self, v):
        name = self.pick(['Z', 'R'])
        made = Expr('name', 'f64', v.dims if name == 'Z' else v.dims[::-1], bound=4.0, name=name)
        return made if name == 'Z' else Expr('turned', 'f64', v.dims, [made], bound=4.0)

    def meeting(self, v):
        """A product of two sparse matrices at the entries of a third one."""
        factors = [Expr('name', 'f64', dims, bound=4.0, name=name) for name, dims in [('T', ('N', 'F')), ('P', ('F', 'M'))]]
        made = Expr('meet', 'f64', v.dims, factors, bound=16.0 * self.size('F'))
        return made if made.bound <= 50 else tanh(made)

    def stored_place(self):
        """Where the largest or smallest element of each row is."""
        v, e = self.stored()
        if v.name == 'S' and self.chance(0.5):
            e = self.pick([add, sub])(e, self.another(v))
        place = Expr('arg', ('id', v.dims[1]), v.dims[:1], [e], which=self.pick(['argmax', 'argmin']), over=v.dims[1:], entries=v)
        return call('f64', [call('i64', [place], v.dims[:1], 'i64')], v.dims[:1], 'f64', bound=self.size(v.dims[1]))

    def square(self):
        """Along an axis of a square matrix, which another name of its dimension tells."""
        v = next(v for v in self.program.inputs if v.name == 'A')
        a = x = Expr('name', 'f64', v.dims, bound=4.0, name='A')
        how = self.below(4)
        if how == 0:
            a = mul(x, self.any_of(('N',)))
        elif how > 1:
            a = self.pick([add, sub, mul])(x, Expr('turned', 'f64', v.dims, [x], bound=4.0))
        named = Expr('as', 'f64', self.pick([('N', 'O'), ('O', 'N')]), [a], bound=a.bound)
        which = self.pick(['sum', 'sumsq', 'max', 'min'] if self.size('N') else ['sum'])
        made = Expr('reduce', 'f64', ('N',), [named], bound=1e6, spelling=which, over=('O',), entries=v)
        return self.tame(made, 50)

    def gram(self):
        """T' @ T, an array, and a product with it."""
        if not self.program.dims['F'].known:
            return None
        t = name_of(self.program.inputs[-1])
        made = self.tame(Expr('gram', 'f64', ('F', 'F'), [t, t], bound=16.0 * max(1, self.size('N'))), 50)
        return times(made, self.any_of(self.pick([('F',), ('F', 'K')])))

    def side(self, v):
        """(is the matrix read to its columns?, what it multiplies)"""
        transposed = self.chance(0.5)
        d = v.dims[0 if transposed else 1]
        return transposed, self.any_of(self.pick([(d,), (d, 'K')]))

    def stored_product(self):
        v, e = self.stored()
        transposed, operand = self.side(v)
        return times(e, operand, transposed, as_valued(v, 'f64'), formula=True)

    def plain_product(self):
        v = self.pick(self.program.inputs[-2:])
        transposed, operand = self.side(v)
        return times(name_of(v), operand, transposed, v)

    def stored_there_and_back(self):
        """T' @ f(T @ v)"""
        v = self.program.inputs[-1]
        inner = self.tame(times(name_of(v), self.any_of(self.pick([('F',), ('F', 'K')])), False, v), 50)
        return times(name_of(v), self.pick([mul, sub, over])(inner, self.beside(('N',))), True, v)

    FORMS = [cell, cell, cell, vector, line_fold, line_fold, total, spread, product, product, there_and_back, low_rank, stored_fold, stored_fold, stored_place, gram, square,
             stored_product, stored_product, plain_product, stored_there_and_back]


def dag(seed):
    return Dags(seed + 1_000_000).make()


def dag_requests(seed):
    """Every strategy, on one worker and on three; of two of them generated kernels, too."""
    made = []
    for i, strategy in enumerate(STRATEGIES):
        sync = SYNCS[(seed + i) % len(SYNCS)]
        flags = dict(epilogue=i % 2 == 1, split=True, sized=seed % 3 > 0, proven=False, compressed=seed % 4 == 1, owners=seed % OWNERS)
        for workers in (1, 3):
            made.append(Request(strategy, sync, workers=workers, kernels='interpreter', threads=1, **flags))
        if (seed + i) % 3 == 0:
            made.append(Request(strategy, sync, workers=1 + 2 * (seed % 2), kernels='generated', threads=1 + seed % 2, **flags))
    return made
