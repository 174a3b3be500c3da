"""What a live line says of single requests, where a plan has a search or a sweep by doubling.

The leader judges a level while it goes on, so it needs each request's own times; the other lines
stay as short as they are.  Rows are lists, as their columns' names below say.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from loadgen.live_line import Decoded
from storage.records import RequestRow

BEGAN = ("request_id", "stage", "traffic_class", "is_measured", "asked_us")
"""A request that was begun, or not sent: asked_us is the plan's instant, else that of its send."""

ENDED = (
    "request_id",
    "outcome",
    "ttft_us",
    "ttft_visible_us",
    "tpot_us",
    "e2e_us",
    "end_us",
    "tokens",
)
"""One that ended.  ttft and e2e count from the plan's instant if there is one, as objectives do."""

GAPS = ("request_id", "n")
"""Chunk gaps that came in this line: how many, then how many were above each of `gap_limits`."""


OF_GAPS = ("chunk_gap", "longest_gap")
"""Objectives on gaps: on all of them, or on the longest of each request."""


def probe_rows(decoded: Decoded, t0_mono_ns: int, limits_us: list[int]) -> dict[str, Any]:
    """The key `requests` of a live line.  limits_us: of the plan's objectives on chunk gaps."""
    rows: dict[str, Any] = {
        "began": [_began(meta, t0_mono_ns) for meta in decoded.opens],
        "ended": [_ended(row) for row in decoded.rows],
    }
    if limits_us:
        rows["gaps"] = _gaps(decoded.tokens, limits_us)
    return rows


def is_asked_for(plan: dict[str, Any]) -> bool:
    """Whether a plan, as it stands in its file, has levels that depend on those before."""
    stages: list[dict[str, Any]] = plan.get("stages") or []
    return any(stage.get("kind") == "search" or stage.get("doubling") for stage in stages)


def gap_limits_us(plan: dict[str, Any]) -> list[int]:
    """The limits of all objectives on gaps, each once, smallest first."""
    slos = [*(plan.get("slos") or [])]
    for traffic in plan.get("classes") or []:
        slos += traffic.get("slos") or []
    return sorted({round(s["max_ms"] * 1000) for s in slos if s["metric"] in OF_GAPS})


def _began(meta: dict[str, Any], t0_mono_ns: int) -> list[Any]:
    asked_ns = meta["due_ns"]
    if asked_ns is None:
        asked_ns = meta.get("send_ns") or meta["dispatched_ns"]
    return [
        meta["request_id"],
        meta["stage"],
        meta.get("traffic_class", "default"),
        meta["phase"] == "measure",
        (asked_ns - t0_mono_ns) // 1000,
    ]


def _ended(row: RequestRow) -> list[Any]:
    asked_us = row.send_us if row.due_us is None else row.due_us
    last_us = row.whole_us if row.last_token_us is None else row.last_token_us
    return [
        row.request_id,
        row.outcome,
        _span(asked_us, row.first_token_us),
        _span(row.send_us, row.first_visible_us),
        _tpot_us(row),
        _span(asked_us, last_us),
        row.end_us,
        row.output_tokens or row.n_chunks,
    ]


def _tpot_us(row: RequestRow) -> float | None:
    """As the view request_times has it."""
    if row.output_tokens is None or row.n_choices > 1:
        return None
    n = row.output_tokens - (1 if row.first_chunk_tokens is None else row.first_chunk_tokens)
    spent_us = _span(row.first_token_us, row.last_token_us)
    return None if n < 1 or spent_us is None else round(spent_us / n, 1)


def _span(begin_us: int | None, end_us: int | None) -> int | None:
    return None if begin_us is None or end_us is None else end_us - begin_us


def _gaps(tokens: NDArray[np.void], limits_us: list[int]) -> list[list[int]]:
    with_gap = tokens[tokens["gap_us"] >= 0]
    ids, place = np.unique(with_gap["request_id"], return_inverse=True)
    counts = [np.bincount(place, minlength=len(ids))]
    for limit_us in limits_us:
        counts.append(np.bincount(place[with_gap["gap_us"] > limit_us], minlength=len(ids)))
    return np.column_stack([ids, *counts]).tolist()
