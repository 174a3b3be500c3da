"""Which runs give their token events up to save space, and giving them up with their numbers kept.

A policy counts from the newest run; `show` is asked once before, so that its exact answers stay.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pandas as pd

from analysis.show import show

_UNITS = {"MB": 10**6, "GB": 10**9, "TB": 10**12}
_DAY_NS = 86_400 * 10**9
Question = Callable[..., pd.DataFrame]


class PolicyError(ValueError):
    """A policy that cannot be read; its text says what was expected."""


@dataclass(frozen=True, slots=True)
class Policy:
    """What of the token events is kept; None: as much as there is."""

    days: float | None = None
    newest: int | None = None
    n_bytes: float | None = None


def policy(text: str) -> Policy:
    """`30d` keeps thirty days, `50GB` the newest fifty gigabytes (also MB, TB).

    Raises PolicyError.
    """
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*(d|MB|GB|TB)\s*", text)
    if not found:
        raise PolicyError(
            f"{text!r} says neither how long nor how much token events are kept; "
            "expected something like 30d or 50GB."
        )
    n, unit = float(found[1]), found[2]
    return Policy(days=n) if unit == "d" else Policy(n_bytes=n * _UNITS[unit])


def to_drop(sizes: pd.DataFrame, kept: Policy, now_ns: int) -> pd.DataFrame:
    """The rows of `sizes` that the policy does not keep.

    sizes: of the question raw_sizes, newest run first.  now_ns: wall clock.
    """
    goes = pd.Series(False, index=sizes.index)
    if kept.days is not None:
        goes |= sizes["since_epoch_ns"] < now_ns - kept.days * _DAY_NS
    if kept.newest is not None:
        goes |= pd.Series(range(len(sizes)), index=sizes.index) >= kept.newest
    if kept.n_bytes is not None:
        goes |= sizes["n_bytes"].cumsum() > kept.n_bytes
    return sizes.loc[goes]


def drop(ask: Question, do: Callable[..., Any], runs: list[str]) -> int:
    """Remove the token events of these runs, one after another; returns how many went.

    ask, do: a store's.  Raises StoreError at the first run that cannot be dropped.
    """
    n_events = 0
    for run in runs:
        do("keep_answers", run=run)
        show(ask, run)
        n_events += int(do("drop_raw", runs=[run])["n_events"].iloc[0])
    return n_events
