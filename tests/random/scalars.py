"""Scalar operators on NumPy arrays, as docs/language.md tells them. Shares nothing with libcore.

A Rounding says how much what is rounded may be off: nothing, or (to see how far a program magnifies what rounding leaves
open) by a few units in the last place at random.
"""
import math

import numpy as np

TYPES = {'f64': np.float64, 'f32': np.float32, 'i64': np.int64, 'i32': np.int32, 'bool': np.bool_}
EPSILON = {'f64': 2.0 ** -52, 'f32': 2.0 ** -23}
_erf = np.vectorize(math.erf, otypes=[np.float64])


def numpy_type(scalar):
    return TYPES.get(scalar, np.int64)     # ids are positions


def ends(scalar):
    info = np.iinfo(numpy_type(scalar))
    return info.min, info.max


class Rounding:
    """seed None: exact rounding. Of seed 1 what is next to nothing is 0 where that is asked: differences of equal numbers
    may be either."""
    NEXT_TO_NOTHING = {'f64': 1e-9, 'f32': 1e-5}

    def __init__(self, seed=None):
        self.random = None if seed is None else np.random.default_rng(seed)
        self.flattens = seed == 1

    def is_zero(self, value, scalar):
        return np.abs(value) < self.NEXT_TO_NOTHING[scalar] if self.flattens and scalar in EPSILON else value == 0

    def off(self, value, scalar, units=1.0, scale=None):
        """`value` and up to so many units in the last place (of `scale`, if it is larger) more or less."""
        if self.random is None:
            return value
        wide = np.asarray(value, np.float64)
        r = self.random.uniform(0.5, 1.0, wide.shape) * self.random.choice([-1.0, 1.0], wide.shape)
        size = np.abs(wide) if scale is None else np.maximum(np.abs(wide), scale)
        moved = np.where(np.isfinite(wide), wide + r * units * EPSILON[scalar] * size, wide)
        return moved.astype(numpy_type(scalar))

    def step(self, op, value, a, b, scalar, cancels):
        """Of one operation: only where its exact result had to be rounded, or is the rounding of its operands alone (`cancels`: a sum)."""
        if self.random is None:
            return value
        wide = np.longdouble if scalar == 'f64' else np.float64
        exact = op(np.asarray(a).astype(wide), np.asarray(b).astype(wide))
        rounded = np.asarray(value).astype(wide) != exact
        moved = np.where(rounded, self.off(value, scalar), value).astype(numpy_type(scalar))
        if not cancels:
            return moved
        size = np.maximum(np.abs(np.asarray(a, np.float64)), np.abs(np.asarray(b, np.float64)))
        with np.errstate(all='ignore'):
            left = (np.asarray(value) != 0) & (np.abs(value) <= 64 * EPSILON[scalar] * size)
        return np.where(left, self.off(value, scalar, 16, size), moved).astype(numpy_type(scalar))


# Integers: the ends of the type are infinities.
def _with_ends(scalar, a, b, plain, signs):
    """plain(a, b) wrapped; where an end takes part, the infinity that signs(a, b) tells (0: the smallest)."""
    low, high = ends(scalar)
    a, b = np.broadcast_arrays(np.asarray(a), np.asarray(b))
    a_end, b_end = (a == low) | (a == high), (b == low) | (b == high)
    value = plain(a, b)
    sign = signs(np.where(a_end, np.where(a == low, -1, 1), 0), np.where(b_end, np.where(b == low, -1, 1), 0), a, b)
    return np.where(a_end | b_end, sign, value).astype(numpy_type(scalar))


def int_add(scalar, a, b):
    low, high = ends(scalar)
    return _with_ends(scalar, a, b, np.add, lambda x, y, *_: np.where((x < 0) | (y < 0), low, high))


def int_neg(scalar, a):
    low, high = ends(scalar)
    return np.where(a == low, high, np.where(a == high, low, -np.asarray(a))).astype(numpy_type(scalar))


def int_sub(scalar, a, b):
    low, high = ends(scalar)
    return _with_ends(scalar, a, b, np.subtract, lambda x, y, *_: np.where((x < 0) | (y > 0), low, high))


