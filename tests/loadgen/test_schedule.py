"""What each worker asks for is a function of plan, seed, level and its number."""

import json
from itertools import islice, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loadgen.level_schedule import LevelSchedule
from loadgen.plan import ClosedLoop, Plan, parse
from loadgen.schedule import Shard, quotas
from loadgen.seats import Role

TARGET = {"url": "http://127.0.0.1:1", "model": "m"}
SPREAD = {"kind": "lognormal", "median": 100, "sigma": 1, "high": 4000}
CHAT = {"name": "chat", "share": 3, "workload": {"prompt_tokens": SPREAD}}
BATCH = {"name": "batch", "load": {"rate_per_s": 7}, "workload": {"prompt_tokens": 9}}
TURNS = {"turns": {"kind": "uniform", "low": 1, "high": 6}, "think_s": 2}
TALKS = {"name": "talks", "workload": {"conversation": TURNS}}


def plan_of(stage, *classes, seed=1) -> Plan:
    raw = {"target": TARGET, "seed": seed, "classes": list(classes), "stages": [stage]}
    return parse(raw)


def open_stage(**more):
    return {"kind": "open", "rate_per_s": 50, "seconds": 20, **more}


def share_of(plan, worker=0, n_workers=1):
    return Shard(plan, worker, n_workers).share(0, plan.stages[0])


def asked(share, visit, turn=0):
    """A request without its number, which a worker gives when it sends."""
    made = share.request(visit, turn, visit.due_ns, "measure")
    fields = {name: getattr(made, name) for name in made.__slots__}
    return tuple(repr(v) for name, v in fields.items() if name != "request_id")


PLANS = [
    plan_of(open_stage()),
    plan_of(open_stage(arrivals="gamma", burstiness=0.3), CHAT, TALKS),
    plan_of(open_stage(rate_per_s={"shape": "ramp", "start": 0, "end": 60}), CHAT, BATCH),
    plan_of({"kind": "idle", "seconds": 20}, CHAT, BATCH),
    plan_of(open_stage(seconds=None, requests=700), TALKS, BATCH),
]


@pytest.mark.parametrize("plan", PLANS)
@pytest.mark.parametrize("n_workers", [1, 2, 3, 7])
def test_shards_partition_the_schedule(plan, n_workers):
    alone = share_of(plan)
    whole = [asked(alone, visit) for visit in alone.arrivals()]
    shares = [share_of(plan, k, n_workers) for k in range(n_workers)]
    parts = [[asked(share, visit) for visit in share.arrivals()] for share in shares]
    assert whole
    assert parts == [whole[k::n_workers] for k in range(n_workers)]


def test_those_that_are_left_partition_the_schedule_of_the_next_level():
    plan = plan_of(open_stage(), CHAT)
    alone = share_of(plan)
    whole = [asked(alone, visit) for visit in alone.arrivals()]
    parts = []
    for worker in (0, 2, 3):  # 1 of 4 was lost
        shard = Shard(plan, worker, 4)
        shard.among([0, 2, 3])
        share = shard.share(0, plan.stages[0])
        parts += [asked(share, visit) for visit in share.arrivals()]
        assert shard.request_id() % 4 == worker  # still unique in the run
    assert sorted(parts) == sorted(whole)


@pytest.mark.parametrize("plan", PLANS)
def test_due_times_increase_and_end_before_their_stage_does(plan):
    due = [visit.due_ns for visit in share_of(plan).arrivals()]
    assert all(a <= b for a, b in pairwise(due))
    seconds = plan.stages[0].seconds
    assert seconds is None or due[-1] < seconds * 1e9


def test_the_same_seed_gives_the_same_schedule_and_another_seed_or_level_another():
    stage = open_stage(requests=50)
    plan, other = plan_of(stage, CHAT), plan_of(stage, CHAT, seed=2)
    load = plan.stages[0]

    def listed(plan, level):
        share = Shard(plan, 0, 1).share(level, load)
        return [visit.due_ns for visit in share.arrivals()]

    assert listed(plan, 0) == listed(plan, 0)
    assert listed(plan, 0) != listed(other, 0)
    assert listed(plan, 0) != listed(plan, 1)


