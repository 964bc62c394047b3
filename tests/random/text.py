"""Programs as .ks text."""
from axes import axes_defs, name_of_def
from tree import is_arr, is_id, is_tup, statements

# Binding strengths of docs/language.md; whatever is not listed never needs brackets.
STRENGTH = {'||': 1, '&&': 2, '==': 3, '!=': 3, '<': 3, '<=': 3, '>': 3, '>=': 3, '+': 4, '-': 4, '*': 5, '/': 5, '//': 5,
            '%': 5, 'neg': 6, 'not': 6, '@': 6.5, '^': 7}


def elem_text(elem):
    if is_id(elem):
        return f'id[{elem[1]}]'
    if is_arr(elem):
        return f'[{elem_text(elem[1])}; {elem[2]}]'
    if is_tup(elem):
        return '(' + ', '.join(elem_text(part) for part in elem[1]) + ')'
    return elem


def type_text(elem, dims):
    return elem_text(elem) + (f'[{", ".join(dims)}]' if dims else '')


def number_text(elem, value):
    if elem == 'bool':
        return 'true' if value else 'false'
    if elem in ('i64', 'i32'):
        text = str(abs(int(value))) + ('i32' if elem == 'i32' else '')
        return text if value >= 0 else f'(-{text})'
    if value != value:
        return 'nan' if elem == 'f64' else 'f32(nan)'
    if abs(value) == float('inf'):
        text = 'inf' if elem == 'f64' else 'f32(inf)'
    else:
        text = repr(abs(float(value))) + ('f32' if elem == 'f32' else '')
    negative = value < 0 or (value == 0 and str(float(value))[0] == '-')
    return f'(-{text})' if negative else text


def arguments(e, first=0):
    return ', '.join(expr_text(a) for a in e.args[first:])


def over_text(e):
    return ', over ' + ', '.join(e.info['over']) if e.info.get('over') else ''


def bracketed(e, below):
    """Brackets unless e binds tighter than `below`."""
    text = expr_text(e)
    if e.kind in ('op', 'neg', 'not', 'product', 'if'):
        strength = {'op': STRENGTH.get(e.info.get('op'), 0), 'neg': 6, 'not': 6, 'product': 6.5, 'if': 0}[e.kind]
        if e.kind == 'product' and e.info['z']:
            return text
        if strength <= below:
            return f'({text})'
    return text


NAMES = {'+': 'add', '-': 'sub', '*': 'mul', '/': 'div', '//': 'floor_div', '%': 'mod', '==': 'eq', '!=': 'ne', '<': 'lt',
         '<=': 'le', '>': 'gt', '>=': 'ge', '&&': 'and', '||': 'or'}


def slice_text(e):
    """A slice, displaced, or index notation that is one."""
    by = f' {"-" if e.info["by"] < 0 else "+"} {abs(e.info["by"])}' if e.info['by'] else ''
    if style(e) < 2 or len(e.dims) == 1 or e.args[0].kind != 'name':
        return f'slice({arguments(e)}, {e.info["dim"]}{by})'
    names = [f'i{n}' for n in range(len(e.dims))]
    indices = [name + (by if d == e.info['dim'] else '') for name, d in zip(names, e.dims)]
    return f'[{", ".join(f"{n} in {d}" for n, d in zip(names, e.dims))}: {arguments(e)}[{", ".join(indices)}]]'


def style(e):
    return e.info.get('style', 0)


def has_type(e):
    """Does it have a type that no literal gives? (consts are like literals)"""
    return any(d.kind == 'name' and d.info['name'][0] in 'vxLa' for d in e.walk())


def bare_literals(e):
    """The operands' texts, a literal's without its type where the other side gives it one."""
    texts = [None, None]
    for i, (a, other) in enumerate(zip(e.args, e.args[::-1])):
        if a.kind == 'lit' and a.elem in ('f64', 'f32', 'i32') and has_type(other) and abs(a.info['value']) < 1e6:
            number = a.info['value']
            texts[i] = repr(abs(int(number) if number == int(number) else float(number)))
            if number < 0:
                texts[i] = f'(-{texts[i]})'
    return texts


