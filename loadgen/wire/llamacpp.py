"""llama.cpp's own `/completion`: each event has text, token ids and counters, the last the timings.

Source: https://github.com/ggml-org/llama.cpp/tree/master/tools/server and raw recordings.
"""

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from loadgen.wire.api import Delta, Kind, UsageCount
from loadgen.wire.event_json import bare_event, count, error_delta, listed, load_object, text
from loadgen.wire.finish_reasons import finish_reason
from loadgen.wire.framing import ProtocolError, WireEvent
from loadgen.wire.messages import text_of
from loadgen.wire.request_json import bearer, request_json
from loadgen.wire.server_timings import timings_of, usage_of_timings
from loadgen.wire.sse import SseFraming

if TYPE_CHECKING:
    from loadgen.schedule import PlannedRequest


@dataclass(frozen=True, slots=True)
class LlamaCpp:
    """POST /completion with `stream`.

    done_line: the last event says `"stop":true` more than a kilobyte before its end, and ends with
    timings, as every event does on request: its last bytes do not tell.  (The server closes.)
    """

    name: str = "llamacpp"
    path: str = "/completion"
    whole_path: str = "/completion"
    framing: type[SseFraming] = SseFraming
    is_streaming: bool = True
    knows_ignore_eos: bool = True
    done_line: re.Pattern[bytes] | None = None

    def headers(self, key: str) -> dict[str, str]:
        """The key as a bearer token."""
        return bearer(key)

    def body(self, planned: "PlannedRequest", model: str, extra: dict[str, Any]) -> bytes:
        """The bare text; a router of several models reads `model`."""
        ours: dict[str, Any] = {"model": model, "prompt": text_of(planned)}
        ours |= {"n_predict": planned.max_tokens, "stream": planned.is_streamed}
        if planned.ignore_eos:
            ours["ignore_eos"] = True
        return request_json(ours, extra)

    def decode(self, event: WireEvent) -> list[Delta]:
        """The event's one delta."""
        bare = bare_event(event)
        return bare if bare is not None else [_delta(load_object(event.data))]

    def decode_whole(self, document: dict[str, Any]) -> list[Delta]:
        """The answer's text and its end, as one delta."""
        delta = _delta(document)
        if delta.kind != "error" and not isinstance(document.get("content"), str):
            raise ProtocolError("The answer holds no content.")
        return [delta]


def _delta(said: dict[str, Any]) -> Delta:
    if said.get("error"):
        return error_delta(said)
    content, is_stop = text(said.get("content")), said.get("stop") is True
    kind: Kind = "content" if content else "done" if is_stop else "empty"
    reason = finish_reason(said.get("stop_type")) if is_stop else None
    usage = _usage(said)
    index = said.get("index")
    return Delta(
        "finish" if reason and not content else kind,
        content,
        # The counter is exact; the ids leave out a token that ended within a character.
        _told(said) if usage is None or usage.output_tokens is None else 0,
        index if type(index) is int else 0,
        usage,
        reason,
        timings=timings_of(said),
    )


def _usage(said: dict[str, Any]) -> UsageCount | None:
    """tokens_predicted counts up with each event, tokens_evaluated is the whole prompt."""
    prompt, output = count(said.get("tokens_evaluated")), count(said.get("tokens_predicted"))
    from_timings = usage_of_timings(said) or UsageCount()
    usage = UsageCount(prompt, output).or_else(from_timings)
    return None if usage == UsageCount() else usage


def _told(said: dict[str, Any]) -> int:
    """Token ids in this event; one that tells of the prompt's progress has a 0 in their place."""
    return 0 if said.get("prompt_progress") else listed(said.get("tokens"))
