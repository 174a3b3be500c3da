"""A plan says all its mistakes at once and round-trips."""

import json

import pytest

from loadgen.plan import PlanError, load, parse

GOOD = {
    "name": "sweep",
    "target": {"url": "http://127.0.0.1:8000/v1", "model": "m"},
    "stages": [
        {"kind": "closed", "concurrency": 4, "requests": 40},
        {"kind": "open", "rate_per_s": 2.5, "seconds": 10},
    ],
}


def test_a_plan_survives_its_own_json():
    plan = parse(GOOD)
    assert parse(json.loads(plan.to_json())) == plan
    assert [stage.name for stage in plan.stages] == ["c=4", "2.5/s"]


def test_five_mistakes_are_all_named_in_one_answer():
    bad = {
        "target": {"url": "localhost:8000", "api": "openai_chat"},
        "workload": {"prompt_tokens": 0},
        "stages": [{"kind": "closed", "concurrency": -1, "requests": 1}],
        "slos": [{"metric": "ttft", "percentile": 101, "max_ms": 5}],
    }
    with pytest.raises(PlanError) as error:
        parse(bad)
    text = str(error.value)
    for field in (
        "target.url",
        "target.model is missing",
        "workload.prompt_tokens",
        "stages[0].concurrency",
        "slos[0].percentile",
    ):
        assert field in text
    assert len(error.value.problems) == 5


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"stages": [{"kind": "closed", "concurrency": 2}]}, "never ends"),
        ({"stages": []}, "stages"),
        ({"stages": [{"kind": "burst", "concurrency": 2}]}, "stages[0]"),
        ({"target": {"url": "http://u:p@h/", "model": "m"}}, "user name or password"),
        ({"target": {"url": "http://h", "model": "m", "api_key_env": "sk-123"}}, "variable name"),
        ({"target": {"url": "http://h", "model": "m", "api": "soap"}}, "one of openai_chat,"),
        ({"speling": 1}, "speling is not a field"),
        ({"target": {"url": "http://[::1/v1", "model": "m"}}, "Invalid IPv6"),
        ({"target": {"url": "http://h:99999", "model": "m"}}, "out of range"),
        ({"target": {"url": "http://h/v1 x", "model": "m"}}, "no blanks"),
        ({"target": {"url": "http://h", "model": ""}}, "target.model"),
        ({"limits": {"request_s": float("inf")}}, "limits.request_s"),
        ({"stages": [{"concurrency": 1, "rate_per_s": 2, "requests": 3}]}, "one of them"),
    ],
)
def test_a_mistake_is_a_sentence_that_names_its_field(change, words):
    with pytest.raises(PlanError) as error:
        parse({**GOOD, **change})
    assert words in str(error.value)


def test_a_file_that_is_no_plan_is_a_plan_error(tmp_path):
    path = tmp_path / "p.toml"
    path.write_text("name = ")
    with pytest.raises(PlanError, match="cannot be read"):
        load(path)
    with pytest.raises(PlanError, match="cannot be read"):
        load(tmp_path / "missing.toml")


def test_an_empty_field_of_a_form_is_no_file():
    target = {**GOOD["target"], "ca_file": "", "tokenizer": ""}
    plan = parse({**GOOD, "target": target})
    assert plan.target.ca_file is plan.target.tokenizer is None


def test_several_inputs_are_refused_where_the_api_takes_one():
    several = {**GOOD, "workload": {"inputs_per_request": 4}}
    with pytest.raises(
        PlanError, match=r"^workload\.inputs_per_request is 4, and openai_chat takes"
    ):
        parse(several)
    embeddings = {**GOOD["target"], "api": "openai_embeddings"}
    assert parse({**several, "target": embeddings}).workload.inputs_per_request == 4


@pytest.mark.parametrize(
    "change",
    [
        {"workload": {"stream": False}},
        {"target": {"url": "sim://null", "model": "m", "api": "openai_embeddings"}},
    ],
)
def test_answers_in_one_piece_take_no_objective_on_their_first_token(change):
    raw = {
        "target": {"url": "sim://null", "model": "m"},
        "stages": [{"concurrency": 1, "requests": 1}],
    }
    with pytest.raises(PlanError, match=r"slos\[0\].metric is 'ttft'.*expected 'e2e'"):
        parse(raw | change | {"slos": [{"metric": "ttft", "max_ms": 5}]})
    assert parse(raw | change | {"slos": [{"metric": "e2e", "max_ms": 5}]}).slos
