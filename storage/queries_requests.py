"""Requests, one by one and by outcome."""

import duckdb
import pyarrow as pa

from storage.answers import frame, run_id_of

Cursor = duckdb.DuckDBPyConnection


def requests(cursor: Cursor, run: str) -> pa.Table:
    """Every request that has ended, all phases, by request_id.

    The columns of `requests` and of the view `request_times` (docs/schema.md): asked_us, ttft_us,
    ttft_visible_us, ttft_sched_us, e2e_us, e2e_sched_us, tpot_us, send_lag_us, …  µs, null where
    undefined.  other_events is JSON text.
    """
    return frame(
        cursor,
        "SELECT * EXCLUDE (run_id) FROM request_times WHERE run_id = $run_id ORDER BY request_id",
        run_id=run_id_of(cursor, run),
    )


def outcomes(cursor: Cursor, run: str) -> pa.Table:
    """How requests ended, preflight left out: stage, outcome, n, detail (the most frequent one)."""
    return frame(
        cursor,
        """
        SELECT stage, outcome, count(*) AS n, mode(detail) AS detail
        FROM requests WHERE run_id = $run_id AND phase <> 'preflight'
        GROUP BY stage, outcome ORDER BY stage, n DESC, outcome""",
        run_id=run_id_of(cursor, run),
    )
