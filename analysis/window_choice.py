"""Which window a level is judged by: moved by hand, the whole level, or the one found by itself.

Imported runs are always whole: their own tools' figures are, and a part would not be comparable.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from analysis.frames import where
from analysis.per_request import US_PER_S, e2e_ms
from analysis.windows import (
    STEADY_ANSWERS,
    STEADY_S,
    Window,
    bounds,
    is_complete,
    stage_window,
)

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Choice:
    """What was asked for the levels of one run.

    by_hand: a level's number to its moved window, µs.  is_whole: every level as a whole instead.
    imported_from: the tool, for a run that is not ours; has_times: it told when requests were sent.
    """

    by_hand: Mapping[int, Span] = field(default_factory=dict[int, Span])
    is_whole: bool = False
    imported_from: str | None = None
    has_times: bool = True


def level_window(stage: dict[str, Any], requests: pd.DataFrame, choice: Choice) -> Window:
    """The window of one level, why it is that one, and who chose it.

    stage: a row of `stages`; requests: the rows of that stage.
    """
    begin, end = level_span(stage, requests)
    if not choice.has_times:
        reason = "The whole level: the imported file does not tell when requests were sent."
        return Window(begin, end, False, reason, "whole", has_times=False)
    if choice.imported_from:
        reason = f"The whole level, as the file of {choice.imported_from} has it."
        return Window(begin, end, False, reason, "whole")
    found = stage_window(stage, requests)
    if choice.is_whole:
        reason = "The whole level, ramp, run-off and all, because you asked for it."
        return Window(begin, end, found.short, reason, "whole")
    if moved := choice.by_hand.get(int(stage["stage"])):
        return _by_hand(moved, begin, requests, found)
    return found


def level_span(stage: dict[str, Any], requests: pd.DataFrame) -> Span:
    """[begin, end) of the whole level, µs: warm-up left out, run-off to the last end included."""
    begin, _, end = bounds(stage, requests)
    return begin, end


def _by_hand(moved: Span, begin_us: int, requests: pd.DataFrame, found: Window) -> Window:
    w0, w1 = moved
    seconds = (w1 - w0) / US_PER_S
    answers_ms = e2e_ms(where(requests, is_complete(requests)))
    median_s = 0.0 if np.isnan(answers_ms).all() else float(np.nanmedian(answers_ms)) / 1e3
    is_short = seconds < max(STEADY_S, STEADY_ANSWERS * median_s)
    since, until = ((at - begin_us) / US_PER_S for at in moved)
    short = " Short: rates of so few seconds are coarse." if is_short else ""
    reason = (
        f"Set by hand: {seconds:.1f} s, from {since:.1f} to {until:.1f} s of the level.{short} "
        f"Found automatically: {found.reason}"
    )
    return Window(w0, w1, is_short, reason, "hand")
