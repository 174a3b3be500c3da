"""Summaries of a run: counts and TTFT about once a second, exact histograms when it is over."""

import time
from pathlib import Path

import duckdb

from storage.counting import told_by_request
from storage.database import rollback

QUIET_S = 60.0
_COUNTED = "run_id = $run_id AND phase NOT IN ('preflight', 'warmup')"


def refresh_summary(cursor: duckdb.DuckDBPyConnection, run_id: int) -> None:
    """Make the run's rows of `summary` agree with its requests and tok_sec."""
    cursor.begin()
    try:
        _summarise(cursor, run_id)
        cursor.commit()
    except BaseException:
        rollback(cursor)
        raise


def finalise(cursor: duckdb.DuckDBPyConnection, run_id: int) -> None:
    """Replace the live summaries by exact ones and mark the run final; may be called again.

    The histograms then hold complete requests only, by the request's stage; ITL where every token
    count is known (docs/metrics.md).
    """
    known = {"run_id": run_id}
    cursor.begin()
    try:
        for table in ("hist", "tok_sec"):
            cursor.execute(f"DELETE FROM {table} WHERE run_id = $run_id", known)
        cursor.execute(_HIST, known)
        cursor.execute(_TOKENS_PER_S, known)
        _summarise(cursor, run_id)
        cursor.execute(_MARK_FINAL, known)
        cursor.commit()
    except BaseException:
        rollback(cursor)
        raise


def is_settled(spool: Path, n_workers: int | None) -> bool:
    """Whether nothing more can come out of the spool of a run that is over.

    Every decoder has left its mark, or no raw read and no text waits for one.  A spool in which
    nothing has moved for a minute is settled too (its decoder was killed): what comes later reopens
    the run.
    """
    try:
        names = [entry.name for entry in spool.iterdir()]
    except FileNotFoundError:
        return True
    if any(name.startswith("col-") and name.endswith(".seg") for name in names):
        return False
    marks = sum(name.startswith("decoded-w") for name in names)
    if n_workers is not None and marks >= n_workers:
        return True
    is_waiting = [n.startswith("raw-") and n.endswith((".open", ".seg")) for n in names]
    if not any(is_waiting) and not any(name.startswith("texts-") for name in names):
        return True
    return time.time() - spool.stat().st_mtime > QUIET_S


def _summarise(cursor: duckdb.DuckDBPyConnection, run_id: int) -> None:
    cursor.execute("DELETE FROM summary WHERE run_id = $run_id", {"run_id": run_id})
    cursor.execute(_SUMMARY, {"run_id": run_id})


_COMPLETE = f"""
    SELECT request_id, stage, traffic_class, output_tokens, one_token_per_chunk
    FROM request_times WHERE {_COUNTED} AND outcome = 'complete'"""

# One scan, each distinct gap once with its number: memory grows with the values, not the events.
_HIST = f"""
    INSERT INTO hist BY NAME
    WITH asked AS ({_COMPLETE}),
    r AS MATERIALIZED ({told_by_request("asked")}),
    counted AS MATERIALIZED (
        SELECT stage, traffic_class, gap_us,
            CASE WHEN is_told THEN coalesce(n_tokens, 1) END AS c, count(*) AS n
        FROM token_events JOIN r USING (request_id)
        WHERE run_id = $run_id AND gap_us IS NOT NULL
        GROUP BY ALL)
    SELECT $run_id AS run_id, stage, 'gap' AS metric, bucket(gap_us) AS b, sum(n)::BIGINT AS n,
        traffic_class
    FROM counted GROUP BY ALL
    UNION ALL
    SELECT $run_id, stage, 'itl', bucket(gap_us / c) AS b, sum(n * c)::BIGINT, traffic_class
    FROM counted WHERE c > 0 GROUP BY ALL"""

