"""Several endpoints in one run: classes are routed to theirs, and the record tells them apart."""

import json

import pytest

pytestmark = pytest.mark.slow

WORK = {"prompt_tokens": 20, "output_tokens": 5}


def test_classes_are_routed_to_their_targets_each_with_its_api_and_tokenizer(runs, tmp_path):
    from tests.loadgen.tokenizers_made import save_tokenizer

    words = save_tokenizer(tmp_path / "tokenizer.json")
    usage = {"extra_body": {"x_sim_fault": "ignore_usage=1"}}
    run_uid = runs.start(
        {"concurrency": 4, "requests": 24},
        workload={},
        targets={
            "batch": {
                "url": "sim://null",
                "model": "other",
                "api": "openai_completions",
                "tokenizer": str(words),
            }
        },
        classes=[
            {"name": "chat", "workload": WORK},
            {"name": "batch", "target": "batch", "workload": {**WORK, **usage}},
        ],
    )
    state = runs.end(run_uid)
    assert state["state"] == "finished", state["message"]
    rows = runs.requests(run_uid)
    assert (rows.outcome == "complete").all()
    assert set(zip(rows.traffic_class, rows.target, strict=True)) == {
        ("chat", "main"),
        ("batch", "batch"),
    }
    assert (rows.output_tokens == 5).all()
    sources = set(zip(rows.target, rows.token_source, strict=True))
    assert sources == {("main", "usage"), ("batch", "tokenizer")}
    record = json.loads((runs.folder(run_uid).path / "run.json").read_bytes())
    main, batch = record["targets"]["main"], record["targets"]["batch"]
    assert main["target_url"] == record["target_url"] != batch["target_url"]
    assert (batch["model"], batch["api"]) == ("other", "openai_completions")
    assert batch["preflight"]["ok"]


def test_a_target_that_does_not_answer_fails_the_run_by_its_name(runs):
    run_uid = runs.start(
        {"concurrency": 1, "requests": 1},
        workload={},
        targets={"gone": {"url": "http://127.0.0.1:1", "model": "m"}},
        classes=[{"name": "a"}, {"name": "b", "target": "gone"}],
    )
    state = runs.end(run_uid)
    assert state["state"] == "failed"
    assert "127.0.0.1:1 cannot be reached" in state["message"]
    assert "(targets.gone)" in state["message"]
