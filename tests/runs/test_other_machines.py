"""Machines that are really apart: a clock of their own, a network of their own."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from outposts import free_port, line_to

from loadgen.machines.channel import MOST_BYTES_IN
from storage.records import TOKEN_EVENT

pytestmark = pytest.mark.slow
PROJECT = Path(__file__).resolve().parents[2]
AHEAD_S = 100_000
OWN_CLOCK = ("unshare", "--map-root-user", "--time", "--monotonic", str(AHEAD_S), "--fork",
             "--kill-child")  # fmt: skip
LEADER, WORKER = "10.213.77.1", "10.213.77.2"


def works(*command: str) -> bool:
    if shutil.which(command[0]) is None:
        return False
    return subprocess.run([*command, "true"], capture_output=True, check=False).returncode == 0


@pytest.mark.skipif(
    not works(*OWN_CLOCK), reason="this system gives no time namespace to this user (unshare -rT)"
)
def test_a_machine_whose_clock_counts_from_elsewhere_is_on_the_same_time_line(runs, outposts, port):
    outposts.start(f"127.0.0.2:{port}", "--secret-env", "LOAD_SECRET", within=OWN_CLOCK)
    machines = {"workers": 1, "bind": "127.0.0.2", "port": port, "secret_env": "LOAD_SECRET"}
    levels = [{"concurrency": 4, "requests": 24}, {"rate_per_s": 10, "seconds": 3}]
    run = runs.start(*levels, machines=machines)
    assert runs.end(run)["state"] == "finished"
    folder = runs.folder(run)
    (worker,) = folder.read("run.json")["machines"]["workers"]
    assert worker["offset_ns"] == pytest.approx(AHEAD_S * 1e9, abs=worker["error_ns"])
    requests = runs.requests(run)
    assert set(requests["worker"]) == {0, 1}
    assert (requests["stage"] == 0).sum() == 24
    assert set(requests["outcome"]) == {"complete"}
    error_us = (worker["error_ns"] + abs(worker["drift_ns"])) / 1000 + 1
    for line in folder.path.joinpath("stages.jsonl").read_text().splitlines():
        stage = json.loads(line)
        mine = requests[requests["stage"] == stage["stage"]]
        assert (mine["send_us"] >= stage["begin_us"] - error_us).all()
        if stage["issue_end_us"] is not None:
            assert (mine["end_us"] <= stage["end_us"] + error_us + 100_000).all()


@contextmanager
def own_network() -> Iterator[str]:
    """A namespace whose only way out is a pair of virtual cards to this one; its name."""
    name = f"headway{os.getpid()}"
    here, there = f"hw{os.getpid() % 10_000}a", f"hw{os.getpid() % 10_000}b"

    def ip(*words: str) -> None:
        subprocess.run(["ip", *words], check=True)

    ip("netns", "add", name)
    try:
        ip("link", "add", here, "type", "veth", "peer", "name", there, "netns", name)
        ip("addr", "add", f"{LEADER}/30", "dev", here)
        ip("link", "set", here, "up")
        ip("-n", name, "addr", "add", f"{WORKER}/30", "dev", there)
        ip("-n", name, "link", "set", there, "up")
        yield name
    finally:
        ip("netns", "del", name)


@contextmanager
def simulator() -> Iterator[int]:
    """A simulated endpoint on 127.0.0.1; its port."""
    command = [sys.executable, "-m", "simulator.server", "--port", "0", "--profile", "small-gpu"]
    process = subprocess.Popen(command, cwd=PROJECT, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield int(process.stdout.readline().rpartition(":")[2])
    finally:
        process.kill()
        process.wait()


NEEDS_NETWORKS = pytest.mark.skipif(
    os.geteuid() != 0 or not works("unshare", "--net") or shutil.which("ip") is None,
    reason="making a network namespace needs root and the ip command",
)


@NEEDS_NETWORKS
def test_a_machine_on_another_network_carries_its_part(runs, outposts, port):
    with (
        own_network() as name,
        simulator() as behind,
        line_to(("127.0.0.1", behind), LEADER) as endpoint,
    ):
        port = free_port(LEADER)
        within = ("ip", "netns", "exec", name)
        outposts.start(f"{LEADER}:{port}", "--secret-env", "LOAD_SECRET", within=within)
        machines = {"workers": 1, "bind": "0.0.0.0", "port": port, "secret_env": "LOAD_SECRET"}
        target = {"url": f"http://{endpoint.address}", "model": "small-gpu"}
        run = runs.start({"concurrency": 4, "requests": 40}, target=target, machines=machines)
        state = runs.end(run)
    assert state["state"] == "finished", state["message"]
    requests = runs.requests(run)
    assert len(requests) == 40
    assert set(requests["worker"]) == {0, 1}
    (worker,) = runs.folder(run).read("run.json")["machines"]["workers"]
    assert worker["address"] == WORKER


@NEEDS_NETWORKS
def test_a_machine_that_cannot_reach_the_endpoint_is_named(runs, outposts, port):
    with own_network() as name:
        port = free_port(LEADER)
        within = ("ip", "netns", "exec", name)
        outposts.start(f"{LEADER}:{port}", "--secret-env", "LOAD_SECRET", within=within)
        machines = {"workers": 1, "bind": LEADER, "port": port, "secret_env": "LOAD_SECRET"}
        state = runs.end(runs.start({"concurrency": 4, "requests": 40}, machines=machines))
    assert state["state"] == "failed"
    assert WORKER in state["message"]
    assert "(that address is each machine's own) takes no connection from there" in state["message"]


def test_more_than_a_message_may_hold_comes_home_whole(runs, outposts, port):
    outposts.start(f"127.0.0.2:{port}", "--secret-env", "LOAD_SECRET")
    machines = {"workers": 1, "bind": "127.0.0.2", "port": port, "secret_env": "LOAD_SECRET"}
    workload = {"prompt_tokens": 10, "output_tokens": 3000}
    level = {"concurrency": 12, "requests": 12}
    target = {"url": "sim://null", "model": "sim"}
    run = runs.start(level, target=target, workload=workload, workers=0, machines=machines)
    assert runs.end(run)["state"] == "finished"
    requests = runs.requests(run)
    assert len(requests) == 12
    assert (requests["output_tokens"] == 3000).all()
    assert requests["n_chunks"].sum() * TOKEN_EVENT.itemsize > MOST_BYTES_IN
