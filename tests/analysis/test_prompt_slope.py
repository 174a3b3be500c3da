import numpy as np
import pytest
from made import SECOND, UID, Made, row, stage
from scipy.stats import binom, theilslopes

from analysis.chart_frames import prompt_points
from analysis.prompt_slope import FEWEST, fit, prompt_slope, sentence
from analysis.reading import read


def rng():
    return np.random.default_rng(1)


def noisy(draw, n=120, per_1k=80.0):
    tokens = draw.integers(100, 4000, n).astype(float)
    return tokens, 30 + per_1k * tokens / 1e3 + draw.exponential(6, n)


def test_an_exact_line_is_found_with_its_prefill_rate():
    tokens = np.linspace(100, 2000, 60)
    found = fit(tokens, 20 + 0.05 * tokens, rng())
    for line in (found.theil_sen, found.least_squares):
        assert (line.at_zero_ms, line.per_1k_ms) == (pytest.approx(20), pytest.approx(50))
        assert line.ci95 == pytest.approx((50, 50))
    assert found.prefill_tps == pytest.approx(20_000)
    assert (found.n, found.least, found.most) == (60, 100, 2000)


def test_slopes_are_numpys_and_scipys():
    tokens, ms = noisy(np.random.default_rng(2))
    found = fit(tokens, ms, rng())
    assert found.least_squares.per_1k_ms == pytest.approx(1e3 * np.polyfit(tokens, ms, 1)[0])
    assert found.theil_sen.per_1k_ms == pytest.approx(1e3 * theilslopes(ms, tokens).slope)


def test_stalled_requests_bend_least_squares_and_not_the_line_that_is_shown():
    tokens, ms = noisy(np.random.default_rng(3))
    ms[np.argsort(tokens)[-4:]] += 5000
    found = fit(tokens, ms, rng())
    assert found.theil_sen.per_1k_ms == pytest.approx(80, rel=0.08)
    assert found.least_squares.per_1k_ms > 150


def test_its_interval_covers_as_often_as_it_promises(monkeypatch):
    monkeypatch.setattr("analysis.prompt_slope.RESAMPLES", 250)
    draw, runs = np.random.default_rng(4), 40
    covered = 0
    for _ in range(runs):
        low, high = fit(*noisy(draw, 40), draw).theil_sen.ci95
        covered += low <= 80 <= high
    assert covered >= binom.ppf(0.001, runs, 0.93)


@pytest.mark.parametrize(
    ("tokens", "why"),
    [(np.full(FEWEST, 512.0), "512 to 512"), (np.linspace(1, 9, FEWEST - 1), f"needs {FEWEST}")],
)
def test_prompts_all_alike_or_too_few_are_refused_with_the_reason(tokens, why):
    assert why in fit(tokens, tokens, rng())


def test_a_slope_that_may_be_none_has_no_prefill_rate():
    draw = np.random.default_rng(5)
    found = fit(draw.integers(100, 900, 40).astype(float), draw.exponential(50, 40), rng())
    assert found.prefill_tps is None
    assert "does not measurably grow" in sentence(found, "c=1", 1.0)


def test_the_sentence_says_where_from_and_that_others_waited():
    found = fit(np.linspace(100, 2000, 60), 20 + 0.05 * np.linspace(100, 2000, 60), rng())
    assert "50 ms to TTFT" in sentence(found, "c=1", 1.0)
    assert "20,000 prompt tokens a second" in sentence(found, "c=1", 1.0)
    assert "at c=1, prompts of 100 to 2,000 tokens" in sentence(found, "c=1", 1.0)
    assert "waiting for each other" not in sentence(found, "c=1", 1.0)
    assert sentence(found, "c=8", 7.9).endswith("waiting for each other is in it too.")


@pytest.fixture(scope="module")
def reading():
    """c=2 before c=1: the slower one, whose prompts are half cached, is not looked at."""
    made = []
    for i in range(80):
        tokens = 200 + 50 * (i % 40)
        of = {"prompt_tokens": tokens, "cached_tokens": 0 if i % 2 else tokens // 2}
        at = 280_000 * i
        made.append(row(i, 60 * SECOND + at, 10_000 + 20 * tokens, stage=1, **of))
        made += [row(1000 + i + k, at, 500_000 + 60 * tokens, **of) for k in (0, 500)]
    stages = [stage(0, "c=2", 0, 23 * SECOND), stage(1, "c=1", 60 * SECOND, 83 * SECOND)]
    return read(Made(made, stages).ask, UID)


def test_the_lowest_load_is_looked_at_and_named(reading):
    found = prompt_slope(reading.stages, rng())
    assert found["level"] == "c=1"
    assert found["plain"]["theil_sen"]["per_1k_ms"] == pytest.approx(20, rel=0.01)
    assert found["uncached"]["n"] == found["plain"]["n"]
    assert found["uncached"]["least"] < found["plain"]["least"]
    assert "reason" not in found


def test_its_points_are_those_of_the_chart(reading):
    points = prompt_points(reading)
    assert len(points) == points["n"].iloc[0] == prompt_slope(reading.stages, rng())["plain"]["n"]


def test_a_run_without_an_answer_has_no_slope():
    made = Made([row(0, 0, outcome="reset")], [stage(0, "c=1", 0, SECOND)])
    found = prompt_slope(read(made.ask, UID).stages, rng())
    assert (found["level"], found["plain"]) == (None, None)
    assert found["reason"]
