"""Several classes of traffic in one level: each has its own entry, objectives and figures."""

import pytest
from made import SECOND, UID, Made, back_to_back, plan, row, stage

from analysis.chart_frames import latency_samples
from analysis.reading import read
from analysis.show import show_of

CLASSES = [
    {"name": "chat", "slos": [{"metric": "ttft", "percentile": 50, "max_ms": 150}]},
    {"name": "batch", "load": {"rate_per_s": 1}, "target": "night"},
]
SLOS = [{"metric": "e2e", "percentile": 50, "max_ms": 100}]


@pytest.fixture(scope="module")
def reading():
    chat = back_to_back(100, traffic_class="chat")
    batch = [
        row(500 + k, k * SECOND, 900_000, due_us=k * SECOND - 5000, traffic_class="batch")
        for k in range(20)
    ]
    made_from = plan(
        classes=CLASSES, slos=SLOS, targets={"night": {"url": "sim://null?night", "model": "m"}}
    )
    made = Made([*chat, *batch], [stage(0, "c=1", 0, 28 * SECOND)], made_from)
    return read(made.ask, UID)


@pytest.fixture(scope="module")
def shown(reading):
    return show_of(reading)


def test_a_level_has_one_entry_for_each_class(shown):
    found = [(lv["stage"], lv["class"], lv["name"]) for lv in shown["levels"]]
    assert found == [("c=1", "chat", "c=1 · chat"), ("c=1", "batch", "c=1 · batch")]


def test_each_class_has_its_own_samples_and_target(shown):
    chat, batch = shown["levels"]
    assert (chat["metrics"]["ttft"]["p50"], batch["metrics"]["ttft"]["p50"]) == (100, 900)
    assert (chat["target"], batch["target"]) == ("sim://null", "sim://null?night")
    assert chat["metrics"]["chunk_gap"]["n"] > 3 * batch["metrics"]["chunk_gap"]["n"] > 0
    assert chat["metrics"]["tps_system"]["value"] > batch["metrics"]["tps_system"]["value"]


def test_an_own_load_on_a_schedule_is_open_beside_a_closed_one(shown):
    chat, batch = shown["levels"]
    assert (chat["kind"], batch["kind"]) == ("closed", "open")
    assert batch["metrics"]["ttft_sched"]["p50"] == 905


def test_an_open_loop_is_drawn_from_schedule_beside_from_send(reading):
    drawn = latency_samples(reading).groupby(["level", "clock"])["ms"].median()
    assert drawn.to_dict() == {
        ("c=1 · chat", "send"): 100,
        ("c=1 · batch", "send"): 900,
        ("c=1 · batch", "schedule"): 905,
    }


def test_each_class_is_judged_by_its_own_objectives_else_by_the_plans(shown):
    chat, batch = shown["levels"]
    assert [(s["metric"], s["result"]) for s in chat["slos"]] == [("ttft", "met")]
    assert [(s["metric"], s["result"]) for s in batch["slos"]] == [("e2e_sched", "missed")]
    assert shown["slo"]["result"] == "missed"


def test_the_verdict_speaks_of_each_class_by_itself(shown):
    verdict = shown["verdict"]
    assert verdict["text"].startswith("chat: Holds Time to first token p50 ≤ 150 ms")
    assert verdict["more"][0].startswith("batch: Does not hold")
    assert verdict["tone"] == "bad"


def asked_and_counted(facts, counted=268):
    rows = back_to_back(40, prompt_tokens=268, prompt_tokens_planned=256)
    rows[20]["prompt_tokens"] = counted
    return show_of(read(Made(rows, [stage(0, "c=1", 0, 12 * SECOND)], facts=facts).ask, UID))[
        "levels"
    ][0]


def test_what_the_chat_template_adds_to_every_prompt_is_told_and_no_warning():
    known = {"prompts": {"default": {"overhead_tokens": 12}}}
    for level in (asked_and_counted(known), asked_and_counted({})):
        assert level["prompt_lengths"]["sentence"].startswith(
            "Prompt tokens: asked 256, counted 268"
        )
        assert level["prompt_lengths"]["sentence"] not in level["warnings"]


def test_prompts_that_the_server_counts_otherwise_are_a_warning():
    other = {"prompts": {"default": {"overhead_tokens": 3}}}
    for level in (asked_and_counted(other), asked_and_counted({}, counted=280)):
        assert level["prompt_lengths"]["sentence"] in level["warnings"]


def test_a_class_whose_share_was_none_is_named():
    rows = back_to_back(40, traffic_class="chat")
    made_from = plan(classes=[{"name": "chat"}, {"name": "rare", "share": 0.001}])
    found = show_of(read(Made(rows, [stage(0, "c=1", 0, 12 * SECOND)], made_from).ask, UID))
    assert [note for note in found["run"]["notes"] if "Class rare sent nothing" in note]
    assert not [note for note in found["run"]["notes"] if "Class chat" in note]
