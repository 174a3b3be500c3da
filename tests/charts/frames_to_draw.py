"""Small frames for the figures: the same every time."""

import numpy as np
import pandas as pd

from storage.buckets import bucket

LEVELS = ("c=1", "c=4", "c=16")


def samples(n: int = 200, levels: tuple[str, ...] = LEVELS) -> pd.DataFrame:
    """TTFT of each level: lognormal quantiles, so no random generator is needed."""
    even = (np.arange(n) + 0.5) / n
    ms = 40 * np.exp(0.4 * np.log(even / (1 - even)))
    return pd.DataFrame(
        {
            "level": np.repeat(levels, n),
            "clock": "send",
            "ms": np.concatenate([ms * (i + 1) for i in range(len(levels))]).astype("float32"),
        }
    )


def gaps(levels: tuple[str, ...] = LEVELS) -> pd.DataFrame:
    """A bulk at 20 ms and a few stalls of 300 ms at each level, as gaps and per token."""
    b = bucket([18_000, 20_000, 22_000, 300_000])
    rows = [
        {"level": level, "metric": metric, "b": int(one), "n": n}
        for level in levels
        for metric in ("gap", "itl")
        for one, n in zip(b, (300, 600, 90, 10), strict=True)
    ]
    return pd.DataFrame(rows, columns=pd.Index(["level", "metric", "b", "n"]))


def curve(in_flight: tuple[float, ...] = (1.0, 3.9, 15.8)) -> pd.DataFrame:
    """Levels whose throughput flattens and whose TTFT rises."""
    x = np.array(in_flight)
    tps = 1000 * x / (x + 8)
    return pd.DataFrame(
        {
            "level": [f"c={round(v)}" for v in in_flight],
            "in_flight": x,
            "tps": tps,
            "tps_low": tps * 0.95,
            "tps_high": tps * 1.05,
            "ttft_p50_ms": 40 + 10 * x,
            "ttft_p95_ms": 60 + 60 * x,
            "ttft_p95_low_ms": 55 + 55 * x,
            "ttft_p95_high_ms": [None] * len(x),
            "n": [100] * len(x),
            "failed": [0] * len(x),
            "is_short": [False] * len(x),
        }
    )


def health(n: int = 30) -> pd.DataFrame:
    """A load generator that was late for a while, in closed loop (no send lag)."""
    late = np.where(np.arange(n) == n // 2, 30.0, 0.4)
    return pd.DataFrame(
        {
            "sec": np.arange(n, dtype=float),
            "lag_ms": late,
            "loop_ms": 2 * late,
            "pause_ms": np.zeros(n),
            "send_lag_ms": np.full(n, np.nan),
            "cpu_share": np.full(n, 0.6),
            "bound_ms": late / 10,
            "shared_share": late / 1000,
        }
    )


def events(n: int = 20) -> pd.DataFrame:
    """A role, n tokens 20 ms apart of which the first few are reasoning, and an end."""
    kinds = ["role", *["reasoning"] * min(n, 4), *["content"] * max(0, n - 4), "finish", "done"]
    last = 200.0 + 20 * n
    ms = [5.0, *(200.0 + 20 * i for i in range(n)), last, last]
    return pd.DataFrame({"kind": kinds, "ms": ms, "so_far": np.arange(1.0, len(ms) + 1)})


def prompts(n: int = 60) -> pd.DataFrame:
    """TTFT that grows with the prompt."""
    tokens = np.linspace(100, 2000, n)
    return pd.DataFrame({"tokens": tokens, "ms": 20 + 0.05 * tokens, "n": float(n)})


def timeline(n: int = 40) -> pd.DataFrame:
    """A level of n answers a second apart, every second one drawn, with two streams in flight."""
    t_s = np.arange(n, dtype=float)
    return pd.DataFrame(
        {
            "level": "c=2",
            "what": ["ttft_ms"] * n + ["in_flight"] * n,
            "t_s": np.r_[t_s, t_s],
            "value": np.r_[100 + t_s, np.full(n, 2.0)],
            "n": [2 * n, *[None] * (2 * n - 1)],
        }
    )
