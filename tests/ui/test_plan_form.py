import json
import tomllib
from dataclasses import replace

import pytest

from loadgen.plan import parse
from ui.demo import demo_plan
from ui.plan_form import (
    PlanFields,
    estimate,
    levels_of,
    load_curve,
    plain_problem,
    plan_of,
    suggested_name,
)
from ui.plan_toml import plan_toml

GOOD = PlanFields(
    name="nightly",
    url="http://localhost:8000/v1",
    model="llama",
    api="openai_chat",
    api_key_env="",
    prompt_tokens=256,
    output_tokens=100,
    unique_prompts=True,
    kind="closed",
    levels="1, 2; 4 8",
    ends="seconds",
    end_value=10.0,
    ttft_p95_ms=500.0,
)


def problems_of(**changed):
    plan, problems = plan_of(replace(GOOD, **changed), {"THE_KEY": "secret"})
    assert (plan is None) == bool(problems)
    return problems


def test_good_fields_make_the_plan_they_say():
    plan, problems = plan_of(GOOD, {})
    assert problems == []
    assert [stage.name for stage in plan.stages] == ["c=1", "c=2", "c=4", "c=8"]
    assert plan.target.api_key_env is None
    assert [(s.metric, s.percentile, s.max_ms) for s in plan.slos] == [("ttft", 95, 500)]


def test_no_objective_is_no_slo():
    plan, _ = plan_of(replace(GOOD, ttft_p95_ms=None), {})
    assert plan.slos == []


def test_every_mistake_is_told_at_the_step_where_it_is_mended():
    problems = problems_of(
        url="localhost:8000", levels="0, 4, x", prompt_tokens=0, ttft_p95_ms=-1.0
    )
    assert [p.step for p in problems] == ["load", "endpoint", "workload", "load", "objective"]
    texts = [p.text for p in problems]
    assert texts[0] == "Levels: 'x' is not a number."
    assert texts[1].startswith("URL is 'localhost:8000'; expected http://HOST")
    assert texts[3] == "Level 1 is 0; it must be greater than or equal to 1."
    assert not any("stages[" in text or "target." in text for text in texts)


def test_fields_left_empty_are_missing_and_no_mistakes():
    problems = problems_of(url=" ", model="", end_value=None)
    assert [(p.step, p.missing) for p in problems] == [
        ("endpoint", True),
        ("endpoint", True),
        ("load", True),
    ]


def test_half_a_stream_is_no_concurrency_but_half_a_request_per_second_is_a_rate():
    assert [p.step for p in problems_of(levels="0.5")] == ["load"]
    plan, _ = plan_of(replace(GOOD, kind="open", levels="0.5"), {})
    assert plan.stages[0].rate_per_s == 0.5


def test_the_variable_of_a_key_must_be_set_where_the_run_starts():
    assert problems_of(api_key_env="THE_KEY") == []
    (problem,) = problems_of(api_key_env="OTHER_KEY")
    assert "OTHER_KEY is not set" in problem.text


def test_a_key_pasted_as_its_name_is_refused_and_not_repeated():
    (problem,) = problems_of(api_key_env="sk-123-abc")
    assert "sk-123" not in problem.text


def test_requests_are_whole_numbers_of_each_level():
    plan, _ = plan_of(replace(GOOD, ends="requests", end_value=32.0), {})
    assert {stage.requests for stage in plan.stages} == {32}
    assert problems_of(ends="requests", end_value=2.5)[0].step == "load"


def test_infinite_load_is_no_number():
    assert levels_of("1, inf, nan")[0] == [1]


@pytest.mark.parametrize("text", ["", " , ;"])
def test_no_level_at_all_is_a_problem(text):
    levels, problems = levels_of(text)
    assert levels == []
    assert len(problems) == 1


def test_a_problem_of_an_unknown_field_is_still_shown():
    assert plain_problem("workers: more than 64.").text == "workers: more than 64."


def test_seconds_are_the_plans_own():
    plan, _ = plan_of(GOOD, {})
    cost = estimate(plan)
    assert cost.total_s == 40
    assert cost.assumed


def test_open_loop_needs_no_guess():
    plan, _ = plan_of(replace(GOOD, kind="open", levels="2, 4"), {})
    cost = estimate(plan)
    assert (cost.requests, cost.input_tokens, cost.assumed) == (60, 60 * 256, False)


def test_a_level_ends_at_whichever_end_comes_first():
    raw = json.loads(demo_plan().to_json())
    raw["stages"] = [{"kind": "open", "rate_per_s": 5, "seconds": 100, "requests": 50}]
    assert estimate(parse(raw)).total_s == 10


def test_the_load_curve_holds_each_level_until_the_next():
    plan, _ = plan_of(GOOD, {})
    assert load_curve(plan, estimate(plan)) == ([0, 10, 20, 30, 40], [1, 2, 4, 8, 8])


def test_a_plan_reads_back_from_its_toml():
    plan, _ = plan_of(replace(GOOD, name='a "quoted" \\ name\x7f\nü'), {})
    assert parse(tomllib.loads(plan_toml(plan))) == plan
    assert parse(tomllib.loads(plan_toml(demo_plan()))) == demo_plan()


def test_extra_fields_of_the_body_survive_toml():
    raw = json.loads(demo_plan().to_json())
    raw["workload"]["extra_body"] = {"stop": ["\n", "."], "options": {"num ctx": 8, "on": True}}
    plan = parse(raw)
    assert parse(tomllib.loads(plan_toml(plan))) == plan


def test_a_run_nobody_named_is_named_after_its_model_and_load():
    assert suggested_name("llama", "closed", "1, 2, 16") == "llama: 1–16 streams, 3 levels"
    assert suggested_name("", "open", "2.5, x") == "2.5 requests/s"
    assert suggested_name(" ", "closed", "") == "run"
