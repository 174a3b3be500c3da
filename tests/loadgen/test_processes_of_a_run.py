"""A run's processes are told apart, and a folder whose processes are gone says so."""

import json
import os
import subprocess
import sys
import time

import pytest

from loadgen import launch
from loadgen.plan import parse
from loadgen.processes import alive, identity
from loadgen.run_folder import RunFolder
from storage.raw_spool import RawWriter

PLAN = parse(
    {
        "target": {"url": "http://127.0.0.1:9", "model": "m"},
        "stages": [{"concurrency": 1, "requests": 1}],
    }
)


def make_folder(data, **status):
    folder = RunFolder(data / "runs" / "11111111-1111-4111-8111-111111111111")
    folder.spool.mkdir(parents=True)
    (folder.path / "plan.json").write_bytes(PLAN.to_json())
    folder.write("status.json", {"run_uid": folder.run_uid, "stage_name": "c=1", **status})
    return folder


def ended_process():
    process = subprocess.Popen([sys.executable, "-c", "pass"])
    proc = identity(process.pid)
    process.wait()
    return proc


@pytest.mark.slow
def test_a_later_process_with_the_same_number_is_not_the_leader():
    mine = identity(os.getpid())
    assert alive(mine) is not None
    assert alive({**mine, "birth_ticks": mine["birth_ticks"] - 100}) is None


@pytest.mark.slow
def test_a_step_of_the_wall_clock_does_not_end_a_run():
    mine = identity(os.getpid())
    assert alive({**mine, "create_time": mine["create_time"] + 3600}) is not None


@pytest.mark.slow
def test_a_run_whose_leader_is_gone_is_interrupted_with_a_sentence(tmp_path):
    folder = make_folder(tmp_path, state="running")
    folder.write("proc.json", ended_process())
    state = launch.state(tmp_path, folder.run_uid)
    assert state["state"] == "interrupted"
    assert "c=1" in state["message"]
    assert "kept" in state["message"]


@pytest.mark.slow
def test_a_run_that_was_asked_to_stop_and_lost_its_leader_is_stopped(tmp_path):
    folder = make_folder(tmp_path, state="running")
    folder.write("proc.json", ended_process())
    assert launch.stop(tmp_path, folder.run_uid)["state"] == "stopped"


@pytest.mark.slow
def test_reconcile_ends_a_load_worker_that_outlived_its_leader(tmp_path):
    folder = make_folder(tmp_path, state="running")
    script = (
        "import subprocess, sys, time;"
        "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)']); time.sleep(60)"
    )
    leader = subprocess.Popen([sys.executable, "-c", script], start_new_session=True)
    proc = identity(leader.pid)
    folder.write("proc.json", proc)
    deadline = time.monotonic() + 10
    while len(list(launch.group(proc))) < 2 and time.monotonic() < deadline:
        time.sleep(0.05)
    leader.kill()
    leader.wait()
    assert launch.reconcile(tmp_path) == [folder.run_uid]
    while list(launch.group(proc)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not list(launch.group(proc))


def test_a_finished_run_stays_as_it_is(tmp_path):
    folder = make_folder(tmp_path, state="finished", message="done")
    assert launch.reconcile(tmp_path) == []
    assert launch.state(tmp_path, folder.run_uid)["message"] == "done"


def test_an_unknown_run_is_named(tmp_path):
    with pytest.raises(launch.LaunchError, match="no run nope"):
        launch.state(tmp_path, "nope")


def test_a_data_folder_that_cannot_be_written_is_one_sentence(tmp_path):
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(launch.LaunchError, match="cannot be written") as error:
        launch.start(PLAN, tmp_path / "file" / "data")
    assert "HEADWAY_DATA" in str(error.value)
    assert "\n" not in str(error.value)


def test_a_status_is_replaced_whole(tmp_path):
    folder = make_folder(tmp_path, state="running")
    for i in range(20):
        folder.write("status.json", {"i": i})
        assert json.loads((folder.path / "status.json").read_bytes()) == {"i": i}
    assert [p.name for p in folder.path.glob(".status*")] == []


@pytest.mark.slow
def test_raw_reads_no_decoder_survives_are_given_up_with_a_sentence(tmp_path):
    folder = make_folder(tmp_path, state="finished", message="All levels were measured.")
    folder.write("run.json", {"t0_mono_ns": 0})
    writer = RawWriter(folder.spool, 0)
    writer.open(0, {"api": "no such API"}, 0)  # each decoder dies of it
    writer.seal()
    deadline = time.monotonic() + 60
    while folder.undecoded() and time.monotonic() < deadline:
        launch.reconcile(tmp_path)
        time.sleep(0.1)
    state = launch.state(tmp_path, folder.run_uid)
    assert state["state"] == "finished"
    assert "could not be decoded" in state["message"]
    assert list(folder.spool.glob("raw-*.seg"))
    assert (folder.spool / "decodings-w0").stat().st_size == 4
