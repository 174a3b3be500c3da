"""OpenAI chat completions, as vLLM, SGLang, llama.cpp, TGI, LiteLLM, … stream it.

Source: https://platform.openai.com/docs/api-reference/chat/streaming and raw recordings of servers.
"""

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from loadgen.wire.api import Delta, Kind
from loadgen.wire.framing import WireEvent
from loadgen.wire.openai_chunk import (
    DONE_LINE,
    bearer,
    decode_chunk,
    decode_whole,
    request_body,
    told_tokens,
)
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
    done_line: re.Pattern[bytes] | None = DONE_LINE

    def headers(self, key: str) -> dict[str, str]:
        """The key as a bearer token."""
        return bearer(key)

    def body(self, planned: "PlannedRequest", model: str, extra: dict[str, Any]) -> bytes:
        """One user message; asks for usage at the end."""
        message = {"role": "user", "content": planned.prompt}
        return request_body(planned, model, {"messages": [message]}, extra)

    def decode(self, event: WireEvent) -> list[Delta]:
        """The event's deltas, one per choice."""
        return decode_chunk(event, _read_choice)

    def decode_whole(self, document: dict[str, Any]) -> list[Delta]:
        """The same of an answer in one piece."""
        return decode_whole(document, _read_choice)


def _read_choice(choice: dict[str, Any]) -> tuple[Kind, str, int]:
    """What the reader sees first names the kind: content, then tool calls, refusal, reasoning."""
    delta = choice.get("delta")
    if not isinstance(delta, dict):
        return "empty", "", told_tokens(choice)
    content = delta.get("content")
    if content and isinstance(content, str):
        return "content", content, told_tokens(choice)
    if text := _tool_text(delta):
        return "tool", text, told_tokens(choice)
    if text := _text(delta.get("refusal")):
        return "refusal", text, told_tokens(choice)
    # Two names of one field (vLLM; llama.cpp and DeepSeek); servers that send both mean it once.
    if text := _text(delta.get("reasoning")) or _text(delta.get("reasoning_content")):
        return "reasoning", text, told_tokens(choice)
    return "role" if delta.get("role") else "empty", "", told_tokens(choice)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _tool_text(delta: dict[str, Any]) -> str:
    """Names and arguments in this delta's tool calls; an opened, void call has none."""
    calls = delta.get("tool_calls")
    functions = [delta.get("function_call")]
    if isinstance(calls, list):
        functions += [call.get("function") for call in calls if isinstance(call, dict)]
    return "".join(
        _text(f.get("name")) + _text(f.get("arguments")) for f in functions if isinstance(f, dict)
    )
