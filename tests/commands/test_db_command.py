"""`headway db`: each command on a data folder with two stored runs, and what each refuses."""

import json
import os
import time
from pathlib import Path

import click
import psutil
import pytest
from click.testing import CliRunner
from made_up_runs import RunFolder, Stream

from cli import main
from commands.db import db
from storage.client import Store
from tests.run_headway import end_store

DOCS = (Path(__file__).parents[2] / "docs" / "storage.md").read_text()


@pytest.fixture
def data(tmp_path, monkeypatch):
    folder = tmp_path / "data"
    folder.mkdir()
    monkeypatch.setenv("HEADWAY_DATA", str(folder))
    yield folder
    end_store(folder)


def stored(data, *names):
    """Runs of that name, loaded and closed."""
    runs = [RunFolder(data, name) for name in names]
    for run in runs:
        run.columns(0, [Stream(k) for k in range(3)])
        run.end()
        time.sleep(0.01)  # the order of their start is that of their files
    store = Store.connect(data)
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and store.ask("runs")["is_final"].tolist() != [True] * 2:
        time.sleep(0.1)
    store.close()
    return runs


def said(*words, code=0):
    result = CliRunner().invoke(main, ["db", *words])
    assert result.exit_code == code, result.output
    return result.output


def shown(run):
    return json.loads(CliRunner().invoke(main, ["show", run, "--json"]).output)


@pytest.mark.slow
def test_a_folder_is_checked_tidied_copied_and_made_smaller(data, tmp_path):
    old, new = stored(data, "old", "new")
    assert "2 runs with 60 token events" in said("check")
    assert said("compact").startswith("Closed 0 runs; ")
    assert "b.duckdb: " in said("backup", str(tmp_path / "b.duckdb"))
    assert "give a name that is free" in said("backup", str(tmp_path / "b.duckdb"), code=2)
    assert "There is a folder" in said("backup", str(tmp_path), code=2)
    assert "There is no folder" in said("backup", str(tmp_path / "no" / "b"), code=2)
    assert "Nothing was removed; it would free" in said(
        "drop-raw", "--keep-newest", "1", "--dry-run"
    )
    before = shown("old")
    assert "Removed 30 token events" in said("drop-raw", "--keep-newest", "1")
    after = shown("old")
    assert after["levels"] == before["levels"]  # every exact answer was kept
    assert "Its token events were removed on " in after["run"]["notes"][-1]
    assert said("drop-raw", "--keep-newest", "1") == "No run has token events that would go.\n"
    assert "of run " + old.uid + " were removed on " in said("drop-raw", "old", code=2)
    assert "The file " in said("vacuum")
    assert "Deleted 3 requests and 0 token events" in said("delete", "old", "--yes")
    assert not old.path.exists()
    assert "1 run with 30 token events" in said("check")
    for answer in ("n\n", ""):
        left = CliRunner().invoke(main, ["db", "delete", "new"], input=answer)
        assert left.exit_code == 2
        assert "Nothing was removed.\n" in left.output
    assert new.path.exists()


@pytest.mark.slow
def test_nothing_is_done_while_a_run_goes_on(data):
    run = RunFolder(data)
    live = run.uid
    me = psutil.Process(os.getpid())
    run.write(
        "proc.json", {"pid": me.pid, "create_time": me.create_time(), "pgid": os.getpgid(me.pid)}
    )
    for words in (("check",), ("vacuum",), ("delete", live, "--yes")):
        assert f"Run {live} goes on, and this would disturb it" in said(*words, code=2)
    assert run.path.exists()


@pytest.mark.parametrize(
    "words", [(), ("a", "--keep-newest", "1"), ("--keep-gb", "1", "--older-than", "3")]
)
def test_drop_raw_wants_runs_or_one_rule(data, words):
    assert "Name runs, or give one of --older-than" in said("drop-raw", *words, code=2)


@pytest.mark.parametrize("option", ["--older-than", "--keep-gb", "--keep-newest"])
@pytest.mark.parametrize("value", ["nan", "-1", "inf", "x"])
def test_an_amount_is_a_number_from_0_on(data, option, value):
    assert f"Invalid value for '{option}'" in said("drop-raw", option, value, code=2)


def test_each_command_and_option_is_documented():
    for name, command in db.commands.items():
        assert f"headway db {name}" in DOCS
        for parameter in command.params:
            if isinstance(parameter, click.Option):
                assert parameter.opts[0] in DOCS