_TOKENS_PER_S = """
    INSERT INTO tok_sec BY NAME
    WITH e AS (
        SELECT coalesce(stage, -1) AS stage, traffic_class, t_us // 1_000_000 AS sec,
            coalesce(n_tokens, CASE WHEN one_token_per_chunk THEN 1 END) AS c
        FROM token_events LEFT JOIN
            (SELECT request_id, stage, traffic_class, phase, one_token_per_chunk FROM request_times
             WHERE run_id = $run_id) USING (request_id)
        WHERE run_id = $run_id AND phase IS DISTINCT FROM 'preflight')
    SELECT $run_id AS run_id, stage, sec, coalesce(sum(c), 0)::BIGINT AS tokens,
        count(*) AS events, count(*) FILTER (WHERE c IS NULL) AS unknown, traffic_class
    FROM e GROUP BY stage, sec, traffic_class"""

# A chunk whose count is unknown is taken for the mean tokens per chunk of the requests that tell; a
# second in which even that is unknown leaves no peak: it may have been the best one.
_SUMMARY = f"""
    INSERT INTO summary BY NAME
    WITH per AS (
        SELECT stage, traffic_class, count(*) AS n_requests,
            count(*) FILTER (WHERE outcome = 'complete') AS n_complete,
            count(*) FILTER (WHERE outcome NOT IN ('complete', 'cancelled', 'not_sent'))
                AS n_failed,
            count(*) FILTER (WHERE outcome = 'cancelled') AS n_cancelled,
            count(*) FILTER (WHERE outcome = 'not_sent') AS n_not_sent,
            sum(output_tokens)::BIGINT AS output_tokens,
            sum(output_tokens) FILTER (WHERE n_chunks > 0)
                / nullif(sum(n_chunks) FILTER (WHERE output_tokens IS NOT NULL), 0)::DOUBLE
                AS tokens_per_chunk,
            quantile_cont(ttft_us, 0.5) FILTER (WHERE outcome = 'complete') AS ttft_p50_us,
            quantile_cont(ttft_us, 0.95) FILTER (WHERE outcome = 'complete') AS ttft_p95_us,
            quantile_cont(ttft_us, 0.99) FILTER (WHERE outcome = 'complete') AS ttft_p99_us,
            quantile_cont(e2e_us, 0.95) FILTER (WHERE outcome = 'complete') AS e2e_p95_us
        FROM request_times WHERE {_COUNTED}
        GROUP BY GROUPING SETS ((stage, traffic_class), (stage), ())),
    per_sec AS (
        SELECT stage, traffic_class, sum(tokens)::BIGINT AS tokens, sum(unknown)::BIGINT AS unknown
        FROM (SELECT * REPLACE (coalesce(traffic_class, '') AS traffic_class) FROM tok_sec)
        WHERE run_id = $run_id AND stage >= 0
        GROUP BY GROUPING SETS ((stage, traffic_class, sec), (stage, sec), (sec))),
    estimated AS (
        SELECT per_sec.stage, per_sec.traffic_class, tokens + CASE WHEN unknown = 0 THEN 0
            ELSE unknown * tokens_per_chunk END AS tokens
        FROM per_sec JOIN per ON per.stage IS NOT DISTINCT FROM per_sec.stage
            AND per.traffic_class IS NOT DISTINCT FROM per_sec.traffic_class),
    peak AS (
        SELECT stage, traffic_class,
            CASE WHEN count(tokens) = count(*) THEN max(tokens) END AS peak_tokens_per_s
        FROM estimated GROUP BY stage, traffic_class)
    SELECT $run_id AS run_id, per.*, peak_tokens_per_s
    FROM per LEFT JOIN peak ON per.stage IS NOT DISTINCT FROM peak.stage
        AND per.traffic_class IS NOT DISTINCT FROM peak.traffic_class"""

_MARK_FINAL = """
    UPDATE runs SET is_final = true,
        n_events = (SELECT count(*) FROM token_events WHERE run_id = $run_id),
        n_requests = (SELECT count(*) FROM requests WHERE run_id = $run_id)
    WHERE run_id = $run_id"""
