"""SGLang's lines, made by hand: there is no real file to check them on."""

import math

import pytest
from foreign_files import sglang_result, write_lines

from storage.exchange.importers import read_file


def test_each_line_is_a_run_and_infinity_may_stand_bare(tmp_path):
    path = write_lines(tmp_path / "r.jsonl", [sglang_result(), sglang_result(max_concurrency=4)])
    assert "Infinity" in path.read_text()
    first, second = read_file(path)
    assert (first.tool, first.model) == ("sglang", "made-up-8b")
    assert [run.levels[0].name for run in (first, second)] == ["c=2", "c=4"]


def test_one_line_alone_is_a_run(tmp_path):
    (run,) = read_file(write_lines(tmp_path / "r.jsonl", [sglang_result(request_rate=3.0)]))
    assert (run.levels[0].kind, run.levels[0].rate_per_s) == ("open", 3.0)


def test_details_give_answers_without_times(tmp_path):
    (run,) = read_file(write_lines(tmp_path / "r.jsonl", [sglang_result()]))
    told = run.levels[0].answers
    assert told.outcome == ["complete", "rate_limited", "complete"]
    assert told.last_s[[0, 2]] == pytest.approx([0.16, 0.29])
    assert math.isnan(told.ttft_s[1])  # a failed request's ttft of 0.0 is none
    assert told.has_chunks
    assert not told.has_times


def test_gaps_that_the_tool_spread_itself_are_no_chunks(tmp_path):
    (run,) = read_file(write_lines(tmp_path / "r.jsonl", [sglang_result(backend="sglang")]))
    told = run.levels[0].answers
    assert not told.has_chunks
    assert told.last_s[0] == pytest.approx(0.16)
    assert any("spreads each gap evenly" in said for said in run.lacks)


def test_without_details_there_is_a_summary_only(tmp_path):
    (run,) = read_file(write_lines(tmp_path / "r.jsonl", [sglang_result(details=False)]))
    assert len(run.levels[0].answers) == 0
    assert run.levels[0].reported["concurrency"] == 0.36
    assert "server_info.port" not in run.levels[0].reported
