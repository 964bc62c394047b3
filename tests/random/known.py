"""Faults that are known and being fixed: a failure that looks like one is counted, not reported. Empty when none is open."""
from tree import expressions, is_arr, is_tup


def holds_points(program):
    return any(is_arr(e.elem) or is_tup(e.elem) for e in expressions(program))


def multiplies_columns(program):
    """Dense matrices times several columns."""
    return any(e.kind == 'product' and e.info['sparse'] is None and len(e.args[1].dims) > 1 for e in expressions(program))


def reason(program, failure):
    """Why this failure is known, or nothing."""
    message, generated = failure.message, failure.request is None or failure.request.kernels == 'generated'
    if failure.kind == 'differs' and generated and holds_points(program):
        return 'elements of several numbers computed in place by generated kernels'
    dies = failure.kind == 'died' or 'status -11' in message or 'status 139' in message
    wrong = dies or failure.kind == 'differs' or 'no memory for an array' in message
    if wrong and multiplies_columns(program):
        return 'products of computed matrices'
    if failure.kind in ('plan', 'run', 'command') and 'fuse-rows' in message:
        return 'products of computed matrices'
    if failure.kind in ('plan', 'command') and 'drawn together into a cycle' in message:
        return 'selected regions that need each other'
    return None
