"""What the Live page learns from one raw segment, as one JSON line of `live-<worker>.jsonl`."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from storage.buckets import bucket
from storage.records import RequestRow

Texts = tuple[int, list[str]]
"""A request, and the whole text of each of its choices."""

_NO_FAULT = ("complete", "cancelled")
_ONLY = "default"  # the class of a plan without classes


class FirstToken(NamedTuple):
    """The first token of a request, counted from its send and from the plan's instant."""

    ttft_us: int
    ttft_sched_us: int | None  # None in closed loop, where nothing was due
    traffic_class: str = _ONLY


@dataclass(frozen=True, slots=True)
class Decoded:
    """What one raw segment meant."""

    seq: int
    t_us: int  # of its newest record
    tokens: NDArray[np.void]  # records.TOKEN_EVENT
    rows: list[RequestRow]  # requests that ended in it
    pulses: list[dict[str, Any]]
    first_tokens: list[FirstToken] = field(default_factory=list[FirstToken])  # that came in it
    texts: list[Texts] = field(default_factory=list[Texts])  # of those that ended, if kept
    opens: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])  # that began in it


def live_line(decoded: Decoded) -> dict[str, Any]:
    """Counts and histograms (storage.buckets) of one segment.

    tokens: told ones, and one for each event whose tokens nobody told; an answer in one piece has
    no time for its tokens and counts as an outcome only.  ttft_sched: of open loop, from schedule.
    used: see _used.  classes: see _by_class.  seq tells a decoder that was started again which
    lines it has already written.
    """
    tokens = decoded.tokens
    n_tokens, gaps_us = tokens["n_tokens"], tokens["gap_us"]
    faults = [row for row in decoded.rows if row.outcome not in _NO_FAULT]
    last = faults[-1] if faults else None
    line = {
        "seq": decoded.seq,
        "t_us": decoded.t_us,
        "pulse": decoded.pulses[-1] if decoded.pulses else None,
        "tokens": int(np.maximum(n_tokens, 1).sum(dtype=np.int64)),
        "events": len(tokens),
        **_first_tokens(decoded.first_tokens),
        "gap": _histogram(gaps_us[gaps_us >= 0]),
        "used": _used(decoded.rows),
        "outcomes": dict(Counter(row.outcome for row in decoded.rows)),
        "last_error": last and {"outcome": last.outcome, "detail": last.detail},
        "shared": int(tokens["shared"].sum(dtype=np.int64)),
        "missing_stamps": int((tokens["lag_us"] < 0).sum()),
    }
    return line | _by_class(decoded)


def _first_tokens(first_tokens: Iterable[FirstToken]) -> dict[str, dict[str, int]]:
    seen = list(first_tokens)
    scheduled = [one.ttft_sched_us for one in seen if one.ttft_sched_us is not None]
    return {
        "ttft": _histogram([one.ttft_us for one in seen]),
        "ttft_sched": _histogram(scheduled),
    }


def _by_class(decoded: Decoded) -> dict[str, Any]:
    """The key `classes`; absent while nothing but the only class of a plan without classes came."""
    rows, firsts = decoded.rows, decoded.first_tokens
    names = {row.traffic_class for row in rows} | {one.traffic_class for one in firsts}
    if names <= {_ONLY}:
        return {}
    classes = {
        name: {
            "outcomes": dict(Counter(row.outcome for row in rows if row.traffic_class == name)),
            **_first_tokens(one for one in firsts if one.traffic_class == name),
        }
        for name in sorted(names)
    }
    return {"classes": classes}


def _used(rows: list[RequestRow]) -> dict[str, list[int]]:
    """Target -> prompt and output tokens of its requests that ended: told, or as well as we know.

    A prompt that nobody counted has the tokens it was planned with, if it was sent; an answer at
    least one for each chunk.
    """
    used: dict[str, list[int]] = {}
    for row in rows:
        if row.send_us is None:
            continue
        of_target = used.setdefault(row.target, [0, 0])
        prompt, output = row.prompt_tokens, row.output_tokens
        of_target[0] += (row.prompt_tokens_planned or 0) if prompt is None else prompt
        of_target[1] += row.n_chunks if output is None else output
    return used


def _histogram(us: NDArray[np.int32] | list[int]) -> dict[str, int]:
    buckets, counts = np.unique(bucket(us), return_counts=True)
    return {str(b): n for b, n in zip(buckets.tolist(), counts.tolist(), strict=True)}
