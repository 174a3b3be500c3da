"""Load workers that die, hang, leave or are cut off: named, and their share accounted for."""

import os
import signal
import time

import psutil
import pytest
from outposts import (
    CLOSED,
    HOST,
    Line,
    assert_said,
    facts,
    join,
    line_to,
    load_worker,
    machines,
    measuring,
)

from loadgen.processes import group

pytestmark = pytest.mark.slow
LONG = {"concurrency": 6, "seconds": 12}


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
    run = runs.start(level, {**level, "seconds": 2}, machines=machines(port, when_lost="go_on"))
    runs.wait(run, measuring)
    load_worker(joined[0]).kill()
    assert runs.end(run)["state"] == "finished"
    (lost,) = facts(runs, run)["machines"]["lost"]
    assert lost["n_requests"] == 40
    every = runs.requests(run)
    requests = every[every["stage"] == 0]
    assert 80 < len(requests) < 120
    assert len(requests[requests["worker"] != lost["worker"]]) == 80
    assert (every["stage"] == 1).sum() == 24  # the next level's arrivals are the others' alone


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


def test_the_workers_of_one_machine_may_be_lost_too_by_choice(runs):
    choice = {"workers": 0, "when_lost": "go_on"}
    run = runs.start({"concurrency": 4, "seconds": 12}, workers=2, machines=choice)
    runs.wait(run, measuring)
    kill_one(runs, run, [], is_remote=False)
    state = runs.end(run)
    assert state["state"] == "finished"
    assert_said("Load worker 0 was killed .* from then on 50% of", state["notes"])


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


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_on_a_machine_takes_it_out_of_the_run_with_what_it_measured(
    runs, outposts, port, number
):
    joined = join(outposts, port)
    run = runs.start(LONG, machines=machines(port, when_lost="go_on"))
    runs.wait(run, measuring)
    joined[0].send_signal(number)
    assert joined[0].wait(60) == 3
    state = runs.end(run)
    assert state["state"] == "finished"
    assert_said("was ended there by hand; the run goes on", state["notes"])
    (lost,) = facts(runs, run)["machines"]["lost"]
    assert (runs.requests(run)["worker"] == lost["worker"]).sum() >= lost["n_measured"] > 0


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
