"""Token events: exact numbers over a window, and the summaries that spare a page from reading them.

Windows are [w0_us, w1_us) on the run's time line.  A token event's count is what the server told;
where it told none, 1 if the request's usage equals its number of chunks; else unknown.
"""

from collections.abc import Sequence

import duckdb
import pyarrow as pa

from storage.answers import frame, run_id_of
from storage.counting import linear, told_by_request

Cursor = duckdb.DuckDBPyConnection


def token_events(cursor: Cursor, run: str, request_id: int | None = None) -> pa.Table:
    """Token events of one request, or of the whole run, in order of request_id and seq.

    request_id, seq, t_us, gap_us (null on the first), n_tokens (null: unknown), kind,
    lag_us (null: no kernel stamp), shared, bound_us.
    """
    run_id = run_id_of(cursor, run)
    only = "" if request_id is None else "AND request_id = $request_id"
    wanted = {} if request_id is None else {"request_id": int(request_id)}
    return frame(
        cursor,
        f"""
        SELECT e.* EXCLUDE (run_id) REPLACE (
            kind::VARCHAR AS kind,
            coalesce(n_tokens, CASE WHEN one_token_per_chunk THEN 1 END)::INTEGER AS n_tokens)
        FROM (SELECT * FROM token_events WHERE run_id = $run_id {only}) e LEFT JOIN
            (SELECT request_id, one_token_per_chunk FROM request_times
             WHERE run_id = $run_id {only}) r USING (request_id)
        ORDER BY request_id, seq""",
        run_id=run_id,
        **wanted,
    )


def gap_hist(
    cursor: Cursor, run: str, stage: int | None = None, traffic: str | None = None
) -> pa.Table:
    """Histograms of chunk gaps and per-token ITL: stage, metric (gap, itl), b, n, in 1 % buckets.

    b: storage.buckets.  n: gaps; for itl tokens.  Of complete requests once the run is over; until
    then every gap so far, its stage told by the clock (-1 before the first), and no itl.
    traffic: of one class only, which is known once the run is over.
    """
    only = "" if stage is None else "AND stage = $stage"
    only += "" if traffic is None else " AND traffic_class = $traffic"
    wanted: dict[str, object] = {} if stage is None else {"stage": int(stage)}
    wanted |= {} if traffic is None else {"traffic": traffic}
    return frame(
        cursor,
        f"""
        SELECT stage, metric, b::INTEGER AS b, sum(n)::BIGINT AS n
        FROM hist WHERE run_id = $run_id {only}
        GROUP BY stage, metric, b ORDER BY stage, metric, b""",
        run_id=run_id_of(cursor, run),
        **wanted,
    )


def tokens_per_s(cursor: Cursor, run: str, traffic: str | None = None) -> pa.Table:
    """Arrivals per whole second of the run: sec, stage, tokens (known ones), events, unknown.

    traffic: of one class only, which is known once the run is over.
    """
    only = "" if traffic is None else "AND traffic_class = $traffic"
    return frame(
        cursor,
        f"""
        SELECT sec, stage, sum(tokens)::BIGINT AS tokens, sum(events)::BIGINT AS events,
            sum(unknown)::BIGINT AS unknown
        FROM tok_sec WHERE run_id = $run_id {only} GROUP BY sec, stage ORDER BY sec, stage""",
        run_id=run_id_of(cursor, run),
        **({} if traffic is None else {"traffic": traffic}),
    )


def gap_quantiles(  # noqa: PLR0913  # the arguments of a question; callers name them
    cursor: Cursor,
    run: str,
    stage: int,
    w0_us: int,
    w1_us: int,
    *,
    qs: Sequence[float],
    traffic: str | None = None,
) -> pa.Table:
    """Exact quantiles of chunk gap and per-token ITL over complete requests asked in the window.

    A request counts where it was due (else sent), whenever it ended; warm-up never.
    metric (gap, itl), q (0..1), value_us, n (gaps; for itl tokens), mean_us, undefined (for itl:
    gaps of requests whose token counts are unknown).  value_us and mean_us are null if n is 0.
    gap: linear between neighbours (numpy's default).  itl: the smallest gap / tokens that at least
    q of all tokens do not exceed (inverse distribution, weighted by tokens).
    """
    if not qs or not all(0 <= q <= 1 for q in qs):
        raise ValueError(f"qs is {list(qs)}; expected probabilities from 0 to 1")
    return frame(
        cursor,
        _GAP_QUANTILES.replace("$qs", f"{[float(q) for q in qs]}::DOUBLE[]"),  # literals only
        run_id=run_id_of(cursor, run),
        stage=int(stage),
        w0=int(w0_us),
        w1=int(w1_us),
        traffic=traffic,
    )


