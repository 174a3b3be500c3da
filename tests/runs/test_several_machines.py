"""Load workers on several loopback addresses: one run, all of it measured, whatever happens."""

import json
import os
import re
import signal
import time

import psutil
import pytest
from outposts import SECRET, Line, Outposts, free_port, line_to, load_worker

from loadgen import launch
from loadgen.processes import group

pytestmark = pytest.mark.slow
HOST = "127.0.0.2"
CLOSED = {"concurrency": 6, "requests": 60}
LONG = {"concurrency": 6, "seconds": 12}


@pytest.fixture
def outposts(tmp_path):
    made = Outposts(tmp_path)
    yield made
    made.end()


@pytest.fixture
def port(monkeypatch):
    monkeypatch.setenv("LOAD_SECRET", SECRET)
    return free_port(HOST)


def machines(port, **more):
    return {"workers": 2, "bind": HOST, "port": port, "secret_env": "LOAD_SECRET", **more}


def join(outposts, port, n=2):
    return [outposts.start(f"{HOST}:{port}", "--secret-env", "LOAD_SECRET") for _ in range(n)]


def measuring(state):
    return state["state"] == "running" and state["done"] >= 6


def facts(runs, run):
    return runs.folder(run).read("run.json")


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


@pytest.mark.parametrize("is_remote", [True, False])
def test_a_worker_killed_with_9_ends_the_run_unless_it_may_go_on(runs, outposts, port, is_remote):
    joined = join(outposts, port)
    run = runs.start(LONG, machines=machines(port))
    runs.wait(run, measuring)
    kill_one(runs, run, joined, is_remote)
    state = runs.end(run)
    assert state["state"] == "interrupted"
    name = "Load worker [12] on .+" if is_remote else "Load worker 0"
    assert_said(rf"^{name} was killed by signal 9, so the load was no longer", [state["message"]])
    assert (runs.requests(run)["outcome"] == "complete").sum() >= 6
    assert_said(rf"^{name} was killed .* of that level's load was 33%", state["notes"])


@pytest.mark.parametrize("is_remote", [True, False])
def test_by_choice_the_run_goes_on_and_says_what_was_missing(runs, outposts, port, is_remote):
    joined = join(outposts, port)
    levels = [LONG, {"concurrency": 6, "requests": 30}]
    run = runs.start(*levels, machines=machines(port, when_lost="go_on"))
    runs.wait(run, measuring)
    kill_one(runs, run, joined, is_remote)
    state = runs.end(run)
    assert state["state"] == "finished"
    assert_said(r"killed by signal 9, \d+\.\d s into c=6: from then on 33% of", state["notes"])
    (lost,) = facts(runs, run)["machines"]["lost"]
    assert (lost["stage"], lost["share"]) == (0, pytest.approx(1 / 3))
    requests = runs.requests(run)
    of_lost = requests[requests["worker"] == lost["worker"]]
    assert len(of_lost[of_lost["outcome"] != "cancelled"]) == lost["n_measured"] > 0
    after = requests[requests["stage"] == 1]
    assert len(after) == 30  # the next level is whole again, on those that are left
    assert lost["worker"] not in set(after["worker"])


def test_an_open_schedule_tells_how_many_requests_were_the_lost_workers(runs, outposts, port):
    joined = join(outposts, port)
    level = {"rate_per_s": 12, "seconds": 10, "arrivals": "constant"}
    run = runs.start(level, machines=machines(port, when_lost="go_on"))
    runs.wait(run, measuring)
    load_worker(joined[0]).kill()
    assert runs.end(run)["state"] == "finished"
    (lost,) = facts(runs, run)["machines"]["lost"]
    assert lost["n_requests"] == 40
    requests = runs.requests(run)
    assert 80 < len(requests) < 120
    assert len(requests[requests["worker"] != lost["worker"]]) == 80


def test_a_worker_that_hangs_is_named_and_its_data_come_home(runs, outposts, port):
    joined = join(outposts, port)
    level = {"concurrency": 6, "seconds": 30}
    run = runs.start(level, machines=machines(port, when_lost="go_on"))
    runs.wait(run, measuring)
    hanging = load_worker(joined[1])
    hanging.suspend()
    state = runs.end(run)
    assert state["state"] == "finished"
    assert_said(r"Load worker [12] on .* was not heard for 1\d s; the run goes on", state["notes"])
    (lost,) = facts(runs, run)["machines"]["lost"]
    requests = runs.requests(run)
    assert (requests["worker"] == lost["worker"]).sum() >= lost["n_measured"] > 0
    assert not hanging.is_running() or hanging.status() == psutil.STATUS_ZOMBIE