def test_request_numbers_are_unique_in_the_run():
    plan = plan_of(open_stage(), CHAT, TALKS)
    ids = []
    for worker in range(3):
        shard = Shard(plan, worker, 3)
        for level in range(2):
            share = shard.share(level, plan.stages[0])
            ids += [share.request(v, 0, 0, "measure").request_id for v in share.arrivals()]
    assert len(set(ids)) == len(ids)


def test_classes_share_the_arrivals_and_own_arrivals_come_beside_them():
    plan = plan_of(open_stage(seconds=600), CHAT, {"name": "code"}, BATCH)
    visits = list(share_of(plan).arrivals())
    counts = np.bincount([visit.traffic for visit in visits])
    for count, mean in zip(counts, (22_500, 7_500, 4_200), strict=True):
        assert abs(count - mean) < 3 * mean**0.5
    for traffic in range(3):
        numbers = [visit.number for visit in visits if visit.traffic == traffic]
        assert numbers == list(range(len(numbers)))


def test_a_class_with_its_own_load_does_not_change_the_others_arrivals():
    stage = open_stage()
    alone = [(v.due_ns, v.number) for v in share_of(plan_of(stage, CHAT)).arrivals()]
    both = share_of(plan_of(stage, CHAT, BATCH)).arrivals()
    assert [(v.due_ns, v.number) for v in both if v.traffic == 0] == alone


def test_own_arrivals_end_with_a_stage_that_ends_by_its_requests():
    visits = list(share_of(plan_of(open_stage(seconds=None, requests=200), CHAT, BATCH)).arrivals())
    assert sum(visit.traffic == 0 for visit in visits) == 200
    assert visits[-1].traffic == 0


def test_requests_of_an_open_stage_count_each_turn_of_its_conversations():
    plan = plan_of(open_stage(requests=301), TALKS)
    visits = list(share_of(plan).arrivals())
    assert sum(visit.turns for visit in visits) == 301
    assert max(visit.turns for visit in visits) > 3


def test_turns_of_a_conversation_are_numbered_and_have_pauses_between_them():
    share = share_of(plan_of(open_stage(), TALKS))
    visit = next(visit for visit in share.arrivals() if visit.turns > 2)
    turns = [share.request(visit, turn, None, "measure") for turn in range(visit.turns)]
    assert {turn.conversation for turn in turns} == {visit.number}
    assert [turn.turn for turn in turns] == list(range(visit.turns))
    assert {turn.turns for turn in turns} == {visit.turns}
    assert share.think_ns(visit, 1) == 2_000_000_000


def test_a_single_request_belongs_to_no_conversation():
    share = share_of(plan_of(open_stage(), CHAT))
    made = share.request(next(share.arrivals()), 0, 0, "warmup")
    assert (made.conversation, made.turn, made.turns, made.phase) == (None, None, 1, "warmup")


def test_prompts_have_the_asked_length_and_differ_from_the_first_words_on():
    share = share_of(plan_of(open_stage(), {"name": "a", "workload": {"prompt_tokens": 256}}))
    prompts = [share.request(visit, 0, 0, "measure").prompt for visit in share.arrivals()]
    assert {len(prompt.split()) for prompt in prompts} == {256}
    assert len({" ".join(prompt.split()[:4]) for prompt in prompts}) == len(prompts)


def closed_plan(*classes, **load):
    return plan_of({"kind": "closed", "concurrency": 6, "seconds": 10, **load}, *classes)


def test_seats_of_a_class_take_the_next_number_whoever_asks():
    share = share_of(closed_plan())
    seats = [share.visits(Role(0, seat)) for seat in range(3)]
    assert [next(seats[k]).number for k in (0, 1, 0, 2, 2)] == [0, 1, 2, 3, 4]


def test_workers_take_every_nth_number_without_a_quota():
    plan = closed_plan()
    for worker in range(3):
        visits = share_of(plan, worker, 3).visits(Role(0, 0))
        assert [v.number for v in islice(visits, 4)] == [worker + 3 * n for n in range(4)]


