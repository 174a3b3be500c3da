"""What an event says, in few words that any terminal and page can show."""

import json
from typing import Any

from loadgen.wire.api import Delta, UsageCount

MAX_TEXT = 160
"""Of an event's text no more is shown."""
UNKNOWN = "unknown shape"
"""The note of an event that is in none of the shapes that these APIs have."""
FRAMES = ("response.", "content_block_", "message_", "ping")
FRAME_KEYS = frozenset(
    {"choices", "content", "message", "response", "token", "usage", "timings", "prompt_progress"}
)


def printable(text: str, limit: int = MAX_TEXT) -> str:
    """`text` with line breaks, control characters and halves of pairs as escapes; bounded."""
    shown = "".join(c if c.isprintable() else _escape(c) for c in text[:limit])
    return shown if len(text) <= limit else shown + "…"


def _escape(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


def note_of(delta: Delta) -> str:
    """What an event says beside its text: why it ends, usage, an error."""
    told: list[str] = []
    if delta.finish_reason:
        told.append(f"finish_reason {delta.finish_reason}")
    if delta.usage is not None:
        told.append(_usage(delta.usage))
    if delta.error is not None:
        code = f" ({delta.error_code})" if delta.error_code is not None else ""
        told.append(f"{delta.error}{code}")
    return " · ".join(part for part in told if part)


def frame_of(data: bytes) -> tuple[str, str]:
    """(what to show, UNKNOWN or nothing) of an event that means nothing to the run."""
    try:
        value: Any = json.loads(data)
    except (ValueError, RecursionError):
        value = None
    if isinstance(value, dict):
        named = value.get("type")
        if isinstance(named, str):
            return named, "" if named.startswith(FRAMES) else UNKNOWN
        if FRAME_KEYS & value.keys():
            return "", ""
    return data[: 4 * MAX_TEXT].decode("utf-8", "replace"), "" if value is None else UNKNOWN


def _usage(usage: UsageCount) -> str:
    counts = {
        "in": usage.prompt_tokens,
        "out": usage.output_tokens,
        "cached": usage.cached_tokens,
        "reasoning": usage.reasoning_tokens,
    }
    told = ", ".join(f"{n:,} {name}" for name, n in counts.items() if n is not None)
    return f"usage {told}" if told else ""


def counted(n: int, one: str) -> str:
    """`1 event`, `2 events`."""
    return f"{n:,} {one}" if n == 1 else f"{n:,} {one}s"
