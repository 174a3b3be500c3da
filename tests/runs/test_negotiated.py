"""Runs against endpoints that do not know all we ask for, or that never stream."""

import pytest

pytestmark = pytest.mark.slow
WORK = {"prompt_tokens": 40, "output_tokens": 12}


def test_an_endpoint_that_refuses_stream_options_is_measured_without_token_counts(runs):
    work = {**WORK, "extra_body": {"x_sim_fault": "refuse_usage=1"}}
    run = runs.start({"concurrency": 2, "requests": 6}, workload=work)
    state = runs.end(run)
    assert state["state"] == "finished"
    assert "stream_options" in state["notes"][0]
    facts = runs.folder(run).read("run.json")
    assert facts["dropped_fields"] == ["stream_options"]
    assert "refuses the field stream_options" in facts["preflight"]["sentence"]
    requests = runs.requests(run)
    assert set(requests["outcome"]) == {"complete"}
    assert requests["output_tokens"].isna().all()
    assert (requests["n_chunks"] == 12).all()


def test_whole_answers_have_an_end_and_no_first_token(runs):
    run = runs.start({"concurrency": 2, "requests": 6}, workload={**WORK, "stream": False})
    assert runs.end(run)["state"] == "finished"
    assert "in one piece" in runs.folder(run).read("run.json")["preflight"]["sentence"]
    requests = runs.requests(run)
    assert set(requests["outcome"]) == {"complete"}
    assert set(requests["form"]) == {"whole"}
    assert requests["first_token_us"].isna().all()
    assert (requests["whole_us"] > requests["send_us"]).all()
    assert (requests["output_tokens"] == 12).all()


def test_a_tokenizer_that_cannot_be_had_ends_the_run_before_anything_is_sent(runs):
    target = {"url": "http://127.0.0.1:9", "model": "m", "tokenizer": "/nowhere/tokenizer.json"}
    state = runs.end(runs.start({"concurrency": 1, "requests": 1}, target=target))
    assert state["state"] == "failed"
    assert "/nowhere/tokenizer.json" in state["message"]
    assert "target.tokenizer" in state["message"]
