import json
import tomllib

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from loadgen.plan import PlanError, parse
from tests.ui.plans_of_all_kinds import PLANS, TARGET
from ui.plan_toml import plan_toml


@pytest.mark.parametrize("name", PLANS)
def test_a_plan_of_any_kind_reads_back_from_its_toml(name):
    plan = parse(PLANS[name])
    assert parse(tomllib.loads(plan_toml(plan))) == plan


def test_what_tells_a_shape_or_a_kind_is_written_though_it_is_the_fields_default():
    text = plan_toml(parse(PLANS["everything"]))
    assert 'shape = "ramp"' in text
    assert 'kind = "replay"' in text


def test_what_stands_at_its_default_is_left_out():
    text = plan_toml(parse(PLANS["one level"]))
    assert "limits" not in text
    assert "kind" not in text


JSON = st.recursive(
    st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=9), inner),
    max_leaves=9,
)
NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20)


@given(
    name=NAMES,
    class_name=NAMES.filter(str.isprintable),
    body=st.dictionaries(st.text(st.characters(exclude_categories=["Cs"]), max_size=9), JSON),
    rate=st.floats(0.001, 1000) | st.integers(1, 1000),
)
def test_whatever_an_author_may_type_reads_back_from_toml_and_json(name, class_name, body, rate):
    assume("stream" not in body)
    work = {"extra_body": body}
    classes = [{"name": class_name, "workload": work, "load": {"rate_per_s": rate}}]
    stages = [{"kind": "idle", "seconds": 5}]
    plan = parse({"name": name, "target": TARGET, "classes": classes, "stages": stages})
    assert parse(tomllib.loads(plan_toml(plan))) == plan
    assert parse(json.loads(plan.to_json())) == plan


def test_a_field_taken_out_by_null_is_nothing_that_toml_can_say():
    plan = parse({**PLANS["one level"], "workload": {"extra_body": {"seed": None}}})
    with pytest.raises(PlanError, match="nothing that TOML can say"):
        plan_toml(plan)
    assert parse(json.loads(plan.to_json())) == plan
