"""A level played by real greenlets against an endpoint that only waits."""

import time
from itertools import pairwise

import gevent
import pytest
from played_levels import MS, Endpoint, level_of, play, since_begin_ms

from loadgen.levels import Level
from loadgen.seats import Role

pytestmark = pytest.mark.slow


def test_a_closed_level_keeps_its_streams_in_flight_and_sends_its_quota():
    level, endpoint = level_of({"concurrency": 4, "requests": 30}, quota=30), Endpoint()
    play(level, endpoint)
    assert len(endpoint.sent) == 30
    assert endpoint.most_open == 4
    assert sorted(planned.phase for _, planned, _ in endpoint.sent) == ["measure"] * 30
    assert level.issue_end_ns is not None
    assert level.issue_end_ns <= level.end_ns


def test_no_request_of_a_closed_level_begins_after_its_seconds():
    level, endpoint = level_of({"concurrency": 3, "seconds": 0.2}), Endpoint()
    assert play(level, endpoint) == []
    assert min(since_begin_ms(level, endpoint)) >= 0
    assert max(since_begin_ms(level, endpoint)) <= 220  # stamped a little later
    assert level.issue_end_ns == level.deadline_ns


def test_seats_are_on_as_the_shape_says():
    steps = {"shape": "steps", "values": [1, 3, 0, 2]}
    level, endpoint = level_of({"concurrency": steps, "seconds": 0.8}), Endpoint(0.02)
    play(level, endpoint)
    most_open = [0, 0, 0, 0]  # in each quarter
    for at_ns, planned, _ in endpoint.sent:
        quarter, into_ns = divmod(at_ns - level.begin_ns, 200 * MS)
        at_once = sum(
            other_ns <= at_ns < endpoint.ended[other.request_id]
            for other_ns, other, _ in endpoint.sent
        )
        if into_ns > 20 * MS:  # before that, those of the quarter before may still end
            most_open[quarter] = max(most_open[quarter], at_once)
        assert planned.due_ns is None
    assert most_open == [1, 3, 0, 2]


def test_many_seats_begin_within_a_second_and_few_a_millisecond_apart():
    level = level_of({"concurrency": 2000, "seconds": 5})
    begins = [level.one_by_one_ns(0) for _ in range(2000)]
    assert begins == [n * 500_000 for n in range(2000)]
    few = level_of({"concurrency": 3, "seconds": 5})
    assert [few.one_by_one_ns(7) for _ in range(3)] == [7, MS + 7, 2 * MS + 7]


def test_a_user_pauses_between_an_answer_and_its_next_request():
    stage = {"concurrency": 1, "think_s": 0.05, "seconds": 0.3}
    level, endpoint = level_of(stage), Endpoint()
    play(level, endpoint)
    assert since_begin_ms(level, endpoint)[0] < 50  # no pause before the first
    for (_, before, _), (at_ns, _, _) in pairwise(endpoint.sent):
        assert at_ns - endpoint.ended[before.request_id] >= 50 * MS
    assert len(endpoint.sent) > 2


def test_requests_dispatched_or_due_within_the_warm_up_say_so():
    for stage in ({"concurrency": 2}, {"rate_per_s": 100}):
        level, endpoint = level_of({**stage, "seconds": 0.3, "warmup_s": 0.1}), Endpoint()
        play(level, endpoint)
        for at_ns, planned, due_ns in endpoint.sent:
            is_early = (due_ns or at_ns) - level.begin_ns < 100 * MS
            if due_ns is not None or abs(at_ns - level.begin_ns - 100 * MS) > 20 * MS:
                assert planned.phase == ("warmup" if is_early else "measure")
        assert {planned.phase for _, planned, _ in endpoint.sent} == {"warmup", "measure"}


TALK = {"name": "talk", "workload": {"conversation": {"turns": 3, "think_s": 0.03}}}


def turns_of(endpoint):
    """conversation -> [(turn, request, its due time)] in the order sent."""
    found = {}
    for _, planned, due_ns in endpoint.sent:
        found.setdefault(planned.conversation, []).append((planned.turn, planned, due_ns))
    return found


