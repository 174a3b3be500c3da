"""The interval of a rate: how much it differs between equal batches of the window."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.stats import t as student_t

from analysis.frames import Floats, floats
from analysis.per_request import US_PER_S
from analysis.quantiles import ALPHA
from analysis.windows import Window

FEWEST_BATCHES, MOST_BATCHES = 10, 20
ANSWERS = 2  # median answers that a batch lasts at least: then neighbours are nearly independent


@dataclass(frozen=True, slots=True)
class Happened:
    """What a rate counts: when (s on the run's time line), and how much each time."""

    at_s: Floats
    amount: Floats


def answer_seconds(requests: pd.DataFrame) -> float:
    """The median time from send to end; 0 if nothing ended."""
    spans = floats(requests, "end_us") - floats(requests, "send_us")
    return float(np.nanmedian(spans)) / US_PER_S if not np.isnan(spans).all() else 0.0


def batch_interval(
    value: float, of: Happened, window: Window, answer_s: float
) -> tuple[float, float] | str:
    """The 95 % interval of a rate `value`; else one sentence why there is none.

    10 to 20 equal batches of whole seconds, each at least two median answers: Student's t of their
    means.  Never below 0.
    Source: Law & Kelton, Simulation Modeling and Analysis, section 9.5.3, on batch means.
    """
    first = int(np.ceil(window.begin_us / US_PER_S))
    whole = int(window.end_us // US_PER_S) - first  # whole seconds within the window
    least_s = max(int(np.ceil(ANSWERS * answer_s)), 1)
    batch_s = max(least_s, whole // MOST_BATCHES)
    n = max(whole, 0) // batch_s
    if n < FEWEST_BATCHES:
        need = (
            f"{FEWEST_BATCHES * least_s} s ({FEWEST_BATCHES} batches of {ANSWERS} median answers)"
        )
        return f"An interval needs {need}; {window.seconds:.0f} s here."
    edges = first + batch_s * np.arange(n + 1)
    inside = (of.at_s >= edges[0]) & (of.at_s < edges[-1])
    sums, _ = np.histogram(of.at_s[inside], bins=edges, weights=np.nan_to_num(of.amount[inside]))
    if not sums.sum():
        return "Nothing came in the batches."
    share = float(np.std(sums, ddof=1) / np.mean(sums)) / float(np.sqrt(n))
    half = float(student_t.ppf(1 - ALPHA / 2, n - 1)) * share
    return max(value * (1 - half), 0.0), value * (1 + half)
