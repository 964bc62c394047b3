"""Runs one program and says what is wrong with it."""
import re
from collections import namedtuple

import numpy as np

from compare import difference, wanted_outputs
from data import random_data
from plans import same_but_for_threads

# kind: where it shows (refused, died, plan, run, counts, differs, ...); request: of the run, if it is one's.
Failure = namedtuple('Failure', 'kind message request')


def numpy_failure(error):
    return Failure('reference', f'{type(error).__name__}: {error}', None)


def results_failure(answer, wanted, requests):
    """Outputs against NumPy's; those that are the same bits as an earlier run's once."""
    for run in answer.runs:
        for name, (planes, made) in run.outputs.items():
            if not isinstance(made, np.ndarray) or wanted[name].chaotic:
                continue
            wrong = difference(name, wanted[name], planes, made)
            if wrong:
                request = requests[run.number] if run.number >= 0 else None
                return Failure('differs' if request else 'interpreter', wrong, request)
    return None


def bits_failure(answer, requests):
    """Whatever the threads, the bits are the same."""
    for a, b in zip(answer.runs, answer.runs[1:]):
        if a.number < 0 or not same_but_for_threads(requests[a.number], requests[b.number]):
            continue
        for name, (_, made) in b.outputs.items():
            first = a.outputs[name][1]
            origin = a.number if isinstance(first, np.ndarray) else first
            if isinstance(made, np.ndarray) or made != origin:
                return Failure('bits', f'{name} has other bits with {requests[a.number].threads} threads', requests[b.number])
    return None


def answer_failure(answer, requests):
    if answer.refused is not None:
        return Failure('refused', answer.refused, None)
    for run in answer.runs:
        if run.fault:
            return Failure(run.fault[0], run.fault[1], requests[run.number] if run.number >= 0 else None)
    if answer.died:
        number = answer.runs[-1].number if answer.runs else -1
        return Failure('died', answer.died, requests[number] if number >= 0 else None)
    return None


def check(runner, name, program, requests):
    """(failure or None, answer, chaotic outputs)"""
    data = random_data(program)
    try:
        wanted = wanted_outputs(program, data)
    except Exception as error:           # whatever the reference stumbles over is a failure of its own
        return numpy_failure(error), None, 0
    answer = runner.ask(name, program, data, requests)
    failure = (answer_failure(answer, requests) or results_failure(answer, wanted, requests) or
               bits_failure(answer, requests))
    return failure, answer, sum(w.chaotic for w in wanted.values())


def requests_of(failure):
    """The runs in which the failure shows."""
    if failure.kind == 'bits':
        return [failure.request._replace(threads=n) for n in (1, 2)]
    return [failure.request] if failure.request else []


def fails_alike(runner, program, failure):
    """Does a smaller program fail in the same way, in the run that failed?"""
    try:
        found, _, _ = check(runner, 'tried', program, requests_of(failure))
    except Exception:                    # it is no program any more
        return False
    return found is not None and (found.kind, complaint(found)) == (failure.kind, complaint(failure))


def complaint(failure):
    """What is complained about, without names and numbers; of wrong results nothing."""
    if failure.kind not in ('refused', 'plan', 'run', 'command'):
        return ''
    lines = failure.message.splitlines() or ['']
    first = next((line for line in lines if 'error: ' in line), lines[0])
    return re.sub(r"'[^']*'|\[[^\]]*\]|[0-9.]+", '', first.partition('error: ')[2] or first)[:60]
