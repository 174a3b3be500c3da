"""Anthropic Messages, as Anthropic, llama.cpp, vLLM and LiteLLM stream it.

Source: https://platform.claude.com/docs/en/build-with-claude/streaming (usage of message_delta is
cumulative; event types to come must be ignored), …/errors, and raw recordings of three servers.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from loadgen.wire.api import Delta, Kind, UsageCount
from loadgen.wire.error_text import json_text
from loadgen.wire.event_json import (
    DONE,
    EMPTY,
    PING,
    bare_event,
    count,
    error_delta,
    fields,
    load_object,
    objects,
    text,
    text_or_none,
)
from loadgen.wire.finish_reasons import finish_reason
from loadgen.wire.framing import ProtocolError, WireEvent
from loadgen.wire.messages import anthropic_messages
from loadgen.wire.request_json import request_json
from loadgen.wire.sse import SseFraming

if TYPE_CHECKING:
    from loadgen.schedule import PlannedRequest

VERSION = "2023-06-01"
DONE_LINE = re.compile(rb'[\r\n]data: ?\{"type": ?"message_stop" *\}[\r\n]')

_STATUS = {  # of an error's type, so that an error in a 200 is told apart like any other
    "invalid_request_error": 400,
    "authentication_error": 401,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "api_error": 500,
    "overloaded_error": 529,
}
_DELTA_FIELDS: dict[str, tuple[Kind, str]] = {
    "text_delta": ("content", "text"),
    "thinking_delta": ("reasoning", "thinking"),
    "input_json_delta": ("tool", "partial_json"),
}
_BLOCK_FIELDS: dict[str, tuple[Kind, str]] = {
    "text": ("content", "text"),
    "thinking": ("reasoning", "thinking"),
    "tool_use": ("tool", "name"),
    "server_tool_use": ("tool", "name"),
    "mcp_tool_use": ("tool", "name"),
}


@dataclass(frozen=True, slots=True)
class AnthropicMessages:
    """POST /v1/messages with `stream`.  Blocks follow one another: they are one choice."""

    name: str = "anthropic_messages"
    path: str = "/v1/messages"
    whole_path: str = "/v1/messages"
    framing: type[SseFraming] = SseFraming
    is_streaming: bool = True
    knows_ignore_eos: bool = False
    done_line: re.Pattern[bytes] | None = DONE_LINE

    def headers(self, key: str) -> dict[str, str]:
        """The version of the API, and the key in Anthropic's own header."""
        own = {"anthropic-version": VERSION}
        return {**own, "x-api-key": key} if key else own

    def body(self, planned: "PlannedRequest", model: str, extra: dict[str, Any]) -> bytes:
        """The messages; usage comes unasked."""
        ours = {"model": model, **anthropic_messages(planned), "max_tokens": planned.max_tokens}
        return request_json(ours | ({"stream": True} if planned.is_streamed else {}), extra)

    def decode(self, event: WireEvent) -> list[Delta]:
        """The event's one delta."""
        bare = bare_event(event, _error)
        if bare is not None:
            return bare
        document = load_object(event.data)
        if read := _READ.get(text(document.get("type"))):
            return [read(document)]
        return [_error(document)] if document.get("error") else [EMPTY]

    def decode_whole(self, document: dict[str, Any]) -> list[Delta]:
        """A message: each block's text, then why it stopped and the usage."""
        if document.get("type") == "error" or document.get("error"):
            return [_error(document)]
        if not isinstance(document.get("content"), list):
            raise ProtocolError("The answer is no message: it holds no content.")
        deltas: list[Delta] = []
        for block in objects(document["content"]):
            delta = _text_delta(block, _BLOCK_FIELDS)
            if delta.kind == "tool" and block.get("input"):
                delta = delta._replace(text=delta.text + json_text(block["input"]))
            if delta.text:
                deltas.append(delta)
        end = _end(document, document.get("usage"))
        return [*deltas, end._replace(response_id=text_or_none(document.get("id")))]


def _text_delta(said: dict[str, Any], names: dict[str, tuple[Kind, str]]) -> Delta:
    """The text of a delta or of a block; signatures, citations and void ones have none."""
    kind, field = names.get(text(said.get("type")), ("empty", ""))
    said_text = text(said.get(field))
    return Delta(kind, said_text) if said_text else EMPTY


def _start(event: dict[str, Any]) -> Delta:
    """The role.  Of the usage only the prompt: output_tokens 1 is there before any text."""
    message = fields(event.get("message"))
    usage = _usage(message.get("usage"))
    usage = usage._replace(output_tokens=None) if usage else None
    return Delta("role", usage=usage, response_id=text_or_none(message.get("id")))


def _end(message: dict[str, Any], usage: Any) -> Delta:
    reason, told = finish_reason(message.get("stop_reason")), _usage(usage)
    kind: Kind = "finish" if reason else "usage" if told else "empty"
    return Delta(kind, usage=told, finish_reason=reason)


def _usage(usage: Any) -> UsageCount | None:
    """input_tokens leaves out what a cache had or was given; our prompt_tokens are all of them."""
    if not usage or not isinstance(usage, dict):
        return None
    prompt, cached = count(usage.get("input_tokens")), count(usage.get("cache_read_input_tokens"))
    created = count(usage.get("cache_creation_input_tokens"))
    if prompt is not None:
        prompt += (cached or 0) + (created or 0)
    return UsageCount(prompt, count(usage.get("output_tokens")), cached)


def _error(said: Any) -> Delta:
    kind = fields(fields(said).get("error")).get("type")
    return error_delta(said, _STATUS.get(kind) if isinstance(kind, str) else None)


_READ: dict[str, Callable[[dict[str, Any]], Delta]] = {
    "content_block_delta": lambda e: _text_delta(fields(e.get("delta")), _DELTA_FIELDS),
    "content_block_start": lambda e: _text_delta(fields(e.get("content_block")), _BLOCK_FIELDS),
    "message_start": _start,
    "message_delta": lambda e: _end(fields(e.get("delta")), e.get("usage")),
    "message_stop": lambda _: DONE,
    "ping": lambda _: PING,
}
"""Event type -> what it says; all others are empty."""