def int_mul(scalar, a, b):
    low, high = ends(scalar)

    def signs(_, __, p, q):
        return np.where((p == 0) | (q == 0), 0, np.where((p < 0) != (q < 0), low, high))
    return _with_ends(scalar, a, b, np.multiply, signs)


def int_floor_div(scalar, a, b):
    b = np.asarray(b)
    return np.where(b == 0, 0, np.floor_divide(a, np.where(b == 0, 1, b))).astype(numpy_type(scalar))


def int_mod(scalar, a, b):
    b = np.asarray(b)
    return np.where(b == 0, 0, np.mod(a, np.where(b == 0, 1, b))).astype(numpy_type(scalar))


def extremum(scalar, a, b, largest):
    a, b = np.broadcast_arrays(np.asarray(a), np.asarray(b))
    if scalar not in EPSILON:
        return np.maximum(a, b) if largest else np.minimum(a, b)
    nan = np.isnan(a) | np.isnan(b)
    first = (a > b) if largest else (a < b)
    negative = np.signbit(b) if largest else np.signbit(a)
    chosen = np.where(first | ((a == b) & negative), a, b)
    return np.where(nan, np.array(np.nan, a.dtype), chosen).astype(a.dtype)


COMPARISONS = {'==': np.equal, '!=': np.not_equal, '<': np.less, '<=': np.less_equal, '>': np.greater,
               '>=': np.greater_equal}
_REAL = {'+': np.add, '-': np.subtract, '*': np.multiply, '/': np.divide}
_INT = {'+': int_add, '-': int_sub, '*': int_mul, '//': int_floor_div, '%': int_mod}


def real_binary(rounding, op, scalar, a, b):
    if op in _REAL:
        return rounding.step(_REAL[op], _REAL[op](a, b), a, b, scalar, op in '+-')
    if op in ('//', '%'):
        quotient = np.floor(real_binary(rounding, '/', scalar, a, b)).astype(numpy_type(scalar))
        if op == '//':
            return quotient
        return real_binary(rounding, '-', scalar, a, real_binary(rounding, '*', scalar, b, quotient))
    if op == '^':
        return rounding.off(np.power(a, b), scalar, 4)
    raise KeyError(op)


def binary(rounding, op, scalar, a, b):
    """An infix operator on operands of one type."""
    if op in COMPARISONS:
        return COMPARISONS[op](a, b)
    if op == '&&':
        return np.logical_and(a, b)
    if op == '||':
        return np.logical_or(a, b)
    if scalar in EPSILON:
        return real_binary(rounding, op, scalar, a, b)
    return _INT[op](scalar, a, b)


