"""A run's tables, written by another data folder's store, into this one's: all of them or none.

The folder lies in DATA/exports/tmp (own_zip.py puts it there).  A run that came this way has no
folder in DATA/runs, so the intake neither follows nor changes it; its uid is the same everywhere,
and its local run_id is new.
"""

import contextlib
import hashlib
import time
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from storage.answers import one_row
from storage.database import rollback
from storage.exchange.manifest import (
    FORMAT_VERSION,
    MANIFEST,
    folder_named,
    manifest_of,
    refuse_full_disk,
)
from storage.exchange.run_tables import quoted, tables_of_a_run
from storage.finalise import finalise
from storage.migrations import SCHEMA_VERSION
from storage.opening import first_line
from storage.owner import Owner
from storage.protocol import StoreError
from storage.records import TERMINAL

_BYTES_PER_ROW = 16  # in our file, roughly
_ROWS_PER_BYTE = 50  # no measurement packs more rows into a byte of Parquet
_FEW_ROWS = 1_000_000
Cursor = duckdb.DuckDBPyConnection
Row = dict[str, Any]


def load_tables(owner: Owner, folder: str) -> pa.Table:
    """Take a run in; one row: run_uid, is_new (false: it was here already, nothing was changed).

    folder: name of a folder in DATA/exports/tmp with a MANIFEST and Parquet files.  A column that
    an older Headway did not have becomes null.  Raises StoreError, one sentence, and has changed
    nothing then.
    """
    path = folder_named(owner.data, folder)
    told = manifest_of((path / MANIFEST).read_bytes())
    _refuse_newer(told)
    refuse_full_disk(path, sum(told["rows"].values()) * _BYTES_PER_ROW)
    with owner.database.writing, owner.database.cursor() as cursor:
        if _is_here(cursor, owner.data, told["run_uid"]):
            return one_row({"run_uid": told["run_uid"], "is_new": False})
        cursor.begin()
        try:
            run_id = _load(cursor, path, told)
            cursor.commit()
        except BaseException as error:
            rollback(cursor)
            if isinstance(error, duckdb.Error) and not isinstance(error, duckdb.FatalException):
                raise StoreError(
                    f"The files do not hold a run as Headway stores it ({first_line(error)})."
                ) from None
            raise
        if told["schema_version"] < SCHEMA_VERSION:
            finalise(cursor, run_id)  # summaries that the older version did not have
        with contextlib.suppress(duckdb.TransactionException):  # someone writes: later will do
            cursor.execute("CHECKPOINT")
    return one_row({"run_uid": told["run_uid"], "is_new": True})


def _refuse_newer(told: Row) -> None:
    if told["format_version"] > FORMAT_VERSION or told["schema_version"] > SCHEMA_VERSION:
        raise StoreError(
            f"It was exported by a newer Headway (schema {told['schema_version']}, this one knows "
            f"{SCHEMA_VERSION}); import it there, or update this one."
        )


def _is_here(cursor: Cursor, data: Path, run_uid: str) -> bool:
    if (data / "runs" / run_uid / "plan.json").exists():
        return True  # measured here; the intake has it, or takes it in next
    found = cursor.execute(
        "SELECT count(*) FROM runs WHERE run_uid = try_cast($u AS UUID)", {"u": run_uid}
    )
    return found.fetchall()[0][0] > 0


def _load(cursor: Cursor, path: Path, told: Row) -> int:
    run_id = 0
    for table in tables_of_a_run(cursor):
        file = path / f"{table}.parquet"
        if not file.is_file():
            if told["rows"].get(table):
                raise StoreError(f"{file.name} is missing from it.")
            continue
        _refuse_odd_size(cursor, table, file, told)
        columns = _columns(cursor, table, file, told)
        if table == "runs":
            run_id = _load_run(cursor, columns, file, told)
        else:
            _insert(cursor, table, [f"{run_id} AS run_id", *columns], file)
    return run_id


def _refuse_odd_size(cursor: Cursor, table: str, file: Path, told: Row) -> None:
    n_rows = cursor.execute(f"SELECT count(*) FROM read_parquet({quoted(file)})").fetchall()[0][0]
    expected = 1 if table == "runs" else told["rows"].get(table, 0)
    if n_rows != expected:
        raise StoreError(f"{file.name} holds {n_rows:,} rows; expected {expected:,}.")
    if n_rows > max(_FEW_ROWS, _ROWS_PER_BYTE * file.stat().st_size):
        raise StoreError(f"{file.name} unpacks to {n_rows:,} rows: no run looks like that.")


def _columns(cursor: Cursor, table: str, file: Path, told: Row) -> list[str]:
    """The table's columns that the file has; run_id, which is local, is never among them."""
    ours = _names(cursor.execute(f"DESCRIBE {table}"))
    theirs = _names(cursor.execute(f"DESCRIBE FROM read_parquet({quoted(file)})"))
    odd = set(theirs) - set(ours) - {"run_uid"}
    if "run_id" in theirs or (odd and told["schema_version"] == SCHEMA_VERSION):
        shown = ", ".join(sorted(odd or {"run_id"}))[:80]
        raise StoreError(f"{file.name} has columns that are not Headway's: {shown}.")
    return [f'"{name}"' for name in ours if name in theirs]


def _names(described: Cursor) -> list[str]:
    return [str(row[0]) for row in described.fetchall()]


def _load_run(cursor: Cursor, columns: list[str], file: Path, told: Row) -> int:
    run_id, uid, state, is_final, plan, sha256 = _insert(
        cursor,
        "runs",
        columns,
        file,
        returning="run_id, run_uid, state, is_final, plan, plan_sha256",
    )[0]
    cursor.execute(
        "UPDATE runs SET created_epoch_ns = $now WHERE run_id = $run_id",
        {"now": time.time_ns(), "run_id": run_id},
    )
    if str(uid) != told["run_uid"] or state not in TERMINAL or not is_final:
        raise StoreError(f"Its runs.parquet and its {MANIFEST} do not speak of one finished run.")
    if hashlib.sha256(plan.encode()).hexdigest() != sha256:
        raise StoreError("Its plan is not the one that was run: their hashes differ.")
    return int(run_id)


def _insert(
    cursor: Cursor, table: str, columns: list[str], file: Path, returning: str = ""
) -> list[Any]:
    names = ", ".join(columns)
    more = f" RETURNING {returning}" if returning else ""
    done = cursor.execute(
        f"INSERT INTO {table} BY NAME SELECT {names} FROM read_parquet({quoted(file)}){more}"
    )
    return done.fetchall()
