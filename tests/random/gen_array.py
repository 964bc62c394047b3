"""Whole arrays: what stands at the leaves of expressions, reductions, products and arrays made from nothing."""
from gen_base import call, lit, name_of, op
from gen_views import ViewPart
from tree import FLOATS, INTS, NUMBERS, Expr, is_arr, is_id, is_scalar, is_tup

INF = float('inf')


class ArrayPart(ViewPart):
    # -- element types at hand

    def ids(self):
        """Dimensions of which there are ids."""
        if self.names_of_params is not None:
            return [t[1] for _, t in self.names_of_params if is_id(t)]
        return [d.name for d in self.program.free_dims() if d.size > 0 and d.name != 'O']

    def tuple_types(self):
        return self.tuples

    def some_elem(self):
        """Mostly one of the few types that the program is about."""
        if self.chance(0.9):
            return self.pick(self.favourites)
        return self.pick(self.all_elems())

    def all_elems(self):
        ids = [('id', 'N')] if self.program.size('N') > 0 else []
        return list(NUMBERS) + ['f64', 'f64', 'bool'] + self.points + self.tuples + ids

    # -- leaves

    def leaf(self, elem, dims):
        known = self.find(elem, dims)
        if known and (self.chance(0.85) or not is_scalar(elem) or is_id(elem)):
            return name_of(self.recent(known))
        if self.names_of_params is not None:
            return self.leaf_in_function(elem, dims)
        if dims and self.chance(0.5) and self.from_list(elem, dims):
            return self.from_list(elem, dims)
        if is_id(elem):
            return self.leaf_id(elem, dims)
        if is_arr(elem):
            parts = [self.leaf(elem[1], dims if i == 0 else ()) for i in range(elem[2])]
            return Expr('small', elem, dims, parts, bound=max(p.bound for p in parts))
        if is_tup(elem):
            parts = [self.leaf(t, dims if i == 0 else ()) for i, t in enumerate(elem[1])]
            return Expr('tuple', elem, dims, parts, bound=max(p.bound for p in parts))
        if not dims:
            return self.literal(elem)
        return self.made_array(elem, dims)

    def recent(self, known):
        """Mostly what was defined last: so that much of a program counts for its outputs."""
        return known[-1 - min(self.below(len(known)), self.below(len(known)))]

    def leaf_in_function(self, elem, dims):
        """Nothing but parameters and literals."""
        known = self.find(elem, dims)
        if known and self.chance(0.85):
            return name_of(self.pick(known))
        others = [v for v in self.visible() if v.elem != elem and not is_id(v.elem)]
        if others and (elem in NUMBERS or elem == 'bool') and self.chance(0.7):
            return self.number_of(elem, name_of(self.pick(others)))
        if is_id(elem):
            raise NoSuchThing(elem)
        if is_arr(elem):
            parts = [self.leaf_in_function(elem[1], dims) for _ in range(elem[2])]
            return Expr('small', elem, dims, parts, bound=max(p.bound for p in parts))
        if is_tup(elem):
            parts = [self.leaf_in_function(t, dims) for t in elem[1]]
            return Expr('tuple', elem, dims, parts, bound=max(p.bound for p in parts))
        return self.literal(elem)

    def leaf_id(self, elem, dims):
        if dims == (elem[1],) and self.chance(0.7):
            return Expr('index', elem, dims)
        number = self.leaf('f64', (elem[1],))
        single = Expr('arg', elem, (), [number], which=self.pick(['argmax', 'argmin']), over=None)
        if not dims:
            return single
        return Expr('if', elem, dims, [self.leaf('bool', dims), single, Expr('arg', elem, (), [number], which='argmin', over=None)])

    def from_list(self, elem, dims):
        lists = [v for v in self.visible() if v.length and v.elem == elem and v.dims == dims]
        if not lists:
            return None
        v = self.pick(lists)
        return Expr('get', elem, dims, [self.place_in(v.length)], bound=v.bound, name=v.name)

    def place_in(self, length):
        """An index below `length`: a literal, or a loop's variable that stays below."""
        counters = [v for v in self.visible() if v.elem == 'i64' and v.dims == () and v.fixed and v.bound <= length]
        if counters and self.chance(0.6):
            return name_of(self.pick(counters))
        if self.chance(0.2):
            k = self.tame(self.expr('i64', (), 1))
            return op('%', k, lit('i64', length), (), bound=length)
        return lit('i64', self.below(length))

    def made_array(self, elem, dims):
        """Something of that type from other types, or from nothing."""
        how = self.below(8)
        if how == 0 and elem == 'f64' and len(set(dims)) == len(dims):
            which = self.pick(['random', 'normal'])
            return Expr('random', elem, dims, [self.seed()], bound=1 if which == 'random' else 8, which=which)
        if how == 1 and len(dims) == 1 and elem != 'bool' and self.size(dims[0]) > 0 and not self.program.dims[dims[0]].block:
            place = call('i64', [Expr('index', ('id', dims[0]), dims)], dims, 'i64', bound=self.size(dims[0]))
            small = op('%', place, lit('i64', 7), dims, bound=7)
            return small if elem == 'i64' else call(elem, [small], dims, elem, bound=7)
        others = [v for v in self.visible() if v.dims == dims and not v.length and not v.sparse and v.elem != elem]
        if how >= 2 and others:
            return self.number_of(elem, name_of(self.pick(others)))
        return self.spread(elem, dims)

    def seed(self):
        known = self.find('i64', ())
        return name_of(self.pick(known)) if known and self.chance(0.3) else lit('i64', self.below(100))

    def number_of(self, elem, source):
        """A number of what a name holds: a coordinate or a component of it, converted."""
        dims = source.dims
        if is_tup(source.elem):
            i = self.below(len(source.elem[1]))
            source = Expr('comp', source.elem[1][i], dims, [source], bound=source.bound, index=i)
        if is_arr(source.elem):
            source = Expr('coord', source.elem[1], dims, [source, lit('i64', self.below(source.elem[2]))], bound=source.bound)
        if source.elem == elem:
            return source
        if is_id(source.elem):
            number = call('i64', [source], dims, 'i64', bound=self.size(source.elem[1]))
            source = op('%', number, lit('i64', 7), dims, bound=7)
            if elem == 'i64':
                return source
        return call(elem, [source], dims, elem, bound=max(1.0, source.bound))

    def spread(self, elem, dims):
        """An array over some of the dimensions along all of them."""
        fill = Expr('fill', elem, dims, [self.literal(elem)], bound=3)
        parts = [v for v in self.visible() if v.elem == elem and v.dims and not v.length and not v.sparse and
                 v.dims != dims and set(v.dims) < set(dims) and tuple(d for d in dims if d in v.dims) == v.dims]
        if not parts or elem not in NUMBERS or self.chance(0.2):
            return fill
        part = name_of(self.pick(parts))
        return op(self.pick(['+', '*']), fill, part, dims, bound=max(3 * part.bound, 3 + part.bound))

    # -- forms that make arrays of others; None where there is no way

    def array_form(self, elem, dims, depth):
        forms = [self.reduction, self.reduction] + [self.product] * (5 if len(dims) == 1 else 3) + [self.view, self.view, self.aggregate,
                 self.outer, self.dot, self.size_form, self.entries_form, self.entries_form, self.from_list_form, self.along, self.along, self.grouped,
                 self.grouped]
        forms += [self.pick_one] * (0 if dims else 3)
        forms += [self.leading] * (2 if self.longer(dims) else 0)
        forms += [self.rearranged] * (12 if self.rearrangements(dims) else 0) + [self.renamed] * (30 if 'G' in self.program.dims and {'F', 'G'} & set(dims) else 0)
        return self.pick(forms)(elem, dims, depth - 1)

    def from_list_form(self, elem, dims, depth):
        return self.from_list(elem, dims)

    def wider(self, dims):
        """(dims of an array, dims reduced to have `dims` left)"""
        ways = [w for w in self.shapes if len(set(w)) == len(w) and set(dims) <= set(w) and len(w) > len(dims)
                and tuple(d for d in w if d in dims) == dims]
        return self.pick(ways) if ways else None

    def reduction(self, elem, dims, depth):
        whole = self.wider(dims)
        if whole is None or (is_id(elem) and self.count(whole) == 0):
            return None
        gone = tuple(d for d in whole if d not in dims)
        reduced = self.count(gone)
        over = gone if dims or self.chance(0.2) else None
        spelling = self.spelling(elem, reduced)
        array = self.expr(elem, whole, depth)
        if spelling != 'reduce':
            return self.named_reduction(spelling, array, elem, dims, over, reduced)
        r, identity = self.reducer(elem, reduced)
        if elem in NUMBERS:
            array = self.tame(array)
        bound = array.bound * max(1, reduced) + 3 * reduced if reduced else INF
        return Expr('reduce', elem, dims, [array], bound=bound, spelling='reduce', r=r, over=over, identity=identity)

    def spelling(self, elem, reduced):
        if elem == 'bool':
            return self.pick(['any', 'all', 'reduce'])
        if elem in NUMBERS:
            most = 65 if elem != 'f32' else 33
            return self.pick(['sum', 'sum', 'min', 'max', 'sumsq', 'reduce', 'reduce'] + (['prod'] if reduced <= most else []))
        return 'reduce'

    def named_reduction(self, spelling, array, elem, dims, over, reduced):
        if elem in NUMBERS:
            array = self.tame(array)
        if spelling == 'prod' and elem in INTS:
            parity = op('%', array, lit(elem, 2), array.dims, bound=2)
            array = op('-', lit(elem, 1), op('*', lit(elem, 2), parity, array.dims), array.dims)
        ends = reduced == 0 and spelling in ('min', 'max')
        bound = {'sum': array.bound * reduced, 'sumsq': array.bound ** 2 * reduced, 'min': array.bound, 'max': array.bound,
                 'prod': max(1.0, array.bound) ** min(reduced, 65) if array.bound < 1e4 else INF}.get(spelling, 1)
        return Expr('reduce', elem, dims, [array], bound=INF if ends else max(1.0, bound), spelling=spelling, over=over)

    def grouped(self, elem, dims, depth):
        """A reduction by keys: their dimension, a local one, takes the place of one or two others."""
        keys = [d for d in dims if self.program.is_local(d) and self.size(d) > 0]
        if not keys or len(set(dims)) < len(dims):
            return None
        into = self.pick(keys)
        others = [d.name for d in self.program.free_dims() if d.name not in dims or d.name == into]
        gone = tuple(self.random.sample(others, min(len(others), self.pick([1, 1, 2]))))
        walked = tuple(w for d in dims for w in (gone if d == into else (d,)))
        if not self.in_default_layout(walked) or self.count(walked) > 4000 or is_id(elem):  # a key without elements has no index
            return None
        of_keys = tuple(d for d in walked if d in gone or self.chance(0.3))
        array = () if of_keys == walked and self.chance(0.2) else walked
        places, reduced = self.places_along(into, of_keys, depth), self.count(gone)
        spelling, source = self.spelling(elem, reduced), self.expr(elem, array, depth)
        if spelling != 'reduce':
            e = self.named_reduction(spelling, source, elem, dims, gone, reduced)
        else:
            r, identity = self.reducer(elem, reduced)
            source = self.tame(source) if elem in NUMBERS else source
            e = Expr('reduce', elem, dims, [source], bound=INF, spelling='reduce', r=r, over=gone, identity=identity)
        bound = INF if spelling in ('min', 'max') else e.bound
        return Expr('group', elem, dims, [e.args[0], places], bound=bound, into=into, walked=walked, **e.info)

    def aggregate(self, elem, dims, depth):
        """mean, argmax, argmin."""
        whole = self.wider(dims)
        if whole is None:
            return None
        gone = tuple(d for d in whole if d not in dims)
        if elem in FLOATS:
            source = self.pick([elem, 'i64', 'i32', 'f64'] if elem == 'f64' else ['f32'])
            array = self.tame(self.expr(source, whole, depth))
            bound = array.bound if self.count(gone) else INF
            return Expr('reduce', elem, dims, [array], bound=bound, spelling='mean', over=gone if dims else None)
        if is_id(elem) and gone == (elem[1],) and self.count(gone):
            array = self.tame(self.expr(self.pick(NUMBERS), whole, depth))
            return Expr('arg', elem, dims, [array], which=self.pick(['argmax', 'argmin']), over=gone if dims else None)
        return None

    def dot(self, elem, dims, depth):
        vectors = [s for s in self.shapes if len(s) == 1]
        if dims or elem not in NUMBERS:
            return None
        d = self.pick(vectors)
        a, b = self.tame(self.expr(elem, d, depth)), self.tame(self.expr(elem, d, depth))
        return Expr('dot', elem, (), [a, b], bound=a.bound * b.bound * max(1, self.count(d)), named=self.chance(0.5),
                    spelling='sum')

    def outer(self, elem, dims, depth):
        if len(dims) < 2 or len(set(dims)) < len(dims) or elem not in NUMBERS:
            return None
        at = 1 + self.below(len(dims) - 1)
        a, b = self.tame(self.expr(elem, dims[:at], depth)), self.tame(self.expr(elem, dims[at:], depth))
        z, bound = None, a.bound * b.bound
        if self.chance(0.5):
            z, bound = self.pick([('+', a.bound + b.bound), ('-', a.bound + b.bound), ('max', max(a.bound, b.bound)),
                                  ('mul', bound)])
        return Expr('outer', elem, dims, [a, b], bound=bound, z=z)

    def size_form(self, elem, dims, depth):
        if elem != 'i64' or dims:
            return None
        d = self.pick([d for d in self.program.dims.values() if d.block != 'count' and not (d.block and self.in_blocks)])
        count = self.program.indices(d.name)
        return Expr('size', 'i64', (), bound=count, dim=d.name)

    # -- along one axis

    def in_default_layout(self, dims):
        """At most one of them is cut, and it is the same as in the array around: else a program needs a mesh."""
        return sum(not self.program.is_local(d) for d in dims) <= 1 and len(set(dims)) == len(dims)

    def along(self, elem, dims, depth):
        local = [d for d in dims if self.program.is_local(d)]
        if not local or not self.in_default_layout(dims):
            return None
        forms = [self.take, self.take]
        if elem in NUMBERS:
            forms += [self.scan, self.scan, self.sort]
        if is_id(elem) and elem[1] in local:
            forms += [self.sort, self.sort]
        return self.pick(forms)(elem, dims, depth, self.pick(local))

    def scan(self, elem, dims, depth, over):
        array, size = self.tame(self.expr(elem, dims, depth)), max(1, self.size(over))
        r = self.pick(['+', '+', 'max', 'min'] + (['*'] if size <= 16 else []))
        bound = {'+': array.bound * size, '*': max(1.0, array.bound) ** size if array.bound < 1e4 else INF}.get(r, array.bound)
        if r == '*' and elem in INTS and bound > 2 ** 30:
            r, bound = '+', array.bound * size
        return Expr('scan', elem, dims, [array], bound=bound, r=r, over=(over,), alone=len(dims) == 1)

    def sort(self, elem, dims, depth, over):
        if is_id(elem):
            return Expr('sort', elem, dims, [self.tame(self.expr(self.pick(NUMBERS), dims, depth))], over=(elem[1],),
                        which='argsort', alone=len(dims) == 1)
        array = self.tame(self.expr(elem, dims, depth))
        return Expr('sort', elem, dims, [array], bound=array.bound, over=(over,), which='sort', alone=len(dims) == 1)

    def take(self, elem, dims, depth, over):
        """Of a line along `over`, at places of the result's shape, or of one of its dimensions."""
        others = [d.name for d in self.program.free_dims() if self.program.is_local(d.name) and d.name not in dims and d.size > 0]
        if others and self.chance(0.6):
            line = self.pick(others)
            array, places = tuple(line if d == over else d for d in dims), self.pick([(over,), dims])
        else:
            line, array, places = over, dims, self.pick([(over,), dims])
        if self.size(line) == 0 or (places != dims and any(not self.program.is_local(d) for d in places)):
            return None
        at, source = self.places_along(line, places, depth), self.expr(elem, array, depth)
        return Expr('take', elem, dims, [source, at], bound=source.bound, over=(line,))

    def places_along(self, line, dims, depth):
        """Indices of `line`, of which it has some."""
        kind = self.pick(['id', 'i64', 'i32'])
        if kind == 'id':  # a least index of no entries is no place
            e = self.expr(('id', line), dims, depth)
            return self.leaf(('id', line), dims) if any(part.kind == 'product' for part in e.walk()) else e
        return op('%', self.tame(self.expr(kind, dims, depth)), lit(kind, self.size(line)), dims, bound=self.size(line))


class NoSuchThing(Exception):
    """An element of a type of which a function has none."""