def infix(e):
    op = e.info['op']
    strength = STRENGTH[op]
    left, right = e.args
    if style(e) == 1 and op in NAMES:
        return f'{NAMES[op]}({arguments(e)})'
    if style(e) == 2 and op in NAMES:
        return f'map({op if strength != 3 else NAMES[op]}, {arguments(e)})'
    if style(e) == 3 and strength in (4, 5) and op != '/' and left.elem == right.elem:
        a, b = bare_literals(e)
        return f'{a or bracketed(left, strength - 1)} {op} {b or bracketed(right, strength)}'
    if style(e) == 4 and strength == 3 and not e.dims:  # of a single bool, this bool
        return f'{("any", "all")[len(op) % 2]}({bracketed(left, strength)} {op} {bracketed(right, strength)})'
    if op == '^':
        return f'{bracketed(left, strength)} ^ {bracketed(right, strength)}'
    compares = strength == 3
    return f'{bracketed(left, strength if compares else strength - 1)} {op} {bracketed(right, strength)}'


def primary(e):
    """Brackets around everything that a postfix cannot follow."""
    text = expr_text(e)
    plain = ('name', 'fn', 'call', 'reduce', 'coord', 'comp', 'get', 'tuple', 'param')
    return text if e.kind in plain else f'({text})'


def function_text(f):
    """A function where a primitive takes one: an operator, a name, or (params, body)."""
    if isinstance(f, str):
        return f
    params, body = f
    names = ', '.join(p if not t else f'{p}: {elem_text(t)}' for p, t in params)
    head = names if len(params) == 1 and not params[0][1] else f'({names})'
    return f'{head} -> {expr_text(body)}'


def product_text(e):
    matrix, vector = e.args
    turned = e.info['transposed']      # G' @ x: mxv
    if e.info['z']:
        name = ('mxv' if turned else 'mxvt') if e.info['spelling'] else ('MxV' if turned else 'MxVT')
        pair = [expr_text(matrix), expr_text(vector)]
        if e.info['vector_first']:
            pair.reverse()
        return f'{name}({function_text(e.info["z"])}, {function_text(e.info["r"])}, {pair[0]}, {pair[1]})'
    if e.info['vector_first'] and len(vector.dims) == 1:
        return f'{bracketed(vector, 6)} @ {primary(matrix)}' + ('' if turned else "'")
    mark = '' if not turned else '.T' if style(e) == 1 else "'"
    return f'{primary(matrix)}{mark} @ {bracketed(vector, 6.5)}'


def along_text(e):
    """The reduced array, and its axis: by name, or as `rows` and `columns`, which need no names of a square array."""
    array, over = e.args[0], e.info.get('over') or ()
    if style(e) % 3 or len(array.dims) != 2 or len(set(array.dims)) != 2 or len(over) != 1:
        return arguments(e) + over_text(e)
    square = array.kind == 'as' and len(set(array.args[0].dims)) == 1
    word = 'rows' if over[0] == array.dims[0] else ('cols', 'columns')[len(over[0]) % 2]
    return f'{expr_text(array.args[0] if square else array)}, over {word}'


def reduce_text(e):
    how = e.info['spelling']
    if how == 'reduce':
        return f'reduce({function_text(e.info["r"])}, {along_text(e)})'
    return f'{how}({along_text(e)})'


def group_text(e):
    array, keys = e.args
    function = function_text(e.info['r']) + ', ' if e.info['spelling'] == 'reduce' else ''
    by = f'by ({expr_text(keys)})'
    if keys.elem != ('id', e.info['into']) or style(e) % 2:
        by += f' in {e.info["into"]}'
    if set(keys.dims) != set(e.info['over']) or style(e) == 3:
        by = over_text(e)[2:] + ', ' + by if style(e) > 4 else by + over_text(e)
    return f'{e.info["spelling"]}({function}{expr_text(array)}, {by})'


def call_text(e):
    return f'map({e.info["fn"]}, {arguments(e)})' if style(e) == 2 else f'{e.info["fn"]}({arguments(e)})'


def outer_text(e):
    if e.info['z']:
        return f'outer({function_text(e.info["z"])}, {arguments(e)})'
    if style(e) == 1 and all(len(a.dims) == 1 for a in e.args):
        return f"({bracketed(e.args[0], 6)} @ {primary(e.args[1])}')"
    return f'outer({arguments(e)})'


