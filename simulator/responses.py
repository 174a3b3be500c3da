"""OpenAI's /v1/responses: numbered events, an output item for the thoughts and one for the text.

As vLLM does it: response.created and response.in_progress come at once, before the prompt is
computed; an answer cut by max_output_tokens still ends with response.completed, its status is
"incomplete".  Thoughts are reasoning_text, or reasoning_summary_text if a summary was asked for.
Source: recordings of vLLM 0.32.0; OpenAI's API reference (response.failed, summaries).
"""

from dataclasses import dataclass
from typing import Any

import orjson

from simulator.answer import FAILED, Burst, Finish, Kind, StreamEvents, Usage, sse
from simulator.api import Api, Job
from simulator.openai_extras import request_metrics
from simulator.openai_request import refuse
from simulator.responses_request import RESPONSES_FIELDS, parse


@dataclass(frozen=True, slots=True)
class Style:
    """How one kind of output is named."""

    prefix: str  # of the item's id
    part: str  # added, done
    text: str  # delta, done
    index: str  # the field that says which part of the item it is
    part_type: str


_MESSAGE = Style(
    "msg_", "response.content_part", "response.output_text", "content_index", "output_text"
)
_THOUGHT = Style(
    "rs_", "response.content_part", "response.reasoning_text", "content_index", "reasoning_text"
)
_SUMMARY = Style(
    "rs_",
    "response.reasoning_summary_part",
    "response.reasoning_summary_text",
    "summary_index",
    "summary_text",
)


class ResponseEvents(StreamEvents):
    """The events of one response."""

    garbage = b'event: response.output_text.delta\ndata: {"content_index":0,"del\n\n'

    def __init__(self, job: Job) -> None:
        self._job = job
        self._n_events = 0
        self._open: Kind | None = None
        self._output: list[dict[str, Any]] = []  # finished items

    def hello(self) -> bytes:
        """The empty response, twice."""
        response = _response(self._job, "in_progress", [], None)
        names = ("response.created", "response.in_progress")
        return b"".join(self._event(name, response=response) for name in names)

    def turn(self, kind: Kind) -> bytes:
        """The end of the item before, the start of the next."""
        before = self._close()
        self._open = kind
        style = _style(self._job, kind)
        item = _item(self._job, kind, "in_progress", [])
        added = self._event("response.output_item.added", item=item, output_index=len(self._output))
        return before + added + self._piece(f"{style.part}.added", part=_part(style, ""))

    def tokens(self, burst: Burst) -> bytes:
        """A delta."""
        more = {"logprobs": list[Any]()} if burst.kind == "content" else {}
        name = _style(self._job, burst.kind).text
        return self._piece(f"{name}.delta", delta=burst.text.decode(), **more)

    def end(self, finish: Finish) -> list[bytes]:
        """The end of the item, then the whole response."""
        last = self._close()
        is_cut = self._job.length.finish_reason == "length"
        status = "incomplete" if is_cut else "completed"
        response = _response(self._job, status, self._output, finish)
        return [last, self._event("response.completed", response=response)]

    def failed(self) -> list[bytes]:
        """The response with an error in it; nothing comes after it."""
        response = _response(self._job, "failed", self._output, None)
        response["error"] = {"code": "server_error", "message": FAILED}
        return [self._event("response.failed", response=response)]

    def _close(self) -> bytes:
        if self._open is None:
            return b""
        kind, style = self._open, _style(self._job, self._open)
        text = self._job.text(kind)
        done = [
            self._piece(f"{style.text}.done", text=text),
            self._piece(f"{style.part}.done", part=_part(style, text)),
        ]
        item = _item(self._job, kind, "completed", [_part(style, text)])
        index = len(self._output)
        done.append(self._event("response.output_item.done", item=item, output_index=index))
        self._output.append(item)
        return b"".join(done)

    def _piece(self, name: str, **more: Any) -> bytes:
        """An event about the open item's only part."""
        assert self._open is not None
        style = _style(self._job, self._open)
        where = {
            "item_id": _item_id(self._job, self._open),
            "output_index": len(self._output),
            style.index: 0,
        }
        return self._event(name, **where, **more)

    def _event(self, name: str, **more: Any) -> bytes:
        number, self._n_events = self._n_events, self._n_events + 1
        return sse({**more, "sequence_number": number, "type": name}, name)


def whole_answer(job: Job, finish: Finish) -> bytes:
    """The response of a request that is not streamed."""
    n_texts: dict[Kind, int] = {
        "reasoning": job.length.thinking_tokens,
        "content": job.length.output_tokens - job.length.thinking_tokens,
    }
    output = [
        _item(job, kind, "completed", [_part(_style(job, kind), job.text(kind))])
        for kind, n_tokens in n_texts.items()
        if n_tokens
    ]
    status = "incomplete" if job.length.finish_reason == "length" else "completed"
    return orjson.dumps(_response(job, status, output, finish))


def _style(job: Job, kind: Kind) -> Style:
    if kind == "content":
        return _MESSAGE
    return _SUMMARY if "summary" in job.ask.wants else _THOUGHT


def _item_id(job: Job, kind: Kind) -> str:
    return _style(job, kind).prefix + job.head.answer_id.removeprefix(RESPONSES.id_prefix)


def _part(style: Style, text: str) -> dict[str, Any]:
    more = {"annotations": list[Any](), "logprobs": list[Any]()} if style is _MESSAGE else {}
    return {**more, "text": text, "type": style.part_type}


def _item(job: Job, kind: Kind, status: str, parts: list[dict[str, Any]]) -> dict[str, Any]:
    head = {"id": _item_id(job, kind), "status": status}
    if kind == "content":
        return {**head, "content": parts, "role": "assistant", "type": "message"}
    if "summary" in job.ask.wants:
        return {**head, "summary": parts, "type": "reasoning"}
    return {**head, "summary": [], "content": parts, "type": "reasoning"}


def _response(
    job: Job, status: str, output: list[dict[str, Any]], finish: Finish | None
) -> dict[str, Any]:
    is_cut = status == "incomplete"
    response: dict[str, Any] = {
        "id": job.head.answer_id,
        "created_at": job.head.created_s,
        "error": None,
        "incomplete_details": {"reason": "max_output_tokens"} if is_cut else None,
        "model": job.head.model,
        "object": "response",
        "output": output,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "max_output_tokens": job.ask.max_tokens,
        "status": status,
        "usage": _usage(finish.usage) if finish is not None else None,
    }
    if finish is not None and "metrics" in job.ask.wants:
        response["metrics"] = request_metrics(finish)
    return response


def _usage(usage: Usage) -> dict[str, Any]:
    return {
        "input_tokens": usage.prompt_tokens,
        "input_tokens_details": {"cached_tokens": usage.cached_tokens},
        "output_tokens": usage.completion_tokens,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning_tokens},
        "total_tokens": usage.prompt_tokens + usage.completion_tokens,
    }


RESPONSES = Api(
    name="responses",
    paths=("/v1/responses",),
    id_prefix="resp_",
    fields=RESPONSES_FIELDS,
    parse=parse,
    refuse=refuse,
    whole=whole_answer,
    events=ResponseEvents,
)
