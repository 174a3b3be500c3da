"""A check asks a real socket once, in its own process too, and always ends in words."""

import os
import socket
import threading

import pytest

from loadgen.check_process import run_check
from tests.endpoints import DONE, GOOD_WITH_USAGE, STREAM, endpoint, refusal, token

pytestmark = pytest.mark.slow


def names(said):
    return [warning["name"] for warning in said["warnings"]]


def test_the_simulator_is_started_asked_and_ended():
    said = run_check({"url": "sim://small-gpu", "model": "small-gpu", "api": "openai_chat"})
    assert said["ok"], said
    assert said["phases"]["connect_ms"] > 0
    assert said["tokens"]["output"] == said["tokens"]["chunks"] == 64
    assert said["asked"]["closes"] is False
    assert "batched" not in names(said)
    with pytest.raises(OSError, match="refused"):
        socket.create_connection(("127.0.0.1", int(said["asked"]["url"].rpartition(":")[2])), 1)


def test_an_endpoint_that_sends_all_at_once_is_explained():
    with endpoint(lambda n, body: GOOD_WITH_USAGE) as url:
        said = run_check({"url": url, "model": "m", "api": "openai_chat", "api_key_env": ""})
    assert [event["kind"] for event in said["events"]] == ["content", "content", "usage", "done"]
    assert said["asked"]["model"] == "m"


def test_a_refused_field_is_left_out_and_told():
    def answer(_n, body):
        if "ignore_eos" in body:
            return refusal(400, message="unknown field ignore_eos")
        return GOOD_WITH_USAGE

    with endpoint(answer) as url:
        said = run_check({"url": url, "model": "m"})
    assert said["ok"]
    assert said["asked"]["dropped_fields"] == ["ignore_eos"]
    assert "fields_refused" in names(said)


def test_api_auto_takes_what_the_path_tells():
    with endpoint(lambda n, body: (200, STREAM, token("a", "stop") + DONE)) as url:
        said = run_check({"url": f"{url}/v1/chat/completions", "api": "auto"})
    assert (said["ok"], said["asked"]["api"], said["asked"]["model"]) == (
        True,
        "openai_chat",
        "default",
    )


def test_a_refusal_is_told_with_the_servers_sentence_and_what_to_do(monkeypatch):
    monkeypatch.setenv("CHECK_KEY", "sk-very-secret")
    wrong = refusal(401, message="Wrong key sk-very-secret.")
    with endpoint(lambda n, body: wrong) as url:
        said = run_check({"url": url, "model": "m", "api_key_env": "CHECK_KEY"})
    assert (said["ok"], said["http_status"]) == (False, 401)
    assert "Wrong key" in said["sentence"]
    assert "CHECK_KEY" in said["sentence"]
    assert "very-secret" not in str(said)


def test_nobody_there_is_told():
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    said = run_check({"url": f"http://127.0.0.1:{port}", "model": "m"})
    assert (said["ok"], said["outcome"]) == (False, "connect_failed")
    assert str(port) in said["sentence"]


@pytest.mark.parametrize(
    ("target", "told"),
    [
        ({"url": "ftp://x", "model": "m"}, "target.url"),
        ({"url": "http://x", "model": "m", "api_key_env": "NO_SUCH_VARIABLE"}, "NO_SUCH_VARIABLE"),
        ({"url": "sim://no-such-gpu", "model": "m"}, "no-such-gpu"),
        ({}, "target.url"),
    ],
)
def test_what_cannot_be_asked_is_one_sentence(target, told):
    assert "NO_SUCH_VARIABLE" not in os.environ
    said = run_check(target)
    assert said["ok"] is False
    assert told in said["sentence"]
    assert "Traceback" not in said["sentence"]


def test_an_endpoint_that_never_ends_is_ended_with_a_sentence():
    silent = socket.create_server(("127.0.0.1", 0))
    held = []
    threading.Thread(target=lambda: held.append(silent.accept()), daemon=True).start()
    url = f"http://127.0.0.1:{silent.getsockname()[1]}"
    said = run_check({"url": url, "model": "m", "api": "openai_chat"}, within_s=4)
    silent.close()
    assert said == {
        "ok": False,
        "sentence": "No whole answer came within 4 s, so the check was ended.",
    }
