"""What programs of this language are written for, in a few lines each: covariance, normal equations, factorisations,
layers, relaxations, iterations. Sizes, types and loops around them are chance."""
from axes import axes
from gen_base import Base, call, lit, name_of, op
from tree import Expr, Stmt, Var

INF = float('inf')


def wide(*args):
    return max((a.dims for a in args), key=len)


def add(a, b):
    return op('+', a, b, wide(a, b), bound=a.bound + b.bound)


def sub(a, b):
    return op('-', a, b, wide(a, b), bound=a.bound + b.bound)


def mul(a, b):
    return op('*', a, b, wide(a, b), bound=a.bound * b.bound)


def over(a, b):
    """a / (0.5 + |b|)"""
    below = add(lit(b.elem, 0.5), call('abs', [b], b.dims))
    return op('/', a, below, wide(a, b), bound=2 * a.bound)


def fold(which, a, *gone):
    dims = tuple(d for d in a.dims if d not in gone) if gone else ()
    return Expr('reduce', a.elem, dims, [a], bound=1e6, spelling=which, over=gone or None)


def times(matrix, vector, transposed=False, sparse=None, **functions):
    side = matrix.dims[1] if transposed else matrix.dims[0]
    fields = dict(transposed=transposed, sparse=sparse, formula=False, z=None, r=None, entry=vector.elem, vector_first=False,
                  spelling=True, identity=None)
    fields.update(functions)
    return Expr('product', vector.elem, (side,) + vector.dims[1:], [matrix, vector], bound=1e5, **fields)


def tanh(a, factor=0.25):
    return call('tanh', [mul(lit(a.elem, factor), a)], a.dims)


