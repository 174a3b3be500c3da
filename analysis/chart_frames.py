"""The frames that charts/ draws, made from a reading: one row per sample, bucket or level."""

from typing import Any

import numpy as np
import pandas as pd

from analysis.frames import Floats, floats
from analysis.per_request import ttft_ms
from analysis.prompt_slope import FEWEST, SPREAD, lowest
from analysis.reading import Reading
from analysis.samples import samples
from analysis.slo import FROM_SCHEDULE
from analysis.timeline_frame import level_timeline

__all__ = [
    "answer_events",
    "gap_histogram",
    "generator_health",
    "latency_samples",
    "level_timeline",
    "load_curve",
]

MOST_PROMPT_POINTS = 2_000


def latency_samples(reading: Reading, metric: str = "ttft") -> pd.DataFrame:
    """Columns level, clock, ms: one row per complete request of each level's window (float32).

    clock: "send"; in open loop "schedule" too, the same requests timed from when they were due.
    """
    parts = [
        (stage.name, clock, samples(timed, stage.cohort).values)
        for stage in reading.stages
        for clock, timed in (("send", metric), ("schedule", FROM_SCHEDULE.get(metric, "")))
        if clock == "send" or (timed and stage.kind == "open")
    ]
    lengths = [len(values) for _, _, values in parts]
    return pd.DataFrame(
        {
            "level": np.repeat([level for level, _, _ in parts], lengths),
            "clock": np.repeat([clock for _, clock, _ in parts], lengths),
            "ms": np.concatenate([v for _, _, v in parts] or [np.array([])]).astype("float32"),
        }
    )


def prompt_points(reading: Reading) -> pd.DataFrame:
    """Columns tokens, ms, n, of the answers that prompt_slope looks at; every k-th above 2,000.

    n: how many answers there are.  No row where prompts hardly differ in length.
    """
    stage = lowest(reading.stages)
    none = pd.DataFrame({"tokens": [], "ms": [], "n": []}, dtype="float32")
    if stage is None:
        return none
    tokens, ms = floats(stage.cohort.complete, "prompt_tokens"), ttft_ms(stage.cohort.complete)
    known = ~np.isnan(tokens) & ~np.isnan(ms)
    tokens, ms = tokens[known], ms[known]
    if len(tokens) < FEWEST or tokens.max() < SPREAD * max(tokens.min(), 1):
        return none
    every = -(-len(tokens) // MOST_PROMPT_POINTS)
    shown = {"tokens": tokens[::every], "ms": ms[::every], "n": len(tokens)}
    return pd.DataFrame(shown).astype("float32")


def gap_histogram(reading: Reading) -> pd.DataFrame:
    """Columns level, metric ("gap" or "itl"), b, n: the buckets of each level's whole stage."""
    columns = ["level", "metric", "b", "n"]
    parts = [stage.histogram.assign(level=stage.name) for stage in reading.stages]
    whole = (
        pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=pd.Index(columns))
    )
    return whole.loc[:, columns]


def load_curve(levels: list[dict[str, Any]]) -> pd.DataFrame:
    """One row per level of show.py: streams in flight, tok/s and TTFT with their intervals, n."""
    return pd.DataFrame([_load_row(level) for level in levels], columns=pd.Index(LOAD_COLUMNS))


def answer_events(events: list[dict[str, Any]]) -> pd.DataFrame:
    """Columns kind, ms, so_far: one row per event of one explained answer, in order of arrival.

    events: of loadgen.explain; so_far counts them from 1.
    """
    return pd.DataFrame(
        {
            "kind": [event["kind"] for event in events],
            "ms": np.array([event["ms"] for event in events], dtype="float64"),
            "so_far": np.arange(1, len(events) + 1, dtype="float64"),
        }
    )


def generator_health(pulses: pd.DataFrame, doubt: pd.DataFrame) -> pd.DataFrame:
    """One row per second of the run, the worst load worker's value; ms, shares 0..1.

    pulses, doubt: the store's `pulses` and `doubt_per_s`.  Columns sec, lag_ms, loop_ms, pause_ms,
    send_lag_ms, cpu_share (NaN: not recorded), bound_ms, shared_share (NaN: nothing arrived).
    """
    beats = {name: floats(pulses, column) / 1e3 for name, column in _PULSE_MS.items()}
    beats["cpu_share"] = floats(pulses, "cpu_share")
    arrivals = {
        "bound_ms": floats(doubt, "bound_p99_us") / 1e3,
        "shared_share": floats(doubt, "shared") / np.maximum(floats(doubt, "events"), 1),
    }
    beat_s, arrival_s = floats(pulses, "t_us") // 1e6, floats(doubt, "sec")
    seconds = np.unique(np.r_[beat_s, arrival_s])
    columns = {name: _worst_at(seconds, beat_s, values) for name, values in beats.items()}
    columns |= {name: _worst_at(seconds, arrival_s, values) for name, values in arrivals.items()}
    return pd.DataFrame({"sec": seconds, **columns})


def _worst_at(seconds: Floats, at: Floats, values: Floats) -> Floats:
    """The largest value of each second (ascending, every one of `at` among them); NaN for none."""
    worst = np.full(len(seconds), np.nan)
    np.fmax.at(worst, np.searchsorted(seconds, at), values)
    return worst


_PULSE_MS = {
    "lag_ms": "read_lag_p99_us",
    "loop_ms": "hub_late_max_us",
    "pause_ms": "gc_pause_max_us",
    "send_lag_ms": "send_lag_p99_us",
}

LOAD_COLUMNS = (
    "level",
    "in_flight",
    "tps",
    "tps_low",
    "tps_high",
    "ttft_p50_ms",
    "ttft_p95_ms",
    "ttft_p95_low_ms",
    "ttft_p95_high_ms",
    "n",
    "failed",
    "is_short",
)


def _load_row(level: dict[str, Any]) -> dict[str, Any]:
    ttft, tps = level["metrics"]["ttft"], level["metrics"]["tps_system"]
    ends = {"complete", "cancelled"}
    p95_low, p95_high = ttft["ci95"].get("p95", [None, None])
    tps_low, tps_high = tps["ci95"] or [None, None]
    return {
        "level": level["name"],
        "in_flight": level["mean_in_flight"],
        "tps": tps["value"],
        "tps_low": tps_low,
        "tps_high": tps_high,
        "ttft_p50_ms": ttft["p50"],
        "ttft_p95_ms": ttft["p95"],
        "ttft_p95_low_ms": p95_low,
        "ttft_p95_high_ms": p95_high,
        "n": ttft["n"],
        "failed": sum(n for outcome, n in level["outcomes"].items() if outcome not in ends),
        "is_short": level["window"]["short"],
    }
