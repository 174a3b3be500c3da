"""The sentence beside a number tells what changes this very number, and nothing else."""

import numpy as np

from analysis.dialects.line import Facts, main_lines
from analysis.dialects.per_token import per_token, sentence
from analysis.dialects.registry import DIALECTS
from analysis.dialects.sheet import AGREES
from analysis.dialects.text import text
from tests.analysis.dialects.made_answers import Row, columns


def answer(start, *at, tokens=None, **more):
    """One token per chunk, arriving at those seconds."""
    return Row(start=start, chunks=[(t, 1, False) for t in at], tokens=tokens or len(at), **more)


PLAIN = [answer(i, 0.1 + i / 100, 0.2, 0.3) for i in range(5)]


def line(dialect, name, rows, facts=Facts(), **more):  # noqa: B008  # frozen
    made = columns(rows)
    made.more.update(more)
    return next(one for one in DIALECTS[dialect].numbers(made, facts) if one.name == name)


def test_the_same_definition_over_the_same_requests_agrees():
    assert line("aiperf", "time_to_first_token.p99", PLAIN).reason == AGREES
    assert line("inference_perf", "successes.latency.time_to_first_token.p99", PLAIN).reason == (
        AGREES
    )


def test_another_percentile_rule_is_told_with_both_numbers():
    name = "time_to_first_token_ms.successful.percentiles.p99"
    reason = line("guidellm", name, PLAIN).reason
    assert "without interpolation: 140 where ours gives 139.6" in reason


def test_a_rule_that_changes_nothing_is_not_told():
    name = "time_to_first_token_ms.successful.mean"
    assert line("guidellm", name, PLAIN).reason == AGREES


def test_requests_that_our_window_leaves_out_are_counted():
    facts = Facts(ours={"ttft": {"mean": 110.0}}, window_s=3.0, window_n=3)
    found = line("aiperf", "time_to_first_token.avg", PLAIN, facts)
    assert (found.ours, round(found.ours_all, 6)) == (110.0, 120.0)
    assert found.reason == (
        "It counts all 5 answers of the level, ours the 3 asked for within its window of 3 s."
    )


def test_a_rate_over_the_same_seconds_is_not_explained_by_other_seconds():
    name = "request_throughput"
    seconds = line("vllm", name, PLAIN).theirs
    facts = Facts(ours={"request_rate": {"value": seconds * 1.00001}}, window_s=4.3, window_n=5)
    assert line("vllm", name, PLAIN, facts).reason == "Agrees, to the digits shown."
    apart = Facts(ours={"request_rate": {"value": seconds * 1.01}}, window_s=4.3, window_n=5)
    assert line("vllm", name, PLAIN, apart).reason.endswith("4.3 s; ours by the same seconds.")


def test_the_head_of_a_whole_level_says_that_both_columns_are_of_it():
    shown = {"title": "A", "versions": "1", "rule": "linear", "dialect": "a"}
    level = {"name": "c=1", "sentence": "S.", "source": None, "lines": []}
    whole = text(shown | {"levels": [level | {"is_whole": True}]})
    assert "theirs and ours: every answer of the level." in whole
    assert "ours: its window." in text(shown | {"levels": [level | {"is_whole": False}]})


def test_a_definition_is_blamed_only_where_it_changes_the_number():
    several = [Row(start=0, chunks=[(0.1, 2, False), (0.3, 2, False)], tokens=4)]
    assert "first chunks held more than one" in line("vllm", "mean_tpot_ms", several).reason
    assert "first chunks" not in line("vllm", "mean_tpot_ms", PLAIN).reason


def test_a_role_only_chunk_is_a_caveat_not_an_agreement():
    ones = np.ones(5)
    more = {"role": ones, "finish": ones, "head_s": ones * 0.02, "close_s": ones * 0.001}
    reason = line("vllm", "mean_ttft_ms", PLAIN, **more).reason
    assert AGREES not in reason
    assert "role-only chunk that 5 answers began with" in reason
    assert "100 ms (median) before" in reason
    assert "10 gaps more" in line("vllm", "mean_itl_ms", PLAIN, **more).reason


def test_a_connection_for_each_request_is_told_where_this_run_had_not():
    opened = np.array([0.004, np.nan, np.nan, np.nan, np.nan])
    reason = line("sglang", "mean_ttft_ms", PLAIN, connect_s=opened).reason
    assert "(here 4 ms); 4 of 5 answers came on one already open" in reason
    every = line("sglang", "mean_ttft_ms", PLAIN, connect_s=np.full(5, 0.004)).reason
    assert every == AGREES


def test_one_token_answers_that_pass_a_goodput_are_counted():
    rows = [*PLAIN, answer(5, 0.1)]
    facts = Facts(slos_ms={"tpot": 1000.0})
    assert "1 answers of one token pass" in line("vllm", "request_goodput", rows, facts).reason
    assert "1 answers without its ITL" in line("aiperf", "goodput.avg", rows, facts).reason


def test_reasoning_is_no_token_to_inference_perf_and_llmperf():
    rows = [Row(start=0, chunks=[(0.1, 1, True), (0.3, 1, False), (0.4, 1, False)], tokens=3)]
    for dialect, name in (
        ("inference_perf", "successes.latency.time_to_first_token.mean"),
        ("llmperf", "results_ttft_s_mean"),
    ):
        found = line(dialect, name, rows)
        assert found.theirs == 0.3
        assert "1 answers thought first, for 200 ms" in found.reason


def test_five_figures_for_one_measurement_are_counted_in_the_sentence_that_leads():
    rows = [
        Row(start=0, chunks=[(0.3 + k / 50, 4, False) for k in range(16)], tokens=64, close=0.1)
    ]
    facts = Facts()
    lines = {name: one.numbers(columns(rows), facts) for name, one in DIALECTS.items()}
    found = {(row.tool, row.name): row.mean for row in per_token(lines, facts)}
    assert round(found["vLLM bench", "TPOT"], 2) == 4.76
    assert round(found["SGLang", "TPOT"], 2) == 6.35  # the wait for the end is divided in
    assert round(found["GuideLLM 0.5+", "TPOT"], 2) == 9.38
    assert round(found["AIPerf", "ICL"], 2) == 20.0
    said = sentence(per_token(lines, facts))
    assert said.startswith("One measurement, seven different “time per token” figures: 4.688 … 20")


def test_nothing_is_said_of_time_per_token_where_no_answer_has_two():
    facts = Facts()
    lines = {name: one.numbers(columns([]), facts) for name, one in DIALECTS.items()}
    assert "no time per token" in sentence(per_token(lines, facts))


def test_a_reader_first_sees_mean_median_and_p99_of_each_number():
    rows = [vars_of(one) for one in DIALECTS["vllm"].numbers(columns(PLAIN), Facts())]
    stats = [row["stat"] for row in main_lines(rows) if row["title"] == "TTFT"]
    assert stats == ["mean", "median", "p99"]


def vars_of(one):
    return {"title": one.title, "stat": one.stat}
