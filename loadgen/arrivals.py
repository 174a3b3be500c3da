"""Arrival processes of open loop: when each request is due, as ns from the stage's begin.

Each is a generator of increasing ints; the random generator is an argument, so the same seed gives
the same schedule on every machine.
"""

from collections.abc import Callable, Iterator
from random import Random


def poisson(rate_per_s: float, rng: Random) -> Iterator[int]:
    """Independent exponential gaps: what many users who do not know of each other look like."""
    due_s = 0.0
    while True:
        due_s += rng.expovariate(rate_per_s)
        yield round(due_s * 1e9)


def constant(rate_per_s: float, rng: Random) -> Iterator[int]:
    """One request each 1/rate seconds, the first at 0; `rng` is not used."""
    del rng
    i = 0
    while True:
        yield round(i * 1e9 / rate_per_s)
        i += 1


ARRIVALS: dict[str, Callable[[float, Random], Iterator[int]]] = {
    "poisson": poisson,
    "constant": constant,
}
