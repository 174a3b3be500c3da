"""What the Live page learns from one raw segment, as one JSON line of `live-<worker>.jsonl`."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from storage.buckets import bucket
from storage.records import RequestRow

Texts = tuple[int, list[str]]
"""A request, and the whole text of each of its choices."""

_NO_FAULT = ("complete", "cancelled")


@dataclass(frozen=True, slots=True)
class Decoded:
    """What one raw segment meant."""

    seq: int
    t_us: int  # of its newest record
    tokens: NDArray[np.void]  # records.TOKEN_EVENT
    rows: list[RequestRow]  # requests that ended in it
    pulses: list[dict[str, Any]]
    ttfts_us: list[int]  # of requests whose first token came in it
    texts: list[Texts] = field(default_factory=list[Texts])  # of those that ended, if kept
    opens: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])  # that began in it


def live_line(decoded: Decoded) -> dict[str, Any]:
    """Counts and histograms (storage.buckets) of one segment.

    tokens: told ones, and one for each event whose tokens nobody told; an answer in one piece has
    no time for its tokens and counts as an outcome only.  seq tells a decoder that was started
    again which lines it has already written.
    """
    tokens = decoded.tokens
    n_tokens, gaps_us = tokens["n_tokens"], tokens["gap_us"]
    faults = [row for row in decoded.rows if row.outcome not in _NO_FAULT]
    last = faults[-1] if faults else None
    return {
        "seq": decoded.seq,
        "t_us": decoded.t_us,
        "pulse": decoded.pulses[-1] if decoded.pulses else None,
        "tokens": int(np.maximum(n_tokens, 1).sum(dtype=np.int64)),
        "events": len(tokens),
        "ttft": _histogram(decoded.ttfts_us),
        "gap": _histogram(gaps_us[gaps_us >= 0]),
        "outcomes": dict(Counter(row.outcome for row in decoded.rows)),
        "last_error": last and {"outcome": last.outcome, "detail": last.detail},
        "shared": int(tokens["shared"].sum(dtype=np.int64)),
        "missing_stamps": int((tokens["lag_us"] < 0).sum()),
    }


def _histogram(us: NDArray[np.int32] | list[int]) -> dict[str, int]:
    buckets, counts = np.unique(bucket(us), return_counts=True)
    return {str(b): n for b, n in zip(buckets.tolist(), counts.tolist(), strict=True)}
