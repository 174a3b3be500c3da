"""What holds for each API alike: odd events, errors of other shapes, nonsense."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from wire_events import decoded, one, whole

from loadgen.wire.api import Delta
from loadgen.wire.framing import ProtocolError, WireEvent
from loadgen.wire.registry import APIS
from storage.records import KINDS

STREAMING = [name for name, api in APIS.items() if api.is_streaming]


@pytest.mark.parametrize("api", STREAMING)
def test_done_null_and_void_data_carry_no_token(api: str):
    assert [one(api, data).kind for data in (b"[DONE]", b"null", b"")] == ["done", "empty", "ping"]


@pytest.mark.parametrize("api", STREAMING)
def test_an_object_of_a_kind_that_we_do_not_know_is_empty_and_no_error(api: str):
    assert one(api, {}).kind == "empty"
    assert one(api, {"type": "of_tomorrow", "delta": "x", "usage": None}).kind == "empty"


@pytest.mark.parametrize("api", STREAMING)
@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        ({"error": "overloaded"}, "overloaded"),
        ({"error": {"message": "boom", "code": 500}}, "boom"),
        ({"error": {"error": {"message": "inner"}}}, "inner"),
    ],
)
def test_an_error_in_a_200_is_told_in_the_servers_words(api: str, value: Any, sentence: str):
    delta = one(api, value)
    assert (delta.kind, delta.error) == ("error", sentence)


@pytest.mark.parametrize("api", STREAMING)
def test_an_event_named_error_may_hold_json_of_any_shape_or_text(api: str):
    assert one(api, {"message": "x"}, "error").error == "x"
    assert one(api, b"it broke", "error").error == "it broke"
    assert one(api, b"{}", "error").error == "an error without a text"


@pytest.mark.parametrize("api", list(APIS))
def test_an_error_code_in_the_body_is_kept(api: str):
    assert one(api, {"error": {"message": "slow down", "code": 429}}).error_code == 429


@pytest.mark.parametrize("api", list(APIS))
@pytest.mark.parametrize("data", [b"{", b"12", b"[]", b'"text"', b"\xff\xfe", b"[" * 100_000])
def test_what_is_no_json_object_is_a_protocol_error(api: str, data: bytes):
    with pytest.raises(ProtocolError, match="An event is no JSON"):
        decoded(api, data)


@pytest.mark.parametrize("api", list(APIS))
def test_a_document_of_another_kind_is_a_protocol_error(api: str):
    with pytest.raises(ProtocolError, match="The answer"):
        whole(api, {"status": "ok"})


@pytest.mark.parametrize("api", list(APIS))
def test_a_whole_answer_that_is_an_error_is_one(api: str):
    (delta,) = whole(api, {"error": {"message": "no", "code": 404}})
    assert (delta.kind, delta.error, delta.error_code) == ("error", "no", 404)


KEYS = [
    *("choices", "delta", "content", "message", "text", "usage", "type", "error", "response"),
    *("output", "tokens", "token", "details", "timings", "metrics", "done", "done_reason", "stop"),
    *("stop_type", "logprobs", "tool_calls", "function", "index", "finish_reason", "status"),
    *("incomplete_details", "item", "content_block", "generated_text", "data", "embedding"),
    *("reasoning", "thinking", "arguments", "name", "input"),
]
WORDS = [
    *("content_block_delta", "text_delta", "message_start", "message_delta", "limit", "tool_use"),
    *("response.completed", "response.output_text.delta", "response.failed", "function_call"),
]
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(WORDS)
VALUES = st.recursive(
    SCALARS | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner),
    max_leaves=12,
)
OBJECTS = st.dictionaries(st.sampled_from(KEYS), VALUES, max_size=6)


@pytest.mark.parametrize("api", list(APIS))
@settings(max_examples=40, deadline=None)
@given(value=OBJECTS)
def test_no_object_breaks_a_decoder(api: str, value: dict[str, Any]):
    event = WireEvent("message", json.dumps(value).encode())
    for decode in (lambda: APIS[api].decode(event), lambda: APIS[api].decode_whole(value)):
        try:
            deltas = decode()
        except ProtocolError:
            continue
        assert all(is_sound(delta) for delta in deltas)


def is_sound(delta: Delta) -> bool:
    """Tokens have text, and nothing else has; counts are never negative."""
    counts = [*(delta.usage or ()), *(delta.timings or ()), delta.n_tokens]
    return bool(delta.text) == (delta.kind in KINDS) and all(n is None or n >= 0 for n in counts)


@pytest.mark.parametrize("api", STREAMING)
def test_a_tower_of_errors_is_an_error(api: str):
    tower = b'{"error":' * 1000 + b'"deep"' + b"}" * 1000
    assert one(api, tower).kind == "error"


@pytest.mark.parametrize("api", STREAMING)
def test_decoding_an_event_twice_gives_the_same(api: str):
    event = {"choices": [{"delta": {"content": "A"}}], "content": "A", "response": "A"}
    assert decoded(api, event) == decoded(api, event)
