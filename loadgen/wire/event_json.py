"""What the events of all APIs share: JSON in, the odd payloads that are none, errors, counts."""

import json
from collections.abc import Callable
from typing import Any

import orjson

from loadgen.wire.api import Delta
from loadgen.wire.error_text import ErrorCode, error_of_json, one_line
from loadgen.wire.framing import ProtocolError, WireEvent

DONE = Delta("done")
PING = Delta("ping")
EMPTY = Delta("empty")

_NO_OBJECT = {b"[DONE]": [DONE], b"null": [EMPTY], b"": [PING]}


def error_delta(value: Any, code: ErrorCode = None) -> Delta:
    """An error event: the server's sentence and its code, else `code`."""
    sentence, told = error_of_json(value)
    code = told if told is not None else code
    return Delta("error", error=sentence or "an error without a text", error_code=code)


def bare_event(event: WireEvent, error: Callable[[Any], Delta] = error_delta) -> list[Delta] | None:
    """The meaning of an event that needs no look into an object; None for all the others.

    `[DONE]`, `null`, void data, and the events named `ping` and `error`, whose data may be text;
    `error` reads it.
    """
    name, data = event
    if len(data) < 8 and data in _NO_OBJECT:
        return _NO_OBJECT[data]
    if name == "ping":
        return [PING]
    return [error(_loads_or_text(data))] if name == "error" else None


def load_object(data: bytes) -> dict[str, Any]:
    """An event's JSON object; raises ProtocolError if it is none."""
    try:
        value = orjson.loads(data)
    except orjson.JSONDecodeError:
        value = _loads_leniently(data)
    if not isinstance(value, dict):
        raise ProtocolError(f"An event is no JSON object: {_shown(data)}")
    return value


def count(value: Any) -> int | None:
    """A number of tokens; None where a server sends something else, or what no column can hold."""
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return value if is_number and 0 <= value < 2**31 else None


def text(value: Any) -> str:
    """A string, also a void one; void for null and whatever else is no string."""
    return value if isinstance(value, str) else ""


def text_or_none(value: Any) -> str | None:
    """A string that says something, such as an id."""
    return value if value and isinstance(value, str) else None


def objects(value: Any) -> list[dict[str, Any]]:
    """The objects of a list; nothing if it is no list."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def fields(value: Any) -> dict[str, Any]:
    """An object, or a void one in the place of null and of nonsense."""
    return value if isinstance(value, dict) else {}


def listed(value: Any) -> int:
    """How many entries a list has; 0 if it is no list."""
    return len(value) if isinstance(value, list) else 0


def _loads_leniently(data: bytes) -> Any:
    """Also half a surrogate pair, NaN and broken UTF-8, which servers send and orjson refuses."""
    try:
        return json.loads(data.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        raise ProtocolError(f"An event is no JSON: {_shown(data)}") from None


def _shown(data: bytes) -> str:
    return one_line(data[:80].decode("utf-8", "replace"))


def _loads_or_text(data: bytes) -> Any:
    """JSON of any kind, or the bytes as text."""
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        return data.decode("utf-8", "replace")
