"""Hostile SQL: every statement is refused, changes no row, and touches no file."""

import contextlib

import duckdb
import pytest
from made_up_runs import RunFolder, Stream, Tables

from storage.client import StoreError
from storage.queries import QUERIES

# {file} is a real file outside the data folder, {new} a path beside it, {inside} one in the folder.
HOSTILE = """
INSERT INTO meta VALUES ('a', 'b')
UPDATE runs SET name = 'x'
DELETE FROM requests
DROP TABLE runs
TRUNCATE token_events
CREATE TABLE t AS SELECT 1
CREATE TEMP TABLE t AS SELECT 1
CREATE OR REPLACE VIEW request_times AS SELECT 1
CREATE MACRO m() AS 1
ALTER TABLE runs ADD COLUMN x INTEGER
WITH x AS (INSERT INTO meta VALUES ('a', 'b') RETURNING k) FROM x
WITH x AS (DELETE FROM runs RETURNING name) SELECT * FROM x
WITH x AS (UPDATE runs SET name = 'x' RETURNING name) SELECT * FROM x
SELECT 1; DROP TABLE runs
SELECT 1;;; COPY runs TO '{new}'
COPY runs TO '{new}'
COPY (SELECT 1) TO '{new}' (FORMAT parquet)
COPY runs TO '{inside}'
EXPORT DATABASE '{new}'
IMPORT DATABASE '{new}'
ATTACH '{new}' AS other
ATTACH ':memory:' AS other
DETACH headway
USE other
INSTALL httpfs
LOAD '{new}'
SET memory_limit = '100GB'
SET GLOBAL enable_external_access = true
RESET lock_configuration
PRAGMA database_list
PRAGMA enable_profiling
CALL pragma_version()
CHECKPOINT
VACUUM
BEGIN
COMMIT
PREPARE p AS SELECT 1
EXECUTE p
EXPLAIN ANALYZE SELECT 1
SET VARIABLE x = 1
FROM '{file}'
FROM "{file}"
SELECT * FROM '{inside}'
SELECT (SELECT count(*) FROM '{file}')
FROM read_csv('{file}')
FROM read_csv_auto('{file}')
FROM read_text('{file}')
FROM read_blob('{file}')
FROM read_parquet('{file}')
FROM parquet_scan('{file}')
FROM parquet_metadata('{file}')
FROM read_json('{file}')
FROM read_duckdb('{file}')
FROM glob('/*')
FROM sniff_csv('{file}')
SELECT * FROM runs, LATERAL (FROM read_text('{file}'))
WITH x AS (FROM read_text('{file}')) FROM x
WITH "{file}" AS (SELECT 1) FROM runs WHERE EXISTS (FROM '{file}')
SELECT * FROM (WITH sqlite_master AS (SELECT 1) SELECT 1), sqlite_master
FROM query('DROP TABLE runs')
FROM query_table('runs')
FROM json_execute_serialized_sql(json_serialize_sql('SELECT 1'))
SELECT json_serialize_plan('FROM read_text(''{file}'')')
FROM duckdb_settings()
FROM duckdb_secrets()
FROM duckdb_temporary_files()
FROM duckdb_logs
FROM sqlite_master
FROM information_schema.tables
FROM pg_catalog.pg_settings
FROM system.main.duckdb_settings()
FROM pragma_database_size()
FROM which_secret('{file}', 's3')
FROM enable_logging()
FROM checkpoint()
FROM arrow_scan(1, 2, 3)
FROM seq_scan('runs')
FROM repeat_row('x', num_rows = 10)
SELECT getenv('HOME')
SELECT getvariable('x')
SELECT current_setting('temp_directory')
SELECT @@memory_limit
SELECT system.main.current_setting('temp_directory')
SELECT list_transform(['temp_directory'], lambda x: current_setting(x))
SELECT name FROM runs ORDER BY current_setting('threads')
SELECT nextval('run_ids')
SELECT setval('run_ids', 1)
SELECT write_log('x')
SELECT sleep_ms(100000)
SELECT pg_sleep(1000)
SELECT list_resize([1], 1500000000)
SELECT repeat('x', 1500000000)
SELECT range(1500000000)
SELECT bitstring('1', 4000000000)
SELECT 1; DROP TABLE runs -- x
FROM kept_answers
WITH kept_answers AS (FROM main.kept_answers) FROM kept_answers
FROM headway.main.kept_answers
FROM other.main.runs
SHOW DATABASES
DESCRIBE '{file}'
SUMMARIZE FROM read_csv('{file}')
SELECT $1
SELECT ?
PIVOT runs ON name USING count(*)
""".strip().splitlines()


