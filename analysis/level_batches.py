"""Intervals of a level's rates by batch means: requests, prompt tokens, goodput."""

from typing import Any

import numpy as np

from analysis.batch_means import Happened, answer_seconds, batch_interval
from analysis.frames import Floats, floats, where
from analysis.goodput import is_good
from analysis.per_request import US_PER_S, answered_us
from analysis.reading import Reading, StageReading
from analysis.windows import arrived_us, is_complete

Json = dict[str, Any]


def with_intervals(found: Json, reading: Reading, stage: StageReading) -> None:
    """Adds ci95 or ci95_reason to the rates in `found` that have a value.

    Offered requests have none: what was asked for is known, not estimated.
    """
    answer_s = answer_seconds(stage.requests)
    for name, happened in _happened(reading, stage).items():
        value = found[name]["value"]
        if value is None or "ci95" in found[name]:
            continue
        told = batch_interval(value, happened, stage.window, answer_s)
        is_why = isinstance(told, str)
        found[name] |= {"ci95": None, "ci95_reason": told} if is_why else {"ci95": list(told)}


def _happened(reading: Reading, stage: StageReading) -> dict[str, Happened]:
    answered = where(stage.requests, is_complete(stage.requests))
    first = floats(answered, "first_token_us")
    first = np.where(np.isnan(first), floats(answered, "whole_us"), first)
    prompts = _known(first, floats(answered, "prompt_tokens"))
    ended = answered_us(answered)
    output = Happened(floats(stage.per_second, "sec") + 0.5, floats(stage.per_second, "tokens"))
    found = {"request_rate": _known(ended, np.ones(len(ended))), "tps_input": prompts}
    if not np.nansum(floats(stage.per_second, "unknown")):  # else its batches lack some tokens
        found["tps_total"] = _both(output, prompts)
    good = is_good(reading.slos_of(stage), stage.cohort.arrived, stage.kind)
    if good is not None:
        met = where(stage.cohort.arrived, good)
        found["goodput"] = _known(arrived_us(met), np.ones(len(met)))
        found["token_goodput"] = _known(arrived_us(met), floats(met, "output_tokens"))
    return found


def _both(output: Happened, prompts: Happened) -> Happened:
    """Tokens in and out together."""
    return Happened(
        np.r_[output.at_s, prompts.at_s], np.r_[np.nan_to_num(output.amount), prompts.amount]
    )


def _known(at_us: Floats, amount: Floats) -> Happened:
    known = ~np.isnan(at_us) & ~np.isnan(amount)
    return Happened(at_us[known] / US_PER_S, amount[known])
