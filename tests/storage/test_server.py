"""The store's socket outlives the moments in which no client can be taken."""

import contextlib
import os
import resource
import socket
import time

import pytest

from storage.protocol import GREETING
from storage.server import Server


@contextlib.contextmanager
def no_file_may_be_opened():
    """To accept() the same as a process with too many open files: EMFILE."""
    lowest_free = os.dup(0)
    os.close(lowest_free)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (lowest_free, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.slow
def test_a_client_that_comes_when_too_many_files_are_open_is_answered_later(
    tables, tmp_path, caplog
):
    path = str(tmp_path / "store.sock")
    server = Server(tables.database, tmp_path, path, dict)
    with contextlib.closing(server), socket.socket(socket.AF_UNIX) as client:
        client.settimeout(5)
        with no_file_may_be_opened():
            client.connect(path)
            deadline = time.monotonic() + 5
            while not caplog.records and time.monotonic() < deadline:
                time.sleep(0.01)
        assert "no client can be taken" in caplog.text
        assert client.recv(4 + len(GREETING)).endswith(GREETING)
        assert server.n_clients == 1