def range_text(e):
    over = '' if e.info['alone'] and style(e) % 2 else f', over {e.info["over"]}'
    begin = e.args[1]
    if begin.kind == 'lit' and begin.info['value'] == 0 and style(e) > 5:
        return f'range({expr_text(e.args[0])}, {e.info["dim"]}{over})'
    return f'range({expr_text(e.args[0])}, {e.info["dim"]}, {expr_text(begin)}{over})'


def at_text(e):
    if e.info.get('rows'):
        return f'{expr_text(e.args[0])}[{arguments(e, 1)}]'
    return f'at({arguments(e)}' + ('' if e.info['alone'] and style(e) % 2 else f', over {e.info["over"]}') + ')'


def batch_text(e):
    if e.info['rows']:
        return f'{e.info["batch_of"]}[{arguments(e)}]'
    return f'at({e.info["batch_of"]}, {arguments(e)}' + ('' if style(e) % 2 else f', over {e.info["over"]}') + ')'


def axis_text(e):
    return '' if e.info['alone'] and style(e) % 2 else over_text(e)


def scan_text(e):
    r = e.info['r']
    names = {'+': 'cumsum', '*': 'cumprod', 'max': 'cummax', 'min': 'cummin'}
    if style(e) % 3:
        return f'{names[r]}({arguments(e)}{axis_text(e)})'
    return f'scan({r}, {arguments(e)}{axis_text(e)})'


FORMS = {
    'lit': lambda e: number_text(e.elem, e.info['value']),
    'name': lambda e: e.info['name'],
    'op': infix,
    'neg': lambda e: '-' + bracketed(e.args[0], 6),
    'not': lambda e: '!' + bracketed(e.args[0], 6),
    'call': call_text,
    'if': lambda e: f'if {expr_text(e.args[0])} then {bracketed(e.args[1], 0)} else {bracketed(e.args[2], 0)}',
    'coord': lambda e: f'{primary(e.args[0])}[{expr_text(e.args[1])}]',
    'comp': lambda e: f'{primary(e.args[0])}.{e.info["index"]}',
    'small': lambda e: f'[{arguments(e)}]',
    'tuple': lambda e: f'({arguments(e)})',
    'over': lambda e: f'{e.info["which"]}({e.info["var"]} in {e.info["count"]}: {expr_text(e.args[0])})',
    'build': lambda e: f'[{e.info["var"]} in {e.info["count"]}: {expr_text(e.args[0])}]',
    'fn': lambda e: (f'map({e.info["name"]}, {arguments(e)})' if e.info['mapped'] else f'{e.info["name"]}({arguments(e)})'),
    'map': lambda e: f'{e.info["spelling"]}({function_text((e.info["params"], e.args[0]))}, {arguments(e, 1)})',
    'reduce': reduce_text,
    'arg': lambda e: f'{e.info["which"]}({arguments(e)}{over_text(e)})',
    'product': product_text,
    'turned': lambda e: f"{primary(e.args[0])}'",
    'gram': lambda e: f"({primary(e.args[0])}' @ {primary(e.args[1])})",
    'meet': lambda e: f"({primary(e.args[0])} @ {primary(e.args[1])})",
    'pairs': lambda e: f"({bracketed(e.args[0], 6)} @ {primary(e.args[1])}')",
    'dot': lambda e: f'dot({arguments(e)})' if e.info['named'] else f'({bracketed(e.args[0], 6)} @ {primary(e.args[1])})',
    'outer': outer_text,
    'fill': lambda e: f'fill({arguments(e)}, {", ".join(e.dims)})',
    'index': lambda e: f'index({e.dims[0]})',
    'random': lambda e: f'{e.info["which"]}({arguments(e)}, {", ".join(e.dims)})',
    'size': lambda e: f'size({e.info["dim"]})',
    'scan': scan_text,
    'sort': lambda e: f'{e.info["which"]}({arguments(e)}{axis_text(e)})',
    'take': lambda e: f'take({arguments(e)}{over_text(e)})',
    'group': group_text,
    'slice': slice_text,
    'leading': lambda e: f'leading({arguments(e)}, {e.info["dim"]}, over {e.info["source"]})',
    'concat': lambda e: f'concat({arguments(e)}, {e.info["dim"]})',
    'pick': lambda e: f'pick({arguments(e)}, mask{e.info["dim"]}, {e.info["dim"]})',
    'reshape': lambda e: f'reshape({arguments(e)}, {e.info["to"]})',
    'range': range_text,
    'at': at_text,
    'pick_one': lambda e: f'{primary(e.args[0])}[{arguments(e, 1)}]',
    'places': lambda e: arguments(e),
    'batch': batch_text,
    'as': lambda e: f'({primary(e.args[0])} as [{", ".join(e.dims)}])',
    'transpose': lambda e: primary(e.args[0]) + ('.T' if style(e) == 1 else "'"),
    'get': lambda e: f'{e.info["name"]}[{arguments(e)}]',
    'axes': lambda e: f'{name_of_def(e)}({arguments(e)})',
}


