"""An answer in one piece: which body is one JSON document, and what the document says."""

import json
from typing import Any

import orjson

from loadgen.wire.api import Api, Delta
from loadgen.wire.error_text import error_of_json, is_error, one_line
from loadgen.wire.framing import ProtocolError

MAX_DOCUMENT_BYTES = 16 * 1024 * 1024
"""Embeddings of many texts are long; a document beyond this is not read."""
TOO_LONG = f"The answer is one document of more than {MAX_DOCUMENT_BYTES >> 20} MiB."

QUOTED_BYTES = 300

_STREAM_TYPES = ("text/event-stream", "application/x-ndjson", "application/jsonl")
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_BEGINS_JSON = (b"{", b"[")


def comes_whole(content_type: str, is_streamed: bool, body: bytes) -> bool:
    """Whether an answer that begins with `body` is one document; else its events are read.

    is_streamed: a stream was asked for.  One that is called application/json is believed to be
    JSON by its first byte only, for some servers call their event streams so.
    """
    if content_type in _STREAM_TYPES:
        return False
    if not is_streamed:
        return True
    is_json = content_type == "application/json" or content_type.endswith("+json")
    return is_json and body.lstrip().startswith(_BEGINS_JSON)


def read_document(body: bytes, api: Api) -> list[Delta] | None:
    """What the document says; None if `body` is no JSON.

    Raises ProtocolError if it is neither an answer nor an error.
    """
    body = body.removeprefix(_BYTE_ORDER_MARK)
    value = _parse(body)
    if value is None:
        return None
    try:
        if not isinstance(value, dict):
            raise ProtocolError("it is no object")
        return api.decode_whole(value)
    except ProtocolError as problem:
        if is_error(value):
            sentence, code = error_of_json(value)
            return [Delta("error", error=sentence or "an error without a text", error_code=code)]
        why = str(problem).rstrip(".")
        quoted = one_line(body[:QUOTED_BYTES].decode("utf-8", "replace"))
        raise ProtocolError(
            f"The answer is one JSON document, but none of {api.name} ({why}): {quoted}"
        ) from None


def _parse(body: bytes) -> Any | None:
    """The JSON value; None if it is none (null is no answer either)."""
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError:
        return _parse_leniently(body)


def _parse_leniently(body: bytes) -> Any | None:
    """Also NaN, half a surrogate pair and broken UTF-8, which servers send and orjson refuses."""
    if not body.lstrip().startswith((b"{", b"[")):
        return None
    try:
        return json.loads(body.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None
