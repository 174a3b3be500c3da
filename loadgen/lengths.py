"""Lengths as a plan spreads them: the i-th one is a function of plan, seed and i alone."""

import hashlib
import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from loadgen.plan_lengths import MOST_TOKENS, FromFile, LogNormal, Normal, Uniform

Lengths = NDArray[np.int64]
BLOCK = 4_096
"""So many are drawn at once; any one can be had without those before it."""
KEPT_BLOCKS = 4


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


class LengthSequence:
    """The lengths of one class's requests, by their number in the schedule.

    key: what tells this sequence from others ("prompt", stage, class, …), beside the seed.
    """

    def __init__(self, length: Any, seed: int, key: object, values: Lengths | None = None) -> None:
        self._fixed = length if isinstance(length, int) else None

        def drawn(block: int) -> Lengths:
            return draw(length, _generator(seed, key, block), BLOCK, values)

        self._block: Callable[[int], Lengths] = lru_cache(KEPT_BLOCKS)(drawn)

    def __getitem__(self, index: int) -> int:
        if self._fixed is not None:
            return self._fixed
        block, at = divmod(index, BLOCK)
        return int(self._block(block)[at])


def _generator(seed: int, key: object, block: int) -> Generator:
    """A stream of its own; by a digest, for Python's hash of a text differs between processes."""
    digest = hashlib.blake2b(repr((seed, key, block)).encode(), digest_size=16).digest()
    return np.random.Generator(np.random.PCG64(int.from_bytes(digest, "little")))


def _whole(drawn: NDArray[np.float64], length: Normal | LogNormal) -> Lengths:
    """Rounded, between low and high."""
    high = MOST_TOKENS if length.high is None else length.high
    return np.clip(np.rint(drawn), length.low, high).astype(np.int64)
