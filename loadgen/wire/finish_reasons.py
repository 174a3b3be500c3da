"""One word for one reason to stop, so that answers of different APIs can be counted together."""

from typing import Any

_IN_OPENAI_WORDS = {
    # Anthropic Messages, stop_reason
    "end_turn": "stop",
    "stop_sequence": "stop",  # TGI says the same
    "max_tokens": "length",
    "tool_use": "tool_calls",
    "refusal": "content_filter",
    # OpenAI Responses, incomplete_details.reason
    "max_output_tokens": "length",
    # TGI, details.finish_reason
    "eos_token": "stop",
    # llama.cpp, stop_type
    "eos": "stop",
    "word": "stop",
    "limit": "length",
}


def finish_reason(word: Any) -> str | None:
    """The server's word in OpenAI's: stop, length, tool_calls, content_filter; others as said."""
    if not word or word == "none":  # llama.cpp: not stopped
        return None
    word = str(word)
    return _IN_OPENAI_WORDS.get(word, word)
