"""What INDEX.tsv counted in a recording, as our decoder should tell it.

The index was made by another program, which looked at lines and JSON keys and knew OpenAI's two
streams only.  Where it means something else than we do, the difference has a name here.
"""

from typing import Any

OPENAI = ("openai_chat", "openai_completions")

NO_EMPTY_CHOICES = "LiteLLM's usage event has a choice with an empty delta, where others have none"
ONE_USAGE_EACH = "llama.cpp tells a usage for each choice; the index keeps the last, we add them up"
HALF_A_USAGE = "LiteLLM passes the usage of one of two choices: we say that nobody counted"
ZERO_USAGE = "LiteLLM fills in a usage of zeros: we say that nobody counted"
NULL_EVENT = "an event `data: null` is JSON, but the index did not count it"
BY_TIMINGS = "llama.cpp's timings count the tokens where no usage was asked for"
BY_LOGPROBS = "log probabilities count the tokens where no usage was asked for"

DIFFERENCES: dict[str, tuple[str, dict[str, int | None]]] = {
    "llamacpp/chat_stream_n2": (ONE_USAGE_EACH, {"output_tokens": 32}),
    "llamacpp/completions_stream_n2": (ONE_USAGE_EACH, {"output_tokens": 8}),
    "llamacpp/completions_stream_two_prompts": (
        f"{ONE_USAGE_EACH}; {NULL_EVENT}",
        {"output_tokens": 8, "events": 11},
    ),
    "litellm_llamacpp/chat_stream_n2": (HALF_A_USAGE, {"output_tokens": None}),
    "litellm_llamacpp/completions_stream_n2": (HALF_A_USAGE, {"output_tokens": None}),
    "litellm_llamacpp/completions_stream_two_prompts": (HALF_A_USAGE, {"output_tokens": None}),
    "litellm_llamacpp/completions_stream_logprobs": (ZERO_USAGE, {"output_tokens": None}),
    "litellm_llamacpp/chat_stream_logprobs": (BY_LOGPROBS, {"output_tokens": 4}),
    "vllm/chat_stream_logprobs": (BY_LOGPROBS, {"output_tokens": 4}),
    "vllm/completions_stream_logprobs": (BY_LOGPROBS, {"output_tokens": 3}),
    "llamacpp/chat_stream_json_object": (BY_TIMINGS, {"output_tokens": 39}),
    "llamacpp/chat_stream_logprobs": (BY_TIMINGS, {"output_tokens": 4}),
    "llamacpp/chat_stream_max0": (BY_TIMINGS, {"output_tokens": 1}),
    "llamacpp/chat_stream_no_usage": (BY_TIMINGS, {"output_tokens": 16}),
    "llamacpp/chat_stream_progress": (BY_TIMINGS, {"output_tokens": 4}),
    "llamacpp/err_bad_model": (BY_TIMINGS, {"output_tokens": 16}),
    "llamacpp/err_empty_messages": (BY_TIMINGS, {"output_tokens": 16}),
    "llamacpp/err_negative_temperature": (BY_TIMINGS, {"output_tokens": 16}),
    "llamacpp/gzip_accepted": (BY_TIMINGS, {"output_tokens": 4}),
    "llamacpp/http10_style_close": (BY_TIMINGS, {"output_tokens": 4}),
}
"""Recording -> (why, our counts)."""


def expected(name: str, row: dict[str, str]) -> dict[str, Any]:
    """The index's row in our words, with our own count where a difference is named."""
    counted = {key: int(row[key]) for key in ("role", "content", "reasoning", "tool")}
    says_finish = row["finish"] or None
    usage = row["usage_completion"]
    found = {
        **counted,
        "events": int(row["json_events"]),
        "finish_reason": says_finish,
        "output_tokens": int(usage) if usage else None,
        "usage_alone": int(row["empty_choices"]),
        "done": int(row["done"] == "DONE"),
        "comments": int(row["comments"]),
        "errors": int(row["error_events"]),
    }
    if name.startswith("litellm_llamacpp/"):  # NO_EMPTY_CHOICES
        found["usage_alone"] = int(usage not in ("", "0"))
    return found | DIFFERENCES.get(name, ("", {}))[1]


def n_events(api: str, said: dict[str, Any]) -> int:
    """Events with JSON in them; one choice for each event.  Anthropic's end is JSON, too."""
    other = said.get("other_events", {})
    not_json = other.get("comment", 0)
    not_json += 0 if api == "anthropic_messages" else other.get("done", 0)
    return said["n_chunks"] + sum(other.values()) - not_json


def found(said: dict[str, Any]) -> dict[str, Any]:
    """The same of what our decoder says of one of OpenAI's streams."""
    other, kinds = said.get("other_events", {}), said["kinds"]
    return {
        "role": other.get("role", 0),
        **{kind: kinds.get(kind, 0) for kind in ("content", "reasoning", "tool")},
        "events": n_events(OPENAI[0], said),
        "finish_reason": said.get("finish_reason"),
        "output_tokens": said.get("output_tokens"),
        "usage_alone": other.get("usage", 0),
        "done": other.get("done", 0),
        "comments": other.get("comment", 0),
        "errors": other.get("error", 0),
    }


def outcome(row: dict[str, str]) -> str:
    """How a stream ended by the index's words alone."""
    if not row["status"].startswith("200 "):
        return "http_error"
    if int(row["error_events"]):
        return "stream_error"
    if row["termination"] == "TRUNCATED":
        return "truncated" if row["end"] == "eof" else "cancelled"
    tokens = sum(int(row[kind]) for kind in ("content", "reasoning", "tool"))
    return "complete" if tokens else "empty"
