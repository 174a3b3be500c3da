"""Text Generation Inference's own `/generate_stream`: one event, one token, the special ones too.

Source: https://huggingface.co/docs/text-generation-inference/reference/api_reference.  TGI tells
its times (x-queue-time, x-inference-time, …) in the headers of whole answers, not in the body.
"""

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from loadgen.wire.api import Delta, UsageCount
from loadgen.wire.event_json import (
    DONE,
    EMPTY,
    bare_event,
    count,
    error_delta,
    fields,
    listed,
    load_object,
    objects,
    text,
)
from loadgen.wire.finish_reasons import finish_reason
from loadgen.wire.framing import ProtocolError, WireEvent
from loadgen.wire.messages import text_of
from loadgen.wire.request_json import bearer, request_json
from loadgen.wire.sse import SseFraming

if TYPE_CHECKING:
    from loadgen.schedule import PlannedRequest

DONE_LINE = re.compile(rb',"seed":(?:null|\d+)(?:,"input_length":\d+)?\}\}[\r\n]')
"""The end of `details`, which the last event alone has; in a text its quotes would be escaped."""

_STATUS = {  # of an error_type, as TGI answers when nothing is streamed yet
    "overloaded": 429,
    "validation": 422,
    "generation": 424,
    "incomplete_generation": 500,
}


@dataclass(frozen=True, slots=True)
class Tgi:
    """POST /generate_stream, or /generate for a whole answer; the server has one model."""

    name: str = "tgi"
    path: str = "/generate_stream"
    whole_path: str = "/generate"
    framing: type[SseFraming] = SseFraming
    is_streaming: bool = True
    knows_ignore_eos: bool = False
    done_line: re.Pattern[bytes] | None = DONE_LINE

    def headers(self, key: str) -> dict[str, str]:
        """The key as a bearer token."""
        return bearer(key)

    def body(self, planned: "PlannedRequest", model: str, extra: dict[str, Any]) -> bytes:
        """The bare text; asks for details, which hold the counts."""
        parameters = {"max_new_tokens": planned.max_tokens, "details": True}
        return request_json({"inputs": text_of(planned), "parameters": parameters}, extra)

    def decode(self, event: WireEvent) -> list[Delta]:
        """The token, and its end if it is the last.  Its `index` counts tokens, it is no choice."""
        bare = bare_event(event, _error)
        if bare is not None:
            return bare
        said = load_object(event.data)
        if said.get("error"):
            return [_error(said)]
        token = said.get("token")
        if not isinstance(token, dict):
            return [EMPTY]
        shown = "" if token.get("special") is True else text(token.get("text"))
        delta = Delta("content" if shown else "empty", shown, 1)
        if said.get("generated_text") is None and not said.get("details"):
            return [delta]
        return _ended(delta, fields(said.get("details")))

    def decode_whole(self, document: dict[str, Any]) -> list[Delta]:
        """The text and its end."""
        if document.get("error"):
            return [_error(document)]
        generated = document.get("generated_text")
        if not isinstance(generated, str):
            raise ProtocolError("The answer holds no generated_text.")
        details = fields(document.get("details"))
        listed_tokens = listed(details.get("tokens"))
        delta = Delta("content" if generated else "empty", generated, listed_tokens)
        return _ended(delta, details)


def _ended(last: Delta, details: dict[str, Any]) -> list[Delta]:
    """The last token's delta with the counts and why it is the last; done where nobody says why."""
    output = count(details.get("generated_tokens"))
    prompt = count(details.get("input_length"))
    if prompt is None:
        prompt = len(objects(details.get("prefill"))) or None  # with decoder_input_details
    usage = None if output is prompt is None else UsageCount(prompt, output)
    reason = finish_reason(details.get("finish_reason"))
    if reason and not last.text:
        last = last._replace(kind="finish")
    last = last._replace(usage=usage, finish_reason=reason)
    return [last] if reason else [last, DONE]


def _error(said: Any) -> Delta:
    kind = fields(said).get("error_type")
    return error_delta(said, _STATUS.get(kind) if isinstance(kind, str) else None)
