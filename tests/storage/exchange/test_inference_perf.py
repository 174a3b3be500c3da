"""inference-perf's requests, stages and summaries; the real corpus is no measurement either."""

import numpy as np
import pytest
from foreign_files import (
    SAMPLES,
    inference_perf_request,
    inference_perf_stage,
    needs_samples,
    write,
)

from storage.exchange.importers import read_file

REQUESTS = "per_request_lifecycle_metrics.json"


def requests(**more):
    failed = {"error_type": "HTTP Error 500", "error_msg": "boom"}
    return [
        inference_perf_request(12.0, 3, error=failed, **more),
        inference_perf_request(10.0, 4, **more),
        inference_perf_request(11.0, 2, **more),
    ]


def test_equal_times_are_one_chunk_of_several_tokens(tmp_path):
    (run,) = read_file(write(tmp_path / REQUESTS, requests()))
    told = run.levels[0].answers
    assert told.start_s.tolist() == [0, 1, 2]
    assert told.outcome == ["complete", "complete", "http_error"]
    assert told.detail[2] == "HTTP Error 500: boom"
    assert told.chunk_of.tolist() == [0, 0, 0, 1]
    assert told.chunk_s.tolist() == [0.5, 0.75, 1.0, 0.5]
    assert told.chunk_tokens.tolist() == [2, 1, 1, 2]
    assert told.last_s[:2].tolist() == [1.0, 0.5]
    assert told.end_s[:2].tolist() == [1.125, 0.625]
    assert told.more["usage_output_tokens"].tolist() == [4, 2, 3]


def test_token_times_of_old_files_stand_in_info_itself(tmp_path):
    old = [inference_perf_request(10.0, 4, old=True)]
    (run,) = read_file(write(tmp_path / REQUESTS, old))
    assert run.levels[0].answers.chunk_tokens.tolist() == [2, 1, 1]


def test_requests_without_a_stage_go_to_the_stages_by_their_start(tmp_path):
    write(tmp_path / "stage_0_lifecycle_metrics.json", inference_perf_stage(1, requested_rate=1.5))
    write(tmp_path / "stage_1_lifecycle_metrics.json", inference_perf_stage(2, concurrency=8))
    due = requests(scheduled_time=9.0)
    (run,) = read_file(write(tmp_path / REQUESTS, due))
    first, second = run.levels
    assert (first.name, first.kind, len(first.answers)) == ("1.5/s", "open", 1)
    assert (second.name, second.kind, len(second.answers)) == ("c=8", "closed", 2)
    assert first.answers.due_s.tolist() == [-1.0]
    assert np.isnan(second.answers.due_s).all()  # so many streams have no schedule
    assert first.reported["successes.latency.request_latency.mean"] == 1.0


def test_told_stages_are_kept(tmp_path):
    told = requests()
    for stage, one in zip((1, 0, 0), told, strict=True):
        one["stage_id"] = stage
    (run,) = read_file(write(tmp_path / REQUESTS, told))
    assert [len(level.answers) for level in run.levels] == [2, 1]


@pytest.mark.parametrize(
    "asked", ["stage_1_lifecycle_metrics.json", "summary_lifecycle_metrics.json"]
)
def test_summaries_alone_are_levels_without_requests(tmp_path, asked):
    for name, count in (("stage_0", 1), ("stage_1", 2), ("summary", 3)):
        write(tmp_path / f"{name}_lifecycle_metrics.json", inference_perf_stage(count))
    (run,) = read_file(tmp_path / asked)
    assert [len(level.answers) for level in run.levels] == [0, 0]
    assert [level.reported["load_summary.count"] for level in run.levels] == [1, 2]
    assert run.reported["load_summary.count"] == 3
    assert "Only the tool's summaries" in run.lacks[0]


@needs_samples
def test_the_tools_own_corpus_is_its_own_summary():
    (run,) = read_file(SAMPLES / "inference-perf" / REQUESTS)
    for level in run.levels:
        told, reported = level.answers, level.reported
        is_ok = np.array([ended == "complete" for ended in told.outcome])
        tpot_s = ((told.last_s - told.ttft_s) / (told.output_tokens - 1))[is_ok]
        for name, values in (
            ("request_latency", told.end_s[is_ok]),
            ("time_to_first_token", told.ttft_s[is_ok]),
            ("time_per_output_token", tpot_s),
        ):
            start = f"successes.latency.{name}"
            assert np.mean(values) == pytest.approx(reported[f"{start}.mean"], rel=1e-9)
            assert np.percentile(values, 90) == pytest.approx(reported[f"{start}.p90"], rel=1e-9)
