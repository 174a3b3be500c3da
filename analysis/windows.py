"""Which part of a stage the numbers come from: its steady window, found and explained in words.

The rules: docs/judging.md.  The window is [begin, end), after the ramp and before the drain.  A
request belongs to it by the instant it was due, else sent, whatever its end: cutting by completion
would favour short answers.
"""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd

from analysis.frames import Floats, Mask, floats, is_in, number, where
from analysis.in_flight import in_flight_area
from analysis.per_request import US_PER_S, e2e_ms

PLATEAU_SHARE = 0.9
STEADY_S = 30.0
STEADY_ANSWERS = 10  # median E2E that a steady window must hold
CUT_ANSWERS = 5  # median E2E that must remain of a short stage whose ends are cut
BINS = 200
SCHEDULED = ("open", "replay")  # kinds of stages whose requests were due


@dataclass(frozen=True, slots=True)
class Window:
    """[begin_us, end_us) of the run's time line; `reason` says in words why it is that one.

    by: found automatically, moved by hand, or the whole level.  has_times: False where nobody knows
    when requests were sent: then there are no rates and nothing was in flight together.
    """

    begin_us: int
    end_us: int
    short: bool
    reason: str
    by: Literal["automatic", "hand", "whole"] = "automatic"
    has_times: bool = True

    @property
    def seconds(self) -> float:
        """Length; the denominator of every rate."""
        return (self.end_us - self.begin_us) / US_PER_S


def arrived_us(requests: pd.DataFrame) -> Floats:
    """The instant that decides membership: due, else send, else dispatched (never sent)."""
    instant = floats(requests, "due_us")
    for column in ("send_us", "dispatched_us"):
        instant = np.where(np.isnan(instant), floats(requests, column), instant)
    return instant


def members(requests: pd.DataFrame, window: Window) -> pd.DataFrame:
    """The requests that arrived within the window, warm-up and preflight left out."""
    instant = arrived_us(requests)
    inside = (instant >= window.begin_us) & (instant < window.end_us)
    return where(requests, inside & is_load(requests))


def is_load(requests: pd.DataFrame) -> Mask:
    """Whether each row is part of the measured load (not preflight, not warm-up)."""
    return ~is_in(requests, "phase", "preflight", "warmup")


def is_complete(requests: pd.DataFrame) -> Mask:
    """Whether each row is an answer that came whole: only those enter a latency percentile."""
    return is_in(requests, "outcome", "complete")


def stage_window(stage: dict[str, Any], requests: pd.DataFrame) -> Window:
    """The window of one stage.  stage: a row of `stages`; requests: the rows of that stage.

    Steady: the stretch with >= 90 % of the plateau's concurrency (open loop: after the first p95
    answer) that lasts >= 30 s and >= 10 median answers, in whole seconds of the run.  Else marked
    short: the stage without the first and last median answer where >= 5 of them remain, or the
    whole stage.
    """
    begin, issue_end, end = bounds(stage, requests)
    answers_ms = e2e_ms(where(requests, is_complete(requests)))
    if np.isnan(answers_ms).all():
        return Window(begin, end, True, "No request was answered, so the whole stage is shown.")
    median_us = max(float(np.nanmedian(answers_ms)) * 1e3, 1.0)  # answers may be instant
    if str(stage.get("kind")) in SCHEDULED:
        first = min(begin + float(np.nanpercentile(answers_ms, 95)) * 1e3, issue_end)
        steady, why = (first, float(issue_end)), "after the first p95 answer"
    else:
        low, high = _plateau(requests, begin, issue_end, median_us)
        steady, why = (max(low, begin + median_us), high), "concurrency at its plateau"
    w0, w1 = _whole_seconds(*steady)
    seconds, answers = (w1 - w0) / US_PER_S, (w1 - w0) / median_us
    if seconds >= STEADY_S and answers >= STEADY_ANSWERS:
        reason = f"Steady for {seconds:.0f} s ({why}); ramp and drain are left out."
        return Window(w0, w1, False, reason)
    return _short(requests, (begin, issue_end, end), median_us)


