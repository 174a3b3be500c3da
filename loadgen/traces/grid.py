"""The grid of a trace: times that were rounded before the trace was published.

Mooncake's conversation trace has about ten requests every 3 s (2,997 to 3,003 ms) and none between;
BurstGPT's times are whole seconds.  Sent as written, each step is a burst that no user made.
"""

import numpy as np
from numpy.typing import NDArray

_LEAST_SHARED = 0.2  # of the rows must share their time with an earlier one
_LEAST_STEP_S = 0.1  # finer steps are no bursts worth speaking of
_JITTER = 0.1  # of a step: how far a gap may be from a whole number of steps
_LEAST_FITTING = 0.95  # of the gaps


def grid_step_s(t_s: NDArray[np.float64]) -> float | None:
    """The step of the grid that sorted times lie on, in seconds; None if they lie on none.

    A grid has few distinct times for its rows, at least three, and nearly all gaps between them are
    whole numbers of one step.  The step is the median of the shortest gaps.
    """
    distinct = np.unique(t_s)
    if len(distinct) < 3 or len(distinct) > (1 - _LEAST_SHARED) * len(t_s):
        return None
    gaps = np.diff(distinct)
    step = float(np.median(gaps[gaps <= 1.5 * np.quantile(gaps, 0.05)]))
    off = np.abs(gaps / step - np.round(gaps / step))
    if step < _LEAST_STEP_S or np.mean(off <= _JITTER) < _LEAST_FITTING:
        return None
    return step


def spread(
    t_s: NDArray[np.float64], step_s: float, shares: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Each row moved forward by its share (0 to 1) of the step, yet not to the next row's time.

    Rows of one time are put in ascending order, so the rows keep the order of the file.
    """
    return np.sort(t_s + shares * np.minimum(step_s, room_after(t_s, step_s)))


def room_after(t_s: NDArray[np.float64], last_s: float) -> NDArray[np.float64]:
    """Seconds from each of the sorted times to the next later one; `last_s` after the last."""
    following = np.searchsorted(t_s, t_s, side="right")
    return np.append(t_s, t_s[-1] + last_s)[following] - t_s
