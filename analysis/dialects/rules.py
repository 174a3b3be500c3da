"""The statistics of the tools: their percentile rules, spreads and names.

A rule is a function (values, weights) -> {name of the statistic: number}; {} of no values.
"""

from collections.abc import Callable, Sequence

import numpy as np

from storage.exchange.answers import Floats

Rule = Callable[[Floats, Floats | None], dict[str, float]]

PERCENT = (1.0, 5.0, 10.0, 25.0, 50.0, 75.0, 90.0, 95.0, 99.0)


def numpy_linear(values: Floats, weights: Floats | None = None) -> dict[str, float]:
    """mean, median, std (population), min, max, count, sum, linear percentiles: numpy's defaults.

    vLLM, SGLang, AIPerf and inference-perf; each value counts once, whatever `weights` says.
    """
    del weights
    if not len(values):
        return {}
    told = np.percentile(values, (0.1, *PERCENT, 99.9))
    return {
        "mean": float(np.mean(values)),
        "median": float(np.median(values)),
        "std": float(np.std(values)),
        "min": float(np.min(values)),
        "max": float(np.max(values)),
        "count": float(len(values)),
        "sum": float(np.sum(values)),
        **{_key(p): float(v) for p, v in zip((0.1, *PERCENT, 99.9), told, strict=True)},
    }


def pandas_linear(values: Floats, weights: Floats | None = None) -> dict[str, float]:
    """The same with the sample's standard deviation (n - 1), as pandas has it: llmperf."""
    found = numpy_linear(values, weights)
    if found:
        found["std"] = float(np.std(values, ddof=1)) if len(values) > 1 else float("nan")
    return found


def inverse_cdf(values: Floats, weights: Floats | None = None) -> dict[str, float]:
    """Nothing is interpolated: the smallest value that at least p of all weight does not exceed.

    GuideLLM, whose mean and std are weighted too; weights None: each value counts once.
    Equal values add their weights; values without weight do not exist.
    """
    heavy = np.ones(len(values)) if weights is None else weights
    kept = heavy > 0
    ordered, place = np.unique(values[kept], return_inverse=True)
    if not len(ordered):
        return {}
    share = np.bincount(place.ravel(), weights=heavy[kept]) / np.sum(heavy[kept])
    mean = float(np.sum(ordered * share))
    upto = np.cumsum(share)
    at = np.searchsorted(upto, np.array((0.1, *PERCENT, 99.9)) / 100, side="left")
    told = ordered[np.minimum(at, len(ordered) - 1)]  # the shares may add up to a little below 1
    found = {_key(p): float(v) for p, v in zip((0.1, *PERCENT, 99.9), told, strict=True)}
    return {
        "mean": mean,
        "median": found["p50"],
        "mode": float(ordered[np.argmax(share)]),
        "std": float(np.sqrt(np.sum((ordered - mean) ** 2 * share))),
        "variance": float(np.sum((ordered - mean) ** 2 * share)),
        "count": float(round(np.sum(heavy[kept]))),
        "sum": mean * round(np.sum(heavy[kept])),
        "min": float(ordered[0]),
        "max": float(ordered[-1]),
        **found,
    }


def floor_rank(values: Floats, weights: Floats | None = None) -> dict[str, float]:
    """sorted[floor(n p)], counted from 0: MLPerf's LoadGen; its mean is the plain one."""
    del weights
    if not len(values):
        return {}
    ordered = np.sort(values)
    found = {"mean": float(np.mean(values)), "min": float(ordered[0]), "max": float(ordered[-1])}
    for p in (50.0, 90.0, 95.0, 97.0, 99.0, 99.9):
        # p is a decimal: n * 0.99 of 100 must be 99, not 98.999…
        place = min(len(ordered) - 1, int(np.floor(round(len(ordered) * p / 100, 9))))
        found[_key(p)] = float(ordered[place])
    return found


def ours(metric: str, values: Floats, weights: Floats | None) -> dict[str, float]:
    """Our own statistics of `values`: linear percentiles, each value counts once.

    ITL per token is weighted by tokens and never interpolated (METRICS).
    """
    return (inverse_cdf if metric == "itl" else numpy_linear)(values, weights)


OURS = {"avg": "mean", "std_dev": "std", "stddev": "std"}
"""Names that tools have for a statistic of ours."""


def renamed(found: dict[str, float], names: Sequence[tuple[str, str]]) -> dict[str, float]:
    """The statistics of a tool by its own names.  names: (theirs, ours)."""
    return {theirs: found[ours] for theirs, ours in names if ours in found}


def _key(p: float) -> str:
    return f"p{p:g}"
