"""Load workers on several loopback addresses: one run, all of it measured."""

import json

import pytest
from outposts import CLOSED, HOST, SECRET, assert_said, facts, join, machines, measuring

from loadgen import launch

pytestmark = pytest.mark.slow


def test_one_local_and_two_remote_workers_carry_every_request_exactly_once(runs, outposts, port):
    joined = join(outposts, port)
    run = runs.start(CLOSED, {"rate_per_s": 20, "seconds": 3}, machines=machines(port))
    assert runs.end(run)["state"] == "finished"
    requests = runs.requests(run)
    assert set(requests["outcome"]) == {"complete"}
    assert requests["request_id"].is_unique
    assert (requests["output_tokens"] == 12).all()
    assert set(requests["worker"]) == {0, 1, 2}
    closed, opened = requests[requests["stage"] == 0], requests[requests["stage"] == 1]
    assert len(closed) == 60
    assert opened["due_us"].notna().all()
    for request_id in requests["request_id"]:
        events = runs.store.ask("token_events", run=run, request_id=int(request_id))
        assert list(events["seq"]) == list(range(12))
    assert not list(outposts.data(0).iterdir())  # all is with the leader, and the folder is gone
    assert [p.poll() for p in joined] == [None, None]  # they wait for the next run


def test_the_schedule_is_that_of_one_machine(runs, outposts, port):
    join(outposts, port)
    level = {"rate_per_s": 15, "seconds": 3}
    many = runs.start(level, machines=machines(port))
    assert runs.end(many)["state"] == "finished"
    alone = runs.start(level)
    assert runs.end(alone)["state"] == "finished"
    dues = []
    for run in (many, alone):
        rows = runs.folder(run).path.joinpath("stages.jsonl").read_text().splitlines()
        begin_us = json.loads(rows[-1])["begin_us"]
        dues.append(sorted(int(due) - begin_us for due in runs.requests(run)["due_us"]))
    error_us = max(w["error_ns"] for w in facts(runs, many)["machines"]["workers"]) / 1000
    assert len(dues[0]) == len(dues[1])
    for there, here in zip(*dues, strict=True):
        assert abs(there - here) <= 2 * error_us + 2


def test_the_clocks_of_the_other_machines_are_known_with_their_error(runs, outposts, port):
    join(outposts, port)
    run = runs.start(CLOSED, machines=machines(port))
    assert runs.end(run)["state"] == "finished"
    workers = facts(runs, run)["machines"]["workers"]
    assert [w["worker"] for w in workers] == [1, 2]
    for worker in workers:  # the same machine in truth, so the true offset is 0
        assert abs(worker["offset_ns"]) <= worker["error_ns"] < 1e9
        assert worker["address"] == "127.0.0.1"
    shown = runs.store.ask("run", run=run)["facts"].iloc[0]
    assert json.loads(shown)["machines"]["workers"] == workers


def test_an_outpost_takes_part_in_one_run_after_another(runs, outposts, port):
    join(outposts, port)
    for _ in range(2):
        run = runs.start({"concurrency": 3, "requests": 9}, machines=machines(port))
        assert runs.end(run)["state"] == "finished"
        assert len(runs.requests(run)) == 9


def test_a_wrong_secret_is_refused_and_named_and_the_run_waits_for_the_right_ones(
    runs, outposts, port
):
    wrong = {"WRONG_SECRET": "some-other-secret-altogether"}
    stranger = outposts.start(f"{HOST}:{port}", "--secret-env", "WRONG_SECRET", **wrong)
    run = runs.start(CLOSED, machines=machines(port))
    runs.wait(run, lambda s: "Waiting for 2 of 2 load workers" in s["message"])
    assert stranger.wait(60) == 3
    assert "does not take this secret" in outposts.log(0).read_text()
    join(outposts, port)
    state = runs.end(run)
    assert state["state"] == "finished"
    assert_said(r"connections to the leader's port did not have the secret", state["notes"])
    assert set(runs.requests(run)["worker"]) == {0, 1, 2}


def test_a_run_whose_secret_is_not_set_does_not_begin(runs, port, monkeypatch):
    monkeypatch.delenv("LOAD_SECRET")
    state = runs.end(runs.start(CLOSED, machines=machines(port)))
    assert state["state"] == "failed"
    assert "variable LOAD_SECRET with the secret of the load workers is not set" in state["message"]


def test_a_machine_without_the_keys_variable_is_named(runs, outposts, port, monkeypatch):
    monkeypatch.delenv("LOAD_KEY", raising=False)
    join(outposts, port, 1)
    monkeypatch.setenv("LOAD_KEY", "sk-not-to-be-seen")
    target = {"url": "sim://small-gpu", "model": "sim", "api_key_env": "LOAD_KEY"}
    run = runs.start(CLOSED, target=target, machines=machines(port, workers=1))
    state = runs.end(run)
    assert state["state"] == "failed"
    assert_said(
        r"^The machine .+ cannot load: the environment variable LOAD_KEY \(target.api_key_env\) "
        "is not set there",
        [state["message"]],
    )
    for path in runs.folder(run).path.rglob("*"):
        assert path.is_dir() or b"sk-not-to-be-seen" not in path.read_bytes()
    assert SECRET not in outposts.log(0).read_text()


@pytest.mark.parametrize("wait_s", [2, 0.01])  # the second before its own worker has begun
def test_a_run_that_nobody_joins_says_how_to(runs, port, wait_s):
    run = runs.start(CLOSED, machines=machines(port, wait_s=wait_s))
    state = runs.end(run)
    assert state["state"] == "failed"
    assert f"headway worker --master {HOST}:{port}" in state["message"]


def test_a_run_that_is_stopped_has_what_was_measured_elsewhere(runs, outposts, port):
    join(outposts, port)
    run = runs.start({"concurrency": 6, "seconds": 60}, machines=machines(port))
    runs.wait(run, measuring)
    assert launch.stop(runs.data, run)["state"] == "stopped"
    runs.end(run)
    requests = runs.requests(run)
    assert set(requests["worker"]) == {0, 1, 2}
    assert set(requests["outcome"]) <= {"complete", "cancelled"}
    assert not any("did not come in" in note for note in facts(runs, run)["notes"])