def expr_text(e):
    return FORMS[e.kind](e)


def loop_words(s):
    return (' likely' if s.likely else '') + (f' expect {s.expect}' if s.expect else '')


def names_in(e, own=()):
    """Names of the program that an expression has, in order."""
    if e.kind in ('name', 'get') and e.info['name'] not in own:
        yield e.info['name']
    if e.kind == 'batch':
        yield e.info['batch_of']
    if e.kind == 'pick':
        yield f'mask{e.info["dim"]}'
    for i, arg in enumerate(e.args):
        inner = [n for n, _ in e.info['params']] if e.kind == 'map' and i == 0 else []
        yield from names_in(arg, (*own, *inner, *([e.info['var']] if e.kind in ('over', 'build') else [])))


class Defs:
    """Functions of arrays that the text gets: each is called once. `visible`: names that they see without."""

    def __init__(self, visible):
        self.visible, self.lines = visible, []

    def call(self, e):
        names = ', '.join(dict.fromkeys(n for n in names_in(e) if n not in self.visible))
        head = f'part{len(self.lines)}({names})'
        body = expr_text(e)
        self.lines.append(f'def {head} = {body}' if style(e) % 2 else f'def {head} {{\n  return {body}\n}}')
        return head


def block_text(block, depth, defs=None):
    for s in block:
        yield from statement_text(s, '  ' * depth, depth, defs)


def statement_text(s, indent, depth, defs=None):
    if s.kind in ('assign', 'formula') and defs and getattr(s, 'in_def', False) and not getattr(s, 'typed', None):
        yield f'{indent}{s.name} = {defs.call(s.expr)}'
    elif s.kind in ('assign', 'formula'):
        typed = f' : {type_text(*s.typed)}' if getattr(s, 'typed', None) else ''
        yield f'{indent}{s.name}{typed} = {expr_text(s.expr)}'
    elif s.kind == 'put':
        yield f'{indent}{s.name}[{expr_text(s.index)}] = {expr_text(s.expr)}'
    elif s.kind == 'set':
        yield f'{indent}{s.name}[{expr_text(s.index)}] {s.change}= {expr_text(s.expr)}'
    elif s.kind == 'break':
        yield f'{indent}break'
    elif s.kind == 'list':
        yield f'{indent}list {s.name}[{s.length}] : {type_text(s.elem, s.dims)} = {expr_text(s.expr)}'
    elif s.kind == 'push':
        yield f'{indent}push({s.name}, {expr_text(s.expr)})'
    elif s.kind == 'for':
        end = s.bound or s.end
        span = f'blocks({s.rows[0]}, {s.rows[1].size})' if getattr(s, 'rows', None) else f'{s.begin}..{end}'
        span = f'reversed({span})' if s.down else span
        yield f'{indent}for {s.var} in {span}{" unroll" if s.unroll else ""}{loop_words(s)} {{'
    elif s.kind == 'while':
        yield f'{indent}while {expr_text(s.test)}{loop_words(s)} {{'
    else:
        yield f'{indent}if {expr_text(s.test)}{" likely" if s.likely else ""} {{'
    yield from blocks_text(s, indent, depth, defs)


def blocks_text(s, indent, depth, defs):
    if not s.blocks():
        return
    yield from block_text(s.body, depth + 1, defs)
    other = getattr(s, 'other', None)
    if other and len(other) == 1 and other[0].kind == 'if' and getattr(s, 'style', 0) == 1:
        first, *rest = statement_text(other[0], indent, depth, defs)
        yield f'{indent}}} else {first.strip()}'
        yield from rest
        return
    if other:
        yield f'{indent}}} else {{'
        yield from block_text(other, depth + 1, defs)
    yield indent + '}'


