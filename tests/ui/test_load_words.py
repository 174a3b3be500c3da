import pytest

from loadgen.plan import parse
from tests.ui.plans_of_all_kinds import EVERYTHING, PLANS, STAGES
from ui.load_words import length_text, load_text
from ui.run_text import plan_labels


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("levels", "1–4 streams, 3 levels"),
        ("rates", "0.5–2 requests/s, 2 levels"),
        ("ramp", "ramp 1–9.5 requests/s"),
        ("steps", "steps 1–4 streams"),
        ("spike", "spike 1–8 requests/s"),
        ("table", "table 0–7 requests/s"),
        ("table in a file", "table streams"),
        ("sweep", "1–8 streams"),
        ("doubling", "doubling 0.5–64 requests/s"),
        ("search", "search 0.5–99.5 requests/s"),
        ("replay", "replay of trace.csv"),
    ],
)
def test_every_kind_of_load_has_its_words(name, said):
    assert load_text(STAGES[name]) == said
    whole = parse({**PLANS["one level"], "stages": STAGES[name], "slos": PLANS[name]["slos"]})
    assert load_text(whole.model_dump(mode="json")["stages"]) == said


def test_a_form_half_filled_in_is_told_as_far_as_it_goes():
    assert load_text([{"kind": "closed"}, {"concurrency": "x"}]) == ""
    assert load_text([{"concurrency": [1, "x"]}]) == "1 stream"
    assert load_text([{"kind": "replay"}]) == "replay of a trace"


@pytest.mark.parametrize(
    ("length", "said"),
    [
        (1256, "1,256"),
        ({"kind": "uniform", "low": 10, "high": 99}, "10–99"),
        ({"kind": "lognormal", "median": 300.0, "sigma": 1}, "about 300"),
        ({"kind": "file", "path": "x"}, "as in a file"),
    ],
)
def test_a_length_is_a_number_or_what_it_is_about(length, said):
    assert length_text(length) == said


def test_each_class_of_a_plan_has_its_label():
    plan = parse(EVERYTHING).model_dump(mode="json")
    told = [words for icon, words in plan_labels(plan) if icon == "data_object"]
    assert told[0] == "chat: 600 tokens in, 1–9 out"
    assert told[2].endswith("in one piece")