def test_a_machine_that_dies_is_named_and_what_did_not_come_in_is_said(runs, outposts, port):
    joined = join(outposts, port)
    level = {"concurrency": 6, "seconds": 25}
    run = runs.start(level, machines=machines(port, when_lost="go_on"))
    runs.wait(run, measuring)
    children = psutil.Process(joined[0].pid).children()
    joined[0].kill()
    for child in children:
        child.kill()
    state = runs.end(run)
    assert state["state"] == "finished"
    assert_said(r"was not heard for 1\d s; the run goes on", state["notes"])
    assert_said(r"measured last did not come in", state["notes"])


def test_a_line_that_is_cut_for_seconds_loses_nothing(runs, outposts, port):
    with line_to((HOST, port)) as line:
        for address in (line.address, f"{HOST}:{port}"):
            outposts.start(address, "--secret-env", "LOAD_SECRET")
        run = runs.start({"concurrency": 6, "seconds": 12}, CLOSED, machines=machines(port))
        runs.wait(run, measuring)
        cut_for(line, 6)
        state = runs.end(run)
    assert state["state"] == "finished"
    assert_said(
        r"Load worker [12] on .* was not heard for \d+\.\d s, from .* came back", state["notes"]
    )
    requests = runs.requests(run)
    assert set(requests["outcome"]) == {"complete"}
    assert requests["request_id"].is_unique
    assert (requests["stage"] == 1).sum() == 60


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


def test_the_workers_of_one_machine_may_be_lost_too_by_choice(runs):
    choice = {"workers": 0, "when_lost": "go_on"}
    run = runs.start({"concurrency": 4, "seconds": 12}, workers=2, machines=choice)
    runs.wait(run, measuring)
    kill_one(runs, run, [], is_remote=False)
    state = runs.end(run)
    assert state["state"] == "finished"
    assert_said("Load worker 0 was killed .* from then on 50% of", state["notes"])


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


def test_a_run_that_nobody_joins_says_how_to(runs, port):
    run = runs.start(CLOSED, machines=machines(port, wait_s=2))
    state = runs.end(run)
    assert state["state"] == "failed"
    assert f"headway worker --master {HOST}:{port}" in state["message"]


def test_a_leader_that_dies_ends_the_load_and_what_it_lacks_is_kept_there(runs, outposts, port):
    joined = join(outposts, port, 1)
    run = runs.start({"concurrency": 2, "seconds": 60}, machines=machines(port, workers=1))
    runs.wait(run, measuring)
    worker = load_worker(joined[0])
    os.kill(runs.folder(run).read("proc.json")["pid"], signal.SIGKILL)
    assert runs.end(run)["state"] == "interrupted"
    worker.wait(60)
    deadline = time.monotonic() + 60
    while "The leader was not heard" not in outposts.log(0).read_text():
        assert time.monotonic() < deadline
        time.sleep(0.2)
    assert list(outposts.data(0).glob("*/*/spool/col-w1-*.seg"))


def test_ctrl_c_on_a_machine_takes_it_out_of_the_run_with_what_it_measured(runs, outposts, port):
    joined = join(outposts, port)
    run = runs.start(LONG, machines=machines(port, when_lost="go_on"))
    runs.wait(run, measuring)
    joined[0].send_signal(signal.SIGINT)
    assert joined[0].wait(60) == 3
    state = runs.end(run)
    assert state["state"] == "finished"
    assert_said("was ended there by hand; the run goes on", state["notes"])
    (lost,) = facts(runs, run)["machines"]["lost"]
    assert (runs.requests(run)["worker"] == lost["worker"]).sum() >= lost["n_measured"] > 0


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


def kill_one(runs, run, joined, is_remote):
    if is_remote:
        load_worker(joined[0]).kill()
        return
    proc = runs.folder(run).read("proc.json")
    next(p for p in group(proc) if "loadgen.locustfile" in p.cmdline()).kill()


def cut_for(line: Line, seconds: float) -> None:
    line.cut()
    time.sleep(seconds)
    line.mend()


def assert_said(pattern, sentences):
    assert any(re.search(pattern, s) for s in sentences), sentences
