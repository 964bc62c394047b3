"""Loops over the blocks of a dimension's rows, `for b in blocks(R, 3) { v = x[b] ... }`: inputs over R that they alone read,
and in their bodies anything over the rows R of one block."""
from gen_base import call, lit, name_of, op
from gen_product import ProductPart
from tree import NUMBERS, Dim, Expr, Stmt, Var

SHAPES = [('R',), ('R', 'F')]


class BlockPart(ProductPart):
    def block_loop(self):
        if self.files or self.depth > 1 or self.chance(0.4):
            return None
        arrays, matrix = self.inputs_in_blocks()
        var = self.fresh('b')
        counter = Var(var, 'i64', (), max(1, self.size('R_blocks')), fixed=True)
        kept = self.shapes, self.places, self.in_blocks
        self.in_blocks = True
        self.shapes, self.places = kept[0] + SHAPES * 3, kept[1] + SHAPES
        self.scopes.append({var: counter})
        try:
            first = [self.block_of(v, counter) for v in arrays]
            if matrix is not None and self.chance(0.7):
                first.append(self.batch_of(matrix, name_of(counter), rows=True))
            total, before = self.total()
            body = self.inside([], 1 + self.below(4)) or []
            body.append(self.added(total))
        finally:
            self.scopes.pop()
            self.shapes, self.places, self.in_blocks = kept
        self.define(total)
        return [before, Stmt('for', var=var, begin=0, end=self.size('R_blocks'), bound=None, down=self.chance(0.3), unroll=False,
                             likely=self.chance(0.2), expect=self.pick([0, 0, 5]), body=first + body,
                             rows=('R', self.program.dims['R']))]

    def inputs_in_blocks(self):
        """The same for all loops of a program."""
        have = self.program.dims
        if 'R' not in have:
            have['R_blocks'] = Dim('R_blocks', True, self.pick([0, 1, 2, 2, 3, 5]), False, 'count')
            have['R'] = Dim('R', False, self.pick([1, 2, 3, 4, 7, 8, 9, 17, 33]), True, 'rows')
            for i in range(1 + self.below(3)):
                dims = self.pick([('R_blocks', 'R'), ('R_blocks', 'R', 'F')])
                self.add_rows(Var(f'r{i}', self.pick(self.all_elems()), dims, 6.0))
            if self.size('R_blocks') and not self.all_dense():  # else what stands above may need layouts
                v = Var('RS', self.pick(['null', 'bool', 'f64', *NUMBERS]), ('R', 'F'), 4.0, sparse=True)
                v.batches = 'R_blocks'
                self.add_rows(v)
        mine = [v for v in self.program.inputs if v.name[0] == 'r' or v.name == 'RS']
        return [v for v in mine if not v.sparse], next((v for v in mine if v.sparse), None)

    def add_rows(self, v):
        v.fixed = True
        self.program.inputs.append(v)

    def block_of(self, v, counter):
        view = Expr('at', v.elem, v.dims[1:], [name_of(v), name_of(counter)], over='R_blocks', bound=v.bound, alone=False, rows=True)
        made = self.define(Var(self.fresh('v'), v.elem, v.dims[1:], v.bound))  # a view, until it is assigned
        return Stmt('assign', name=made.name, expr=view, typed=None)

    def total(self):
        """A number that the loop adds to, so that each block tells."""
        v = Var(self.fresh('v'), 'f64', (), 100.0, fixed=True)
        return v, Stmt('assign', name=v.name, expr=lit('f64', 0.5), typed=None)

    def added(self, total):
        shape = self.pick(SHAPES)
        elem = self.pick(['f64', 'i64'])
        part = Expr('reduce', elem, (), [self.leaf(elem, shape)], spelling='sum', over=None)
        part = call('tanh', [part if elem == 'f64' else call('f64', [part], (), 'f64')], (), 'f64')
        return Stmt('assign', name=total.name, expr=op('+', op('*', name_of(total), lit('f64', 0.5), ()), part, ()), typed=None)
