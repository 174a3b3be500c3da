"""Which seat of which part each user plays: shares, shapes and workers' users all hold."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loadgen.plan import ClosedLoop, OpenLoop, parse
from loadgen.plan_stages import Idle
from loadgen.seats import (
    CONDUCTOR,
    LoadPart,
    Role,
    followed,
    parts,
    roles,
    split,
    users_wanted,
)

TARGET = {"url": "http://127.0.0.1:1", "model": "m"}
OWN_SEATS = {"name": "batch", "load": {"concurrency": 3}}
OWN_ARRIVALS = {"name": "cron", "load": {"rate_per_s": 2}}
CHAT, CODE = {"name": "chat", "share": 3}, {"name": "code"}
counts = st.integers(0, 300)


def plan_of(*classes):
    stages = [{"concurrency": 1, "requests": 1}]
    return parse({"target": TARGET, "classes": list(classes), "stages": stages})


def closed(concurrency=8, **more):
    load = {"concurrency": concurrency, "seconds": 60, **more}
    return ClosedLoop.model_validate(load)


def shaped(**shape):
    return LoadPart(closed(shape), (0,))


def dealt(n, n_workers):
    """As Locust deals users: no worker has more than one more than another."""
    return [n // n_workers + (k < n % n_workers) for k in range(n_workers)]


@given(counts, st.lists(st.floats(0.01, 100), min_size=1, max_size=8))
def test_a_split_sums_exactly_and_is_less_than_one_beside_each_share(n, shares):
    given_n = split(n, shares)
    assert sum(given_n) == n
    for got, share in zip(given_n, shares, strict=True):
        assert abs(got - n * share / sum(shares)) < 1 + 1e-6


def test_the_rest_goes_to_the_largest_remainders():
    assert split(10, [3, 1]) == [8, 2]  # 7.5 and 2.5: the first of equals
    assert split(10, [1, 1, 1]) == [4, 3, 3]
    assert split(10, [0.72, 0.16, 0.12]) == [7, 2, 1]


@given(st.integers(1, 200), st.lists(st.floats(0.1, 10), min_size=1, max_size=5))
def test_seats_have_the_classes_shares_and_so_has_every_beginning_of_them(n, shares):
    part = LoadPart(closed(n), tuple(range(len(shares))), tuple(shares))
    classes = part.seat_classes()
    whole = [classes.count(k) for k in range(len(shares))]
    assert whole == split(n, shares)
    for m in range(n + 1):
        for k, count in enumerate(whole):
            assert abs(classes[:m].count(k) - m * count / n) < len(shares)


def test_a_shape_needs_as_many_seats_as_its_highest_value():
    assert shaped(shape="ramp", start=0, end=12).n_seats() == 12
    assert shaped(shape="ramp", start=0, end=11.5).n_seats() == 12
    assert LoadPart(OpenLoop(rate_per_s=5, seconds=1), (0,)).n_seats() == 0


def test_on_a_ramp_exactly_as_many_seats_are_on_as_the_ramp_is_high():
    part = shaped(shape="table", points=[(0, 0), (30, 10), (60, 0)])
    for t in range(1, 60):
        on = sum(
            begin <= t * 1_000_000_000 < end
            for seat in range(part.n_seats())
            for begin, end in part.spans(seat)
        )
        high = t / 3 if t <= 30 else (60 - t) / 3
        assert high <= on + 1e-6
        assert on < high + 1 + 1e-6


def test_a_seat_of_a_spike_is_on_only_while_it_lasts():
    part = shaped(shape="spike", base=2, peak=5, at_s=10, for_s=3)
    assert part.spans(1) == [(0, 60_000_000_000)]
    assert part.spans(4) == [(10_000_000_000, 13_000_000_000)]


def test_the_stages_load_comes_first_and_classes_with_their_own_beside_it():
    found = parts(plan_of(OWN_SEATS, CHAT, OWN_ARRIVALS, CODE), closed(requests=9))
    assert [(part.classes, part.is_own, part.is_open) for part in found] == [
        ((1, 3), False, False),
        ((0,), True, False),
        ((2,), True, True),
    ]
    assert found[0].shares == (3, 1)
    assert [part.load.requests for part in found] == [9, None, None]


def test_a_pause_has_no_load_of_its_own():
    pause = Idle(seconds=5)
    assert parts(plan_of(CHAT), pause) == []
    assert users_wanted(plan_of(CHAT), pause, 3) == 0
    assert roles(plan_of(CHAT), pause, [0, 0, 0]) == [[], [], []]
    assert [part.is_own for part in parts(plan_of(CHAT, OWN_SEATS), pause)] == [True]


def test_every_worker_needs_a_conductor_if_anything_is_open():
    plan = plan_of(CHAT, OWN_ARRIVALS)
    assert users_wanted(plan, closed(4), 3) == 7
    assert users_wanted(plan_of(CHAT), closed(4), 3) == 4
    with pytest.raises(ValueError, match="each needs one"):
        roles(plan, closed(4), [4, 0])


@settings(max_examples=30)
@given(st.integers(1, 60), st.integers(1, 6), st.sampled_from([(), (OWN_SEATS,), (OWN_ARRIVALS,)]))
def test_every_seat_is_played_once_and_every_user_plays_one(n, n_workers, own):
    plan, load = plan_of(CHAT, CODE, *own), closed(n)
    wanted = users_wanted(plan, load, n_workers)
    given_roles = roles(plan, load, dealt(wanted, n_workers))
    assert [len(mine) for mine in given_roles] == dealt(wanted, n_workers)
    played = sorted(role for mine in given_roles for role in mine if role.part != CONDUCTOR)
    asked = [
        Role(k, seat) for k, part in enumerate(parts(plan, load)) for seat in range(part.n_seats())
    ]
    assert played == asked
    conductors = [sum(role.part == CONDUCTOR for role in mine) for mine in given_roles]
    assert conductors == [int(OWN_ARRIVALS in own)] * n_workers


@settings(max_examples=30)
@given(st.integers(1, 80), st.integers(1, 6))
def test_each_worker_has_its_part_of_each_class_and_of_the_seats_that_are_on(n, n_workers):
    plan, load = plan_of(CHAT, CODE), closed({"shape": "ramp", "start": 0, "end": n})
    found = roles(plan, load, dealt(n, n_workers))
    [part] = parts(plan, load)
    classes = part.seat_classes()
    for on in range(1, n + 1):
        for traffic in (0, 1):
            mine = [
                sum(classes[role.seat] == traffic and role.seat < on for role in roles_of_worker)
                for roles_of_worker in found
            ]
            assert max(mine) - min(mine) <= 2


def test_workers_without_a_seat_of_the_stages_load_are_told_when_it_is_over():
    plan = plan_of(CHAT, OWN_SEATS)
    by_requests = closed(1, seconds=None, requests=9)
    given_roles = roles(plan, by_requests, [2, 2])
    [main] = [k for k, mine in enumerate(given_roles) if Role(0, 0) in mine]
    assert followed(by_requests, given_roles) == {main}
    assert followed(closed(1), given_roles) == frozenset()
    several = closed(2, seconds=None, requests=9)
    assert followed(several, roles(plan, several, [3, 2])) == frozenset()
    alone = roles(plan_of(CHAT), by_requests, [1, 0])
    assert followed(by_requests, alone) == frozenset()
