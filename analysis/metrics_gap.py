"""Entries of METRICS per gap: the time between chunks, and between tokens where they are told."""

from analysis.metric import Metric

STALLS_MS = (100, 250, 500, 1000)

# Requests that count, and the gaps of theirs that arrived since the window began.
_GAPS_OF = """FROM token_events e JOIN asked USING (run_id, request_id)
WHERE outcome = 'complete' AND e.gap_us IS NOT NULL AND e.t_us >= w0"""

_ITL = f"""WITH told AS (
    SELECT run_id, request_id FROM token_events e JOIN asked USING (run_id, request_id)
    GROUP BY run_id, request_id
    HAVING any_value(one_token_per_chunk)
        OR (count(*) = count(e.n_tokens) AND sum(e.n_tokens) = any_value(output_tokens))),
spread AS (
    SELECT e.gap_us / coalesce(e.n_tokens, 1)::DOUBLE AS v, coalesce(e.n_tokens, 1) AS tokens
    {_GAPS_OF} AND e.n_tokens IS DISTINCT FROM 0
        AND request_id IN (SELECT request_id FROM told)),
summed AS (
    SELECT v, sum(tokens) OVER (ORDER BY v RANGE UNBOUNDED PRECEDING) AS upto,
        sum(tokens) OVER () AS total FROM spread)
SELECT any_value(total) AS n, min(v) FILTER (WHERE upto >= 0.5 * total) / 1e3 AS p50,
    min(v) FILTER (WHERE upto >= 0.9 * total) / 1e3 AS p90,
    min(v) FILTER (WHERE upto >= 0.95 * total) / 1e3 AS p95,
    min(v) FILTER (WHERE upto >= 0.99 * total) / 1e3 AS p99
FROM summed"""


def _share_over(limit_ms: int) -> Metric:
    return Metric(
        name=f"stall_share_{limit_ms}",
        title=f"Gaps over {limit_ms:,} ms",
        unit="%",
        better="lower",
        per="gap",
        formula=f"chunk gaps longer than {limit_ms:,} ms ÷ all chunk gaps",
        sql=(
            f"SELECT 100.0 * coalesce(sum(n) FILTER (WHERE bucket_us(b) > {limit_ms}e3), 0)\n"
            "    / sum(n) AS value\nFROM hist JOIN w USING (run_id, stage) WHERE metric = 'gap'"
        ),
        undefined_when="no request has two chunks",
        source="Headway; the whole stage, limits accurate to 1 % (log buckets)",
    )


def _per_1k(limit_ms: int) -> Metric:
    return Metric(
        name=f"stalls_per_1k_{limit_ms}",
        title=f"Stalls over {limit_ms:,} ms per 1k tokens",
        unit="per 1k tok",
        better="lower",
        per="gap",
        formula=(
            f"chunk gaps longer than {limit_ms:,} ms ÷ (output_tokens ÷ 1,000), over the answers "
            "that tell their output_tokens"
        ),
        sql=(
            f"SELECT 1000.0 * sum(coalesce(stalls_{limit_ms}, 0)) / sum(output_tokens) AS value\n"
            "FROM asked WHERE outcome = 'complete' AND output_tokens IS NOT NULL\n"
            "    AND (n_gaps IS NOT NULL OR n_chunks = 1)"
        ),
        undefined_when="no answer tells its output_tokens, or its gaps are not known",
        source="Headway",
    )


GAPS = (
    Metric(
        name="chunk_gap",
        title="Chunk gap",
        unit="ms",
        better="lower",
        per="gap",
        formula="time between successive chunks of a request; each gap counts once",
        sql=(
            "SELECT count(*) AS n, avg(e.gap_us) / 1e3 AS mean,\n"
            "    [q / 1e3 FOR q IN quantile_cont(e.gap_us, [0.5, 0.9, 0.95, 0.99])] "
            f"AS percentiles\n{_GAPS_OF}"
        ),
        undefined_when="no request has two chunks",
        source="docs/glossary.md; vLLM calls it ITL, AIPerf ICL",
        columns=("p99",),
        is_headline=True,
        is_objective=True,
    ),
    Metric(
        name="itl",
        title="Inter-token latency",
        short="ITL",
        unit="ms",
        better="lower",
        per="gap",
        formula="chunk gap ÷ tokens in the later chunk, weighted by those tokens",
        sql=_ITL,
        undefined_when="the tokens in each chunk are not known: then only the chunk gap exists",
        source="Headway: a gap is spread over the tokens that it brought",
        is_headline=True,
    ),
    *map(_share_over, STALLS_MS),
    *map(_per_1k, STALLS_MS),
)
