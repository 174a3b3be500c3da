import numpy as np
import pytest
from made import SECOND, back_to_back, frame
from scipy.stats import binom
from scipy.stats import t as student_t

from analysis.batch_means import Happened, answer_seconds, batch_interval
from analysis.windows import Window


def window(begin_s, end_s):
    return Window(int(begin_s * SECOND), int(end_s * SECOND), False, "")


def test_twenty_batches_of_the_window_by_students_t():
    amount = np.array([8.0, 12.0] * 10)
    found = batch_interval(10, Happened(np.arange(20) + 0.5, amount), window(0, 20), 0.4)
    half = student_t.ppf(0.975, 19) * amount.std(ddof=1) / np.sqrt(20)
    assert found == pytest.approx((10 - half, 10 + half))


def test_what_happened_outside_the_batches_is_left_out():
    at = np.r_[-5.0, np.arange(20) + 0.5, 21.0]
    amount = np.r_[1e9, np.full(20, 3.0), 1e9]
    assert batch_interval(3, Happened(at, amount), window(0, 20.9), 0) == (3, 3)


@pytest.mark.parametrize(("seconds", "answer_s", "need"), [(9, 0.1, 10), (59, 3, 60)])
def test_fewer_than_ten_batches_of_two_answers_have_no_interval(seconds, answer_s, need):
    found = batch_interval(1, Happened(np.arange(60.0), np.ones(60)), window(0, seconds), answer_s)
    assert f"needs {need} s" in found
    assert f"{seconds} s here" in found
    enough = batch_interval(1, Happened(np.arange(60.0), np.ones(60)), window(0, need), answer_s)
    assert not isinstance(enough, str)


def test_a_rate_is_never_below_nothing():
    amount = np.array([0.0] * 19 + [20.0])
    found = batch_interval(1, Happened(np.arange(20) + 0.5, amount), window(0, 20), 0)
    assert found[0] == 0


def test_nothing_at_all_has_no_interval():
    nothing = Happened(np.array([]), np.array([]))
    assert batch_interval(0.0, nothing, window(0, 20), 0) == "Nothing came in the batches."


def test_an_answer_lasts_as_long_as_the_median_one():
    assert answer_seconds(frame(back_to_back(5))) == pytest.approx(0.28)
    assert answer_seconds(frame([])) == 0


def test_intervals_of_a_token_rate_cover_as_often_as_they_promise():
    # Streams that come at random and each yield a token every 50 ms for 2 s on average: tokens of
    # neighbouring seconds are of the same streams.
    draw, runs, seconds, warm_s = np.random.default_rng(8), 300, 100, 20
    true, covered = 5 * 2 / 0.05, 0
    for _ in range(runs):
        n = draw.poisson(5 * (seconds + warm_s))
        begin = draw.random(n) * (seconds + warm_s) - warm_s
        tokens = draw.poisson(draw.exponential(2, n) / 0.05)
        at = np.repeat(begin, tokens) + 0.05 * (
            np.arange(tokens.sum()) - np.repeat(np.cumsum(tokens) - tokens, tokens)
        )
        inside = at[(at >= 0) & (at < seconds)]
        found = batch_interval(
            len(inside) / seconds, Happened(inside, np.ones(len(inside))), window(0, seconds), 1.4
        )
        covered += found[0] <= true <= found[1]
    # 93 to 99 %, less what chance takes from so few runs one time in a thousand.
    assert binom.ppf(0.001, runs, 0.93) <= covered <= binom.ppf(0.999, runs, 0.99)
