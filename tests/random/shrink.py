"""Makes a failing program small: fewer outputs and statements, operands in place of expressions, smaller dimensions, as
long as it fails in the same way."""
from text import program_text
from tree import Expr, assumable, expressions, statements

SMALL = [1, 2, 3, 5, 8, 9, 17]


def blocks_of(program):
    def inside(block):
        yield block
        for s in block:
            for inner in s.blocks():
                yield from inside(inner)
    return list(inside(program.body))


def roots_of(program):
    """(get, set) of each expression that is no part of another."""
    def attribute(thing, name):
        return lambda: getattr(thing, name), lambda e: setattr(thing, name, e)

    def item(pairs, i):
        return lambda: pairs[i][1], lambda e: pairs.__setitem__(i, (pairs[i][0], e))
    for s in statements(program.body):
        for name in ('expr', 'test', 'index'):
            if isinstance(getattr(s, name, None), Expr):
                yield attribute(s, name)
    for pairs in (program.outputs, program.lists):
        for i in range(len(pairs)):
            yield item(pairs, i)
    for f in program.fns:
        yield attribute(f, 'body')
        for i in range(len(f.steps)):
            yield item(f.steps, i)


def simpler(program, e):
    """What may stand in an expression's place."""
    if 'at' in e.info or e.kind == 'batch':
        return
    same = [d for d in e.walk() if d is not e and d.elem == e.elem and d.dims == e.dims and d.kind != 'lit']
    same.sort(key=lambda d: -sum(1 for _ in d.walk()))
    yield from same[:6]
    known = [v for v in program.inputs if v.elem == e.elem and v.dims == e.dims and not v.sparse]
    if known and e.kind != 'name':
        yield Expr('name', e.elem, e.dims, name=known[0].name)
    if isinstance(e.elem, str) and e.kind not in ('lit', 'name') and e.info.get('sparse') is None:
        one = Expr('lit', e.elem, (), value=True if e.elem == 'bool' else 2)
        if e.kind != 'fill' and len(set(e.dims)) == len(e.dims):
            yield Expr('fill', e.elem, e.dims, [one]) if e.dims else one


def without_unused(program):
    """Leaves out declarations that nothing uses."""
    used = {e.info.get('name') for e in expressions(program)}
    for e in expressions(program):
        used |= {f for f in (e.info.get('z'), e.info.get('r')) if isinstance(f, str)}
        used.add(e.info.get('batch_of'))
        used |= {m.name for m in (e.info.get('sparse'), e.info.get('entries'), e.info.get('at')) if m is not None}
    used |= {s.name for s in statements(program.body) if s.kind in ('push', 'put')}
    used |= {s.bound for s in statements(program.body) if s.kind == 'for'}
    program.fns = [f for f in program.fns if f.name in used]
    program.inputs = [v for v in program.inputs if v.name in used]
    program.lists = [(v, e) for v, e in program.lists if v.name in used]
    program.consts = [c for c in program.consts if c[0] in used]
    program.params = [c for c in program.params if c[0] in used]
    reducers = assumable(program)
    program.assumed = [name for name in program.assumed if name in reducers]
    program.identities = [i for i in program.identities if i[0] in reducers]
    return program


class Shrinker:
    def __init__(self, program, fails, most_tries=600):
        self.best, self.fails, self.left = program, fails, most_tries

    def keep(self, tried):
        if self.left <= 0 or program_text(tried) == program_text(self.best):
            return False
        self.left -= 1
        if not self.fails(tried):
            return False
        self.best = tried
        return True

    def run(self):
        self.keep(without_unused(self.best.copy()))
        smaller = True
        while smaller and self.left > 0:
            smaller = self.outputs() | self.statements() | self.unwrap() | self.expressions() | self.sizes()
            self.keep(without_unused(self.best.copy()))
        return self.best

    def outputs(self):
        smaller, i = False, 0
        while i < len(self.best.outputs) and len(self.best.outputs) > 1:
            tried = self.best.copy()
            del tried.outputs[i]
            if self.keep(tried):
                smaller = True
            else:
                i += 1
        return smaller

    def statements(self):
        smaller = False
        for size in (8, 4, 2, 1):
            b = 0
            while b < len(blocks_of(self.best)):
                at = len(blocks_of(self.best)[b])
                while at > 0:
                    tried = self.best.copy()
                    blocks = blocks_of(tried)
                    if b >= len(blocks):
                        break
                    del blocks[b][max(0, at - size):at]
                    smaller = self.keep(tried) or smaller
                    at -= size
                b += 1
        return smaller

    def unwrap(self):
        """What a loop or branch holds, in its place."""
        smaller, number = False, 0
        while True:
            tried = self.best.copy()
            places = [(block, i) for block in blocks_of(tried) for i, s in enumerate(block) if s.blocks()]
            if number >= len(places):
                return smaller
            block, i = places[number]
            block[i:i + 1] = block[i].body
            if self.keep(tried):
                smaller = True
            else:
                number += 1

    def expressions(self):
        smaller, root, node = False, 0, 0
        while self.left > 0:
            roots = list(roots_of(self.best))
            if root >= len(roots):
                return smaller
            nodes = sum(1 for _ in roots[root][0]().walk())
            if node >= nodes:
                root, node = root + 1, 0
            elif self.simplify(root, node):
                smaller = True
            else:
                node += 1
        return smaller

    def simplify(self, root, node):
        way = 0
        while True:
            tried = self.best.copy()
            get, put = list(roots_of(tried))[root]
            e = list(get().walk())[node]
            ways = list(simpler(tried, e))
            if way >= len(ways):
                return False
            if node == 0:
                put(ways[way])
            else:
                parent = next(p for p in get().walk() if any(a is e for a in p.args))
                parent.args = [ways[way] if a is e else a for a in parent.args]
            if self.keep(tried):
                return True
            way += 1

    def sizes(self):
        smaller = False
        for name in [d.name for d in self.best.dims.values() if not d.derived]:
            for size in SMALL:
                if size >= self.best.dims[name].size:
                    break
                tried = self.best.copy()
                tried.dims[name].size = size
                if self.keep(tried):
                    smaller = True
                    break
        return smaller


def shrink(program, fails, most_tries=600):
    return Shrinker(program, fails, most_tries).run()
