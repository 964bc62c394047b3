"""Arrays that are others in another shape or by other names: ranges, slices, parts of sums, transposes, renames."""
from gen_base import Base
from tree import NUMBERS, Expr


class ViewPart(Base):
    def view(self, elem, dims, depth):
        how = self.below(3)
        if how == 0:
            return self.range_of(elem, dims, depth)
        if how == 1:
            return self.at_of(elem, dims, depth)
        if len(dims) != 2 or dims[0] == dims[1] or not any(self.program.is_local(d) for d in dims):
            return None
        array = self.expr(elem, dims[::-1], depth)
        return Expr('transpose', elem, dims, [array], bound=array.bound)

    def range_of(self, elem, dims, depth):
        """K of the indices of C, which has more."""
        if 'K' not in dims or 'C' in dims or 'C' not in self.program.dims:
            return None
        whole = tuple('C' if d == 'K' else d for d in dims)
        array = self.leaf(elem, whole) if self.chance(0.5) else self.expr(elem, whole, depth)
        begin = self.place_in(self.size('C') - self.size('K') + 1)
        return Expr('range', elem, dims, [array, begin], bound=array.bound, over='C', dim='K', alone=self.alone(whole))

    def alone(self, dims):
        """Is but one of them local?"""
        return sum(self.program.is_local(d) for d in dims) == 1

    def at_of(self, elem, dims, depth):
        ways = [w for w in self.shapes if len(w) == len(dims) + 1 and len(set(w)) == len(w)
                and tuple(d for d in w if d in dims) == dims]
        ways = [(w, d) for w in ways for d in w if d not in dims and self.program.is_local(d) and self.size(d) > 0]
        if not ways:
            return None
        whole, d = self.pick(ways)
        array = self.expr(elem, whole, depth)
        return Expr('at', elem, dims, [array, self.place_in(self.size(d))], bound=array.bound, over=d, alone=self.alone(whole))

    def has_places(self, dims):
        """Whether single elements are read and set: of square arrays that are cut, beside dense inputs alone."""
        square = [d for d in dims if dims.count(d) > 1]
        return all(self.program.is_local(d) for d in square) or self.all_dense()

    def all_dense(self):
        """Whether axes that are cut may get layouts."""
        return not any(v.sparse for v in self.program.inputs)

    def pick_one(self, elem, dims, depth):
        """One element of an array, as a single value."""
        ways = [w for w in self.shapes if w and self.has_places(w) and all(self.size(d) > 0 for d in w)]
        if dims or elem not in NUMBERS + ('bool',) or not ways:
            return None
        whole = self.pick(ways)
        array = self.leaf(elem, whole) if self.chance(0.5) else self.expr(elem, whole, depth)
        return Expr('pick_one', elem, (), [array] + [self.place_in(self.size(d)) for d in whole], bound=array.bound)

    # -- other shapes

    def rearrangements(self, dims):
        """The derived dimensions of a result that are made of others; None for dimensions that their product is cut into."""
        have = self.program.dims
        if not self.in_default_layout(dims):
            return []
        ways = [d for d in dims if have[d].derived and (self.program.is_local(d) or self.all_dense())]
        parts = [s.name for s in have['S'].sources] if 'S' in have and 'S' not in dims else []
        ways += [('S', d) for d in dims if parts.count(d) == 1]
        return ways + [None] * ('FK' in have and ('F', 'K') in zip(dims, dims[1:]))

    def rearranged(self, elem, dims, depth):
        have = self.program.dims
        to = self.pick(self.rearrangements(dims))
        if to is None:
            at = dims.index('F')
            array = self.expr(elem, dims[:at] + ('FK',) + dims[at + 2:], depth)
            return Expr('reshape', elem, dims, [array], bound=array.bound, to=self.pick(['[F, K]', 'F, K']))
        if isinstance(to, tuple):
            return self.part_of_sum(elem, dims, depth, *to)
        how, names = have[to].how, [d.name for d in have[to].sources]
        if set(names) & set(dims):
            return None
        at, parts = dims.index(to), [names] if how == '*' else [[n] for n in names]
        arrays = [self.expr(elem, dims[:at] + tuple(part) + dims[at + 1:], depth) for part in parts]
        kind = {'slice': 'slice', '+': 'concat', '*': 'reshape', 'some': 'pick'}[how]
        by = self.displacement(have[to]) if kind == 'slice' else 0
        return Expr(kind, elem, dims, arrays, bound=max(a.bound for a in arrays), dim=to, to=to, by=by, source=names[0])

    def part_of_sum(self, elem, dims, depth, whole, part):
        """One part of an array over a sum, or what stands some places from it."""
        array = self.expr(elem, tuple(whole if d == part else d for d in dims), depth)
        sources = self.program.dims[whole].sources
        before = sum(s.size for s in sources[:[s.name for s in sources].index(part)])
        by = self.random.randint(-before, self.size(whole) - before - self.size(part)) if self.size(part) > 0 and self.chance(0.6) else 0
        return Expr('slice', elem, dims, [array], bound=array.bound, dim=part, to=part, by=by, source=whole)

    def longer(self, dims):
        """Local dimensions of their own whose sizes the plan knows, each with a longer one whose first elements it takes."""
        have = self.program.dims
        if not self.in_default_layout(dims):
            return []
        own = [d for d in dims if have[d].local and not have[d].derived and have[d].known]
        return [(d, s) for d in own for s in have if have[s].local and not have[s].block and s not in dims and have[s].size >= have[d].size]

    def leading(self, elem, dims, depth):
        own, whole = self.pick(self.longer(dims))
        array = self.expr(elem, tuple(whole if d == own else d for d in dims), depth)
        return Expr('leading', elem, dims, [array], bound=array.bound, dim=own, source=whole)

    def displacement(self, line):
        """Some number of places that leaves all of a slice inside of its dimension."""
        size = line.sources[0].size
        indices = range(size)[slice(*line.bounds)]
        if not indices or self.chance(0.2):
            return 0
        return self.random.randint(-min(indices), size - 1 - max(indices))

    # -- other names

    def renamed(self, elem, dims, depth):
        """Of an array with F for G, or G for F, in some places."""
        if not self.in_default_layout(tuple(d for d in dims if d not in ('F', 'G'))) or not {'F', 'G'} & set(dims):
            return None
        source = tuple(self.pick(['F', 'G']) if d in ('F', 'G') else d for d in dims)
        if source == dims or source.count('G') > 1 or not self.fits(source):
            return None
        array = self.expr(elem, source, depth)
        return Expr('as', elem, dims, [array], bound=array.bound)
