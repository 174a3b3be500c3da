"""Anthropic's /v1/messages: named events, one content block for the thoughts, one for the text.

`input_tokens` leaves out what the prefix cache had; the usage of message_delta is cumulative.
Source: Anthropic's API reference (streaming messages, errors); llama.cpp and vLLM as recorded.
"""

from dataclasses import replace
from typing import Any, Literal

import orjson

from simulator.answer import (
    FAILED,
    MARK,
    Finish,
    Kind,
    StreamEvents,
    Usage,
    around_mark,
    sse,
)
from simulator.api import Api, Job, fields
from simulator.ask import ApiError, Ask, Posted, bad_request
from simulator.body import (
    at_least_one,
    content_words,
    field,
    limit,
    message_words,
    plain_ask,
    required,
)

_SIGNATURE = "c2ltdWxhdGVk"  # of thoughts; a client hands it back unread
_STOP_REASONS: dict[Literal["stop", "length"], str] = {"stop": "end_turn", "length": "max_tokens"}
_ERROR_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    529: "overloaded_error",
}
_EMPTY: dict[Kind, dict[str, Any]] = {
    "content": {"type": "text", "text": ""},
    "reasoning": {"type": "thinking", "thinking": "", "signature": ""},
}
_DELTAS: dict[Kind, dict[str, Any]] = {
    "content": {"type": "text_delta", "text": MARK},
    "reasoning": {"type": "thinking_delta", "thinking": MARK},
}


def parse(posted: Posted) -> Ask:
    """The request as values; max_tokens must be there."""
    body = posted.body
    messages = required(body, "messages", list)
    required(body, "max_tokens", int)
    if not messages:
        raise bad_request("messages: at least one message is required", "messages")
    words = content_words(body.get("system")) + message_words(messages)
    thinking = field(body, "thinking", dict) or {}
    ask = plain_ask(posted, at_least_one(words), limit(body, "max_tokens"))
    return replace(ask, thinks=thinking.get("type") != "disabled")


def refuse(error: ApiError) -> tuple[int, bytes]:
    """Status and body of an error."""
    kind = _ERROR_TYPES.get(error.status, "api_error")
    return error.status, orjson.dumps(_error(kind, error.message))


class MessageEvents(StreamEvents):
    """message_start, blocks of deltas, message_delta, message_stop."""

    garbage = b'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"del\n\n'

    def __init__(self, job: Job) -> None:
        self._job = job
        self._index = -1  # of the open block
        has_thoughts = job.length.thinking_tokens > 0
        places: dict[Kind, int] = {"reasoning": 0, "content": int(has_thoughts)}
        self.fixed = {
            kind: around_mark(_event("content_block_delta", index=places[kind], delta=delta))
            for kind, delta in _DELTAS.items()
        }

    def begin(self, usage: Usage) -> bytes:
        """The message without its content; one output token is counted already."""
        message = _message(self._job, [], None)
        counts = _input_usage(usage) | {"output_tokens": 1}
        return _event("message_start", message={**message, "usage": counts})

    def turn(self, kind: Kind) -> bytes:
        """The end of the block before, the start of the next, and once a ping."""
        is_first = self._index < 0
        before = b"" if is_first else self._close("reasoning")
        self._index += 1
        start = _event("content_block_start", index=self._index, content_block=_EMPTY[kind])
        return before + start + (_event("ping") if is_first else b"")

    def end(self, finish: Finish) -> list[bytes]:
        """The end of the block, why the message ended with the usage, and its stop."""
        last: Kind = "content" if self._index == 1 or not self._has_thoughts else "reasoning"
        delta = {
            "stop_reason": _STOP_REASONS[self._job.length.finish_reason],
            "stop_sequence": None,
        }
        return [
            self._close(last),
            _event("message_delta", delta=delta, usage=_usage(finish.usage)),
            _event("message_stop"),
        ]

    def failed(self) -> list[bytes]:
        """An error event; nothing comes after it."""
        return [sse(_error("api_error", FAILED), "error")]

    @property
    def _has_thoughts(self) -> bool:
        return self._job.length.thinking_tokens > 0

    def _close(self, kind: Kind) -> bytes:
        stop = _event("content_block_stop", index=self._index)
        if kind == "content":
            return stop
        signature = {"type": "signature_delta", "signature": _SIGNATURE}
        return _event("content_block_delta", index=self._index, delta=signature) + stop


def whole_answer(job: Job, finish: Finish) -> bytes:
    """The message of a request that is not streamed."""
    content: list[dict[str, Any]] = []
    if job.length.thinking_tokens:
        thoughts = job.text("reasoning")
        content.append({"type": "thinking", "thinking": thoughts, "signature": _SIGNATURE})
    if job.length.output_tokens > job.length.thinking_tokens:
        content.append({"type": "text", "text": job.text("content")})
    message = _message(job, content, _STOP_REASONS[job.length.finish_reason])
    return orjson.dumps({**message, "usage": _usage(finish.usage)})


def _message(job: Job, content: list[dict[str, Any]], stop_reason: str | None) -> dict[str, Any]:
    return {
        "id": job.head.answer_id,
        "type": "message",
        "role": "assistant",
        "content": content,
        "model": job.head.model,
        "stop_reason": stop_reason,
        "stop_sequence": None,
    }


def _input_usage(usage: Usage) -> dict[str, int]:
    return {
        "input_tokens": usage.prompt_tokens - usage.cached_tokens,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": usage.cached_tokens,
    }


def _usage(usage: Usage) -> dict[str, int]:
    return _input_usage(usage) | {"output_tokens": usage.completion_tokens}


def _error(kind: str, message: str) -> dict[str, Any]:
    return {"type": "error", "error": {"type": kind, "message": message}}


def _event(name: str, **more: Any) -> bytes:
    return sse({"type": name, **more}, name)


MESSAGES = Api(
    name="messages",
    paths=("/v1/messages",),
    id_prefix="msg_",
    fields=fields(
        "model messages max_tokens system stream metadata stop_sequences temperature top_k top_p "
        "thinking tools tool_choice service_tier container mcp_servers context_management"
    ),
    parse=parse,
    refuse=refuse,
    whole=whole_answer,
    events=MessageEvents,
    key_headers=("x-api-key", "Authorization"),
)
