"""Open loop as one worker plays it, by real greenlets."""

import time

import gevent
import pytest
from played_levels import MS, Endpoint, level_of, play

from loadgen.levels import OnEnd
from loadgen.planned import PlannedRequest

pytestmark = pytest.mark.slow


def test_arrivals_begin_when_due_whatever_is_open():
    stage = {"rate_per_s": 200, "seconds": 0.3}
    level, endpoint = level_of(stage), Endpoint(takes_s=0.2)
    asked = [visit.due_ns for visit in level_of(stage).share.arrivals()]
    play(level, endpoint)
    assert [planned.due_ns for _, planned, _ in endpoint.sent] == asked
    assert all(at_ns >= due_ns for at_ns, _, due_ns in endpoint.sent)
    assert all(due_ns - level.begin_ns == p.due_ns for _, p, due_ns in endpoint.sent)
    assert level.end_ns > level.deadline_ns  # what was open then went on to its end


def test_many_arrivals_due_at_once_are_all_begun():
    burst = {"arrivals": "gamma", "burstiness": 0.01, "rate_per_s": 2000, "requests": 300}
    level, endpoint = level_of(burst), Endpoint(takes_s=0)
    play(level, endpoint)
    assert len(endpoint.sent) == 300


TALK = {"name": "talk", "workload": {"conversation": {"turns": 3, "think_s": 0.03}}}


class Slow(Endpoint):
    """Each dispatch holds up the whole loop."""

    def dispatch(self, planned: PlannedRequest, due_ns: int, on_end: OnEnd) -> None:
        time.sleep(0.02)
        super().dispatch(planned, due_ns, on_end)


def test_arrivals_that_a_stop_finds_behind_their_schedule_are_recorded():
    stage = {"kind": "open", "rate_per_s": 500, "arrivals": "constant", "seconds": 1}
    level, endpoint = level_of(stage), Slow()
    gevent.spawn_later(0.2, level.stopped.set)
    play(level, endpoint)
    due_ns = [due_ns for _, _, due_ns in endpoint.sent] + [
        due_ns for _, due_ns, _ in endpoint.unsent
    ]
    assert len(endpoint.unsent) > 20
    assert due_ns == [level.begin_ns + n * 2 * MS for n in range(len(due_ns))]
    assert due_ns[-1] <= level.issue_end_ns < due_ns[-1] + 50 * MS
    assert {why for _, _, why in endpoint.unsent} == {
        "not begun when the level ended: the load generator was behind its schedule"
    }


def test_a_mistake_while_a_request_begins_ends_the_level_and_is_raised():
    level, endpoint = level_of({"kind": "open", "rate_per_s": 100, "requests": 50}), Endpoint()

    def mistaken(*_: object) -> None:
        raise AssertionError("ours")

    endpoint.dispatch = mistaken
    with pytest.raises(AssertionError, match="ours"):
        play(level, endpoint)
    assert level.end_ns is not None


def test_turns_that_were_due_before_the_end_are_asked_however_late():
    talk = {"name": "talk", "workload": {"conversation": {"turns": 2, "think_s": 0.15}}}
    stage = {"rate_per_s": 100, "arrivals": "constant", "requests": 20, "seconds": 0.3}
    level, endpoint = level_of(stage, talk), Endpoint(takes_s=0)
    gevent.spawn_later(0.15, time.sleep, 0.3)  # the loop stands still until after the level's end
    play(level, endpoint)
    assert [planned.turn for _, planned, _ in endpoint.sent] == [0] * 10 + [1] * 10
