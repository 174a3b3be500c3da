"""A run whose first requests all fail stops by itself and says why; later failures are data."""

import json

import pytest

from tests.endpoints import DONE, GOOD_WITH_USAGE, STREAM, endpoint, event, refusal

pytestmark = pytest.mark.slow
LEVEL = {"concurrency": 2, "seconds": 30}
BROKEN = (200, STREAM, event({"error": {"message": "CUDA is out of memory", "code": 500}}) + DONE)


def after_the_preflight(answer):
    """An endpoint that answers its first request well, and all others so."""
    return lambda n, body: GOOD_WITH_USAGE if n == 1 else answer


def against(runs, answer, *levels, **more):
    """The final status and the requests of a run against an endpoint that answers so."""
    with endpoint(answer) as url:
        run = runs.start(*levels, target={"url": url, "model": "m"}, **more)
        return runs.end(run), runs.requests(run)


@pytest.mark.parametrize("workers", [1, 2])
def test_an_endpoint_that_fails_each_request_ends_the_run_with_its_own_words(runs, workers):
    answer = after_the_preflight(refusal(500, message="no model is loaded"))
    state, requests = against(runs, answer, LEVEL, workers=workers)
    assert state["state"] == "failed"
    assert "The first 3 requests failed alike: HTTP 500 (no model is loaded)" in state["message"]
    assert "See the server's own log." in state["message"]
    assert "limits.failed_at_start" in state["message"]
    assert 3 <= len(requests) < 500
    assert set(requests["outcome"]) <= {"http_error", "cancelled"}
    assert requests["first_token_us"].isna().all()


def test_an_error_inside_each_200_ends_the_run_though_http_is_content(runs):
    state, requests = against(runs, after_the_preflight(BROKEN), LEVEL)
    assert state["state"] == "failed"
    assert "as stream_error (CUDA is out of memory)" in state["message"]
    assert state["elapsed_s"] < 15
    assert requests["first_token_us"].isna().all()


def test_a_run_that_was_over_before_anybody_could_stop_it_has_failed_too(runs):
    level = {"concurrency": 1, "requests": 4}
    state, requests = against(runs, after_the_preflight(BROKEN), level)
    assert state["state"] == "failed"
    assert "All of the first 4 requests failed, 4 of them as stream_error" in state["message"]
    assert len(requests) == 4


def test_a_level_that_fails_after_good_ones_is_measured(runs):
    def answer(n, body):
        return GOOD_WITH_USAGE if n <= 5 else refusal(429, message="slow down")

    levels = {"concurrency": 1, "requests": 4}, {"concurrency": 4, "requests": 20}
    by_words = {"count_by": "words"}  # else some of the good ones would be answers to counting
    state, requests = against(runs, answer, *levels, workload=by_words)
    assert state["state"] == "finished"
    by_stage = requests.groupby("stage")["outcome"].unique()
    assert [list(outcomes) for outcomes in by_stage] == [["complete"], ["rate_limited"]]


def test_the_self_test_and_both_clocks_of_each_process_are_kept(runs):
    run = runs.start({"concurrency": 2, "requests": 4}, workers=2)
    assert runs.end(run)["state"] == "finished"
    facts = runs.folder(run).read("run.json")
    assert facts["self_test"]["ok"] is True
    assert facts["self_test"]["n"] == 20
    assert {row["who"] for row in facts["clocks"]} == {"leader", "worker 0", "worker 1"}
    assert all(abs(row["step_ms"]) < 50 for row in facts["clocks"])
    assert json.loads(runs.store.ask("run", run=run)["self_test"].iloc[0])["ok"] is True
