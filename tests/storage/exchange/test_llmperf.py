"""llmperf's responses and summary; also as real pairs of files."""

import math

import numpy as np
import pytest
from foreign_files import SAMPLES, llmperf_responses, llmperf_summary, needs_samples, write

from storage.exchange.importers import read_file

STEM = "made-up-8b_20_11"


def pair(folder):
    write(folder / f"{STEM}_summary.json", llmperf_summary())
    return write(folder / f"{STEM}_individual_responses.json", llmperf_responses())


def test_responses_have_two_instants_and_no_time_line(tmp_path):
    (run,) = read_file(pair(tmp_path))
    (level,) = run.levels
    told = level.answers
    assert (run.model, level.name, level.duration_s) == ("made-up-8b", "c=2", 3.0)
    assert told.outcome == ["complete", "complete", "rate_limited"]
    assert told.ttft_s[:2].tolist() == [0.5, 0.25]
    assert told.last_s[:2].tolist() == [1.5, 1.0]
    assert math.isnan(told.ttft_s[2])
    assert told.token_source == "tokenizer"
    assert not told.has_times
    assert not told.has_chunks
    assert len(run.lacks) == 2


def test_numbers_in_quotes_are_numbers(tmp_path):
    (run,) = read_file(pair(tmp_path))
    assert run.levels[0].reported["results_number_input_tokens_min"] == 20
    assert "results_error_code_frequency" not in run.levels[0].reported


def test_the_summary_brings_the_responses_along_and_stands_alone_without_them(tmp_path):
    responses = pair(tmp_path)
    summary = tmp_path / f"{STEM}_summary.json"
    assert len(read_file(summary)[0].levels[0].answers) == 3
    responses.unlink()
    (alone,) = read_file(summary)
    assert len(alone.levels[0].answers) == 0
    assert "Only the tool's summary" in alone.lacks[0]


@needs_samples
@pytest.mark.parametrize("name", ["vllm_c16", "vllm_c64", "tgi_c1"])
def test_a_real_pair_is_its_own_summary(name):
    (run,) = read_file(SAMPLES / "llmperf" / f"{name}_individual_responses.json")
    level = run.levels[0]
    told, reported = level.answers, level.reported
    for metric, values in (("ttft_s", told.ttft_s), ("end_to_end_latency_s", told.last_s)):
        start = f"results_{metric}"
        assert np.mean(values) == pytest.approx(reported[f"{start}_mean"], rel=1e-9)
        assert np.std(values, ddof=1) == pytest.approx(reported[f"{start}_stddev"], rel=1e-9)
        p99 = np.percentile(values, 99)
        assert p99 == pytest.approx(reported[f"{start}_quantiles_p99"], rel=1e-9)
    rate = told.output_tokens.sum() / level.duration_s
    told_rate = reported["results_mean_output_throughput_token_per_s"]
    assert rate == pytest.approx(told_rate, rel=1e-9)
