"""A run's token events, some requests at a time: each range is in memory once, sorted."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import duckdb
import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]

RANGE_EVENTS = 500_000  # about 200 bytes each while they are looked at
MOST_RANGES = 64  # each may have to look at every row group where requests are very long


@dataclass(frozen=True, slots=True)
class Requests:
    """One row per request of a range that has token events, by request_id; arrays.

    first, count: where its events begin in the range's arrays, and how many there are.  stage and
    traffic (1, 2, …: of the run's classes by name) are -1 and 0 where the request never ended.
    asked_us: due, else send.  has_latency: complete, neither preflight nor warm-up.  is_one: one
    token per chunk.  is_told: every token count is known (docs/metrics.md).
    """

    request_id: Ints
    first: Ints
    count: Ints
    stage: Ints
    traffic: Ints
    asked_us: Ints
    has_ended: Mask
    has_latency: Mask
    is_preflight: Mask
    is_one: Mask
    is_told: Mask

    def spread(self, values: NDArray[Any]) -> NDArray[Any]:
        """A value of each request for each of its events."""
        return np.repeat(values, self.count)


@dataclass(frozen=True, slots=True)
class EventRange:
    """Token events of some requests, by request_id and seq; arrays of one length.

    gap_us, lag_us: -1 where there is none; n_tokens: 0 where not told.
    """

    requests: Requests
    t_us: Ints
    gap_us: Ints
    n_tokens: Ints
    lag_us: Ints
    shared: Mask
    bound_us: Ints

    @property
    def n_events(self) -> int:
        """Length of each array."""
        return len(self.t_us)


def classes_of(cursor: duckdb.DuckDBPyConnection, run_id: int) -> list[str]:
    """The names of the run's classes of traffic, sorted."""
    rows = cursor.execute(
        "SELECT DISTINCT traffic_class FROM request_spans WHERE run_id = $run_id ORDER BY 1",
        {"run_id": run_id},
    ).fetchall()
    return [name for (name,) in rows]


def event_ranges(
    cursor: duckdb.DuckDBPyConnection, run_id: int, classes: list[str]
) -> Iterator[EventRange]:
    """Every token event of the run, in ranges of request_id."""
    found = cursor.execute(
        "SELECT request_id, count(*) AS n FROM token_events WHERE run_id = $run_id "
        "GROUP BY request_id ORDER BY request_id",
        {"run_id": run_id},
    ).fetchnumpy()
    ids, upto = np.asarray(found["request_id"]), np.cumsum(found["n"])
    if not len(ids):
        return
    size = max(RANGE_EVENTS, int(upto[-1]) // MOST_RANGES)
    lasts = np.unique(np.searchsorted(upto, np.arange(size, int(upto[-1]) + size, size)))
    low = int(ids[0])
    for last in np.minimum(lasts, len(ids) - 1).tolist():
        high = int(ids[last])
        if high >= low:
            yield _read(cursor, {"run_id": run_id, "low": low, "high": high}, classes)
            low = high + 1


def _read(
    cursor: duckdb.DuckDBPyConnection, wanted: dict[str, int], classes: list[str]
) -> EventRange:
    rows = cursor.sql(_EVENTS, params=wanted).to_arrow_table()
    column = {name: rows[name].to_numpy() for name in rows.column_names}
    # Rows lie in segments of about a second, each sorted: a stable sort merges those.
    key = (column["request_id"].astype(np.int64) << 32) | column["seq"]
    order = np.argsort(key, kind="stable")
    ids = column["request_id"].take(order)
    column = {name: column[name].take(order) for name in column if name not in _KEY}
    first = np.flatnonzero(np.diff(ids, prepend=ids[0] - 1))
    count = np.diff(first, append=len(ids))
    per = cursor.execute(_REQUESTS, {**wanted, "classes": classes}).fetchnumpy()
    return EventRange(requests=_requests(ids[first], first, count, per, column), **column)


def _requests(
    ids: Ints, first: Ints, count: Ints, per: dict[str, Any], column: dict[str, NDArray[Any]]
) -> Requests:
    known = np.asarray(per["request_id"])
    at = np.minimum(np.searchsorted(known, ids), max(len(known) - 1, 0))
    has_ended = known[at] == ids if len(known) else np.zeros(len(ids), bool)

    def of(name: str, otherwise: int) -> NDArray[Any]:
        told = np.asarray(per[name])
        if not len(told):
            return np.full(len(ids), otherwise, told.dtype)
        return np.where(has_ended, told[at], otherwise)

    is_one = of("is_one", 0).astype(bool)
    n_told = np.add.reduceat(column["n_tokens"] > 0, first, dtype=np.int64)
    told = np.add.reduceat(column["n_tokens"], first, dtype=np.int64)
    told += np.where(is_one, count - n_told, 0)
    is_told = (is_one | (n_told == count)) & (told == of("output_tokens", -1))
    return Requests(
        request_id=ids,
        first=first,
        count=count,
        stage=of("stage", -1).astype(np.int64),
        traffic=of("traffic", 0).astype(np.int64),
        asked_us=of("asked_us", 0),
        has_ended=has_ended,
        has_latency=of("has_latency", 0).astype(bool),
        is_preflight=of("is_preflight", 0).astype(bool),
        is_one=is_one,
        is_told=is_told & has_ended,
    )


_KEY = ("request_id", "seq")
_RANGE = "run_id = $run_id AND request_id BETWEEN $low AND $high"
_EVENTS = f"""
    SELECT request_id, seq, t_us, coalesce(gap_us, -1) AS gap_us,
        coalesce(n_tokens, 0)::INTEGER AS n_tokens, coalesce(lag_us, -1) AS lag_us, shared, bound_us
    FROM token_events WHERE {_RANGE}"""
_REQUESTS = f"""
    SELECT request_id, stage, list_position($classes, traffic_class) AS traffic, asked_us,
        (outcome = 'complete' AND phase NOT IN ('preflight', 'warmup'))::TINYINT AS has_latency,
        (phase = 'preflight')::TINYINT AS is_preflight, one_token_per_chunk::TINYINT AS is_one,
        coalesce(output_tokens, -1) AS output_tokens
    FROM request_spans WHERE {_RANGE} ORDER BY request_id"""
