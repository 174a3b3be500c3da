"""llama.cpp's own /completion: token events, then one with `"stop":true` and the timings.

Source: recordings of llama.cpp b11549.  Its predicted_ms leaves out the first token, as ours does.
"""

from dataclasses import replace
from typing import Any

import orjson

from simulator.answer import FAILED, Burst, Finish, StreamEvents, sse
from simulator.api import Api, Job, fields
from simulator.ask import ApiError, Ask, Posted
from simulator.body import field, plain_ask, prompt_words
from simulator.text import token_ids

_ERROR_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    501: "not_supported_error",
    503: "unavailable_error",
}


def parse(posted: Posted) -> Ask:
    """The request as values; any model name is answered, n_predict of -1 is no limit."""
    body = posted.body
    n_predict = field(body, "n_predict", int)
    max_tokens = None if n_predict is None or n_predict < 0 else max(1, n_predict)
    ask = plain_ask(posted, prompt_words(body.get("prompt"), "prompt"), max_tokens)
    return replace(ask, model=None, thinks=False)


def refuse(error: ApiError) -> tuple[int, bytes]:
    """Status and body of an error."""
    return error.status, orjson.dumps(_error(error.status, error.message))


class CompletionEvents(StreamEvents):
    """Events with running counts."""

    garbage = b'data: {"index":0,"content":" garb\n\n'

    def __init__(self, job: Job) -> None:
        self._job = job

    def tokens(self, burst: Burst) -> bytes:
        """A token event."""
        return sse(
            {
                "index": 0,
                "content": burst.text.decode(),
                "tokens": token_ids(burst.position, burst.n_tokens),
                "stop": False,
                "id_slot": -1,
                "tokens_predicted": burst.usage.completion_tokens,
                "tokens_evaluated": burst.usage.prompt_tokens,
            }
        )

    def end(self, finish: Finish) -> list[bytes]:
        """The event that says so; there is no [DONE]."""
        return [sse(_last(self._job, finish, ""))]

    def failed(self) -> list[bytes]:
        """An error object; nothing comes after it."""
        return [sse(_error(500, FAILED))]


def whole_answer(job: Job, finish: Finish) -> bytes:
    """The one object of a request that is not streamed."""
    return orjson.dumps(_last(job, finish, job.text("content")))


def timings(finish: Finish) -> dict[str, Any]:
    """The engine's times in llama.cpp's words; a rate over no time is null."""
    usage, times = finish
    n_prompt = usage.prompt_tokens - usage.cached_tokens
    prompt, predicted = (
        {
            f"{what}_n": n,
            f"{what}_ms": ns / 1e6,
            f"{what}_per_token_ms": ns / 1e6 / n,
            f"{what}_per_second": n / (ns / 1e9) if ns else None,
        }
        for what, n, ns in (
            ("prompt", n_prompt, times.prefill_ns),
            ("predicted", usage.completion_tokens, times.decode_ns),
        )
    )
    return {"cache_n": usage.cached_tokens, **prompt, **predicted}


def _last(job: Job, finish: Finish, content: str) -> dict[str, Any]:
    usage = finish.usage
    n_predict = -1 if job.ask.max_tokens is None else job.ask.max_tokens
    return {
        "index": 0,
        "content": content,
        "tokens": [],
        "id_slot": 0,
        "stop": True,
        "model": job.head.model,
        "tokens_predicted": usage.completion_tokens,
        "tokens_evaluated": usage.prompt_tokens,
        "generation_settings": {
            "seed": job.ask.seed if job.ask.seed is not None else 0xFFFFFFFF,
            "n_predict": n_predict,
            "ignore_eos": job.ask.ignore_eos,
            "stream": job.ask.is_streamed,
        },
        "has_new_line": False,
        "truncated": False,
        "stop_type": "limit" if job.length.finish_reason == "length" else "eos",
        "stopping_word": "",
        "tokens_cached": usage.prompt_tokens + usage.completion_tokens - 1,
        "timings": timings(finish),
    }


def _error(code: int, message: str) -> dict[str, Any]:
    kind = _ERROR_TYPES.get(code, "server_error")
    return {"error": {"code": code, "message": message, "type": kind}}


COMPLETION = Api(
    name="llamacpp",
    paths=("/completion",),
    id_prefix="llamacpp-",
    fields=fields(
        "prompt stream n_predict ignore_eos seed temperature dynatemp_range dynatemp_exponent "
        "top_k top_p min_p n_indent n_keep n_cmpl stop typical_p repeat_penalty repeat_last_n "
        "presence_penalty frequency_penalty dry_multiplier dry_base dry_allowed_length "
        "dry_penalty_last_n dry_sequence_breakers xtc_probability xtc_threshold mirostat "
        "mirostat_tau mirostat_eta grammar json_schema logit_bias n_probs min_keep "
        "t_max_predict_ms id_slot cache_prompt return_tokens samplers timings_per_token "
        "return_progress post_sampling_probs response_fields lora"
    ),
    parse=parse,
    refuse=refuse,
    whole=whole_answer,
    events=CompletionEvents,
    content_type="text/event-stream",
)
