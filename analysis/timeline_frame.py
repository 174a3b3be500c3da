"""What charts/level_timeline.py draws: each level's TTFT and streams in flight over its time."""

import numpy as np
import pandas as pd

from analysis.frames import where
from analysis.in_flight import in_flight_area
from analysis.per_request import US_PER_S, ttft_ms
from analysis.reading import Reading, StageReading
from analysis.windows import arrived_us, is_complete, is_load

COLUMNS = ("level", "what", "t_s", "value", "n")
STEPS = 200
MOST_POINTS = 1_000


def level_timeline(reading: Reading) -> pd.DataFrame:
    """Columns level, what ("ttft_ms", "in_flight"), t_s (seconds from the level's begin), value, n.

    in_flight: the mean of each of STEPS steps.  ttft_ms: one row per complete request by when it
    was due, else sent; of more than MOST_POINTS every k-th, and n, once per level, says of how
    many.  Levels whose requests have no times have no rows.
    """
    parts = [_of_level(stage) for stage in reading.stages if stage.window.has_times]
    known = [part for part in parts if len(part)]
    return pd.concat(known, ignore_index=True) if known else pd.DataFrame(columns=pd.Index(COLUMNS))


def _of_level(stage: StageReading) -> pd.DataFrame:
    begin, end = stage.span
    edges = np.linspace(begin, end, STEPS + 1)
    streams = np.diff(in_flight_area(stage.requests, edges)) / np.diff(edges)
    load = where(stage.requests, is_complete(stage.requests) & is_load(stage.requests))
    at, ttft = arrived_us(load), ttft_ms(load)
    order = np.argsort(at)
    order = order[~np.isnan(ttft[order])]
    kept = order[:: max(1, -(-len(order) // MOST_POINTS))]
    t_us = np.r_[at[kept], (edges[:-1] + edges[1:]) / 2]
    n = np.full(len(t_us), np.nan)
    if len(kept):
        n[0] = len(order)
    return pd.DataFrame(
        {
            "level": stage.name,
            "what": ["ttft_ms"] * len(kept) + ["in_flight"] * STEPS,
            "t_s": (t_us - begin) / US_PER_S,
            "value": np.r_[ttft[kept], streams],
            "n": n,
        },
        columns=pd.Index(COLUMNS),
    )
