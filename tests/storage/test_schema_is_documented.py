"""docs/schema.md tells every table, every column and every question, and none that is not there."""

import re
from pathlib import Path

import duckdb
import pytest

from storage.answers_kept import KEPT
from storage.migrations import schema_sql
from storage.queries import QUERIES

TEXT = (Path(__file__).resolve().parents[2] / "docs" / "schema.md").read_text()
SECTIONS = dict(re.findall(r"^## (\w+)[^\n]*\n(.*?)(?=^## |\Z)", TEXT, re.M | re.S))


def tables():
    con = duckdb.connect()
    con.execute(schema_sql())
    found: dict[str, list[str]] = {}
    rows = con.execute(
        "SELECT table_name, column_name FROM duckdb_columns() "
        "WHERE NOT internal ORDER BY column_index"
    ).fetchall()
    for table, column in rows:
        found.setdefault(table, []).append(column)
    for view, below in (("request_times", "request_spans"), ("request_spans", "requests")):
        found[view] = [c for c in found[view] if c not in found[below]]
    return found


@pytest.mark.parametrize(
    ("table", "columns"), tables().items(), ids=lambda x: x if str(x) == x else ""
)
def test_the_columns_of_a_table_are_documented_in_its_order(table, columns):
    documented = re.findall(r"^\| (\w+) \|", SECTIONS[table], re.M)
    assert [name for name in documented if name != "column"] == columns


def test_nothing_is_documented_that_does_not_exist():
    assert set(SECTIONS) == set(tables()) | {"Named", "Ten"}


def test_every_question_is_named_and_says_what_its_frame_holds():
    for name, query in QUERIES.items():
        assert f"`{name}`" in SECTIONS["Named"]
        assert query.__doc__
        assert query.__name__ == name
    assert set(QUERIES) >= KEPT
