"""The inputs of bench/numbers.h, and the talk with bench/peer.h."""
import sys

import numpy as np


def uniform(stream, first, count):
    with np.errstate(over="ignore"):
        z = np.arange(first, first + count, dtype=np.uint64)
        z += np.uint64((stream << 40) + 0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return ((z ^ (z >> np.uint64(31))) >> np.uint64(11)).astype(np.float64) * 2.0**-53


def factors(seed, rows, columns):
    """random(seed, N, K) of the language."""
    def mix64(a, b):
        z = a + (b + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))

    with np.errstate(over="ignore"):
        state = mix64(np.array([[seed]], np.uint64), np.uint64(0))
        bits = mix64(mix64(state, np.arange(rows, dtype=np.uint64)[:, None]), np.arange(columns, dtype=np.uint64)[None, :])
    return (bits.astype(np.int64) >> 11) * 2.0**-53 + 0.5


def missing(why):
    print("missing:", why, flush=True)
    sys.exit(0)


def serve(measure):
    """Calls measure() for each line of input; prints the numbers that it returns, seconds first."""
    print("ready", flush=True)
    for _ in sys.stdin:
        print(*(repr(float(number)) for number in measure()), flush=True)
