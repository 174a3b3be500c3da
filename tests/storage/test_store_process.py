"""The store as a process: started by whoever needs it, found by everyone, replaced when it dies."""

import contextlib
import fcntl
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import orjson
import psutil
import pytest
from made_up_runs import RunFolder, Stream

from storage import starting
from storage.client import Store
from storage.lock import NAME, is_held, read_holder
from storage.protocol import StoreError

pytestmark = pytest.mark.slow
PROJECT = Path(__file__).resolve().parents[2]


@pytest.fixture
def data(tmp_path):
    """A data folder whose store, if any, is ended afterwards."""
    yield tmp_path
    holder = read_holder(tmp_path)
    if holder and is_held(tmp_path) and holder.pid != os.getpid():
        end(holder.pid)


def end(pid, number=signal.SIGTERM):
    os.kill(pid, number)
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        try:
            if psutil.Process(pid).status() == psutil.STATUS_ZOMBIE:
                with contextlib.suppress(ChildProcessError):  # another process started it
                    os.waitpid(pid, 0)
                return
        except psutil.NoSuchProcess:
            return
        time.sleep(0.02)
    raise AssertionError(f"process {pid} did not end")


def alive(pid):
    with contextlib.suppress(psutil.NoSuchProcess):
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    return False


def pid_of(store):
    return int(store.ask("store")["pid"].iloc[0])


def eventually(condition, within_s=20.0):
    deadline = time.monotonic() + within_s
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.05)
    return False


def test_a_client_starts_the_store_and_a_second_one_finds_it(data):
    first, second = Store.connect(data), Store.connect(data)
    assert pid_of(first) == pid_of(second) != os.getpid()
    assert len(first.ask("runs")) == 0
    assert (data / "store.sock").stat().st_mode & 0o777 == 0o600
    assert (data / "headway.duckdb").stat().st_mode & 0o077 == 0


def test_what_a_run_writes_is_in_the_tables_while_it_goes_on_and_final_at_its_end(data):
    store, run = Store.connect(data), RunFolder(data)
    assert len(store.ask("run", run=run.uid)) == 1  # no turn has seen it yet: the question waits
    assert list(store.ask("stages", run=run.uid)["name"]) == ["c=1"]
    run.columns(0, [Stream(k) for k in range(3)])
    assert eventually(lambda: len(store.ask("requests", run=run.uid)) == 3)
    assert store.ask("runs")["state"].tolist() == ["running"]
    run.end()
    assert eventually(lambda: store.ask("runs")["state"].tolist() == ["finished"])
    frame = store.ask("gap_hist", run=run.uid)
    assert dict(zip(frame["metric"], frame["n"], strict=True)) == {"gap": 27, "itl": 27}


def test_frames_have_plain_types_whatever_is_missing(data):
    store, run = Store.connect(data), RunFolder(data)
    run.columns(0, [Stream(0), Stream(1, due_us=5, first_token_us=None, outcome="reset")])
    assert eventually(lambda: len(store.ask("requests", run=run.uid)) == 2)
    frame = store.ask("requests", run=run.uid)
    assert frame["end_us"].dtype == "int64"
    assert frame["worker"].dtype == "int64"
    assert frame["ttft_us"].dtype == "float64"
    assert frame["due_us"].isna().tolist() == [True, False]
    assert str(store.ask("runs")["started_at"].dt.tz) == "UTC"


def test_several_threads_share_a_client(data):
    store = Store.connect(data)
    with ThreadPoolExecutor(8) as pool:
        frames = list(pool.map(lambda _: len(store.ask("runs")), range(40)))
    assert frames == [0] * 40
    assert store.ask("store")["n_clients"].iloc[0] <= 8


def test_many_processes_starting_the_store_at_once_meet_at_one(data):
    code = (
        "import sys, pathlib\nfrom storage.client import Store\n"
        "store = Store.connect(pathlib.Path(sys.argv[1]))\n"
        "print(store.ask_arrow('store')['pid'][0])"
    )
    command = [sys.executable, "-c", code, data]
    started = [
        subprocess.Popen(command, cwd=PROJECT, stdout=subprocess.PIPE, text=True) for _ in range(5)
    ]
    answers = [process.communicate(timeout=60)[0].strip() for process in started]
    assert len(set(answers)) == 1
    assert answers[0].isdigit()


def test_a_killed_store_is_started_again_by_the_next_question(data):
    store = Store.connect(data)
    before = pid_of(store)
    end(before, signal.SIGKILL)
    assert pid_of(store) != before


def test_a_store_that_ended_properly_is_started_again_too(data):
    store = Store.connect(data)
    before = pid_of(store)
    end(before)
    assert not (data / "store.sock").exists()
    assert pid_of(store) != before


