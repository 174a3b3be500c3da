"""Column segments into the tables, each row exactly once, whatever is killed when.

One transaction holds a batch's rows, its summaries and its lines of the ledger; a segment's file is
put away after the commit (kept.py).  A file whose ledger line is complete was loaded before.
"""

import contextlib
import logging
from collections.abc import Iterable, Iterator
from typing import Any

import duckdb
import numpy as np
import numpy.typing as npt
import orjson

from storage.buckets import bucket
from storage.column_spool import ColumnSegment
from storage.database import rollback
from storage.kept import keep
from storage.mirror import Mirror
from storage.rows import insert_rows, insert_tuples
from storage.segments import (
    PIECE_ROWS,
    DamagedSegmentError,
    Piece,
    Progress,
    pieces,
)

Columns = dict[str, npt.NDArray[Any]]  # of one structured array

_US_PER_S = 1_000_000
_BIAS = 1 << 31  # makes times before the run's zero positive inside a packed key
_log = logging.getLogger("headway.store")
_TOKENS_SQL = """
    INSERT INTO token_events BY NAME SELECT
        $run_id AS run_id, request_id, seq, t_us,
        CASE WHEN gap_us >= 0 THEN gap_us END AS gap_us,
        CASE WHEN n_tokens > 0 THEN n_tokens END AS n_tokens,
        CASE kind WHEN 0 THEN 'content'::token_kind WHEN 1 THEN 'reasoning'::token_kind
                  WHEN 2 THEN 'refusal'::token_kind WHEN 3 THEN 'tool'::token_kind END AS kind,
        CASE WHEN lag_us >= 0 THEN lag_us END AS lag_us,
        shared <> 0 AS shared, bound_us
    FROM incoming_tokens"""

_COUNTS_SQL = """
    UPDATE requests SET tokenizer_tokens = n_tokens,
        output_tokens = coalesce(output_tokens, n_tokens),
        token_source = CASE WHEN output_tokens IS NULL THEN 'tokenizer' ELSE token_source END
    FROM incoming_counts
    WHERE requests.run_id = $run_id AND requests.request_id = incoming_counts.request_id"""


def ingest(cursor: duckdb.DuckDBPyConnection, run: Mirror, segments: list[ColumnSegment]) -> int:
    """Load segments and put their files away; returns the rows stored now.

    Small segments share a transaction, large ones take several.  A damaged one is set aside in the
    spool folder and counted in runs.n_damaged_segments; the rest is loaded all the same.
    """
    stored = 0
    aside: set[ColumnSegment] = set()
    for found in _batches(_pieces(cursor, run, segments)):
        batch = [piece for piece in found if piece.segment not in aside]
        if not batch:
            continue
        try:
            _commit(cursor, run, batch)
        except (duckdb.ConversionException, duckdb.ConstraintException) as error:
            if len(batch) > 1:  # find the one: each alone
                return stored + sum(ingest(cursor, run, [s]) for s in _segments_of(batch))
            aside.add(batch[0].segment)
            _set_aside(cursor, run, batch[0].segment, str(error))
            continue
        stored += sum(piece.n_rows for piece in batch)
    return stored


def _pieces(
    cursor: duckdb.DuckDBPyConnection, run: Mirror, segments: list[ColumnSegment]
) -> Iterator[Piece]:
    loaded = _ledger(cursor, run.run_id, segments)
    for segment in segments:
        done = loaded.get((segment.worker, segment.seq), Progress())
        if done.is_whole:
            keep(segment)  # killed between the commit and this
            continue
        try:
            yield from pieces(segment, done)
        except DamagedSegmentError as error:
            _set_aside(cursor, run, segment, str(error))


def _batches(all_pieces: Iterable[Piece]) -> Iterator[list[Piece]]:
    batch: list[Piece] = []
    for piece in all_pieces:
        if batch and sum(p.n_rows for p in batch) + piece.n_rows > PIECE_ROWS:
            yield batch
            batch = []
        batch.append(piece)
    if batch:
        yield batch


def _commit(cursor: duckdb.DuckDBPyConnection, run: Mirror, batch: list[Piece]) -> None:
    columns = _contiguous([piece.tokens for piece in batch])
    requests = [row for piece in batch for row in piece.requests]
    cursor.begin()
    try:
        insert_tuples(cursor, "seg_ledger", _ledger_rows(run.run_id, batch))
        if len(columns["t_us"]):
            _with_columns(cursor, "incoming_tokens", columns, (_TOKENS_SQL, run.run_id))
            stage = stage_of(columns["t_us"], run.stages)
            gaps, counts = gap_counts(columns, stage), token_counts(columns, stage)
            insert_tuples(cursor, "hist", ((run.run_id, *row, None, None) for row in gaps))
            insert_tuples(cursor, "tok_sec", ((run.run_id, *row, *[None] * 6) for row in counts))
        insert_rows(cursor, "requests", run.run_id, [_flat(row) for row in requests])
        counts = _contiguous([piece.counts for piece in batch])
        if len(counts["n_tokens"]):  # of requests that an earlier segment, or this batch, holds
            _with_columns(cursor, "incoming_counts", counts, (_COUNTS_SQL, run.run_id))
        insert_rows(cursor, "pulses", run.run_id, [row for p in batch for row in p.pulses])
        if run.is_final:  # a late segment: the summaries of the run's end are to be made again
            cursor.execute(
                "UPDATE runs SET is_final = false WHERE run_id = $run_id", {"run_id": run.run_id}
            )
        cursor.commit()
    except BaseException:
        rollback(cursor)
        raise
    run.is_final = False
    for piece in batch:
        if piece.is_last:
            keep(piece.segment)


