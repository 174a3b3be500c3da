"""A full disk costs nothing that was committed; a file that cannot be opened is explained."""

import subprocess
import sys
import threading

import duckdb
import pytest
from made_up_runs import no_file_longer_than

from storage.database import NAME, Database
from storage.protocol import StoreError


def fill(database, n):
    with database.cursor() as cursor:
        cursor.execute("INSERT INTO t SELECT hash(range) FROM range($n)", {"n": n})


def count(database):
    with database.cursor() as cursor:
        return cursor.execute("SELECT count(*) FROM t").fetchall()[0][0]


def checkpoint(database, whatever_happens):
    with database.cursor() as cursor:
        try:
            cursor.execute("CHECKPOINT")
        finally:
            whatever_happens()


@pytest.fixture
def database(tmp_path):
    database = Database(tmp_path)
    with database.cursor() as cursor:
        cursor.execute("CREATE TABLE t (a UBIGINT)")
    fill(database, 50_000)
    yield database
    database.close()


def test_a_checkpoint_on_a_full_disk_is_survived_with_every_committed_row(database):
    limit = no_file_longer_than(16_384)
    with limit, pytest.raises(StoreError, match=r"free some space"), database.cursor() as cursor:
        cursor.execute("CHECKPOINT")
    assert count(database) == 50_000
    fill(database, 10)
    assert count(database) == 50_010


def test_a_commit_on_a_full_disk_is_undone_and_the_next_one_works(database, tmp_path):
    wal_bytes = (tmp_path / f"{NAME}.wal").stat().st_size
    with no_file_longer_than(wal_bytes), pytest.raises(duckdb.Error):
        fill(database, 10_000)
    assert count(database) == 50_000
    fill(database, 10)
    database.close()
    assert count(Database(tmp_path)) == 50_010


def test_a_thread_that_was_reading_meets_the_error_too_and_all_go_on(database):
    reading, broken, told = threading.Event(), threading.Event(), []

    def read():
        try:
            with database.cursor() as cursor:
                reading.set()
                broken.wait(10)
                cursor.execute("SELECT count(*) FROM t")
        except StoreError as error:
            told.append(str(error))

    reader = threading.Thread(target=read)
    reader.start()
    reading.wait(10)
    with no_file_longer_than(16_384), pytest.raises(StoreError):
        checkpoint(database, broken.set)
    reader.join(10)
    assert len(told) == 1
    assert count(database) == 50_000


def test_a_file_that_is_no_database_is_explained_and_left_alone(tmp_path):
    (tmp_path / NAME).write_bytes(b"garbage" * 1000)
    with pytest.raises(StoreError, match=r"headway\.duckdb cannot be read .* move it away"):
        Database(tmp_path)
    assert (tmp_path / NAME).read_bytes() == b"garbage" * 1000


@pytest.mark.slow
def test_a_database_open_in_another_program_is_named_with_it(tmp_path):
    code = (
        "import sys, duckdb\ncon = duckdb.connect(sys.argv[1]); print('open', flush=True); input()"
    )
    other = subprocess.Popen(
        [sys.executable, "-c", code, tmp_path / NAME],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert other.stdout
    assert other.stdin
    other.stdout.readline()
    try:
        with pytest.raises(StoreError, match=rf"open in .*process {other.pid}; close it there"):
            Database(tmp_path)
    finally:
        other.communicate(b"\n")
