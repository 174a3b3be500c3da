"""Intervals of gap percentiles over simulated runs whose true percentiles are known."""

import numpy as np
import pytest
from scipy.stats import binom

from analysis.clusters import Shares, block_seconds, blocks, levels, share_interval, worth

PS = (0.5, 0.95, 0.99)
RUNS, SECONDS, MEAN_GAPS = 120, 90, 60


def run(draw, n_requests, seconds, stalls_per_s):
    """(asked s, request, gap ms, median answer s): each request at its own pace, and stalls."""
    asked = np.sort(draw.random(n_requests) * seconds)
    n = np.maximum(2, draw.gamma(3, MEAN_GAPS / 3, n_requests).astype(int))
    request = np.repeat(np.arange(n_requests), n)
    pace = 20 * np.exp(draw.normal(0, 0.2, n_requests))
    gap = pace[request] * np.exp(draw.normal(0, 0.25, len(request)))
    upto = np.cumsum(gap)
    begin = (upto - gap)[np.cumsum(n) - n]
    end = asked[request] + (upto - begin[request]) / 1e3
    for at in draw.random(draw.poisson(stalls_per_s * (seconds + 5))) * (seconds + 5):
        hit = (end - gap / 1e3 <= at) & (end > at)  # the engine stops: every open gap grows
        gap[hit] += draw.gamma(3, 50)
    answers = np.bincount(request, weights=gap) / 1e3
    return asked, request, gap, float(np.median(answers))


@pytest.mark.parametrize("stalls_per_s", [0.0, 0.5], ids=["own pace", "stalls of all"])
def test_gap_intervals_cover_as_often_as_they_promise(stalls_per_s):
    draw = np.random.default_rng(11)
    long = run(draw, 30_000, 30_000 * SECONDS / 150, 0.0)[2] if not stalls_per_s else None
    if long is None:
        long = np.concatenate([run(draw, 150, SECONDS, stalls_per_s)[2] for _ in range(200)])
    true = np.quantile(long, PS)
    covered, by_gap = np.zeros(len(PS)), np.zeros(len(PS))
    for _ in range(RUNS):
        asked, request, gap, answer_s = run(draw, 150, SECONDS, stalls_per_s)
        limits = np.quantile(gap, PS)
        counted = [np.bincount(request, weights=gap <= limit) for limit in limits]
        of = Shares(np.bincount(request).astype(float), np.column_stack(counted))
        n_eff = np.minimum(worth(of), worth(blocks(of, asked, block_seconds(answer_s))))
        for total, found in ((n_eff, covered), (np.full(len(PS), len(gap)), by_gap)):
            for i, p in enumerate(PS):
                low, high = levels(total[i], p)
                is_under = high is None or true[i] <= np.quantile(gap, high)
                found[i] += is_under and (low is None or np.quantile(gap, low) <= true[i])
    # 93 %, less what chance takes from so few runs one time in a thousand.
    assert np.all(covered >= binom.ppf(0.001, RUNS, 0.93))
    assert by_gap.min() < 0.8 * RUNS  # taken for independent they do not


def test_the_interval_of_a_stall_share_covers_as_often_as_it_promises():
    draw = np.random.default_rng(12)
    runs = [run(draw, 150, SECONDS, 0.5) for _ in range(RUNS)]
    true = np.mean(np.concatenate([gap for _, _, gap, _ in runs]) > 100)
    covered = 0
    for asked, request, gap, answer_s in runs:
        stalls = np.bincount(request, weights=gap > 100)
        of = Shares(np.bincount(request).astype(float), stalls[:, None])
        n_eff = min(worth(of)[0], worth(blocks(of, asked, block_seconds(answer_s)))[0])
        low, high = share_interval(stalls.sum() / len(gap), n_eff)
        covered += low <= true <= high
    assert covered >= binom.ppf(0.001, RUNS, 0.93)
