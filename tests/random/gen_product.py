"""Products: sparse matrices, dense ones, computed ones, with columns, over semirings of every kind; stored entries."""
from gen_base import Base, call, limit_of, lit, name_of, op
from gen_functions import comp, param
from tree import FLOATS, INTS, NUMBERS, Expr, Stmt, Var, is_arr, is_id, is_scalar, is_tup

INF = float('inf')
DEGREE = 16        # about as many entries has a row


class ProductPart(Base):
    def product(self, elem, dims, depth):
        """G @ x, G' @ x, X' @ Y, mxv(z, r, G, x): over dims[0] and the columns."""
        if not dims or not self.local(dims[1:]):
            return None
        sparse = [v for v in self.matrices() if dims[0] in v.dims]
        if sparse and self.chance(0.6):
            return self.sparse_product(elem, dims, self.pick(sparse), depth)
        return self.dense_product(elem, dims, depth)

    def matrices(self):
        """Sparse inputs, and batches of them that have a name."""
        return self.program.matrices() + [v for v in self.visible() if v.sparse and is_batch(v)]

    def define_batch(self):
        """One matrix of an input that has several. It is no array, and no value that is stored lies at its entries."""
        whole = self.program.batches()
        if not whole:
            return None
        return [self.batch_of(self.pick(whole), None)]

    def batch_of(self, v, index, rows=False):
        """rows: its index is a loop's block."""
        place = index if index is not None else self.place_in(self.size(v.batches))
        made = self.define(Var(self.fresh('B'), v.elem, v.dims, v.bound, sparse=True, fixed=True))
        return Stmt('formula', name=made.name, expr=Expr('batch', v.elem, v.dims, [place], bound=v.bound, batch_of=v.name, over=v.batches, rows=rows))

    def side(self, matrix_dims, dims):
        """Is the matrix read transposed (rows to columns)?"""
        if matrix_dims[0] == matrix_dims[1]:
            return self.chance(0.5)
        return matrix_dims[1] == dims[0]

    def sparse_product(self, elem, dims, v, depth):
        transposed = self.side(v.dims, dims)
        source = (v.dims[0] if transposed else v.dims[1],) + dims[1:]
        if not self.fits(source):
            return None
        return self.semiring(elem, dims, v, name_of(v), transposed, source, depth)

    def semiring(self, elem, dims, v, matrix, transposed, source, depth, formula=False):
        """With `*` and `+` (bool: `&&` and `||`), or a multiplier and a reducer of any kind."""
        plain = elem in NUMBERS and v.elem in (elem, 'null') or elem == 'bool' and v.elem in ('bool', 'null')
        fields = dict(transposed=transposed, sparse=v, formula=formula, z=None, r=None, entry=elem,
                      vector_first=self.chance(0.3), spelling=self.chance(0.8))
        if plain and self.chance(0.6):
            vector = self.small(self.expr(elem, source, depth))
            bound = vector.bound * (1 if v.elem == 'null' else v.bound) * DEGREE
            return Expr('product', elem, dims, [matrix, vector], bound=bound, **fields)
        made = self.multiplier(elem, v.elem, [] if formula and len(dims) > 1 else self.points)
        if made is None:
            return None
        from_elem, entry, z, bound = made
        r, identity = self.reducer(elem, self.size(source[0]))
        own = not isinstance(r, str) or any(f.name == r for f in self.program.fns)
        if formula and len(dims) > 1 and own:
            return None           # of several columns the reducer needs an identity
        fields.update(z=z, r=r, identity=identity, entry=entry)
        vector = self.small(self.expr(from_elem, source, depth))
        return Expr('product', elem, dims, [matrix, vector], bound=INF if r in ('min', 'max') else bound * DEGREE, **fields)

    def small(self, e):
        return self.tame(e) if e.elem in NUMBERS else e

    def multiplier(self, elem, stored, points):
        """(the vector's element type, the entry's, the function, a bound) of a multiplier that gives `elem`."""
        entry = stored if stored != 'null' else self.pick(['f64', 'i64', 'f32', 'i32'])
        limit = limit_of(elem) * limit_of(entry)
        if is_id(elem):
            w = (self.fresh('w'), entry)
            x = param(self.fresh('x'), elem)
            return elem, entry, ([(x.info['name'], None), (w[0], entry if stored == 'null' else None)], x), 1.0
        if elem in NUMBERS and self.chance(0.5):
            if entry != elem and stored != 'null':
                return None
            return elem, elem, self.pick(['+', '*', 'min', 'max', 'mul', '-']), limit
        source = self.pick([elem, elem, 'f64', 'i64', 'bool'] + points)
        x, w = (self.fresh('x'), source), (self.fresh('w'), entry)
        body = self.body_of(elem, [x, w], depth=1, tamed=True)
        return source, entry, ([(x[0], None), (w[0], entry if stored == 'null' else None)], body), max(body.bound, 1.0)

    # -- dense matrices: inputs, and what is computed

    def dense_product(self, elem, dims, depth):
        shapes = [s for s in self.shapes if len(s) == 2 and dims[0] in s and
                  (not self.program.is_local(s[0]) or self.program.is_local(s[1]))]
        if not shapes:
            return None
        shape = self.pick(shapes)
        transposed = self.side(shape, dims)
        source = (shape[0] if transposed else shape[1],) + dims[1:]
        if len(set(source)) < len(source) or not self.fits(source) or source[0] == dims[0] and shape[0] != shape[1]:
            return None
        fields = dict(transposed=transposed, sparse=None, formula=False, z=None, r=None, vector_first=False, spelling=True)
        if elem not in NUMBERS + ('bool',) or self.chance(0.25):
            return self.dense_semiring(elem, dims, shape, source, fields, depth)
        matrix = self.matrix(elem, shape, depth)
        if matrix.kind == 'transpose':      # A' in a product is A read the other way, which columns that are cut do not allow
            return None
        vector = self.small(self.expr(elem, source, depth))
        if len(dims) == 2 and self.chance(0.2) and shape == source:
            vector = matrix       # X' @ X
        bound = max(1.0, matrix.bound * vector.bound * max(1, self.size(source[0])))
        if elem in INTS and bound > 1e8:
            return None
        return Expr('product', elem, dims, [matrix, vector], bound=bound, **fields)

    def dense_semiring(self, elem, dims, shape, source, fields, depth):
        stored = self.pick([elem, 'f64', 'i64', 'f32', 'bool'] if isinstance(elem, str) else ['f64', 'i64', 'f32'])
        made = self.multiplier(elem, stored, self.points)
        if made is None:
            return None
        from_elem, entry, z, bound = made
        matrix = self.matrix(entry, shape, depth)
        if matrix.kind == 'transpose':
            return None
        vector = self.small(self.expr(from_elem, source, depth))
        r, identity = self.reducer(elem, self.size(source[0]))
        fields.update(z=z, r=r, identity=identity)
        bound = INF if r in ('min', 'max') and not self.size(source[0]) else bound * max(1, self.size(source[0]))
        return Expr('product', elem, dims, [matrix, vector], bound=max(1.0, bound), **fields)

    def matrix(self, elem, shape, depth):
        """An input, a name, or a computed matrix."""
        known = self.find(elem, shape)
        if known and self.chance(0.6):
            return name_of(self.pick(known))
        return self.small(self.expr(elem, shape, depth))

    # -- stored entries of a sparse matrix

    def entries_form(self, elem, dims, depth):
        matrices = [v for v in self.matrices() if v.elem in ('null', 'f64', 'f32', 'i64', 'i32')]
        if not matrices or len(dims) > 2 or self.names_of_params is not None:
            return None
        lines = [v for v in matrices if not is_batch(v) and is_id(elem) and len(dims) == 1 and sorted(v.dims) == sorted([dims[0], elem[1]])
                 and (dims[0] != elem[1] or 'O' in self.program.dims)]
        v = self.pick(lines or matrices)
        if dims and (dims[0] not in v.dims or not self.local(dims[1:])):
            return None
        stored = v.elem if v.elem != 'null' else 'f64'
        formula = self.named_formula(stored, v) or self.formula(stored, v, depth)
        if lines and self.chance(0.8):
            which = self.pick(['argmax', 'argmin'])
            made = Expr('arg', elem, dims, [self.with_another(formula, v)], which=which, over=elem[1:], entries=v)
            return made if dims[0] != elem[1] else self.by_other_name(made)
        if dims and (len(dims) == 2 or not isinstance(elem, str) or self.chance(0.5)):
            if not all(self.program.dims[d].known for d in dims[1:]) or (len(dims) > 1 and not is_scalar(elem)):
                return None
            transposed = self.side(v.dims, dims)
            source = (v.dims[0] if transposed else v.dims[1],) + dims[1:]
            return self.semiring(elem, dims, as_valued(v, stored), formula, transposed, source, 0, formula=True)
        square = bool(dims) and v.dims[0] == v.dims[1]
        if not isinstance(elem, str) or square and 'O' not in self.program.dims:
            return None
        made = self.entries_fold(elem, dims, v, self.with_another(formula, v))
        return self.by_other_name(made) if made is not None and square else made

    def by_other_name(self, made):
        """A reduction of one axis of a square matrix."""
        array = made.args[0]
        made.args[0] = Expr('as', array.elem, self.pick([('N', 'O'), ('O', 'N')]), [array], bound=array.bound)
        made.info['over'] = ('O',)
        return made

    def with_another(self, formula, v):
        """The same with the entries of a second matrix, or of a transposed one, which are elsewhere."""
        if is_batch(v):
            return formula
        fitting = [u for u in self.program.matrices() if (u.elem if u.elem != 'null' else 'f64') == formula.elem]
        others = [(u, False) for u in fitting if u is not v and u.dims == v.dims] + [(u, True) for u in fitting if u.dims == v.dims[::-1]]
        if not others or self.chance(0.2):
            return formula
        u, turned = self.pick(others)
        y = Expr('name', formula.elem, u.dims, bound=4.0, name=u.name)
        if turned:
            y = Expr('turned', formula.elem, v.dims, [y], bound=4.0)
        sign = self.pick(['+', '-', '*'])
        return op(sign, formula, y, v.dims, bound=1.5 * (formula.bound * 4 if sign == '*' else formula.bound + 4))

    def named_formula(self, elem, v):
        """`W = X * w` is the expression, with what its names stood for there."""
        known = [w for w in self.visible() if w.name[0] == 'W' and w.elem == elem and w.of is v]
        if not known or self.chance(0.4):
            return None
        w = self.pick(known)
        return Expr('name', elem, v.dims, bound=w.bound, name=w.name)

    def define_formula(self):
        matrices = [v for v in self.matrices() if v.elem in ('null', 'f64', 'f32', 'i64', 'i32')]
        if not matrices:
            return None
        v = self.pick(matrices)
        e = self.formula(v.elem if v.elem != 'null' else 'f64', v, 1)
        w = Var(self.fresh('W'), e.elem, v.dims, e.bound, sparse=True, fixed=True)
        w.of = v
        self.define(w)
        return [Stmt('formula', name=w.name, expr=e)]

    def reassign_formula(self):
        """Values of a name at stored entries, in place of others: of itself, too."""
        known = [w for w in self.visible() if w.sparse and w.name[0] == 'W' and not is_batch(w.of)]
        if not known:
            return None
        w = self.pick(known)
        e = self.formula(w.elem, w.of, 1)
        if self.chance(0.6):
            half = op('*', Expr('name', w.elem, w.dims, bound=w.bound, name=w.name), lit(w.elem, 0.5 if w.elem in FLOATS else 1), w.dims, bound=w.bound)
            e = op(self.pick(['+', '-']), e, half, w.dims, bound=e.bound + w.bound)
        limit = limit_of(w.elem)
        if e.elem != w.elem or e.bound > limit:
            return None
        w.bound = max(w.bound, limit)
        return [Stmt('formula', name=w.name, expr=e)]

    def entries_fold(self, elem, dims, v, formula):
        over = tuple(d for d in v.dims if d not in dims) if dims else None
        if elem == 'bool':
            test = op(self.pick(['>', '!=']), formula, lit(formula.elem, 0), v.dims, 'bool')
            return Expr('reduce', elem, dims, [test], spelling=self.pick(['any', 'all']), over=over, entries=v)
        if formula.elem != elem:
            formula = call(elem, [formula], v.dims, elem, bound=formula.bound)
        if self.chance(0.3):
            products = elem == 'f64' and dims and formula.bound <= 8
            bound = INF if products or self.count(v.dims) == 0 else max(formula.bound, 1.0)
            return Expr('reduce', elem, dims, [formula], bound=bound, over=over, entries=v,
                        spelling='prod' if products and self.chance(0.5) else self.pick(['max', 'min']))
        spelling = self.pick(['sum', 'sum', 'sumsq'] + (['mean'] if elem in FLOATS else []))
        bound = formula.bound ** 2 * DEGREE * (1 if dims else self.size(v.dims[0]) + 1)
        if spelling == 'mean' and self.count(v.dims) == 0:
            bound = INF
        if elem in INTS and bound > 1e8:
            return None
        return Expr('reduce', elem, dims, [formula], bound=max(bound, 1.0), spelling=spelling, over=over, entries=v)

    def sums_of_entries(self):
        """A sum of a function of the stored values alone, beside the same by rows and by columns, in any order."""
        matrices = [v for v in self.program.matrices() if v.elem in ('f64', 'f32', 'i64', 'i32') and v.dims[0] != v.dims[1]]
        if not matrices or self.chance(0.3):
            return []
        v = self.pick(matrices)
        x = Expr('name', v.elem, v.dims, bound=4.0, name=v.name)
        made = self.pick([x, op('*', x, x, v.dims, bound=16.0), call('abs', [x], v.dims, bound=4.0)])
        bound = made.bound * (self.size(v.dims[0]) + 1) * (self.size(v.dims[1]) + 1)
        sums = []
        for dims in ((), v.dims[:1], v.dims[1:]):
            over = tuple(d for d in v.dims if d not in dims) if dims else None
            of = made if dims or self.chance(0.8) else x
            sums.insert(self.below(len(sums) + 1), Expr('reduce', v.elem, dims, [of], bound=bound, spelling='sum', over=over, entries=v))
        return [(self.fresh('o'), one) for one in sums if self.chance(0.8)]

    def formula(self, elem, v, depth):
        """An expression that is 0 where nothing is stored."""
        x = Expr('name', elem, v.dims, bound=4.0, name=v.name)
        guard = self.below(4)
        if guard == 0 and v.elem != 'null':
            x = call(elem, [op('!=', x, lit(elem, 0), v.dims, 'bool')], v.dims, elem)
        elif guard == 1 and elem in FLOATS:
            x = call('sqrt', [call('abs', [x], v.dims)], v.dims, bound=2)
        others = [self.beside(elem, v, depth) for _ in range(self.below(3))]
        if x.kind == 'name' and not others:
            others = [lit(elem, 2)]
        made = x
        for other in others:
            if other.bound > 50:
                other = self.tame(other)
            if self.chance(0.2) and elem in FLOATS:
                below = op('+', lit(elem, 1.0), call('abs', [other], other.dims), other.dims)
                made = op('/', made, below, v.dims, bound=made.bound)
            else:
                made = op('*', made, other, v.dims, bound=made.bound * other.bound)
        if self.chance(0.3):
            made = op('-', made, Expr('name', elem, v.dims, bound=4.0, name=v.name), v.dims, bound=made.bound + 4)
        return made

    def beside(self, elem, v, depth):
        """What stands at an entry's row or column, or a single value."""
        pairs = [d.name for d in self.program.free_dims() if d.local and d.known and 0 < d.size < 9]
        if pairs and self.chance(0.3):
            k = self.pick(pairs)
            a, b = self.leaf(elem, (v.dims[0], k)), self.leaf(elem, (v.dims[1], k))
            if self.fits(a.dims) and self.fits(b.dims):
                return Expr('pairs', elem, v.dims, [a, b], bound=a.bound * b.bound * self.size(k))
        if self.chance(0.2):
            return self.leaf(elem, ())
        last = self.program.dims[v.dims[1]]
        if last.local and last.known and 0 < last.size and self.fits(v.dims) and self.chance(0.8):
            array = self.leaf(elem, v.dims)    # a dense array of scalars: an entry meets its element there
            if any(part.kind in ('comp', 'coord') for part in array.walk()):
                array = Expr('fill', elem, v.dims, [self.literal(elem)], bound=3)
            return self.tame(array, 20)
        where = (self.pick(v.dims),)
        e = self.leaf(elem, where)
        if self.chance(0.4) and elem in FLOATS:
            e = call('tanh', [e], where)
        return self.tame(e, 20)


def is_batch(v):
    return v.name[0] == 'B'


def as_valued(v, elem):
    """A sparse matrix whose entries are the values of an expression."""
    import copy
    made = copy.copy(v)
    made.elem, made.bound = elem, 8.0
    return made
