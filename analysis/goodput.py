"""Goodput: which requests met every objective that applies to them."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from analysis.frames import Floats, Mask, floats, where
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
    arrived = of.arrived
    good = is_good(slos, arrived, kind)
    if good is None:
        return None
    not_applicable: dict[str, int] = {}
    for slo in slos:
        undefined = np.isnan(_of_requests(slo, arrived, kind))
        not_applicable[slo.metric] = int(np.sum(undefined & is_complete(arrived)))
    tokens = floats(where(arrived, good), "output_tokens")
    known = None if np.isnan(tokens).any() else int(tokens.sum())
    return Goodput(int(np.sum(good)), len(arrived) - of.censored, known, not_applicable)


def is_good(slos: list[Slo], arrived: pd.DataFrame, kind: str) -> Mask | None:
    """Which requests met every objective that applies to them; None as in `goodput`."""
    good = is_complete(arrived)
    for slo in slos:
        values = _per_request(slo, arrived, kind)
        if values is None:
            return None
        good = good & (np.isnan(values) | (values <= slo.max_ms))  # a frame's own are read-only
    return good if slos else None


def why_none(slos: list[Slo]) -> str:
    """Why there is no goodput of these objectives."""
    return NO_GAPS if slos else METRICS["goodput"].undefined_when


def _per_request(slo: Slo, arrived: pd.DataFrame, kind: str) -> Floats | None:
    """The value each request is held to; None where it is missing though it must exist."""
    name = OF_GAPS.get(slo.metric) or judged_metric(slo, kind)
    if name == "longest_gap" and gaps_missing(where(arrived, is_complete(arrived))):
        return None
    return _of_requests(slo, arrived, kind)


def _of_requests(slo: Slo, arrived: pd.DataFrame, kind: str) -> Floats:
    of_rows = METRICS[OF_GAPS.get(slo.metric) or judged_metric(slo, kind)].values
    assert of_rows is not None
    return of_rows(arrived)
