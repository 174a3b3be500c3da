"""A new file gets the newest tables; an old one is led there step by step, a newer one refused."""

from pathlib import Path

import duckdb
import pytest

from storage.migrations import (
    MIGRATIONS,
    SCHEMA_VERSION,
    bring_up_to_date,
    schema_sql,
    version_of,
)
from storage.protocol import StoreError


def test_a_new_file_gets_every_table_and_its_version():
    con = duckdb.connect()
    assert version_of(con) == 0
    assert bring_up_to_date(con) == 0
    assert version_of(con) == SCHEMA_VERSION
    assert con.execute("SELECT count(*) FROM request_times").fetchall() == [(0,)]


ONE_STAGE = (
    "INSERT INTO stages (run_id, stage, name, kind, concurrency, begin_us) "
    "VALUES (1, 0, 'c=1', 'closed', 1, 0)"
)


def test_opening_again_changes_nothing():
    con = duckdb.connect()
    bring_up_to_date(con)
    con.execute(ONE_STAGE)
    assert bring_up_to_date(con) == SCHEMA_VERSION
    assert con.execute("SELECT count(*) FROM stages").fetchall() == [(1,)]


def test_every_version_between_is_stepped_through():
    con = duckdb.connect()
    bring_up_to_date(con, target=1, steps={})
    steps = {2: "ALTER TABLE stages ADD COLUMN a INTEGER", 3: "UPDATE stages SET a = 1"}
    con.execute(ONE_STAGE)
    bring_up_to_date(con, target=3, steps=steps)
    assert version_of(con) == 3
    assert con.execute("SELECT a FROM stages").fetchall() == [(1,)]


def test_a_step_that_fails_leaves_the_version_before_it():
    con = duckdb.connect()
    bring_up_to_date(con, target=1, steps={})
    steps = {2: "ALTER TABLE stages ADD COLUMN a INTEGER; SELECT no_such_column FROM stages"}
    with pytest.raises(duckdb.Error):
        bring_up_to_date(con, target=2, steps=steps)
    assert version_of(con) == 1
    names = con.execute("SELECT column_name FROM duckdb_columns() WHERE table_name = 'stages'")
    assert ("a",) not in names.fetchall()


def test_a_file_of_a_newer_headway_is_refused_and_untouched():
    con = duckdb.connect()
    bring_up_to_date(con, target=SCHEMA_VERSION + 1, steps={})
    with pytest.raises(StoreError, match="newer Headway"):
        bring_up_to_date(con)
    assert version_of(con) == SCHEMA_VERSION + 1


def test_each_version_after_the_first_has_its_step():
    assert set(MIGRATIONS) == set(range(2, SCHEMA_VERSION + 1))
    assert schema_sql().strip()


def old_file(version: int) -> duckdb.DuckDBPyConnection:
    """A database as the Headway of that schema version left it."""
    con = duckdb.connect()
    con.execute(Path(__file__).with_name(f"schema_{max(version, 2)}.sql").read_text())
    con.execute("INSERT INTO meta VALUES ('schema_version', $v)", {"v": str(version)})
    return con


def columns(con: duckdb.DuckDBPyConnection) -> list[tuple[str, str, str]]:
    return con.execute(
        "SELECT table_name, column_name, data_type FROM duckdb_columns() ORDER BY ALL"
    ).fetchall()


def test_a_file_of_version_1_keeps_its_histograms():
    con = old_file(1)
    con.execute(
        "CREATE OR REPLACE TABLE hist (run_id INTEGER NOT NULL, stage INTEGER NOT NULL, "
        "metric VARCHAR NOT NULL, t10 INTEGER NOT NULL, b SMALLINT NOT NULL, n BIGINT NOT NULL)"
    )
    con.execute("INSERT INTO hist VALUES (1, 0, 'gap', 7, 699, 3)")
    bring_up_to_date(con)
    assert con.execute("SELECT * FROM hist").fetchall() == [(1, 0, "gap", 699, 3, None, None)]


@pytest.mark.parametrize("version", [2, 3])
def test_an_old_file_ends_with_the_columns_of_a_new_one(version: int):
    new, old = duckdb.connect(), old_file(version)
    bring_up_to_date(new)
    assert bring_up_to_date(old) == version
    assert columns(old) == columns(new)
    assert old.execute("SELECT bucket(5)").fetchall() == new.execute("SELECT bucket(5)").fetchall()
