"""OpenAI's Responses API as the simulator speaks it."""

import json
from typing import Any

import pytest
from simulated import answered, named_events

PATH = "/v1/responses"


def ask(**fields: Any) -> dict[str, Any]:
    body = {"input": "a b c", "max_output_tokens": 2, "ignore_eos": True, "stream": True}
    return {**body, **fields}


def test_a_stream_is_created_item_part_deltas_and_their_ends():
    events = named_events(answered(PATH, ask()))
    assert [name.removeprefix("response.") for name, _ in events] == [
        "created", "in_progress", "output_item.added", "content_part.added",
        "output_text.delta", "output_text.delta",
        "output_text.done", "content_part.done", "output_item.done", "completed",
    ]  # fmt: skip
    assert all(event["type"] == name for name, event in events)
    assert [event["sequence_number"] for _, event in events] == list(range(10))
    delta = events[4][1]
    assert delta == {
        "item_id": "msg_r1", "output_index": 0, "content_index": 0, "delta": delta["delta"],
        "logprobs": [], "sequence_number": 4, "type": "response.output_text.delta",
    }  # fmt: skip
    assert len(delta["delta"].split()) == 1


def test_the_last_event_holds_the_whole_response_with_its_usage():
    events = named_events(answered(PATH, ask()))
    response = events[-1][1]["response"]
    text = events[4][1]["delta"] + events[5][1]["delta"]
    assert response["output"][0]["content"][0]["text"] == text
    assert (response["status"], response["id"]) == ("incomplete", "resp_r1")
    assert response["incomplete_details"] == {"reason": "max_output_tokens"}
    assert response["usage"] == {
        "input_tokens": 3,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": 2,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": 5,
    }


@pytest.mark.parametrize(
    ("reasoning", "name", "index", "part"),
    [
        ({}, "reasoning_text", "content_index", "reasoning_text"),
        ({"summary": "auto"}, "reasoning_summary_text", "summary_index", "summary_text"),
    ],
)
def test_thoughts_are_an_item_of_their_own(
    reasoning: dict[str, Any], name: str, index: str, part: str
):
    body = ask(max_output_tokens=3, reasoning=reasoning)
    events = named_events(answered(PATH, body, "thinking_share=0.67"))
    thoughts = [event for got, event in events if got == f"response.{name}.delta"]
    assert [(event["output_index"], event[index]) for event in thoughts] == [(0, 0), (0, 0)]
    added = [event["part"]["type"] for got, event in events if got.endswith("part.added")]
    assert added == [part, "output_text"]
    response = events[-1][1]["response"]
    assert [item["type"] for item in response["output"]] == ["reasoning", "message"]
    assert response["usage"]["output_tokens_details"] == {"reasoning_tokens": 2}
    told = response["output"][0]["summary" if reasoning else "content"][0]
    assert told["text"] == "".join(event["delta"] for event in thoughts)


def test_an_answer_that_stops_by_itself_is_completed():
    body = ask(ignore_eos=False, stream=False, max_output_tokens=99)
    answer = json.loads(answered(PATH, body, "natural_tokens=2", "natural_spread=0"))
    assert (answer["status"], answer["incomplete_details"]) == ("completed", None)
    assert (answer["object"], answer["usage"]["output_tokens"]) == ("response", 2)


def test_items_and_instructions_are_prompt():
    items = [{"role": "user", "content": [{"type": "input_text", "text": "one two"}]}]
    body = ask(input=items, instructions="be brief", stream=False)
    assert json.loads(answered(PATH, body))["usage"]["input_tokens"] == 4


def test_a_failed_engine_is_a_failed_response():
    events = named_events(answered(PATH, ask(x_sim_fault="error_after=1")))
    name, event = events[-1]
    assert (name, event["response"]["status"]) == ("response.failed", "failed")
    assert event["response"]["error"]["code"] == "server_error"


def test_the_servers_own_times_are_in_the_last_event_if_asked_for():
    events = named_events(answered(PATH, ask(include_metrics=True)))
    assert set(events[-1][1]["response"]["metrics"]) >= {"time_to_first_token_ms"}
    assert "metrics" not in events[0][1]["response"]
