"""The server's own sentence out of the many shapes of an error, bounded in length."""

import html
import json
import re
from typing import Any

import orjson

MAX_CHARS = 500
"""Longer sentences are cut with an ellipsis: they are shown in tables and kept in every row."""

MAX_DEPTH = 8
"""So deep into an error's objects is a sentence looked for."""

ErrorCode = int | str | None

# What is never closed goes to the end: else each of a million openings is searched to the end.
_TAG_BLOCKS = re.compile(r"(?is)<(script|style|head)\b.*?(?:</\1>|\Z)")
_TITLE = re.compile(r"(?is)<title[^>]*(?:>|\Z)(.*?)(?:</title>|\Z)")
_TAG = re.compile(r"(?s)<[^>]*(?:>|\Z)")


def sentence_of_body(body: bytes) -> str | None:
    """What an error body says: JSON of any known shape, HTML or plain text; None if void."""
    try:
        value = orjson.loads(body)
    except orjson.JSONDecodeError:
        return _sentence_of_text(body.decode("utf-8", "replace"))
    sentence, _ = error_of_json(value)
    return sentence


def error_of_json(value: Any, depth: int = 0) -> tuple[str | None, ErrorCode]:
    """(sentence, code) of an error document or of the value of its `error` key.

    Shapes seen on real servers: {"error": {"message", "code"}}, {"error": "text"},
    {"detail": "text"}, {"detail": [{"loc", "msg"}]}, {"object": "error", "message"}, "text".
    """
    if isinstance(value, str):
        return one_line(value) or None, None
    if depth > MAX_DEPTH:
        return None, None
    if isinstance(value, list):
        parts = [said for item in value if (said := error_of_json(item, depth + 1)[0])]
        return one_line("; ".join(parts)) or None, None
    if not isinstance(value, dict):
        return None, None
    code = value.get("code", value.get("status_code"))
    code = code if isinstance(code, int | str) else None
    for key in ("message", "error", "detail", "msg", "error_message", "title"):
        inner = value.get(key)
        if not inner:
            continue
        sentence, inner_code = error_of_json(inner, depth + 1)
        if sentence:
            return _with_place(sentence, value), code if code is not None else inner_code
    return one_line(json_text(value)) if value else None, code


def json_text(value: Any) -> str:
    """A value that came as JSON, as JSON again: of any size, half a surrogate pair included."""
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    except RecursionError:
        return "…"  # a thousand brackets say nothing to a reader


def is_error(value: Any) -> bool:
    """Whether a whole JSON document, or an event, says that something failed."""
    if not isinstance(value, dict) or "choices" in value:
        return isinstance(value, dict) and bool(value.get("error"))
    named = value.get("error") or value.get("detail") or value.get("message")
    return bool(named) or value.get("object") == "error"


def one_line(text: str) -> str:
    """`text` with each run of white space as one blank, at most MAX_CHARS characters."""
    line = " ".join(text.split())
    return line if len(line) <= MAX_CHARS else line[: MAX_CHARS - 1] + "…"


def _with_place(sentence: str, item: dict[str, Any]) -> str:
    """FastAPI says which field is wrong in `loc`: body.model: Field required."""
    place = item.get("loc")
    if not isinstance(place, list):
        return sentence
    return f"{'.'.join(str(part) for part in place)}: {sentence}"


def _sentence_of_text(text: str) -> str | None:
    if "<" in text and (title := _TITLE.search(text)):
        text = title.group(1)
    elif re.search(r"(?i)<(html|body|!doctype|h1|p)\b", text):
        text = _TAG.sub(" ", _TAG_BLOCKS.sub(" ", text))
    return one_line(html.unescape(text)) or None
