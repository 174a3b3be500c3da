"""Pieces of SQL that the questions about token events and the end of a run share."""


def told_by_request(requests: str, events: str = "true") -> str:
    """A SELECT: every column of `requests` and is_told, whether all its token counts are known.

    requests: a table with request_id, output_tokens, one_token_per_chunk; events: which token
    events to look at.  A count is known where the server told it, or where each chunk was one
    token; all are where they also add up to the usage (docs/metrics.md).  A request without any
    token event has no row.
    """
    return f"""
        SELECT r.*, (one_token_per_chunk OR n_told = n_chunks_seen)
            AND sum_told + CASE WHEN one_token_per_chunk THEN n_chunks_seen - n_told ELSE 0 END
                IS NOT DISTINCT FROM output_tokens AS is_told
        FROM {requests} r JOIN (
            SELECT request_id, count(*) AS n_chunks_seen, count(n_tokens) AS n_told,
                coalesce(sum(n_tokens), 0)::BIGINT AS sum_told
            FROM token_events WHERE run_id = $run_id AND {events} GROUP BY request_id)
            USING (request_id)"""


def linear(v: str, upto: str, total: str, q: str) -> str:
    """An aggregate: the q-quantile of values `v`, linear between neighbours (numpy's default).

    upto: how many values are at most v; total: how many there are.  null without rows.
    """
    at = f"({q} * ({total} - 1))"
    below = f"min({v}) FILTER (WHERE {upto} > floor{at})::DOUBLE"
    above = f"min({v}) FILTER (WHERE {upto} > ceil{at})::DOUBLE"
    share = f"any_value({at} - floor{at})"
    return f"({below} + ({above} - {below}) * {share})"
