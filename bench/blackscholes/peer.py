"""Black and Scholes by NumPy or by numexpr, erf by SciPy, which neither has: numpy|numexpr OPTIONS PASSES."""
import sys
import time

sys.path.insert(0, __file__.rsplit("/", 2)[0])
from counted import missing, serve, uniform

import numpy as np

try:
    from scipy.special import erf
except ImportError:
    missing("SciPy, for erf (Debian: python3-scipy)")
kind, options, passes = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
if kind == "numexpr":
    try:
        import numexpr
    except ImportError:
        missing("numexpr (Debian: python3-numexpr)")

spot = 50 + 100 * uniform(31, 0, options)
strike = 50 + 100 * uniform(32, 0, options)
volatility, years = 0.3, 1.0
spread = volatility * np.sqrt(years)
root = np.sqrt(2)


def by_numpy(rate):
    d1 = (np.log(spot / strike) + (rate + volatility**2 / 2) * years) / spread
    n1 = (1 + erf(d1 / root)) / 2
    n2 = (1 + erf((d1 - spread) / root)) / 2
    present = strike * np.exp(-rate * years)
    call = spot * n1 - present * n2
    return call, call - spot + present


def by_numexpr(rate):
    drift, discount = (rate + volatility**2 / 2) * years, np.exp(-rate * years)
    d1 = numexpr.evaluate("(log(spot / strike) + drift) / spread / root", global_dict=globals())
    d2 = numexpr.evaluate("d1 - spread / root", global_dict=globals())
    e1, e2 = erf(d1, out=d1), erf(d2, out=d2)
    call = numexpr.evaluate("spot * (1 + e1) / 2 - strike * discount * (1 + e2) / 2", global_dict=globals())
    return call, numexpr.evaluate("call - spot + strike * discount", global_dict=globals())


def measure():
    price = by_numpy if kind == "numpy" else by_numexpr
    start = time.perf_counter()
    for k in range(1, passes):
        call, put = price(0.02 + k / 1000)
    return (time.perf_counter() - start) / (passes - 1), call.sum(), put.sum()


serve(measure)
