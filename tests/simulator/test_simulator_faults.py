"""Faults that a request may ask for."""

import http.client
import time
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pytest
from simulated import COMPLETIONS, Server, simulator, words_of

from simulator.faults import Fault, parse_fault

FAST = ("--set", "step_ns=2000000", "--set", "prefill_token_ns=0", "--set", "natural_tokens=100")
ASK: dict[str, Any] = {"prompt": "a b", "max_tokens": 6, "ignore_eos": True}
slow = pytest.mark.slow


def test_a_fault_is_text_or_an_object():
    assert parse_fault("cut_after=3; stall_ms=500") == Fault(cut_after=3, stall_ms=500)
    assert parse_fault({"status": 503}) == Fault(status=503)
    assert parse_fault(None) == Fault()


@pytest.mark.parametrize(
    ("wanted", "word"), [("cut=3", "cut_after"), ("status=no", "whole number"), ([1], "keys")]
)
def test_a_fault_that_is_not_understood_says_so(wanted: Any, word: str):
    with pytest.raises(ValueError, match=word):
        parse_fault(wanted)


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with simulator("--profile", "small-gpu", *FAST) as running:
        yield running


def cut_stream(server: Server, fault: str) -> tuple[bytes, Exception]:
    """What had arrived when the connection broke, and how that looked."""
    connection = server.connect()
    body = b'{"prompt":"a","max_tokens":6,"stream":true,"ignore_eos":true}'
    connection.request("POST", COMPLETIONS, body, {"X-Sim-Fault": fault})
    response = connection.getresponse()
    raw = b""
    try:
        while True:
            raw += response.read1(65536)
    except (http.client.IncompleteRead, ConnectionResetError) as error:
        return raw, error
    finally:
        connection.close()


@slow
def test_a_status_is_answered_before_all_else(server: Server):
    status, raw = server.ask(COMPLETIONS, {**ASK, "x_sim_fault": "status=429"})
    assert (status, b'"code":429' in raw) == (429, True)


@slow
def test_a_fault_nobody_knows_is_a_400(server: Server):
    assert server.ask(COMPLETIONS, {**ASK, "x_sim_fault": "explode=1"})[0] == 400


@slow
@pytest.mark.parametrize("after", [0, 3, 6])
def test_a_cut_stream_has_its_tokens_and_no_end(server: Server, after: int):
    raw, error = cut_stream(server, f"cut_after={after}")
    assert raw.count(b"data: {") == after
    assert isinstance(error, http.client.IncompleteRead)
    assert server.metric("vllm:num_requests_running") == 0


@slow
def test_a_reset_stream_ends_in_a_tcp_reset(server: Server):
    raw, error = cut_stream(server, "reset_after=2")
    assert raw.count(b"data: {") <= 2, "a reset may overtake what was sent"
    assert isinstance(error, ConnectionResetError)


@slow
def test_an_error_inside_the_200_is_followed_by_done(server: Server):
    stream = server.stream(COMPLETIONS, ASK, X_Sim_Fault="error_after=2")
    assert len(words_of(stream[:2])) == 2
    assert stream[2]["error"]["code"] == 500
    assert stream[3:] == ["[DONE]"]


@slow
def test_garbage_is_one_event_among_the_others(server: Server):
    stream = server.stream(COMPLETIONS, ASK, X_Sim_Fault="garbage_after=2")
    assert isinstance(stream[2], str)
    assert len(words_of(stream)) == 6


@slow
def test_a_stalled_stream_is_silent_and_then_catches_up(server: Server):
    connection = server.connect()
    body = b'{"prompt":"a","max_tokens":6,"stream":true,"ignore_eos":true}'
    fault = {"X-Sim-Fault": "stall_ms=700; stall_after=2"}
    connection.request("POST", COMPLETIONS, body, fault)
    response = connection.getresponse()
    at_s = [time.monotonic() for line in iter(response.readline, b"") if line.startswith(b"data")]
    connection.close()
    gaps_s = [later - earlier for earlier, later in pairwise(at_s)]
    assert len(at_s) == 8
    assert gaps_s.index(max(gaps_s)) == 1
    assert max(gaps_s) > 0.6


@slow
def test_a_frozen_server_stands_still_for_everyone(server: Server):
    bystander = server.connect()
    body = b'{"prompt":"a","max_tokens":500,"stream":true,"ignore_eos":true}'
    begin = time.monotonic()
    bystander.request("POST", COMPLETIONS, body)
    response = bystander.getresponse()
    response.readline()
    server.ask(COMPLETIONS, {**ASK, "x_sim_fault": {"freeze_ms": 400}})
    response.read()
    bystander.close()
    assert time.monotonic() - begin >= 500 * 0.002 + 0.4


@slow
def test_usage_can_be_refused_or_ignored(server: Server):
    wanted = {**ASK, "stream_options": {"include_usage": True}}
    status, raw = server.ask(COMPLETIONS, {**wanted, "x_sim_fault": "refuse_usage=1"})
    assert (status, b"stream_options is not supported" in raw) == (400, True)
    stream = server.stream(COMPLETIONS, wanted, X_Sim_Fault="ignore_usage=1")
    assert not any("usage" in event for event in stream[:-1])
