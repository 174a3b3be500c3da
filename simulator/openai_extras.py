"""What OpenAI answers carry on request: log-probabilities, token ids, the request's own times."""

from typing import Any

from simulator.answer import Burst, Finish
from simulator.api import Job
from simulator.text import logprob, pieces, word_id


def chat_logprobs(burst: Burst, _n_text_bytes: int) -> dict[str, Any]:
    """One entry for each token; there are no alternatives (as with top_logprobs = 0)."""
    content: list[dict[str, Any]] = [
        {
            "token": piece.decode(),
            "logprob": logprob(burst.position + i),
            "bytes": list(piece),
            "top_logprobs": [],
        }
        for i, piece in enumerate(pieces(burst.position, burst.n_tokens))
    ]
    return {"content": content}


def completions_logprobs(burst: Burst, n_text_bytes: int) -> dict[str, Any]:
    """The older shape, four lists; `n_text_bytes` = length of the text before (ASCII)."""
    tokens = [piece.decode() for piece in pieces(burst.position, burst.n_tokens)]
    logprobs = [logprob(burst.position + i) for i in range(burst.n_tokens)]
    offsets = [n_text_bytes + len("".join(tokens[:i])) for i in range(burst.n_tokens)]
    return {
        "text_offset": offsets,
        "token_logprobs": logprobs,
        "tokens": tokens,
        "top_logprobs": [{token: value} for token, value in zip(tokens, logprobs, strict=True)],
    }


def prompt_token_ids(job: Job) -> list[int]:
    """The ids of the prompt's words."""
    return [word_id(word) for word in job.ask.inputs[0]]


def request_metrics(finish: Finish) -> dict[str, float | None]:
    """The request's times as vLLM tells them under `metrics`; None is "cannot be computed".

    time_to_first_token_ms begins when the request is scheduled: it leaves out the queue.
    Source: vLLM, docs/features/per_request_metrics.md (--enable-per-request-metrics; PR 46768).
    """
    times, n_tokens = finish.times, finish.usage.completion_tokens
    inference_ns = times.prefill_ns + times.decode_ns
    return {
        "time_to_first_token_ms": times.prefill_ns / 1e6,
        "generation_time_ms": times.decode_ns / 1e6,
        "queue_time_ms": times.queue_ns / 1e6,
        "mean_itl_ms": times.decode_ns / 1e6 / (n_tokens - 1) if n_tokens > 1 else None,
        "tokens_per_second": n_tokens / (inference_ns / 1e9) if inference_ns else None,
    }
