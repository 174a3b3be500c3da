"""What the gaps of each request were like: rows of `request_gaps`, from a range of events."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from storage.event_ranges import EventRange, Ints

STALLS_MS = (100, 250, 500, 1000)
READER_US = 100_000
"""A reader takes 10 tokens a second (METRICS.md, smoothness): that long for each."""
Columns = dict[str, NDArray[Any]]


def request_gaps(events: EventRange) -> Columns:
    """One row per request that has ended and has a gap; columns as in the table, without run_id."""
    requests = events.requests
    has_gap = events.gap_us >= 0
    owner = requests.spread(np.arange(len(requests.request_id)))[has_gap]
    gap_us = events.gap_us[has_gap].astype(np.int64)
    n_gaps = np.bincount(owner, minlength=len(requests.request_id))
    is_row = requests.has_ended & (n_gaps > 0)
    rows = {"n_gaps": n_gaps, **_quantiles(owner, gap_us, n_gaps), **_spread(owner, gap_us, n_gaps)}
    rows |= _stalls(owner, gap_us, len(n_gaps))
    rows |= {"paused_us": paused_us(events), "is_told": requests.is_told}
    return {"request_id": requests.request_id[is_row]} | {k: v[is_row] for k, v in rows.items()}


def paused_us(events: EventRange) -> Ints:
    """How long a reader at 10 tokens a second, who began with the first, waited in all; µs.

    He is at the token in front of chunk k at least `tokens before it` x 100 ms after his begin, and
    not before it came: the largest lateness of a chunk is the sum of his pauses.
    """
    requests = events.requests
    counts_chunks = requests.spread(~requests.is_told)
    tokens = np.where(counts_chunks | (events.n_tokens == 0), 1, events.n_tokens).astype(np.int64)
    before = np.cumsum(tokens) - tokens
    first = requests.first
    start_us = events.t_us[first] - before[first] * READER_US
    late_us = events.t_us - before * READER_US - requests.spread(start_us)
    return np.maximum.reduceat(late_us, first)


def _quantiles(owner: Ints, gap_us: Ints, n_gaps: Ints) -> Columns:
    """Longest gap, quartiles and p95 of each owner, linear between neighbours."""
    # One integer of owner | gap: sorting those sorts each owner's gaps, with one fast sort.
    gaps = np.sort((owner << 32) | gap_us) & 0xFFFFFFFF
    if not len(gaps):
        gaps = np.zeros(1, np.int64)
    end = np.cumsum(n_gaps)
    begin = end - n_gaps

    def at(p: float) -> NDArray[np.float64]:
        place = p * np.maximum(n_gaps - 1, 0)
        low = np.floor(place).astype(np.int64)
        below = gaps.take(begin + low, mode="clip")
        above = gaps.take(begin + np.ceil(place).astype(np.int64), mode="clip")
        return below + (above - below) * (place - low)

    found: Columns = {f"gap_p{p}_us": at(p / 100) for p in (25, 50, 75, 95)}
    return {"longest_gap_us": gaps.take(end - 1, mode="clip"), **found}


def _spread(owner: Ints, gap_us: Ints, n_gaps: Ints) -> Columns:
    some = np.maximum(n_gaps, 1)
    mean = np.bincount(owner, gap_us, len(n_gaps)) / some
    squares = np.bincount(owner, (gap_us - mean[owner]) ** 2, len(n_gaps))
    return {"gap_mean_us": mean, "gap_sd_us": np.sqrt(squares / some)}


def _stalls(owner: Ints, gap_us: Ints, n: int) -> Columns:
    found: Columns = {}
    for limit_ms in STALLS_MS:
        limit_us = limit_ms * 1000
        stalled = gap_us > limit_us
        of, over_us = owner[stalled], gap_us[stalled] - limit_us
        found[f"stalls_{limit_ms}"] = np.bincount(of, minlength=n)
        found[f"stalled_{limit_ms}_us"] = np.bincount(of, over_us, n).astype(np.int64)
    return found
