"""Goodput: how many requests a second met every objective that applies to them."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from analysis.frames import Floats, floats
from analysis.metrics import METRICS
from analysis.per_request import US_PER_MS
from analysis.samples import Cohort
from analysis.slo import judged_metric
from analysis.windows import Window, is_complete
from loadgen.plan import Slo


@dataclass(frozen=True, slots=True)
class Goodput:
    """Requests of a window that met every objective that applies to them."""

    value_per_s: float
    met: int
    arrived: int  # failures are in it, streams that we ended ourselves are not
    not_applicable: dict[str, int]  # per metric: requests it does not apply to (one-token answers)


def goodput(slos: list[Slo], of: Cohort, window: Window, kind: str) -> Goodput | None:
    """None without objectives, or when one needs a value that rows do not carry."""
    arrived, good = of.arrived, is_complete(of.arrived)
    not_applicable: dict[str, int] = {}
    for slo in slos:
        values = _per_request(slo, arrived, kind)
        if values is None:
            return None
        undefined = np.isnan(values)
        not_applicable[slo.metric] = int(np.sum(undefined & is_complete(arrived)))
        good = good & (undefined | (values <= slo.max_ms))  # a frame's own values are read-only
    met = int(np.sum(good))
    return (
        Goodput(met / window.seconds, met, len(arrived) - of.censored, not_applicable)
        if slos
        else None
    )


def _per_request(slo: Slo, arrived: pd.DataFrame, kind: str) -> Floats | None:
    """The value each request is held to; of chunk_gap its longest gap, where rows carry it."""
    if slo.metric == "chunk_gap":
        if "longest_gap_us" not in arrived.columns:
            return None
        return floats(arrived, "longest_gap_us") / US_PER_MS
    of_rows = METRICS[judged_metric(slo, kind)].values
    assert of_rows is not None
    return of_rows(arrived)
