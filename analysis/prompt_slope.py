"""What a longer prompt costs: TTFT against prompt tokens, at the lowest load of a run.

TTFT = a + b · tokens.  At low load nobody queues, so b is the prefill's: 1 / b tokens a second.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from analysis.frames import Floats, floats
from analysis.in_flight import mean_in_flight
from analysis.per_request import ttft_ms
from analysis.reading import StageReading

FEWEST, SPREAD = 30, 4.0
RESAMPLES = 1_000
QUIET = 1.5  # requests at once; with more, some wait for another's prefill
MOST_SQUARES = 3_000  # requests of least squares; every k-th of more
MOST_POINTS = 300  # of Theil-Sen, which looks at each pair; every k-th request of more
PER_1K = 1_000.0
Pairs = tuple[NDArray[np.intp], NDArray[np.intp], Floats]


@dataclass(frozen=True, slots=True)
class Line:
    """A fit: ms at no token, ms per 1,000 tokens, and the 95 % interval of that slope."""

    at_zero_ms: float
    per_1k_ms: float
    ci95: tuple[float, float]


@dataclass(frozen=True, slots=True)
class Slope:
    """One fit of n requests, whose prompts have `least` to `most` tokens.

    theil_sen: the median slope of all pairs, which a stalled request cannot bend; the one that is
    shown.  least_squares beside it: far apart, a few requests pull it.  prefill_tps: of theil_sen,
    (low, high) its interval; None where the slope may be 0 or below.
    """

    n: int
    least: int
    most: int
    theil_sen: Line
    least_squares: Line
    prefill_tps: float | None
    prefill_ci95: tuple[float, float] | None


def prompt_slope(stages: Sequence[StageReading], rng: Generator) -> dict[str, Any]:
    """`prompt_slope` of `show --json`: level, plain, uncached, sentence; else a reason.

    The level with the fewest streams in flight of those that answered.  uncached: over the tokens
    that no cache held, where some were cached.
    """
    found: dict[str, Any] = {"level": None, "plain": None, "uncached": None, "sentence": ""}
    stage = lowest(stages)
    if stage is None:
        return found | {"reason": "No request was answered."}
    answers = stage.cohort.complete
    ttft, tokens = ttft_ms(answers), floats(answers, "prompt_tokens")
    cached = np.nan_to_num(floats(answers, "cached_tokens"))
    plain = fit(tokens, ttft, rng)
    found["level"] = stage.name
    if isinstance(plain, str):
        return found | {"reason": plain}
    uncached = fit(tokens - cached, ttft, rng) if np.any(cached > 0) else None
    found |= {"plain": asdict(plain), "sentence": sentence(plain, stage.name, in_flight(stage))}
    if isinstance(uncached, Slope):
        found["uncached"] = asdict(uncached)
    return found


def lowest(stages: Sequence[StageReading]) -> StageReading | None:
    """The level with the fewest streams in flight that answered; of its classes the one with most.

    None if no answer anywhere has a TTFT.
    """
    load: dict[int, float] = {}
    for stage in stages:
        load[_number(stage)] = load.get(_number(stage), 0.0) + in_flight(stage)
    answered = [s for s in stages if _n_answered(s)]
    return min(answered, key=lambda s: (load[_number(s)], -_n_answered(s)), default=None)


def in_flight(stage: StageReading) -> float:
    """Streams at once over the window; 0 where it is not known when requests were sent."""
    window = stage.window
    return mean_in_flight(stage.requests, window.begin_us, window.end_us)


def fit(tokens: Floats, ttft: Floats, rng: Generator) -> Slope | str:
    """Both lines through (tokens, ms); NaN in either is left out.  Else why there are none."""
    known = ~np.isnan(tokens) & ~np.isnan(ttft)
    x, y = tokens[known], ttft[known]
    if len(x) < FEWEST:
        return (
            f"It needs {FEWEST} answers that tell their prompt tokens, at the lowest load; "
            f"{len(x)} here."
        )
    least, most = int(x.min()), int(x.max())
    if most < SPREAD * max(least, 1):
        return (
            f"It needs prompts of different length, the longest at least {SPREAD:g} times the "
            f"shortest; here they have {least:,} to {most:,} tokens."
        )
    robust, squares = _theil_sen(x, y, rng), _least_squares(x, y, rng)
    low, high = robust.ci95
    is_sure = low > 0
    return Slope(
        n=len(x),
        least=least,
        most=most,
        theil_sen=robust,
        least_squares=squares,
        prefill_tps=1e3 * PER_1K / robust.per_1k_ms if is_sure else None,
        prefill_ci95=(1e3 * PER_1K / high, 1e3 * PER_1K / low) if is_sure else None,
    )


def sentence(slope: Slope, level: str, streams: float) -> str:
    """The fit read aloud; streams: how many requests the level had at once."""
    line = slope.theil_sen
    low, high = line.ci95
    of = f"from {slope.n:,} answers at {level}, prompts of {slope.least:,} to {slope.most:,} tokens"
    if slope.prefill_tps is None or slope.prefill_ci95 is None:
        return (
            f"TTFT does not measurably grow with the prompt: {line.per_1k_ms:.3g} ms per 1,000 "
            f"tokens, 95 % interval {low:.3g} to {high:.3g} ({of})."
        )
    slow, fast = slope.prefill_ci95
    busy = ""
    if streams > QUIET:
        busy = f" With {streams:.3g} requests at once, waiting for each other is in it too."
    return (
        f"Each 1,000 prompt tokens add {line.per_1k_ms:,.3g} ms to TTFT (95 % interval {low:,.3g} "
        f"to {high:,.3g}), as if the server took in {_round(slope.prefill_tps)} prompt tokens a "
        f"second ({_round(slow)} to {_round(fast)}): {of}.{busy}"
    )


def _number(stage: StageReading) -> int:
    return int(stage.row["stage"])


def _n_answered(stage: StageReading) -> int:
    return int(np.sum(~np.isnan(ttft_ms(stage.cohort.complete))))


def _least_squares(x: Floats, y: Floats, rng: Generator) -> Line:
    """The interval by resampling requests: spread that grows with the prompt does not fool it."""
    every = -(-len(x) // MOST_SQUARES)
    x, y = x[::every], y[::every]
    slopes: list[float] = []
    for _ in range(RESAMPLES):
        weight = np.bincount(rng.integers(0, len(x), len(x)), minlength=len(x))
        centred = x - np.average(x, weights=weight)
        spread = float(weight @ centred**2)
        if spread > 0:
            slopes.append(float((weight * centred) @ y) / spread)
    centred = x - x.mean()
    slope = float(centred @ y) / float(centred @ centred)
    return Line(float(y.mean() - slope * x.mean()), slope * PER_1K, _interval(slopes))


def _theil_sen(x: Floats, y: Floats, rng: Generator) -> Line:
    """Theil-Sen's line; the interval by resampling requests (its pairs keep their slopes).

    Source: Sen, Journal of the American Statistical Association 63 (1968) 1379-1389.
    """
    every = -(-len(x) // MOST_POINTS)
    x, y = x[::every], y[::every]
    first, second, slopes = _sorted_slopes(x, y)
    found: list[float] = []
    for _ in range(RESAMPLES):
        times = np.bincount(rng.integers(0, len(x), len(x)), minlength=len(x))
        upto = np.cumsum(times[first] * times[second])
        if upto[-1]:
            found.append(float(slopes[np.searchsorted(upto, upto[-1] / 2)]))
    slope = float(np.median(slopes))
    return Line(float(np.median(y - slope * x)), slope * PER_1K, _interval(found))


def _sorted_slopes(x: Floats, y: Floats) -> Pairs:
    """(i, j, slope) of all pairs of different x, by slope."""
    first, second = np.triu_indices(len(x), 1)
    apart = x[first] != x[second]
    first, second = first[apart], second[apart]
    slopes = (y[second] - y[first]) / (x[second] - x[first])
    order = np.argsort(slopes)
    return first[order], second[order], slopes[order]


def _interval(slopes: list[float]) -> tuple[float, float]:
    low, high = np.quantile(slopes, [0.025, 0.975]) * PER_1K
    return float(low), float(high)


def _round(per_s: float) -> str:
    """Two digits: a slope knows no more."""
    return f"{float(f'{per_s:.2g}'):,.0f}"
