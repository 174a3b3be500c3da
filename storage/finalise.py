"""Summaries of a run: counts and TTFT about once a second, exact histograms when it is over."""

import time
from pathlib import Path
from typing import Any

import duckdb
from numpy.typing import NDArray

from storage.database import rollback
from storage.event_ranges import classes_of, event_ranges
from storage.finalise_hist import METRICS, Histograms, bin_s
from storage.finalise_requests import request_gaps
from storage.finalise_seconds import Seconds
from storage.queries_health import DOUBT

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
    count is known (docs/metrics.md).  A run whose token events were dropped keeps what it has.
    """
    known = {"run_id": run_id}
    cursor.begin()
    try:
        if not _one(cursor, _IS_DROPPED, run_id):
            _replace(cursor, run_id)
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


_REPLACED = ("hist", "tok_sec", "doubt_sec", "request_gaps", "kept_answers")


def _replace(cursor: duckdb.DuckDBPyConnection, run_id: int) -> None:
    """Every summary of the run made anew from its token events, in one pass over them."""
    for table in _REPLACED:
        cursor.execute(f"DELETE FROM {table} WHERE run_id = $run_id", {"run_id": run_id})
    classes = classes_of(cursor, run_id)
    histograms = Histograms(bin_s(_one(cursor, _DURATION, run_id)))
    seconds, n_events = Seconds(), 0
    for events in event_ranges(cursor, run_id, classes):
        n_events += events.n_events
        histograms.add(events)
        seconds.add(events)
        _insert(cursor, _INSERT_REQUESTS, request_gaps(events), run_id=run_id)
    named = {"run_id": run_id, "classes": classes}
    _insert(cursor, _INSERT_HIST, histograms.rows(), **named, metrics=METRICS)
    _insert(cursor, _INSERT_SECONDS, seconds.rows(), **named)
    cursor.execute(_INSERT_DOUBT, {"run_id": run_id})
    cursor.execute(
        "UPDATE runs SET n_events = $n WHERE run_id = $run_id", {"run_id": run_id, "n": n_events}
    )


def _insert(
    cursor: duckdb.DuckDBPyConnection, sql: str, rows: dict[str, NDArray[Any]], **params: Any
) -> None:
    """Insert rows that the SQL knows as the table `incoming`."""
    cursor.register("incoming", rows)
    try:
        cursor.execute(sql, params)
    finally:
        cursor.unregister("incoming")


def _one(cursor: duckdb.DuckDBPyConnection, sql: str, run_id: int) -> Any:
    found = cursor.execute(sql, {"run_id": run_id}).fetchall()
    return found[0][0]


def _summarise(cursor: duckdb.DuckDBPyConnection, run_id: int) -> None:
    cursor.execute("DELETE FROM summary WHERE run_id = $run_id", {"run_id": run_id})
    cursor.execute(_SUMMARY, {"run_id": run_id})
    cursor.execute(_NO_PEAK, {"run_id": run_id})


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
        FROM request_spans WHERE {_COUNTED}
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

# Seconds since each request's own send are no seconds of the run: they have no best one.
_NO_PEAK = """
    UPDATE summary SET peak_tokens_per_s = NULL WHERE run_id = $run_id AND EXISTS (
        SELECT 1 FROM runs WHERE run_id = $run_id
            AND json_extract_string(facts, '$.imported.has_times') = 'false')"""

_MARK_FINAL = """
    UPDATE runs SET is_final = true,
        n_requests = (SELECT count(*) FROM requests WHERE run_id = $run_id)
    WHERE run_id = $run_id"""

_IS_DROPPED = "SELECT raw_dropped_epoch_ns IS NOT NULL FROM runs WHERE run_id = $run_id"

# A run's last arrival tells how long it was, also where nobody wrote down its stages.
_DURATION = """
    SELECT coalesce(max(greatest(end_us, coalesce(last_token_us, 0))), 0) / 1e6
    FROM requests WHERE run_id = $run_id"""

_INSERT_HIST = """
    INSERT INTO hist BY NAME SELECT $run_id AS run_id, stage, $metrics[metric + 1] AS metric, b, n,
        $classes[traffic] AS traffic_class, sec
    FROM incoming"""

_INSERT_SECONDS = """
    INSERT INTO tok_sec BY NAME SELECT $run_id AS run_id, * EXCLUDE (traffic),
        $classes[traffic] AS traffic_class
    FROM incoming"""

_INSERT_REQUESTS = "INSERT INTO request_gaps BY NAME SELECT $run_id AS run_id, * FROM incoming"

_INSERT_DOUBT = f"INSERT INTO doubt_sec BY NAME SELECT $run_id AS run_id, * FROM ({DOUBT})"
