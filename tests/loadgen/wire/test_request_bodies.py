"""What is sent: the JSON of one planned request."""

import json

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


def body(api: str, **extra: object) -> dict[str, object]:
    return json.loads(APIS[api].body(PLANNED, "m", extra))


def test_a_chat_request_streams_and_asks_for_usage():
    assert body("openai_chat") == {
        "model": "m",
        "messages": [{"role": "user", "content": "Say é."}],
        "max_tokens": 16,
        "stream": True,
        "stream_options": {"include_usage": True},
    }


def test_a_completion_request_has_a_bare_prompt():
    sent = body("openai_completions")
    assert sent["prompt"] == "Say é."
    assert "messages" not in sent


def test_ignore_eos_is_sent_only_where_the_plan_asks_for_it():
    planned = PlannedRequest(1, 0, None, "p", 1, 16, ignore_eos=True)
    for api in APIS.values():
        assert json.loads(api.body(planned, "m", {}))["ignore_eos"] is True
    assert "ignore_eos" not in body("openai_chat")


def test_extra_fields_override_ours_and_null_removes_one():
    sent = body(
        "openai_chat", temperature=0, max_tokens=None, max_completion_tokens=9, stream_options=None
    )
    assert sent["temperature"] == 0
    assert sent["max_completion_tokens"] == 9
    assert "max_tokens" not in sent
    assert "stream_options" not in sent


def test_every_api_is_registered_under_its_own_name_with_a_path():
    for name, api in APIS.items():
        assert api.name == name
        assert api.path.startswith("/v1/")