def _whole_seconds(begin: float, end: float) -> tuple[int, int]:
    """The whole seconds of the run within: what its summaries by second can tell as well."""
    return int(-(-begin // US_PER_S) * US_PER_S), int(end // US_PER_S * US_PER_S)


def _short(requests: pd.DataFrame, bounds: tuple[int, int, int], median_us: float) -> Window:
    """A stage too short to be steady, with its ends cut off where enough of it remains.

    Streams that begin together answer in batches: a window about one answer long holds the ends of
    two batches or of none, so its rates are double or nothing.
    """
    begin, issue_end, end = bounds
    first, last = int(begin + median_us), int(min(issue_end, end - median_us))
    arrived = arrived_us(requests)
    kept = int(np.sum((arrived >= first) & (arrived < last)))
    need_s = max(STEADY_S, STEADY_ANSWERS * median_us / US_PER_S)
    needs = f"a steady window needs {need_s:.0f} s"
    if (issue_end - begin) / US_PER_S > need_s + 2 * median_us / US_PER_S + 1:  # long enough
        needs = f"no stretch of {need_s:.0f} s keeps 90 % of the usual concurrency"
    whole = f"the whole stage, its start-up burst and drain included; {needs}."
    if last - first < CUT_ANSWERS * median_us:
        answers = f"{(end - begin) / median_us:.2g} times a median answer"
        return Window(begin, end, True, f"Too short to cut (it lasts {answers}): {whole}")
    if 2 * kept < len(requests):  # a cut that throws most of the data away tells less, not more
        some = f"{kept} of {len(requests)} requests would remain"
        return Window(begin, end, True, f"Too short to cut ({some}): {whole}")
    seconds = (last - first) / US_PER_S
    reason = f"Short: {seconds:.1f} s without the first and last median answer; {needs}."
    return Window(first, last, True, reason)


def bounds(stage: dict[str, Any], requests: pd.DataFrame) -> tuple[int, int, int]:
    """Begin (of the measured load), one past the last issue, one past the last end; µs."""
    load = where(requests, is_load(requests))
    arrived, ended = arrived_us(load), floats(load, "end_us")
    begin = int(number(stage.get("begin_us")) or 0)
    if is_in(requests, "phase", "warmup").any() and len(load):  # configured: its end is the begin
        begin = max(begin, int(np.nanmin(arrived)))
    last_arrived = int(np.nanmax(arrived)) if len(load) else begin
    last_ended = int(np.nanmax(ended)) if len(load) and not np.isnan(ended).all() else begin
    issue_end = number(stage.get("issue_end_us"))
    end = number(stage.get("end_us"))
    issue_us = int(issue_end) if issue_end is not None else last_arrived
    return begin, max(issue_us, begin) + 1, max(int(end or 0), last_ended, issue_us, begin) + 1


def _plateau(
    requests: pd.DataFrame, begin: int, issue_end: int, median_us: float
) -> tuple[float, float]:
    """The longest stretch whose mean concurrency stays >= 90 % of its median over time.

    Means over bins, because between an answer and the next send concurrency dips for microseconds.
    """
    width = max((issue_end - begin) / BINS, median_us / 2, 1.0)
    steps = np.arange(max(int((issue_end - begin) / width), 1) + 1, dtype="float64")
    edges = begin + width * steps
    mean = np.diff(in_flight_area(requests, edges)) / width
    high = mean >= PLATEAU_SHARE * float(np.median(mean))
    turns = np.flatnonzero(np.diff(np.r_[0, high.astype(int), 0]))
    starts, stops = turns[::2], turns[1::2]
    longest = int(np.argmax(stops - starts))
    low, top = float(edges[starts[longest]]), float(edges[stops[longest]])
    # The last bin may end before the stage does: what is left of it belongs to the plateau.
    return low, float(issue_end) if stops[longest] == len(mean) else top
