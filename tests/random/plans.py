"""Which plans and runs each seed gets: every strategy and mode in turn, each number of workers, both kinds of kernels."""
from collections import namedtuple

STRATEGIES = ['none', 'greedy', 'fuse-all', 'fuse-no-redundancy', 'mpskip', 'cost']
SYNCS = ['lazy', 'eager', 'hybrid', 'auto']
WORKERS = [1, 2, 3, 5, 16]
OWNERS = 5                  # ways to deal indices to workers (job_data.h)

Request = namedtuple('Request', 'strategy sync epilogue split sized proven compressed workers owners kernels threads')


def requests(seed, plans=3, every=1):
    """So many plans, each run by the interpreter's kernels over some workers, and every so many by generated ones over
    others (compiling takes most of the time)."""
    made = []
    modes = [(s, m) for s in STRATEGIES for m in SYNCS]
    for i in range(plans):
        turn = seed * plans + i
        strategy, sync = ('greedy', 'hybrid') if turn % 8 == 0 else modes[(turn * 7 + turn // len(modes)) % len(modes)]
        flags = dict(epilogue=turn // 3 % 2 == 1, split=turn % 9 != 4, sized=turn // 5 % 3 == 0, proven=turn % 6 == 1,
                     compressed=turn // 7 % 4 == 0)
        owners = turn // 2 % OWNERS
        workers = WORKERS[turn % len(WORKERS)]
        made.append(Request(strategy, sync, workers=workers, owners=owners, kernels='interpreter', threads=1, **flags))
        if turn % every:
            continue
        if not (flags['sized'] or flags['compressed']):
            workers, owners = WORKERS[(turn + turn // 5 + 1) % len(WORKERS)], (owners + 2) % OWNERS
        made.append(Request(strategy, sync, workers=workers, owners=owners, kernels='generated', threads=1 + turn // every % 2, **flags))
        if turn // every % 4 == 0:
            made.append(made[-1]._replace(threads=2 - turn // every % 2))
    return made


def same_but_for_threads(a, b):
    """Do two runs promise the same bits?"""
    return a.kernels == b.kernels == 'generated' and a._replace(threads=0) == b._replace(threads=0)
