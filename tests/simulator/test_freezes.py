"""Planned freezes: the whole engine stands still, from its first request on by the clock."""

import http.client
import time
from itertools import islice, pairwise

import pytest
from simulated import COMPLETIONS, Server, simulator

from simulator.freezes import Freezes
from simulator.profiles import SettingError, adjusted, profile_named


def test_without_a_duration_nothing_freezes():
    assert list(Freezes(freeze_at_s=5, freeze_every_s=9).begins_s()) == []


def test_a_freeze_comes_once_unless_a_period_is_given():
    assert list(Freezes(freeze_s=2, freeze_at_s=5).begins_s()) == [5]
    often = Freezes(freeze_s=2, freeze_at_s=5, freeze_every_s=10)
    assert list(islice(often.begins_s(), 3)) == [5, 15, 25]


def test_settings_plan_freezes():
    profile = adjusted(profile_named("null"), ("freeze_at_s=1.5", "freeze_s=2"))
    assert profile.freezes == Freezes(freeze_s=2, freeze_at_s=1.5)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (("freeze_s=-1",), "freeze_s is -1; it must be 0 or more"),
        (("freeze_at_s=inf",), "freeze_at_s is inf"),
        (("freeze_s=nan",), "freeze_s is nan"),
        (("freeze_s=2", "freeze_every_s=2"), "must be more than freeze_s"),
    ],
)
def test_a_freeze_that_cannot_be_is_one_sentence(settings: tuple[str, ...], words: str):
    with pytest.raises(SettingError, match=words):
        adjusted(profile_named("null"), settings)


def arrivals_s(connection: http.client.HTTPConnection, n_tokens: int) -> list[float]:
    """When each event of one stream came."""
    body = b'{"prompt":"a","max_tokens":%d,"stream":true,"ignore_eos":true}' % n_tokens
    connection.request("POST", COMPLETIONS, body)
    response = connection.getresponse()
    return [time.monotonic() for line in iter(response.readline, b"") if line.startswith(b"data")]


def longest_gaps_s(server: Server, n_tokens: int) -> list[float]:
    connection = server.connect()
    at_s = arrivals_s(connection, n_tokens)
    connection.close()
    return sorted((b - a for a, b in pairwise(at_s)), reverse=True)


@pytest.mark.slow
def test_a_running_stream_is_silent_through_each_planned_freeze():
    words = ["step_ns=5000000", "freeze_at_s=0.3", "freeze_s=0.5", "freeze_every_s=1.1"]
    settings = [word for setting in words for word in ("--set", setting)]
    with simulator("--profile", "small-gpu", *settings) as server:
        first, second, third = longest_gaps_s(server, 240)[:3]  # 1.2 s of tokens
    assert second > 0.45, "two freezes while it ran, or more"
    assert first < 5
    assert third < second


@pytest.mark.slow
def test_an_idle_engine_freezes_too():
    freeze = ("--set", "freeze_at_s=0.2", "--set", "freeze_s=1")
    with simulator("--profile", "null", *freeze) as server:
        connection = server.connect()
        began_s = time.monotonic()
        arrivals_s(connection, 1)
        time.sleep(0.4)
        last_s = arrivals_s(connection, 1)[-1]
        connection.close()
    assert last_s - began_s > 1.1
