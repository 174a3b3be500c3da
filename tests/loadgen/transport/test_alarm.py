"""An alarm calls once for each time it is set, and never before that time."""

import time

import gevent
import pytest

from loadgen.transport import alarm as alarm_module
from loadgen.transport.alarm import Alarm

pytestmark = pytest.mark.slow
MS = 1_000_000
EARLY_NS = MS  # libev's timers, where there is no timerfd


class Rung:
    """Notes when it was called; sets the alarm anew for each instant still `to_come`."""

    def __init__(self):
        self.at_ns, self.to_come = [], []
        self.alarm = Alarm(self)

    def __call__(self):
        self.at_ns.append(time.monotonic_ns())
        if self.to_come:
            self.alarm.set(self.to_come.pop(0))

    def wait(self, n):
        with gevent.Timeout(5):
            while len(self.at_ns) < n:
                gevent.sleep(0.001)
        return self.at_ns


@pytest.fixture(params=["timerfd", "libev"])
def rung(request, monkeypatch):
    if request.param == "libev":
        monkeypatch.setattr(alarm_module.sys, "platform", "other")
    made = Rung()
    yield made
    made.alarm.close()


def test_it_calls_at_each_instant_it_is_set_to(rung):
    begin_ns = time.monotonic_ns()
    due_ns = [begin_ns + k * 5 * MS for k in range(1, 6)]
    rung.to_come = due_ns[1:]
    rung.alarm.set(due_ns[0])
    assert all(at >= due - EARLY_NS for at, due in zip(rung.wait(5), due_ns, strict=True))


def test_an_instant_that_is_past_is_called_in_the_next_turn(rung):
    for n, past_ns in enumerate((time.monotonic_ns() - MS, 1, 0)):
        rung.alarm.set(past_ns)
        assert len(rung.at_ns) == n
        rung.wait(n + 1)


def test_setting_it_anew_forgets_what_it_was_set_to(rung):
    begin_ns = time.monotonic_ns()
    rung.alarm.set(begin_ns + 60_000 * MS)
    rung.alarm.set(begin_ns + 10 * MS)  # sooner
    assert rung.wait(1)[0] < begin_ns + 5_000 * MS
    rung.alarm.set(begin_ns + 11 * MS)
    rung.alarm.set(begin_ns + 60_000 * MS)  # later
    gevent.sleep(0.05)
    assert len(rung.at_ns) == 1


def test_once_it_has_called_the_loop_rests(rung):
    rung.alarm.set(time.monotonic_ns() + MS)
    rung.wait(1)
    turns = gevent.get_hub().loop.iteration
    gevent.sleep(0.05)
    assert gevent.get_hub().loop.iteration - turns < 50
    assert len(rung.at_ns) == 1


def test_a_closed_alarm_does_not_call(rung):
    rung.alarm.set(time.monotonic_ns() + MS)
    rung.alarm.close()
    gevent.sleep(0.02)
    assert rung.at_ns == []
