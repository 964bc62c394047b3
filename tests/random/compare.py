"""What a program should give, how far off a result may be, and whether a run's results are within that."""
import numpy as np

from meaning import Meaning, planes_of
from scalars import EPSILON, Rounding
from tree import scalars_of

RELATIVE = {'f64': 1e-9, 'f32': 1e-3}
SAMPLES = 2


def distance(a, b):
    """0 where one of them is no number."""
    both = np.isfinite(a) & np.isfinite(b)
    return np.abs(np.where(both, a, 0) - np.where(both, b, 0))


class Wanted:
    """Of one output: its planes, how much each element may differ (of integers: 0), or that it is chaotic."""

    def __init__(self, scalar_names, base, moved):
        self.planes, self.allowed, self.chaotic = base, [], False
        for i, scalar in enumerate(scalar_names):
            if scalar in EPSILON:
                self.allowed.append(self.tolerance(scalar, base[i], [m[i] for m in moved]))
            else:
                self.allowed.append(None)
                self.chaotic = self.chaotic or any(not np.array_equal(base[i], m[i]) for m in moved)

    def tolerance(self, scalar, base, moved):
        """Whatever rounding makes of the element, and a part of what it makes of its neighbours."""
        wide = base.astype(np.float64)
        finite = np.isfinite(wide)
        spread = np.zeros_like(wide)
        for m in moved:
            other = m.astype(np.float64)
            self.chaotic = self.chaotic or not np.array_equal(np.isfinite(other), finite)
            spread = np.maximum(spread, distance(wide, other))
        size = np.where(finite, np.abs(wide), 0)
        largest, widest = (np.max(x, initial=0.0) for x in (size, spread))
        return RELATIVE[scalar] * (size + 1e-3 * largest) + 100 * spread + 2 * widest


def wanted_outputs(program, data):
    runs = [Meaning(program, data, Rounding(seed)).run() for seed in (None,) + tuple(range(1, 1 + SAMPLES))]
    wanted = {}
    for name, e in program.outputs:
        sparse = 'at' in e.info
        count = len(data.matrices[e.info['at'].name].rows) if sparse else program.count(e.dims)
        base, *moved = [planes_of(run[name], count) for run in runs]
        wanted[name] = Wanted((['i64', 'i64'] if sparse else []) + scalars_of(e.elem), base, moved)
    return wanted


def plane_of(words, planes, i, scalar):
    plane = words.reshape(-1, len(planes))[:, i] if len(words) else words
    if scalar in EPSILON:
        return plane.view(np.float64) if plane.flags.c_contiguous else np.ascontiguousarray(plane).view(np.float64)
    return plane


def difference(name, wanted, planes, words):
    """What is wrong with an output, or nothing."""
    if len(planes) != len(wanted.planes) or len(words) != sum(len(p) for p in wanted.planes):
        return f'{name}: {len(words)} words in {len(planes)} planes'
    for i, scalar in enumerate(planes):
        made, right, allowed = plane_of(words, planes, i, scalar), wanted.planes[i], wanted.allowed[i]
        if allowed is None:
            bad = made != right.astype(np.int64)
        else:
            right = right.astype(np.float64)
            same = (made == right) | (np.isnan(made) & np.isnan(right))
            with np.errstate(all='ignore'):
                bad = ~(same | (np.isfinite(right) & (np.abs(made - right) <= allowed)))
        if np.any(bad):
            at = int(np.flatnonzero(bad)[0])
            more = f' and {int(np.sum(bad)) - 1} more of {len(bad)}' if np.sum(bad) > 1 else ''
            return f'{name}[{at}] plane {i}: {made[at]}, not {right[at]}{more}'
    return None