def fn_text(f):
    params = ', '.join(f'{n}: {elem_text(t)}' if typed else n for n, t, typed in f.params)
    if not f.steps:
        return f'fn {f.name}({params}) = {expr_text(f.body)}'
    steps = '\n'.join(f'  {n} = {expr_text(e)}' for n, e in f.steps)
    return f'fn {f.name}({params}) {{\n{steps}\n  {expr_text(f.body)}\n}}'


def input_text(v, is_local):
    """With the name of a file, for some: plans carry it, and a bundle has the data."""
    return input_type(v, is_local) + (f' = "data/{v.name}.npy"' if len(v.dims) == 1 and len(v.name) % 2 == 0 and v.elem != 'f32' else '')


def input_in_blocks(v, is_local):
    """Of a program that reads its rows block by block."""
    if v.batches and v.batches.endswith('_blocks'):
        return f'input {v.name} : sparse {type_text(v.elem, v.dims)}'
    if v.dims and v.dims[0].endswith('_blocks'):
        return f'input {v.name} : dense {type_text(v.elem, v.dims[1:])}'
    return input_text(v, is_local)


def input_type(v, is_local):
    cut = sum(not is_local(d) for d in v.dims)
    usual = cut >= 2 and len(v.dims) >= 2  # a matrix with two dimensions that are cut is sparse
    if v.batches:
        return f'input {v.name} : sparse {type_text(v.elem, (v.batches, *v.dims))}'
    word = '' if v.sparse == usual else 'sparse ' if v.sparse else 'dense '
    return f'input {v.name} : {word}{type_text(v.elem, v.dims)}'


def value_text(elem, value):
    """Of a const or a param."""
    if is_arr(elem):
        return '[' + ', '.join(number_text(elem[1], v) for v in value) + ']'
    if is_tup(elem):
        return '(' + ', '.join(value_text(t, v) for t, v in zip(elem[1], value)) + ')'
    return number_text('i64' if is_id(elem) else elem, value)


def program_text(p):
    lines = []
    in_blocks = any(getattr(s, 'rows', None) for s in statements(p.body))
    for d in p.dims.values():
        if d.block and in_blocks:
            lines += [f'dim {d.name}'] if d.block == 'rows' else []
            continue
        is_from = '' if d.derived and d.how == 'some' else '= '
        made = 'size(N)' if d.name == 'O' and len(p.inputs) % 2 else d.derived
        lines.append(f'dim {d.name}' + (' local' if d.local else '') +
                     (f' {is_from}{made}' if d.derived else f' = {d.size}' if d.known else ''))
    lines += [f'const {n} : {elem_text(t)} = {value_text(t, v)}' for n, t, v in p.consts]
    lines += [f'param {n} : {elem_text(t)} = {value_text(t, v)}' for n, t, v in p.params]
    lines += [(input_in_blocks if in_blocks else input_text)(v, p.is_local) for v in p.inputs]
    positive = [v.name for v in p.inputs if v.positive]
    lines += ['assume ' + ', '.join(f'{name} > 0' for name in positive)] if positive else []
    lines += [f'assume associative({name}), commutative({name})' for name in p.assumed]
    lines += [f'assume identity({name}, {number_text(elem, value)})' for name, elem, value in p.identities]
    lines += [fn_text(f) for f in p.fns]
    for d in p.dims.values():
        if d.derived and d.how == 'some':
            source = d.sources[0].name
            lines += [f'mask{d.name} = i64(index({source})) % {d.bounds[0]} != {d.bounds[1]}',
                      f'first{d.name} = pick(index({source}), mask{d.name}, {d.name})']
    lines += [f'list {v.name}[{v.length}] : {type_text(v.elem, v.dims)} = {"0" if is_arr(v.elem) else expr_text(e)}'
              for v, e in p.lists]
    defs = Defs({*p.dims, *(n for n, _, _ in p.consts)})
    lines += list(block_text(p.body, 0, defs))
    lines += defs.lines + axes_defs(p)
    if p.outputs:
        lines += [f'output {n} = {expr_text(e)}' if e.kind != 'name' or e.info['name'] != n else f'output {n}'
                  for n, e in p.outputs]
    return '\n'.join(lines) + '\n'
