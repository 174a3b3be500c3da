"""The SQL of queries_window.py: each question once from token events and once from summaries.

Each distinct value stands once with its number: memory grows with the values, not with the events.
"""

from storage.counting import linear, told_by_request
from storage.summarised import WITHIN

ASKED = """
    SELECT request_id, output_tokens, one_token_per_chunk FROM request_spans
    WHERE run_id = $run_id AND stage = $stage AND outcome = 'complete'
        AND phase NOT IN ('preflight', 'warmup') AND asked_us >= $w0 AND asked_us < $w1
        AND ($traffic IS NULL OR traffic_class = $traffic)"""

# At a run's end it is known of each request whether its tokens are told: half of the cost saved.
TOLD_BEFORE = """
    SELECT request_id, is_told FROM asked JOIN
        (SELECT request_id, is_told FROM request_gaps WHERE run_id = $run_id) USING (request_id)"""

_SECONDS = "run_id = $run_id AND sec * 1_000_000 >= $w0 AND sec * 1_000_000 < $w1"
_CLASS = "($traffic IS NULL OR traffic_class = $traffic)"


def _values_of_events(told: str) -> str:
    """CTEs that end in per_value(metric, v, w) and undefined(n); told: request_id, is_told."""
    return f"""
    asked AS ({ASKED}),
    r AS MATERIALIZED ({told}),
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
    undefined AS (SELECT sum(n) AS n FROM counted WHERE c IS NULL)"""


_VALUES_OF_HIST = f"""
    asked AS (
        SELECT request_id FROM request_spans
        WHERE run_id = $run_id AND stage = $stage AND outcome = 'complete'
            AND phase NOT IN ('preflight', 'warmup') AND {_CLASS}
            AND asked_us // 1_000_000 * 1_000_000 >= $w0
            AND asked_us // 1_000_000 * 1_000_000 < $w1),
    per_value AS MATERIALIZED (
        SELECT metric, bucket_us(b)::DOUBLE AS v, sum(n)::BIGINT AS w FROM hist
        WHERE {_SECONDS} AND stage = $stage AND metric IN ('gap', 'itl') AND {_CLASS}
        GROUP BY metric, b),
    undefined AS (
        SELECT sum(n_gaps) AS n FROM request_gaps JOIN asked USING (request_id)
        WHERE run_id = $run_id AND NOT is_told)"""


def _gap_quantiles(values: str, within: float) -> str:
    return f"""
    WITH {values},
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
            ELSE coalesce((SELECT n FROM undefined), 0) END::BIGINT AS undefined,
        {within}::DOUBLE AS within
    FROM (SELECT unnest(['gap', 'itl']) AS metric) CROSS JOIN q
        LEFT JOIN found USING (metric, q) LEFT JOIN whole USING (metric)
    ORDER BY metric, q"""


GAPS_OF_LIVE = _gap_quantiles(_values_of_events(told_by_request("asked", "t_us >= $w0")), 0)
GAPS_OF_FINAL = _gap_quantiles(_values_of_events(TOLD_BEFORE), 0)
GAPS_FROM_HIST = _gap_quantiles(_VALUES_OF_HIST, WITHIN)

# A stream that has not ended has no row in requests yet: the window alone says its stage.
TOKENS_OF_EVENTS = """
    WITH e AS (
        SELECT coalesce(n_tokens, CASE WHEN one_token_per_chunk THEN 1 END) AS c
        FROM token_events LEFT JOIN
            (SELECT request_id, stage, traffic_class, one_token_per_chunk FROM request_spans
             WHERE run_id = $run_id) r USING (request_id)
        WHERE run_id = $run_id AND t_us >= $w0 AND t_us < $w1
            AND (r.stage = $stage OR r.stage IS NULL)
            AND ($traffic IS NULL OR r.traffic_class = $traffic))
    SELECT coalesce(sum(c), 0)::BIGINT AS tokens, count(*) AS events,
        count(*) FILTER (WHERE c IS NULL) AS unknown
    FROM e"""

TOKENS_FROM_SECONDS = f"""
    SELECT coalesce(sum(tokens), 0)::BIGINT AS tokens, coalesce(sum(events), 0)::BIGINT AS events,
        coalesce(sum(unknown), 0)::BIGINT AS unknown
    FROM tok_sec WHERE {_SECONDS} AND stage IN (-1, $stage) AND {_CLASS}"""

_QUANTILES = f"""
        (SELECT {linear("v", "upto", "total", "0.99::DOUBLE")} FROM bound) AS bound_p99_us,
        (SELECT {linear("v", "upto", "total", "0.99::DOUBLE")} FROM bound_shared)
            AS bound_shared_p99_us,
        (SELECT {linear("v", "upto", "total", "0.5::DOUBLE")} FROM lag) AS lag_p50_us,
        (SELECT {linear("v", "upto", "total", "0.99::DOUBLE")} FROM lag) AS lag_p99_us"""

BOUNDS_OF_EVENTS = f"""
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
        max(bound_us) AS bound_max_us,
        coalesce(sum(n_gaps) FILTER (WHERE is_lag AND lag_us < 1000), 0)::BIGINT AS n_timely_gaps,
        coalesce(sum(n_together) FILTER (WHERE is_lag AND lag_us < 1000), 0)::BIGINT
            AS n_together,
        {_QUANTILES}, 0::DOUBLE AS within
    FROM counted"""

BOUNDS_FROM_HIST = f"""
    WITH summed AS MATERIALIZED (
        SELECT metric, bucket_us(b)::DOUBLE AS v,
            sum(sum(n)) OVER (PARTITION BY metric ORDER BY b)::BIGINT AS upto,
            sum(sum(n)) OVER (PARTITION BY metric)::BIGINT AS total
        FROM hist WHERE {_SECONDS} AND stage IN (-1, $stage)
            AND metric IN ('bound', 'bound_shared', 'lag')
        GROUP BY metric, b),
    bound AS (SELECT * FROM summed WHERE metric = 'bound'),
    bound_shared AS (SELECT * FROM summed WHERE metric = 'bound_shared'),
    lag AS (SELECT * FROM summed WHERE metric = 'lag')
    SELECT coalesce(sum(events), 0)::BIGINT AS n_events,
        coalesce(sum(shared), 0)::BIGINT AS n_shared,
        coalesce(sum(missing), 0)::BIGINT AS n_missing,
        max(bound_max_us) AS bound_max_us,
        coalesce(sum(timely_gaps), 0)::BIGINT AS n_timely_gaps,
        coalesce(sum(together), 0)::BIGINT AS n_together,
        {_QUANTILES}, {WITHIN}::DOUBLE AS within
    FROM tok_sec WHERE {_SECONDS} AND stage IN (-1, $stage)"""
