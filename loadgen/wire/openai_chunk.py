"""What OpenAI's chat and completions answers share: chunk JSON, usage, timings, request body."""

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from loadgen.wire.api import Delta, Kind, UsageCount
from loadgen.wire.event_json import (
    bare_event,
    count,
    error_delta,
    fields,
    load_object,
    objects,
    text_or_none,
)
from loadgen.wire.framing import ProtocolError, WireEvent
from loadgen.wire.request_json import request_json
from loadgen.wire.server_timings import timings_of, usage_of_timings

if TYPE_CHECKING:
    from loadgen.schedule import PlannedRequest

ReadChoice = Callable[[dict[str, Any]], tuple[Kind, str, int]]
"""A choice of a chunk -> (kind, text, tokens told or 0)."""

_SERVERS_FIELDS = frozenset({"usage", "timings", "metrics"})

DONE_LINE = re.compile(rb"[\r\n]data: ?\[DONE\][\r\n]")


def decode_chunk(event: WireEvent, read_choice: ReadChoice) -> list[Delta]:
    """The deltas of one event; a chunk without choices is usage, an error, or empty."""
    bare = bare_event(event)
    if bare is not None:
        return bare
    chunk = load_object(event.data)
    if chunk.get("error") or chunk.get("object") == "error":
        return [error_delta(chunk)]
    usage = timings = None
    if not _SERVERS_FIELDS.isdisjoint(chunk):
        usage, timings = usage_of(chunk), timings_of(chunk)
    kind: Kind = "usage" if usage and chunk.get("usage") else "empty"
    response_id = text_or_none(chunk.get("id"))
    choices = objects(chunk.get("choices"))
    if not choices:
        return [Delta(kind, usage=usage, response_id=response_id, timings=timings)]
    deltas = [_delta(choice, read_choice, kind, response_id) for choice in choices]
    if usage or timings:
        deltas[-1] = deltas[-1]._replace(usage=usage, timings=timings)
    return deltas


def _delta(
    choice: dict[str, Any], read_choice: ReadChoice, void_kind: Kind, response_id: str | None
) -> Delta:
    """void_kind: what a choice is that says nothing at all."""
    kind, text, n_tokens = read_choice(choice)
    finish_reason = choice.get("finish_reason")
    if not text:
        if finish_reason:
            kind = "finish"
        elif kind == "empty":
            kind = void_kind
    index = choice.get("index")
    return Delta(
        kind,
        text,
        n_tokens,
        index if type(index) is int else 0,
        None,
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


def decode_whole(document: dict[str, Any], read_choice: ReadChoice) -> list[Delta]:
    """A whole answer's deltas: each kind of text of each choice, its finish, then the usage.

    read_choice reads a choice that carries one kind of text, as those of a stream do.
    """
    if document.get("error") or document.get("object") == "error":
        return [error_delta(document)]
    if not isinstance(document.get("choices"), list):
        raise ProtocolError("The answer holds no choices.")
    response_id = text_or_none(document.get("id"))
    deltas: list[Delta] = []
    for choice in objects(document["choices"]):
        for part in _parts(choice):
            delta = _delta(part, read_choice, "empty", response_id)
            if delta.text or delta.finish_reason:
                deltas.append(delta)
    usage, timings = usage_of(document), timings_of(document)
    if usage or timings:
        deltas.append(Delta("usage", usage=usage, response_id=response_id, timings=timings))
    return deltas


_MESSAGE_TEXTS = ("content", "refusal", "tool_calls", "function_call")


def _parts(choice: dict[str, Any]) -> list[dict[str, Any]]:
    """A whole choice as the chunks a stream would have made of it: one kind of text each."""
    message = choice.get("message")
    if not isinstance(message, dict):
        return [choice]
    bare = {k: v for k, v in choice.items() if k in ("index", "finish_reason")}
    reasoning = message.get("reasoning") or message.get("reasoning_content")
    texts = {"reasoning": reasoning, **{k: message.get(k) for k in _MESSAGE_TEXTS}}
    index = {"index": choice.get("index")}
    said = [{**index, "delta": {name: text}} for name, text in texts.items() if text]
    if len(said) == 1:  # the tokens listed are those of the only text
        said[0] |= {k: choice[k] for k in ("logprobs", "token_ids") if k in choice}
    return [*said, {**bare, "delta": {}}]


def request_body(
    planned: "PlannedRequest", model: str, prompt: dict[str, Any], extra: dict[str, Any]
) -> bytes:
    """The request's JSON; `extra` overrides our fields, its None removes one."""
    body: dict[str, Any] = {"model": model, **prompt, "max_tokens": planned.max_tokens}
    if planned.is_streamed:
        body |= {"stream": True, "stream_options": {"include_usage": True}}
    if planned.ignore_eos:
        body["ignore_eos"] = True
    return request_json(body, extra)


def usage_of(document: dict[str, Any]) -> UsageCount | None:
    """The counts in `usage`; what it leaves open, from llama.cpp's `timings`."""
    usage = document.get("usage")
    from_timings = usage_of_timings(document)
    if not usage or not isinstance(usage, dict):
        return from_timings
    cached = fields(usage.get("prompt_tokens_details")).get("cached_tokens")
    if cached is None:
        cached = usage.get("prompt_cache_hit_tokens")  # DeepSeek
    output = fields(usage.get("completion_tokens_details"))
    told = UsageCount(
        prompt_tokens=count(usage.get("prompt_tokens")),
        output_tokens=count(usage.get("completion_tokens")),
        cached_tokens=count(cached),
        reasoning_tokens=count(output.get("reasoning_tokens")),
    )
    return told.or_else(from_timings) if from_timings else told
