"""Functions: the program's own, written in place, those that mix coordinates, and reducers with what their identity is."""
from gen_base import Base, call, limit_of, lit, name_of, op
from tree import BIT_REDUCERS, FLOATS, INTS, Expr, Fn, Var, is_arr, is_id, is_scalar, is_tup, kind_of

INF = float('inf')


def param(name, elem, bound=None):
    return Expr('name', elem, (), bound=limit_of(elem) if bound is None else bound, name=name)


def coord(p, j):
    j = lit('i64', j) if isinstance(j, int) else j
    return Expr('coord', p.elem[1], (), [p, j], bound=p.bound)


def comp(t, i):
    return Expr('comp', t.elem[1][i], (), [t], bound=t.bound, index=i)


def build(elem, var, body):
    return Expr('build', elem, (), [body], bound=body.bound, var=var, count=elem[2])


def tuple_expr(elem, parts):
    return Expr('tuple', elem, (), parts, bound=max(p.bound for p in parts))


def used_params(params, steps, body):
    """Those that count: a call has the dimensions of what its function looks at."""
    used, pending = set(), [body]
    known = dict(steps)
    while pending:
        for e in pending.pop().walk():
            if e.kind == 'name' and e.info['name'] not in used:
                used.add(e.info['name'])
                if e.info['name'] in known:
                    pending.append(known[e.info['name']])
    return [(n, t) for n, t in params if n in used]


