"""Arrivals of an open loop while it runs: offered by the schedule, sent, and not sent."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ui.live_feed import LiveLines

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Arrivals:
    """Per second; None after a worker's latest pulse.  A closed loop offers what it sends."""

    offered_per_s: list[float | None]
    sent_per_s: list[float | None]
    not_sent_per_s: list[float | None]


def arrivals(live: LiveLines, grid: Floats) -> Arrivals:
    """Between each two of the grid's seconds, by the counts in the pulses of all workers."""
    sent, not_sent = _per_s(live, grid, "sent"), _per_s(live, grid, "not_sent")
    return Arrivals(_shown(sent + not_sent), _shown(sent), _shown(not_sent))


def is_scheduled(live: LiveLines) -> bool:
    """Whether some of the load that is shown came by a schedule: an open loop, or a replay."""
    return live.outcomes["not_sent"] > 0 or any(
        line.get("ttft_sched") or (line.get("pulse") or {}).get("dispatch_lag_p99_us") is not None
        for kept in live.lines.values()
        for line in kept
    )


def recent(values: list[float | None], n: int) -> float | None:
    """Mean of the last n that are known."""
    known = [value for value in values if value is not None][-n:]
    return sum(known) / len(known) if known else None


def _per_s(live: LiveLines, grid: Floats, name: str) -> Floats:
    """Growth of a count over each second; NaN where a worker has not pulsed yet."""
    total = np.zeros(max(0, grid.size - 1))
    for lines in live.lines.values():
        pulses = [pulse for line in lines if (pulse := line.get("pulse"))]
        if pulses:
            total += np.diff(_counts(pulses, grid, name))
    return total


def _counts(pulses: list[dict[str, Any]], grid: Floats, name: str) -> Floats:
    times = np.array([p["t_us"] / 1e6 for p in pulses])
    counts = np.array([p.get(name, 0) for p in pulses], dtype=np.float64)
    return np.interp(grid, times, counts, right=np.nan)


def _shown(per_s: Floats) -> list[float | None]:
    return [None if np.isnan(value) else round(float(value), 2) for value in per_s]
