"""Ollama's /api/chat and /api/generate: a JSON object a line, the last one with counts and times.

Durations are in ns; a num_predict of 0 or less is no limit.
Source: Ollama's docs/api.md and api/types.go.
"""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import orjson

from simulator.answer import FAILED, Burst, Finish, StreamEvents
from simulator.api import Api, Job, fields
from simulator.ask import ApiError, Ask, Posted, Words
from simulator.body import at_least_one, content_words, field, message_words, plain_ask, required

NDJSON = "application/x-ndjson"
_COMMON = "model format options stream think keep_alive logprobs top_logprobs "


def parse_chat(posted: Posted) -> Ask:
    """A request with messages."""
    words = at_least_one(message_words(required(posted.body, "messages", list)))
    return _ollama_ask(posted, words)


def parse_generate(posted: Posted) -> Ask:
    """A request with a prompt."""
    texts = [field(posted.body, name, str) for name in ("system", "prompt")]
    words = at_least_one([word for text in texts for word in content_words(text)])
    return _ollama_ask(posted, words)


def refuse(error: ApiError) -> tuple[int, bytes]:
    """Status and body of an error: one sentence."""
    return error.status, orjson.dumps({"error": error.message})


class OllamaEvents(StreamEvents):
    """Lines; each carries the time it was made."""

    garbage = b'{"model":"garbage","created_at":"2026-01-01T00:00:0\n'

    def __init__(self, job: Job) -> None:
        self._job = job

    def tokens(self, burst: Burst) -> bytes:
        """A line with text or thought."""
        piece = burst.text.decode()
        if burst.kind == "content":
            return _line(self._job, {"content": piece}, {"done": False})
        return _line(self._job, {"content": "", "thinking": piece}, {"done": False})

    def end(self, finish: Finish) -> list[bytes]:
        """The line that says so."""
        return [_line(self._job, {"content": ""}, _done(self._job, finish))]

    def failed(self) -> list[bytes]:
        """An error as the last line."""
        return [orjson.dumps({"error": FAILED}) + b"\n"]


def whole_answer(job: Job, finish: Finish) -> bytes:
    """The one object of a request with "stream": false."""
    texts = {"content": job.text("content")}
    if job.length.thinking_tokens:
        texts["thinking"] = job.text("reasoning")
    return _line(job, texts, _done(job, finish)).rstrip(b"\n")


def tags(model: str) -> bytes:
    """The body of /api/tags."""
    name = f"{model}:latest"
    return orjson.dumps({"models": [{"name": name, "model": name, "details": {}}]})


def _ollama_ask(posted: Posted, words: Words) -> Ask:
    body = posted.body
    required(body, "model", str)
    options = field(body, "options", dict) or {}
    n_predict = field(options, "num_predict", int)
    max_tokens = n_predict if n_predict is not None and n_predict > 0 else None
    ask = plain_ask(posted, words, max_tokens)
    return replace(
        ask,
        model=body["model"].removesuffix(":latest"),
        seed=field(options, "seed", int),
        ignore_eos=ask.ignore_eos or bool(field(options, "ignore_eos", bool)),
        is_streamed=body.get("stream") is not False,
        thinks=body.get("think") is not False,
    )


def _line(job: Job, texts: dict[str, str], more: dict[str, Any]) -> bytes:
    at = datetime.now(UTC).isoformat().replace("+00:00", "Z")
    head = {"model": job.head.model, "created_at": at}
    if job.api is CHAT:
        return orjson.dumps(head | {"message": {"role": "assistant", **texts}} | more) + b"\n"
    response = {"response": texts.pop("content"), **texts}
    return orjson.dumps(head | response | more) + b"\n"


def _done(job: Job, finish: Finish) -> dict[str, Any]:
    usage, times = finish
    return {
        "done": True,
        "done_reason": job.length.finish_reason,
        "total_duration": times.total_ns,
        "load_duration": 0,
        "prompt_eval_count": usage.prompt_tokens,
        "prompt_eval_duration": times.prefill_ns,
        "eval_count": usage.completion_tokens,
        "eval_duration": times.decode_ns,
    }


CHAT = Api(
    name="ollama-chat",
    paths=("/api/chat",),
    id_prefix="ollama-",
    fields=fields(_COMMON + "messages tools"),
    parse=parse_chat,
    refuse=refuse,
    whole=whole_answer,
    events=OllamaEvents,
    content_type=NDJSON,
)
GENERATE = Api(
    name="ollama-generate",
    paths=("/api/generate",),
    id_prefix="ollama-",
    fields=fields(_COMMON + "prompt suffix images system template raw context"),
    parse=parse_generate,
    refuse=refuse,
    whole=whole_answer,
    events=OllamaEvents,
    content_type=NDJSON,
)