def test_the_store_ends_some_time_after_its_last_client(data):
    process = subprocess.Popen(
        [sys.executable, "-m", "storage.store", data, "--idle-s", "0.5"], cwd=PROJECT
    )
    assert eventually((data / "store.sock").exists)
    store = Store.connect(data)
    assert pid_of(store) == process.pid
    time.sleep(1.5)
    assert process.poll() is None
    store.close()
    assert process.wait(timeout=20) == 0
    assert not is_held(data)


def test_the_store_of_a_removed_folder_ends(tmp_path):
    data = tmp_path / "data"
    pid = pid_of(Store.connect(data))
    for path in data.iterdir():
        path.unlink()
    data.rmdir()
    assert eventually(lambda: not alive(pid))


def test_a_path_too_long_for_a_socket_works_all_the_same(tmp_path):
    data = tmp_path / ("long" * 30)
    store = Store.connect(data)
    assert len(store.ask("runs")) == 0
    end(pid_of(store))


@pytest.mark.parametrize("name", ["file", "file/data"])
def test_a_folder_that_cannot_be_used_is_one_sentence(tmp_path, name):
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match=r"^The data folder .* cannot be written .*HEADWAY_DATA"):
        Store.connect(tmp_path / name)


def test_a_damaged_database_is_one_sentence(data):
    (data / "headway.duckdb").write_bytes(b"garbage" * 1000)
    with pytest.raises(StoreError, match=r"^The database .* cannot be read .* move it away"):
        Store.connect(data)


def hold(data, host, socket_path="/nowhere/store.sock"):
    fd = os.open(data / NAME, os.O_CREAT | os.O_RDWR)
    fcntl.flock(fd, fcntl.LOCK_EX)
    holder = {"pid": os.getpid(), "host": host, "command": "other", "socket": socket_path}
    os.pwrite(fd, orjson.dumps(holder), 0)
    return fd


def test_a_folder_held_from_another_machine_is_told_at_once(data):
    fd = hold(data, "elsewhere")
    began_s = time.monotonic()
    with pytest.raises(StoreError, match=r"in use by process \d+ on elsewhere \(other\)"):
        Store.connect(data)
    assert time.monotonic() - began_s < 10
    os.close(fd)


def test_a_holder_that_does_not_answer_is_named_after_a_while(data):
    fd = hold(data, socket.gethostname())
    with pytest.raises(StoreError, match=rf"held by process {os.getpid()} .* not answered within"):
        starting.connect(data, within_s=1)
    os.close(fd)


def test_a_store_that_hangs_is_given_up_with_a_sentence(data):
    store = Store(data, answer_within_s=1)
    pid = pid_of(store)
    os.kill(pid, signal.SIGSTOP)
    try:
        with pytest.raises(StoreError, match=r"has not answered within 1 s; see .*store\.log"):
            store.ask("runs")
        with pytest.raises(StoreError, match=rf"held by process {pid} .* not answered within"):
            starting.connect(data, within_s=1)
    finally:
        os.kill(pid, signal.SIGCONT)


def test_wrong_questions_are_sentences_and_the_store_lives_on(data):
    store = Store.connect(data)
    before = pid_of(store)
    for name, args, expected in (
        ("nonsense", {}, r"knows no question 'nonsense'; it knows runs, "),
        ("stages", {}, r"'stages' was asked wrongly: missing a required argument: 'run'"),
        ("stages", {"run": "x"}, r"There is no run 'x' in this data folder"),
        ("stages", {"run": "../.."}, r"There is no run"),
        ("find_run", {"text": 3}, r"The store failed on a question \(Binder Error.*store\.log"),
    ):
        with pytest.raises(StoreError, match=expected):
            store.ask(name, **args)
    assert pid_of(store) == before


def test_bytes_that_are_no_question_get_a_sentence_or_a_closed_door(data):
    store = Store.connect(data)
    connection = starting.connect(data)
    connection.send_bytes(b"\x80\x04pickle")
    assert connection.recv_bytes().startswith(b"EThe store was sent something")
    with contextlib.suppress(BrokenPipeError):
        connection.send_bytes(b"x" * (2 << 20))  # more than any question
    with pytest.raises((EOFError, OSError)):
        connection.recv_bytes()
    assert len(store.ask("runs")) == 0


def test_keys_of_endpoints_do_not_reach_the_store(data, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    pid = pid_of(Store.connect(data))
    assert "OPENAI_API_KEY" not in psutil.Process(pid).environ()


def test_a_question_in_flight_hinders_no_other(data):
    store, run = Store.connect(data), RunFolder(data)
    run.columns(0, [Stream(k) for k in range(200)])
    assert eventually(lambda: len(store.ask("requests", run=run.uid)) == 200)
    answers = []
    threads = [
        threading.Thread(target=lambda: answers.append(len(store.ask("token_events", run=run.uid))))
        for _ in range(6)
    ]
    for thread in threads:
        thread.start()
    assert len(store.ask("runs")) == 1
    for thread in threads:
        thread.join()
    assert answers == [2000] * 6
