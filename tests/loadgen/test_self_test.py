"""The self-test sees a client that keeps bytes back, and excuses a machine that is busy."""

import json
import socket
import subprocess
import sys

import pytest

from loadgen.drip import SERVER, Drip
from loadgen.self_test import GAP_MS, N_EVENTS, judge, self_test

MS = 1_000_000
SENT = [k * GAP_MS * MS for k in range(1, N_EVENTS + 1)]


def seen_at(arrived_ns, stamps="kernel"):
    return judge(Drip(SENT, arrived_ns, stamps))


def in_lumps(n):
    """Each event comes with the last one of its lump, as from a client that reads in blocks."""
    return [SENT[min(k // n * n + n, N_EVENTS) - 1] for k in range(N_EVENTS)]


def test_a_prompt_client_passes_with_its_errors():
    seen = seen_at([ns + 30_000 for ns in SENT[:-1]] + [SENT[-1] + 50_000])
    assert (seen.ok, seen.n, seen.n_merged, seen.is_doubtful) == (True, 20, 0, False)
    assert (seen.error_p50_us, seen.error_max_us, seen.gap_error_max_us) == (30, 50, 20)
    assert "0.03 ms (median) and 0.05 ms (worst), by kernel stamps" in seen.sentence


@pytest.mark.parametrize("n", [3, 5, 20])
def test_a_client_that_hands_on_blocks_fails(n):
    seen = seen_at(in_lumps(n))
    assert seen.ok is False
    assert seen.n_merged > 10
    assert "no gap between tokens could be believed" in seen.sentence


def test_blocks_that_are_read_one_event_after_another_fail_too():
    arrived_ns = [ns + k * 100_000 for k, ns in enumerate(in_lumps(5))]
    assert seen_at(arrived_ns, "user").ok is False


def test_one_long_stall_of_a_busy_machine_is_an_error_that_is_told_and_no_failure():
    arrived_ns = [max(ns, 8 * GAP_MS * MS) for ns in SENT]
    seen = seen_at(arrived_ns, "user")
    assert (seen.ok, seen.is_doubtful, seen.n_merged) == (True, True, 7)
    assert seen.error_max_us == 7 * GAP_MS * 1000
    assert "140 ms (worst), by user stamps" in seen.sentence
    assert "busy" in seen.sentence


def test_events_that_never_came_fail():
    seen = seen_at(SENT[:-2])
    assert seen.ok is False
    assert "of 20 events sent, 18 were seen" in seen.sentence


@pytest.mark.slow
def test_our_own_client_sees_every_gap():
    seen = self_test()
    assert seen.ok, seen.sentence
    assert seen.n == N_EVENTS
    assert json.loads(json.dumps(seen.to_dict()))["stamps"] in ("kernel", "user")


@pytest.mark.slow
def test_a_self_test_that_cannot_be_made_says_so_and_blames_nobody(monkeypatch):
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    seen = self_test()
    assert seen.ok is None
    assert seen.is_doubtful
    assert "could not be made" in seen.sentence


@pytest.mark.slow
def test_the_drip_server_ends_when_its_client_leaves():
    words = [sys.executable, "-I", "-S", str(SERVER), "500", "20"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as server:
        with socket.create_connection(("127.0.0.1", int(server.stdout.readline()))) as client:
            client.sendall(b"POST / HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}")
            assert b"200 OK" in client.recv(4096)
        assert server.wait(5) != 0
