"""docs/plan.md tells every field of every part, its default, and none that does not exist."""

import json
import re
import tomllib
from pathlib import Path
from typing import Any, get_args

import pytest
from pydantic_core import PydanticUndefined

from loadgen import plan, plan_lengths, plan_shapes, plan_stages, plan_target, plan_workload
from loadgen.plan_parts import Part
from loadgen.plan_templates import Doubling, Search, Sweep

DOCS = Path(__file__).resolve().parents[2] / "docs"
TEXT = (DOCS / "plan.md").read_text()
SECTIONS = dict(re.findall(r"^##+ ([^\n]+)\n(.*?)(?=^##+ |\Z)", TEXT, re.M | re.S))

TABLES = {
    "Plan": plan.Plan,
    "Target": plan_target.Target,
    "Prices": plan_target.Prices,
    "Workload": plan_workload.Workload,
    "Prefix": plan_workload.Prefix,
    "Prompt file": plan_workload.PromptFile,
    "Conversation": plan_workload.Conversation,
    "Class": plan.TrafficClass,
    "closed": plan_stages.ClosedLoop,
    "open": plan_stages.OpenLoop,
    "replay": plan_stages.Replay,
    "idle": plan_stages.Idle,
    "sweep": Sweep,
    "Doubling": Doubling,
    "search": Search,
    "Objective": plan.Slo,
    "Limits": plan.Limits,
    "Machines": plan.Machines,
}
LISTED = {
    "Length": (
        plan_lengths.Uniform,
        plan_lengths.Normal,
        plan_lengths.LogNormal,
        plan_lengths.FromFile,
    ),
    "Pause": (
        plan_lengths.UniformPause,
        plan_lengths.ExponentialPause,
        plan_lengths.LogNormalPause,
    ),
    "Shape": get_args(plan_shapes.Shape),
    "Own load": (plan_stages.OwnClosed, plan_stages.OwnOpen),
}


def rows(section: str) -> dict[str, str]:
    """field -> default, of a section's table."""
    found = re.findall(r"^\| `(\w+)` \| ([^|]+?) \|", SECTIONS[section], re.M)
    return dict(found)


def shown(field: Any) -> str:
    default = field.get_default(call_default_factory=True, validated_data={})
    if default is PydanticUndefined:
        return "required"
    if default is None or default == {} or isinstance(default, Part):
        return "–"
    return f"`{json.dumps(default)}`"


@pytest.mark.parametrize("section", TABLES)
def test_a_part_is_documented_field_by_field_with_its_defaults(section):
    fields = TABLES[section].model_fields
    expected = {name: shown(field) for name, field in fields.items() if name != "kind"}
    assert rows(section) == expected


@pytest.mark.parametrize("section", LISTED)
def test_distributions_and_shapes_are_listed_with_their_fields(section):
    for part in LISTED[section]:
        for name, field in part.model_fields.items():
            said = field.default if name in ("kind", "shape") else name
            assert f"`{said}`" in SECTIONS[section], (part, name)


def parts_of(module):
    values = vars(module).values()
    return {v for v in values if isinstance(v, type) and issubclass(v, Part) and v is not Part}


def test_every_part_there_is_has_its_place():
    modules = (plan, plan_lengths, plan_shapes, plan_stages, plan_target, plan_workload)
    known = {*TABLES.values(), *(part for some in LISTED.values() for part in some)}
    bases = {base for part in known for base in part.__mro__}
    assert set().union(*map(parts_of, modules)) - known - bases == set()


@pytest.mark.parametrize("block", re.findall(r"```toml\n(.*?)```", TEXT, re.S))
def test_the_examples_are_plans_or_parts_of_one(block):
    raw = tomllib.loads(block)
    raw.setdefault("target", {"url": "http://h", "model": "m"})
    raw.setdefault("stages", [{"concurrency": 1, "seconds": 9}])
    if "dollars" in raw.get("limits", {}):
        raw["target"]["prices"] = {"usd_per_m_output": 1}
    assert plan.parse(raw)


def test_the_example_file_is_a_plan_that_shows_every_field_of_its_parts():
    text = (DOCS / "example.toml").read_text()
    assert plan.parse(tomllib.loads(text))
    for part in ("Plan", "Target", "Workload", "Limits", "closed", "open", "Objective"):
        for name in TABLES[part].model_fields:
            assert re.search(rf"\b{name}\b", text), (part, name)
