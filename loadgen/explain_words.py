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
    "chunks": "the lists in its chunks",
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
    return "orange", f"Answers, with {n} {'thing' if n == 1 else 'things'} to mend or to mind"


def summary(said: Json) -> str:
    """What came when, and how many tokens; of a failure, what happened and what to do."""
    if not said["ok"]:
        return said["sentence"] or said.get("detail") or "Nothing was said."
    if said["form"] == "whole":
        return (
            f"The answer came in one piece after {ms(said['phases']['whole_ms'])}. {_counts(said)}"
        )
    phases, gap = said["phases"], said["chunk_gap"]
    first = f"First token after {ms(phases['first_token_ms'])}"
    pace = f", then one event every {ms(gap['p50_ms'])} (median)" if gap["n"] else ""
    return f"{first}{pace}; the whole answer took {ms(phases['end_ms'])}. {_counts(said)}"


def _counts(said: Json) -> str:
    tokens = said["tokens"]
    events = f"in {tokens['chunks']:,} token events" if tokens["chunks"] else ""
    if tokens["output"] is None:
        return f"Nobody counted its tokens {events}".strip() + "."
    source = SOURCES.get(tokens["source"], "")
    one = "token" if tokens["output"] == 1 else "tokens"
    counted = f"{tokens['output']:,} {one} {events}".strip()
    return f"{counted}, as {source} {'count' if source.endswith('chunks') else 'counts'} them."


def ms(value: float | None) -> str:
    """Milliseconds to three digits or so; a dash where there are none."""
    if value is None:
        return "–"
    if value >= 10_000:
        return f"{value / 1000:,.1f} s"
    digits = 0 if value >= 100 else 1 if value >= 10 else 2
    return f"{value:,.{digits}f} ms"
