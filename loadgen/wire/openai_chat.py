"""OpenAI chat completions, as vLLM, SGLang, llama.cpp, TGI, LiteLLM, … stream it.

Source: https://platform.openai.com/docs/api-reference/chat/streaming and raw recordings of servers.
"""

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from loadgen.wire.api import Delta, Kind
from loadgen.wire.event_json import fields, objects, text
from loadgen.wire.framing import WireEvent
from loadgen.wire.messages import messages_of
from loadgen.wire.openai_chunk import (
    DONE_LINE,
    decode_chunk,
    decode_whole,
    request_body,
    told_tokens,
)
from loadgen.wire.request_json import bearer
from loadgen.wire.sse import SseFraming

if TYPE_CHECKING:
    from loadgen.schedule import PlannedRequest


@dataclass(frozen=True, slots=True)
class OpenAiChat:
    """POST /v1/chat/completions with `stream`."""

    name: str = "openai_chat"
    path: str = "/v1/chat/completions"
    whole_path: str = "/v1/chat/completions"
    framing: type[SseFraming] = SseFraming
    is_streaming: bool = True
    knows_ignore_eos: bool = True
    done_line: re.Pattern[bytes] | None = DONE_LINE

    def headers(self, key: str) -> dict[str, str]:
        """The key as a bearer token."""
        return bearer(key)

    def body(self, planned: "PlannedRequest", model: str, extra: dict[str, Any]) -> bytes:
        """The messages as they are; asks for usage at the end."""
        return request_body(planned, model, {"messages": messages_of(planned)}, extra)

    def decode(self, event: WireEvent) -> list[Delta]:
        """The event's deltas, one per choice."""
        return decode_chunk(event, _read_choice)

    def decode_whole(self, document: dict[str, Any]) -> list[Delta]:
        """The same of an answer in one piece."""
        return decode_whole(document, _read_choice)


def _read_choice(choice: dict[str, Any]) -> tuple[Kind, str, int]:
    """What the reader sees first names the kind: content, then tool calls, refusal, reasoning.

    The text is all of it: where a server sends the end of the reasoning and the first word in one
    delta, the tokens are those of both.
    """
    delta = choice.get("delta")
    if not isinstance(delta, dict):
        return "empty", "", told_tokens(choice)
    content = delta.get("content")
    # Two names of one field (vLLM; llama.cpp, DeepSeek): servers that send both mean it once.
    reasoning = delta.get("reasoning") or delta.get("reasoning_content")
    if not isinstance(reasoning, str):
        reasoning = ""
    if content and not isinstance(content, str):
        content, thought = _text_of_parts(content)
        reasoning = reasoning or thought
    if content:
        return "content", reasoning + content, told_tokens(choice)
    if called := _tool_text(delta):
        return "tool", reasoning + called, told_tokens(choice)
    if refusal := text(delta.get("refusal")):
        return "refusal", reasoning + refusal, told_tokens(choice)
    if reasoning:
        return "reasoning", reasoning, told_tokens(choice)
    return "role" if delta.get("role") else "empty", "", told_tokens(choice)


def _text_of_parts(content: Any) -> tuple[str, str]:
    """(content, reasoning) of Mistral's typed parts: text, and thinking that is parts again."""
    said = thought = ""
    for part in objects(content):
        said += text(part.get("text"))
        thinking = part.get("thinking")
        thought += text(thinking) or "".join(text(p.get("text")) for p in objects(thinking))
    return said, thought


def _tool_text(delta: dict[str, Any]) -> str:
    """Names and arguments in this delta's tool calls; an opened, void call has none."""
    calls = objects(delta.get("tool_calls"))
    functions = [fields(delta.get("function_call")), *(fields(c.get("function")) for c in calls)]
    customs = [fields(call.get("custom")) for call in calls]  # free text in place of JSON
    return "".join(
        text(f.get("name")) + text(f.get("arguments")) + text(f.get("input"))
        for f in (*functions, *customs)
    )
