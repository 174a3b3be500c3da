"""What the files of a run's folder become in the tables, whatever state they are in."""

import json

import pytest
from made_up_runs import EPOCH_NS, PLAN, RunFolder

from storage.mirror import run_columns, stage_rows

PLAN_JSON = json.dumps(PLAN).encode()


def test_a_run_that_has_not_begun_is_queued_and_tells_its_plan():
    columns = run_columns(PLAN_JSON, None, None)
    assert (columns["state"], columns["name"], columns["n_stages"]) == ("queued", "demo", 2)
    assert (columns["url"], columns["model"]) == ("sim://small-gpu", "m")
    assert columns["plan"].encode() == PLAN_JSON
    assert columns["epoch_ns"] is None
    assert columns["stamps"] is None


def test_only_a_run_that_is_over_has_an_end():
    status = {"state": "running", "updated_at": 12.5}
    assert run_columns(PLAN_JSON, None, status)["ended_epoch_ns"] is None
    status["state"] = "stopped"
    assert run_columns(PLAN_JSON, None, status)["ended_epoch_ns"] == 12_500_000_000


def test_a_plan_that_is_no_json_raises_valueerror():
    with pytest.raises(ValueError, match="unexpected"):
        run_columns(b"{", None, None)


def test_the_last_whole_line_of_each_stage_wins():
    lines = b'{"stage":1,"a":1}\n{"stage":0,"a":2}\n\n{"stage":1,"a":3}\n{"stage":1,"a":4'
    assert stage_rows(lines) == [{"stage": 0, "a": 2}, {"stage": 1, "a": 3}]
    assert stage_rows(b"") == []


def test_the_tables_follow_the_files(tables, tmp_path):
    run = RunFolder(tmp_path)
    tables.turn()
    (row,) = tables.ask("run", run=run.uid)
    assert (row["state"], row["epoch_ns"], row["n_workers"]) == ("running", EPOCH_NS, 1)
    assert json.loads(row["versions"]) == {"headway": "0.1.0"}
    assert [s["name"] for s in tables.ask("stages", run=run.uid)] == ["c=1"]
    run.stage(0, 1, 0, 9_000_000, 10_000_000)
    run.stage(1, 4, 10_000_000, None, None)
    run.state("stopping", message="as asked")
    tables.turn()
    (row,) = tables.ask("run", run=run.uid)
    assert (row["state"], row["message"]) == ("stopping", "as asked")
    ends = [(s["stage"], s["issue_end_us"]) for s in tables.ask("stages", run=run.uid)]
    assert ends == [(0, 9_000_000), (1, None)]


def test_progress_alone_is_not_worth_a_transaction(tables, tmp_path):
    run = RunFolder(tmp_path)
    tables.turn()
    wal = tmp_path / "headway.duckdb.wal"
    before = wal.stat().st_size
    run.state("running", elapsed_s=1.5, done=3)
    assert tables.turn()  # but the run is alive
    assert wal.stat().st_size == before


def test_a_run_is_decoding_to_a_reader_until_its_last_token_is_stored(tables, tmp_path):
    run = RunFolder(tmp_path)
    run.state("finished")
    (run.spool / "raw-w0-000001.seg").touch()  # a decoder is still at it
    tables.turn()
    assert tables.ask("run", run=run.uid)[0]["state"] == "decoding"
    assert tables.ask("runs")[0]["state"] == "decoding"
    run.end()
    tables.turn()
    assert tables.ask("run", run=run.uid)[0]["state"] == "finished"


def test_a_process_that_takes_over_finds_the_run_it_knows(tables, tmp_path):
    run = RunFolder(tmp_path)
    tables.turn()
    tables.intake._followed.clear()  # as after a restart
    tables.turn()
    assert len(tables.ask("runs")) == 1
    assert len(tables.ask("stages", run=run.uid)) == 1
