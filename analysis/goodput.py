"""Goodput: which requests met every objective that applies to them."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from analysis.frames import Floats, floats, where
from analysis.metrics import METRICS
from analysis.per_request_stream import gaps_missing
from analysis.samples import Cohort
from analysis.slo import judged_metric
from analysis.windows import is_complete
from loadgen.plan import Slo

NO_GAPS = (
    "an objective on gaps needs each request's longest gap, which is not known for every answer"
)
OF_GAPS = {"chunk_gap": "longest_gap"}  # what one request is held to


@dataclass(frozen=True, slots=True)
class Goodput:
    """Requests of a window that met every objective that applies to them."""

    met: int
    arrived: int  # failures are in it, streams that we ended ourselves are not
    tokens: int | None  # output tokens of those that met; None: one of them does not tell its own
    not_applicable: dict[str, int]  # per metric: requests it does not apply to (one-token answers)


def goodput(slos: list[Slo], of: Cohort, kind: str) -> Goodput | None:
    """None without objectives, or when one needs a value that rows do not carry (`why_none`).

    kind: "open" or "closed", the stage's.
    """
    arrived, good = of.arrived, is_complete(of.arrived)
    not_applicable: dict[str, int] = {}
    if not slos:
        return None
    for slo in slos:
        values = _per_request(slo, arrived, kind)
        if values is None:
            return None
        undefined = np.isnan(values)
        not_applicable[slo.metric] = int(np.sum(undefined & is_complete(arrived)))
        good = good & (undefined | (values <= slo.max_ms))  # a frame's own values are read-only
    tokens = floats(where(arrived, good), "output_tokens")
    known = None if np.isnan(tokens).any() else int(tokens.sum())
    return Goodput(int(np.sum(good)), len(arrived) - of.censored, known, not_applicable)


def why_none(slos: list[Slo]) -> str:
    """Why there is no goodput of these objectives."""
    return NO_GAPS if slos else METRICS["goodput"].undefined_when


def _per_request(slo: Slo, arrived: pd.DataFrame, kind: str) -> Floats | None:
    """The value each request is held to; None where it is missing though it must exist."""
    name = OF_GAPS.get(slo.metric) or judged_metric(slo, kind)
    if name == "longest_gap" and gaps_missing(where(arrived, is_complete(arrived))):
        return None
    of_rows = METRICS[name].values
    assert of_rows is not None
    return of_rows(arrived)
