"""What a lost worker was to do, and the sentence about it."""

import pytest

from loadgen.machines.missing import Missing, duty, n_arrivals, n_ended, sentence
from loadgen.plan import ClosedLoop, OpenLoop, parse
from loadgen.seats import CONDUCTOR, Role


def none_counted():
    raise AssertionError("a closed level has no arrivals")


def test_in_closed_loop_a_share_is_that_of_the_users():
    given = [[Role(0, 0), Role(0, 3)], [Role(0, 1)], [Role(0, 2)]]
    load = ClosedLoop(concurrency=4, requests=100)
    found = duty(2, load, given, 0, none_counted)
    assert (found.stage, found.level, found.share, found.n_requests) == (2, "c=4", 0.5, 50)


def test_by_the_clock_nobody_knows_how_many_there_would_have_been():
    given = [[Role(0, 0)], [Role(0, 1)]]
    load = ClosedLoop(concurrency=2, seconds=10)
    assert duty(0, load, given, 1, none_counted).n_requests is None


@pytest.mark.parametrize(("worker", "expected"), [(0, 4), (1, 3), (2, 3)])
def test_in_open_loop_every_nth_arrival_was_its(worker, expected):
    given = [[Role(CONDUCTOR, k)] for k in range(3)]
    found = duty(0, OpenLoop(rate_per_s=1, seconds=10), given, worker, lambda: 10)
    assert found.n_requests == expected
    assert found.share == pytest.approx(1 / 3)


def test_the_arrivals_of_a_level_are_counted_from_its_schedule():
    level = {"rate_per_s": 10, "seconds": 3, "arrivals": "constant"}
    plan = parse({"target": {"url": "http://x", "model": "m"}, "stages": [level]})
    assert n_arrivals(plan, 0, plan.stages[0]) == 30


def test_answers_cut_off_by_the_workers_death_were_not_measured():
    lines = [{"outcomes": {"complete": 3, "cancelled": 2}}, {"outcomes": {"http_error": 1}}]
    assert n_ended(lines) == 4


def test_the_sentence_says_who_when_how_much_and_how_many():
    missing = Missing(1, "was killed by signal 9", 0, "c=6", 3.21, 1 / 3, 1200, 40)
    assert sentence("Load worker 1 on b (10.0.0.7)", missing, went_on=True) == (
        "Load worker 1 on b (10.0.0.7) was killed by signal 9, 3.2 s into c=6: from then on 33% of "
        "that level's load was missing, so its figures are of less load than its name says. 40 of "
        "its 1,200 requests were measured by that worker."
    )
    ended = sentence("Load worker 1", missing, went_on=False)
    assert "its share of that level's load was 33%." in ended
