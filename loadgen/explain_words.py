"""An explanation in a headline and a few sentences; takes the dict, as pages and terminals do."""

from typing import Any, Literal

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
