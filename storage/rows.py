"""Rows into a table, a batch at once: executemany manages 2,000 rows/s, an appender 50,000.

Token events take the third way, numpy columns (ingest.py): a million rows/s.
"""

import functools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import duckdb

from storage.migrations import schema_sql


def insert_rows(
    cursor: duckdb.DuckDBPyConnection, table: str, run_id: int, rows: Sequence[Mapping[str, Any]]
) -> None:
    """Append rows of a run, matched by column name; a key that a row lacks becomes null.

    Keys without a column are left out.  Raises duckdb.ConversionException or ConstraintException if
    a value does not fit its column.
    """
    names = columns_of(table)
    insert_tuples(cursor, table, ([run_id, *(row.get(n) for n in names)] for row in rows))


def insert_tuples(
    cursor: duckdb.DuckDBPyConnection, table: str, rows: Iterable[Sequence[Any]]
) -> None:
    """Append rows whose values stand in the order of the table's columns, run_id first."""
    whole = list(rows)
    if whole:
        with cursor.appender(table, columns=["run_id", *columns_of(table)]) as appender:
            appender.append_rows(whole)


@functools.cache
def columns_of(table: str) -> tuple[str, ...]:
    """Names of a table's columns in schema.sql; run_id and those with defaults left out."""
    with duckdb.connect() as con:  # once per table and process
        con.execute(schema_sql())
        found = con.execute(
            "SELECT column_name FROM duckdb_columns() WHERE table_name = $t "
            "AND column_name <> 'run_id' AND column_default IS NULL ORDER BY column_index",
            {"t": table},
        ).fetchall()
    return tuple(name for (name,) in found)
