"""docs/load-shapes.md names every shape and process, its plans are plans, its pictures true."""

import re
import tomllib
from pathlib import Path

import pytest

from loadgen.arrivals import ARRIVALS
from loadgen.plan import parse
from loadgen.shapes import SHAPES, curve
from tests.loadgen.curve_picture import picture

PAGE = (Path(__file__).parents[2] / "docs" / "load-shapes.md").read_text(encoding="utf-8")
PLANS = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
PICTURES = re.findall(r"```toml\n([^`]*)```\n\n```text\n([^`]*)\n```", PAGE)
TARGET = {"target": {"url": "http://127.0.0.1:1", "model": "m"}}


@pytest.mark.parametrize("name", [*SHAPES, *ARRIVALS])
def test_every_shape_and_arrival_process_is_on_the_page(name):
    assert re.search(rf"(^### {name}$|`{name}`)", PAGE, re.MULTILINE)


@pytest.mark.parametrize("text", PLANS)
def test_every_plan_on_the_page_is_one(text):
    assert parse(TARGET | tomllib.loads(text)).stages


def test_every_shape_has_its_picture():
    shown = [tomllib.loads(text)["stages"][0]["rate_per_s"]["shape"] for text, _ in PICTURES]
    assert shown == list(SHAPES)


@pytest.mark.parametrize(("text", "shown"), PICTURES)
def test_the_pictures_are_those_of_their_plans(text, shown):
    [stage] = parse(TARGET | tomllib.loads(text)).stages
    assert picture(curve(stage.rate_per_s, stage.seconds)) == shown
