"""What goes to save space goes whole, stays gone, and takes nothing else along."""

import shutil

import pytest
from made_up_runs import RunFolder, Stream

from storage import retention
from storage.answers import UnknownRunError
from storage.intake import Intake
from storage.owner import Owner
from storage.protocol import StoreError


@pytest.fixture
def two(tables, tmp_path):
    """Two final runs of three streams each."""
    runs = [RunFolder(tmp_path, name) for name in ("old", "new")]
    for run in runs:
        run.columns(0, [Stream(k) for k in range(3)])
        run.end()
    for _ in runs:  # a turn closes one
        tables.turn()
    return runs


def owner_of(tables):
    return Owner(tables.database, tables.data)


def n_rows(tables, run):
    """Rows of the run in each table that holds some."""
    with tables.database.cursor() as cursor:
        names = retention.tables_of_runs(cursor)
    counted = {
        name: tables.sql(
            f"SELECT count(*) FROM {name} WHERE run_id = "
            f"(SELECT run_id FROM runs WHERE run_uid = '{run.uid}')"
        )[0][0]
        for name in names
    }
    return {name: n for name, n in counted.items() if n}


def test_dropped_token_events_leave_requests_and_summaries(tables, two):
    old, new = two
    before, other = n_rows(tables, old), n_rows(tables, new)
    summaries = tables.ask("gap_hist", run=old.uid)
    told = retention.drop_raw(owner_of(tables), [old.uid]).to_pylist()
    assert told == [{"n_events": 30}]
    assert n_rows(tables, old) == {k: n for k, n in before.items() if k != "token_events"}
    assert n_rows(tables, new) == other
    assert tables.ask("gap_hist", run=old.uid) == summaries
    assert tables.ask("run", run=old.uid)[0]["raw_dropped_epoch_ns"] > 0
    assert [row["run_uid"] for row in tables.ask("raw_sizes")] == [new.uid]


def test_the_age_of_an_import_counts_from_its_arrival(tables, two):
    old, new = two
    tables.sql("UPDATE runs SET created_epoch_ns = 5, ended_epoch_ns = 9")
    tables.sql(
        f"UPDATE runs SET source = 'guidellm', ended_epoch_ns = 1 WHERE run_uid = '{old.uid}'"
    )
    since = {row["run_uid"]: row["since_epoch_ns"] for row in tables.ask("raw_sizes")}
    assert since == {old.uid: 5, new.uid: 9}


def test_the_share_of_each_run_in_the_file_is_told(tables, two):
    sizes = tables.ask("raw_sizes")
    assert [row["name"] for row in sizes] == ["new", "old"]
    assert [row["n_events"] for row in sizes] == [30, 30]
    assert sizes[0]["n_bytes"] == sizes[1]["n_bytes"] > 0


def test_dropping_is_refused_before_anything_goes_if_one_run_is_not_stored_whole(
    tables, two, tmp_path
):
    live = RunFolder(tmp_path)
    live.columns(0, [Stream(0)])
    tables.turn()
    with pytest.raises(StoreError, match=r"not stored whole yet"):
        retention.drop_raw(owner_of(tables), [two[0].uid, live.uid])
    assert len(tables.ask("token_events", run=two[0].uid)) == 30


def test_dropping_twice_is_told(tables, two):
    retention.drop_raw(owner_of(tables), [two[0].uid])
    with pytest.raises(StoreError, match=r"were removed on"):
        retention.drop_raw(owner_of(tables), [two[0].uid])


def test_a_deleted_run_leaves_no_row_and_no_folder(tables, two):
    old, new = two
    other = n_rows(tables, new)
    told = retention.delete_run(owner_of(tables), old.uid).to_pylist()
    assert told == [{"n_events": 30, "n_requests": 3}]
    assert n_rows(tables, old) == {}
    assert not old.path.exists()
    assert n_rows(tables, new) == other
    tables.turn()
    assert [row["run_uid"] for row in tables.ask("runs")] == [new.uid]


def test_a_run_that_goes_on_is_not_deleted(tables, tmp_path):
    run = RunFolder(tmp_path)
    tables.turn()
    with pytest.raises(StoreError, match=r"is running; stop it first"):
        retention.delete_run(owner_of(tables), run.uid)
    assert run.path.exists()


def test_a_run_without_a_folder_and_a_folder_without_rows_can_be_deleted(tables, two, tmp_path):
    shutil.rmtree(two[0].path)
    retention.delete_run(owner_of(tables), two[0].uid)
    broken = RunFolder(tmp_path)
    (broken.path / "plan.json").write_text("{")
    broken.state("failed")
    tables.turn()
    retention.delete_run(owner_of(tables), broken.uid)
    tables.turn()
    assert not broken.path.exists()
    assert tables.intake.trouble == ""
    assert [row["run_uid"] for row in tables.ask("runs")] == [two[1].uid]


@pytest.mark.parametrize("name", ["../..", "..", "", "nonsense"])
def test_what_is_no_run_is_not_deleted(tables, two, tmp_path, name):
    with pytest.raises(UnknownRunError):
        retention.delete_run(owner_of(tables), name)
    assert two[0].path.exists()
    assert (tmp_path / "headway.duckdb").exists()


def test_a_run_deleted_before_it_was_closed_is_not_closed_afterwards(tables, tmp_path):
    run = RunFolder(tmp_path)
    run.columns(0, [Stream(0)])
    (run.spool / "raw-w0-000001.seg").touch()  # it would wait for its decoder for a minute
    run.state("failed")
    tables.turn()
    retention.delete_run(owner_of(tables), run.uid)
    tables.turn()
    assert tables.sql("SELECT count(*) FROM summary") == [(0,)]
    assert tables.intake.trouble == ""


def test_a_store_killed_while_it_deleted_finishes_when_it_starts_again(tables, two, tmp_path):
    retention._aside(tmp_path, two[0].path)  # killed right after this
    tables.intake = Intake(tables.database, tmp_path)
    tables.turn()
    assert [row["run_uid"] for row in tables.ask("runs")] == [two[1].uid]
    assert list((tmp_path / retention.DELETED).iterdir()) == []