class FunctionPart(Base):
    # -- calls

    def call_of(self, elem, dims, depth):
        """A call of a function of the program's own with that result, or a map of one written in place."""
        if self.names_of_params is not None:
            return self.call_in_function(elem, dims, depth)
        if len(self.program.fns) > 12:
            return None
        if self.chance(0.3):
            return self.map_in_place(elem, dims, depth)
        known = [f for f in self.program.fns if f.body.elem == elem and f.name[0] in 'fmr' and f.name not in self.program.assumed]
        f = self.pick(known) if known and self.chance(0.6) else self.new_fn(elem)
        if f is None:
            return None
        args = [self.tame(a) for a in self.operands([t for _, t, _ in f.params], dims, depth, True)]
        mapped = self.chance(0.4)
        return Expr('fn', elem, dims, args, bound=f.body.bound, name=f.name, mapped=mapped)

    def call_in_function(self, elem, dims, depth):
        """Of a function that stands there already: none calls itself."""
        known = [f for f in self.program.fns if f.body.elem == elem and f.name[0] in 'fm']
        if not known or depth <= 0 or self.chance(0.5):
            return None
        f = self.pick(known)
        args = [self.tame(self.expr(t, dims, 0)) for _, t, _ in f.params]
        return Expr('fn', elem, dims, args, bound=f.body.bound, name=f.name, mapped=False)

    def map_in_place(self, elem, dims, depth):
        elems = [self.some_elem() for _ in range(1 + self.below(3))]
        params = [(self.fresh('p'), t) for t in elems]
        body = self.body_of(elem, params, sees_shareds=True)
        params = used_params(params, [], body)
        if not params:
            return None
        elems = [t for _, t in params]
        args = [self.tame(a) for a in self.operands(elems, dims, depth, True)]
        spelling = self.pick(['map', 'map', 'zipwith', 'Map', 'ZipWith'])
        return Expr('map', elem, dims, [body] + args, bound=body.bound, params=[(n, None) for n, _ in params],
                    spelling=spelling)

    def body_of(self, elem, params, sees_shareds=False, depth=2, tamed=False):
        """An expression of the parameters (and, of maps, single values around them)."""
        kept = self.scopes, self.names_of_params
        scope = {n: Var(n, t, (), limit_of(t)) for n, t in params}
        if sees_shareds:
            scope.update({v.name: v for v in self.visible() if v.dims == () and not v.length})
        self.scopes, self.names_of_params = [scope], params
        try:
            made = self.expr(elem, (), depth)
            return self.tame(made) if tamed else made
        finally:
            self.scopes, self.names_of_params = kept

    def new_fn(self, elem):
        if is_arr(elem) and self.chance(0.8):
            f = self.mixing_fn(elem)
        else:
            params = [(f'x{i}', self.pick([elem, self.some_elem()])) for i in range(1 + self.below(3))]
            f = self.plain_fn(elem, params)
        if f.params:
            self.program.fns.append(f)
        return f if f.params else None

    def plain_fn(self, elem, params):
        steps = []
        if self.chance(0.3):
            inner = self.some_elem()
            step = self.body_of(inner, params, depth=1, tamed=True)
            steps.append((self.fresh('t'), step))
        known = params + [(n, e.elem) for n, e in steps]
        body = self.body_of(elem, known)
        used = used_params(known, steps, body)
        steps = [s for s in steps if (s[0], s[1].elem) in used]
        return Fn(self.fresh('f'), [(n, t, self.chance(0.5)) for n, t in params if (n, t) in used], steps, body)

    def mixing_fn(self, elem):
        """Each coordinate needs others: none of them may be stored before all are read."""
        scalar, count = elem[1], elem[2]
        m, n = param('m', elem), param('n', elem)
        j = Expr('name', 'i64', (), bound=count, name='j')
        behind = op('-', lit('i64', count - 1), j, ())
        following = op('%', op('+', j, lit('i64', 1), ()), lit('i64', count), ())
        forms = {
            'swap': ([m], Expr('small', elem, (), [coord(m, count - 1 - i) for i in range(count)], bound=m.bound)),
            'reverse': ([m], build(elem, 'j', coord(m, behind))),
            'rotate': ([m], build(elem, 'j', coord(m, following))),
            'differ': ([m], build(elem, 'j', op('-', coord(m, j), coord(m, following), (), bound=2 * m.bound))),
            'cross': ([m, n], build(elem, 'j', op('-', op('*', coord(m, following), coord(n, behind), (), bound=m.bound ** 2),
                                                  coord(n, j), (), bound=m.bound ** 2 + n.bound))),
        }
        if scalar in FLOATS:
            total = Expr('over', scalar, (), [call('abs', [coord(m, Expr('name', 'i64', (), name='i'))], ())],
                         which='sum', var='i', count=count)
            forms['normalise'] = ([m], build(elem, 'j', op('/', coord(m, j), op('+', lit(scalar, 1.0), total, ()), ())))
            if count == 2:
                real = op('-', op('*', coord(m, 0), coord(n, 0), ()), op('*', coord(m, 1), coord(n, 1), ()), ())
                imaginary = op('+', op('*', coord(m, 0), coord(n, 1), ()), op('*', coord(m, 1), coord(n, 0), ()), ())
                forms['complex'] = ([m, n], Expr('small', elem, (), [real, imaginary], bound=2 * m.bound ** 2))
        params, body = forms[self.pick(sorted(forms))]
        return Fn(self.fresh('mix'), [(p.info['name'], elem, self.chance(0.5)) for p in params], [], body)

    # -- reducers: (what primitives take, stated identity or None for built-in ones)

    def reducer(self, elem, count):
        """(function, identity), for about `count` elements: of a reducer without an identity that is None."""
        if is_scalar(elem):
            return self.scalar_reducer(elem, count)
        a, b = param('a', elem), param('b', elem)
        if is_arr(elem):
            j = Expr('name', 'i64', (), name='j')
            part, identity = self.pair_of(elem[1], coord(a, j), coord(b, j))
            body, identity = build(elem, 'j', part), [identity] * elem[2]
        else:
            parts = [self.part_reducer(t, comp(a, i), comp(b, i)) for i, t in enumerate(elem[1])]
            body, identity = tuple_expr(elem, [p for p, _ in parts]), tuple(i for _, i in parts)
            if self.nearest_fits(elem) and self.chance(0.4):
                body, identity = self.nearest(elem, a, b)
        return self.as_function(elem, a, b, body), identity

    def part_reducer(self, elem, a, b):
        if is_arr(elem):
            j = Expr('name', 'i64', (), name='j')
            part, identity = self.pair_of(elem[1], coord(a, j), coord(b, j))
            return build(elem, 'j', part), [identity] * elem[2]
        return self.pair_of(elem, a, b)

    def pair_of(self, scalar, a, b):
        """(one of the reducers with an identity, on these two operands, the identity)"""
        if scalar == 'bool':
            symbol = self.pick(['&&', '||'])
            return op(symbol, a, b, ()), symbol == '&&'
        if is_id(scalar):
            largest = self.chance(0.5)
            return call('max' if largest else 'min', [a, b], ()), -2 ** 63 if largest else 2 ** 63 - 1
        if scalar == 'i64' and self.chance(0.4):
            fn = self.pick(list(BIT_REDUCERS))
            return call(fn, [a, b], ()), BIT_REDUCERS[fn]
        ends = {'i64': 2 ** 63 - 1, 'i32': 2 ** 31 - 1}.get(scalar, INF)
        how = self.below(3)
        if how == 0:
            return op('+', a, b, ()), 0
        if how == 1:
            return call('min', [a, b], ()), ends
        return call('max', [a, b], ()), -ends if scalar in FLOATS else -ends - 1

    def nearest_fits(self, elem):
        return is_tup(elem) and len(elem[1]) == 2 and elem[1][0] in FLOATS and (elem[1][1] in INTS or is_id(elem[1][1]))

    def nearest(self, elem, a, b):
        less = op('<', comp(b, 0), comp(a, 0), (), 'bool')
        ties = op('&&', op('==', comp(b, 0), comp(a, 0), (), 'bool'), op('<', comp(b, 1), comp(a, 1), (), 'bool'), ())
        body = Expr('if', elem, (), [op('||', less, ties, ()), b, a])
        return body, (INF, 2 ** 31 - 1 if elem[1][1] == 'i32' else 2 ** 63 - 1)

    def as_function(self, elem, a, b, body):
        """Written in place, or a function of the program's own."""
        if self.chance(0.5):
            return [(a.info['name'], None), (b.info['name'], None)], body
        name = self.fresh('r')
        assumed = self.chance(0.25)
        self.program.fns.append(Fn(name, [('a', elem, assumed or self.chance(0.5)), ('b', elem, assumed)], [], body))
        if assumed:
            self.program.assumed.append(name)
        return name

    def scalar_reducer(self, elem, count):
        if elem == 'bool':
            return self.pick(['&&', '||', 'and', 'or']), None
        if is_id(elem):
            return self.pick(['min', 'max']), None
        if elem == 'i64' and self.chance(0.25):
            return self.pick(list(BIT_REDUCERS)), None
        if self.chance(0.7):
            return self.pick(['+', 'min', 'max', 'add', 'min', 'max']), None
        a, b = param('a', elem), param('b', elem)
        if self.chance(0.5):                         # without an identity
            body = op('+', op('+', a, b, ()), lit(elem, 3), ())
            r = self.as_function(elem, a, b, body)
            if isinstance(r, tuple) or self.chance(0.5):
                return r, None
            value = self.literal(elem).info['value']
            self.program.identities.append((r, elem, value))
            return r, value
        body = op('+', a, b, ())
        if elem in FLOATS and count < 20:
            body = op('-', body, op('*', a, b, ()), ())
        return self.as_function(elem, a, b, body), 0
