"""The frames that charts/ draws, made from a reading: one row per sample, bucket or level."""

from typing import Any

import numpy as np
import pandas as pd

from analysis.reading import Reading
from analysis.samples import samples


def latency_samples(reading: Reading, metric: str = "ttft") -> pd.DataFrame:
    """Columns level, ms: one row per complete request of each level's window (float32)."""
    parts = [(stage.name, samples(metric, stage.cohort).values) for stage in reading.stages]
    return pd.DataFrame(
        {
            "level": np.repeat([name for name, _ in parts], [len(v) for _, v in parts]),
            "ms": np.concatenate([v for _, v in parts] or [np.array([])]).astype("float32"),
        }
    )


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
        "level": level["stage"],
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
