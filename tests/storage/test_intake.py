"""Turns over the runs' folders: what keeps one run from loading does not keep the others."""

import shutil
import time
from types import SimpleNamespace

import pytest
from made_up_runs import RunFolder, Stream, no_file_longer_than

from storage import intake
from storage.intake import Intake


def test_a_folder_that_is_no_run_is_ignored(tables, tmp_path):
    (tmp_path / "runs" / "notes").mkdir(parents=True)
    (tmp_path / "runs" / "notes" / "plan.json").write_text("{}")
    assert not tables.turn()
    assert tables.ask("runs") == []


def test_a_plan_that_cannot_be_read_is_told_and_hinders_no_other_run(tables, tmp_path):
    broken, sound = RunFolder(tmp_path), RunFolder(tmp_path)
    (broken.path / "plan.json").write_text("{")
    sound.columns(0, [Stream(0)])
    tables.turn()
    assert [row["run_uid"] for row in tables.ask("runs")] == [sound.uid]
    assert broken.uid in tables.intake.trouble
    broken.write("plan.json", {"name": "mended"})
    tables.turn()
    assert len(tables.ask("runs")) == 2
    assert tables.intake.trouble == ""


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("plan.json", "[]"),
        ("plan.json", '{"name": "x", "stages": 5}'),
        ("plan.json", '{"name": "x", "target": "http://h"}'),
        ("run.json", '{"n_workers": "two"}'),
        ("run.json", '{"n_workers"'),
        ("status.json", "7"),
        ("status.json", '{"state": "finished", "updated_at": "soon"}'),
        ("status.json", '{"state": ["running"]}'),
        ("stages.jsonl", '{"name": "c=1"}\n'),
        ("stages.jsonl", "3\n"),
        ("stages.jsonl", '{"stage": 0, "name": "c=1", "kind": "closed", "begin_us": "now"}\n'),
    ],
)
def test_one_odd_run_folder_is_told_and_hinders_no_other_run(tables, tmp_path, file, content):
    odd, sound = RunFolder(tmp_path), RunFolder(tmp_path)
    (odd.path / file).write_text(content)
    sound.columns(0, [Stream(0)])
    sound.end()
    assert tables.turn()
    assert len(tables.ask("requests", run=sound.uid)) == 1
    assert f"Run {odd.uid} is not loaded at present: " in tables.intake.trouble
    assert not tables.turn()  # an odd folder keeps no store alive


def test_a_closed_run_costs_no_look_until_something_comes(tables, tmp_path):
    run = RunFolder(tmp_path)
    run.columns(0, [Stream(0)])
    run.end()
    assert tables.turn()
    assert not tables.turn()
    assert tables.intake._followed == {}


def test_a_late_segment_reopens_a_closed_run_and_its_summaries_are_made_again(tables, tmp_path):
    run = RunFolder(tmp_path)
    run.columns(0, [Stream(0)])
    run.end()
    tables.turn()
    before = tables.ask("gap_hist", run=run.uid)
    run.columns(1, [Stream(1)])
    tables.turn()
    tables.turn()
    after = tables.ask("gap_hist", run=run.uid)
    assert [row["n"] for row in after] == [2 * row["n"] for row in before]
    (row,) = tables.ask("run", run=run.uid)
    assert (row["n_requests"], row["state"]) == (2, "finished")


def test_a_store_that_starts_again_closes_what_was_left_open(tables, tmp_path):
    run = RunFolder(tmp_path)
    run.columns(0, [Stream(0)])
    tables.turn()
    run.columns(1, [Stream(1)])
    run.end("interrupted")
    tables.intake = Intake(tables.database, tmp_path)
    tables.turn()
    (row,) = tables.ask("run", run=run.uid)
    assert (row["state"], row["n_requests"]) == ("interrupted", 2)


@pytest.mark.parametrize(
    ("total", "least"),
    [(4 << 40, 1 << 30), (10 << 30, 1 << 30), (5 << 30, 512 << 20), (72 << 20, 7 << 20)],
)
def test_nothing_is_loaded_on_a_nearly_full_disk_and_the_reason_is_told(
    tables, tmp_path, monkeypatch, total, least
):
    run = RunFolder(tmp_path)
    run.columns(0, [Stream(0)])
    nearly_full = SimpleNamespace(total=total, free=least - (1 << 20))
    monkeypatch.setattr(intake.shutil, "disk_usage", lambda _: nearly_full)
    assert tables.turn()
    assert f"Only {(least >> 20) - 1} MiB are free on the disk" in tables.intake.trouble
    nearly_full.free = least + (1 << 20)
    tables.turn()
    assert tables.intake.trouble == ""
    assert len(tables.ask("requests", run=run.uid)) == 1


def test_a_commit_on_a_full_disk_is_tried_again_and_nothing_is_lost(tables, tmp_path):
    run = RunFolder(tmp_path)
    tables.turn()
    run.columns(0, [Stream(0)])
    wal_bytes = (tmp_path / "headway.duckdb.wal").stat().st_size
    with no_file_longer_than(wal_bytes):
        assert tables.turn()
    assert f"Run {run.uid} is not loaded" in tables.intake.trouble
    tables.turn()
    assert tables.intake.trouble == ""
    assert len(tables.ask("requests", run=run.uid)) == 1


def test_a_run_whose_folder_is_removed_stays_in_the_tables(tables, tmp_path):
    run = RunFolder(tmp_path)
    run.columns(0, [Stream(0)])
    tables.turn()
    shutil.rmtree(run.path)
    tables.turn()
    assert tables.intake.trouble == ""
    assert len(tables.ask("requests", run=run.uid)) == 1


def test_a_fast_load_is_stored_twice_a_second_and_a_slow_one_every_two(tables, tmp_path):
    slow, fast = RunFolder(tmp_path), RunFolder(tmp_path)
    tables.turn()
    slow.columns(0, [Stream(0)])
    fast.columns(0, [Stream(0, gaps_us=(1_000,) * 20_000)])  # 650 kB
    for run in tables.intake._followed.values():
        run.loaded_at_s = time.monotonic() - 1
    tables.intake.turn()
    assert [len(tables.ask("requests", run=run.uid)) for run in (slow, fast)] == [0, 1]
