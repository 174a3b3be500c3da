"""How gaps scatter from request to request, or from second to second: what an interval is made of.

Windows are [w0_us, w1_us) on the run's time line; complete requests asked in it, as gap_quantiles.
"""

from collections.abc import Sequence

import duckdb
import pyarrow as pa

from storage.answers import frame, run_id_of
from storage.counting import told_by_request
from storage.summarised import is_final
from storage.window_sql import ASKED, TOLD_BEFORE

Cursor = duckdb.DuckDBPyConnection


def gap_clusters(  # noqa: PLR0913  # the arguments of a question; callers name them
    cursor: Cursor,
    run: str,
    stage: int,
    w0_us: int,
    w1_us: int,
    *,
    gap_us: Sequence[float] = (),
    itl_us: Sequence[float] = (),
    traffic: str | None = None,
) -> pa.Table:
    """Of each request its gaps, and how many are at most each limit: one row per metric it has.

    metric (gap, itl), request_id, asked_us, n (gaps; for itl tokens), c0, c1, … (those of at most
    the first, second, … limit of the metric; null for limits that only the other metric has).
    Reads token events.
    """
    run_id = run_id_of(cursor, run)
    told = TOLD_BEFORE if is_final(cursor, run_id) else told_by_request("asked", "t_us >= $w0")
    return frame(
        cursor,
        f"""
        WITH asked AS ({ASKED}),
        r AS MATERIALIZED ({told}),
        gaps AS (
            SELECT request_id, gap_us, CASE WHEN is_told THEN coalesce(n_tokens, 1) END AS c
            FROM token_events JOIN r USING (request_id)
            WHERE run_id = $run_id AND t_us >= $w0 AND gap_us IS NOT NULL),
        counted AS (
            SELECT 'gap' AS metric, request_id, count(*) AS n,
                {_counted("gap_us", "1", gap_us, itl_us)}
            FROM gaps GROUP BY request_id
            UNION ALL BY NAME
            SELECT 'itl' AS metric, request_id, sum(c)::BIGINT AS n,
                {_counted("gap_us / c::DOUBLE", "c", itl_us, gap_us)}
            FROM gaps WHERE c > 0 GROUP BY request_id)
        SELECT counted.*, asked_us FROM counted JOIN (
            SELECT request_id, asked_us FROM request_spans WHERE run_id = $run_id)
            USING (request_id)
        ORDER BY metric, asked_us, request_id""",
        run_id=run_id,
        stage=int(stage),
        w0=int(w0_us),
        w1=int(w1_us),
        traffic=traffic,
    )


def gap_seconds(  # noqa: PLR0913  # the arguments of a question; callers name them
    cursor: Cursor,
    run: str,
    stage: int,
    w0_us: int,
    w1_us: int,
    *,
    gap_us: Sequence[float] = (),
    itl_us: Sequence[float] = (),
    traffic: str | None = None,
) -> pa.Table:
    """The same by the second in which the request was asked, from the histograms: no event is read.

    metric, asked_us (where the second begins, or a longer bin of a long run), n, c0, c1, …; limits
    are met to 1 %, the width of a bucket.  No row while the run goes on.
    """
    return frame(
        cursor,
        f"""
        WITH mine AS (
            SELECT metric, sec * 1000000::BIGINT AS asked_us, bucket_us(b) AS v, n FROM hist
            WHERE run_id = $run_id AND stage = $stage AND sec IS NOT NULL
                AND sec * 1000000::BIGINT >= $w0 AND sec * 1000000::BIGINT < $w1
                AND ($traffic IS NULL OR traffic_class = $traffic))
        SELECT metric, asked_us, sum(n)::BIGINT AS n, {_counted("v", "n", gap_us, itl_us)}
        FROM mine WHERE metric = 'gap' GROUP BY metric, asked_us
        UNION ALL BY NAME
        SELECT metric, asked_us, sum(n)::BIGINT AS n, {_counted("v", "n", itl_us, gap_us)}
        FROM mine WHERE metric = 'itl' GROUP BY metric, asked_us
        ORDER BY metric, asked_us""",
        run_id=run_id_of(cursor, run),
        stage=int(stage),
        w0=int(w0_us),
        w1=int(w1_us),
        traffic=traffic,
    )


def _counted(value: str, weight: str, limits: Sequence[float], others: Sequence[float]) -> str:
    """Columns c0, c1, …: a sum of weights per limit; both metrics get as many columns."""
    counted = [
        f"coalesce(sum({weight}) FILTER (WHERE {value} <= {float(limit)!r}), 0)::BIGINT AS c{k}"
        for k, limit in enumerate(limits)  # literals only
    ]
    counted += [f"NULL::BIGINT AS c{k}" for k in range(len(limits), max(len(others), 1))]
    return ", ".join(counted)
