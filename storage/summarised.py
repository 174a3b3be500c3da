"""Which questions about token events are answered from summaries, and which read the events."""

from typing import Any

import duckdb

from storage.answers import run_id_of
from storage.protocol import StoreError

Cursor = duckdb.DuckDBPyConnection

MOST_EVENTS = 3_000_000
"""Of a level whose events are read for an answer: 0.1 s of CPU; more are told from summaries."""
WITHIN = 0.01
"""How far a time from a histogram may be off, as a share (storage/buckets.py)."""
_BY_WINDOW = frozenset({"gap_quantiles", "gap_clusters", "window_tokens", "stamp_bounds"})


def is_summarised(cursor: Cursor, run_id: int, stage: int, exact: bool = False) -> bool:
    """Whether a level's window is told from summaries: a final run, and too many events, or none.

    exact: read them however many there are.  Raises StoreError if they were dropped.
    """
    is_final, is_dropped, n_events = cursor.execute(_RUN, {"run_id": run_id}).fetchall()[0]
    if is_dropped and exact:
        raise StoreError(
            "The token events of this run were dropped; its numbers are told from summaries, "
            f"within {WITHIN:.0%}."
        )
    if is_dropped or not is_final or exact or (n_events or 0) <= MOST_EVENTS:
        return bool(is_dropped)
    known = {"run_id": run_id, "stage": stage}
    return cursor.execute(_OF_STAGE, known).fetchall()[0][0] > MOST_EVENTS


def reads_events(cursor: Cursor, name: str, args: dict[str, Any]) -> bool:
    """Whether the answer to a question costs a scan of token events; raises UnknownRunError."""
    if name == "sql":
        return True
    if name == "token_events":
        return args.get("request_id") is None
    if name != "doubt_per_s" and name not in _BY_WINDOW:
        return False
    run_id = run_id_of(cursor, args["run"])
    if name == "doubt_per_s":
        return not is_final(cursor, run_id)
    return not is_summarised(cursor, run_id, int(args["stage"]), bool(args.get("exact")))


def is_final(cursor: Cursor, run_id: int) -> bool:
    """Whether the summaries of the run's end are made, and nothing came since."""
    return bool(cursor.execute(_RUN, {"run_id": run_id}).fetchall()[0][0])


_RUN = """
    SELECT is_final, raw_dropped_epoch_ns IS NOT NULL, n_events FROM runs WHERE run_id = $run_id"""
_OF_STAGE = """
    SELECT coalesce(sum(events), 0)::BIGINT FROM tok_sec
    WHERE run_id = $run_id AND stage = $stage"""
