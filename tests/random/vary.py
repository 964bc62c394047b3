"""Other spellings of the same program: operators by name, map of a built-in, literals without a type, .T and the like.
Each expression gets a number, `style`, which text.py looks at; 0 is the plain one."""
from tree import functions_in, statements


def roots(program):
    for s in statements(program.body):
        yield from s.exprs()
    yield from (e for _, e in program.outputs)


def vary(program, random):
    for e in roots(program):
        spell(e, random, False)
    for f in program.fns:
        for e in [e for _, e in f.steps] + [f.body]:
            spell(e, random, True)
    for s in statements(program.body):
        s.style = random.randrange(4)
        s.in_def = random.randrange(5) == 0
    for s in statements(program.body):
        if getattr(s, 'rows', None):  # the rows of a block have no name in a def
            for inner in statements(s.body):
                inner.in_def = False


def spell(e, random, inside):
    """inside: of a function or a coordinate loop, where whole arrays are not made."""
    style = random.randrange(12)
    e.info['style'] = style if style not in (2, 4) or not inside else 0
    for i, arg in enumerate(e.args):
        spell(arg, random, inside or e.kind in ('over', 'build') or (e.kind == 'map' and i == 0))
    for body in functions_in(e):
        spell(body, random, True)
