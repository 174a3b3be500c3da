"""Rows into a table, a batch at once: executemany manages 2,000 rows/s, an appender 50,000.

Token events take the third way, numpy columns (ingest.py): a million rows/s.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import duckdb


def insert_rows(
    cursor: duckdb.DuckDBPyConnection, table: str, run_id: int, rows: Sequence[Mapping[str, Any]]
) -> None:
    """Append rows of a run, matched by column name; a key that a row lacks becomes null.

    Keys without a column are left out.  Raises duckdb.ConversionException or ConstraintException if
    a value does not fit its column.
    """
    names = columns_of(cursor, table)
    insert_tuples(cursor, table, ([run_id, *(row.get(n) for n in names)] for row in rows))


def insert_tuples(
    cursor: duckdb.DuckDBPyConnection, table: str, rows: Iterable[Sequence[Any]]
) -> None:
    """Append rows whose values stand in the order of the table's columns, run_id first."""
    whole = list(rows)
    if whole:
        with cursor.appender(table, columns=["run_id", *columns_of(cursor, table)]) as appender:
            appender.append_rows(whole)


def columns_of(cursor: duckdb.DuckDBPyConnection, table: str) -> tuple[str, ...]:
    """Names of a table's columns in order; run_id and those with defaults left out."""
    if table not in _columns:  # asked once per table and process: 3 ms each
        found = cursor.execute(
            "SELECT column_name FROM duckdb_columns() WHERE table_name = $t "
            "AND column_name <> 'run_id' AND column_default IS NULL ORDER BY column_index",
            {"t": table},
        ).fetchall()
        _columns[table] = tuple(name for (name,) in found)
    return _columns[table]


_columns: dict[str, tuple[str, ...]] = {}  # a database keeps its columns while a process has it
