"""Bodies of OpenAI's /v1/responses."""

from dataclasses import replace

from simulator.api import fields
from simulator.ask import Ask, Posted, Want, Word, bad_request
from simulator.body import at_least_one, content_words, field, limit, message_words, plain_ask

# Source: OpenAI's API reference, "Create a model response".
RESPONSES_FIELDS = fields(
    "model input instructions max_output_tokens stream stream_options temperature top_p "
    "reasoning text tools tool_choice parallel_tool_calls previous_response_id conversation "
    "background include max_tool_calls metadata prompt prompt_cache_key safety_identifier "
    "service_tier store top_logprobs truncation user"
)


def parse(posted: Posted) -> Ask:
    """The request as values: `input` is a text or a list of items with contents."""
    body = posted.body
    given = body.get("input")
    words: list[Word] = content_words(field(body, "instructions", str))
    if isinstance(given, str):
        words += given.split()
    elif isinstance(given, list) and given:
        words += message_words(given)
    else:
        raise bad_request("input must be a text or a list of items.", "input")
    reasoning = field(body, "reasoning", dict) or {}
    wants: dict[Want, bool] = {
        "summary": reasoning.get("summary") is not None,
        "metrics": bool(field(body, "include_metrics", bool)),
    }
    ask = plain_ask(posted, at_least_one(words), limit(body, "max_output_tokens"))
    return replace(ask, wants=frozenset(want for want, is_wanted in wants.items() if is_wanted))
