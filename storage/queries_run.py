"""What is known of runs as a whole: cheap questions, answered from rows and summaries alone."""

import duckdb
import pyarrow as pa

from storage.answers import frame, run_id_of
from storage.records import TERMINAL

Cursor = duckdb.DuckDBPyConnection

# To a reader a run is over when its last token is in the tables, not before.
_STATE = f"""CASE WHEN state IN {tuple(sorted(TERMINAL))} AND NOT is_final
                 THEN 'decoding' ELSE state END AS state"""
_SPAN = """make_timestamptz(epoch_ns // 1000) AS started_at,
           (ended_epoch_ns - epoch_ns) / 1e9 AS duration_s"""
_NUMBERS = """n_requests, n_complete, n_failed, n_cancelled, n_not_sent, output_tokens,
              ttft_p50_us, ttft_p95_us, ttft_p99_us, e2e_p95_us, peak_tokens_per_s"""


def runs(cursor: Cursor) -> pa.Table:
    """Every run, newest first, for the list of runs; reads summaries only.

    run_uid, name, state, message, started_at (UTC; null before it began), duration_s (null while it
    goes on), url (the plan's), target_url (the real one), model, api, n_stages, plan (JSON),
    plan_sha256, stamps, n_damaged_segments, is_final, source; columns of `summary` (whole run; null
    before its first request has ended); ttft_p95_by_stage_us: list, one entry per stage with
    requests, null where none was complete.
    """
    return frame(
        cursor,
        f"""
        WITH whole AS (SELECT * FROM summary WHERE stage IS NULL),
        parts AS (SELECT run_id, list(ttft_p95_us ORDER BY stage) AS ttft_p95_by_stage_us
                  FROM summary WHERE stage IS NOT NULL AND traffic_class IS NULL GROUP BY run_id)
        SELECT run_uid::VARCHAR AS run_uid, name, {_STATE}, message, {_SPAN}, url, target_url,
            model, api, n_stages, plan, plan_sha256, stamps, n_damaged_segments, is_final, source,
            {_NUMBERS.replace("n_requests", "whole.n_requests")}, ttft_p95_by_stage_us
        FROM runs LEFT JOIN whole USING (run_id) LEFT JOIN parts USING (run_id)
        ORDER BY run_id DESC""",
    )


def run(cursor: Cursor, run: str) -> pa.Table:
    """One run by its uid: every column of `runs` (docs/schema.md); no row if there is none.

    state is `decoding` until the run's last token is stored; started_at, duration_s as in `runs()`.
    """
    return frame(
        cursor,
        f"""
        SELECT * EXCLUDE (run_id) REPLACE (run_uid::VARCHAR AS run_uid, {_STATE}), {_SPAN}
        FROM runs WHERE run_uid = try_cast($run AS UUID)""",
        run=run,
    )


def find_run(cursor: Cursor, text: str) -> pa.Table:
    """Runs that `text` may mean, newest first: `last`, a uid, else a name, else a uid's beginning.

    run_uid, name, started_at, state.  More than one row: the text is ambiguous.
    """
    return frame(
        cursor,
        f"""
        WITH ranked AS (
            SELECT *, CASE
                WHEN $text = 'last' THEN CASE WHEN run_id = max(run_id) OVER () THEN 0 END
                WHEN run_uid::VARCHAR = lower($text) THEN 0
                WHEN name = $text THEN 1
                WHEN $text <> '' AND starts_with(run_uid::VARCHAR, lower($text)) THEN 2
                END AS likeness
            FROM runs)
        SELECT run_uid::VARCHAR AS run_uid, name, make_timestamptz(epoch_ns // 1000) AS started_at,
            {_STATE}
        FROM ranked WHERE likeness = (SELECT min(likeness) FROM ranked) ORDER BY run_id DESC""",
        text=text,
    )


def stages(cursor: Cursor, run: str) -> pa.Table:
    """Load levels that have begun, in order: the columns of `stages`."""
    return frame(
        cursor,
        "SELECT * EXCLUDE (run_id) FROM stages WHERE run_id = $run_id ORDER BY stage",
        run_id=run_id_of(cursor, run),
    )


def pulses(cursor: Cursor, run: str) -> pa.Table:
    """The load generator's own health, one row per worker and second: the columns of `pulses`."""
    return frame(
        cursor,
        "SELECT * EXCLUDE (run_id) FROM pulses WHERE run_id = $run_id ORDER BY t_us, worker",
        run_id=run_id_of(cursor, run),
    )
