"""One run on a remote host, before any process is started there."""

import json

import pytest

from loadgen.machines.outpost_run import OutpostRun
from loadgen.machines.pieces import cut

SECOND_NS = 1_000_000_000


def welcome(tmp_path, **target):
    ca = tmp_path / "ca.pem"
    ca.write_text("authorities")
    return {
        "run_uid": "run-uid",
        "worker": 1,
        "plan": {"target": {"url": "http://x", "model": "m", "ca_file": str(ca), **target}},
        "run": {"run_uid": "run-uid", "n_workers": 2, "target_url": "sim://x"},
        "files": [str(ca)],
    }


def outpost_run(tmp_path, **target):
    return OutpostRun(welcome(tmp_path, **target), tmp_path / "data", ("127.0.0.1:1", ""))


def fetch(run, path, now_ns):
    """Let the run ask for its file and have it."""
    asked = []
    run.step(now_ns, lambda said: asked.append(said) or True)
    assert [said["say"] for said in asked] == ["fetch"]
    run.hear({"say": "part", "file": 0, **cut(path, 0)}, now_ns)
    run.step(now_ns, lambda said: True)


def test_it_is_ready_once_the_plan_and_its_files_are_there_under_its_own_names(tmp_path):
    run = outpost_run(tmp_path)
    assert not run.beat()["is_ready"]
    fetch(run, tmp_path / "ca.pem", 10 * SECOND_NS)
    assert run.beat()["is_ready"]
    plan = json.loads((run.folder.path / "plan.json").read_bytes())
    copy = plan["target"]["ca_file"]
    assert copy.startswith(str(tmp_path / "data"))
    with open(copy) as file:
        assert file.read() == "authorities"


def test_a_run_that_is_named_like_a_path_is_none(tmp_path):
    with pytest.raises(ValueError, match="no name"):
        OutpostRun({**welcome(tmp_path), "run_uid": "../../home"}, tmp_path, ("127.0.0.1:1", ""))


def test_a_file_that_does_not_come_is_asked_for_again(tmp_path):
    run = outpost_run(tmp_path)
    asked = []
    for second in range(10, 20):
        run.step(second * SECOND_NS, lambda said: asked.append(said["say"]) or True)
    assert 2 < len(asked) < 6


def test_a_variable_that_is_not_set_here_is_said_by_its_name(tmp_path, monkeypatch):
    monkeypatch.delenv("SOME_KEY", raising=False)
    run = outpost_run(tmp_path, api_key_env="SOME_KEY")
    fetch(run, tmp_path / "ca.pem", 10 * SECOND_NS)
    said = run.beat()
    assert not said["is_ready"]
    assert "SOME_KEY (target.api_key_env) is not set there" in said["problem"]


def test_told_to_leave_before_it_began_it_has_nothing_to_bring_home(tmp_path):
    run = outpost_run(tmp_path)
    assert not run.beat()["is_home"]
    run.hear({"say": "do", "phase": "leave", "now": False}, 0)
    assert run.beat()["is_home"]
    run.remove()
    assert not list((tmp_path / "data" / "worker").iterdir())
