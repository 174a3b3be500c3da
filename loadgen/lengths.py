"""Lengths of prompts, answers and conversations as a plan spreads them."""

import math
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from loadgen.plan_lengths import MOST_TOKENS, FromFile, LogNormal, Normal, Uniform

Lengths = NDArray[np.int64]


def draw(length: Any, rng: Generator, n: int, values: Lengths | None = None) -> Lengths:
    """`n` whole lengths >= 1.  values: what the file of a FromFile holds, each as likely."""
    match length:
        case Uniform():
            return rng.integers(length.low, length.high, n, endpoint=True)
        case Normal():
            return _whole(rng.normal(length.mean, length.sd, n), length)
        case LogNormal():
            return _whole(rng.lognormal(math.log(length.median), length.sigma, n), length)
        case FromFile():
            assert values is not None, f"{length.path} was not read"
            return rng.choice(values, n)
        case _:
            return np.full(n, int(length), np.int64)


def _whole(drawn: NDArray[np.float64], length: Normal | LogNormal) -> Lengths:
    """Rounded, between low and high."""
    high = MOST_TOKENS if length.high is None else length.high
    return np.clip(np.rint(drawn), length.low, high).astype(np.int64)
