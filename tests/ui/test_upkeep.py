"""What the dashboard does beside its pages."""

import json
import threading
import time

import pytest
from made_up_runs import RunFolder, Stream

from storage.client import Store
from tests.ui.conftest import forget
from tests.ui.run_folders import run_folder
from ui.upkeep import Upkeep


@pytest.mark.slow
def test_a_run_whose_process_died_is_marked_and_the_store_takes_it_in(data):
    folder = run_folder(data, "running")
    (folder / "spool").mkdir()
    (folder / "proc.json").write_text(json.dumps({"pid": 1, "create_time": 0, "pgid": 1 << 22}))
    upkeep = Upkeep(data)
    upkeep.turn()
    assert json.loads((folder / "status.json").read_bytes())["state"] == "interrupted"
    assert (data / "headway.lock").exists()


@pytest.mark.slow
def test_trouble_is_logged_once_and_ends_nothing(tmp_path, caplog):
    data = tmp_path / "a file"
    data.touch()
    upkeep = Upkeep(data)
    upkeep.turn()
    upkeep.turn()
    assert len([r for r in caplog.records if str(data) in r.message]) == 1
    forget(data)


def test_it_ends_when_the_dashboard_does(tmp_path):
    over = threading.Event()
    over.set()
    data = tmp_path / "a file"
    data.touch()
    Upkeep(data).until(over)


@pytest.mark.slow
def test_token_events_that_are_not_to_be_kept_go_while_nothing_runs(data, monkeypatch, caplog):
    data.mkdir()
    run = RunFolder(data)
    run.columns(0, [Stream(0)])
    run.end()
    upkeep = Upkeep(data)
    monkeypatch.setenv("HEADWAY_KEEP_RAW", "thirty days")
    upkeep.turn()
    assert "expected something like 30d or 50GB" in caplog.text
    store = Store.connect(data)
    while store.ask("runs")["is_final"].tolist() != [True]:
        time.sleep(0.1)
    monkeypatch.setenv("HEADWAY_KEEP_RAW", "0d")
    upkeep.turn()
    assert store.ask("run", run=run.uid)["raw_dropped_epoch_ns"].isna().all()  # once an hour
    upkeep._retain_at_s = 0.0
    upkeep.turn()
    assert store.ask("run", run=run.uid)["raw_dropped_epoch_ns"].notna().all()
    assert len(store.ask("requests", run=run.uid)) == 1
    store.close()
