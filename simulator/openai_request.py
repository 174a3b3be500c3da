"""Bodies of OpenAI's chat and completions APIs, with the errors a vLLM server would answer."""

from dataclasses import replace
from typing import Any

import orjson

from simulator.api import fields
from simulator.ask import ApiError, Ask, Posted, Want, bad_request
from simulator.body import at_least_one, field, limit, message_words, plain_ask, prompt_words
from simulator.body import required as required_field

COMPLETIONS_DEFAULT_TOKENS = 16  # as in OpenAI's API and in vLLM; chat has no default

_COMMON = (
    "model max_tokens stream stream_options n seed stop temperature top_p frequency_penalty "
    "presence_penalty logit_bias logprobs user "
)
# Source: OpenAI's API reference; vLLM's own (ignore_eos, return_token_ids, …) are not in it.
CHAT_FIELDS = fields(
    _COMMON + "messages max_completion_tokens top_logprobs tools tool_choice parallel_tool_calls "
    "response_format reasoning_effort metadata store service_tier modalities prediction audio "
    "verbosity web_search_options prompt_cache_key safety_identifier"
)
COMPLETIONS_FIELDS = fields(_COMMON + "prompt suffix echo best_of")


def parse_chat(posted: Posted) -> Ask:
    """The request as values; raises ApiError 400 for bodies that vLLM would refuse, too."""
    body = posted.body
    messages = required_field(body, "messages", list)
    if not messages:
        raise bad_request("Provide at least one message.", None)
    max_tokens = limit(body, "max_completion_tokens") or limit(body, "max_tokens")
    return _openai_ask(plain_ask(posted, at_least_one(message_words(messages)), max_tokens), body)


def parse_completions(posted: Posted) -> Ask:
    """The same for a prompt; a thinking model's thoughts are plain text here."""
    body = posted.body
    prompt = body.get("prompt")
    if isinstance(prompt, list) and len(prompt) == 1 and isinstance(prompt[0], str | list):
        prompt = prompt[0]
    max_tokens = limit(body, "max_tokens") or COMPLETIONS_DEFAULT_TOKENS
    ask = plain_ask(posted, prompt_words(prompt, "prompt"), max_tokens)
    return replace(_openai_ask(ask, body), thinks=False)


def refuse(error: ApiError) -> tuple[int, bytes]:
    """Status and body of an error, shaped as vLLM's."""
    if error.status == 401:
        return 401, b'{"error":"Unauthorized"}'
    shape = {
        "message": error.message,
        "type": error.kind,
        "param": error.param,
        "code": error.status,
    }
    return error.status, orjson.dumps({"error": shape})


def _openai_ask(ask: Ask, body: dict[str, Any]) -> Ask:
    options = field(body, "stream_options", dict) or {}
    if options and ask.fault.refuse_usage:
        raise bad_request("stream_options is not supported by this server.", "stream_options")
    if (field(body, "n", int) or 1) != 1:
        raise bad_request("This server gives one answer per request; n must be 1.", "n")
    has_usage = bool(options.get("include_usage")) and not ask.fault.ignore_usage
    logprobs = body.get("logprobs")  # true or false in chat, a number (0 counts) in completions
    wants: dict[Want, bool] = {
        "usage": has_usage,
        "running_usage": has_usage and bool(options.get("continuous_usage_stats")),
        "logprobs": logprobs is not None and logprobs is not False,
        "token_ids": bool(field(body, "return_token_ids", bool)),
        "metrics": bool(field(body, "include_metrics", bool)),
    }
    return replace(ask, wants=frozenset(want for want, is_wanted in wants.items() if is_wanted))
