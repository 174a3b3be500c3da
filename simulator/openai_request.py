"""An OpenAI request body as what it asks of the server, or the error a vLLM server would answer.

Prompt tokens are the whitespace-separated words of all message contents (or of the prompt; token
ids count one each).  `logprobs`, `stop`, `tools`, sampling parameters and unknown fields do
nothing.
"""

from dataclasses import dataclass
from typing import Any, Literal

import orjson

from simulator.faults import Fault, parse_fault

Api = Literal["chat", "completions"]
Word = str | int

COMPLETIONS_DEFAULT_TOKENS = 16  # as in OpenAI's API and in vLLM; chat has no default


class ApiError(Exception):
    """A request the server refuses: HTTP status and the fields of its error object."""

    def __init__(self, status: int, message: str, kind: str, param: str | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.kind = kind
        self.param = param

    def body(self) -> bytes:
        """The JSON body, shaped as vLLM's."""
        error = {
            "message": self.message,
            "type": self.kind,
            "param": self.param,
            "code": self.status,
        }
        return orjson.dumps({"error": error})


@dataclass(frozen=True, slots=True)
class Ask:
    """What one request asks for."""

    api: Api
    model: str | None  # None: the server's own
    words: tuple[Word, ...]
    max_tokens: int | None
    ignore_eos: bool
    seed: int | None
    is_streamed: bool
    has_usage: bool
    has_continuous_usage: bool
    fault: Fault


def parse_ask(api: Api, raw: bytes, fault_header: str | None) -> Ask:
    """The request as values; raises ApiError 400 for bodies that vLLM would refuse, too."""
    body = _json_object(raw)
    try:
        fault = parse_fault(fault_header or body.get("x_sim_fault"))
    except ValueError as error:
        raise bad_request(str(error), "x_sim_fault") from None
    options = _field(body, "stream_options", dict) or {}
    if options and fault.refuse_usage:
        raise bad_request("stream_options is not supported by this server.", "stream_options")
    if (_field(body, "n", int) or 1) != 1:
        raise bad_request("This server gives one answer per request; n must be 1.", "n")
    has_usage = bool(options.get("include_usage")) and not fault.ignore_usage
    return Ask(
        api=api,
        model=_field(body, "model", str),
        words=_chat_words(body) if api == "chat" else _prompt_words(body),
        max_tokens=_max_tokens(body, api),
        ignore_eos=bool(_field(body, "ignore_eos", bool)),
        seed=_field(body, "seed", int),
        is_streamed=bool(_field(body, "stream", bool)),
        has_usage=has_usage,
        has_continuous_usage=has_usage and bool(options.get("continuous_usage_stats")),
        fault=fault,
    )


def bad_request(message: str, param: str | None) -> ApiError:
    """A 400 of the kind vLLM gives for values it cannot serve."""
    return ApiError(400, message, "BadRequestError", param)


def _json_object(raw: bytes) -> dict[str, Any]:
    try:
        body = orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        message = f"1 validation error:\n  JSON decode error: {error}"
        raise ApiError(400, message, "Bad Request", "body") from None
    if not isinstance(body, dict):
        raise ApiError(400, "1 validation error:\n  body: object expected", "Bad Request", "body")
    return body


def _field(body: dict[str, Any], name: str, kind: type) -> Any:
    """`body[name]` or None; raises ApiError if it is of another type (true is not a number)."""
    value = body.get(name)
    if value is None:
        return None
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        message = f"1 validation error:\n  body.{name}: {kind.__name__} expected, got {value!r:.80}"
        raise ApiError(400, message, "Bad Request", f"body.{name}")
    return value


def _max_tokens(body: dict[str, Any], api: Api) -> int | None:
    limit = _field(body, "max_completion_tokens", int) if api == "chat" else None
    if limit is None:
        limit = _field(body, "max_tokens", int)
    if limit is None and api == "completions":
        return COMPLETIONS_DEFAULT_TOKENS
    if limit is not None and limit < 1:
        raise bad_request(f"max_tokens must be at least 1, got {limit}.", "max_tokens")
    return limit


def _chat_words(body: dict[str, Any]) -> tuple[Word, ...]:
    messages = _field(body, "messages", list)
    if messages is None:
        message = "1 validation error:\n  body.messages: Field required"
        raise ApiError(400, message, "Bad Request", "body.messages")
    if not messages:
        raise bad_request("Provide at least one message.", None)
    words: list[Word] = []
    for message in messages:
        content = message.get("content") if isinstance(message, dict) else None
        parts = content if isinstance(content, list) else [{"text": content}]
        for part in parts:
            text = part.get("text") if isinstance(part, dict) else None
            if isinstance(text, str):
                words += text.split()
    return _at_least_one(words)


def _prompt_words(body: dict[str, Any]) -> tuple[Word, ...]:
    prompt = body.get("prompt")
    if isinstance(prompt, list) and len(prompt) == 1 and isinstance(prompt[0], str | list):
        prompt = prompt[0]
    if isinstance(prompt, str):
        return _at_least_one(list(prompt.split()))
    if isinstance(prompt, list) and all(type(token) is int for token in prompt):
        return _at_least_one(prompt)
    raise bad_request("prompt must be one text or one list of token ids.", "prompt")


def _at_least_one(words: list[Word]) -> tuple[Word, ...]:
    """A begin-of-text token stands for an empty prompt."""
    return tuple(words) or ("",)
