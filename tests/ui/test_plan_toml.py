import tomllib

import pytest

from loadgen.plan import parse
from tests.ui.plans_of_all_kinds import PLANS
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
