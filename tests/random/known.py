"""Faults that are known and being fixed: a failure that looks like one is counted, not reported. Empty when none is open."""


def reason(_program, failure):
    """Why this failure is known, or nothing."""
    if failure.kind in ('plan', 'command') and 'drawn together into a cycle' in failure.message:
        return 'selected regions that need each other'
    return None
