"""A run's tables as files of their own under DATA/exports, written by the store with SQL.

Nobody else may read the database file, and nothing is copied through Python: memory stays small
whatever the run's size.  `run_uid` goes out instead of the local `run_id`.
"""

from pathlib import Path
from typing import Literal

import duckdb
import pyarrow as pa

from storage.answers import run_id_of
from storage.exchange.manifest import MANIFEST, manifest, new_folder, put_away, refuse_full_disk
from storage.migrations import SCHEMA_VERSION
from storage.opening import first_line
from storage.owner import Owner
from storage.protocol import Mistake, StoreError

Form = Literal["parquet", "csv", "json"]
LOCAL_TABLES = frozenset({"kept_answers", "seg_ledger"})
"""Tables that mean something only where a run was measured: they never go out."""
_BYTES_PER_EVENT: dict[Form, int] = {"parquet": 9, "csv": 100, "json": 0}
_BYTES_PER_REQUEST: dict[Form, int] = {"parquet": 200, "csv": 600, "json": 1500}
_OPTIONS: dict[Form, str] = {
    "parquet": "FORMAT parquet, COMPRESSION zstd",  # version 2 is no smaller, and read by fewer
    "csv": "FORMAT csv, HEADER true",
    "json": "FORMAT json, ARRAY true",
}


def run_tables(owner: Owner, run: str, form: Form = "parquet", only: str | None = None) -> pa.Table:
    """Write a final run's tables into a new folder: columns folder, file, n_rows, n_bytes.

    form: `parquet` (the tables as they are, and a MANIFEST), `csv` or `json` (requests with their
    spans: request_times).  only: one table.  The folder is the caller's to move or remove
    (`put_away`).  Raises StoreError if the run is not stored whole yet or the disk is too full.
    """
    if form not in _OPTIONS:
        raise StoreError(f"The store writes {', '.join(_OPTIONS)}, not {form!r}.")
    folder = new_folder(owner.data)
    try:
        with owner.database.cursor() as cursor:
            return _written(cursor, run, form, only, folder)
    except BaseException as error:
        put_away(folder)
        if isinstance(error, (duckdb.Error, OSError)):
            raise StoreError(
                f"The run cannot be written to {folder.parent} ({first_line(error)})."
            ) from None
        raise


def tables_of_a_run(cursor: duckdb.DuckDBPyConnection) -> list[str]:
    """Names of the tables that hold a run's rows and may go out, `runs` first."""
    rows = cursor.execute(
        "SELECT DISTINCT table_name FROM duckdb_columns() WHERE column_name = 'run_id' AND "
        "table_name IN (SELECT table_name FROM duckdb_tables()) ORDER BY table_name"
    ).fetchall()
    found = [name for (name,) in rows if name not in LOCAL_TABLES and name != "runs"]
    return ["runs", *found]


def quoted(path: Path) -> str:
    """A path as an SQL text."""
    return "'" + str(path).replace("'", "''") + "'"


def _written(
    cursor: duckdb.DuckDBPyConnection, run: str, form: Form, only: str | None, folder: Path
) -> pa.Table:
    run_id, rows = run_id_of(cursor, run), {}
    # One state of all tables, whatever the intake writes meanwhile.
    cursor.execute("BEGIN TRANSACTION READ ONLY")
    try:
        uid = _whole(cursor, run_id, form, folder)
        for table in [only] if only else tables_of_a_run(cursor):
            path = folder / f"{table}.{form}"
            copied = cursor.execute(
                f"COPY ({_select(table, form, run_id, uid)}) TO {quoted(path)} ({_OPTIONS[form]})"
            )
            rows[table] = copied.fetchall()[0][0]
    finally:
        cursor.rollback()
    if form == "parquet":
        (folder / MANIFEST).write_bytes(manifest(uid, SCHEMA_VERSION, rows))
    return _listed(folder, form, rows)


def _whole(cursor: duckdb.DuckDBPyConnection, run_id: int, form: Form, folder: Path) -> str:
    """The run's uid, once it is sure that it is stored whole and that its files have room."""
    uid, is_final, n_events, n_requests = cursor.execute(
        "SELECT run_uid::VARCHAR, is_final, coalesce(n_events, 0), coalesce(n_requests, 0) "
        "FROM runs WHERE run_id = $r",
        {"r": run_id},
    ).fetchall()[0]
    if not is_final:
        raise Mistake(f"Run {uid} is not stored whole yet; export it when it has ended.")
    needed = n_events * _BYTES_PER_EVENT[form] + n_requests * _BYTES_PER_REQUEST[form]
    refuse_full_disk(folder, needed)
    return uid


def _select(table: str, form: Form, run_id: int, uid: str) -> str:
    if table == "runs":
        return f"SELECT * EXCLUDE (run_id) FROM runs WHERE run_id = {run_id}"
    source = "request_times" if table == "requests" and form != "parquet" else table
    return (
        f"SELECT '{uid}'::UUID AS run_uid, * EXCLUDE (run_id) FROM {source} WHERE run_id = {run_id}"
    )


def _listed(folder: Path, form: Form, rows: dict[str, int]) -> pa.Table:
    files = [folder / f"{table}.{form}" for table in rows]
    return pa.table(
        {
            "folder": [str(folder)] * len(files),
            "file": [path.name for path in files],
            "n_rows": list(rows.values()),
            "n_bytes": [path.stat().st_size for path in files],
        }
    )
