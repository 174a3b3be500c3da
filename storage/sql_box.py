"""A reader's own SQL, answered within limits: rows, bytes, time, memory; it reads and no more."""

import contextlib
import threading
import time
from collections.abc import Generator

import duckdb
import pyarrow as pa

from storage.database import rollback
from storage.opening import first_line
from storage.protocol import CUT, TOOK_MS, StoreError
from storage.sql_check import checked

DEFAULT_ROWS, MOST_ROWS = 10_000, 100_000
MOST_BYTES = 64 << 20
WITHIN_S = 10.0
_BATCH_ROWS = 2048


def sql(cursor: duckdb.DuckDBPyConnection, text: str, limit: int = DEFAULT_ROWS) -> pa.Table:
    """The result of one SELECT that a reader typed, at most `limit` rows (100,000) and 64 MiB.

    Columns are named apart, whole numbers int64 (float64 where one does not fit), decimals float64,
    intervals text; schema metadata: CUT, a sentence if rows are missing, and TOOK_MS.
    Raises StoreError with a sentence: not a single SELECT over our own tables and harmless
    functions (sql_check.py), DuckDB's own error, longer than 10 s, or out of the store's memory.
    """
    limit = max(1, min(int(limit), MOST_ROWS))
    begin_s = time.perf_counter()
    with _errors_as_sentences(), _read_only(cursor), _within(cursor, WITHIN_S):
        batches, cut = _read(cursor, checked(cursor, text), limit)
    told = {CUT: cut.encode(), TOOK_MS: f"{(time.perf_counter() - begin_s) * 1e3:.1f}".encode()}
    return _plain(pa.Table.from_batches(*batches)).replace_schema_metadata(told)


def _read(
    cursor: duckdb.DuckDBPyConnection, statement: duckdb.Statement, limit: int
) -> tuple[tuple[list[pa.RecordBatch], pa.Schema], str]:
    asked = cursor.sql(statement)
    reader = asked.limit(limit + 1).to_arrow_reader(_BATCH_ROWS)
    batches: list[pa.RecordBatch] = []
    n_rows = n_bytes = 0
    for batch in reader:
        batches.append(batch.slice(0, limit - n_rows))
        n_bytes += batch.nbytes
        n_rows += batch.num_rows
        if n_rows > limit:
            return (batches, reader.schema), f"Cut after {limit:,} rows: there are more."
        if n_bytes > MOST_BYTES:
            return (
                (batches, reader.schema),
                f"Cut after {n_rows:,} rows, at {MOST_BYTES >> 20} MiB: there may be more.",
            )
    return (batches, reader.schema), ""


@contextlib.contextmanager
def _read_only(cursor: duckdb.DuckDBPyConnection) -> Generator[None]:
    cursor.execute("BEGIN TRANSACTION READ ONLY")
    try:
        yield
    finally:
        with contextlib.suppress(duckdb.Error):  # the cursor is closed next: that ends it too
            rollback(cursor)


@contextlib.contextmanager
def _within(cursor: duckdb.DuckDBPyConnection, seconds: float) -> Generator[None]:
    timer = threading.Timer(seconds, cursor.interrupt)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


@contextlib.contextmanager
def _errors_as_sentences() -> Generator[None]:
    try:
        yield
    except duckdb.FatalException:  # the database has to be opened again: database.py does
        raise
    except duckdb.InterruptException:
        raise StoreError(
            f"This took longer than {WITHIN_S:g} s and was ended; ask for fewer runs or seconds, "
            "or of the summaries instead of token_events."
        ) from None
    except duckdb.OutOfMemoryException as error:
        raise StoreError(
            f"This needs more memory than the store may take ({first_line(error)}); ask for less "
            "at once."
        ) from None
    except duckdb.Error as error:
        raise StoreError(first_line(error)) from None


def _plain(table: pa.Table) -> pa.Table:
    columns = [_plain_column(column) for column in table.columns]
    return pa.table(columns, names=_apart(table.column_names))


def _plain_column(column: pa.ChunkedArray) -> pa.ChunkedArray | pa.Array:
    kind = column.type
    if pa.types.is_decimal(kind) and kind.scale:
        return column.cast(pa.float64(), safe=False)
    if pa.types.is_decimal(kind) or pa.types.is_uint64(kind):
        try:
            return column.cast(pa.int64())
        except pa.ArrowInvalid:
            return column.cast(pa.float64(), safe=False)
    if pa.types.is_dictionary(kind):
        return column.cast(kind.value_type)
    if pa.types.is_interval(kind):
        return pa.array([None if v is None else _interval(v) for v in column.to_pylist()])
    return column


def _interval(value: pa.MonthDayNano) -> str:
    return f"{value.months} months {value.days} days {value.nanoseconds / 1e9:g} s"


def _apart(names: list[str]) -> list[str]:
    found: list[str] = []
    for name in names:
        candidate, n = name, 1
        while candidate in found:
            candidate, n = f"{name}_{n}", n + 1
        found.append(candidate)
    return found
