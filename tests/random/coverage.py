"""Which combinations of two the plans that ran have reached, and which of those that the rules allow they have not.

Features come from the plans (plan_features.h): of each operator, IR's and scalar ones (with a dot), its element type, its
state, the kind of region around it and the control around that; the strategy and the mode are the request's. What is
allowed stands below, after docs/ir.md, docs/language.md and the state rules; a plan that has what is not in here is an error
of these tables, and told.
"""
from itertools import combinations

from plans import STRATEGIES, SYNCS

FACTORS = ['operator', 'element', 'state', 'region', 'control', 'strategy', 'sync']
NUMBERS = ['f64', 'f32', 'i64', 'i32']
ELEMENTS = NUMBERS + ['bool', 'id', 'array', 'tuple']
STATES = ['part', 'cons', 'pre', 'shared', 'shared-pre', 'shared-part']
REGIONS = ['none', 'iter_on_vec', 'mxm', 'product_epilogue', 'row_chain', 'rows']
CONTROLS = ['straight', 'while', 'for', 'if']

# operator: (element types, states, regions). A state is that of the first result, or of what an output or yield hands on.
ANYWHERE = ['none', 'iter_on_vec', 'product_epilogue', 'row_chain', 'rows']
WHERE_HELD = ['part', 'cons', 'shared']
IR = {
    'input': (ELEMENTS + ['null'], ['part', 'shared', 'sparse', 'compressed'], ['none']),
    'param': (ELEMENTS, ['shared'], ['none']),
    'literal': (NUMBERS + ['bool', 'array', 'tuple'], ['shared'], ['none']),
    'fill': (NUMBERS + ['bool', 'array', 'tuple'], WHERE_HELD, ['none']),
    'index': (['id'], WHERE_HELD, ['none']),
    'size': (['i64'], ['shared'], ['none']),
    'map': (ELEMENTS, ['part', 'cons', 'pre', 'shared'], ANYWHERE),
    'reduce': (ELEMENTS, ['part', 'cons', 'pre', 'shared', 'shared-pre'], ANYWHERE),
    'range': (ELEMENTS, WHERE_HELD, ANYWHERE[:2] + ['row_chain', 'rows']),
    'at': (ELEMENTS, WHERE_HELD, ANYWHERE[:2] + ['row_chain', 'rows']),
    'transpose': (ELEMENTS, WHERE_HELD, ['none']),
    'mxv': (ELEMENTS, ['pre', 'shared-pre', 'shared'], REGIONS[:1] + REGIONS[2:]),
    'mxvt': (ELEMENTS, ['pre', 'part', 'shared'], REGIONS[:1] + REGIONS[2:]),
    'fold_rows': (ELEMENTS, ['pre', 'part'], ['none', 'mxm', 'rows']),
    'fold_cols': (ELEMENTS, ['pre', 'shared-pre'], ['none', 'mxm', 'rows']),
    'entries': (NUMBERS + ['tuple'], ['part'], ['none', 'rows']),
    'align': (NUMBERS, ['part'], ['none']),
    'meet': (NUMBERS, ['part'], ['none']),
    'scan': (NUMBERS, WHERE_HELD, ['none']),
    'sort': (NUMBERS, WHERE_HELD, ['none']),
    'argsort': (['id'], WHERE_HELD, ['none']),
    'take': (ELEMENTS, WHERE_HELD, ['none']),
    'reduce_by': (ELEMENTS, WHERE_HELD + ['shared-pre'], ['none']),
    'slice': (ELEMENTS, WHERE_HELD, ['none']),
    'concat': (ELEMENTS, WHERE_HELD, ['none']),
    'reshape': (ELEMENTS, WHERE_HELD, ['none']),
    'pick': (ELEMENTS, WHERE_HELD, ['none']),
    'observe': (['i64'], ['shared'], ['none']),
    'within': (['i64'], ['shared'], ['none']),
    'contract': (['bool'], ['part'], ['none']),  # the place of an element of a square array
    'apply': (ELEMENTS, ['shared'], ['none']),
    'list': (NUMBERS + ['bool', 'array'], WHERE_HELD, ['none']),
    'get': (NUMBERS + ['bool', 'array'], WHERE_HELD, ['none']),
    'put': (NUMBERS + ['bool', 'array'], WHERE_HELD, ['none']),
    'push': (NUMBERS + ['bool', 'array'], WHERE_HELD, ['none']),
    'batch': (NUMBERS + ['bool'], [], ['none']),
    'gather': (ELEMENTS, ['part', 'shared-part'], ['none', 'product_epilogue']),
    'relayout': (ELEMENTS, WHERE_HELD, ['none']),  # of plans with layouts
    'scatter': (ELEMENTS, ['cons', 'shared'], ['none']),
    'while': (ELEMENTS, WHERE_HELD, ['none']),
    'for': (ELEMENTS, WHERE_HELD, ['none']),
    'if': (ELEMENTS, WHERE_HELD, ['none']),
    'region': (ELEMENTS, STATES[:5], ['none']),
    'yield': (ELEMENTS, STATES[:5], REGIONS),
    'output': (ELEMENTS, ['part', 'cons', 'shared'], ['none']),
}
# What operators inside of a region make (verify/regions.cpp): loops over rows of a product work on masters.
IN_REGION = {'iter_on_vec': ['part', 'cons', 'pre', 'shared', 'shared-pre'], 'mxm': ['part', 'pre', 'shared-pre'],
             'product_epilogue': ['part', 'pre', 'shared-pre'], 'row_chain': ['part', 'pre', 'shared-pre'],
             'rows': ['part', 'pre', 'shared-pre']}
