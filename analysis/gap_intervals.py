"""Intervals of gap percentiles and stall shares: by request and by block of time, the wider.

What is asked of the store: per request its gaps and how many are at most each percentile; of a long
level, or where events were dropped, the same by second from its histograms.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import pandas as pd

from analysis.clusters import (
    FEWEST_CLUSTERS,
    Shares,
    block_seconds,
    blocks,
    levels,
    share_interval,
    worth,
)
from analysis.frames import Floats, floats, is_in, where
from analysis.gaps import Gaps, gaps_of
from analysis.per_request import US_PER_MS, US_PER_S, e2e_ms
from analysis.quantiles import Interval
from analysis.windows import arrived_us

METRICS = ("gap", "itl")
MOST_GAPS = 500_000  # counted request by request, 0.1 s of CPU; blocks of more tell as much
ENOUGH_BLOCKS = 10


class Ask(Protocol):
    """`storage.client.Store.ask`, for the questions named here."""

    def __call__(self, name: str, /, **args: Any) -> pd.DataFrame:
        """The frame documented at the query's function."""
        ...


@dataclass(frozen=True, slots=True)
class GapDoubt:
    """How sure one metric's percentiles are: intervals in ms and n_eff by p; by: over what.

    reason: why there is no interval, "" where there is one.
    """

    intervals: dict[float, Interval] = field(default_factory=dict[float, Interval])
    n_eff: dict[float, float] = field(default_factory=dict[float, float])
    by: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class _Worth:
    n_eff: Floats
    by: str


def gap_doubt(
    ask: Ask, at: dict[str, Any], gaps: pd.DataFrame, complete: pd.DataFrame
) -> dict[str, GapDoubt]:
    """Of "gap" and of "itl".  at: run, stage, w0_us, w1_us and traffic, if any.

    gaps: the store's gap_quantiles of that window; complete: the answers asked in it.
    """
    asked = {metric: gaps_of(gaps, metric) for metric in METRICS}
    if not asked["gap"].n:
        return {}
    limits = {f"{metric}_us": _limits_us(found) for metric, found in asked.items()}
    block_s = block_seconds(median_e2e_s(complete))
    is_exact = _is_by_request(asked["gap"], (at["w1_us"] - at["w0_us"]) / US_PER_S / block_s)
    frame = ask("gap_clusters" if is_exact else "gap_seconds", **at, **limits)
    found = {m: _worth_of(_of(frame, m, asked[m]), block_s, is_exact) for m in METRICS}
    edges = {
        m: {p: levels(e, p) for p, e in zip(asked[m].quantiles_ms, w.n_eff, strict=True)}
        for m, w in found.items()
        if isinstance(w, _Worth)
    }
    wanted = sorted({q for of_p in edges.values() for pair in of_p.values() for q in pair if q})
    whole = ask("gap_quantiles", **at, qs=wanted) if wanted else gaps
    doubt: dict[str, GapDoubt] = {}
    for metric, w in found.items():
        if not isinstance(w, _Worth):
            doubt[metric] = GapDoubt(reason=w)
            continue
        there = gaps_of(whole, metric)
        bounds = {p: _interval(asked[metric], p, pair, there) for p, pair in edges[metric].items()}
        n_eff = dict(zip(asked[metric].quantiles_ms, w.n_eff.tolist(), strict=True))
        doubt[metric] = GapDoubt(bounds, n_eff, w.by)
    return doubt


def stall_doubt(stalls: Floats, complete: pd.DataFrame) -> tuple[float, float] | str:
    """The 95 % interval of the share of gaps that were stalls, 0..1; else why there is none.

    stalls: of each answer of `complete`, which also tells n_gaps; NaN where gaps are not known.
    """
    n = floats(complete, "n_gaps")
    known = ~np.isnan(n) & ~np.isnan(stalls)
    if not known.any():
        return "The rows of this run do not carry each answer's gaps."
    shares = Shares(n[known], stalls[known][:, None])
    at_s = arrived_us(complete)[known] / US_PER_S
    found = _worth_of((shares, at_s), block_seconds(median_e2e_s(complete)), True)
    if not isinstance(found, _Worth):
        return found
    return share_interval(float(shares.counted.sum() / shares.n.sum()), float(found.n_eff[0]))


def median_e2e_s(complete: pd.DataFrame) -> float:
    """Of the answers that have one; 0 without any."""
    known = e2e_ms(complete)
    return float(np.nanmedian(known)) / 1e3 if not np.isnan(known).all() else 0.0


def _is_by_request(gaps: Gaps, n_blocks: float) -> bool:
    """Whether token events are read for it: not where there are none to read, or too many."""
    return not gaps.within and (gaps.n <= MOST_GAPS or n_blocks < ENOUGH_BLOCKS)


def _limits_us(gaps: Gaps) -> list[float]:
    return [value * US_PER_MS for value in gaps.quantiles_ms.values()]


def _of(frame: pd.DataFrame, metric: str, gaps: Gaps) -> tuple[Shares, Floats]:
    rows = where(frame, is_in(frame, "metric", metric))
    counted = [floats(rows, f"c{k}") for k in range(len(gaps.quantiles_ms))]
    columns = np.column_stack(counted) if counted else np.zeros((len(rows), 0))
    return Shares(floats(rows, "n"), columns), floats(rows, "asked_us") / US_PER_S


def _worth_of(of: tuple[Shares, Floats], block_s: float, is_exact: bool) -> _Worth | str:
    """n_eff of each limit, the smaller of by request and by block; else why it cannot be told."""
    shares, at_s = of
    m = len(shares.n)
    whole = blocks(shares, at_s, block_s)
    by_block, n_blocks = worth(whole), len(whole.n)
    by_request = worth(shares) if is_exact else None
    told = [found for found in (by_request, by_block) if found is not None]
    if not told:
        what = f"{m} requests" if is_exact else f"{n_blocks} blocks of {block_s:.3g} s"
        return f"An interval of gaps needs {FEWEST_CLUSTERS} requests or blocks; {what} here."
    n_eff: Floats = np.min(told, axis=0)
    n_eff = np.where(np.isinf(n_eff), float(m), n_eff)  # all alike: each request counts once
    said = [f"{m:,} requests"] if by_request is not None else []
    said += [f"{n_blocks:,} blocks of {block_s:.3g} s"] if by_block is not None else []
    wider = ", the wider" if len(told) == 2 else ""
    rough = "" if is_exact else ", counted in histograms by second"
    return _Worth(n_eff, f"By {' and by '.join(said)}{wider}{rough}.")


def _interval(asked: Gaps, p: float, pair: Sequence[float | None], there: Gaps) -> Interval:
    """Through the gaps' distribution; it holds the percentile itself whatever was rounded."""
    low, high = (there.at(q) if q else None for q in pair)
    value = asked.at(p)
    assert value is not None
    return Interval(
        low=None if low is None else min(low * (1 - there.within), value),
        high=None if high is None else max(high * (1 + there.within), value),
    )
