"""GuideLLM's reports: 0.2 and 0.8 also as real files, 0.5 made by hand only."""

import numpy as np
import pytest
from foreign_files import SAMPLES, guidellm_new, guidellm_old, needs_samples, write

from storage.exchange.importers import read_file

REAL = {
    "guidellm/fmperf-guidellm-evaluate-20250423-1820.json": 10,
    "made_here/guidellm_0.8.1_c64.json": 1,
}


def read(tmp_path, report):
    (run,) = read_file(write(tmp_path / "benchmarks.json", report))
    return run, run.levels[0], run.levels[0].answers


@pytest.mark.parametrize(
    "report", [guidellm_old(), guidellm_new("0.5.0"), guidellm_new("0.8.1")], ids=[2, 5, 8]
)
def test_every_version_gives_the_same_answers_by_their_start(tmp_path, report):
    run, level, told = read(tmp_path, report)
    assert (run.model, run.url) == ("made-up-8b", "http://localhost:9")
    assert run.name == f"made-up-8b {run.levels[0].name}"
    assert run.started_epoch_s == 1000.0
    assert told.outcome == ["complete", "complete", "cancelled"]
    assert told.start_s.tolist() == [0, 0.5, 1.0]
    assert told.ttft_s.tolist() == [0.5, 0.25, 0.5]
    assert told.last_s.tolist() == [1.0, 1.0, 0.75]
    assert told.end_s.tolist() == [1.125, 1.125, 1.0]
    assert told.output_tokens.tolist() == [3, 4, 2]
    assert told.more["queue_s"].tolist() == [0.125] * 3
    assert not told.has_chunks
    assert level.duration_s == 2.0
    assert "No chunk times" in run.lacks[0]


def test_only_rates_have_a_schedule(tmp_path):
    _, level, told = read(tmp_path, guidellm_old(type_="poisson", rate=2.0))
    assert (level.kind, level.rate_per_s, level.name) == ("open", 2.0, "2/s")
    assert told.due_s.tolist() == [-0.25, 0.25, 0.75]
    for strategy, name in (("synchronous", "c=1"), ("throughput", "as fast as possible")):
        _, level, told = read(tmp_path, guidellm_old(type_=strategy))
        assert (level.kind, level.name) == ("closed", name)
        assert np.isnan(told.due_s).all()


def test_the_first_visible_token_is_told_from_0_8_on(tmp_path):
    assert np.isnan(read(tmp_path, guidellm_new("0.5.0"))[2].visible_s).all()
    assert read(tmp_path, guidellm_new("0.8.1"))[2].visible_s[0] == 0.625


def test_requests_that_are_not_listed_are_said_to_be_lost(tmp_path):
    run, *_ = read(tmp_path, guidellm_old())
    assert any("lists 3 of the 4 requests" in said for said in run.notes)


def test_totals_of_latencies_are_not_kept_for_failures_are_zero_in_them(tmp_path):
    _, level, _ = read(tmp_path, guidellm_old())
    assert level.reported["time_to_first_token_ms.successful.percentiles.p99"] == 500.0
    assert not any(".total." in name for name in level.reported)


def test_a_request_that_never_began_was_not_sent(tmp_path):
    report = guidellm_new("0.8.1")
    lost = {"request_id": "x", "info": {"timings": {"request_start": None}, "error": "no slot"}}
    report["benchmarks"][0]["requests"]["errored"].append(lost)
    _, _, told = read(tmp_path, report)
    assert told.outcome[-1] == "not_sent"
    assert told.detail[-1] == "no slot"


@needs_samples
@pytest.mark.parametrize(("path", "n_levels"), REAL.items())
def test_a_real_report_is_its_own_summary(path, n_levels):
    (run,) = read_file(SAMPLES / path)
    assert len(run.levels) == n_levels
    for level in run.levels:
        told, reported = level.answers, level.reported
        is_ok = np.array([ended == "complete" for ended in told.outcome])
        decode_s = (told.last_s - told.ttft_s)[is_ok]
        tokens = told.output_tokens[is_ok]
        itl_ms = decode_s * 1e3 / (tokens - 1)
        found = {
            "time_to_first_token_ms": np.mean(told.ttft_s[is_ok]) * 1e3,
            "request_latency": np.mean(told.end_s[is_ok]),
            "inter_token_latency_ms": np.sum(itl_ms * (tokens - 1)) / np.sum(tokens - 1),
        }
        for name, mean in found.items():
            assert mean == pytest.approx(reported[f"{name}.successful.mean"], rel=1e-9)
        p99 = np.percentile(told.ttft_s[is_ok], 99, method="inverted_cdf") * 1e3
        told_p99 = reported["time_to_first_token_ms.successful.percentiles.p99"]
        assert p99 == pytest.approx(told_p99, rel=1e-9)
