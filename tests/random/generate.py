"""generate(seed): a program, always the same of one seed."""
from gen_array import ArrayPart, NoSuchThing
from gen_blocks import BlockPart
from gen_base import LARGE, SIZES, call, limit_of, lit, name_of, op
from gen_functions import FunctionPart
from gen_idioms import IdiomPart
from gen_product import ProductPart, is_batch
from gen_scalar import ScalarPart
from tree import (FLOATS, INTS, NUMBERS, DerivedDim, Dim, Expr, Stmt, Var, assumable, is_arr, is_id, is_scalar, is_tup, scalars_of)
from vary import vary

SHAPES = [('N',), ('N',), ('N',), ('M',), ('F',), ('K',), ('N', 'F'), ('N', 'F'), ('N', 'K'), ('F', 'K'), ('M', 'K'),
          ('N', 'C'), ('T', 'N'), ('T', 'N', 'F'), ('N', 'F', 'K'), ('N', 'M'), ('N', 'N'), ('F', 'F'), ('F', 'N'), ('K', 'N'), ('E',), ('S',), ('N', 'E'),
          ('N', 'E'), ('N', 'S'), ('N', 'S'), ('E', 'K'), ('FK',), ('N', 'FK'), ('N', 'FK'),
          ('J',), ('N', 'J'), ('N', 'J'), ('J', 'K'), ('G',), ('G',), ('N', 'G'), ('N', 'G'), ('F', 'G'), ('F', 'G'), ('G', 'F')]


