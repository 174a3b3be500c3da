"""What OpenAI's chat and completions streams share: chunk JSON, usage, errors, request body."""

import json
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import orjson

from loadgen.wire.api import Delta, Kind, UsageCount
from loadgen.wire.error_text import error_of_json, one_line
from loadgen.wire.framing import ProtocolError, WireEvent

if TYPE_CHECKING:
    from loadgen.schedule import PlannedRequest

ReadChoice = Callable[[dict[str, Any]], tuple[Kind, str, int]]
"""A choice of a chunk -> (kind, text, tokens told or 0)."""

DONE_LINE = re.compile(rb"[\r\n]data: ?\[DONE\][\r\n]")

_PING = [Delta("ping")]
_NO_JSON = {b"[DONE]": [Delta("done")], b"null": [Delta("empty")], b"": _PING}


def decode_chunk(event: WireEvent, read_choice: ReadChoice) -> list[Delta]:
    """The deltas of one event; a chunk without choices is usage, an error, or empty."""
    name, data = event
    if len(data) < 8 and data in _NO_JSON:
        return _NO_JSON[data]
    if name != "message" and name in ("error", "ping"):
        return [_error(_loads_or_text(data))] if name == "error" else _PING
    chunk = _loads(data)
    if not isinstance(chunk, dict):
        raise ProtocolError(f"An event is no JSON object: {_shown(data)}")
    if chunk.get("error") or chunk.get("object") == "error":
        return [_error(chunk)]
    usage = _usage(chunk.get("usage"))
    response_id = chunk.get("id")
    response_id = response_id if isinstance(response_id, str) else None
    listed = chunk.get("choices")
    choices = [c for c in listed if isinstance(c, dict)] if isinstance(listed, list) else []
    if not choices:
        return [Delta("usage" if usage else "empty", usage=usage, response_id=response_id)]
    last = len(choices) - 1
    return [
        _delta(choice, read_choice, usage if i == last else None, response_id)
        for i, choice in enumerate(choices)
    ]


def _delta(
    choice: dict[str, Any],
    read_choice: ReadChoice,
    usage: UsageCount | None,
    response_id: str | None,
) -> Delta:
    kind, text, n_tokens = read_choice(choice)
    finish_reason = choice.get("finish_reason")
    if not text:
        if finish_reason:
            kind = "finish"
        elif usage and kind == "empty":
            kind = "usage"
    index = choice.get("index")
    return Delta(
        kind,
        text,
        n_tokens,
        index if isinstance(index, int) else 0,
        usage,
        str(finish_reason) if finish_reason else None,
        response_id,
    )


def told_tokens(choice: dict[str, Any]) -> int:
    """Tokens of a choice's chunk where it lists them (logprobs, token ids); 0 = not told."""
    logprobs = choice.get("logprobs")
    if isinstance(logprobs, dict):
        for key in ("content", "tokens", "refusal"):
            listed = logprobs.get(key)
            if listed and isinstance(listed, list):
                return len(listed)
    ids = choice.get("token_ids")
    return len(ids) if isinstance(ids, list) else 0


def bearer(key: str) -> dict[str, str]:
    """How a key travels to an OpenAI endpoint."""
    return {"Authorization": f"Bearer {key}"} if key else {}


def decode_whole(document: dict[str, Any], read_choice: ReadChoice) -> list[Delta]:
    """A whole answer's deltas: each kind of text of each choice, its finish, then the usage.

    read_choice reads a choice that carries one kind of text, as those of a stream do.
    """
    if document.get("error") or document.get("object") == "error":
        return [_error(document)]
    choices = document.get("choices")
    if not isinstance(choices, list):
        raise ProtocolError("The answer holds no choices.")
    response_id = document.get("id")
    response_id = response_id if isinstance(response_id, str) else None
    deltas: list[Delta] = []
    for choice in choices:
        if not isinstance(choice, dict):
            continue
        for part in _parts(choice):
            delta = _delta(part, read_choice, None, response_id)
            if delta.text or delta.finish_reason:
                deltas.append(delta)
    usage = _usage(document.get("usage"))
    return [*deltas, Delta("usage", usage=usage, response_id=response_id)] if usage else deltas


def _parts(choice: dict[str, Any]) -> list[dict[str, Any]]:
    """A whole choice as the chunks a stream would have made of it: one kind of text each."""
    bare = {k: v for k, v in choice.items() if k in ("index", "finish_reason")}
    message = choice.get("message")
    if not isinstance(message, dict):
        return [choice]
    reasoning = message.get("reasoning") or message.get("reasoning_content")
    texts = {"reasoning": reasoning, **{k: message.get(k) for k in _MESSAGE_TEXTS}}
    index = {"index": choice.get("index")}
    said = [{**index, "delta": {name: text}} for name, text in texts.items() if text]
    return [*said, {**bare, "delta": {}}]


_MESSAGE_TEXTS = ("content", "refusal", "tool_calls", "function_call")


def request_body(
    planned: "PlannedRequest", model: str, prompt: dict[str, Any], extra: dict[str, Any]
) -> bytes:
    """The request's JSON; `extra` overrides our fields, its None removes one."""
    body: dict[str, Any] = {"model": model, **prompt, "max_tokens": planned.max_tokens}
    if planned.is_streamed:
        body |= {"stream": True, "stream_options": {"include_usage": True}}
    if planned.ignore_eos:
        body["ignore_eos"] = True
    body |= extra
    return orjson.dumps({key: value for key, value in body.items() if value is not None})


def _usage(usage: Any) -> UsageCount | None:
    if not usage or not isinstance(usage, dict):
        return None
    prompt, output = usage.get("prompt_tokens_details"), usage.get("completion_tokens_details")
    cached = prompt.get("cached_tokens") if isinstance(prompt, dict) else None
    return UsageCount(
        prompt_tokens=_count(usage.get("prompt_tokens")),
        output_tokens=_count(usage.get("completion_tokens")),
        cached_tokens=_count(cached),
        reasoning_tokens=_count(
            output.get("reasoning_tokens") if isinstance(output, dict) else None
        ),
    )


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and value >= 0 else None


def _error(value: Any) -> Delta:
    sentence, code = error_of_json(value)
    return Delta("error", error=sentence or "an error without a text", error_code=code)


def _loads(data: bytes) -> Any:
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        return _loads_leniently(data)


def _loads_leniently(data: bytes) -> Any:
    """Also half a surrogate pair, NaN and broken UTF-8, which servers send and orjson refuses."""
    try:
        return json.loads(data.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        raise ProtocolError(f"An event is no JSON: {_shown(data)}") from None


def _loads_or_text(data: bytes) -> Any:
    try:
        return _loads(data)
    except ProtocolError:
        return data.decode("utf-8", "replace")


def _shown(data: bytes) -> str:
    return one_line(data[:80].decode("utf-8", "replace"))