@pytest.fixture(scope="module")
def around(shared_tables: Tables, tmp_path_factory):
    """Tables with one run, and a folder beside them with one file."""
    run = RunFolder(shared_tables.data)
    run.columns(0, [Stream(0)])
    run.end()
    while shared_tables.turn():
        pass
    beside = tmp_path_factory.mktemp("beside")
    (beside / "secret.csv").write_text("secret,1\n")
    return shared_tables, beside


def files_of(*folders):
    return {p: p.stat().st_mtime_ns for folder in folders for p in folder.rglob("*")}


def rows_of(tables):
    return {
        name: tables.sql(f"SELECT * FROM {name}")
        for (name,) in tables.sql("SELECT table_name FROM duckdb_tables() ORDER BY 1")
    }


def filled_in(text, tables, beside):
    paths = {"file": beside / "secret.csv", "new": beside / "new", "inside": tables.data / "x.csv"}
    for name, path in paths.items():
        text = text.replace(f"{{{name}}}", str(path))
    return text


def what_came_back(tables, text):
    """The rows, or the sentence of the refusal, as text."""
    with tables.database.cursor() as cursor:
        try:
            return "rows", str(QUERIES["sql"](cursor, text=text).to_pylist())
        except StoreError as refused:
            return "refused", str(refused)


def test_every_hostile_statement_is_refused_and_leaves_files_and_rows_alone(around):
    tables, beside = around
    rows, not_refused = rows_of(tables), {}
    for text in HOSTILE:
        before = files_of(beside, tables.data)
        how, told = what_came_back(tables, filled_in(text, tables, beside))
        if how != "refused" or files_of(beside, tables.data) != before:
            not_refused[text] = told
        assert "secret,1" not in told
        assert "\n" not in told, text
    assert not_refused == {}
    assert rows_of(tables) == rows


def test_a_file_is_out_of_reach_even_if_the_first_wall_falls(around):
    tables, beside = around
    before, read = files_of(beside), {}
    for text in (t for t in HOSTILE if "{file}" in t or "{new}" in t):
        with tables.database.cursor() as cursor, contextlib.suppress(duckdb.Error):
            read[text] = str(cursor.execute(filled_in(text, tables, beside)).fetchall())
    assert not [text for text, rows in read.items() if "secret" in rows.replace("secret.csv", "")]
    assert files_of(beside) == before


@pytest.mark.parametrize(
    "text", ["SET memory_limit = '2GB'", "SET enable_external_access = true", "INSTALL httpfs"]
)
def test_the_second_wall_cannot_be_taken_down(around, text):
    tables, _ = around
    with tables.database.cursor() as cursor, pytest.raises(duckdb.Error):
        cursor.execute(text)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("USE other", "USE"),
        ("begin", "BEGIN"),
        ("/* so */ CHECKPOINT", "CHECKPOINT"),
        ("TRUNCATE runs", "TRUNCATE"),
        ("INSTALL httpfs", "INSTALL"),
        ("WITH a AS (SELECT 1) INSERT INTO runs FROM a", "INSERT"),
    ],
)
def test_a_statement_that_is_refused_is_called_by_its_own_word(around, text, word):
    how, told = what_came_back(around[0], text)
    assert how == "refused"
    assert f", not {word}: the box reads" in told
