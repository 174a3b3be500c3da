"""From a stored run to every dialect: columns, facts, what is missing and why, JSON and text."""

import json
import re

import numpy as np
import pyarrow as pa
import pytest

from analysis.dialects import evidence, text
from analysis.dialects.document import documents, run_in_dialect
from analysis.levels import levels
from analysis.reading import read
from storage.queries import QUERIES
from tests.analysis.made import UID, Made, back_to_back, row, stage


def read_made(made):
    return read(made.ask, UID)


def ask_arrow_of(made):
    def ask_arrow(name, /, **args) -> pa.Table:
        return QUERIES[name](made.cursor, **args)

    return ask_arrow


@pytest.fixture(scope="module")
def made():
    rows = back_to_back(12)
    rows[3] = row(3, 280_000 * 3, outcome="timeout")
    found = Made(rows, [stage(0, "c=1", 0, 280_000 * 12)])
    told = json.dumps({"role": 1, "finish": 1, "usage": 1, "done": 1})
    found.cursor.execute(
        f"UPDATE requests SET other_events = '{told}', headers_us = send_us + 5000"
    )
    return found


def test_the_columns_are_seconds_from_each_send(made):
    reading = read_made(made)
    told = evidence.answers_of(reading, reading.stages[0], ask_arrow_of(made))
    assert len(told) == 12
    assert told.outcome.count("complete") == 11
    assert np.allclose(told.start_s, 0.28 * np.arange(12))
    ok = np.array(told.outcome) == "complete"
    assert np.allclose(told.ttft_s[ok], 0.1)
    assert np.allclose(told.last_s[ok], 0.28)
    assert len(told.chunk_s) == 110
    assert np.allclose(told.chunk_s[:10], 0.1 + 0.02 * np.arange(10))
    assert np.isnan(told.first_chunk_s).all()  # a role-only chunk's time is not kept
    assert np.allclose(told.more["head_s"][ok], 0.005)
    assert (told.chunk_tokens == 1).all()  # usage told as many tokens as there were chunks


def test_a_level_too_large_or_without_its_events_keeps_what_requests_tell(made, monkeypatch):
    monkeypatch.setattr(evidence, "MOST_CHUNKS", 100)
    reading = read_made(made)
    (shown,) = documents(reading, levels(reading), ask_arrow_of(made))
    lines = {line["name"]: line for line in shown["dialects"]["vllm"]["lines"]}
    assert lines["mean_itl_ms"]["theirs"] is None
    assert "110 token events" in lines["mean_itl_ms"]["reason"]
    assert lines["mean_tpot_ms"]["theirs"] == pytest.approx(20)


def test_dropped_events_are_told_as_dropped(made):
    reading = read_made(made)
    reading.run["raw_dropped_epoch_ns"] = 1
    assert "dropped" in str(evidence.no_chunks_of(reading.run, reading.stages[0]))


def test_the_json_has_every_level_and_each_number_with_its_reason(made):
    reading = read_made(made)
    shown = run_in_dialect(reading, "aiperf", ask_arrow_of(made))
    assert json.loads(json.dumps(shown)) == shown
    assert (shown["title"], len(shown["levels"])) == ("AIPerf", 1)
    found = {line["name"]: line for line in shown["levels"][0]["lines"]}
    itl = found["inter_token_latency.avg"]
    assert (itl["theirs"], itl["metric"]) == (pytest.approx(20), "tpot")
    assert itl["ours"] == pytest.approx(20)
    assert "What it calls ITL is our TPOT." in itl["reason"]
    assert "1 of 12 requests failed" in found["time_to_first_token.avg"]["reason"]


def test_the_text_names_each_reason_once(made):
    reading = read_made(made)
    said = text.text(run_in_dialect(reading, "vllm", ask_arrow_of(made)))
    assert said.startswith("As vLLM bench would print it")
    assert "mean_ttft_ms" in said
    asked = set(re.findall(r"\[\d+\]$", said, re.MULTILINE))
    told = re.findall(r"^  (\[\d+\]) ", said, re.MULTILINE)
    assert (len(told), set(told)) == (len(asked), asked)
    assert "role-only chunk that 11 answers began with" in " ".join(said.split())
    assert max(map(len, said.splitlines())) <= 120


def imported(reported, **more):
    facts = {"imported": {"tool": "vllm_bench", "reported": [reported], "has_times": True} | more}
    return Made(back_to_back(10), [stage(0, "c=1", 0, 2_800_000)], facts=facts)


def test_an_imported_run_shows_the_tools_own_report_and_where_it_differs():
    made = imported({"mean_ttft_ms": 100.0, "mean_tpot_ms": 25.0, "num_prompts": 10.0})
    reading = read_made(made)
    shown = run_in_dialect(reading, "vllm", ask_arrow_of(made))
    found = {line["name"]: line for line in shown["levels"][0]["lines"]}
    assert (found["mean_ttft_ms"]["reported"], found["mean_ttft_ms"]["is_same"]) == (100.0, True)
    assert (found["mean_tpot_ms"]["reported"], found["mean_tpot_ms"]["is_same"]) == (25.0, False)
    assert found["mean_itl_ms"]["reported"] is None
    assert "DIFFERS FROM ITS OWN REPORT" in text.text(shown)


def test_an_imported_run_without_start_times_has_no_rate_but_the_tools_duration():
    made = imported({}, has_times=False, duration_s=[4.0])
    reading = read_made(made)
    (shown,) = documents(reading, levels(reading), ask_arrow_of(made))
    lines = {line["name"]: line for line in shown["dialects"]["vllm"]["lines"]}
    assert lines["request_throughput"]["theirs"] == pytest.approx(2.5)
    assert lines["max_concurrent_requests"]["theirs"] is None
    assert shown["source"] == "vllm"
