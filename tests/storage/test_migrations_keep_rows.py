"""A file of any older version keeps every row of every table, also if it is killed on the way."""

import os
import shutil
from pathlib import Path
from typing import Any

import duckdb
import pytest
from victims import CONTEXT

from storage.migrations import MIGRATIONS, SCHEMA_VERSION, bring_up_to_date, version_of

OLD_VERSIONS = range(1, SCHEMA_VERSION)
GONE = {("hist", "t10")}  # columns that a migration drops
CHANGED = {("runs", "is_final"), ("meta", "v")}  # made anew
VALUES = {
    "VARCHAR": "'text'",
    "BOOLEAN": "true",
    "UUID": "'01234567-89ab-cdef-0123-456789abcdef'",
    "TIMESTAMP": "'2026-01-02 03:04:05'",
    "DOUBLE": "1.5",
    "FLOAT": "1.5",
    "BLOB": "'ab'::BLOB",
}


def old_file(path: Path | None, version: int) -> duckdb.DuckDBPyConnection:
    """A database of that version with a row in each of its tables, every column told."""
    con = duckdb.connect(str(path or ":memory:"))
    con.execute(Path(__file__).with_name(f"schema_{max(version, 2)}.sql").read_text())
    if version == 1:
        con.execute("ALTER TABLE hist ADD COLUMN t10 INTEGER")
    con.execute("INSERT INTO meta VALUES ('schema_version', $v)", {"v": str(version)})
    for table, columns in columns_of(con).items():
        if table != "meta":
            told = ", ".join(
                "'tool'" if kind.startswith("ENUM") else VALUES.get(kind, "7")
                for kind in columns.values()
            )
            con.execute(f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({told})")
    return con


def columns_of(con: duckdb.DuckDBPyConnection) -> dict[str, dict[str, str]]:
    """Table -> column -> type; tables only, no views."""
    rows = con.execute(
        "SELECT table_name, column_name, data_type FROM duckdb_columns() SEMI JOIN duckdb_tables() "
        "USING (table_name) WHERE NOT internal ORDER BY table_name, column_index"
    ).fetchall()
    found: dict[str, dict[str, str]] = {}
    for table, column, kind in rows:
        found.setdefault(table, {})[column] = kind
    return found


def rows_of(con: duckdb.DuckDBPyConnection, columns: dict[str, dict[str, str]]) -> dict[str, Any]:
    """The rows of these tables, in these columns as far as they stay as they are."""
    found = {}
    for table, names in columns.items():
        kept = [n for n in names if (table, n) not in GONE | CHANGED]
        found[table] = con.execute(f"SELECT {', '.join(kept)} FROM {table}").fetchall()
    return found


@pytest.mark.parametrize("version", OLD_VERSIONS)
def test_every_row_of_every_table_is_there_after_all_steps(version):
    con = old_file(None, version)
    columns = columns_of(con)
    before = rows_of(con, columns)
    assert bring_up_to_date(con) == version
    assert all(len(rows) == 1 for rows in before.values())
    assert rows_of(con, columns) == before
    assert con.execute("SELECT count(*) FROM request_times").fetchall() == [(1,)]
    new = duckdb.connect()
    bring_up_to_date(new)
    assert columns_of(con) == columns_of(new)


def migrated(version: int, target: int) -> duckdb.DuckDBPyConnection:
    """A database of that version led to `target` without a kill."""
    con = old_file(None, version)
    for step in range(version + 1, target + 1):
        con.execute(MIGRATIONS[step])
    return con


class Dying:
    """A connection whose process is killed before its n-th call that changes something."""

    def __init__(self, con: duckdb.DuckDBPyConnection, n: int) -> None:
        self._con, self._n = con, n

    def __getattr__(self, name: str) -> Any:
        return getattr(self._con, name)

    def _count(self, name: str, *args: Any) -> Any:
        self._n -= 1
        if self._n < 0:
            os.kill(os.getpid(), 9)
        return getattr(self._con, name)(*args)

    def begin(self) -> Any:
        return self._count("begin")

    def commit(self) -> Any:
        return self._count("commit")

    def execute(self, sql: str, *args: Any) -> Any:
        if sql.lstrip().startswith("SELECT"):
            return self._con.execute(sql, *args)
        return self._count("execute", sql, *args)


def migrate_and_die(path: Path, n: int) -> None:
    bring_up_to_date(Dying(duckdb.connect(str(path)), n))  # type: ignore[arg-type]


@pytest.mark.slow
def test_killed_on_the_way_version_and_columns_agree_and_the_next_start_finishes(tmp_path):
    version, whole, path = SCHEMA_VERSION - 2, tmp_path / "whole.duckdb", tmp_path / "old.duckdb"
    con = old_file(whole, version)
    old = columns_of(con)
    before = rows_of(con, old)
    con.close()
    seen = []
    for n in (1, 3, 5, 7):  # of each step: before its SQL, and before its commit
        shutil.copy(whole, path)
        killed = CONTEXT.Process(target=migrate_and_die, args=(path, n))
        killed.start()
        killed.join()
        assert killed.exitcode == -9
        with duckdb.connect(str(path)) as left:
            seen.append(version_of(left))
            assert columns_of(left) == columns_of(migrated(version, seen[-1]))
            bring_up_to_date(left)
            assert rows_of(left, old) == before
        path.unlink()
    assert seen == [version] * 2 + [version + 1] * 2
