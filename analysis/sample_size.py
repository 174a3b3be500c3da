"""How many requests a percentile needs: said before a run, when it can still be changed.

Times of answers are taken for lognormal; the standard error of the logarithm of a percentile of n
of them is k_p σ / √n, k_p = √(p (1 − p)) / φ(z_p).
Source: Serfling, Approximation Theorems of Mathematical Statistics (1980), section 2.3.3.
"""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import pandas as pd
from scipy.stats import norm

from analysis.autocorrelation import effective_ns
from analysis.frames import Floats, floats, is_in, where
from analysis.per_request import ttft_ms
from analysis.quantiles import ALPHA, need_n
from analysis.windows import arrived_us, is_complete, is_load

POWER = 0.8
USUAL_SIGMA = 0.5
FEWEST = 50  # answers of a level that its spread can be told from
CHANGE = 0.10
TAIL = (0.95, 0.99)


@dataclass(frozen=True, slots=True)
class Spread:
    """How TTFT scatters: σ of its logarithm, and how many of 1 requests count (n_eff / n).

    run: the name of the run that told; "" where nothing was measured and σ is a usual one.
    """

    sigma: float = USUAL_SIGMA
    worth: float = 1.0
    run: str = ""


USUAL = Spread()


class Ask(Protocol):
    """`storage.client.Store.ask`."""

    def __call__(self, name: str, /, **args: Any) -> pd.DataFrame:
        """The frame of a named question."""
        ...


def within(n: float, p: float, spread: Spread = USUAL) -> float:
    """How far the upper end of the 95 % interval of a percentile of n lies above it, a share."""
    error = _k(p) * spread.sigma / np.sqrt(n * spread.worth)
    return float(np.expm1(norm.ppf(1 - ALPHA / 2) * error))


def to_see(change: float, p: float, spread: Spread = USUAL) -> int:
    """Requests of each of two runs that show a change of a percentile (0.1: by 10 %).

    Two-sided 5 %, seen in 80 % of such comparisons.
    """
    z = norm.ppf(1 - ALPHA / 2) + norm.ppf(POWER)
    per_run = 2 * (z * _k(p) * spread.sigma / np.log1p(change)) ** 2
    return int(np.ceil(per_run / spread.worth))


def to_bound(p: float, spread: Spread = USUAL) -> int:
    """Requests below which the percentile's interval has no upper end."""
    return int(np.ceil(need_n(p) / spread.worth))


def advice(n: float, spread: Spread = USUAL) -> str:
    """What about n requests are enough for, one sentence without its subject.

    `about 240 requests: enough for p95 (to about 14 %), not for p99, which needs …`
    """
    said = f"about {_round(n)} {'request' if round(n) == 1 else 'requests'}"
    held = [p for p in TAIL if n >= to_bound(p, spread)]
    missing = [p for p in TAIL if p not in held]
    if n < to_bound(0.5, spread):
        return f"{said}: too few to say anything of a percentile."
    known = " and ".join(f"{_name(p)} (to about {_percent(within(n, p, spread))})" for p in held)
    said += f": enough for {known or 'the median'}"
    if not missing:
        return f"{said}."
    p = missing[0]
    return (
        f"{said}, not for {_name(p)}, which needs {_round(to_bound(p, spread))} for an upper bound "
        f"and about {_round(to_see(CHANGE, p, spread))} to show a change of {_percent(CHANGE)}."
    )


def assumption(spread: Spread) -> str:
    """What the numbers of `advice` rest on."""
    if not spread.run:
        return (
            "Percentages are half of a 95 % interval, if TTFT scatters as it usually does (by a "
            f"factor of about {np.exp(spread.sigma):.2g} up or down): no earlier run of this "
            "endpoint tells."
        )
    alike = ""
    if spread.worth < 1:
        alike = f", where {1 / spread.worth:.2g} requests told as much as 1 independent one"
    return (
        "Percentages are half of a 95 % interval, if TTFT scatters as in the run "
        f"{spread.run} (by a factor of about {np.exp(spread.sigma):.3g} up or down{alike})."
    )


def earlier_spread(ask: Ask, url: str, model: str) -> Spread:
    """Of the newest finished run of that endpoint and model; USUAL where there is none."""
    runs = ask("runs")
    same = is_in(runs, "url", url) & is_in(runs, "model", model) & is_in(runs, "state", "finished")
    found = where(runs, same & (floats(runs, "n_complete") >= FEWEST))
    if not len(found):
        return USUAL
    newest = found.iloc[0]
    requests = ask("requests", run=str(newest["run_uid"]))
    told = spread_of(where(requests, is_load(requests) & is_complete(requests)))
    return Spread(*told, run=str(newest["name"])) if told else USUAL


def spread_of(answers: pd.DataFrame) -> tuple[float, float] | None:
    """(σ of ln TTFT, n_eff / n at p95) of the level with the widest; None if all have too few.

    σ from the median to p95, the side that tail percentiles are on.
    """
    found: list[tuple[float, float]] = []
    for stage in np.unique(floats(answers, "stage")):
        level = where(answers, floats(answers, "stage") == stage)
        values = _in_order(level)
        if len(values) >= FEWEST:
            middle, tail = np.quantile(values, [0.5, 0.95])
            sigma = float(np.log(tail / middle) / norm.ppf(0.95))
            found.append((max(sigma, 0.01), effective_ns(values, [0.95])[0] / len(values)))
    return max(found, default=None)


def _in_order(level: pd.DataFrame) -> Floats:
    values = ttft_ms(level)[np.argsort(arrived_us(level), kind="stable")]
    return values[values > 0]


def _k(p: float) -> float:
    return float(np.sqrt(p * (1 - p)) / norm.pdf(norm.ppf(p)))


def _name(p: float) -> str:
    return f"p{100 * p:g}"


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _round(n: float) -> str:
    """Exact up to 1,000, then two digits: more would look surer than it is."""
    return f"{round(n):,}" if n < 1000 else f"{float(f'{n:.2g}'):,.0f}"
