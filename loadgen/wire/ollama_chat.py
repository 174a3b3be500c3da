"""Ollama's /api/chat: newline-delimited JSON, a message's content, thinking or tool calls a line.

Source: https://docs.ollama.com/api/chat
"""

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from loadgen.wire.api import Delta, Kind
from loadgen.wire.error_text import json_text
from loadgen.wire.event_json import fields, objects, text
from loadgen.wire.framing import WireEvent
from loadgen.wire.messages import ollama_messages
from loadgen.wire.ndjson import NdjsonFraming
from loadgen.wire.ollama_line import DONE_LINE, decode_line, decode_whole, request_line
from loadgen.wire.request_json import bearer

if TYPE_CHECKING:
    from loadgen.schedule import PlannedRequest


@dataclass(frozen=True, slots=True)
class OllamaChat:
    """POST /api/chat."""

    name: str = "ollama_chat"
    path: str = "/api/chat"
    whole_path: str = "/api/chat"
    framing: type[NdjsonFraming] = NdjsonFraming
    is_streaming: bool = True
    knows_ignore_eos: bool = False
    done_line: re.Pattern[bytes] | None = DONE_LINE

    def headers(self, key: str) -> dict[str, str]:
        """The key as a bearer token, which a proxy before Ollama asks for."""
        return bearer(key)

    def body(self, planned: "PlannedRequest", model: str, extra: dict[str, Any]) -> bytes:
        """The messages, each with its images beside its text."""
        return request_line(planned, model, {"messages": ollama_messages(planned)}, extra)

    def decode(self, event: WireEvent) -> list[Delta]:
        """The line's delta."""
        return decode_line(event, _read_line)

    def decode_whole(self, document: dict[str, Any]) -> list[Delta]:
        """An answer in one piece: a delta for each kind of text."""
        return decode_whole(document, _read_line)


def _read_line(said: dict[str, Any]) -> dict[Kind, str]:
    message = fields(said.get("message"))
    calls = (fields(call.get("function")) for call in objects(message.get("tool_calls")))
    return {
        "content": text(message.get("content")),
        "tool": "".join(_called(call) for call in calls),
        "reasoning": text(message.get("thinking")),
    }


def _called(function: dict[str, Any]) -> str:
    """Name and arguments; Ollama sends a call whole, its arguments as an object."""
    arguments = function.get("arguments")
    said = json_text(arguments) if isinstance(arguments, dict) else text(arguments)
    return text(function.get("name")) + said
