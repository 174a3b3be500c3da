import numpy as np
import pytest

from analysis.drift import drift

INSTANTS = np.arange(100) * 1e6


def test_a_rising_ttft_drifts_by_its_own_slope():
    found = drift(INSTANTS, 100 + np.arange(100.0))
    assert found.is_drift
    assert found.change_share == pytest.approx(99 / 149.5)


def test_noise_around_a_constant_does_not_drift():
    noise = np.random.default_rng(3).normal(100, 5, 100)
    assert not drift(INSTANTS, noise).is_drift


def test_a_queue_that_wanders_by_itself_does_not_drift():
    steps = np.random.default_rng(5).normal(0, 1, (100, 400))
    found = []
    for row in steps:
        wait = np.zeros(400)
        for i in range(1, 400):
            wait[i] = 0.9 * wait[i - 1] + row[i]
        found.append(drift(np.arange(400) * 1e6, 20 + wait))
    assert sum(one.is_drift for one in found) <= 6
    assert sum(abs(one.change_share) > 0.1 for one in found) > 15  # large enough to look like one


def test_one_stalled_request_does_not_make_a_drift():
    ttft = np.random.default_rng(4).normal(100, 5, 100)
    ttft[-1] = 60_000
    assert not drift(INSTANTS, ttft).is_drift


def test_a_sure_but_small_trend_is_steady_enough():
    assert not drift(INSTANTS, 100 + 0.05 * np.arange(100)).is_drift


@pytest.mark.parametrize("n", [0, 1, 19])
def test_few_requests_tell_no_trend(n):
    assert drift(INSTANTS[:n], np.arange(float(n))) is None
