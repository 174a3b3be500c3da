"""What a server's own metrics say of its prefix cache: tokens looked up, tokens found.

Read once before the load and once after it.  They count every client of the server, not only us.
"""

import re
from typing import Any, NamedTuple

from loadgen.check_api import fetch

PAIRS: tuple[tuple[str, str], ...] = (
    ("vllm:prefix_cache_queries_total", "vllm:prefix_cache_hits_total"),
    ("vllm:gpu_prefix_cache_queries_total", "vllm:gpu_prefix_cache_hits_total"),  # until 0.8
    ("sglang:prompt_tokens_total", "sglang:cached_tokens_total"),
)
"""Names of (looked up, found), both counters of tokens, as servers publish them under /metrics."""
_SAMPLE = re.compile(r"^([A-Za-z_:][\w:]*)(?:\{[^}]*\})? ([^ \n]+)", re.MULTILINE)


class CacheCounters(NamedTuple):
    """Tokens since the server's start; names: where they were read."""

    looked_up: float
    found: float
    name: str


def cache_counters(target: dict[str, Any]) -> CacheCounters | None:
    """Of the server at target["url"]; None where it publishes none.  Never raises."""
    try:
        answer = fetch(target, "/metrics")
    except ValueError:
        return None
    if answer is None or answer[0] != 200:
        return None
    return counters_of(answer[1].decode("utf-8", "replace"))


def counters_of(text: str) -> CacheCounters | None:
    """The pair in a Prometheus text, summed over its labels (one line per model and engine)."""
    sums: dict[str, float] = {}
    for name, value in _SAMPLE.findall(text):
        try:
            sums[name] = sums.get(name, 0.0) + float(value)
        except ValueError:
            continue
    for looked_up, found in PAIRS:
        if looked_up in sums and found in sums:
            return CacheCounters(sums[looked_up], sums[found], found)
    return None


def cache_use(before: CacheCounters | None, after: CacheCounters | None) -> dict[str, Any] | None:
    """Between two readings, JSON-ready: looked_up, found (tokens), name; None if not known.

    A server that was started again in between counts from 0: not known.
    """
    if before is None or after is None or before.name != after.name:
        return None
    looked_up, found = after.looked_up - before.looked_up, after.found - before.found
    if looked_up < 0 or found < 0:
        return None
    return {"looked_up": looked_up, "found": found, "name": after.name}
