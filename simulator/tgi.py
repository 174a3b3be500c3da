"""Text Generation Inference: /generate_stream and /generate.

One event for each token, `data:` without a space; the last token's event carries the whole text,
and details if asked for.  Nothing comes after it.
Source: huggingface/text-generation-inference, router/src/lib.rs and docs/openapi.json.
"""

from dataclasses import replace
from typing import Any

import orjson

from simulator import text
from simulator.answer import FAILED, Burst, Finish, StreamEvents
from simulator.api import Api, Job, fields
from simulator.ask import ApiError, Ask, Posted
from simulator.body import field, limit, plain_ask, prompt_words

STREAM_PATH = "/generate_stream"
DEFAULT_NEW_TOKENS = 100


def parse(posted: Posted) -> Ask:
    """The request as values; the path says whether it is streamed."""
    body = posted.body
    parameters = field(body, "parameters", dict) or {}
    words = prompt_words(field(body, "inputs", str), "inputs")
    ask = plain_ask(posted, words, limit(parameters, "max_new_tokens") or DEFAULT_NEW_TOKENS)
    return replace(
        ask,
        model=None,
        seed=field(parameters, "seed", int),
        ignore_eos=ask.ignore_eos or bool(field(parameters, "ignore_eos", bool)),
        is_streamed=posted.path == STREAM_PATH,
        thinks=False,
        wants=frozenset(("details",) if field(parameters, "details", bool) else ()),
    )


def refuse(error: ApiError) -> tuple[int, bytes]:
    """Status and body of an error; what vLLM answers with 400 is 422 here."""
    is_ours = error.status == 400 and error.kind != "SimulatedFault"
    kinds = {400: "validation", 401: "authentication", 422: "validation", 429: "overloaded"}
    kind = kinds.get(error.status, "generation")
    body = orjson.dumps({"error": error.message, "error_type": kind})
    return 422 if is_ours else error.status, body


class TokenEvents(StreamEvents):
    """One event for each token."""

    is_one_by_one = True
    garbage = b'data:{"index":1,"token":{"id":1,"te\n\n'

    def __init__(self, job: Job) -> None:
        self._job = job

    def tokens(self, burst: Burst) -> bytes:
        """The event of a token; the last one is more."""
        n_so_far = burst.usage.completion_tokens
        is_last = n_so_far == self._job.length.output_tokens
        has_details = is_last and "details" in self._job.ask.wants
        return _event(
            {
                "index": n_so_far,
                "token": _token(burst.position),
                "generated_text": self._job.text("content") if is_last else None,
                "details": _stream_details(self._job) if has_details else None,
            }
        )

    def failed(self) -> list[bytes]:
        """An error object; nothing comes after it."""
        return [_event({"error": FAILED, "error_type": "generation"})]


def whole_answer(job: Job, finish: Finish) -> bytes:
    """The answer of /generate."""
    answer: dict[str, Any] = {"generated_text": job.text("content")}
    if "details" in job.ask.wants:
        n_tokens = finish.usage.completion_tokens
        tokens = [_token(job.first_position + i) for i in range(n_tokens)]
        answer["details"] = {**_details(job), "prefill": [], "tokens": tokens}
    return orjson.dumps(answer)


def info(model: str, context_tokens: int) -> bytes:
    """The body of /info."""
    answer = {
        "model_id": model,
        "model_pipeline_tag": "text-generation",
        "max_input_tokens": context_tokens - 1,
        "max_total_tokens": context_tokens,
    }
    return orjson.dumps(answer)


def _token(position: int) -> dict[str, Any]:
    return {
        "id": text.token_ids(position, 1)[0],
        "text": text.tokens(position, 1).decode(),
        "logprob": text.logprob(position),
        "special": False,
    }


def _details(job: Job) -> dict[str, Any]:
    return {
        "finish_reason": "length" if job.length.finish_reason == "length" else "eos_token",
        "generated_tokens": job.length.output_tokens,
        "seed": job.ask.seed,
    }


def _stream_details(job: Job) -> dict[str, Any]:
    return {**_details(job), "input_length": job.ask.prompt_tokens}


def _event(document: dict[str, Any]) -> bytes:
    return b"data:" + orjson.dumps(document) + b"\n\n"


TGI = Api(
    name="tgi",
    paths=(STREAM_PATH, "/generate"),
    id_prefix="tgi-",
    fields=fields("inputs parameters"),
    parse=parse,
    refuse=refuse,
    whole=whole_answer,
    events=TokenEvents,
    content_type="text/event-stream",
)