def test_a_later_turn_is_due_a_think_time_after_the_answer_before_it():
    level, endpoint = level_of({"rate_per_s": 20, "requests": 12}, TALK), Endpoint()
    play(level, endpoint)
    talks = turns_of(endpoint)
    assert [len(turns) for turns in talks.values()] == [3] * 4
    for turns in talks.values():
        assert [turn for turn, _, _ in turns] == [0, 1, 2]
        for (_, before, _), (_, _, due_ns) in pairwise(turns):
            assert due_ns == endpoint.ended[before.request_id] + 30 * MS


def test_a_seat_holds_one_conversation_after_the_other():
    level, endpoint = level_of({"concurrency": 2, "requests": 14}, TALK, quota=14), Endpoint()
    play(level, endpoint)
    assert sum(len(turns) for turns in turns_of(endpoint).values()) == 14
    assert endpoint.most_open <= 2
    for turns in turns_of(endpoint).values():
        assert [turn for turn, _, _ in turns] == list(range(len(turns)))


@pytest.mark.parametrize("stage", [{"rate_per_s": 40, "requests": 9}, {"concurrency": 1}])
def test_a_failed_turn_ends_its_conversation(stage):
    level = level_of({"seconds": 0.4, **stage}, TALK)
    endpoint = Endpoint(fails_at=1)
    play(level, endpoint)
    assert {turn for turns in turns_of(endpoint).values() for turn, _, _ in turns} == {0, 1}


def test_turns_due_after_the_level_are_not_asked():
    slow = {"name": "slow", "workload": {"conversation": {"turns": 2, "think_s": 60}}}
    for stage in ({"rate_per_s": 50, "seconds": 0.2}, {"concurrency": 2, "seconds": 0.2}):
        level, endpoint = level_of(stage, slow), Endpoint()
        play(level, endpoint)
        assert {planned.turn for _, planned, _ in endpoint.sent} == {0}
        assert level.end_ns - level.deadline_ns < 1_000 * MS


BATCH = {"name": "batch", "load": {"concurrency": 2}}
CRON = {"name": "cron", "load": {"rate_per_s": 100}}


@pytest.mark.parametrize("stage", [{"concurrency": 1}, {"rate_per_s": 50}])
def test_classes_with_their_own_load_end_with_the_stages(stage):
    stage = {**stage, "requests": 8}
    quota = 8 if "concurrency" in stage else None
    level = level_of(stage, {"name": "chat"}, BATCH, CRON, quota=quota)
    endpoint = Endpoint(takes_s=0.02)
    play(level, endpoint)
    sent = [planned.traffic for _, planned, _ in endpoint.sent]
    assert sent.count(0) == 8
    assert sent.count(1) > 2
    assert sent.count(2) > 2


def test_enough_stops_issuing_and_lets_streams_finish():
    for stage in ({"concurrency": 2, "seconds": 60}, {"rate_per_s": 200, "requests": 10_000}):
        level, endpoint = level_of(stage), Endpoint(takes_s=0.05)
        gevent.spawn_later(0.15, level.stopped.set)
        assert play(level, endpoint) == []
        assert len(endpoint.ended) == len(endpoint.sent) > 0
        assert level.end_ns - level.begin_ns < 10_000 * MS


def test_a_pause_lasts_its_seconds():
    level = level_of({"kind": "idle", "seconds": 0.1}, {"name": "chat"}, BATCH)
    play(level, Endpoint())
    assert level.end_ns >= level.deadline_ns
    alone = Level(0, level.load, level.share, [], time.monotonic_ns())
    play(alone, Endpoint())
    assert alone.end_ns >= alone.deadline_ns


def test_streams_still_open_after_the_drain_limit_are_cancelled():
    level, endpoint = level_of({"concurrency": 1, "seconds": 0.1}), Endpoint(takes_s=30)
    [said] = play(level, endpoint, drain_s=0.05)
    assert "limits.drain_s" in said


def test_a_worker_without_a_role_does_not_keep_the_level_waiting():
    level = level_of({"concurrency": 1, "seconds": 30})
    idle = Level(0, level.load, level.share, [], level.begin_ns)
    play(idle, Endpoint())
    assert idle.finished.is_set()


def test_a_role_is_played_by_one_user_only():
    level = level_of({"concurrency": 2, "seconds": 1})
    assert [level.take_role(), level.take_role(), level.take_role()] == [
        Role(0, 0),
        Role(0, 1),
        None,
    ]
