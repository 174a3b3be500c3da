"""Rates of the whole system over a window: tokens, requests, and whether the counts hold together.

A rate's denominator is the window's measured length, never a configured one.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd

from analysis.batch_means import Happened, answer_seconds, batch_interval
from analysis.frames import floats, is_in, where
from analysis.in_flight import mean_in_flight
from analysis.per_request import US_PER_S, answered_us
from analysis.windows import Window, is_complete, members

LITTLE_TOLERANCE = 0.05
SHORTFALL_SHARE = 0.05  # of what came; fewer missing answers are no shortfall


@dataclass(frozen=True, slots=True)
class Rate:
    """A rate per second, its 95 % interval (None: `reason` says why), and its note, if any."""

    value: float | None
    ci95: tuple[float, float] | None = None
    reason: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class TokenCount:
    """Token events within a window: their known tokens, and how many events tell no count."""

    tokens: int
    events: int
    unknown: int


def token_rate(
    count: TokenCount, requests: pd.DataFrame, window: Window, per_second: pd.DataFrame
) -> Rate:
    """System output TPS: tokens that arrived within the window / its length.

    Events of unknown count take the stage's mean output_tokens per chunk, and `note` says so.
    requests: all of the stage; per_second: its `tokens_per_s` rows (sec, tokens, events).
    """
    if not count.events:
        return Rate(None, reason="No token arrived within the window.")
    tokens, note = float(count.tokens), ""
    if count.unknown:
        ratio = _tokens_per_chunk(requests)
        if ratio is None:
            return Rate(None, reason="No request tells its output_tokens; only chunks are known.")
        tokens += count.unknown * ratio
        note = (
            f"{count.unknown:,} of {count.events:,} chunks do not tell their tokens; "
            f"{ratio:.3g} each is assumed, the mean of the requests that do."
        )
    value = tokens / window.seconds
    # Batches of events are proportional to tokens where an event's tokens are not told.
    column = "events" if count.unknown else "tokens"
    seconds = floats(per_second, "sec")
    came = Happened(seconds + 0.5, floats(per_second, column))
    told = batch_interval(value, came, window, answer_seconds(requests))
    if isinstance(told, str):
        return Rate(value, reason=told, note=note)
    return Rate(value, told, note=note)


def told_rate(requests: pd.DataFrame, window: Window) -> Rate:
    """System output TPS of a whole level without token events: all tokens told / its length.

    A window from the first send to the last end holds every token, whenever each arrived.
    """
    tokens = floats(requests, "output_tokens")
    if not len(tokens) or np.isnan(tokens[is_complete(requests)]).any() or np.isnan(tokens).all():
        return Rate(None, reason="Not every answer tells its output_tokens.")
    note = "No chunk has a time: the tokens of all answers over the whole level."
    why = "An interval needs to know when tokens arrived."
    return Rate(float(np.nansum(tokens)) / window.seconds, reason=why, note=note)


def request_rate(requests: pd.DataFrame, window: Window) -> float:
    """Answers completed within the window per second (last arrival inside it, due whenever)."""
    done = answered_us(where(requests, is_complete(requests)))
    return float(np.sum((done >= window.begin_us) & (done < window.end_us))) / window.seconds


def input_rate(requests: pd.DataFrame, window: Window) -> float | None:
    """Prompt tokens per second: those of answers whose first arrival lies within the window.

    Cached tokens count: the server took them in.  None where an answer does not tell its tokens.
    """
    answered = where(requests, is_complete(requests))
    first = floats(answered, "first_token_us")
    first = np.where(np.isnan(first), floats(answered, "whole_us"), first)
    inside = (first >= window.begin_us) & (first < window.end_us)
    tokens = floats(answered, "prompt_tokens")[inside]
    if not len(tokens) or np.isnan(tokens).any():
        return None
    return float(tokens.sum()) / window.seconds


def offered_rate(requests: pd.DataFrame, window: Window) -> float:
    """Requests due (closed loop: sent) within the window per second, never sent ones included."""
    return len(members(requests, window)) / window.seconds


def failed_of(requests: pd.DataFrame, window: Window) -> tuple[int, int]:
    """How many of the window's requests failed, and how many it has; cut off is no failure."""
    asked = members(requests, window)
    return int((~is_in(asked, "outcome", "complete", "cancelled")).sum()), len(asked)


def shortfall(requests: pd.DataFrame, window: Window) -> Literal["overload", "failures"] | None:
    """Why fewer were completed than came; None where the server keeps up.

    Overload: what neither came whole nor failed piles up, by more than 5 % and more than chance.
    Chance: that difference is in-flight at the end minus at the begin; for a steady Poisson
    population of mean N its standard deviation is sqrt(2 N).  Failures: more than 5 % failed.
    """
    failed, came = failed_of(requests, window)
    population = mean_in_flight(requests, window.begin_us, window.end_us)
    piled = came - request_rate(requests, window) * window.seconds - failed
    if piled > max(SHORTFALL_SHARE * came, 3 * np.sqrt(2 * population)):
        return "overload"
    return "failures" if failed > SHORTFALL_SHARE * came else None


@dataclass(frozen=True, slots=True)
class Little:
    """Little's law over a window: mean in flight against departures/s x mean residence."""

    mean_in_flight: float
    rate_x_residence: float
    difference_share: float
    is_ok: bool


def littles_law(requests: pd.DataFrame, window: Window) -> Little | None:
    """L = λ W with residence = end − send; None when nothing ended within the window.

    A difference above 5 % means that rows are missing or that the window is not steady.
    """
    measured = mean_in_flight(requests, window.begin_us, window.end_us)
    sent, ended = floats(requests, "send_us"), floats(requests, "end_us")
    left = (ended >= window.begin_us) & (ended < window.end_us) & ~np.isnan(sent)
    if not left.any() or measured == 0:
        return None
    residence_s = float(np.mean(ended[left] - sent[left])) / US_PER_S
    expected = float(np.sum(left)) / window.seconds * residence_s
    difference = (expected - measured) / measured
    return Little(measured, expected, difference, abs(difference) <= LITTLE_TOLERANCE)


def _tokens_per_chunk(requests: pd.DataFrame) -> float | None:
    tokens, chunks = floats(requests, "output_tokens"), floats(requests, "n_chunks")
    known = ~np.isnan(tokens) & (chunks > 0)
    return float(np.sum(tokens[known]) / np.sum(chunks[known])) if known.any() else None