# Each distinct value once with its number: memory grows with the values, not with the events.
_GAP_QUANTILES = f"""
    WITH asked AS (
        SELECT request_id, output_tokens, one_token_per_chunk FROM request_times
        WHERE run_id = $run_id AND stage = $stage AND outcome = 'complete'
            AND phase NOT IN ('preflight', 'warmup') AND asked_us >= $w0 AND asked_us < $w1
            AND ($traffic IS NULL OR traffic_class = $traffic)),
    r AS MATERIALIZED ({told_by_request("asked", "t_us >= $w0")}),
    counted AS MATERIALIZED (
        SELECT gap_us, CASE WHEN is_told THEN coalesce(n_tokens, 1) END AS c, count(*) AS n
        FROM token_events JOIN r USING (request_id)
        WHERE run_id = $run_id AND t_us >= $w0 AND gap_us IS NOT NULL
        GROUP BY ALL),
    per_value AS MATERIALIZED (
        SELECT 'gap' AS metric, gap_us::DOUBLE AS v, sum(n)::BIGINT AS w FROM counted GROUP BY v
        UNION ALL
        SELECT 'itl', gap_us / c::DOUBLE AS v, sum(n * c)::BIGINT FROM counted
        WHERE c > 0 GROUP BY v),
    summed AS (
        SELECT *, sum(w) OVER (PARTITION BY metric ORDER BY v)::BIGINT AS upto,
            sum(w) OVER (PARTITION BY metric)::BIGINT AS total FROM per_value),
    q AS (SELECT unnest($qs) AS q),
    found AS (
        SELECT metric, q, CASE metric WHEN 'gap' THEN {linear("v", "upto", "total", "q")}
            ELSE min(v) FILTER (WHERE upto >= q * total) END AS value_us
        FROM summed CROSS JOIN q GROUP BY metric, q),
    whole AS (SELECT metric, sum(w)::BIGINT AS n, sum(v * w) / sum(w) AS mean_us
        FROM per_value GROUP BY metric)
    SELECT metric, q, value_us, coalesce(n, 0)::BIGINT AS n, mean_us,
        CASE metric WHEN 'gap' THEN 0
            ELSE (SELECT coalesce(sum(n), 0) FROM counted WHERE c IS NULL) END::BIGINT AS undefined
    FROM (SELECT unnest(['gap', 'itl']) AS metric) CROSS JOIN q
        LEFT JOIN found USING (metric, q) LEFT JOIN whole USING (metric)
    ORDER BY metric, q"""


def window_tokens(  # noqa: PLR0913  # the arguments of a question; callers name them
    cursor: Cursor, run: str, stage: int, w0_us: int, w1_us: int, *, traffic: str | None = None
) -> pa.Table:
    """What arrived within the window, of requests of every outcome, ended or not: one row.

    tokens (sum of known counts), events, unknown (events whose count nobody told: not in tokens).
    """
    return frame(
        cursor,
        f"""
        SELECT coalesce(sum(c), 0)::BIGINT AS tokens, count(*) AS events,
            count(*) FILTER (WHERE c IS NULL) AS unknown
        FROM ({_IN_WINDOW})""",
        run_id=run_id_of(cursor, run),
        stage=int(stage),
        w0=int(w0_us),
        w1=int(w1_us),
        traffic=traffic,
    )