class Generator(ScalarPart, FunctionPart, ArrayPart, IdiomPart, BlockPart, ProductPart):
    def __init__(self, seed, files=False):
        super().__init__(seed)
        self.files = files       # inputs alone that data files can bring
        self.depth = 0
        self.statements_left = 4 + self.below(12)

    # -- declarations

    def dimensions(self):
        large = self.chance(0.06)
        sizes = LARGE if large else SIZES
        self.declare('N', False, self.pick(sizes))
        self.declare('M', False, self.pick(SIZES if not large else [0, 1, 7, 8, 9, 33]))
        local = [(1, 'F', [1, 2, 3, 4, 5, 8, 9, 17, 40]), (1, 'K', [1, 2, 3, 4, 6, 11, 19]), (0.6, 'C', None), (0.4, 'T', [1, 2, 3])]
        for p, name, choice in local:
            if self.chance(p):
                size = self.pick(choice) if choice else self.program.size('K') + self.below(4)
                if name != 'C' and self.chance(0.02):
                    size = 0
                self.declare(name, True, size)
        self.derived()
        have = self.program.dims
        if self.chance(0.4):      # N by another name: of a square sparse matrix it tells the axes apart
            have['O'] = DerivedDim('O', 'slice', [have['N']], [None, None, None])
            have['O'].local = False
        self.shapes = [s for s in SHAPES if all(d in have for d in s) and self.fits(s) and
                       (s != ('N', 'N') or self.size('N') <= 65)]

    def derived(self):
        """E some of F, S those of F and others behind, FK all pairs of F and K, J those of F that a mask picks, G F by another
        name."""
        have = self.program.dims
        if 'F' not in have or 'K' not in have or self.chance(0.4):
            return
        bounds = [self.pick([None, None, 0, 1, 2, -1, -2, 5]), self.pick([None, None, None, 1, 3, -1, -3]),
                  self.pick([None, None, 1, 2, 3, -1, -1, -2])]
        if self.chance(0.5):
            bounds[:2] = [self.pick([1, 2]), self.pick([None, -1, -2])]  # with neighbours
        F, K = have['F'], have['K']
        new = [DerivedDim('E', 'slice', [F], bounds)]
        new.append(DerivedDim('S', '+', self.pick([[F, K], [F, F], [F, new[0], F]])))
        if self.chance(0.5):
            new.append(DerivedDim('J', 'some', [F], (self.pick([1, 2, 2, 3, 4]), self.pick([0, 0, 1, 2, 7]))))
        if F.size * K.size <= 200:
            new.append(DerivedDim('FK', '*', [F, K]))
        if self.chance(0.8):
            new.append(DerivedDim('G', 'slice', [F], [None, None, None]))
        have.update({d.name: d for d in new})

    def declare(self, name, local, size):
        known = self.chance(0.6 if local else 0.15) and size > 0 and not self.files
        self.program.dims[name] = Dim(name, local, size, known)

    def constants(self):
        for i in range(self.below(3)):
            elem = self.pick(['f64', 'i64', 'f32', 'i32'])
            self.program.consts.append((f'c{i}', elem, self.literal(elem).info['value']))
        for i in range(self.below(4)):
            elem = self.pick(['f64', 'i64', 'f32', 'i32', 'bool'])
            value = self.literal(elem).info['value']
            self.program.params.append((f'a{i}', elem, value))
        for name, elem, value in self.program.consts + self.program.params:
            self.define(Var(name, elem, (), abs(value), fixed=elem != 'i64'))
        for i in range(self.pick([0, 0, 1])):
            elem = self.pick(self.points + [t for t in self.tuples if not any(map(is_id, scalars_of(t)))] +
                             [('id', 'N')] * (self.size('N') > 0))
            value = self.random_value(elem)
            self.program.params.append((f'p{i}', elem, value))
            self.define(Var(f'p{i}', elem, (), 4.0, fixed=True))
        self.turns = self.pick([None, None, 0, 1, 2, 3])
        if self.turns is not None:
            self.program.params.append(('turns', 'i64', self.turns))

    def random_value(self, elem):
        if is_tup(elem):
            return tuple(self.random_value(t) for t in elem[1])
        if is_arr(elem):
            return [self.literal(elem[1]).info['value'] for _ in range(elem[2])]
        return self.below(self.size(elem[1])) if is_id(elem) else self.literal(elem).info['value']

    def inputs(self):
        for i in range(3 + self.below(4)):
            dims = self.some_dims()
            if 'J' in dims:
                dims = ()            # its size is not the data's
            self.add_input(Var(f'x{i}', self.input_elem(), dims or ('N',), 6.0))
        for i in range(self.pick([0, 1, 1, 2])):
            dims = self.pick([('N', 'N'), ('N', 'N'), ('N', 'M'), ('M', 'N')] + [('N', 'F')] * (2 * (self.size('F') > 0) if 'F' in self.program.dims else 0))
            if i > 0 and self.chance(0.5):
                dims = self.program.inputs[-1].dims     # entries of two matrices meet
            elem = self.pick(['null', 'f64', 'f64', 'f32', 'i64', 'i32'] + ([] if self.files else ['bool']))
            if i > 0 and dims == self.program.inputs[-1].dims and self.chance(0.7):
                elem = self.program.inputs[-1].elem
            self.add_input(Var(f'G{i}', elem, dims, 4.0, sparse=True))

        if not self.files and 'T' in self.program.dims and self.size('T') > 0 and self.chance(0.6):
            dims = self.pick([('N', 'N'), ('N', 'M'), ('N', 'F'), ('N', 'F'), ('M', 'N')])
            if all(d in self.program.dims for d in dims):
                v = Var('S0', self.pick(['null', 'f64', 'f64', 'f32', 'i64', 'bool']), dims, 4.0, sparse=True)
                v.batches = 'T'
                self.add_input(v)

        for d in self.program.dims.values():
            if self.files and d.size == 0 and not d.derived:      # a size of 0 comes with an array
                self.add_input(Var(f'z{d.name}', 'f64', (d.name,), 6.0))

    def input_elem(self):
        elem = self.some_elem()
        while self.files and not (elem in NUMBERS or elem == 'bool' or (is_arr(elem) and elem[1] in NUMBERS)):
            elem = self.some_elem()
        return elem

    def add_input(self, v):
        ids = [s for s in scalars_of(v.elem) if is_id(s)]
        if any(self.size(s[1]) == 0 for s in ids):
            return
        v.fixed = True
        v.positive = v.elem in NUMBERS and not self.program.wild and self.chance(0.15)
        self.program.inputs.append(v)
        if not v.sparse:
            self.define(v)

    def element_types(self):
        self.points = [('arr', 'f64', self.pick([2, 3])), ('arr', self.pick(['f64', 'f32', 'i64', 'i32']), 2)]
        parts = ['f64', 'i64', 'f32', 'i32', 'bool'] + self.points
        if self.program.size('N') > 0:
            parts.append(('id', 'N'))
        self.tuples = []
        for _ in range(2):
            self.tuples.append(('tup', tuple(self.pick(parts) for _ in range(2 + self.below(2)))))
        if self.program.size('N') > 0 and self.chance(0.5):
            self.tuples.append(('tup', ('f64', ('id', 'N'))))
        self.favourites = [self.pick(self.all_elems()) for _ in range(3 + self.below(3))]
        if all(e not in NUMBERS for e in self.favourites):
            self.favourites.append('f64')
        self.places = [self.pick(self.shapes) for _ in range(3 + self.below(3))]

    def lists(self):
        for i in range(self.pick([0, 0, 1, 2])):
            elem = self.pick(NUMBERS + ('bool',) + tuple(self.points))
            dims = self.pick(self.shapes + [(), ()])
            v = Var(f'L{i}', elem, dims, limit_of(elem), length=1 + self.below(4))
            self.program.lists.append((v, lit(elem[1], 0) if is_arr(elem) else self.literal(elem)))
            self.define(v)

    # -- statements

    def some_dims(self):
        if self.chance(0.85):
            return self.pick(self.places + [(), ()])
        return self.pick(self.shapes)

    def block(self, count):
        made = []
        for _ in range(count):
            if self.statements_left <= 0:
                break
            self.statements_left -= 1
            made += self.statement()
        return made

    def statement(self):
        if self.depth and self.chance(0.06):
            return [self.list_in_block()]
        forms = [self.define_name] * 5 + [self.reassign] * 3 + [self.list_statement, self.idiom, self.set_elements] * 2 + [self.block_loop, self.define_formula, self.reassign_formula, self.define_batch]
        if self.depth < 3:
            forms += [self.counted, self.counted, self.loop, self.branch]
        if self.leaves and self.depth < 4:
            forms += [self.leave] * 2
        for _ in range(10):
            kept, depth = [dict(scope) for scope in self.scopes], self.depth
            try:
                made = self.pick(forms)()
                if made:
                    return made
            except NoSuchThing:
                pass
            self.scopes, self.depth = kept, depth
        return []

    def value_of(self, elem, dims, depth=None):
        e = self.expr(elem, dims, self.pick([1, 2, 2, 3, 3, 4]) if depth is None else depth)
        return self.tame(e)

    def define_name(self):
        elem, dims = self.some_elem(), self.some_dims()
        if self.chance(0.1) and elem in NUMBERS + ('bool',):
            e, typed = self.literal(elem), (elem, dims)
        else:
            e, typed = self.value_of(elem, dims), (elem, dims) if self.chance(0.1) else None
        if is_id(elem) and e.kind == 'lit':
            return None
        v = Var(self.fresh('v'), elem, dims, max(1.0, e.bound))
        self.define(v)
        return [Stmt('assign', name=v.name, expr=e, typed=typed)]

    def assignable(self):
        return [v for v in self.visible() if not v.fixed and not v.length and not v.sparse and v.name[0] == 'v']

    def reassign(self):
        names = self.assignable()
        if not names:
            return None
        v = self.pick(names)
        limit = limit_of(v.elem)
        e = self.value_of(v.elem, v.dims)
        if e.bound > limit:
            return None
        v.bound = max(v.bound, limit)
        return [Stmt('assign', name=v.name, expr=e, typed=None)]

    def set_elements(self):
        """v[i, j] = e, or v[mask] += e."""
        names = [v for v in self.assignable() if v.dims and self.has_places(v.dims) and v.elem in NUMBERS + ('bool',)]
        if not names:
            return None
        v = self.pick(names)
        change = self.pick(['', '', '+', '-', '*']) if v.elem in NUMBERS else ''
        if self.chance(0.5) or 0 in [self.size(d) for d in v.dims]:
            index, e = self.expr('bool', v.dims, 2), self.value_of(v.elem, self.pick([(), v.dims]), 2)
        else:
            places = [self.place_in(self.size(d)) for d in v.dims]
            index, e = Expr('places', 'i64', (), places), self.value_of(v.elem, (), 2)
        bound = e.bound * v.bound if change == '*' else e.bound + v.bound if change else e.bound
        if bound > limit_of(v.elem):
            return None
        v.bound = max(v.bound, limit_of(v.elem))
        return [Stmt('set', name=v.name, index=index, change=change, expr=e, elem=v.elem, dims=v.dims)]

    def list_in_block(self):
        elem, dims = self.pick(NUMBERS + ('bool',)), self.some_dims()
        v = self.define(Var(self.fresh('L'), elem, dims, limit_of(elem), length=1 + self.below(3)))
        return Stmt('list', name=v.name, elem=elem, dims=dims, length=v.length, expr=self.literal(elem))

    def list_statement(self):
        lists = [v for v in self.visible() if v.length]
        if not lists:
            return None
        v = self.pick(lists)
        e = self.value_of(v.elem, v.dims)
        if e.bound > v.bound and not self.program.wild:
            return None
        if self.chance(0.5):
            return [Stmt('push', name=v.name, expr=e, dims=v.dims)]
        return [Stmt('put', name=v.name, index=self.place_in(v.length), expr=e, dims=v.dims)]

    def inside(self, names, count):
        """A block in a scope of its own, which changes something around it."""
        around = self.assignable()
        for v in around:
            v.bound = max(v.bound, limit_of(v.elem))      # whatever a turn makes of it
        self.scopes.append({v.name: v for v in names})
        self.depth += 1
        body = self.block(count)
        outer = {v.name for v in around}
        outer |= {v.name for scope in self.scopes[:-1] for v in scope.values() if v.length}
        if not any(s.kind in ('assign', 'set', 'put', 'push') and s.name in outer for s in body):
            made = self.reassign_one_of([v for v in around])
            body = body + made if made else None
        self.depth -= 1
        self.scopes.pop()
        return body

    def reassign_one_of(self, names):
        for _ in range(4):
            if not names:
                return None
            v = self.pick(names)
            e = self.value_of(v.elem, v.dims, 2)
            if e.bound <= limit_of(v.elem) or self.program.wild:
                return [Stmt('assign', name=v.name, expr=e, typed=None)]
        return None

    def counted(self):
        var, end = self.fresh('i'), self.pick([0, 1, 2, 3, 3, 4])
        unroll = end > 0 and self.chance(0.25)
        highest = max(1, end, self.turns or 0)
        body = self.loop_body([Var(var, 'i64', (), highest, fixed=True)], not unroll)
        if not body:
            return None
        bound = None
        if self.turns is not None and not unroll and self.chance(0.4):
            bound, end = 'turns', self.turns
        return [Stmt('for', var=var, begin=self.below(end + 1) if self.chance(0.2) else 0, end=end, bound=bound, down=self.chance(0.3),
                     unroll=unroll, likely=self.chance(0.2), expect=self.pick([0, 0, 5]), body=body)]

    def loop(self):
        """Bounded by a count; often by a condition of the data, too."""
        var = self.fresh('n')
        count = Var(var, 'f64', (), 8.0, fixed=True)
        start = Stmt('assign', name=var, expr=lit('f64', float(self.pick([0, 0, 0, 9]))), typed=None)
        self.define(count)
        test = op('<', name_of(count), lit('f64', self.below(3) + 0.5), (), 'bool')
        own = self.chance(0.3)
        if not own and self.chance(0.5):
            test = op('&&', self.expr('bool', (), 2), test, ())
        body = self.loop_body([], True)
        if body is None:
            del self.scopes[-1][var]
            return None
        step = Stmt('assign', name=var, expr=op('+', name_of(count), lit('f64', 1.0), ()), typed=None)
        loop = Stmt('while', test=test, likely=self.chance(0.6), expect=self.pick([0, 0, 20]), body=body + [step])
        if not own:
            return [start, loop]
        go = Var(self.fresh('go'), 'bool', (), 1, fixed=True)        # while go { ...; go = test }
        self.define(go)
        loop.test = name_of(go)
        loop.body.append(Stmt('assign', name=go.name, expr=test, typed=None))
        return [start, Stmt('assign', name=go.name, expr=test, typed=None), loop]

    def loop_body(self, names, leaves):
        kept, self.leaves = self.leaves, leaves
        try:
            return self.inside(names, 1 + self.below(4))
        finally:
            self.leaves = kept

    def leave(self):
        """The end of the loop around it."""
        test = self.expr('bool', (), 2)
        body = (self.inside([], 1) if self.chance(0.4) else []) or []
        if body and body[-1].kind == 'break':
            return None
        return [Stmt('if', test=test, likely=self.chance(0.5), body=body + [Stmt('break')], other=[])]

    def branch(self):
        if self.chance(0.3):
            numbers = [v for v in self.visible() if v.elem == 'i64' and v.fixed and v.dims == ()]
            test = op('>', name_of(self.pick(numbers)), lit('i64', 0), (), 'bool') if numbers else self.expr('bool', (), 2)
        else:
            test = self.expr('bool', (), 2)
        body = self.inside([], 1 + self.below(3))
        if body is None:
            return None
        other = self.inside([], 1 + self.below(2)) if self.chance(0.6) else []
        return [Stmt('if', test=test, likely=self.chance(0.5), body=body, other=other or [])]

    def outputs(self):
        names = [v for v in self.scopes[0].values() if v.name[0] == 'v']
        for v in names[-12:]:
            self.program.outputs.append((v.name, name_of(v)))
        made = []
        for v in self.scopes[0].values():
            if v.length:
                made.append((f'o{v.name}', Expr('get', v.elem, v.dims, [lit('i64', self.below(v.length))], name=v.name)))
        self.program.outputs += made
        stored = [v for v in self.scopes[0].values() if v.name[0] == 'W' and not is_batch(v.of)]
        if stored and self.chance(0.6):  # a sparse value
            v = self.pick(stored)
            self.program.outputs.append((v.name, Expr('name', v.elem, v.dims, name=v.name, at=v.of)))
        self.expression_outputs(self.pick([0, 0, 1, 2]))
        self.program.outputs += self.sums_of_entries()
        if not self.program.outputs:
            self.program.outputs.append(('o', self.value_of('f64', ('N',), 0)))  # a leaf, which there always is

    def expression_outputs(self, count):
        for _ in range(count):
            try:
                made = self.value_of(self.some_elem(), self.some_dims(), 2)
                self.program.outputs.append((self.fresh('o'), made))
            except NoSuchThing:
                pass

    def make(self):
        self.program.wild = self.chance(0.06)
        self.dimensions()
        self.element_types()
        self.constants()
        self.inputs()
        self.lists()
        body = []
        while self.statements_left > 0:
            try:
                body += self.block(4) or [s for s in self.define_name() or []]
            except NoSuchThing:
                continue  # a function asked for an id that it has not
        self.program.body = body
        self.outputs()
        reducers = assumable(self.program)
        self.program.assumed = [name for name in self.program.assumed if name in reducers]
        self.program.identities = [i for i in self.program.identities if i[0] in reducers]
        vary(self.program, self.random)
        return self.program


def generate(seed, files=False):
    return Generator(seed, files).make()
