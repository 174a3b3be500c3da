"""What Ollama's /api/chat and /api/generate share: lines of JSON, the last one with the counts.

Source: https://docs.ollama.com/api/streaming, …/api/errors, …/api/usage (all times in ns;
prompt_eval_count is the whole prompt, prompt_eval_cached_count of it came from a cache).
"""

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from loadgen.wire.api import Delta, Kind, ServerTimings, UsageCount
from loadgen.wire.event_json import (
    DONE,
    EMPTY,
    bare_event,
    count,
    error_delta,
    listed,
    load_object,
)
from loadgen.wire.finish_reasons import finish_reason
from loadgen.wire.framing import ProtocolError, WireEvent
from loadgen.wire.request_json import request_json
from loadgen.wire.server_timings import some, us

if TYPE_CHECKING:
    from loadgen.schedule import PlannedRequest

ReadLine = Callable[[dict[str, Any]], dict[Kind, str]]
"""A line -> its texts by kind, void ones too; what the reader sees first comes first."""

DONE_LINE = re.compile(rb'[,{]"(?:done":true|eval_duration":\d+)\}\r?\n')
"""The end of the last line; in a text its quotes would be escaped."""

_US_PER_NS = 0.001


def request_line(
    planned: "PlannedRequest", model: str, prompt: dict[str, Any], extra: dict[str, Any]
) -> bytes:
    """The request's JSON; streaming is what Ollama does unasked, so both are said."""
    options = {"num_predict": planned.max_tokens}
    ours = {"model": model, **prompt, "stream": planned.is_streamed, "options": options}
    return request_json(ours, extra)


def decode_line(event: WireEvent, read_line: ReadLine) -> list[Delta]:
    """A line's delta: its kind is that of the first text in it, its text all of them."""
    bare = bare_event(event)
    if bare is not None:
        return bare
    said = load_object(event.data)
    if said.get("error"):
        return [error_delta(said)]
    texts = [Delta(kind, text) for kind, text in read_line(said).items() if text]
    n_tokens = listed(said.get("logprobs"))
    first = texts[0] if texts else EMPTY
    delta = first._replace(text="".join(d.text for d in texts), n_tokens=n_tokens)
    return _ended([delta], said) if said.get("done") is True else [delta]


def decode_whole(document: dict[str, Any], read_line: ReadLine) -> list[Delta]:
    """A whole answer, which is one line that is done: a delta for each kind of text."""
    if document.get("error"):
        return [error_delta(document)]
    if document.get("done") is not True:
        raise ProtocolError('The answer is none of Ollama\'s: it is not "done".')
    texts = read_line(document).items()
    deltas = [Delta(kind, text) for kind, text in texts if text] or [EMPTY]
    return _ended(deltas, document)


def _ended(deltas: list[Delta], said: dict[str, Any]) -> list[Delta]:
    """The last delta with the counts and why it is the last; done where nobody says why."""
    reason = finish_reason(said.get("done_reason"))
    last = deltas[-1]._replace(usage=_usage(said), finish_reason=reason, timings=_timings(said))
    if reason and not last.text:
        last = last._replace(kind="finish")
    return [*deltas[:-1], last] if reason else [*deltas[:-1], last, DONE]


def _usage(said: dict[str, Any]) -> UsageCount | None:
    names = ("prompt_eval_count", "eval_count", "prompt_eval_cached_count")
    usage = UsageCount(*(count(said.get(name)) for name in names))
    return None if usage == UsageCount() else usage


def _timings(said: dict[str, Any]) -> ServerTimings | None:
    """load_duration is the wait for a loaded model: in the scheduler's queue, and for the disk."""
    names = ("load_duration", "prompt_eval_duration", "eval_duration")
    return some(*(us(said.get(name), _US_PER_NS) for name in names))
