"""Where a server says that its time went, in the shapes that OpenAI's answers carry it.

llama.cpp: `timings` in its native and its OpenAI answers; raw recordings.  predicted_ms leaves out
the first token.
vLLM: `metrics`, with --enable-per-request-metrics; time_to_first_token_ms counts from when the
request was scheduled, so it is the prefill and holds no queue.
https://docs.vllm.ai/en/latest/features/per_request_metrics
"""

from typing import Any

from loadgen.wire.api import ServerTimings, UsageCount
from loadgen.wire.event_json import count


def timings_of(document: dict[str, Any]) -> ServerTimings | None:
    """The timings in an event or in a whole answer; None if there are none."""
    timings = document.get("timings")
    if isinstance(timings, dict):
        return some(None, us(timings.get("prompt_ms")), us(timings.get("predicted_ms")))
    metrics = document.get("metrics")
    if isinstance(metrics, dict):
        names = ("queue_time_ms", "time_to_first_token_ms", "generation_time_ms")
        return some(*(us(metrics.get(name)) for name in names))
    return None


def usage_of_timings(document: dict[str, Any]) -> UsageCount | None:
    """llama.cpp counts tokens in `timings` too: prompt_n are the ones that no cache had."""
    timings = document.get("timings")
    if not isinstance(timings, dict):
        return None
    read, cached = count(timings.get("prompt_n")), count(timings.get("cache_n"))
    output = count(timings.get("predicted_n"))
    if read is None and output is None:
        return None
    prompt = None if read is None else read + (cached or 0)
    return UsageCount(prompt, output, cached)


def us(value: Any, per_unit: float = 1000.0) -> int | None:
    """Whole µs from ms, or from another unit that has `per_unit` µs; None for what is no time."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return round(value * per_unit) if 0 <= value < 1e15 else None  # also no NaN


def some(
    queue_us: int | None, prefill_us: int | None, decode_us: int | None
) -> ServerTimings | None:
    """The timings; None if the server told none of them."""
    timings = ServerTimings(queue_us, prefill_us, decode_us)
    return None if timings == (None, None, None) else timings
