"""Backup and vacuum: a copy by SQL that is whole, or nothing has happened."""

import os
from pathlib import Path

import duckdb
import pytest
from made_up_runs import RunFolder, Stream, Tables
from victims import CONTEXT

from storage import copies
from storage.opening import NAME
from storage.owner import Owner
from storage.protocol import StoreError


@pytest.fixture
def filled(tables, tmp_path):
    """Tables with two final runs of twenty streams each, behind a large hole."""
    tables.sql("CREATE TABLE big AS SELECT range a, hash(range) b FROM range(500000)")
    tables.sql("CHECKPOINT")
    for k in range(2):
        run = RunFolder(tmp_path)
        run.columns(0, [Stream(20 * k + i, gaps_us=(20_000,) * 99) for i in range(20)])
        run.end()
    tables.turn()
    tables.sql("DROP TABLE big")
    return tables


def counts(con):
    """Rows of every table."""
    names = con.execute(
        "SELECT table_name FROM duckdb_tables() WHERE database_name = current_database() ORDER BY 1"
    ).fetchall()
    return {n: con.execute(f"SELECT count(*) FROM {n}").fetchall()[0][0] for (n,) in names}


def counts_of(tables):
    with tables.database.cursor() as cursor:
        return counts(cursor)


def owner_of(tables):
    return Owner(tables.database, tables.data)


def test_a_backup_is_the_whole_database_to_any_duckdb(filled, tmp_path):
    path = tmp_path / "it's a backup.duckdb"
    told = copies.backup(owner_of(filled), str(path)).to_pylist()
    assert told == [{"path": str(path), "n_bytes": path.stat().st_size}]
    with duckdb.connect(str(path), read_only=True) as con:
        assert counts(con) == counts_of(filled)
        assert con.execute("SELECT count(*) FROM request_times").fetchall() == [(40,)]
    assert sorted(p.name for p in tmp_path.glob("*fresh*")) == []


def test_a_backup_in_the_place_of_the_database_is_a_data_folder_that_works(filled, tmp_path):
    (tmp_path / "other").mkdir()
    copies.backup(owner_of(filled), str(tmp_path / "other" / NAME))
    other = Tables(tmp_path / "other")
    run = RunFolder(tmp_path / "other")
    run.columns(0, [Stream(0)])
    other.turn()
    assert other.ask("runs")[0]["run_uid"] == run.uid
    assert len(other.ask("runs")) == 3
    other.database.close()


@pytest.mark.parametrize("there", ["a file", "no folder"])
def test_a_backup_writes_over_nothing(filled, tmp_path, there):
    path = tmp_path / ("a file" if there == "a file" else "nowhere/b.duckdb")
    (tmp_path / "a file").write_text("mine")
    with pytest.raises(StoreError, match=r"give (a name that is free|another path)"):
        copies.backup(owner_of(filled), str(path))
    assert (tmp_path / "a file").read_text() == "mine"


def test_a_copy_without_room_is_refused_and_says_how_much_it_needs(filled, tmp_path, monkeypatch):
    monkeypatch.setattr(copies, "least_free_bytes", lambda _: 1 << 60)
    with pytest.raises(StoreError, match=r"A copy needs [\d,]+ MiB .* make room"):
        copies.vacuum(owner_of(filled))
    assert not list(tmp_path.glob(f"{copies.FRESH}*"))


def test_vacuum_shrinks_the_file_and_changes_nothing_else(filled, tmp_path):
    before, size = counts_of(filled), (tmp_path / NAME).stat().st_size
    (told,) = copies.vacuum(owner_of(filled)).to_pylist()
    assert told == {"before_bytes": size, "after_bytes": (tmp_path / NAME).stat().st_size}
    assert told["after_bytes"] < 0.6 * told["before_bytes"]
    assert counts_of(filled) == before
    run = RunFolder(tmp_path)
    run.columns(0, [Stream(0)])
    filled.turn()
    assert len(filled.ask("requests", run=run.uid)) == 1


def test_vacuum_waits_for_questions_and_refuses_if_one_does_not_end(filled, monkeypatch):
    monkeypatch.setattr("storage.database._CLOSE_WITHIN_S", -4.9)
    with filled.database.cursor() as cursor:
        cursor.execute("SELECT 1")
        with pytest.raises(StoreError, match=r"still being answered, .* try again"):
            copies.vacuum(owner_of(filled))
    assert counts_of(filled)["requests"] == 40


def vacuum_and_die(data: Path, where: str) -> None:
    """A store that is killed inside vacuum."""

    def die(*_: object) -> None:
        os.kill(os.getpid(), 9)

    if where == "while copying":
        copies._tables = die
    elif where == "before the exchange":
        Path.replace = die
    else:
        copies.sync_folder = die
    tables = Tables(data)
    copies.vacuum(Owner(tables.database, data))


@pytest.mark.slow
@pytest.mark.parametrize("where", ["while copying", "before the exchange", "after the exchange"])
def test_a_store_killed_inside_vacuum_leaves_the_old_file_or_the_new_one(filled, tmp_path, where):
    before = counts_of(filled)
    filled.database.close()
    size = (tmp_path / NAME).stat().st_size
    killed = CONTEXT.Process(target=vacuum_and_die, args=(tmp_path, where))
    killed.start()
    killed.join()
    assert killed.exitcode == -9
    copies.remove_leftovers(tmp_path)
    assert not list(tmp_path.glob("*fresh*"))
    assert ((tmp_path / NAME).stat().st_size < size) == (where == "after the exchange")
    tables = Tables(tmp_path)
    assert counts_of(tables) == before
    tables.database.close()
