import numpy as np
import pandas as pd
import pytest
from made import SECOND, Made, back_to_back, frame, row, stage

from analysis.quantiles import intervals
from analysis.sample_size import (
    USUAL,
    Spread,
    advice,
    assumption,
    earlier_spread,
    spread_of,
    to_bound,
    to_see,
    within,
)


@pytest.mark.parametrize(
    ("sigma", "p", "change", "n"),
    [
        (0.3, 0.95, 0.1, 695),
        (0.3, 0.99, 0.1, 2168),
        (0.3, 0.99, 0.2, 593),
        (0.5, 0.95, 0.1, 1930),
        (0.5, 0.99, 0.1, 6022),
        (0.5, 0.99, 0.2, 1646),
    ],
)
def test_requests_that_show_a_change_are_those_of_the_lognormal(sigma, p, change, n):
    assert to_see(change, p, Spread(sigma)) == n
    assert to_see(change, p, Spread(sigma, worth=0.5)) == pytest.approx(2 * n, abs=2)


def test_the_promised_width_is_the_one_that_intervals_have():
    draw = np.random.default_rng(1)
    for n, p in ((500, 0.5), (1000, 0.95), (4000, 0.99)):
        tops = [intervals(draw.lognormal(0, 0.4, n), [p])[0] for _ in range(60)]
        middles = [np.quantile(draw.lognormal(0, 0.4, n), p) for _ in range(60)]
        seen = np.mean([top.high for top in tops]) / np.mean(middles) - 1
        assert within(n, p, Spread(0.4)) == pytest.approx(seen, rel=0.3)


def test_a_bound_needs_more_requests_where_they_are_alike():
    assert (to_bound(0.95), to_bound(0.99)) == (72, 368)
    assert to_bound(0.99, Spread(worth=0.25)) == 1472


@pytest.mark.parametrize(
    ("n", "sentence"),
    [
        (4, "about 4 requests: too few to say anything of a percentile."),
        (
            50,
            "about 50 requests: enough for the median, not for p95, which needs 72 for an upper "
            "bound and about 1,900 to show a change of 10 %.",
        ),
        (
            240,
            "about 240 requests: enough for p95 (to about 14 %), not for p99, which needs 368 for "
            "an upper bound and about 6,000 to show a change of 10 %.",
        ),
        (
            2000,
            "about 2,000 requests: enough for p95 (to about 5 %) and p99 (to about 9 %).",
        ),
    ],
)
def test_advice_says_what_a_level_is_enough_for(n, sentence):
    assert advice(n) == sentence


def test_the_spread_is_read_from_the_level_that_scatters_most():
    draw = np.random.default_rng(2)
    made = [
        row(i, 100_000 * i, int(ttft), stage=level)
        for level, sigma in ((0, 0.1), (1, 0.6))
        for i, ttft in enumerate(1e5 * draw.lognormal(0, sigma, 2000))
    ]
    sigma, worth = spread_of(frame(made))
    assert sigma == pytest.approx(0.6, rel=0.1)
    assert worth == 1


def test_an_earlier_run_of_the_same_endpoint_tells_how_times_scatter():
    made = Made(back_to_back(80), [stage(0, "c=1", 0, 30 * SECOND)])
    runs = made.ask("runs").assign(url="http://e", model="m")

    def ask(name, **args):
        return runs if name == "runs" else made.ask(name, **args)

    assert earlier_spread(ask, "http://e", "m").run == "demo"
    assert "as in the run demo" in assumption(earlier_spread(ask, "http://e", "m"))
    assert earlier_spread(ask, "http://other", "m") == USUAL
    assert "no earlier run" in assumption(USUAL)


def test_too_few_answers_tell_no_spread():
    assert spread_of(frame(back_to_back(20))) is None
    assert spread_of(pd.DataFrame({"stage": []})) is None
