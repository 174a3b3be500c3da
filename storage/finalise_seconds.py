"""Arrivals of a run by second: what `tok_sec` holds once a run is over, from ranges of events."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from storage.event_ranges import EventRange, Ints

US_PER_S = 1_000_000
TIMELY_US = 1_000
TOGETHER_US = 50
SUMS = ("tokens", "events", "unknown", "shared", "missing", "timely_gaps", "together")
Columns = dict[str, NDArray[Any]]


class Seconds:
    """Sums by stage, class and second of arrival, added up range by range; preflight left out."""

    def __init__(self) -> None:
        self._keys: list[Ints] = []
        self._sums: list[Ints] = []  # one row for each of SUMS
        self._most: list[Ints] = []

    def add(self, events: EventRange) -> None:
        """Sum one range."""
        requests = events.requests
        # Stage and class are of the request; (stage, class) pairs are few, seconds are dense.
        pairs, of_request = np.unique(
            (requests.stage + 1 << 10) + requests.traffic, return_inverse=True
        )
        sec = events.t_us // US_PER_S
        first, n_sec = int(sec.min()), int(sec.max() - sec.min()) + 1
        counts = requests.spread(~requests.is_preflight)
        cell = (requests.spread(of_request) * n_sec + (sec - first))[counts]
        n_cells = len(pairs) * n_sec

        def number(which: NDArray[np.bool_]) -> Ints:
            return np.bincount(cell[which[counts]], minlength=n_cells)

        has_gap, lag_us = events.gap_us >= 0, events.lag_us
        timely = has_gap & (lag_us >= 0) & (lag_us < TIMELY_US)
        unknown = (events.n_tokens == 0) & ~requests.spread(requests.is_one)
        tokens = np.where(unknown, 0, np.maximum(events.n_tokens, 1))[counts]
        all_events = np.bincount(cell, minlength=n_cells)
        sums = [
            np.bincount(cell, tokens, n_cells).astype(np.int64),
            all_events,
            number(unknown),
            number(events.shared),
            number(lag_us < 0),
            number(timely),
            number(timely & (events.gap_us < TOGETHER_US)),
        ]
        most = np.zeros(n_cells, np.int64)
        some = np.flatnonzero(events.bound_us[counts])
        np.maximum.at(most, cell[some], events.bound_us[counts][some])
        seen = np.flatnonzero(all_events)
        self._keys.append((pairs[seen // n_sec] << 32) + (first + seen % n_sec + (1 << 31)))
        self._sums.append(np.array(sums)[:, seen])
        self._most.append(most[seen])

    def rows(self) -> Columns:
        """stage (-1: the request never ended), traffic (0: so, too), sec, SUMS, bound_max_us."""
        keys = np.concatenate([np.zeros(0, np.int64), *self._keys])
        sums = np.concatenate([np.zeros((len(SUMS), 0), np.int64), *self._sums], axis=1)
        keys, place = np.unique(keys, return_inverse=True)
        most = np.zeros(len(keys), np.int64)
        np.maximum.at(most, place, np.concatenate([np.zeros(0, np.int64), *self._most]))
        found: Columns = {
            name: np.bincount(place, row, len(keys)).astype(np.int64)
            for name, row in zip(SUMS, sums, strict=True)
        }
        return {
            "stage": (keys >> 42) - 1,
            "traffic": keys >> 32 & 0x3FF,
            "sec": (keys & 0xFFFFFFFF) - (1 << 31),
            **found,
            "bound_max_us": most,
        }