@given(st.integers(1, 60), st.lists(st.integers(1, 9), min_size=1, max_size=5))
def test_with_a_quota_each_number_is_sent_once(requests, seats):
    plan = closed_plan()
    shares = quotas(requests, seats)
    numbers = []
    for worker, quota in enumerate(shares):
        share = share_of(plan, worker, len(seats))
        share.number_from(sum(shares[:worker]))
        numbers += [visit.number for visit in islice(share.visits(Role(0, 0)), quota)]
    assert sorted(numbers) == list(range(requests))


def test_a_seat_pauses_as_its_load_says_and_belongs_to_one_class():
    plan = closed_plan(CHAT, {"name": "code"}, think_s={"kind": "uniform", "low": 1, "high": 2})
    share = share_of(plan)
    classes = [{v.traffic for v in islice(share.visits(Role(0, j)), 5)} for j in range(6)]
    assert sorted(len(c) for c in classes) == [1] * 6
    assert [c.pop() for c in classes].count(1) == 1  # 6 streams by 3:1: 4.5 and 1.5
    pauses = [visit.pause_ns for visit in islice(share.visits(Role(0, 0)), 50)]
    assert all(1_000_000_000 <= pause <= 2_000_000_000 for pause in pauses)


def test_the_densest_moment_of_an_open_level_is_known_before_it_begins():
    steady = {"kind": "open", "rate_per_s": 40, "arrivals": "constant", "seconds": 30}
    assert share_of(plan_of(steady)).most_within(0.5) in (20, 21)
    spike = {"shape": "spike", "base": 2, "peak": 80, "at_s": 10, "for_s": 2}
    assert share_of(plan_of({**steady, "rate_per_s": spike}), 0, 2).most_within(0.5) in (20, 21)
    assert share_of(closed_plan()).most_within(0.5) == 0


def test_a_worker_beyond_the_planned_count_is_refused():
    with pytest.raises(AssertionError, match="no shard"):
        Shard(PLANS[0], 2, 2)


@given(st.integers(1, 10_000), st.lists(st.integers(0, 50), min_size=1, max_size=8))
def test_quotas_sum_exactly_and_follow_the_seats(requests, seats):
    shares = quotas(requests, seats)
    if not sum(seats):
        assert shares == [None] * len(seats)
        return
    assert sum(shares) == requests
    for share, n in zip(shares, seats, strict=True):
        assert abs(share - requests * n / sum(seats)) <= 1
        assert share == 0 or n > 0


def test_a_trace_gives_times_lengths_and_sessions(tmp_path):
    lines = ["timestamp,input_length,output_length,session"]
    lines += [f"{t},{10 + t},{20 + t},{'a' if t % 2 else 'b'}" for t in range(6)]
    (tmp_path / "trace.csv").write_text("\n".join(lines))
    plan = plan_of({"kind": "replay", "file": str(tmp_path / "trace.csv"), "speed": 2}, CHAT, BATCH)
    share = share_of(plan)
    visits = [visit for visit in share.arrivals() if visit.traffic == 0]
    assert [visit.due_ns for visit in visits] == [t * 500_000_000 for t in range(6)]
    made = [share.request(visit, 0, 0, "measure") for visit in visits]
    assert [request.prompt_tokens for request in made] == [10 + t for t in range(6)]
    assert [request.max_tokens for request in made] == [20 + t for t in range(6)]
    assert [(request.conversation, request.turn) for request in made] == [
        (t % 2, t // 2) for t in range(6)
    ]
    assert {request.turns for request in made} == {1}


@settings(max_examples=20)
@given(st.integers(1, 400), st.sampled_from([None, 3.0]))
def test_a_trace_too_may_be_limited_by_requests_and_seconds(tmp_path_factory, requests, seconds):
    path = tmp_path_factory.mktemp("trace") / "trace.jsonl"
    row = {"input_length": 9, "output_length": 9, "hash_ids": [1]}
    path.write_text("\n".join(json.dumps({"timestamp": 20 * t, **row}) for t in range(300)))
    stage = {"kind": "replay", "file": str(path), "requests": requests, "seconds": seconds}
    found = list(share_of(plan_of(stage)).arrivals())
    assert len(found) == min(requests, 300 if seconds is None else 150)


def test_a_schedule_knows_no_more_about_a_level_than_its_load():
    load = ClosedLoop(concurrency=3, seconds=1)
    assert list(LevelSchedule(PLANS[0], 4, load).rows()) == []
