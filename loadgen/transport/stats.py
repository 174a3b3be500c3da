"""How late we read: the pulse's figures over one second, gathered in small pieces."""

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True, slots=True)
class ReadStats:
    """Reads since the last take; lag = read time minus kernel stamp, of the stamped ones."""

    reads: int
    missing_stamps: int
    lag_p50_us: int | None
    lag_p99_us: int | None
    lag_max_us: int | None


class LagGatherer:
    """Turns lists of delays into arrays a few thousand at a time, so that no call takes long."""

    def __init__(self) -> None:
        self._pieces: list[Any] = []

    def add(self, delays_ns: list[int]) -> None:
        """Add these delays, which the caller may then clear; -1 = no stamp."""
        if delays_ns:
            self._pieces.append(np.array(delays_ns, np.int64))

    def take(self) -> ReadStats:
        """The figures of everything added since the last take."""
        pieces, self._pieces = self._pieces, []
        if not pieces:
            return ReadStats(0, 0, None, None, None)
        delays_ns = np.concatenate(pieces)
        lags_us = delays_ns[delays_ns >= 0] // 1000
        n, missing = len(delays_ns), len(delays_ns) - len(lags_us)
        if not len(lags_us):
            return ReadStats(n, missing, None, None, None)
        ranks = [int(q * (len(lags_us) - 1)) for q in (0.5, 0.99)]
        ordered = np.partition(lags_us, ranks)
        return ReadStats(
            n, missing, int(ordered[ranks[0]]), int(ordered[ranks[1]]), int(lags_us.max())
        )


def worst_of(stats: list[ReadStats]) -> ReadStats:
    """The figures of several pools as one: counts together, lags those of the latest pool."""
    if len(stats) == 1:
        return stats[0]
    p50s, p99s, latest = (
        [lag for s in stats if (lag := getattr(s, name)) is not None]
        for name in ("lag_p50_us", "lag_p99_us", "lag_max_us")
    )
    return ReadStats(
        sum(s.reads for s in stats),
        sum(s.missing_stamps for s in stats),
        max(p50s, default=None),
        max(p99s, default=None),
        max(latest, default=None),
    )
