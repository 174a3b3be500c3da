import json
from pathlib import Path

import numpy as np
import pytest

from bench import truth_log
from bench.processes import truth_server
from bench.truth_log import LEFT
from bench.truth_script import DONE, FINISH, HEAD, USAGE
from tests.bench.plain_client import ask, connect, read_answer, request

pytestmark = pytest.mark.slow


def chat(n: int, **more: object) -> dict[str, object]:
    return {"model": "m", "stream": True, "max_tokens": n, "ttft_ms": 5, "itl_ms": 1} | more


def test_a_chat_answer_is_exactly_what_was_asked(tmp_path: Path):
    with truth_server(tmp_path / "log") as (url, _), connect(url) as sock:
        body = chat(9, stream_options={"include_usage": True})
        answer = ask(sock, "/v1/chat/completions", body, "run-7")
    *events, done = answer.events
    assert done == "[DONE]"
    role, *tokens, finish, usage = [json.loads(e) for e in events]
    assert role["choices"][0]["delta"] == {"role": "assistant", "content": ""}
    assert [t["choices"][0]["delta"]["content"] for t in tokens] == [f" t{k:04d}" for k in range(9)]
    assert finish["choices"][0]["finish_reason"] == "length"
    assert usage["choices"] == []
    assert usage["usage"]["completion_tokens"] == 9
    assert len(answer.chunks) == 9 + 4  # one HTTP chunk per event


def test_a_completions_answer_is_exactly_what_was_asked(tmp_path: Path):
    with truth_server(tmp_path / "log") as (url, _), connect(url) as sock:
        answer = ask(sock, "/v1/completions", chat(4))
    *tokens, finish, done = answer.events
    assert [json.loads(t)["choices"][0]["text"] for t in tokens] == [f" t{k:04d}" for k in range(4)]
    assert json.loads(finish)["choices"][0]["finish_reason"] == "length"
    assert done == "[DONE]"


def test_the_log_is_what_a_plain_client_received(tmp_path: Path):
    """64 streams over 32 kept-alive connections; each event's stamp lies before its arrival."""
    arrived: dict[str, list[int]] = {}
    with truth_server(tmp_path / "log") as (url, _):
        socks = [connect(url) for _ in range(32)]
        for turn in range(2):
            ids = [f"turn{turn}-{i}" for i in range(len(socks))]
            for sock, x_id in zip(socks, ids, strict=True):
                sock.sendall(request("/v1/chat/completions", chat(20), x_id))
            for sock, x_id in zip(socks, ids, strict=True):
                answer = read_answer(sock)
                assert len(answer.events) == 20 + 3
                arrived[x_id] = answer.arrived_ns
        for sock in socks:
            sock.close()
    log = truth_log.read(tmp_path / "log")
    numbers = log.request_ids()
    assert sorted(numbers) == sorted(arrived)
    for x_id, arrived_ns in arrived.items():
        rows = log.records[log.records["request"] == numbers[x_id]]
        sent = rows[(rows["seq"] >= 0) | (rows["seq"] <= HEAD)]
        assert sent["seq"].tolist() == [HEAD, *range(20), FINISH, DONE]
        for line in ("mono_ns", "realtime_ns"):
            assert (np.diff(sent[line]) > 0).all()
        assert (sent["mono_ns"] >= sent["due_ns"]).all()
        assert (sent["mono_ns"] <= np.array(arrived_ns)).all()


def test_events_are_due_at_absolute_times_from_the_kernels_stamp_of_the_request(tmp_path: Path):
    """The drip of the self-test: 20 events 20 ms apart; lateness of one never moves the next."""
    with truth_server(tmp_path / "log") as (url, _), connect(url) as sock:
        ask(sock, "/v1/completions?n=20&itl_ms=20&ttft_ms=40", {"stream": True})
    log = truth_log.read(tmp_path / "log")
    (arrival,) = log.arrivals
    assert 0 < arrival["realtime_ns"] <= arrival["due_ns"]  # stamped by the kernel, then read
    since_arrival_ns = log.tokens["due_ns"] - arrival["mono_ns"]
    assert since_arrival_ns.tolist() == [40_000_000 + k * 20_000_000 for k in range(20)]


def test_a_client_that_reads_slowly_still_gets_every_event_once(tmp_path: Path):
    n = 60_000  # more than the socket buffers hold
    with truth_server(tmp_path / "log") as (url, _), connect(url) as sock:
        answer = ask(sock, "/v1/completions?itl_ms=0&ttft_ms=0", chat(n), "slow")
    assert len(answer.events) == n + 2
    assert truth_log.read(tmp_path / "log").tokens["seq"].tolist() == list(range(n))


def test_a_client_that_leaves_is_logged_and_harms_nobody(tmp_path: Path):
    with truth_server(tmp_path / "log") as (url, _):
        with connect(url) as leaver:
            leaver.sendall(request("/v1/completions", chat(5000), "leaver"))
            leaver.recv(1)
        with connect(url) as sock:
            assert len(ask(sock, "/v1/completions", chat(50)).events) == 52
    log = truth_log.read(tmp_path / "log")
    assert log.of(LEFT)["request"].tolist() == [log.request_ids()["leaver"]]


def test_what_it_does_not_serve_is_refused_and_the_connection_lives(tmp_path: Path):
    with truth_server(tmp_path / "log") as (url, _), connect(url) as sock:
        refused = ask(sock, "/v1/embeddings", {})
        assert refused.status == 400
        assert b"is not served" in refused.chunks[0]
        assert b'"truth"' in ask(sock, "/v1/models", None).chunks[0]
        assert len(ask(sock, "/v1/completions", chat(3)).events) == 5


def test_usage_is_an_event_of_its_own_in_the_log(tmp_path: Path):
    with truth_server(tmp_path / "log") as (url, _), connect(url) as sock:
        ask(sock, "/v1/completions", chat(2, stream_options={"include_usage": True}))
    log = truth_log.read(tmp_path / "log")
    assert log.records["seq"].tolist()[-3:] == [FINISH, USAGE, DONE]
