"""Runs that are over are closed one a turn, also those of which the tables alone are left."""

import shutil

from made_up_runs import RunFolder, Stream, Tables


def final(tables):
    return sorted(tables.sql("SELECT is_final, n_requests FROM runs ORDER BY run_id"))


def reopened(tables):
    """As a new version of the schema leaves them."""
    with tables.database.cursor() as cursor:
        cursor.execute("UPDATE runs SET is_final = false; DELETE FROM hist")
    again = Tables.__new__(Tables)
    again.data, again.database = tables.data, tables.database
    again.intake = type(tables.intake)(tables.database, tables.data)
    return again


def test_many_old_runs_are_closed_one_a_turn(tables, tmp_path):
    runs = [RunFolder(tmp_path) for _ in range(3)]
    for k, run in enumerate(runs):
        run.columns(0, [Stream(k)])
        run.end()
    for n in range(3):
        assert tables.turn()
        assert sum(is_final for is_final, _ in final(tables)) == n + 1
    assert not tables.turn()


def test_a_run_whose_folder_is_gone_is_closed_from_the_tables(tables, tmp_path):
    gone, goes_on = RunFolder(tmp_path), RunFolder(tmp_path)
    gone.columns(0, [Stream(0)])
    gone.end()
    goes_on.columns(0, [Stream(0)])
    tables.turn()
    assert final(tables) == [(False, None), (True, 1)]
    shutil.rmtree(gone.path)
    shutil.rmtree(goes_on.path)
    again = reopened(tables)
    again.turn()
    assert final(again) == [(False, None), (True, 1)]  # nobody says that the other is over
    assert again.sql("SELECT sum(n)::BIGINT FROM hist WHERE metric = 'gap'") == [(9,)]
    assert tables.ask("run", run=gone.uid)[0]["state"] == "finished"
    assert not again.turn()
