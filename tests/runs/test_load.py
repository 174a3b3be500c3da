"""The load is what the plan says: exact concurrency, an absolute schedule, every token kept."""

import json

import pytest

pytestmark = pytest.mark.slow


def most_in_flight(requests) -> int:
    steps = [(t, 1) for t in requests["send_us"]] + [(t, -1) for t in requests["end_us"]]
    now = most = 0
    for _, step in sorted(steps):
        now += step
        most = max(most, now)
    return most


def test_closed_loop_keeps_the_exact_concurrency_of_each_level(runs):
    run = runs.start(
        {"concurrency": 2, "requests": 6},
        {"concurrency": 5, "requests": 15},
        {"concurrency": 3, "requests": 9},
        workers=2,
    )
    assert runs.end(run)["state"] == "finished"
    requests = runs.requests(run)
    assert list(requests["outcome"].unique()) == ["complete"]
    for stage, (concurrency, n) in enumerate([(2, 6), (5, 15), (3, 9)]):
        level = requests[requests["stage"] == stage]
        assert len(level) == n
        assert most_in_flight(level) == concurrency
    assert requests["request_id"].is_unique


def test_open_loop_sends_on_the_schedule_whatever_the_answers_do(runs):
    run = runs.start({"rate_per_s": 20, "seconds": 3, "arrivals": "constant"}, workers=2)
    assert runs.end(run)["state"] == "finished"
    requests = runs.requests(run).sort_values("due_us")
    assert len(requests) == 60
    gaps_us = requests["due_us"].astype(int).diff().dropna()
    assert gaps_us.between(49_998, 50_002).all()
    late_us = requests["send_us"].astype(int) - requests["due_us"].astype(int)
    assert (late_us >= 0).all()
    assert most_in_flight(requests) > 2  # answers take longer than the gap between arrivals


def test_arrivals_beyond_max_in_flight_are_recorded_as_not_sent(runs):
    limits = {"max_in_flight": 2}
    run = runs.start({"rate_per_s": 30, "seconds": 2, "arrivals": "constant"}, limits=limits)
    assert runs.end(run)["state"] == "finished"
    requests = runs.requests(run)
    assert len(requests) == 60
    assert set(requests["outcome"]) == {"complete", "not_sent"}
    refused = requests[requests["outcome"] == "not_sent"]
    assert refused["send_us"].isna().all()
    assert refused["detail"].str.contains("max_in_flight").all()


def test_every_token_the_simulator_emitted_is_stored_once_and_in_order(runs):
    run = runs.start({"concurrency": 4, "requests": 12})
    assert runs.end(run)["state"] == "finished"
    requests = runs.requests(run)
    assert (requests["output_tokens"] == 12).all()
    for request_id in requests["request_id"]:
        events = runs.store.ask("token_events", run=run, request_id=int(request_id))
        assert list(events["seq"]) == list(range(12))
        assert events["t_us"].is_monotonic_increasing


def test_a_level_by_seconds_issues_nothing_after_its_end_and_drains(runs):
    run = runs.start({"concurrency": 3, "seconds": 2})
    assert runs.end(run)["state"] == "finished"
    rows = runs.folder(run).path.joinpath("stages.jsonl").read_text().splitlines()
    stage = json.loads(rows[-1])
    requests = runs.requests(run)
    assert stage["issue_end_us"] - stage["begin_us"] <= 2_000_000
    assert (requests["dispatched_us"] <= stage["issue_end_us"]).all()
    assert set(requests["outcome"]) == {"complete"}
    assert requests["end_us"].max() <= stage["end_us"]


def test_a_level_by_requests_ends_its_issuing_with_the_last_request(runs):
    run = runs.start({"concurrency": 2, "requests": 6})
    assert runs.end(run)["state"] == "finished"
    stage = json.loads(runs.folder(run).path.joinpath("stages.jsonl").read_text().splitlines()[-1])
    last_send_us = runs.requests(run)["send_us"].max()
    assert abs(stage["issue_end_us"] - last_send_us) < 50_000
    assert stage["end_us"] - stage["issue_end_us"] > 100_000  # the answer took its time


def test_more_workers_than_streams_measure_all_the_same(runs):
    run = runs.start({"concurrency": 2, "requests": 6}, {"concurrency": 1, "seconds": 1}, workers=3)
    assert runs.end(run)["state"] == "finished"
    requests = runs.requests(run)
    assert (requests["stage"] == 0).sum() == 6
    assert set(requests["outcome"]) == {"complete"}


def test_cold_connections_are_opened_for_each_stream(runs):
    run = runs.start({"concurrency": 2, "requests": 6}, connections="cold")
    assert runs.end(run)["state"] == "finished"
    requests = runs.requests(run)
    assert not requests["conn_reused"].any()
    assert requests["connect_us"].notna().all()