COMPARED = NUMBERS + ['bool', 'id']
SCALAR = {
    **dict.fromkeys(['add', 'sub', 'mul', 'neg', 'abs', 'floor_div', 'mod', 'sum', 'prod'], NUMBERS),
    **dict.fromkeys(['div', 'pow', 'exp', 'log', 'log1p', 'expm1', 'sqrt', 'erf', 'tanh', 'sin', 'cos', 'floor', 'ceil',
                     'cbrt', 'exp2', 'log2', 'log10', 'sinh', 'cosh', 'tan', 'asin', 'acos', 'atan', 'asinh', 'acosh', 'atanh'],
                    ['f64', 'f32']),
    **dict.fromkeys(['lt', 'le', 'gt', 'ge'], NUMBERS + ['id']), 'eq': COMPARED, 'ne': COMPARED,
    **dict.fromkeys(['and', 'or', 'not'], ['bool']), 'min': NUMBERS + ['id'], 'max': NUMBERS + ['id'], 
    **dict.fromkeys(['mix64', 'bit_and', 'bit_or', 'bit_xor', 'bit_not', 'bit_count', 'leading_zeros', 'trailing_zeros', 'shift_left', 'shift_right'], ['i64']), 'fmod': ['f64', 'f32'],
    'select': ELEMENTS, 'cast': NUMBERS + ['bool'], 'tuple': ['tuple'], 'component': NUMBERS + ['bool', 'id', 'array'],
    'element': NUMBERS + ['bool', 'id'], 'build': ['array'], 'constant': NUMBERS + ['bool'],
}


def tables():
    """operator: its (elements, states, regions)"""
    work = (['part', 'cons', 'pre', 'shared', 'shared-pre'], REGIONS)
    return {**IR, **{'.' + name: (elements,) + work for name, elements in SCALAR.items()}}


def allowed_pairs():
    """Every pair of values of two factors, but for those that the rules exclude."""
    table = tables()
    values = {'operator': list(table), 'element': ELEMENTS, 'state': STATES, 'region': REGIONS, 'control': CONTROLS,
              'strategy': STRATEGIES, 'sync': SYNCS}
    pairs = set()
    for a, b in combinations(FACTORS, 2):
        pairs |= {(a, x, b, y) for x in values[a] for y in values[b] if possible(table, a, x, b, y)}
    return pairs


def possible(table, a, x, b, y):
    if a == 'operator':
        elements, states, regions = table[x]
        limits = {'element': elements, 'state': states, 'region': regions}
        if b in limits:
            return y in limits[b]
        return not (b == 'control' and x in ('input', 'param', 'output') and y != 'straight') and not (
            b == 'strategy' and x == 'region' and y == 'none')
    if (a, b) == ('state', 'region'):
        return y == 'none' or x in IN_REGION[y]
    if (a, b) == ('element', 'region') and y == 'row_chain':
        return True
    if (a, b) == ('region', 'strategy'):
        return x == 'none' or y != 'none'
    return True


class Coverage:
    def __init__(self):
        self.reached, self.plans = {}, 0

    def add(self, run, request):
        """The features of a run's plan, if it is told of."""
        self.plans += bool(run.features)
        for feature in run.features:
            values = tuple(feature) + (request.strategy, request.sync)
            for (i, a), (j, b) in combinations(enumerate(FACTORS), 2):
                key = (a, values[i], b, values[j])
                self.reached[key] = self.reached.get(key, 0) + 1

    def report(self, listed=False):
        """Lines of a table: for each two factors what is allowed, what was reached, and what is left."""
        allowed = allowed_pairs()
        lines = [f'combinations of two in {self.plans} plans', '', '| | allowed | reached | left |', '| --- | --- | --- | --- |']
        total = [0, 0]
        for a, b in combinations(FACTORS, 2):
            pairs = {p for p in allowed if (p[0], p[2]) == (a, b)}
            there = pairs & set(self.reached)
            total = [total[0] + len(pairs), total[1] + len(there)]
            lines.append(f'| {a} x {b} | {len(pairs)} | {len(there)} | {len(pairs) - len(there)} |')
        lines.append(f'| all | {total[0]} | {total[1]} | {total[0] - total[1]} |')
        if listed:
            lines += [''] + [f'not reached: {x} x {y}' for a, x, b, y in sorted(allowed - set(self.reached))]
        return lines

    def unknown(self):
        """What plans have and the tables do not: sparse, compressed and null apart, which are inputs alone."""
        ours = {p for p in self.reached if not {'sparse', 'null', 'compressed'} & set(p)}
        return sorted(ours - allowed_pairs())
