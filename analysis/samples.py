"""The requests behind a percentile: answers that came whole, and what became of the others.

A failed request has no latency; where a percentile must not look better because requests failed,
each failure counts as +infinity.  A stream that we ended ourselves (cancelled) is censored: it
counts nowhere but in its own number.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from analysis.frames import Floats, floats, is_in, where
from analysis.metrics import METRICS


@dataclass(frozen=True)
class Cohort:
    """The requests that arrived within one window, `complete` being those that were answered.

    In the order of their send: what one waited tells of the next.
    """

    arrived: pd.DataFrame
    complete: pd.DataFrame
    failed: int
    censored: int


def cohort(arrived: pd.DataFrame) -> Cohort:
    """arrived: the requests of a window (`windows.members`), every outcome; sorted by send here."""
    sent = floats(arrived, "send_us")
    if not np.all(np.diff(sent) >= 0):  # request_ids of several load workers run side by side
        arrived = arrived.iloc[np.argsort(sent, kind="stable")]
    complete = where(arrived, is_in(arrived, "outcome", "complete"))
    censored = int(is_in(arrived, "outcome", "cancelled").sum())
    return Cohort(arrived, complete, len(arrived) - len(complete) - censored, censored)


@dataclass(frozen=True, slots=True)
class Samples:
    """One per-request metric over one cohort; `values`: NaN-free, complete requests as sent."""

    values: Floats
    undefined: int  # complete requests for which the metric does not exist
    failed: int

    @property
    def with_failures(self) -> Floats:
        """The values and +inf for each failed request."""
        return np.r_[self.values, np.full(self.failed, np.inf)]


def samples(name: str, of: Cohort) -> Samples:
    """Samples of the metric METRICS[name]."""
    of_rows = METRICS[name].values
    assert of_rows is not None, f"{name} is not a per-request metric"
    values = of_rows(of.complete)
    is_known = ~np.isnan(values)
    return Samples(values[is_known], int(np.sum(~is_known)), of.failed)
