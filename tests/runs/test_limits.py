"""Limits of a whole run: each ends it by name, and what was measured is kept."""

import pytest

pytestmark = pytest.mark.slow

PRICED = {
    "url": "sim://null",
    "model": "sim",
    "prices": {"usd_per_m_input": 1_000_000, "usd_per_m_output": 0},
}


def test_no_worker_sends_a_request_beyond_the_limit(runs):
    limits = {"requests": 25}
    stages = [{"concurrency": 3, "requests": 10, "seconds": 60}, {"rate_per_s": 40, "seconds": 60}]
    run_uid = runs.start(*stages, limits=limits | {"seconds": 300}, workers=2)
    state = runs.end(run_uid)
    assert state["state"] == "finished"
    assert state["message"].startswith("Ended by limits.requests (25) after 25 requests")
    rows = runs.requests(run_uid)
    assert len(rows) == 25
    assert (rows.outcome == "complete").all()


@pytest.mark.parametrize(
    ("limit", "words"),
    [
        ({"seconds": 2}, "limits.seconds (2) after 2."),
        ({"tokens": 2000}, "limits.tokens (2,000) after "),
        ({"dollars": 2000}, "limits.dollars (2000) after "),
    ],
)
def test_a_limit_lets_open_streams_finish_and_is_no_failure(runs, limit, words):
    stage = {"concurrency": 2, "requests": 100_000}
    run_uid = runs.start(stage, limits=limit, target=PRICED)
    state = runs.end(run_uid)
    assert state["state"] == "finished"
    assert words in state["message"]
    assert (runs.requests(run_uid).outcome == "complete").all()


def test_too_large_a_share_of_failures_ends_the_run_as_failed(runs):
    work = {"prompt_tokens": 9, "output_tokens": 2000}  # longer than they may last
    limits = {"failed_at_start": 10_000, "failed_in_a_row": 10_000, "failed_share": 0.1}
    stage = {"concurrency": 60, "requests": 100_000}
    run_uid = runs.start(stage, workload=work, limits=limits | {"request_s": 1.5})
    state = runs.end(run_uid)
    assert state["state"] == "failed"
    assert "answers failed, more than the share of 0.1 allowed" in state["message"]
    assert len(runs.requests(run_uid)) >= 50
