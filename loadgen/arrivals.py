"""ARRIVALS: when requests of open loop are due, as ns from the stage's begin.

Each process makes arrivals of one per unit of *operational time*; a curve's area is that time, so
its inverse carries them to the clock.  A ramp so has exactly its area of constant arrivals, and
Poisson arrivals become the non-homogeneous Poisson process of that rate.
Source: Çinlar, Introduction to Stochastic Processes, 1975, ch. 4.7 (time change).
"""

from collections.abc import Callable, Iterator

import numpy as np

from loadgen.curves import Curve, Floats, Ints

BLOCK = 4096

Arrivals = Callable[[np.random.Generator, float], Iterator[Floats]]


def constant(rng: np.random.Generator, burstiness: float) -> Iterator[Floats]:
    """One each unit of time, the first at 0: nothing is random."""
    del rng, burstiness
    begin = 0
    while True:
        yield np.arange(begin, begin + BLOCK, dtype=np.float64)
        begin += BLOCK


def poisson(rng: np.random.Generator, burstiness: float) -> Iterator[Floats]:
    """Independent exponential gaps: what many users who do not know of each other look like."""
    del burstiness
    return _sums(rng.standard_exponential)


def gamma(rng: np.random.Generator, burstiness: float) -> Iterator[Floats]:
    """Independent gamma gaps of shape `burstiness` and mean 1.

    Their standard deviation is 1/sqrt(burstiness): 1 is Poisson, below 1 come bursts and lulls,
    above 1 it is more even than chance.  A stage begins anywhere in a gap, and long gaps hold more
    such beginnings: the first is a random part of a gap drawn by its length, a gamma of shape + 1.
    If it began with an arrival, a short stage of bursts would have too many.
    Source: Cox, Renewal Theory, 1962, ch. 2.2 (equilibrium renewal process).
    """
    first = rng.random() * rng.standard_gamma(burstiness + 1) / burstiness
    return _sums(lambda n: rng.standard_gamma(burstiness, n) / burstiness, first)


ARRIVALS: dict[str, Arrivals] = {"poisson": poisson, "constant": constant, "gamma": gamma}


def due_ns(operational: Iterator[Floats], curve: Curve, requests: int | None) -> Iterator[Ints]:
    """Blocks of due times, increasing, all before the curve's end and at most `requests` of them.

    Two that fall on one nanosecond are put one apart.  One within the last nanosecond is none: it
    is there because a sum or the stage's end was rounded.
    """
    whole, left, last_ns = curve.areas()[-1], requests, -1
    for block in operational:
        is_last = block[-1] >= whole
        inside = block[: np.searchsorted(block, whole)][:left]
        order = np.arange(1, len(inside) + 1)
        due = np.maximum.accumulate(np.maximum(curve.when(inside) - order, last_ns)) + order
        due = due[: np.searchsorted(due, curve.end_ns - 1)]
        if len(due):
            yield due
            last_ns = int(due[-1])
        if left is not None:
            left -= len(due)
        if is_last or left == 0:
            return


def _sums(gaps: Callable[[int], Floats], first: float | None = None) -> Iterator[Floats]:
    """Blocks of arrivals with these gaps; first: the first one, if it is no gap from 0."""
    upto = 0.0
    if first is not None:
        yield np.array([first])
        upto = first
    while True:
        block = upto + np.cumsum(gaps(BLOCK))
        yield block
        upto = float(block[-1])
