import pytest

from loadgen.run_folder import TERMINAL
from ui.demo import demo_plan
from ui.run_text import (
    STATES,
    endpoint_text,
    load_text,
    plan_labels,
    queue_text,
    runs_before,
)


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("sim://small-gpu", "simulator · small-gpu"),
        ("sim://small-gpu?freeze_s=2", "simulator · small-gpu · freeze_s=2"),
        ("https://api.example.com/v1", "api.example.com"),
        ("http://127.0.0.1:8000", "127.0.0.1:8000"),
        ("", ""),
    ],
)
def test_an_endpoint_is_named_by_its_host(url, shown):
    assert endpoint_text(url) == shown


def test_a_load_is_told_in_a_few_words():
    closed = [{"concurrency": n} for n in (1, 2, 32)]
    assert load_text(closed) == "1–32 streams, 3 levels"
    assert load_text([{"concurrency": 1}]) == "1 stream"
    assert load_text([{"rate_per_s": 2.5}]) == "2.5 requests/s"
    assert load_text([]) == ""


@pytest.mark.parametrize(
    ("api", "stream", "said"),
    [
        ("openai_chat", True, ["256 tokens in, 32 out"]),
        ("openai_chat", False, ["256 tokens in, 32 out, in one piece"]),
        ("anthropic_messages", True, ["Anthropic Messages", "256 tokens in, 32 out"]),
        ("openai_embeddings", True, ["OpenAI embeddings", "256 tokens in"]),
    ],
)
def test_a_plan_names_its_api_and_lengths_unless_they_go_without_saying(api, stream, said):
    plan = demo_plan().model_dump(mode="json")
    plan["target"]["api"], plan["workload"]["stream"] = api, stream
    known = ("simulator · small-gpu", "small-gpu", "1–32 streams, 6 levels")
    assert [words for _, words in plan_labels(plan) if words not in known] == said


def test_every_state_has_its_word():
    assert set(STATES) >= TERMINAL | {"queued", "starting", "running", "stopping", "decoding"}


def test_a_run_that_has_ended_since_waits_for_nobody():
    assert runs_before("b", ["a", "b"]) == 1
    assert runs_before("b", ["a"]) == 0


def test_a_waiting_run_tells_how_many_are_before_it():
    assert queue_text(0, "Waiting for the load generator to start.").startswith("Waiting for the")
    assert queue_text(1, "") == "1 run before this one; it starts when that has ended."
    assert queue_text(3, "") == "3 runs before this one; it starts when they have ended."
