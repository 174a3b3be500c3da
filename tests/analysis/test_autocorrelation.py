import numpy as np
import pytest
from scipy.signal import lfilter
from scipy.stats import binom, multivariate_normal, norm

from analysis.autocorrelation import effective_ns, integrated_time
from analysis.quantiles import intervals

P = (0.5, 0.9, 0.95)


def ar1(draw, shape, phi):
    """Rows of a stationary normal AR(1) series of mean 0 and variance 1."""
    steps = draw.standard_normal((shape[0], shape[1] + 200))
    return (lfilter([1], [1, -phi], steps, axis=1) * np.sqrt(1 - phi**2))[:, 200:]


def queue(draw, shape, load):
    """Waits and services of an M/M/1 queue in its steady state (Lindley): Exp(1 - load)."""
    n_rows, n = shape
    wait = np.where(draw.random(n_rows) < load, draw.exponential(1 / (1 - load), n_rows), 0)
    gone = np.empty(shape)
    for i in range(n):
        service = draw.exponential(1, n_rows)
        gone[:, i] = wait + service
        wait = np.maximum(0, wait + service - draw.exponential(1 / load, n_rows))
    return gone


def time_of_indicator(phi, p):
    """1 + 2 Σ ρ_k of x > q_p in an AR(1), from the bivariate normal distribution."""
    z, total = norm.ppf(p), 0.0
    for k in range(1, 36):
        both = multivariate_normal.cdf([z, z], cov=[[1, phi**k], [phi**k, 1]], maxpts=4000)
        total += (both - p**2) / (p * (1 - p))
    return 1 + 2 * total


def least_covered(n_rows):
    """What 93 % of true coverage gives at least, but for one time in a thousand."""
    return binom.ppf(0.001, n_rows, 0.93) / n_rows


@pytest.mark.parametrize("phi", [0.3, 0.6, 0.9])
def test_the_time_of_a_normal_ar1_is_the_known_one(phi):
    series = ar1(np.random.default_rng(1), (6, 20_000), phi)
    found = np.mean([integrated_time(row) for row in series])
    assert found == pytest.approx((1 + phi) / (1 - phi), rel=0.08)


def test_the_time_of_its_indicator_is_that_of_the_bivariate_normal():
    series = ar1(np.random.default_rng(2), (12, 20_000), 0.7)
    for p in P:
        found = np.mean([integrated_time(row > norm.ppf(p)) for row in series])
        assert found == pytest.approx(time_of_indicator(0.7, p), rel=0.08)


def test_neighbours_that_avoid_each_other_are_worth_no_more_than_they_are():
    swing = np.tile([1.0, 2.0], 500)
    assert integrated_time(swing) == pytest.approx(1)
    assert effective_ns(swing, P) == [1000] * 3


def test_a_constant_and_very_few_samples_are_taken_as_they_are():
    assert integrated_time(np.ones(50)) == 1
    assert effective_ns(np.ones(50), P) == [50] * 3
    assert effective_ns(np.arange(19.0), P) == [19] * 3
    assert effective_ns(np.array([]), P) == [0] * 3


def test_independent_samples_are_nearly_always_worth_all_of_them():
    draw = np.random.default_rng(3)
    found = [effective_ns(draw.random(400), (0.95,))[0] for _ in range(200)]
    assert np.mean(np.array(found) == 400) > 0.93


def test_the_order_is_what_makes_them_worth_less():
    row = ar1(np.random.default_rng(4), (1, 2000), 0.9)[0]
    shuffled = np.random.default_rng(5).permutation(row)
    assert effective_ns(row, (0.5,))[0] < 300
    assert effective_ns(shuffled, (0.5,))[0] == 2000


@pytest.mark.parametrize(
    ("make", "true"),
    [
        (lambda draw: ar1(draw, (200, 1500), 0.8), norm.ppf),
        (lambda draw: queue(draw, (300, 1500), 0.5), lambda p: -np.log(1 - p) / 0.5),
    ],
    ids=["AR(1)", "M/M/1"],
)
def test_intervals_of_dependent_samples_cover_as_often_as_they_promise(make, true):
    covered, naive = [], []
    for row in make(np.random.default_rng(6)):
        for p, worth in zip(P, effective_ns(row, P), strict=True):
            for n_eff, found in ((worth, covered), (1500, naive)):
                bounds = intervals(row, [p], [n_eff])[0]
                is_under = bounds.high is None or true(p) <= bounds.high
                found.append(is_under and (bounds.low is None or bounds.low <= true(p)))
    rows = np.array(covered).reshape(-1, len(P))
    assert np.all(rows.mean(axis=0) >= least_covered(len(rows)) - 0.01)
    assert np.mean(naive) < 0.85  # without n_eff they do not
