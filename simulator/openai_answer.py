"""OpenAI's chat and completions answers as bytes: the events of a stream, or the one object."""

from typing import Any

import orjson

from simulator.answer import (
    FAILED,
    MARK,
    Burst,
    Finish,
    Kind,
    StreamEvents,
    Usage,
    around_mark,
    sse,
)
from simulator.api import Api, Job
from simulator.ask import ApiError
from simulator.openai_extras import (
    chat_logprobs,
    completions_logprobs,
    prompt_token_ids,
    request_metrics,
)
from simulator.openai_request import (
    CHAT_FIELDS,
    COMPLETIONS_FIELDS,
    parse_chat,
    parse_completions,
    refuse,
)
from simulator.text import token_ids

DONE = b"data: [DONE]\n\n"
_DELTA_FIELDS: dict[Kind, str] = {"content": "content", "reasoning": "reasoning_content"}


def usage_object(usage: Usage) -> dict[str, Any]:
    """Token counts as OpenAI's chat and completions tell them."""
    return {
        "prompt_tokens": usage.prompt_tokens,
        "total_tokens": usage.prompt_tokens + usage.completion_tokens,
        "completion_tokens": usage.completion_tokens,
        "prompt_tokens_details": {"cached_tokens": usage.cached_tokens},
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning_tokens},
    }


class OpenAiEvents(StreamEvents):
    """The events of a chat or completions stream; `api` says which."""

    garbage = b'data: {"id":"chatcmpl-garbage","choices":[{"index":0,"del\n\n'

    def __init__(self, job: Job) -> None:
        self._job = job
        self._wants = job.ask.wants
        self._is_chat = job.api is CHAT
        self._common: dict[str, Any] = {
            "id": job.head.answer_id,
            "object": "chat.completion.chunk" if self._is_chat else "text_completion",
            "created": job.head.created_s,
            "model": job.head.model,
        }
        self._n_text_bytes = 0
        if not self._wants & {"running_usage", "logprobs", "token_ids"}:
            self.fixed = {
                kind: around_mark(self._event(self._choice(kind, MARK), None))
                for kind in _DELTA_FIELDS
            }

    def begin(self, usage: Usage) -> bytes | None:
        """The role event; the completions API has none."""
        if not self._is_chat:
            return None
        delta = {"role": "assistant", "content": ""}
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": None}
        more: dict[str, Any] = {}
        if "token_ids" in self._wants:
            more["prompt_token_ids"] = prompt_token_ids(self._job)
        return self._event(choice, usage, more)

    def tokens(self, burst: Burst) -> bytes:
        """A token event with running usage, log-probabilities or token ids."""
        choice = self._choice(burst.kind, burst.text.decode())
        if "logprobs" in self._wants:
            logprobs = chat_logprobs if self._is_chat else completions_logprobs
            choice["logprobs"] = logprobs(burst, self._n_text_bytes)
        if "token_ids" in self._wants:
            choice["token_ids"] = token_ids(burst.position, burst.n_tokens)
            if not self._is_chat and self._n_text_bytes == 0:
                choice["prompt_token_ids"] = prompt_token_ids(self._job)
        self._n_text_bytes += len(burst.text)
        return self._event(choice, burst.usage)

    def end(self, finish: Finish) -> list[bytes]:
        """The finish event, the usage event if asked for, and [DONE]."""
        reason = self._job.length.finish_reason
        piece: dict[str, Any] = {"delta": {}} if self._is_chat else {"text": ""}
        choice = {"index": 0, **piece, "logprobs": None, "finish_reason": reason}
        events = [self._event(choice, finish.usage)]
        if "usage" in self._wants:
            more = {"choices": [], "usage": usage_object(finish.usage)}
            if "metrics" in self._wants:
                metrics = request_metrics(finish)
                told = {name: value for name, value in metrics.items() if value is not None}
                more["metrics"] = told
            events.append(sse({**self._common, **more}))
        return [*events, DONE]

    def failed(self) -> list[bytes]:
        """An error object inside the 200, then [DONE], as vLLM does it."""
        body = refuse(ApiError(500, FAILED, "InternalServerError"))[1]
        return [b"data: " + body + b"\n\n", DONE]

    def _choice(self, kind: Kind, text: str) -> dict[str, Any]:
        piece = {"delta": {_DELTA_FIELDS[kind]: text}} if self._is_chat else {"text": text}
        return {"index": 0, **piece, "logprobs": None, "finish_reason": None}

    def _event(
        self, choice: dict[str, Any], usage: Usage | None, more: dict[str, Any] | None = None
    ) -> bytes:
        event = {**self._common, "choices": [choice]}
        if usage is not None and "running_usage" in self._wants:
            event["usage"] = usage_object(usage)
        return sse({**event, **(more or {})})


def whole_answer(job: Job, finish: Finish) -> bytes:
    """The answer of a request that is not streamed."""
    is_chat, wants = job.api is CHAT, job.ask.wants
    choice: dict[str, Any] = {"index": 0}
    if is_chat:
        choice["message"] = {"role": "assistant", "content": job.text("content")}
        if job.length.thinking_tokens:
            choice["message"]["reasoning_content"] = job.text("reasoning")
    else:
        choice["text"] = job.text("content")
    choice |= {"logprobs": None, "finish_reason": job.length.finish_reason}
    more: dict[str, Any] = {"usage": usage_object(finish.usage)}
    whole = _as_one_burst(job, finish.usage)
    if "logprobs" in wants:
        choice["logprobs"] = (chat_logprobs if is_chat else completions_logprobs)(whole, 0)
    if "token_ids" in wants:
        choice["token_ids"] = token_ids(job.first_position, whole.n_tokens)
        (more if is_chat else choice)["prompt_token_ids"] = prompt_token_ids(job)
    if "metrics" in wants:
        more["metrics"] = request_metrics(finish)
    return orjson.dumps(
        {
            "id": job.head.answer_id,
            "object": "chat.completion" if is_chat else "text_completion",
            "created": job.head.created_s,
            "model": job.head.model,
            "choices": [choice],
            **more,
        }
    )


def _as_one_burst(job: Job, usage: Usage) -> Burst:
    text = (job.text("reasoning") + job.text("content")).encode()
    return Burst("content", text, usage.completion_tokens, job.first_position, usage)


CHAT = Api(
    name="chat",
    paths=("/v1/chat/completions",),
    id_prefix="chatcmpl-",
    fields=CHAT_FIELDS,
    parse=parse_chat,
    refuse=refuse,
    whole=whole_answer,
    events=OpenAiEvents,
)
COMPLETIONS = Api(
    name="completions",
    paths=("/v1/completions",),
    id_prefix="cmpl-",
    fields=COMPLETIONS_FIELDS,
    parse=parse_completions,
    refuse=refuse,
    whole=whole_answer,
    events=OpenAiEvents,
)
