import json

import pytest

from loadgen.plan import parse
from tests.ui.plans_of_all_kinds import EVERYTHING, ONE_LEVEL, PLANS
from ui.plan_source import from_file, from_plan, from_preset
from ui.plan_toml import plan_toml


@pytest.mark.parametrize("name", PLANS)
def test_a_file_that_was_downloaded_fills_the_form_again(name):
    plan = parse(PLANS[name])
    for source in (
        from_file("plan.json", plan.to_json()),
        from_file("plan.TOML", plan_toml(plan).encode()),
    ):
        assert source.plan == plan
        assert source.values["name"] == plan.name
        assert not source.only_in_file


def test_a_plan_replaces_all_that_was_typed_and_a_preset_leaves_the_endpoint():
    everything = from_plan("run x", EVERYTHING)
    assert everything.resets["url"] == EVERYTHING["target"]["url"]
    preset = from_preset("spike")
    assert "url" not in preset.resets
    assert "endpoint" not in preset.resets
    assert preset.resets["shape"] == "spike"


def test_a_preset_without_an_objective_takes_the_old_one_away():
    assert from_preset("batch").resets["slo1_max_ms"] is None


def test_what_a_trace_presets_file_is_only_the_reader_knows():
    assert from_preset("trace").values["file"] == ""


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.json", b"{", "a.json cannot be read as a plan"),
        ("a.toml", b"\xff", "a.toml cannot be read as a plan"),
        ("a.json", b"[1]", "a.json holds a list; a plan is an object."),
        ("a.toml", b"name = 'x'", "target is missing."),
    ],
)
def test_a_file_that_is_no_plan_says_why(name, content, said):
    source = from_file(name, content)
    assert source.plan is None
    assert any(said in problem for problem in source.problems)


def test_other_plans_have_other_keys():
    one = from_plan("x", ONE_LEVEL)
    assert one.key != from_plan("x", {**ONE_LEVEL, "seed": 2}).key
    assert one.key == from_plan("x", json.loads(json.dumps(ONE_LEVEL))).key
