"""OpenAI chat completions, as vLLM, SGLang, llama.cpp, TGI, LiteLLM, … stream it.

Source: https://platform.openai.com/docs/api-reference/chat/streaming and raw recordings of servers.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from loadgen.wire.api import Delta, Kind
from loadgen.wire.framing import WireEvent
from loadgen.wire.openai_chunk import decode_chunk, request_body, told_tokens
from loadgen.wire.sse import SseFraming

if TYPE_CHECKING:
    from loadgen.schedule import PlannedRequest


@dataclass(frozen=True, slots=True)
class OpenAiChat:
    """POST /v1/chat/completions with `stream`."""

    name: str = "openai_chat"
    path: str = "/v1/chat/completions"
    framing: type[SseFraming] = SseFraming

    def body(self, planned: "PlannedRequest", model: str, extra: dict[str, Any]) -> bytes:
        """One user message; asks for usage at the end."""
        message = {"role": "user", "content": planned.prompt}
        return request_body(planned, model, {"messages": [message]}, extra)

    def decode(self, event: WireEvent) -> list[Delta]:
        """The event's deltas, one per choice."""
        return decode_chunk(event, _read_choice)


def _read_choice(choice: dict[str, Any]) -> tuple[Kind, int, int]:
    """What the reader sees first names the kind: content, then tool calls, refusal, reasoning."""
    delta = choice.get("delta")
    if not isinstance(delta, dict):
        return "empty", 0, told_tokens(choice)
    content = delta.get("content")
    if content and isinstance(content, str):
        return "content", len(content), told_tokens(choice)
    if text_len := _tool_len(delta):
        return "tool", text_len, told_tokens(choice)
    if text_len := _text_len(delta.get("refusal")):
        return "refusal", text_len, told_tokens(choice)
    # Two names of one field (vLLM; llama.cpp and DeepSeek); servers that send both mean it once.
    if text_len := _text_len(delta.get("reasoning")) or _text_len(delta.get("reasoning_content")):
        return "reasoning", text_len, told_tokens(choice)
    return "role" if delta.get("role") else "empty", 0, told_tokens(choice)


def _text_len(value: Any) -> int:
    return len(value) if isinstance(value, str) else 0


def _tool_len(delta: dict[str, Any]) -> int:
    """Characters of names and arguments in this delta's tool calls; an opened, void call is 0."""
    calls = delta.get("tool_calls")
    functions = [delta.get("function_call")]
    if isinstance(calls, list):
        functions += [call.get("function") for call in calls if isinstance(call, dict)]
    return sum(
        _text_len(f.get("name")) + _text_len(f.get("arguments"))
        for f in functions
        if isinstance(f, dict)
    )
