"""Whatever dies or is stopped: a true state, one sentence, what was measured, nothing left."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from loadgen import launch
from loadgen.processes import group

pytestmark = pytest.mark.slow
PROJECT = Path(__file__).resolve().parents[2]
LEVEL = {"concurrency": 4, "seconds": 30}


def measuring(state: dict) -> bool:
    return state["state"] == "running" and state["done"] >= 4


def member(proc: dict, words: str) -> psutil.Process:
    return next(p for p in group(proc) if words in " ".join(p.cmdline()))


def assert_kept(runs, run) -> None:
    requests = runs.requests(run)
    assert (requests["outcome"] == "complete").sum() >= 4
    assert set(requests["outcome"]) <= {"complete", "cancelled"}
    assert requests[requests["outcome"] == "complete"]["output_tokens"].eq(12).all()


def assert_nothing_left(runs, run) -> None:
    proc = runs.folder(run).read("proc.json")
    deadline = time.monotonic() + 10
    while list(group(proc)) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert [p.cmdline() for p in group(proc)] == []
    assert not list(runs.folder(run).spool.glob("*.tmp"))


def test_stop_run_ends_the_group_within_3_s_and_keeps_what_was_measured(runs):
    run = runs.start(LEVEL)
    runs.wait(run, measuring)
    began = time.monotonic()
    state = launch.stop(runs.data, run)
    assert time.monotonic() - began < 5  # 3 s, and the checks around it on a busy machine
    assert state["state"] == "stopped"
    assert "kept" in state["message"]
    runs.end(run)
    assert_kept(runs, run)
    assert_nothing_left(runs, run)


def test_a_worker_killed_with_9_ends_the_run_as_interrupted(runs):
    run = runs.start(LEVEL)
    runs.wait(run, measuring)
    member(runs.folder(run).read("proc.json"), "loadgen.locustfile").kill()
    state = runs.end(run)
    assert state["state"] == "interrupted"
    assert "Load worker 0 was killed by signal 9" in state["message"]
    assert_kept(runs, run)
    assert_nothing_left(runs, run)


def test_a_leader_killed_with_9_leaves_an_interrupted_run_and_no_process(runs):
    run = runs.start(LEVEL)
    runs.wait(run, measuring)
    os.kill(runs.folder(run).read("proc.json")["pid"], signal.SIGKILL)
    state = runs.end(run)
    assert state["state"] == "interrupted"
    assert "ended unexpectedly at c=4" in state["message"]
    assert_kept(runs, run)
    assert_nothing_left(runs, run)


def test_a_decoder_killed_with_9_loses_nothing(runs):
    run = runs.start({"concurrency": 4, "requests": 40})
    runs.wait(run, measuring)
    member(runs.folder(run).read("proc.json"), "loadgen.decoder").kill()
    assert runs.end(run)["state"] == "finished"
    requests = runs.requests(run)
    assert len(requests) == 40
    assert requests["output_tokens"].eq(12).all()


@pytest.mark.parametrize("level", [{"concurrency": 4, "requests": 60}, LEVEL | {"seconds": 12}])
def test_a_worker_that_is_paused_for_seconds_goes_on(runs, level):
    run = runs.start(level)
    runs.wait(run, measuring)
    worker = member(runs.folder(run).read("proc.json"), "loadgen.locustfile")
    worker.suspend()
    time.sleep(6)
    worker.resume()
    assert runs.end(run)["state"] == "finished"
    assert set(runs.requests(run)["outcome"]) == {"complete"}


def test_a_run_outlives_the_process_that_started_it(runs):
    script = (
        "import sys, time; from pathlib import Path; from loadgen import launch, plan\n"
        "p = plan.parse({'target': {'url': 'sim://small-gpu', 'model': 'm'},"
        " 'workload': {'prompt_tokens': 40, 'output_tokens': 12},"
        " 'stages': [{'concurrency': 2, 'requests': 12}]})\n"
        "print(launch.start(p, Path(sys.argv[1])), flush=True); time.sleep(60)"
    )
    starter = subprocess.Popen(
        [sys.executable, "-c", script, str(runs.data)],
        cwd=PROJECT,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert starter.stdout is not None
    run = starter.stdout.readline().strip()
    starter.kill()
    starter.wait()
    assert runs.end(run)["state"] == "finished"
    assert len(runs.requests(run)) == 12


def test_a_second_run_waits_for_the_first(runs):
    first = runs.start(LEVEL)
    runs.wait(first, lambda s: s["state"] == "running")
    second = runs.start({"concurrency": 1, "requests": 1})
    assert runs.wait(second, lambda s: "run before it" in s["message"])["state"] == "queued"
    assert launch.stop(runs.data, first)["state"] == "stopped"
    assert runs.end(second)["state"] == "finished"


def test_a_server_that_dies_in_mid_run_ends_it_early_as_failed(runs):
    run = runs.start(LEVEL)
    runs.wait(run, measuring)
    member(runs.folder(run).read("proc.json"), "simulator.server").kill()
    state = runs.end(run)
    assert state["state"] == "failed"
    assert "in a row failed alike" in state["message"]
    assert "refused" in state["message"]
    requests = runs.requests(run)
    assert (requests["outcome"] == "complete").sum() >= 4
    assert (requests["outcome"] == "connect_failed").sum() >= 50
    assert_nothing_left(runs, run)
