"""Fields of our request that an endpoint does not know and that a run can do without.  Pure."""

import json
import re
from collections.abc import Iterator
from typing import Any

REFUSALS = (400, 422)
OPTIONAL: dict[str, str] = {
    "stream_options": "so it may not tell token counts",
    "ignore_eos": "so answers may end before the length asked for",
}
"""Each with what leaving it out means."""

PART_OF = {"include_usage": "stream_options"}  # a server may name either
ECHOES = ("input", "ctx", "url", "body")  # FastAPI repeats the whole request under `input`


def refused_fields(status: int | None, body: bytes, sent: set[str]) -> list[str]:
    """Which of the `sent` fields that we can leave out the error names; [] if it is another error.

    sent: the top-level names of the request's JSON that its author did not ask for.
    Sources: vLLM and FastAPI ({"detail": [{"loc": ["body", "stream_options"], …}]}), OpenAI
    ({"error": {"message": …, "param": "stream_options"}}), strict proxies (plain text).
    """
    if status not in REFUSALS:
        return []
    said = " ".join(_texts(_loaded(body)))
    named = set(re.findall(r"[A-Za-z_]+", said))
    wholes = {PART_OF.get(name, name) for name in named}
    return sorted(name for name in OPTIONAL if name in wholes and name in sent)


def _loaded(body: bytes) -> Any:
    text = body.decode("utf-8", "replace")
    try:
        return json.loads(text)
    except ValueError:
        return text


def _texts(value: Any) -> Iterator[str]:
    """Every text and every name in it, but not what echoes our own request."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)
    elif isinstance(value, dict):
        for name, item in value.items():
            if name not in ECHOES:
                yield name
                yield from _texts(item)
