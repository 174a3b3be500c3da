"""`headway serve` opens the dashboard from any folder, beside another one, and ends on Ctrl-C."""

import signal
import socket
import time
import urllib.request

import pytest

from tests.run_headway import headway_in

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


def test_two_dashboards_on_one_data_folder_both_answer_and_end_on_ctrl_c(headway):
    ports = [free_port(), free_port()]
    dashboards = [headway.start("serve", "--port", str(port)) for port in ports]
    try:
        for port, process in zip(ports, dashboards, strict=True):
            assert b"ok" in wait_until_up(port, process)
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