class IdiomPart(Base):
    def idiom(self):
        """Some statements, all of which define names that outputs and other statements use."""
        made = self.pick(self.IDIOMS)(self)
        if made is None:
            return None
        return [self.name_it(*part) if isinstance(part, tuple) else part for part in made]

    def name_it(self, v, e):
        return Stmt('assign', name=v.name, expr=e, typed=None)

    def new(self, e, bound=8.0):
        """A name for e, and (name, e) for `idiom`."""
        v = self.define(Var(self.fresh('v'), e.elem, e.dims, bound))
        return name_of(v), (v, e)

    def samples(self, *shapes):
        """Arrays of one floating type over these shapes, if the program has them all."""
        elem = self.pick(['f64', 'f64', 'f64', 'f32'])
        if any(s not in self.shapes for s in shapes):
            return None
        return [self.tame(self.leaf(elem, s)) for s in shapes]

    def graph(self, elem):
        square = [v for v in self.program.matrices() if v.dims == ('N', 'N') and v.elem in (elem, 'null')]
        return self.pick(square) if square else None

    def covariance(self):
        arrays = self.samples(('N', 'F'))
        if arrays is None or not self.size('N'):
            return None
        x = arrays[0]
        centred, first = self.new(sub(x, fold('mean', x, 'N')), 16)
        gram = times(centred, centred, True)
        number = call(x.elem, [Expr('size', 'i64', (), dim='N')], (), x.elem)
        result, second = self.new(op('/', gram, number, gram.dims), 500)
        return [first, second]

    def normal_equations(self):
        arrays = self.samples(('N', 'F'), ('N',), ('N', 'K'))
        if arrays is None:
            return None
        x, y, z = arrays
        a, first = self.new(times(x, mul(x, y), True), 1e5)
        b, second = self.new(tanh(times(x, y, True), 0.1))
        _, third = self.new(tanh(times(x, b)))
        _, fourth = self.new(times(x, z, True), 1e5)
        return [first, second, third, fourth]

    def with_graph(self, dims):
        """An array over these and a square sparse matrix of its element; (None, None) where there is none."""
        arrays = self.samples(dims)
        v = None if arrays is None else self.graph(arrays[0].elem)
        return (None, None) if v is None else (arrays[0], v)

    def gram_of_product(self):
        x, v = self.with_graph(('N', 'F'))
        if v is None:
            return None
        y = times(name_of(v), x, self.chance(0.7), v)
        if self.chance(0.5):
            y, first = self.new(y, 1e3)
            _, second = self.new(times(y, y if self.chance(0.7) else x, True), 1e6)
            return [first, second]
        return [self.new(times(y, y, True), 1e6)[1], self.new(sub(x, y), 1e3)[1]]

    def several_products(self):
        """Products with one matrix that do not need each other, and what is made of them."""
        sparse = self.program.matrices()
        if not sparse:
            return None
        v, transposed = self.pick(sparse), self.chance(0.5)
        to, source = (v.dims[1], v.dims[0]) if transposed else v.dims
        made = []
        for elem in [self.some_elem() for _ in range(2 + self.below(2))]:
            e = self.semiring(elem, (to,), v, Expr('name', v.elem, v.dims, name=v.name, bound=4), transposed, (source,), 1)
            if e is not None:
                made.append(self.new(self.tame(e))[1])
        return made or None

    def row_chain(self):
        """X' (w * (X v)) and the like: from one result a row to one a column, in a pass over X."""
        arrays = self.samples(('N', 'F'), ('N',), ('F',), ('N', 'C'))
        if arrays is None:
            return None
        x, w, v, wide_rows = arrays
        x, first = self.new(x) if x.kind != 'name' else (x, None)
        rows = times(x, v)
        index = self.place_in(self.size('C')) if self.size('C') else None
        if index is not None and self.chance(0.7):
            w = Expr('at', w.elem, ('N',), [wide_rows, index], bound=wide_rows.bound, over='C', alone=True)
        _, second = self.new(times(x, mul(w, rows), True), 1e5)
        _, third = self.new(fold('sum', mul(rows, rows)), 1e6)
        return [s for s in (first, second, third) if s is not None]

    def columns_chain(self):
        """The same with a few columns, some of them a range of more."""
        arrays = self.samples(('N', 'F'), ('F', 'K'), ('N', 'C'), ('N', 'K'))
        if arrays is None:
            return None
        x, b, p, q = arrays
        x, first = self.new(x) if x.kind != 'name' else (x, None)
        part = Expr('range', p.elem, ('N', 'K'), [p, self.place_in(self.size('C') - self.size('K') + 1)], bound=p.bound,
                    over='C', dim='K', alone=True)
        rows = tanh(times(x, b))
        other = part if self.chance(0.7) else q
        _, second = self.new(times(x, sub(mul(other, rows), rows), True), 1e5)
        return [s for s in (first, second) if s is not None]

    def dense_products(self):
        """Vectors times one dense matrix, either way, in one pass."""
        arrays = self.samples(('N', 'F'), ('N',), ('N',), ('F',), ('F',))
        if arrays is None:
            return None
        x, a, b, c, d = arrays
        x, first = self.new(x) if x.kind != 'name' else (x, None)
        made = [self.new(times(x, v, v.dims == ('N',)), 1e5)[1] for v in self.random.sample([a, b, c, d], 2 + self.below(2))]
        return ([first] if first else []) + made

    def softmax(self):
        arrays = self.samples(('N', 'F'))
        if arrays is None or not self.size('F'):
            return None
        x = arrays[0]
        e, first = self.new(call('exp', [sub(x, fold('max', x, 'F'))], x.dims), 1)
        _, second = self.new(op('/', e, fold('sum', e, 'F'), e.dims), 1)
        return [first, second]

    def factorisation(self):
        arrays = self.samples(('N', 'F'), ('N', 'K'), ('F', 'K'))
        if arrays is None:
            return None
        x, w, h = arrays
        w, first = self.new(tanh(call('abs', [w], w.dims)), 8)
        h, second = self.new(tanh(call('abs', [h], h.dims)), 8)
        var = self.fresh('i')
        step = [Stmt('assign', name=w.info['name'], typed=None,
                     expr=tanh(mul(w, over(times(x, h), times(w, times(h, h, True)))))),
                Stmt('assign', name=h.info['name'], typed=None,
                     expr=tanh(mul(h, over(times(x, w, True), times(h, times(w, w, True))))))]
        return [first, second, self.repeated(var, step)]

    def repeated(self, var, body):
        return Stmt('for', var=var, begin=0, end=self.pick([1, 2, 3]), bound=None, down=False, unroll=self.chance(0.2),
                    likely=self.chance(0.3), expect=0, body=body)

    def layers(self):
        arrays = self.samples(('N', 'F'), ('F', 'K'), ('N', 'K'))
        if arrays is None:
            return None
        x, w, y = arrays
        w, start = self.new(add(w, lit(w.elem, 0.25)), 8)
        a, first = self.new(tanh(times(x, w)), 1)
        error, second = self.new(mul(sub(a, y), sub(lit(a.elem, 1.0), mul(a, a))), 20)
        change = mul(lit(a.elem, 0.125), tanh(times(x, error, True)))
        third = Stmt('assign', name=w.info['name'], expr=sub(w, change), typed=None)
        _, fourth = self.new(fold('sum', mul(error, error)), 1e6)
        if self.chance(0.5):
            return [start, first, second, third, fourth]
        turned = Expr('transpose', w.elem, w.dims[::-1], [w], bound=8)
        _, fifth = self.new(tanh(times(error, turned)), 1)
        return [start, first, second, third, fourth, fifth]

    def iteration(self):
        """x = normalised G x, with a test of how much it changed."""
        x, v = self.with_graph(('N',))
        if v is None:
            return None
        x, first = self.new(add(tanh(x), lit(x.elem, 2.0)), 8)
        y = times(name_of(v), x, self.chance(0.5), v)
        damped = add(lit(x.elem, 0.25), mul(lit(x.elem, 0.75), over(y, fold('sum', y))))
        new = Var(self.fresh('v'), x.elem, x.dims, 8)
        change = fold('sum', call('abs', [sub(x, name_of(new))], x.dims))
        total, second = self.new(lit(x.elem, 9.0), 1e5)
        body = [Stmt('assign', name=new.name, expr=damped, typed=None),
                Stmt('assign', name=total.info['name'], expr=change, typed=None),
                Stmt('assign', name=x.info['name'], expr=name_of(new), typed=None)]
        return [first, second, self.repeated(self.fresh('i'), body)]

    def relaxation(self):
        """Shortest paths: min and + from an infinity."""
        v = self.graph('i64') if self.chance(0.5) else self.graph('f64')
        if v is None or not self.size('N'):
            return None
        elem = v.elem if v.elem in ('i64', 'f64') else 'i64'
        far = lit('i64', 2 ** 63 - 1) if elem == 'i64' else lit('f64', INF)
        place = call('i64', [Expr('index', ('id', 'N'), ('N',))], ('N',), 'i64')
        start = Expr('if', elem, ('N',), [op('==', place, lit('i64', self.below(self.size('N'))), ('N',), 'bool'),
                                          lit(elem, 0), far], bound=INF)
        d, first = self.new(start, INF)
        step = times(name_of(v), d, self.chance(0.7), v, z='+', r='min', entry=elem)
        body = [Stmt('assign', name=d.info['name'], expr=call('min', [d, step], d.dims), typed=None)]
        return [first, self.repeated(self.fresh('i'), body)]

    def batches(self):
        arrays = self.samples(('T', 'N', 'F'), ('F',), ('T', 'N'))
        if arrays is None or not self.size('T'):
            return None
        z, w, y = arrays
        w, first = self.new(tanh(w), 8)
        var = self.fresh('i')
        t = Expr('name', 'i64', (), name=var)
        batch = Expr('at', z.elem, ('N', 'F'), [z, t], over='T', bound=z.bound, alone=False)
        b = Var(self.fresh('v'), z.elem, ('N', 'F'), z.bound)
        error = sub(times(name_of(b), w), Expr('at', y.elem, ('N',), [y, t], over='T', bound=y.bound, alone=True))
        change = mul(lit(w.elem, 0.125), tanh(times(name_of(b), error, True)))
        body = [Stmt('assign', name=b.name, expr=batch, typed=None),
                Stmt('assign', name=w.info['name'], expr=sub(w, change), typed=None)]
        return [first, Stmt('for', var=var, begin=0, end=self.size('T'), bound=None, down=self.chance(0.3), unroll=False, likely=False,
                            expect=0, body=body)]

    def sparse_batches(self):
        """A step for each batch of a sparse input."""
        whole = [v for v in self.program.batches() if v.elem in ('f64', 'f32', 'null')]
        if not whole:
            return None
        v = self.pick(whole)
        elem = v.elem if v.elem != 'null' else 'f64'
        w, first = self.new(tanh(self.tame(self.leaf(elem, v.dims[1:]))), 8)
        y = self.tame(self.leaf(elem, v.dims[:1]))
        var = self.fresh('i')
        self.scopes.append({})
        batch = self.batch_of(v, Expr('name', 'i64', (), name=var))
        b = self.scopes.pop()[batch.name]
        error = sub(times(name_of(b), w, False, b, entry=elem), y)
        change = mul(lit(elem, 0.125), tanh(times(name_of(b), error, True, b, entry=elem)))
        body = [batch, Stmt('assign', name=w.info['name'], expr=sub(w, change), typed=None)]
        return [first, Stmt('for', var=var, begin=0, end=self.size('T'), bound=None, down=self.chance(0.3), unroll=self.chance(0.2),
                            likely=False, expect=0, body=body)]

    def totals_by_key(self):
        """The sum of the elements of each of many keys, as of the points of clusters."""
        arrays = self.samples(('N',))
        if arrays is None:
            return None
        value, low, many = arrays[0], self.pick([0, -2, 7]), 17 + self.below(4)
        place = call('i64', [Expr('index', ('id', 'N'), ('N',))], ('N',), 'i64')
        key = op('%', place, lit('i64', many + self.pick([0, 2])), ('N',), 'i64')
        key, first = self.new(op('+', key, lit('i64', low), ('N',), 'i64'), 100)
        made, all_of_them = [first], lit(value.elem, 0.0)
        for number in range(low, low + many):
            test = op('==', key, lit('i64', number), ('N',), 'bool')
            chosen = Expr('if', value.elem, ('N',), [test, value, lit(value.elem, 0.0)], bound=value.bound)
            total, statement = self.new(fold('sum', chosen), 1e5)
            made.append(statement)
            all_of_them = sub(total, mul(lit(value.elem, 0.5), all_of_them))
        return made + [self.new(add(value, tanh(all_of_them)), 16)[1]]

    def columns_in_a_loop(self):
        """Products with few columns, either way, and arrays that every worker has, changed in each iteration."""
        arrays = self.samples(('N', 'F'), ('F', 'K'), ('N', 'K'))
        if arrays is None:
            return None
        x, b, y = arrays
        b, first = self.new(tanh(b), 8)
        y, second = self.new(tanh(y), 1)
        change = mul(lit(b.elem, 0.125), tanh(times(x, y, True)))
        step = [Stmt('assign', name=y.info['name'], expr=tanh(times(x, b)), typed=None),
                Stmt('assign', name=b.info['name'], expr=sub(mul(b, tanh(b)), change), typed=None)]
        return [first, second, self.repeated(self.fresh('i'), step)]

    def named_axes(self):
        """Vectors beside the rows or the columns of a square array, as the head of a function says; in a loop in its place."""
        # Axes that are cut get layouts, which sparse arrays do not have, and data are cut in other ways here.
        whole = all(self.program.is_local(d) for v in self.program.inputs for d in v.dims)
        d = self.pick(['N', 'F'] if whole else ['F'])
        arrays = self.samples((d, d), (d,), (d,))
        if arrays is None:
            return None
        a, v, w = arrays
        a, first = self.new(tanh(a), 1)
        if self.chance(0.5):
            v, second = self.new(tanh(v), 1)
        else:
            second = None

        def beside(array):
            some = [v, w][:1 + self.below(2)]
            return tanh(axes(array, some, ''.join(self.pick('RRC') for _ in some), ''.join(self.pick('**+-') for _ in some),
                             [self.chance(0.5) for _ in some]))
        body = [Stmt('assign', name=a.info['name'], expr=beside(a), typed=None)]
        if self.chance(0.3):     # a changes, and what it was is read again
            old, third = self.new(add(beside(a), a), 2)
            return [s for s in (first, second, third, *body) if s is not None] + [self.new(sub(old, beside(a)), 4)[1]]
        last = self.new(beside(a), 1)[1]
        return [s for s in (first, second, self.repeated(self.fresh('i'), body), last) if s is not None]

    IDIOMS = [named_axes, several_products, several_products, row_chain, columns_chain, columns_in_a_loop, dense_products, covariance, normal_equations,
              gram_of_product, gram_of_product, softmax, factorisation, layers, iteration,
              relaxation, batches, sparse_batches, sparse_batches, totals_by_key]
