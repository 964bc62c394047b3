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


def mix64(a, b):
    z = a + (b + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def mixed(a, b):
    """mix64(a, b) of the language."""
    with np.errstate(over="ignore"):
        return mix64(np.asarray(a).astype(np.uint64), np.asarray(b).astype(np.uint64)).astype(np.int64)


def unit(bits):
    return (bits.astype(np.int64) >> 11) * 2.0**-53 + 0.5


def drawn(seed, *sizes):
    """The bits of random(seed, N, K) and the like of the language."""
    with np.errstate(over="ignore"):
        bits = mix64(np.uint64(seed), np.uint64(0))
        for size in sizes:
            bits = mix64(bits[..., None], np.arange(size, dtype=np.uint64))
        return bits


def factors(seed, *sizes):
    """random(seed, N, K) of the language."""
    return unit(drawn(seed, *sizes))


def normal(seed, *sizes):
    """normal(seed, N, K) of the language."""
    bits = drawn(seed, *sizes)
    with np.errstate(over="ignore"):
        first, second = (unit(mix64(bits, np.uint64(k))) for k in (0, 1))
    return np.sqrt(-2 * np.log(1 - first)) * np.cos(2 * np.pi * second)


def missing(why):
    print("missing:", why, flush=True)
    sys.exit(0)


def serve(measure):
    """Calls measure() for each line of input; prints the numbers that it returns, seconds first."""
    print("ready", flush=True)
    for _ in sys.stdin:
        print(*(repr(float(number)) for number in measure()), flush=True)
