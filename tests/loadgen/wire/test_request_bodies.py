"""What is sent: the JSON of one planned request, and its headers, in each API's own words."""

import json
from typing import Any

import pytest

from loadgen.schedule import PlannedRequest
from loadgen.wire.registry import APIS

PLANNED = PlannedRequest(
    request_id=1,
    stage=0,
    due_ns=None,
    prompt="Say é.",
    prompt_tokens=3,
    max_tokens=16,
    ignore_eos=False,
)
WHOLE = PLANNED._replace(is_streamed=False)
MESSAGES = [{"role": "user", "content": "Say é."}]


def body(api: str, planned: PlannedRequest = PLANNED, **extra: object) -> dict[str, Any]:
    return json.loads(APIS[api].body(planned, "m", extra))


BODIES: dict[str, dict[str, Any]] = {
    "openai_chat": {
        "model": "m",
        "messages": MESSAGES,
        "max_tokens": 16,
        "stream": True,
        "stream_options": {"include_usage": True},
    },
    "openai_completions": {
        "model": "m",
        "prompt": "Say é.",
        "max_tokens": 16,
        "stream": True,
        "stream_options": {"include_usage": True},
    },
    "openai_responses": {
        "model": "m",
        "input": "Say é.",
        "max_output_tokens": 16,
        "stream": True,
    },
    "anthropic_messages": {
        "model": "m",
        "messages": MESSAGES,
        "max_tokens": 16,
        "stream": True,
    },
    "ollama_chat": {
        "model": "m",
        "messages": MESSAGES,
        "stream": True,
        "options": {"num_predict": 16},
    },
    "ollama_generate": {
        "model": "m",
        "prompt": "Say é.",
        "stream": True,
        "options": {"num_predict": 16},
    },
    "tgi": {"inputs": "Say é.", "parameters": {"max_new_tokens": 16, "details": True}},
    "llamacpp": {"model": "m", "prompt": "Say é.", "n_predict": 16, "stream": True},
    "openai_embeddings": {"model": "m", "input": "Say é."},
}


@pytest.mark.parametrize("api", list(APIS))
def test_a_streamed_request_says_so_in_the_words_of_its_api(api: str):
    assert body(api) == BODIES[api]


@pytest.mark.parametrize("api", list(APIS))
def test_a_request_for_a_whole_answer_does_not_ask_for_a_stream(api: str):
    sent = body(api, WHOLE)
    assert not sent.pop("stream", False)
    expected = {k: v for k, v in BODIES[api].items() if k not in ("stream", "stream_options")}
    assert sent == expected


def test_ollama_streams_unasked_so_a_whole_answer_is_asked_for():
    assert body("ollama_chat", WHOLE)["stream"] is False
    assert body("ollama_generate", WHOLE)["stream"] is False


def test_tgi_has_another_path_for_whole_answers():
    assert (APIS["tgi"].path, APIS["tgi"].whole_path) == ("/generate_stream", "/generate")


@pytest.mark.parametrize("api", list(APIS))
def test_ignore_eos_is_sent_only_where_the_plan_asks_for_it_and_servers_know_it(api: str):
    planned = PLANNED._replace(ignore_eos=True)
    knows = APIS[api].knows_ignore_eos and APIS[api].is_streaming
    assert ("ignore_eos" in body(api, planned)) == knows
    assert "ignore_eos" not in body(api)


def test_extra_fields_override_ours_and_null_removes_one():
    sent = body(
        "openai_chat", temperature=0, max_tokens=None, max_completion_tokens=9, stream_options=None
    )
    assert sent["temperature"] == 0
    assert sent["max_completion_tokens"] == 9
    assert "max_tokens" not in sent
    assert "stream_options" not in sent


def test_extra_fields_within_an_object_leave_its_other_fields():
    sent = body("ollama_chat", options={"temperature": 0})
    assert sent["options"] == {"num_predict": 16, "temperature": 0}
    sent = body("tgi", parameters={"seed": 7, "details": None})
    assert sent["parameters"] == {"max_new_tokens": 16, "seed": 7}
    sent = body("openai_chat", stream_options={"continuous_usage_stats": True})
    assert sent["stream_options"] == {"include_usage": True, "continuous_usage_stats": True}


def test_an_extra_field_of_another_type_takes_the_place_of_an_object():
    assert body("tgi", parameters=5)["parameters"] == 5


def test_a_batch_of_embeddings_holds_as_many_prompts_all_different_and_of_equal_length():
    planned = PLANNED._replace(prompt="one two three four", inputs=3)
    assert body("openai_embeddings", planned)["input"] == [
        "one two three four",
        "two three four one",
        "three four one two",
    ]
    assert body("openai_embeddings", planned._replace(prompt="", inputs=2))["input"] == ["", ""]


@pytest.mark.parametrize("api", [name for name in APIS if name != "anthropic_messages"])
def test_a_key_travels_as_a_bearer_token(api: str):
    assert APIS[api].headers("k") == {"Authorization": "Bearer k"}
    assert APIS[api].headers("") == {}


def test_anthropic_has_its_own_header_for_the_key_and_always_wants_a_version():
    api = APIS["anthropic_messages"]
    assert api.headers("k") == {"x-api-key": "k", "anthropic-version": "2023-06-01"}
    assert api.headers("") == {"anthropic-version": "2023-06-01"}


def test_every_api_is_registered_under_its_own_name_with_its_paths():
    for name, api in APIS.items():
        assert api.name == name
        assert api.path.startswith("/")
        assert api.whole_path.startswith("/")
    assert [name for name, api in APIS.items() if not api.is_streaming] == ["openai_embeddings"]
