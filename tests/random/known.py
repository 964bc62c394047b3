"""Faults that are known and being fixed: a failure that looks like one is counted, not reported. Empty when none is open."""
from tree import expressions, is_arr, is_tup


def holds_points(program):
    return any(is_arr(e.elem) or is_tup(e.elem) for e in expressions(program))


def reason(program, failure):
    """Why this failure is known, or nothing."""
    message = failure.message
    if failure.kind == 'differs' and failure.request.kernels == 'generated' and holds_points(program):
        return 'elements of several numbers computed in place by generated kernels'
    if failure.kind == 'died' and any(e.kind == 'product' and e.info['sparse'] is None for e in expressions(program)):
        return 'products of computed matrices'
    if failure.kind in ('plan', 'run') and ('fuse-rows' in message or 'row_chain' in message):
        return 'products of computed matrices'
    if failure.kind == 'plan' and ('was not placed' in message or 'lacks' in message):
        return 'lazy placing'
    if failure.kind == 'refused' and 'all pairs over []' in message:
        return 'a multiplier that does not look at the entry of an expression over stored entries'
    return None
