import pytest

from loadgen.plan import parse
from tests.ui.plans_of_all_kinds import EVERYTHING, PLANS, TARGET
from ui.plan_form import (
    differing,
    form_of,
    form_values,
    only_in_file,
    plan_of,
    raw_plan,
    suggested_name,
)
from ui.presets import PRESETS, preset_plan

GOOD = form_of(
    parse(
        {
            "name": "nightly",
            "target": TARGET,
            "stages": [{"concurrency": n, "seconds": 10} for n in (1, 2, 4, 8)],
            "slos": [{"metric": "ttft", "max_ms": 500}],
        }
    )
)


def changed(**parts):
    """GOOD with other values; a dict changes what it names."""
    return {k: {**GOOD[k], **v} if isinstance(v, dict) else v for k, v in (GOOD | parts).items()}


def problems_of(**parts):
    plan, problems = plan_of(changed(**parts), {"THE_KEY": "secret"})
    assert (plan is None) == bool(problems)
    return problems


def load(**parts):
    return [{**GOOD["stages"][0], **parts}]


@pytest.mark.parametrize("name", PLANS)
def test_a_plan_of_any_kind_comes_back_from_the_form(name):
    plan = parse(PLANS[name])
    assert parse(raw_plan(form_of(plan))) == plan
    assert only_in_file(plan) == []


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_fits_into_the_form(name):
    plan = preset_plan(name)
    assert parse(raw_plan(form_of(plan))) == plan


def test_levels_that_differ_in_nothing_else_are_one_block():
    blocks = form_of(parse(EVERYTHING))["stages"]
    assert [block["load"] for block in blocks] == ["closed", "idle", "shape", "replay", "closed"]
    assert blocks[-1]["levels"] == "1, 2, 4"


def test_what_the_form_has_no_field_for_is_named():
    idle = {"kind": "idle", "seconds": 9, "warmup_s": 2}
    plan = parse({"target": TARGET, "stages": [{"concurrency": 1, "seconds": 9}, idle]})
    assert only_in_file(plan) == ["stages[1].warmup_s"]


def test_trees_differ_at_paths():
    one = {"a": [{"b": 1}, {"b": 2}], "c": None}
    assert differing(one, {"a": [{"b": 1}, {"b": 3}], "c": 0}) == ["a[1].b", "c"]
    assert differing(one, {"a": [], "c": None}) == ["a"]


def test_no_limit_is_no_objective():
    plan, _ = plan_of(changed(slos=[{"metric": "ttft", "percentile": 95, "max_ms": None}]), {})
    assert plan.slos == []


def test_every_mistake_is_told_at_the_step_where_it_is_mended():
    problems = problems_of(
        target={"url": "localhost:8000"},
        workload={"in": {"kind": "fixed", "value": 0}},
        stages=load(levels="0, 4, x"),
        slos=[{"metric": "ttft", "percentile": 95, "max_ms": -1}],
    )
    assert [p.step for p in problems] == ["endpoint", "workload", "stage1", "stage1", "objective"]
    texts = [p.text for p in problems]
    assert texts[0].startswith("URL is 'localhost:8000'; expected http://HOST")
    assert texts[1].startswith("Prompt tokens is 0; it must be")
    assert texts[2].startswith("Level 1 is 0; it must be")
    assert texts[3].startswith("Level 3 is 'x'; expected a whole number")
    assert texts[4].startswith("Objective 1, At most is -1; it must be")


def test_fields_left_empty_are_missing_and_no_mistakes():
    problems = problems_of(target={"url": " ", "model": ""}, stages=load(levels=""))
    assert {(p.step, p.missing) for p in problems} == {("endpoint", True), ("stage1", True)}
    assert "URL: where the server listens, http://localhost:8000/v1." in [p.text for p in problems]


def test_a_level_without_an_end_is_said_once_for_all_levels():
    (problem,) = problems_of(stages=load(seconds=None))
    assert problem.text == "Each level never ends; give it requests or seconds."


def test_half_a_stream_is_no_concurrency_but_half_a_request_per_second_is_a_rate():
    assert [p.step for p in problems_of(stages=load(levels="0.5"))] == ["stage1"]
    block = {"load": "open", "rates": "0.5", "arrivals": "poisson", "burstiness": None}
    plan, _ = plan_of(changed(stages=load(**block)), {})
    assert plan.stages[0].rate_per_s == 0.5


def test_the_variable_of_a_key_must_be_set_where_the_run_starts():
    assert problems_of(target={"api_key_env": "THE_KEY"}) == []
    (problem,) = problems_of(target={"api_key_env": "OTHER_KEY"})
    assert "OTHER_KEY is not set" in problem.text


def test_a_key_pasted_as_its_name_is_refused_and_not_repeated():
    (problem,) = problems_of(target={"api_key_env": "sk-123-abc"})
    assert "sk-123" not in problem.text


def test_endpoints_of_one_name_are_a_mistake_though_a_plan_could_hold_only_one():
    two = [{"name": "b", **TARGET, "prices": None}] * 2
    problems = {p.step: p.text for p in problems_of(targets=two)}
    assert problems["target2"] == "Name is 'b', as is that of another endpoint."
    assert problems["target1"].startswith("b is used by no class")


def test_a_body_that_is_no_json_object_is_said_beside_it():
    (problem,) = problems_of(workload={"extra_body": "{temperature: 1}"})
    assert problem.step == "workload"
    assert problem.text.startswith("Further fields of the body")


def test_the_form_shows_each_field_of_the_plan():
    values = form_values(form_of(parse(EVERYTHING)))
    assert values["endpoint"] == "My endpoint"
    assert (values["url"], values["api"]) == (TARGET["url"], "anthropic_messages")
    assert (values["n_class"], values["n_stage"], values["n_slo"]) == (3, 5, 2)
    assert (values["class1_out_kind"], values["class1_out_high"]) == ("uniform", 9)
    assert (values["class2_own"], values["class2_own_streams"]) == ("closed", 4)
    assert (values["class3_n_slo"], values["class3_slo1_metric"]) == (1, "e2e")
    assert (values["stage3_shape"], values["stage5_levels"]) == ("ramp", "1, 2, 4")
    assert values["target1_url"] == "https://b.example/v1"


def test_the_simulator_is_shown_by_its_profile():
    values = form_values(form_of(preset_plan("chat")))
    assert (values["endpoint"], values["profile"]) == ("Simulator", "small-gpu")


def test_a_run_nobody_named_is_named_after_its_model_and_load():
    assert suggested_name(GOOD) == "m: 1–8 streams, 4 levels"
    empty = changed(target={"model": ""}, stages=load(levels=""))
    assert suggested_name(empty) == "run"


def test_a_file_that_is_not_there_is_told_where_it_is_named(tmp_path):
    replay = form_of(parse(PLANS["replay"]))["stages"]
    (problem,) = problems_of(stages=[{**replay[0], "file": str(tmp_path / "none.csv")}])
    assert problem.step == "stage1"
    assert problem.text.startswith("Trace file is '")
    assert problem.text.endswith("there is no such file.")
