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
    asked = {"run_id": run_id_of(cursor, run)}
    left_out = {"run_id", *without}
    own = _columns(cursor, "request_spans", left_out - {"request_id"})
    found = frame(cursor, _OF_RUN.format(own, "request_spans"), **asked)
    # Sorted and joined here: DuckDB takes twice the CPU for rows of so many columns.
    found = found.take(np.argsort(found["request_id"].to_numpy(), kind="stable"))
    gaps = _columns(cursor, "request_gaps", left_out | {"request_id"})
    if not gaps:
        return found
    of_gaps = frame(cursor, _OF_RUN.format(f"request_id, {gaps}", "request_gaps"), **asked)
    of_gaps = of_gaps.take(np.argsort(of_gaps["request_id"].to_numpy(), kind="stable"))
    ids, known = found["request_id"].to_numpy(), of_gaps["request_id"].to_numpy()
    at = np.searchsorted(known, ids)
    has_none = known.take(at, mode="clip") != ids if len(known) else np.ones(len(ids), bool)
    rows = of_gaps.drop_columns("request_id").take(pa.array(at, mask=has_none))
    for name in rows.column_names:
        found = found.append_column(name, rows[name])
    return found


_OF_RUN = "SELECT {} FROM {} WHERE run_id = $run_id"


def _columns(cursor: Cursor, table: str, left_out: set[str]) -> str:
    rows = cursor.execute(f"DESCRIBE {table}").fetchall()
    return ", ".join(name for name, *_ in rows if name not in left_out)


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
