"""`headway serve` opens the dashboard from any folder, beside another one, and ends on Ctrl-C."""

import signal
import socket
import subprocess
import sys
import time
import urllib.request

import pytest
from made_up_runs import RunFolder, Stream

from storage.client import Store
from storage.lock import read_holder
from tests.run_headway import CLI, headway_in

pytestmark = pytest.mark.slow

UP_WITHIN_S = 60


@pytest.fixture
def headway(tmp_path):
    with headway_in(tmp_path) as headway:
        yield headway


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as free:
        return free.getsockname()[1]


def wait_until_up(port, process):
    deadline = time.monotonic() + UP_WITHIN_S
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=5) as answer:
                return answer.read()
        except OSError:
            time.sleep(0.1)
    raise AssertionError(f"no dashboard on {port}: {process.communicate()[1]}")


def stored_run(data):
    """A run that is over, its segments waiting for whichever store comes first."""
    data.mkdir()
    run = RunFolder(data)
    for seq in range(5):
        run.columns(seq, [Stream(seq)])
    run.end()
    return run


def check_one_store_loads_it_once(headway, run):
    """The command line beside two dashboards asks the same store as they do."""
    first = Store.connect(headway.data)
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and first.ask("runs")["state"].tolist() != ["finished"]:
        time.sleep(0.1)
    assert headway.shown()["outcomes"] == {"complete": 5}
    owner = read_holder(headway.data)
    second = subprocess.run(
        [sys.executable, "-m", "storage.store", str(headway.data)], cwd=CLI.parent, check=False
    )
    assert second.returncode == 0, "the folder is held: it ends at once"
    assert first.ask("store")["pid"].iloc[0] == owner.pid
    assert sorted(first.ask("requests", run=run.uid)["request_id"]) == [*range(5)]
    assert len(first.ask("token_events", run=run.uid)) == 50
    first.close()


def test_two_dashboards_on_one_data_folder_both_answer_and_end_on_ctrl_c(headway):
    ports = [free_port(), free_port()]
    run = stored_run(headway.data)
    dashboards = [headway.start("serve", "--port", str(port)) for port in ports]
    try:
        for port, process in zip(ports, dashboards, strict=True):
            assert b"ok" in wait_until_up(port, process)
        check_one_store_loads_it_once(headway, run)
        taken = headway("serve", "--port", str(ports[0]))
        assert taken.returncode == 2
        assert f"Port {ports[0]} on 127.0.0.1 cannot be had" in taken.stderr
    finally:
        for process in dashboards:
            process.send_signal(signal.SIGINT)
        said = [process.communicate(timeout=30) for process in dashboards]
    for port, (out, err) in zip(ports, said, strict=True):
        assert f"Headway: http://127.0.0.1:{port}" in out
        assert "Traceback" not in out + err
    assert not (headway.elsewhere / ".streamlit").exists()
