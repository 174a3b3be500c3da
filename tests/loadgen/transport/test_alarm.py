"""A greenlet that sleeps until an instant wakes no sooner, unless it is told to."""

import time

import gevent
import pytest

from loadgen.transport import alarm as alarm_module
from loadgen.transport.alarm import Alarm

pytestmark = pytest.mark.slow
MS = 1_000_000


@pytest.fixture(params=["timerfd", "libev"])
def alarm(request, monkeypatch):
    if request.param == "libev":
        monkeypatch.setattr(alarm_module.sys, "platform", "other")
    made = Alarm()
    yield made
    made.close()


def slept_until(alarm, due_ns):
    with gevent.Timeout(5):
        alarm.wait_until(due_ns)
    return time.monotonic_ns()


def test_it_wakes_at_its_instants_one_after_the_other(alarm):
    begin_ns = time.monotonic_ns()
    for k in range(1, 6):
        assert slept_until(alarm, begin_ns + k * 5 * MS) >= begin_ns + k * 5 * MS - MS


def test_an_instant_that_is_past_does_not_let_others_run(alarm):
    ran = []
    gevent.spawn(ran.append, 1)
    slept_until(alarm, time.monotonic_ns() - 1)
    assert ran == []


def test_a_sleeper_is_woken_sooner_but_never_later_than_it_wanted(alarm):
    begin_ns = time.monotonic_ns()
    gevent.spawn(alarm.sooner, begin_ns + 20 * MS)
    gevent.spawn(alarm.sooner, begin_ns + 90_000 * MS)
    assert begin_ns + 19 * MS <= slept_until(alarm, begin_ns + 60_000 * MS) < begin_ns + 5_000 * MS
    gevent.spawn(alarm.sooner, 0)  # now
    assert slept_until(alarm, begin_ns + 60_000 * MS) < begin_ns + 5_000 * MS


def test_nobody_sleeps_no_one_is_woken_and_the_loop_rests(alarm):
    alarm.sooner(time.monotonic_ns() + MS)
    slept_until(alarm, time.monotonic_ns() + 2 * MS)
    turns = gevent.get_hub().loop.iteration
    gevent.sleep(0.05)
    assert gevent.get_hub().loop.iteration - turns < 50


def test_a_killed_sleeper_leaves_the_alarm_for_the_next(alarm):
    begin_ns = time.monotonic_ns()
    first = gevent.spawn(alarm.wait_until, begin_ns + 10 * MS)
    gevent.sleep(0)
    first.kill()
    assert slept_until(alarm, begin_ns + 30 * MS) >= begin_ns + 29 * MS
