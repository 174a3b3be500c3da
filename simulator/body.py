"""Reading request bodies: what all APIs have in common.

Prompt tokens are the whitespace-separated words of all texts; token ids count one each.  Sampling
parameters, `stop`, tools and unknown fields do nothing (see front.py for a server that refuses
them).
"""

from typing import Any

import orjson

from simulator.ask import ApiError, Ask, Posted, Word, Words, bad_request


def json_object(raw: bytes) -> dict[str, Any]:
    """The body, or ApiError 400 if it is not a JSON object."""
    try:
        body = orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        message = f"1 validation error:\n  JSON decode error: {error}"
        raise ApiError(400, message, "Bad Request", "body") from None
    if not isinstance(body, dict):
        raise ApiError(400, "1 validation error:\n  body: object expected", "Bad Request", "body")
    return body


def field(body: dict[str, Any], name: str, kind: type) -> Any:
    """`body[name]` or None; raises ApiError if it is of another type (true is not a number)."""
    value = body.get(name)
    if value is None:
        return None
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        message = f"1 validation error:\n  body.{name}: {kind.__name__} expected, got {value!r:.80}"
        raise ApiError(400, message, "Bad Request", f"body.{name}")
    return value


def required(body: dict[str, Any], name: str, kind: type) -> Any:
    """`body[name]`; raises ApiError if it is missing or of another type."""
    value = field(body, name, kind)
    if value is None:
        message = f"1 validation error:\n  body.{name}: Field required"
        raise ApiError(400, message, "Bad Request", f"body.{name}")
    return value


def limit(body: dict[str, Any], name: str) -> int | None:
    """A token limit of at least 1, or None."""
    value = field(body, name, int)
    if value is not None and value < 1:
        raise bad_request(f"{name} must be at least 1, got {value}.", name)
    return value


def plain_ask(posted: Posted, words: Words, max_tokens: int | None) -> Ask:
    """An Ask with the fields most APIs write alike; the others are to be replaced."""
    body = posted.body
    return Ask(
        inputs=(words,),
        model=field(body, "model", str),
        max_tokens=max_tokens,
        ignore_eos=bool(field(body, "ignore_eos", bool)),
        seed=field(body, "seed", int),
        is_streamed=bool(field(body, "stream", bool)),
        thinks=True,
        wants=frozenset(),
        fault=posted.fault,
    )


def message_words(messages: list[Any]) -> list[Word]:
    """The words of all messages' contents."""
    words: list[Word] = []
    for message in messages:
        if isinstance(message, dict):
            words += content_words(message.get("content"))
    return words


def content_words(content: Any) -> list[Word]:
    """The words of a text, or of the texts in a list of parts."""
    parts = content if isinstance(content, list) else [{"text": content}]
    texts = [part.get("text") for part in parts if isinstance(part, dict)]
    return [word for text in texts if isinstance(text, str) for word in text.split()]


def prompt_words(prompt: Any, name: str) -> Words:
    """The words of one text, or one list of token ids; raises ApiError for anything else."""
    if isinstance(prompt, str):
        return at_least_one(list(prompt.split()))
    if isinstance(prompt, list) and all(type(token) is int for token in prompt):
        return at_least_one(prompt)
    raise bad_request(f"{name} must be one text or one list of token ids.", name)


def at_least_one(words: list[Word]) -> Words:
    """A begin-of-text token stands for an empty prompt."""
    return tuple(words) or ("",)
