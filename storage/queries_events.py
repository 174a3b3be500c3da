"""Token events: exact numbers over a window, and the summaries that spare a page from reading them.

Windows are [w0_us, w1_us) on the run's time line.  A token event's count is what the server told;
where it told none, 1 if the request's usage equals its number of chunks; else unknown.
"""

from collections.abc import Sequence

import duckdb
import pyarrow as pa

from storage.answers import frame, run_id_of

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


def gap_hist(cursor: Cursor, run: str, stage: int | None = None) -> pa.Table:
    """Histograms of chunk gaps and per-token ITL: stage, metric (gap, itl), b, n, in 1 % buckets.

    b: storage.buckets.  n: gaps; for itl tokens.  Of complete requests once the run is over; until
    then every gap so far, its stage told by the clock (-1 before the first), and no itl.
    """
    only = "" if stage is None else "AND stage = $stage"
    wanted = {} if stage is None else {"stage": int(stage)}
    return frame(
        cursor,
        f"""
        SELECT stage, metric, b::INTEGER AS b, sum(n)::BIGINT AS n
        FROM hist WHERE run_id = $run_id {only}
        GROUP BY stage, metric, b ORDER BY stage, metric, b""",
        run_id=run_id_of(cursor, run),
        **wanted,
    )


def tokens_per_s(cursor: Cursor, run: str) -> pa.Table:
    """Arrivals per whole second of the run: sec, stage, tokens (known ones), events, unknown."""
    return frame(
        cursor,
        """
        SELECT sec, stage, sum(tokens)::BIGINT AS tokens, sum(events)::BIGINT AS events,
            sum(unknown)::BIGINT AS unknown
        FROM tok_sec WHERE run_id = $run_id GROUP BY sec, stage ORDER BY sec, stage""",
        run_id=run_id_of(cursor, run),
    )


def gap_quantiles(  # noqa: PLR0913  # the arguments of a question; callers name them
    cursor: Cursor, run: str, stage: int, w0_us: int, w1_us: int, *, qs: Sequence[float]
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
    )


_GAP_QUANTILES = """
    WITH r AS (
        SELECT request_id, output_tokens, one_token_per_chunk FROM request_times
        WHERE run_id = $run_id AND stage = $stage AND outcome = 'complete'
            AND phase NOT IN ('preflight', 'warmup') AND asked_us >= $w0 AND asked_us < $w1),
    e AS (
        SELECT request_id, gap_us, output_tokens,
            coalesce(n_tokens, CASE WHEN one_token_per_chunk THEN 1 END) AS c
        FROM token_events JOIN r USING (request_id) WHERE run_id = $run_id AND t_us >= $w0),
    told AS (
        SELECT request_id FROM e GROUP BY request_id
        HAVING count(c) = count(*) AND sum(c) = any_value(output_tokens)),
    gap AS (
        SELECT quantile_cont(gap_us, $qs) AS values_us, count(gap_us) AS n, avg(gap_us) AS mean
        FROM e),
    per_value AS (
        SELECT gap_us / c::DOUBLE AS v, sum(c) AS w FROM e JOIN told USING (request_id)
        WHERE gap_us IS NOT NULL AND c > 0 GROUP BY v),
    summed AS (
        SELECT v, sum(w) OVER (ORDER BY v) AS upto, sum(w) OVER () AS total FROM per_value),
    itl AS (
        SELECT coalesce(sum(w), 0)::BIGINT AS n, sum(v * w) / sum(w) AS mean FROM per_value),
    q AS (SELECT unnest($qs) AS q, generate_subscripts($qs, 1) AS i)
    SELECT 'gap' AS metric, q, values_us[i] AS value_us, n, mean AS mean_us, 0::BIGINT AS undefined
    FROM q, gap
    UNION ALL
    SELECT 'itl', q, (SELECT min(v) FROM summed WHERE upto >= q * total), itl.n, itl.mean,
        (SELECT count(gap_us) FROM e ANTI JOIN told USING (request_id))
    FROM q, itl
    ORDER BY metric, q"""


def window_tokens(cursor: Cursor, run: str, stage: int, w0_us: int, w1_us: int) -> pa.Table:
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
    )


def stamp_bounds(cursor: Cursor, run: str, stage: int, w0_us: int, w1_us: int) -> pa.Table:
    """How far arrivals within the window may be trusted: one row, µs.

    n_events, n_shared, n_missing (no kernel stamp), bound_p99_us (over all arrivals, 0 for an
    arrival that shared no read), bound_shared_p99_us (over shared ones), bound_max_us,
    lag_p50_us, lag_p99_us (read minus kernel stamp).  Quantiles are null where nothing is.
    """
    return frame(
        cursor,
        f"""
        SELECT count(*) AS n_events, count(*) FILTER (WHERE shared) AS n_shared,
            count(*) FILTER (WHERE lag_us IS NULL) AS n_missing,
            quantile_cont(bound_us, 0.99) AS bound_p99_us,
            quantile_cont(bound_us, 0.99) FILTER (WHERE shared) AS bound_shared_p99_us,
            max(bound_us) AS bound_max_us,
            quantile_cont(lag_us, 0.5) AS lag_p50_us, quantile_cont(lag_us, 0.99) AS lag_p99_us
        FROM ({_IN_WINDOW})""",
        run_id=run_id_of(cursor, run),
        stage=int(stage),
        w0=int(w0_us),
        w1=int(w1_us),
    )


# A stream that has not ended has no row in requests yet: the window alone says its stage.
_IN_WINDOW = """
    SELECT e.*, coalesce(n_tokens, CASE WHEN one_token_per_chunk THEN 1 END) AS c
    FROM token_events e LEFT JOIN
        (SELECT request_id, stage, one_token_per_chunk FROM request_times
         WHERE run_id = $run_id) r USING (request_id)
    WHERE run_id = $run_id AND t_us >= $w0 AND t_us < $w1
        AND (r.stage = $stage OR r.stage IS NULL)"""
