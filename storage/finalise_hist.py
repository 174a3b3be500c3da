"""Histograms of a run by second: what `hist` holds once a run is over, from ranges of events."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from storage.buckets import N_BUCKETS, bucket, bucket_of_share
from storage.event_ranges import EventRange, Ints

METRICS = ("gap", "itl", "bound", "bound_shared", "lag")
US_PER_S = 1_000_000
_DENSE = 4 << 20  # cells: more are counted by sorting
_BIAS = 1 << 25  # makes seconds before the run's zero positive
_STAGE, _TRAFFIC, _METRIC, _SEC = 50, 40, 37, 11  # the lowest bit of each within a packed key
Columns = dict[str, NDArray[Any]]


class Histograms:
    """Counts by stage, class, metric, second and bucket, added up range by range.

    bin_s: length of a second's bin; see bin_s().
    """

    def __init__(self, bin_s: int) -> None:
        self._bin_us = bin_s * US_PER_S
        self._bin_s = bin_s
        self._keys: list[Ints] = []
        self._counts: list[Ints] = []

    def add(self, events: EventRange) -> None:
        """Count one range."""
        self._add_gaps(events)
        self._add_doubt(events)

    def rows(self) -> Columns:
        """stage, traffic (of classes_of; 0: not known), metric (of METRICS), sec, b, n."""
        keys = np.concatenate([np.zeros(0, np.int64), *self._keys])
        counts = np.concatenate([np.zeros(0, np.int64), *self._counts])
        keys, place = np.unique(keys, return_inverse=True)
        return {
            "stage": (keys >> _STAGE) - 1,
            "traffic": (keys >> _TRAFFIC) & 0x3FF,
            "metric": (keys >> _METRIC) & 7,
            "sec": ((keys >> _SEC & (2 * _BIAS - 1)) - _BIAS) * self._bin_s,
            "b": keys & (N_BUCKETS - 1),
            "n": np.bincount(place, counts, len(keys)).astype(np.int64),
        }

    def _add_gaps(self, events: EventRange) -> None:
        """Of complete requests, by the second they were asked in; ITL where all tokens are told."""
        requests = events.requests
        group = _group(requests.stage, requests.traffic, requests.asked_us // self._bin_us)
        groups, of_request = np.unique(group, return_inverse=True)
        counts = requests.spread(requests.has_latency) & (events.gap_us >= 0)
        of_gap, gap_us = requests.spread(of_request)[counts], events.gap_us[counts]
        b = bucket(gap_us)
        self._tally("gap", groups, of_gap, b)
        told = requests.spread(requests.is_told)[counts]
        tokens = np.maximum(events.n_tokens[counts], 1)
        several = np.flatnonzero(tokens > 1)
        b[several] = bucket_of_share(gap_us[several] / tokens[several])
        self._tally("itl", groups, of_gap[told], b[told], tokens[told])

    def _add_doubt(self, events: EventRange) -> None:
        """Of every request but the preflight's, by second of arrival."""
        requests = events.requests
        group = _group(requests.stage, requests.traffic, np.zeros(len(requests.stage), np.int64))
        sec = events.t_us // self._bin_us
        first, n_sec = int(sec.min()), int(sec.max() - sec.min()) + 1
        plain, of_request = np.unique(group, return_inverse=True)
        groups = (plain[:, None] + (np.arange(first, first + n_sec) << _SEC)).ravel()
        of_event = requests.spread(of_request) * n_sec + (sec - first)
        counts = requests.spread(~requests.is_preflight)
        of_event, bound_us = of_event[counts], events.bound_us[counts]
        some = np.flatnonzero(bound_us > 0)
        b = np.zeros(len(bound_us), np.int64)
        b[some] = bucket(bound_us[some])
        self._tally("bound", groups, of_event, b)
        shared = np.flatnonzero(events.shared[counts])
        self._tally("bound_shared", groups, of_event[shared], b[shared])
        lag_us = events.lag_us[counts]
        stamped = lag_us >= 0
        self._tally("lag", groups, of_event[stamped], bucket(lag_us[stamped]))

    def _tally(
        self, metric: str, groups: Ints, of: Ints, b: Ints, weights: NDArray[Any] | None = None
    ) -> None:
        """Count buckets b by group; groups: packed keys, of: each one's index there."""
        if not len(of):
            return
        width = int(b.max()) + 1
        cell = of * width + b
        if len(groups) * width <= _DENSE:
            n = np.bincount(cell, weights)
            cells = np.flatnonzero(n)
            counts = n[cells].astype(np.int64)
        else:
            cells, place = np.unique(cell, return_inverse=True)
            counts = np.bincount(place, weights).astype(np.int64)
        of_metric = METRICS.index(metric) << _METRIC
        self._keys.append(groups[cells // width] + of_metric + cells % width)
        self._counts.append(counts)


def bin_s(duration_s: float) -> int:
    """Seconds in a bin of a run's histograms: 1 up to an hour, 10 up to ten hours, else 60.

    A run of days at a few tokens a second would else keep more rows of summary than of events.
    """
    return next((size for size, hours in ((1, 1), (10, 10)) if duration_s <= hours * 3600), 60)


def _group(stage: Ints, traffic: Ints, sec: Ints) -> Ints:
    return ((stage + 1) << _STAGE) + (traffic << _TRAFFIC) + ((sec + _BIAS) << _SEC)
