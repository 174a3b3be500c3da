"""AIPerf's records and summary, old and new tag names; each also as a real pair of files."""

import numpy as np
import pytest
from foreign_files import (
    SAMPLES,
    aiperf_failure,
    aiperf_record,
    aiperf_summary,
    needs_samples,
    write_aiperf,
)

from storage.exchange.importers import read_file

T0 = 1_767_000_000_000_000_000
PAIRS = {
    "made_here/aiperf_0.13_c64_profile_export.jsonl": "time_to_first_token",
    "aiperf/profile_export.jsonl": "ttft",
}


def records(old=False):
    return [
        aiperf_record(T0 + 200_000_000, [20.0, 30.0], old),
        aiperf_record(T0, [25.0], old),
        aiperf_failure(T0 + 100_000_000, 499, "Request was cancelled after 0.000 seconds"),
        aiperf_failure(T0 + 300_000_000, 503, "Service Unavailable"),
    ]


@pytest.mark.parametrize("old", [False, True])
def test_both_generations_of_tags_give_the_same_answers_by_their_start(tmp_path, old):
    (run,) = read_file(write_aiperf(tmp_path, records(old), aiperf_summary(old)))
    (level,) = run.levels
    told = level.answers
    assert (run.model, level.name, level.concurrency) == ("made-up-8b", "c=2", 2)
    assert told.outcome == ["complete", "cancelled", "complete", "http_error"]
    assert told.start_s.tolist() == [0, 0.1, 0.2, 0.3]
    assert told.ttft_s[[0, 2]].tolist() == [0.1, 0.1]
    assert told.last_s[[0, 2]] == pytest.approx([0.125, 0.15])
    assert told.chunk_of.tolist() == [0, 0, 2, 2, 2]
    assert told.chunk_s == pytest.approx([0.1, 0.125, 0.1, 0.12, 0.15])
    assert told.visible_s[[0, 2]].tolist() == [0.1, 0.1]
    assert told.detail[3] == "Service Unavailable"
    assert run.started_epoch_s == pytest.approx(T0 / 1e9)
    assert run.lacks == []


def test_usage_and_the_wait_for_a_credit_are_kept_beside_the_tools_own_counts(tmp_path):
    (run,) = read_file(write_aiperf(tmp_path, records(), aiperf_summary()))
    told = run.levels[0].answers
    assert told.token_source == "tokenizer"
    assert told.prompt_tokens[0] == 32
    assert told.more["usage_prompt_tokens"][0] == 16
    assert told.more["queue_s"][0] == pytest.approx(0.002)
    assert told.end_s[0] == pytest.approx(0.1255)


def test_either_file_of_the_pair_reads_both(tmp_path):
    write_aiperf(tmp_path, records(), aiperf_summary())
    (by_summary,) = read_file(tmp_path / "profile_export_aiperf.json")
    assert len(by_summary.levels[0].answers) == 4
    assert by_summary.levels[0].reported["request_latency.p99"] == 160.0


def test_records_alone_say_that_the_summary_lacks(tmp_path):
    path = write_aiperf(tmp_path, records(), aiperf_summary())
    (tmp_path / "profile_export_aiperf.json").unlink()
    (run,) = read_file(path)
    assert len(run.lacks) == 1
    assert run.levels[0].reported == {}


def test_a_summary_alone_has_no_requests_and_says_so(tmp_path):
    write_aiperf(tmp_path, records(), aiperf_summary()).unlink()
    (run,) = read_file(tmp_path / "profile_export_aiperf.json")
    assert len(run.levels[0].answers) == 0
    assert "Only the tool's summary" in run.lacks[0]


def test_warm_up_is_told_apart(tmp_path):
    warm = aiperf_record(T0 - 1, [20.0], benchmark_phase="warmup")
    (run,) = read_file(write_aiperf(tmp_path, [warm, *records()], aiperf_summary()))
    assert run.levels[0].answers.phase[:2] == ["warmup", "measure"]


def test_a_record_without_gaps_has_no_chunks(tmp_path):
    record = aiperf_record(T0, [20.0, 30.0])
    del record["metrics"]["inter_chunk_latency"]
    (run,) = read_file(write_aiperf(tmp_path, [record], aiperf_summary()))
    assert not run.levels[0].answers.has_chunks


@needs_samples
@pytest.mark.parametrize(("path", "ttft"), PAIRS.items())
def test_a_real_pair_of_files_is_its_own_summary(path, ttft):
    (run,) = read_file(SAMPLES / path)
    level = run.levels[0]
    told, reported = level.answers, level.reported
    is_ok = np.array([ended == "complete" for ended in told.outcome])
    is_gap = np.r_[False, told.chunk_of[1:] == told.chunk_of[:-1]]
    gaps_s = np.diff(told.chunk_s, prepend=0)[is_gap]
    tpot_s = ((told.last_s - told.ttft_s) / (told.output_tokens - 1))[is_ok]
    for name, values in (
        (ttft, told.ttft_s[is_ok]),
        ("request_latency", told.last_s[is_ok]),
        ("inter_chunk_latency", gaps_s),
        ("inter_token_latency", tpot_s),
    ):
        assert np.mean(values) * 1e3 == pytest.approx(reported[f"{name}.avg"], rel=1e-9)
        assert np.percentile(values, 99) * 1e3 == pytest.approx(reported[f"{name}.p99"], rel=1e-9)
        assert np.std(values) * 1e3 == pytest.approx(reported[f"{name}.std"], rel=1e-9)
    rate = is_ok.sum() / level.duration_s
    # The new version's duration is in the file to the microsecond only.
    digits = 1e-7 if run.version else 1e-9
    assert rate == pytest.approx(reported["request_throughput.avg"], rel=digits)
