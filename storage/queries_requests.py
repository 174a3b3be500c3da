"""Requests, one by one and by outcome."""

from collections.abc import Sequence

import duckdb
import numpy as np
import pyarrow as pa

from storage.answers import frame, run_id_of

Cursor = duckdb.DuckDBPyConnection


def requests(cursor: Cursor, run: str, without: Sequence[str] = ()) -> pa.Table:
    """Every request that has ended, all phases, by request_id.

    The columns of `requests` and of the view `request_times` (docs/schema.md): asked_us, ttft_us,
    ttft_visible_us, ttft_sched_us, e2e_us, e2e_sched_us, tpot_us, send_lag_us, …  µs, null where
    undefined.  other_events is JSON text.
    without: columns that the reader does not need; each costs about a millisecond per 40,000 rows,
    text three.
    """
    left_out = {"run_id", *without} - {"request_id"}
    cursor.execute("DESCRIBE request_times")
    wanted = [name for name, *_ in cursor.fetchall() if name not in left_out]
    found = frame(
        cursor,
        f"SELECT {', '.join(wanted)} FROM request_times WHERE run_id = $run_id",
        run_id=run_id_of(cursor, run),
    )
    # Sorted here: DuckDB sorts rows of eighty columns at three times the cost.
    return found.take(np.argsort(found["request_id"].to_numpy(), kind="stable"))


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