def _mixed(a, b):
    z = np.asarray(a).astype(np.uint64) + (np.asarray(b).astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return (z ^ (z >> np.uint64(31))).astype(np.int64)


def mix64(a, b):
    return _mixed(a, b)


def _shift(a, b, right):
    a, b = np.broadcast_arrays(np.asarray(a, np.int64), np.asarray(b, np.int64))
    fits = (b >= 0) & (b < 64)
    by = np.where(fits, b, 0)
    return np.where(fits, np.right_shift(a, by), a >> 63) if right else np.where(fits, np.left_shift(a, by), 0)


def _digits(a):
    """Of each int64, its 64 bits, the lowest first."""
    return (np.asarray(a, np.int64).astype(np.uint64)[..., None] >> np.arange(64, dtype=np.uint64)) & np.uint64(1)


def _zeros(digits):
    return np.where(digits.any(-1), digits.argmax(-1), 64).astype(np.int64)


BITS = {'bit_count': lambda a: _digits(a).sum(-1).astype(np.int64), 'trailing_zeros': lambda a: _zeros(_digits(a)),
        'leading_zeros': lambda a: _zeros(_digits(a)[..., ::-1]),
        'mix64': mix64, 'bit_and': np.bitwise_and, 'bit_or': np.bitwise_or, 'bit_xor': np.bitwise_xor, 'bit_not': np.bitwise_not,
        'shift_left': lambda a, b: _shift(a, b, False), 'shift_right': lambda a, b: _shift(a, b, True)}


def uniform(bits):
    return np.floor_divide(bits, 2048).astype(np.float64) * 2.0 ** -53 + 0.5


def normal(rounding, key):
    radius = np.sqrt(-2.0 * np.log(1.0 - uniform(mix64(key, np.int64(0)))))
    return rounding.off(radius * np.cos(2 * np.pi * uniform(mix64(key, np.int64(1)))), 'f64', 8)


_ROUNDED = {'exp': np.exp, 'log': np.log, 'log1p': np.log1p, 'expm1': np.expm1, 'erf': lambda x: _erf(x), 'tanh': np.tanh,
            'sin': np.sin, 'cos': np.cos, 'cbrt': np.cbrt, 'exp2': np.exp2, 'log2': np.log2, 'log10': np.log10, 'sinh': np.sinh,
            'cosh': np.cosh, 'tan': np.tan, 'asin': np.arcsin, 'acos': np.arccos, 'atan': np.arctan, 'asinh': np.arcsinh,
            'acosh': np.arccosh, 'atanh': np.arctanh}
_EXACT = {'floor': np.floor, 'ceil': np.ceil, 'trunc': np.trunc, 'round': np.rint, 'sign': np.sign}
TESTS = {'isnan': np.isnan, 'isinf': np.isinf, 'isfinite': np.isfinite}
PAIRS = ('copysign', 'hypot', 'atan2', 'fmod')


def unary(rounding, fn, scalar, a):
    kind = numpy_type(scalar)
    if fn == 'abs':
        return np.abs(a) if scalar in EPSILON else np.where(np.asarray(a) < 0, int_neg(scalar, a), a).astype(kind)
    if fn == 'neg':
        return -a if scalar in EPSILON else int_neg(scalar, a)
    if fn == 'sqrt':
        return rounding.off(np.sqrt(a), scalar)
    if fn in _EXACT:
        return _EXACT[fn](a)
    if fn == 'square':
        return binary(rounding, '*', scalar, a, a)
    if fn == 'reciprocal':
        return binary(rounding, '/', scalar, kind(1), a)
    # Of f32, the function of the same number in f64: within one unit of whatever is right.
    return rounding.off(_ROUNDED[fn](np.asarray(a, np.float64)).astype(kind), scalar, 4)


def pair(rounding, fn, scalar, a, b):
    """Functions of two numbers; a NaN wins, but as the sign that copysign takes it counts as positive."""
    kind = numpy_type(scalar)
    if fn == 'copysign':
        return np.where((b < 0) | (kind(1) / b < 0), -np.abs(a), np.abs(a)).astype(kind)
    if fn == 'fmod':
        return np.fmod(a, b).astype(kind)
    wide = [np.asarray(x, np.float64) for x in (a, b)]
    value = np.hypot(*wide) if fn == 'hypot' else np.arctan2(*wide)
    nothing = np.isnan(a) | np.isnan(b) | ((fn == 'atan2') & np.isinf(a) & np.isinf(b))
    return np.where(nothing, kind(np.nan), rounding.off(value.astype(kind), scalar, 6)).astype(kind)


def convert(rounding, to, source, a):
    a = np.asarray(a)
    if to == 'bool':
        return np.logical_not(rounding.is_zero(a, source))
    if to in EPSILON:
        value = a.astype(numpy_type(to))
        if source in EPSILON and to == 'f64' or source in ('i32', 'bool') and to == 'f64':
            return value
        return np.where(value == a, value, rounding.off(value, to)).astype(numpy_type(to))
    low, high = ends(to)
    if source in EPSILON:
        whole = np.trunc(np.where(np.isnan(a), 0, a).astype(np.float64))
        inside = np.clip(whole, float(low), float(2 ** 62) if to == 'i64' else float(high))
        value = inside.astype(np.int64)
        if to == 'i64':   # 2^63 is no i64
            value = np.where(whole >= 2.0 ** 63, high, np.where(np.abs(whole) < 2.0 ** 62, value,
                             np.clip(whole, -2.0 ** 63, np.nextafter(2.0 ** 63, 0)).astype(np.int64)))
        return value.astype(numpy_type(to))
    return np.clip(a.astype(np.int64), low, high).astype(numpy_type(to))
