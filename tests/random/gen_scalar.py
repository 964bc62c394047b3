"""Element-wise expressions of every scalar operator and element type."""
from gen_base import Base, call, lit, name_of, op
from tree import FLOATS, INTS, NUMBERS, Expr, is_arr, is_id, is_scalar, is_tup

INF = float('inf')


class ScalarPart(Base):
    """expr(elem, dims, depth): an expression of that type; `leaf` and `array_forms` are those of the other parts."""

    def expr(self, elem, dims, depth):
        dims = tuple(dims)
        if depth <= 0 or self.chance(0.08):
            return self.leaf(elem, dims)
        if self.names_of_params is None and self.chance(0.25):
            made = self.array_form(elem, dims, depth)
            if made is not None:
                return made
        if is_arr(elem):
            return self.small_array(elem, dims, depth)
        if is_tup(elem):
            return self.tuple_of(elem, dims, depth)
        if is_id(elem):
            return self.id_of(elem, dims, depth)
        forms = self.FLOAT if elem in FLOATS else self.INT if elem in INTS else self.BOOL
        for _ in range(8):
            made = self.pick(forms)(self, elem, dims, depth - 1)
            if made is not None:
                return made
        return self.leaf(elem, dims)

    def operands(self, elems, dims, depth, called=False):
        """One expression for each type: one of them has all dimensions, the others some. What is called combines its
        arguments in an order of its own, so that those with fewer dimensions have the same or none."""
        full, some = self.below(len(elems)), self.sub_dims(dims)
        made = []
        for i, elem in enumerate(elems):
            fewer = self.pick([some, ()]) if called else self.sub_dims(dims)
            at = dims if i == full or self.chance(0.5) else fewer
            made.append(self.expr(elem, at, depth - (0 if i == full else 1)))
        return made

    # -- floating point

    def arithmetic(self, elem, dims, depth):
        a, b = self.operands([elem, elem], dims, depth)
        symbol = self.pick(['+', '-', '*', '*'])
        if symbol == '*':
            if elem in INTS and a.bound * b.bound > 1e6:
                a, b = self.tame(a), self.tame(b)
            return op('*', a, b, dims, bound=a.bound * b.bound)
        return op(symbol, a, b, dims, bound=a.bound + b.bound)

    def with_literal(self, elem, dims, depth):
        """a + b * x and its like: laws are asked of them."""
        a, k = self.expr(elem, dims, depth), self.literal(elem)
        symbol = self.pick(['+', '-', '*'])
        bound = a.bound * k.bound if symbol == '*' else a.bound + k.bound
        if elem in INTS and bound > 1e8:
            return None
        return op(symbol, *((a, k) if self.chance(0.5) else (k, a)), dims, bound=bound)

    def quotient(self, elem, dims, depth):
        source = self.pick([elem, elem, 'i64', 'i32']) if elem == 'f64' else elem
        a, b = self.operands([source, source], dims, depth)
        if source in INTS and elem == 'f64' and self.chance(0.3):
            b = self.expr('f64', b.dims, 0)
        if self.chance(0.1):
            return op('/', a, b, dims, elem, bound=INF)
        size = call('abs', [b], b.dims)
        below = op('+', self.positive(b.elem), size, b.dims)
        return op('/', a, below, dims, elem, bound=2 * a.bound)

    def function(self, elem, dims, depth):
        a = self.expr(elem, dims, depth)
        fn = self.pick(['sqrt', 'exp', 'log', 'log1p', 'expm1', 'erf', 'tanh', 'sin', 'cos', 'floor', 'ceil', 'abs'])
        if self.chance(0.3):
            return self.rarer_function(elem, dims, a)
        if fn in ('sqrt', 'log', 'log1p') and not self.chance(0.05):
            a = call('abs', [a], dims, bound=a.bound)
            if fn == 'log':
                a = op('+', a, lit(elem, 0.5), dims, bound=a.bound + 1)
        elif fn in ('exp', 'expm1', 'sin', 'cos'):
            a = self.tame(a)
            if a.bound > 20:
                a = call('tanh', [a], dims)
        elif fn in ('sqrt', 'log', 'log1p'):
            return call(fn, [a], dims, bound=INF)
        bound = {'exp': 3000, 'expm1': 3000, 'floor': a.bound + 1, 'ceil': a.bound + 1, 'abs': a.bound,
                 'sqrt': a.bound + 1, 'log': 20, 'log1p': 20}.get(fn, 1)
        if a.bound == INF and fn not in ('erf', 'tanh'):
            bound = INF
        return call(fn, [a], dims, bound=bound if a.bound < INF or fn == 'tanh' else INF)

    def remainder(self, elem, dims):
        """Of integers, which no rounding moves to the other side of a multiple."""
        a, b = self.operands(['i64', 'i64'], dims, 0)
        return call('fmod', [call(elem, [x], x.dims, elem, bound=x.bound) for x in (a, b)], dims, elem, bound=INF)

    def rarer_function(self, elem, dims, a):
        if self.chance(0.05):
            return self.remainder(elem, dims)
        fn = self.pick(['cbrt', 'exp2', 'log2', 'log10', 'sinh', 'cosh', 'tan', 'asin', 'acos', 'atan', 'asinh', 'acosh', 'atanh',
                        'square', 'reciprocal', 'sign', 'trunc', 'round', 'copysign', 'hypot', 'atan2'])
        if fn in ('copysign', 'hypot', 'atan2'):
            b = self.expr(elem, self.sub_dims(dims), 0)
            return call(fn, [a, b], dims, bound={'atan2': 4, 'copysign': a.bound}.get(fn, a.bound + b.bound))
        if fn == 'square':
            return call(fn, [a], dims, bound=a.bound ** 2) if a.bound < 1e6 else None
        if fn == 'reciprocal':
            return call(fn, [op('+', self.positive(elem), call('abs', [a], dims), dims)], dims, bound=2)
        outside = self.chance(0.05)
        if fn in ('log2', 'log10', 'acosh') and not outside:
            a = op('+', call('abs', [a], dims, bound=a.bound), lit(elem, 1.0), dims, bound=a.bound + 1)
        elif fn in ('asin', 'acos', 'atanh', 'tan') and not outside:
            a = op('*', lit(elem, 0.5), call('tanh', [a], dims), dims, bound=0.5)
        elif fn in ('exp2', 'sinh', 'cosh'):
            a = self.tame(a)
            if a.bound > 20:
                a = call('tanh', [a], dims)
        elif outside and fn in ('log2', 'log10', 'acosh', 'asin', 'acos', 'atanh', 'tan'):
            return call(fn, [a], dims, bound=INF)
        if a.bound == INF:
            return call(fn, [a], dims, bound=INF)
        return call(fn, [a], dims, bound={'cbrt': a.bound + 1, 'exp2': 3000, 'sinh': 3000, 'cosh': 3000, 'sign': 1,
                                          'trunc': a.bound + 1, 'round': a.bound + 1}.get(fn, 20))

    def power(self, elem, dims, depth):
        a = self.expr(elem, dims, depth)
        if self.chance(0.6):
            n = self.pick([2, 3])
            if elem in INTS and a.bound ** n > 1e6:
                return None
            return Expr('op', elem, dims, [a, lit('i64', n)], bound=a.bound ** n if a.bound < 1e50 else INF, op='^')
        if elem in INTS:
            return None
        if self.chance(0.2):
            power = op('^', lit(elem, self.pick([0.5, 1.5, 2.0])), self.tame(self.expr(elem, dims, 0), 3.0), dims, bound=8)
            return Expr('neg', elem, dims, [power], bound=8) if self.chance(0.5) else power
        base = op('+', call('abs', [self.tame(a)], dims), lit(elem, 0.5), dims)
        exponent = self.tame(self.expr(elem, self.sub_dims(dims), 0), 3.0)
        if self.chance(0.5):
            return call('pow', [base, exponent], dims, bound=1e4)
        return op('^', base, exponent, dims, bound=1e4)

    def floored(self, elem, dims, depth):
        if elem in INTS and self.chance(0.3):
            a, b = self.operands([elem, elem], dims, depth)      # by 0, too
        else:
            a, b = self.expr(elem, dims, depth), self.positive(elem)
        if elem in FLOATS and a.bound > 1e6:
            return None
        symbol = self.pick(['//', '%'])
        bound = 2 * a.bound + 1 if symbol == '//' else b.bound if b.kind == 'lit' else a.bound + b.bound
        return op(symbol, a, b, dims, bound=bound)

    def least(self, elem, dims, depth):
        a, b = self.operands([elem, elem], dims, depth)
        return call(self.pick(['min', 'max']), [a, b], dims, bound=max(a.bound, b.bound))

    def chosen(self, elem, dims, depth):
        test, a, b = self.operands(['bool', elem, elem], dims, depth)
        return Expr('if', elem, dims, [test, a, b], bound=max(a.bound, b.bound))

    def negative(self, elem, dims, depth):
        a = self.expr(elem, dims, depth)
        return Expr('neg', elem, dims, [a], bound=a.bound)

    def size_of(self, elem, dims, depth):
        a = self.expr(elem, dims, depth)
        return call('abs', [a], dims, bound=a.bound)

    def converted(self, elem, dims, depth):
        source = self.pick([s for s in NUMBERS + ('bool',) if s != elem])
        if elem in INTS and self.ids() and self.chance(0.3):
            source = ('id', self.pick(self.ids()))
            a = self.expr(source, dims, depth)
            return call(elem, [a], dims, elem, bound=self.size(source[1]))
        a = self.expr(source, dims, depth)
        if elem in INTS and source in FLOATS and a.bound < 1e6 and self.chance(0.5):
            a = op('*', a, lit(source, 3.7), dims, bound=4 * a.bound)     # not whole
        bound = a.bound if elem in FLOATS or a.bound < 1e9 else INF
        return call(elem, [a], dims, elem, bound=max(1.0, bound))

    def coordinate(self, elem, dims, depth):
        count = self.pick([2, 3])
        p = self.expr(('arr', elem, count), dims, depth)
        if self.chance(0.25):
            index = self.tame(self.expr('i64', self.sub_dims(dims), 0))      # outside, too
        else:
            index = lit('i64', self.below(count))
        return Expr('coord', elem, dims, [p, index], bound=p.bound)

    def component(self, elem, dims, depth):
        tuples = [t for t in self.tuple_types() if elem in t[1]]
        if not tuples:
            return None
        t = self.pick(tuples)
        value = self.expr(t, dims, depth)
        return Expr('comp', elem, dims, [value], bound=value.bound, index=self.pick(
            [i for i, part in enumerate(t[1]) if part == elem]))

    def over_coordinates(self, elem, dims, depth):
        count = self.pick([2, 3])
        points = [self.a_name(('arr', elem, count), dims) for _ in range(self.pick([1, 2]))]
        if None in points:
            return None
        var = self.fresh('j')
        j = Expr('name', 'i64', (), bound=count, name=var)
        parts = [Expr('coord', elem, dims, [p, j], bound=p.bound) for p in points]
        body = parts[0] if len(parts) == 1 else op(self.pick(['*', '-']), *parts, dims, bound=parts[0].bound ** 2)
        if self.chance(0.3):
            body = op('*', body, call(elem, [j], (), elem, bound=count), dims, bound=body.bound * count)
        which = self.pick(['sum', 'prod', 'prod', 'min', 'max'])
        bound = body.bound if which in ('min', 'max') else body.bound * count if which == 'sum' else body.bound ** count
        if elem in INTS and bound > 1e7:
            which, bound = 'sum', body.bound * count
        return Expr('over', elem, dims, [body], bound=bound, which=which, var=var, count=count)

    def a_name(self, elem, dims):
        """What may stand inside of a coordinate loop, where whole arrays are not made."""
        known = self.find(elem, dims)
        return name_of(self.pick(known)) if known else None

    # -- whole numbers

    def mixed(self, elem, dims, depth):
        if elem != 'i64':
            return None
        a, b = self.operands(['i64', 'i64'], dims, depth)
        return op('%', self.of_bits(a, b, dims), lit('i64', 100), dims, bound=100)

    def of_bits(self, a, b, dims):
        fn = self.pick(['mix64', 'bit_and', 'bit_or', 'bit_xor', 'bit_not', 'shift_left', 'shift_right', 'bit_count', 'leading_zeros', 'trailing_zeros'])
        if fn in ('bit_not', 'bit_count', 'leading_zeros', 'trailing_zeros'):
            fn, a = 'bit_xor', call(fn, [a], a.dims, bound=1e18)
        return call(fn, [a, b], dims, bound=1e18)

    # -- truth

    def compared(self, elem, dims, depth):
        kinds = list(NUMBERS) + ['bool'] + [('id', d) for d in self.ids()]
        kind = self.pick(kinds)
        a, b = self.operands([kind, kind], dims, depth)
        ordered = ['==', '!=', '<', '<=', '>', '>=']
        return op(self.pick(ordered if kind != 'bool' else ordered[:2]), a, b, dims, 'bool')

    def logic(self, elem, dims, depth):
        a, b = self.operands(['bool', 'bool'], dims, depth)
        return op(self.pick(['&&', '||']), a, b, dims)

    def inverted(self, elem, dims, depth):
        return Expr('not', 'bool', dims, [self.expr('bool', dims, depth)])

    def truth(self, elem, dims, depth):
        if self.chance(0.3):
            return call(self.pick(['isnan', 'isinf', 'isfinite']), [self.expr(self.pick(FLOATS), dims, depth)], dims, 'bool')
        return call('bool', [self.expr(self.pick(NUMBERS), dims, depth)], dims, 'bool')

    # -- ids, small arrays and tuples

    def id_of(self, elem, dims, depth):
        how = self.below(3)
        a, b = self.operands([elem, elem], dims, depth - 1)
        if how == 0:
            return call(self.pick(['min', 'max']), [a, b], dims)
        if how == 1:
            return self.chosen(elem, dims, depth - 1)
        return self.component(elem, dims, depth - 1) or self.leaf(elem, dims)

    def small_array(self, elem, dims, depth):
        how = self.below(6)
        if how == 0:
            return self.chosen(elem, dims, depth - 1)
        if how == 1:
            return self.component(elem, dims, depth - 1) or self.leaf(elem, dims)
        if how == 2:
            parts = self.operands([elem[1]] * elem[2], dims, depth - 1)
            return Expr('small', elem, dims, parts, bound=max(p.bound for p in parts))
        if how == 3:
            return self.built(elem, dims, depth - 1)
        return self.call_of(elem, dims, depth - 1) or self.leaf(elem, dims)

    def built(self, elem, dims, depth):
        p = self.a_name(elem, dims)
        if p is None:
            return self.leaf(elem, dims)
        var = self.fresh('j')
        j = Expr('name', 'i64', (), bound=elem[2], name=var)
        part = Expr('coord', elem[1], dims, [p, self.turned(j, elem[2])], bound=p.bound)
        other = self.a_name(elem[1], self.sub_dims(dims)) or self.literal(elem[1])
        symbol = self.pick(['+', '-', '*'])
        bound = part.bound * other.bound if symbol == '*' else part.bound + other.bound
        if elem[1] in INTS and bound > 1e6:
            return p
        return Expr('build', elem, dims, [op(symbol, part, other, dims, bound=bound)], bound=bound, var=var, count=elem[2])

    def turned(self, j, count):
        """The coordinate itself, from behind, or the next."""
        how = self.below(3)
        if how == 0:
            return j
        if how == 1:
            return op('-', lit('i64', count - 1), j, ())
        return op('%', op('+', j, lit('i64', 1), ()), lit('i64', count), ())

    def tuple_of(self, elem, dims, depth):
        how = self.below(4)
        if how == 0:
            return self.chosen(elem, dims, depth - 1)
        if how == 1:
            return self.call_of(elem, dims, depth - 1) or self.leaf(elem, dims)
        parts = self.operands(list(elem[1]), dims, depth - 1)
        return Expr('tuple', elem, dims, parts, bound=max(p.bound for p in parts))

    def called(self, elem, dims, depth):
        return self.call_of(elem, dims, depth)

    SHARED = [arithmetic, arithmetic, arithmetic, with_literal, with_literal, least, chosen, negative, size_of, converted,
              coordinate, component, over_coordinates, over_coordinates, power, floored, called, called]
    FLOAT = SHARED + [quotient, quotient, function, function, function]
    INT = SHARED + [mixed, floored]
    BOOL = [compared, compared, compared, logic, logic, inverted, truth, chosen, component, called]
