"""Is the load generator itself healthy?  The verdict of analysis.validity while a run goes on."""

from typing import Any

import pandas as pd

from analysis.validity import Evidence, Validity, hint_of, judge
from analysis.windows import Window
from ui.card import Tone
from ui.live_feed import LiveLines
from ui.live_view import LATENCY_S, LiveTiles

WORDS: dict[str, tuple[Tone, str]] = {
    "exact": ("green", "Load generator healthy: times are exact"),
    "bounded": ("green", "Load generator healthy: times are right within a bound"),
    "saturated": ("red", "Load generator saturated: do not believe these numbers"),
    "unknown": ("gray", "Load generator: nothing to judge yet"),
}


def live_validity(live: LiveLines, tiles: LiveTiles, stamps: str) -> Validity:
    """METRICS.md D8 over the last LATENCY_S seconds of pulses and all counts so far.

    The bound of shared arrivals is not in the live lines: below 1 % of them their p99 is 0, above
    it the sentence says that the bound comes with the Run page.
    """
    pulses = recent_pulses(live)
    if live.events and live.shared > 0.01 * live.events and stamps == "kernel":
        share = live.shared / live.events
        return Validity(
            "bounded",
            f"{share:.1%} of the tokens shared a read with a later one; "
            "how far that moves any number is on the Run page when the run has ended.",
        )
    seen = Evidence(
        stamps=stamps or "kernel",
        n_events=live.events,
        n_shared=live.shared,
        n_missing=live.missing_stamps,
        bound_p99_ms=0.0,
        lag_p99_ms=worst_ms(pulses, "read_lag_p99_us"),
        send_lag_p99_ms=worst_ms(pulses, "send_lag_p99_us"),
        ttft_p50_ms=tiles.ttft_p50_ms,
        chunk_gap_p50_ms=tiles.gap_p50_ms,
        hint=_hint(pulses),
    )
    return judge(seen)


def recent_pulses(live: LiveLines) -> list[dict[str, Any]]:
    """The pulses of the last LATENCY_S seconds, all workers."""
    pulses = [line["pulse"] for kept in live.lines.values() for line in kept if line.get("pulse")]
    last_us = max((p["t_us"] for p in pulses), default=0)
    return [p for p in pulses if p["t_us"] > last_us - LATENCY_S * 1_000_000]


def worst_ms(pulses: list[dict[str, Any]], key: str) -> float | None:
    """The largest value of a `*_us` key, in ms; None if no pulse has it."""
    return max((p[key] / 1000 for p in pulses if p.get(key) is not None), default=None)


def busiest(pulses: list[dict[str, Any]]) -> float | None:
    """The largest share of one core that a load worker used."""
    return max((p["cpu_share"] for p in pulses), default=None)


def _hint(pulses: list[dict[str, Any]]) -> str:
    if not pulses:
        return ""
    last_us = max(p["t_us"] for p in pulses)
    return hint_of(pd.DataFrame(pulses), Window(0, last_us + 1, short=False, reason=""))
