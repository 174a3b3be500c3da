"""Token events as they came, and the summaries that spare a page from reading them.

A token event's count is what the server told; where it told none, 1 if the request's usage equals
its number of chunks; else unknown.
"""

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
            (SELECT request_id, one_token_per_chunk FROM request_spans
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
        FROM hist WHERE run_id = $run_id AND metric IN ('gap', 'itl') {only}
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
