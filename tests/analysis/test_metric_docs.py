import re
from pathlib import Path
from typing import get_args

import pytest

from analysis import docs
from analysis.metrics import METRICS
from loadgen.objectives import TITLES
from loadgen.plan import Slo

DOCS = Path(docs.__file__).parents[1] / "docs"

WORDS = (
    *("due", "dispatched", "send", "first_token", "end", "arrival", "read", "event", "chunk"),
    *("token", "TTFT", "chunk gap", "ITL", "TPOT", "closed loop", "open loop", "E2E", "in-flight"),
    *("goodput", "send lag", "loop lag", "plan", "stage", "run", "sweep"),
)


def test_docs_metrics_md_is_what_metrics_say():
    assert docs.PAGE.read_text(encoding="utf-8") == docs.page(), "run `python -m analysis.docs`"


@pytest.mark.parametrize("name", METRICS)
def test_every_metric_is_in_the_docs_with_its_unit(name):
    assert f"(`{name}`, {METRICS[name].unit})" in docs.PAGE.read_text(encoding="utf-8")


@pytest.mark.parametrize("word", WORDS)
def test_the_glossary_defines_each_word_once(word):
    glossary = (DOCS / "glossary.md").read_text(encoding="utf-8")
    assert len(re.findall(rf"^\| \*\*{word}\*\* \|", glossary, re.MULTILINE)) == 1


def test_units_are_named_and_no_title_is_a_bare_tokens_per_second():
    for metric in METRICS.values():
        assert "tok/s" not in metric.title
        assert metric.formula
        assert metric.undefined_when
        assert metric.source


def test_an_objective_of_a_plan_may_name_just_the_metrics_that_say_so():
    allowed = get_args(Slo.model_fields["metric"].annotation)
    assert set(allowed) == {name for name, metric in METRICS.items() if metric.is_objective}
    assert set(allowed) == set(TITLES)
