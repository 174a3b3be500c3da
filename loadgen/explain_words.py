"""An explanation in words: what an event says, the headline, a few sentences.

Any terminal and page can show them.  headline and summary take the dict.
"""

import json
from typing import Any, Literal

from loadgen.wire.api import Delta, UsageCount

Json = dict[str, Any]
Tone = Literal["green", "orange", "red"]

FAILED = {
    "connect_failed": "Cannot be reached",
    "rate_limited": "Limits the rate",
    "http_error": "Refuses the request",
    "stream_error": "Fails inside its answer",
    "empty": "Answers without any text",
    "malformed": "Does not speak this API",
    "truncated": "Cuts its answer off",
    "reset": "Cuts the connection",
    "timeout": "Does not answer in time",
}
SOURCES = {
    "usage": "the server's usage",
    "usage_continuous": "the usage on its events",
    "chunks": "what its chunks list",
    "tokenizer": "target.tokenizer",
}
STARTED = "Could not be asked"

MAX_TEXT = 160
"""Of an event's text no more is shown."""
UNKNOWN = "unknown shape"
"""The note of an event that is in none of the shapes that these APIs have."""
FRAMES = ("response.", "content_block_", "message_", "ping")
FRAME_KEYS = frozenset(
    {"choices", "content", "message", "response", "token", "usage", "timings", "prompt_progress"}
)


def headline(said: Json) -> tuple[Tone, str]:
    """(tone, words) of to_dict(), or of {"ok": false, "sentence": …}."""
    if not said["ok"]:
        words = FAILED.get(said.get("outcome", ""), STARTED)
        status = said.get("http_status")
        return "red", f"{words} (HTTP {status})" if status and status >= 300 else words
    n = sum(warning["level"] == "warn" for warning in said["warnings"])
    if not n:
        return "green", "Answers, and can be measured"
    return "orange", f"Answers, with {n} {'warning' if n == 1 else 'warnings'}"


def summary(said: Json) -> str:
    """What came when, and how many tokens; of a failure, what happened and what to do."""
    if not said["ok"]:
        return said["sentence"] or said.get("detail") or "Nothing was said."
    if said["form"] == "whole":
        return (
            f"The answer came in one piece after {ms(said['phases']['whole_ms'])}. {_counts(said)}"
        )
    phases = said["phases"]
    first, last = ms(phases["first_token_ms"]), ms(phases["last_token_ms"])
    return f"First token after {first}{_pace(said)}, the last one after {last}. {_counts(said)}"


def _pace(said: Json) -> str:
    """How the others followed; a median gap means nothing where they came in batches."""
    if any(warning["name"] == "batched" for warning in said["warnings"]):
        return ", the others in batches"
    gap = said["chunk_gap"]
    return f", then one event every {ms(gap['p50_ms'])} (median)" if gap["n"] else ""


def _counts(said: Json) -> str:
    tokens = said["tokens"]
    n, output = tokens["chunks"], tokens["output"]
    events = f"{n:,} token {'event' if n == 1 else 'events'}" if n else ""
    if output is None and not n and tokens["prompt"] is not None:
        return f"It holds no text; the server's usage counts {tokens['prompt']:,} prompt tokens."
    if output is None:
        return f"{events or 'An answer'}, but nobody counted tokens."
    told = f"{output:,} {'token' if output == 1 else 'tokens'}"
    within = f" in {events}" if events else ""
    source = SOURCES.get(tokens["source"], "the server")
    return f"{told}{within}, counted by {source}."


def ms(value: float | None) -> str:
    """Milliseconds to three digits, from ten seconds on in seconds; a dash where there are none."""
    if value is None:
        return "–"
    if value >= 10_000:
        return f"{value / 1000:,.1f} s"
    if value >= 1000:
        return f"{round(value, -1):,.0f} ms"
    digits = 0 if value >= 100 else 1 if value >= 10 else 2
    return f"{value:,.{digits}f} ms"


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
