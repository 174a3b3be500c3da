"""How far each second's arrivals may be trusted, per load worker: beside the pulses."""

import duckdb
import pyarrow as pa

from storage.answers import frame, run_id_of
from storage.summarised import is_final

Cursor = duckdb.DuckDBPyConnection


def doubt_per_s(cursor: Cursor, run: str) -> pa.Table:
    """One row per worker and whole second of arrival, in that order; preflight included.

    worker, sec, events, shared, missing (no kernel stamp), bound_p99_us (the least bound that 99 %
    of the second's arrivals do not exceed; 0 for one that shared no read), bound_max_us.
    """
    run_id = run_id_of(cursor, run)
    return frame(cursor, _KEPT if is_final(cursor, run_id) else DOUBT, run_id=run_id)


_KEPT = """
    SELECT worker, sec, events, shared, missing, bound_p99_us::BIGINT AS bound_p99_us,
        bound_max_us::BIGINT AS bound_max_us
    FROM doubt_sec WHERE run_id = $run_id ORDER BY worker, sec"""


# request_id = worker + n_workers * k, so no join.  Each distinct bound once with its number.
DOUBT = """
    WITH n AS (SELECT greatest(coalesce(n_workers, 1), 1) AS workers FROM runs
               WHERE run_id = $run_id),
    counted AS MATERIALIZED (
        SELECT request_id % (SELECT workers FROM n) AS worker, t_us // 1_000_000 AS sec, bound_us,
            count(*) AS k, count(*) FILTER (WHERE shared) AS shared,
            count(*) FILTER (WHERE lag_us IS NULL) AS missing
        FROM token_events WHERE run_id = $run_id GROUP BY ALL),
    ranked AS (
        SELECT *, sum(k) OVER (PARTITION BY worker, sec ORDER BY bound_us) AS upto,
            sum(k) OVER (PARTITION BY worker, sec) AS total
        FROM counted)
    SELECT worker::INTEGER AS worker, sec, sum(k)::BIGINT AS events,
        sum(shared)::BIGINT AS shared, sum(missing)::BIGINT AS missing,
        min(bound_us) FILTER (WHERE upto >= 0.99 * total)::BIGINT AS bound_p99_us,
        max(bound_us)::BIGINT AS bound_max_us
    FROM ranked GROUP BY worker, sec ORDER BY worker, sec"""