def stage_of(t_us: npt.NDArray[np.int64], stages: list[dict[str, int]]) -> npt.NDArray[np.int64]:
    """The stage that had begun last at each instant; -1 before the first.

    Good enough while a run goes on (a stream may outlive its stage); finalise goes by request.
    """
    begins = sorted((row["begin_us"], row["stage"]) for row in stages)
    numbers = np.array([-1, *(stage for _, stage in begins)], dtype=np.int64)
    return numbers[np.searchsorted([begin for begin, _ in begins], t_us, side="right")]


def gap_counts(tokens: Columns, stage: npt.NDArray[np.int64]) -> list[tuple[int, str, int, int]]:
    """Chunk gaps by stage, metric and bucket, with their number."""
    has_gap = tokens["gap_us"] >= 0
    b = bucket(tokens["gap_us"][has_gap]).astype(np.int64)
    # One integer of stage | bucket: counting those is 10x faster than counting rows.
    packed = ((stage[has_gap] + 1) << 16) | b
    keys, counts = np.unique(packed, return_counts=True)
    return [
        ((key >> 16) - 1, "gap", key & 0xFFFF, n)
        for key, n in zip(keys.tolist(), counts.tolist(), strict=True)
    ]


def token_counts(
    tokens: Columns, stage: npt.NDArray[np.int64]
) -> list[tuple[int, int, int, int, int]]:
    """By stage and second of arrival: told tokens, events, events that tell no count."""
    packed = ((stage + 1) << 48) | (tokens["t_us"] // _US_PER_S + _BIAS)
    keys, place = np.unique(packed, return_inverse=True)
    told = np.bincount(place, weights=tokens["n_tokens"]).astype(np.int64)
    events = np.bincount(place)
    unknown = np.bincount(place, weights=tokens["n_tokens"] == 0).astype(np.int64)
    return [
        ((key >> 48) - 1, (key & 0xFFFFFFFFFFFF) - _BIAS, *sums)
        for key, *sums in zip(*(a.tolist() for a in (keys, told, events, unknown)), strict=True)
    ]


def _contiguous(arrays: list[npt.NDArray[Any]]) -> Columns:
    """The batch's structured rows as contiguous columns; within a segment in their order."""
    rows = np.concatenate(arrays)
    return {name: np.ascontiguousarray(rows[name]) for name in rows.dtype.names or ()}


def _with_columns(
    cursor: duckdb.DuckDBPyConnection, name: str, columns: Columns, statement: tuple[str, int]
) -> None:
    """Run a statement of one run that reads `columns` as the table `name`."""
    sql, run_id = statement
    cursor.register(name, columns)
    try:
        cursor.execute(sql, {"run_id": run_id})
    finally:
        with contextlib.suppress(duckdb.Error):
            cursor.unregister(name)


def _ledger(
    cursor: duckdb.DuckDBPyConnection, run_id: int, segments: list[ColumnSegment]
) -> dict[tuple[int, int], Progress]:
    rows = cursor.execute(
        "SELECT worker, seq, count(*), sum(n_rows)::BIGINT, bool_or(is_last) FROM seg_ledger "
        "WHERE run_id = $run_id AND seq >= $oldest GROUP BY worker, seq",
        {"run_id": run_id, "oldest": min(segment.seq for segment in segments)},
    ).fetchall()
    return {(worker, seq): Progress(parts, n, last) for worker, seq, parts, n, last in rows}


def _ledger_rows(run_id: int, batch: list[Piece]) -> list[tuple[int, int, int, int, int, bool]]:
    return [(run_id, p.segment.worker, p.segment.seq, p.part, p.n_rows, p.is_last) for p in batch]


def _flat(row: dict[str, object]) -> dict[str, object]:
    """The row with its one nested value as JSON text."""
    return {**row, "other_events": orjson.dumps(row.get("other_events") or {}).decode()}


def _segments_of(batch: list[Piece]) -> list[ColumnSegment]:
    return list(dict.fromkeys(piece.segment for piece in batch))


def _set_aside(
    cursor: duckdb.DuckDBPyConnection, run: Mirror, segment: ColumnSegment, why: str
) -> None:
    _log.error("a damaged column segment is kept as damaged-%s: %s", segment.path.name, why)
    segment.path.rename(segment.path.with_name(f"damaged-{segment.path.name}"))
    cursor.execute(
        "UPDATE runs SET n_damaged_segments = n_damaged_segments + 1 WHERE run_id = $run_id",
        {"run_id": run.run_id},
    )
