"""A schedule is a pure function of plan and seed."""

from itertools import islice, pairwise
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadgen.arrivals import ARRIVALS
from loadgen.plan import ClosedLoop, Plan, parse
from loadgen.schedule import Shard, due_times_ns, quotas
from loadgen.seats import Role


def open_plan(rate_per_s: float = 50, **more: object) -> Plan:
    stage = {"kind": "open", "rate_per_s": rate_per_s, "seconds": 20, **more}
    return parse({"target": {"url": "http://127.0.0.1:1", "model": "m"}, "stages": [stage]})


@pytest.mark.parametrize("name", ARRIVALS)
def test_arrivals_are_increasing_ints_of_the_asked_mean_rate(name):
    due_ns = list(islice(ARRIVALS[name](100.0, Random(3)), 20_000))
    assert all(isinstance(t, int) for t in due_ns)
    assert due_ns == sorted(due_ns)
    assert len(due_ns) / (due_ns[-1] / 1e9) == pytest.approx(100, rel=0.03)


@pytest.mark.parametrize("name", ARRIVALS)
def test_the_same_seed_gives_the_same_arrivals(name):
    assert list(islice(ARRIVALS[name](7, Random(1)), 50)) == list(
        islice(ARRIVALS[name](7, Random(1)), 50)
    )


def test_poisson_gaps_vary_as_exponential_ones_do():
    due_ns = list(islice(ARRIVALS["poisson"](1000.0, Random(5)), 50_000))
    gaps = [b - a for a, b in pairwise(due_ns)]
    mean = sum(gaps) / len(gaps)
    variance = sum((g - mean) ** 2 for g in gaps) / len(gaps)
    assert variance**0.5 / mean == pytest.approx(1.0, rel=0.03)


@pytest.mark.parametrize("n_workers", [1, 2, 3, 7])
def test_shards_partition_the_schedule(n_workers):
    plan = open_plan()
    load = plan.stages[0]
    whole = list(due_times_ns(plan, 0, load))
    shards = [list(Shard(plan, k, n_workers).open(0, load)) for k in range(n_workers)]
    assert sorted(r.due_ns for shard in shards for r in shard) == whole
    ids = [r.request_id for shard in shards for r in shard]
    assert len(set(ids)) == len(ids)
    prompts = {r.due_ns: r.prompt for shard in shards for r in shard}
    assert prompts == {r.due_ns: r.prompt for r in Shard(plan, 0, 1).open(0, load)}


def test_an_open_stage_ends_with_its_requests_or_its_seconds():
    few, long = open_plan(requests=5), open_plan()
    assert len(list(due_times_ns(few, 0, few.stages[0]))) == 5
    assert all(t < 20e9 for t in due_times_ns(long, 0, long.stages[0]))


def test_a_worker_beyond_the_planned_count_is_refused():
    with pytest.raises(AssertionError, match="no shard"):
        Shard(open_plan(), 2, 2)


@given(st.integers(1, 10_000), st.lists(st.integers(1, 50), min_size=1, max_size=8))
def test_quotas_sum_exactly_and_follow_the_seats(requests, seats):
    shares = quotas(requests, seats)
    assert sum(shares) == requests
    for share, n in zip(shares, seats, strict=True):
        assert abs(share - requests * n / sum(seats)) <= 1


def test_prompts_have_the_asked_length_and_differ_from_the_first_words_on():
    plan = open_plan()
    requests = list(
        islice(Shard(plan, 0, 1).seat(0, ClosedLoop(concurrency=1, seconds=1), Role(0, 0)), 500)
    )
    assert {len(r.prompt.split()) for r in requests} == {256}
    assert len({" ".join(r.prompt.split()[:4]) for r in requests}) == 500
