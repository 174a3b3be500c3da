"""When the first requests of a run all fail, and when failures are something else."""

import pytest

from loadgen.early_stop import FailingStart, FailuresInARow, failure_of
from loadgen.transport.call import Done

MS = 1_000_000
S = 1_000 * MS


def told(limit, *ends):
    """What FailingStart says at each end: (nth, failure or None for a success, time)."""
    start = FailingStart(limit)
    said = []
    for nth, failure, at_ns in ends:
        if failure is None:
            start.succeeded()
            said.append(None)
        else:
            said.append(start.failed(nth, failure, at_ns))
    return said


def test_the_third_equal_failure_of_the_first_three_requests_is_enough():
    said = told(3, (0, "HTTP 500", 0), (1, "HTTP 500", 5), (2, "HTTP 500", 9), (3, "HTTP 500", 12))
    assert said == [None, None, "The first 3 requests failed alike: HTTP 500", None]


def test_the_order_of_their_ends_does_not_matter():
    said = told(3, (2, "reset: gone.", 0), (0, "reset: gone.", 5), (1, "reset: gone.", 9))
    assert said[-1] == "The first 3 requests failed alike: reset: gone"


def test_one_success_ends_the_watch_for_ever():
    failures = [(k, "HTTP 500", k) for k in range(1, 100)]
    assert not any(told(3, (0, None, 0), *failures))


def test_last_comers_refused_by_a_full_server_are_no_failing_start():
    refused = [(k, "HTTP 429", 10 * k * MS) for k in range(4, 500)]
    assert not any(told(3, *refused))  # 0 to 3 are still being answered


def test_differing_failures_are_given_a_second():
    causes = ["HTTP 500", "HTTP 502", "HTTP 500", "HTTP 500"]
    said = told(3, *[(k, cause, k * 300 * MS) for k, cause in enumerate(causes)])
    assert said == [None] * 4
    late = told(3, *[(k, cause, k * 400 * MS) for k, cause in enumerate(causes)])
    assert late[-1] == "All of the first 4 requests failed, 3 of them so: HTTP 500"


@pytest.mark.parametrize("limit", [1, 5])
def test_the_limit_says_how_many_decide(limit):
    said = told(limit, *[(k, "HTTP 401", k) for k in range(limit)])
    assert said[:-1] == [None] * (limit - 1)
    assert said[-1].startswith(f"The first {limit} requests")


def test_two_failures_are_too_few_however_long_they_take():
    assert told(3, (0, "timeout", 0), (1, "timeout", 100 * S)) == [None, None]


@pytest.mark.parametrize(
    ("status", "failure"), [(200, None), (204, None), (307, "HTTP 307"), (503, "HTTP 503")]
)
def test_any_answer_but_2xx_is_a_failure_a_redirect_too(status, failure):
    assert failure_of(Done("done", 0, 1, status, None)) == failure


def test_a_failure_of_the_connection_has_its_sentence():
    assert failure_of(Done("reset", 0, 1, 200, "it broke")) == "reset: it broke"


def test_so_many_equal_failures_in_a_row_are_said_once():
    row = FailuresInARow(3)
    ends = ["HTTP 500", "HTTP 500", "reset", "reset", None, "reset", "reset", "reset", "reset"]
    said = [row.succeeded() if end is None else row.failed(end) for end in ends]
    assert [bool(why) for why in said] == [False] * 7 + [True, False]
    assert said[7].startswith("3 requests in a row failed alike (reset);")
