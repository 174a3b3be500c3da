"""OpenAI Responses: named events, of which few carry text; the last one carries the usage.

Source: https://platform.openai.com/docs/api-reference/responses-streaming, vLLM's `metrics`
(https://github.com/vllm-project/vllm/pull/55084), and raw recordings of four servers.
"""

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from loadgen.wire.api import Delta, Kind, UsageCount
from loadgen.wire.event_json import (
    EMPTY,
    bare_event,
    count,
    error_delta,
    fields,
    listed,
    load_object,
    objects,
    text,
    text_or_none,
)
from loadgen.wire.finish_reasons import finish_reason
from loadgen.wire.framing import ProtocolError, WireEvent
from loadgen.wire.messages import responses_input
from loadgen.wire.request_json import bearer, request_json
from loadgen.wire.server_timings import timings_of, usage_of_timings
from loadgen.wire.sse import SseFraming

if TYPE_CHECKING:
    from loadgen.schedule import PlannedRequest

DONE_LINE = re.compile(
    rb'[,{] ?"type": ?"response\.(?:completed|incomplete|failed)"\}[\r\n]'
    rb"|[\r\n]data: ?\[DONE\][\r\n]"
)
"""vLLM and transformers write an event's type last, LiteLLM ends with [DONE]."""

_TEXT_EVENTS: dict[str, Kind] = {
    "response.output_text.delta": "content",
    "response.refusal.delta": "refusal",
    "response.reasoning_text.delta": "reasoning",
    "response.reasoning_summary_text.delta": "reasoning",
    "response.function_call_arguments.delta": "tool",
    "response.custom_tool_call_input.delta": "tool",
    "response.mcp_call_arguments.delta": "tool",
    "response.code_interpreter_call_code.delta": "tool",
}
_LAST_EVENTS = frozenset({"response.completed", "response.incomplete", "response.failed"})
_PART_KINDS: dict[str, Kind] = {
    "output_text": "content",
    "refusal": "refusal",
    "reasoning_text": "reasoning",
    "summary_text": "reasoning",
}


@dataclass(frozen=True, slots=True)
class OpenAiResponses:
    """POST /v1/responses with `stream`.

    Output items and content parts follow one another, they are parts of one answer: all are
    choice 0, as parallel tool calls are in a chat.  (The API has no `n`.)
    """

    name: str = "openai_responses"
    path: str = "/v1/responses"
    whole_path: str = "/v1/responses"
    framing: type[SseFraming] = SseFraming
    is_streaming: bool = True
    knows_ignore_eos: bool = True
    done_line: re.Pattern[bytes] | None = DONE_LINE

    def headers(self, key: str) -> dict[str, str]:
        """The key as a bearer token."""
        return bearer(key)

    def body(self, planned: "PlannedRequest", model: str, extra: dict[str, Any]) -> bytes:
        """The bare prompt or the messages as input; usage comes unasked."""
        ours: dict[str, Any] = {"model": model, "input": responses_input(planned)}
        ours["max_output_tokens"] = planned.max_tokens
        if planned.is_streamed:
            ours["stream"] = True
        if planned.ignore_eos:
            ours["ignore_eos"] = True
        return request_json(ours, extra)

    def decode(self, event: WireEvent) -> list[Delta]:
        """The event's one delta; types without text of the model are empty."""
        bare = bare_event(event)
        if bare is not None:
            return bare
        document = load_object(event.data)
        event_type = text(document.get("type"))
        if kind := _TEXT_EVENTS.get(event_type):
            said = text(document.get("delta"))
            told = listed(document.get("logprobs"))
            return [Delta(kind if said else "empty", said, told)]
        if event_type in _LAST_EVENTS:
            return [_end(document)]
        if event_type == "error" or document.get("error"):
            return [error_delta(document)]
        if event_type == "response.output_item.added":
            name = _called(fields(document.get("item")))
            return [Delta("tool", name) if name else EMPTY]
        response_id = text_or_none(fields(document.get("response")).get("id"))
        return [Delta("empty", response_id=response_id)]

    def decode_whole(self, document: dict[str, Any]) -> list[Delta]:
        """A response: the text of each part of its output, then its end."""
        is_response = isinstance(document.get("output"), list)
        if not is_response and not document.get("error"):
            raise ProtocolError("The answer is no response: it holds no output.")
        said = [part for item in objects(document.get("output")) for part in _item(item)]
        return [*(part for part in said if part.text), _end({"response": document})]


def _end(document: dict[str, Any]) -> Delta:
    """How the response ended: failed, cut short (vLLM says so in response.completed), or whole.

    A whole one has `completed` for its reason: the API does not tell stop from tool call, and
    llama.cpp says it at the limit too.
    """
    response = fields(document.get("response"))
    if response.get("error") or response.get("status") == "failed":
        return error_delta(response.get("error") or response)
    if document.get("type") == "response.failed":
        return error_delta(response or document)
    why = fields(response.get("incomplete_details")).get("reason")
    both = {**response, **document}  # llama.cpp has its timings beside the response
    return Delta(
        "finish",
        usage=_usage(response.get("usage"), usage_of_timings(both)),
        finish_reason=finish_reason(why or response.get("status") or "completed"),
        response_id=text_or_none(response.get("id")),
        timings=timings_of(both),
    )


def _usage(usage: Any, from_timings: UsageCount | None) -> UsageCount | None:
    if not usage or not isinstance(usage, dict):
        return from_timings
    told = UsageCount(
        prompt_tokens=count(usage.get("input_tokens")),
        output_tokens=count(usage.get("output_tokens")),
        cached_tokens=count(fields(usage.get("input_tokens_details")).get("cached_tokens")),
        reasoning_tokens=count(fields(usage.get("output_tokens_details")).get("reasoning_tokens")),
    )
    return told.or_else(from_timings) if from_timings else told


def _item(item: dict[str, Any]) -> list[Delta]:
    """The texts of an output item: the call of a tool, or its parts."""
    if called := _called(item):
        return [Delta("tool", called + text(item.get("arguments")) + text(item.get("input")))]
    said: list[Delta] = []
    for part in [*objects(item.get("summary")), *objects(item.get("content"))]:
        kind = _PART_KINDS.get(text(part.get("type")))
        if kind:
            said.append(Delta(kind, text(part.get("text")) or text(part.get("refusal"))))
    return said


def _called(item: dict[str, Any]) -> str:
    """The name of the tool that an item calls; the model has written it."""
    is_call = item.get("type") in ("function_call", "custom_tool_call", "mcp_call")
    return text(item.get("name")) if is_call else ""