def stamp_bounds(cursor: Cursor, run: str, stage: int, w0_us: int, w1_us: int) -> pa.Table:
    """How far arrivals within the window may be trusted: one row, µs.

    n_events, n_shared, n_missing (no kernel stamp), bound_p99_us (over all arrivals, 0 for an
    arrival that shared no read), bound_shared_p99_us (over shared ones), bound_max_us,
    lag_p50_us, lag_p99_us (read minus kernel stamp).  Quantiles are null where nothing is.
    n_timely_gaps: gaps before arrivals that were read within 1 ms; n_together: those of them below
    50 µs, which the endpoint or something on the way delivered in one piece.
    """
    return frame(
        cursor,
        _STAMP_BOUNDS,
        run_id=run_id_of(cursor, run),
        stage=int(stage),
        w0=int(w0_us),
        w1=int(w1_us),
    )


# A stream that has not ended has no row in requests yet: the window alone says its stage.
_STAMP_BOUNDS = f"""
    WITH counted AS MATERIALIZED (
        SELECT grouping(lag_us) = 0 AS is_lag, shared, bound_us, lag_us, count(*) AS n,
            count(*) FILTER (WHERE gap_us IS NOT NULL) AS n_gaps,
            count(*) FILTER (WHERE gap_us < 50) AS n_together
        FROM token_events ANTI JOIN
            (SELECT request_id FROM requests WHERE run_id = $run_id AND stage <> $stage)
            USING (request_id)
        WHERE run_id = $run_id AND t_us >= $w0 AND t_us < $w1
        GROUP BY GROUPING SETS ((shared, bound_us), (lag_us))),
    bound AS (
        SELECT bound_us AS v, sum(sum(n)) OVER (ORDER BY bound_us)::BIGINT AS upto,
            sum(sum(n)) OVER ()::BIGINT AS total
        FROM counted WHERE NOT is_lag GROUP BY bound_us),
    bound_shared AS (
        SELECT bound_us AS v, sum(n) OVER (ORDER BY bound_us)::BIGINT AS upto,
            sum(n) OVER ()::BIGINT AS total
        FROM counted WHERE NOT is_lag AND shared),
    lag AS (
        SELECT lag_us AS v, sum(n) OVER (ORDER BY lag_us)::BIGINT AS upto,
            sum(n) OVER ()::BIGINT AS total
        FROM counted WHERE is_lag AND lag_us IS NOT NULL)
    SELECT coalesce(sum(n) FILTER (WHERE NOT is_lag), 0)::BIGINT AS n_events,
        coalesce(sum(n) FILTER (WHERE NOT is_lag AND shared), 0)::BIGINT AS n_shared,
        coalesce(sum(n) FILTER (WHERE is_lag AND lag_us IS NULL), 0)::BIGINT AS n_missing,
        (SELECT {linear("v", "upto", "total", "0.99::DOUBLE")} FROM bound) AS bound_p99_us,
        (SELECT {linear("v", "upto", "total", "0.99::DOUBLE")} FROM bound_shared)
            AS bound_shared_p99_us,
        max(bound_us) AS bound_max_us,
        coalesce(sum(n_gaps) FILTER (WHERE is_lag AND lag_us < 1000), 0)::BIGINT AS n_timely_gaps,
        coalesce(sum(n_together) FILTER (WHERE is_lag AND lag_us < 1000), 0)::BIGINT
            AS n_together,
        (SELECT {linear("v", "upto", "total", "0.5::DOUBLE")} FROM lag) AS lag_p50_us,
        (SELECT {linear("v", "upto", "total", "0.99::DOUBLE")} FROM lag) AS lag_p99_us
    FROM counted"""

_IN_WINDOW = """
    SELECT coalesce(n_tokens, CASE WHEN one_token_per_chunk THEN 1 END) AS c
    FROM token_events e LEFT JOIN
        (SELECT request_id, stage, traffic_class, one_token_per_chunk FROM request_times
         WHERE run_id = $run_id) r USING (request_id)
    WHERE run_id = $run_id AND t_us >= $w0 AND t_us < $w1
        AND (r.stage = $stage OR r.stage IS NULL)
        AND ($traffic IS NULL OR r.traffic_class = $traffic)"""
