"""Whole runs against the simulator: started, watched and read as a user's own tools would."""

import time
from pathlib import Path

import pytest
from outposts import HOST, SECRET, Outposts, free_port

from loadgen import launch
from loadgen.plan import Plan, parse
from loadgen.run_folder import RunFolder, runs_folder, terminal
from storage.client import Store

ENDS_WITHIN_S = 60


class Runs:
    """The runs of one data folder and the store that reads them."""

    def __init__(self, data: Path) -> None:
        self.data = data
        self.store = Store.connect(data)

    def start(self, *stages: dict, **more: object) -> str:
        return launch.start(plan(*stages, **more), self.data)

    def folder(self, run_uid: str) -> RunFolder:
        return RunFolder(runs_folder(self.data) / run_uid)

    def wait(self, run_uid: str, until, within_s: float = ENDS_WITHIN_S) -> dict:
        deadline = time.monotonic() + within_s
        while time.monotonic() < deadline:
            state = launch.state(self.data, run_uid)
            if until(state):
                return state
            time.sleep(0.1)
        log = (self.folder(run_uid).path / "log").read_text()
        raise AssertionError(f"still {state} after {within_s} s; log: {log[-2000:]}")

    def end(self, run_uid: str, within_s: float = ENDS_WITHIN_S) -> dict:
        """The state in which the run ended, once everything is in the store."""
        state = self.wait(run_uid, lambda s: terminal(s["state"]), within_s)
        self.wait(run_uid, lambda _: not self.folder(run_uid).undecoded())
        deadline = time.monotonic() + ENDS_WITHIN_S
        while list(self.folder(run_uid).spool.glob("col-*")) and time.monotonic() < deadline:
            time.sleep(0.1)
        return state

    def requests(self, run_uid: str):
        return self.store.ask("requests", run=run_uid)


def plan(*stages: dict, **more: object) -> Plan:
    raw: dict = {
        "target": {"url": "sim://small-gpu", "model": "sim"},
        "workload": {"prompt_tokens": 40, "output_tokens": 12},
        "stages": list(stages),
    }
    return parse({**raw, **more})


@pytest.fixture
def runs(tmp_path):
    here = Runs(tmp_path / "data")
    yield here
    for run_uid in launch.running(here.data):
        launch.stop(here.data, run_uid)
    here.store.close()


@pytest.fixture
def outposts(tmp_path):
    """`headway worker` processes, started by the test."""
    made = Outposts(tmp_path)
    yield made
    made.end()


@pytest.fixture
def port(monkeypatch):
    """A free one for the leader, and the secret of its workers in the environment."""
    monkeypatch.setenv("LOAD_SECRET", SECRET)
    return free_port(HOST)
