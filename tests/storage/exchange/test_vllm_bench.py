"""vLLM's result files: three schemas, hand-made here; the current one also as a real file."""

import numpy as np
import pytest
from foreign_files import SAMPLES, needs_samples, vllm_result, write

from storage.exchange.importers import read_file


def read(tmp_path, value):
    (run,) = read_file(write(tmp_path / "result.json", value))
    (level,) = run.levels
    return run, level, level.answers


@pytest.mark.parametrize("schema", ["old", "intermediate", "current"])
def test_every_schema_gives_the_same_latencies(tmp_path, schema):
    run, level, told = read(tmp_path, vllm_result(schema))
    assert run.version == f"{schema} schema"
    assert (level.name, level.kind, level.concurrency) == ("c=2", "closed", 2)
    assert level.duration_s == 1.25
    assert told.outcome == ["complete", "rate_limited", "complete"]
    assert told.detail == [None, "Too Many Requests", None]
    assert told.ttft_s == pytest.approx([0.1, np.nan, 0.2], nan_ok=True)
    assert told.last_s == pytest.approx([0.16, np.nan, 0.29], nan_ok=True)
    assert told.chunk_of.tolist() == [0, 0, 0, 0, 2, 2, 2]
    assert told.chunk_s == pytest.approx([0.1, 0.12, 0.15, 0.16, 0.2, 0.25, 0.29])
    assert np.isnan(told.chunk_tokens).all()


def test_the_old_schema_has_no_times_and_says_so(tmp_path):
    run, _, told = read(tmp_path, vllm_result("old"))
    assert not told.has_times
    assert any("No start times" in said for said in run.lacks)


def test_start_times_count_from_the_first_send_and_waits_at_the_client_are_kept(tmp_path):
    run, _, told = read(tmp_path, vllm_result("current"))
    assert told.start_s == pytest.approx([0, 0.1, 0.25])
    assert told.more["queue_s"].tolist() == [0, 0, 0.125]
    assert run.lacks == []
    assert run.started_epoch_s is None  # `date` has no zone


def test_a_last_chunk_more_than_tokens_is_said(tmp_path):
    run, _, _ = read(tmp_path, vllm_result(output_lens=[3, 0, 2]))
    assert any("2 of 2 answers came in another number of chunks" in said for said in run.notes)


def test_a_finite_rate_is_an_open_loop(tmp_path):
    _, level, _ = read(tmp_path, vllm_result(request_rate=2.5, max_concurrency=None))
    assert (level.name, level.kind, level.rate_per_s) == ("2.5/s", "open", 2.5)


def test_the_summary_is_kept_flat_under_its_own_names(tmp_path):
    _, level, _ = read(tmp_path, vllm_result(p99_ttft_ms=float("nan")))
    assert level.reported["mean_ttft_ms"] == 150.00000000000003
    assert "p99_ttft_ms" not in level.reported  # no number
    assert "ttfts" not in level.reported


def test_a_summary_without_details_has_no_requests_and_says_so(tmp_path):
    bare = {k: v for k, v in vllm_result("old").items() if not isinstance(v, list)}
    run, level, told = read(tmp_path, bare)
    assert len(told) == 0
    assert level.reported["completed"] == 2
    assert any("Only the tool's summary" in said for said in run.lacks)


@needs_samples
def test_a_real_file_of_the_current_schema_is_its_own_summary():
    (run,) = read_file(SAMPLES / "made_here/vllm_bench_0.32_c64.json")
    level = run.levels[0]
    told, reported = level.answers, level.reported
    tpot_s = (told.last_s - told.ttft_s) / (told.output_tokens - 1)
    is_gap = np.r_[False, told.chunk_of[1:] == told.chunk_of[:-1]]
    gaps_s = np.diff(told.chunk_s, prepend=0)[is_gap]
    for name, values in (("ttft", told.ttft_s), ("tpot", tpot_s), ("e2el", told.last_s)):
        assert np.mean(values) * 1e3 == pytest.approx(reported[f"mean_{name}_ms"], rel=1e-9)
        assert np.percentile(values, 99) * 1e3 == pytest.approx(
            reported[f"p99_{name}_ms"], rel=1e-9
        )
    assert np.std(gaps_s) * 1e3 == pytest.approx(reported["std_itl_ms"], rel=1e-9)
    assert len(told) / level.duration_s == pytest.approx(reported["request_throughput"], rel=1e-9)
