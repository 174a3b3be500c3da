import pandas as pd
import pytest

from analysis.gaps import gaps_of, stall_share
from storage.buckets import bucket


def answer(metric, n, value_us, undefined=0):
    made = {"metric": metric, "n": n, "mean_us": value_us, "undefined": undefined}
    return [made | {"q": q, "value_us": value_us} for q in (0.5, 0.95)]


def test_quantiles_come_in_ms_under_the_probability_that_was_asked():
    found = gaps_of(pd.DataFrame(answer("gap", 9, 20_000) + answer("itl", 12, 5_000)), "gap")
    assert (found.n, found.mean_ms, found.at(0.95)) == (9, 20, 20)
    assert found.at(0.99) is None
    assert found.at(95 / 100) == found.at(0.1 + 0.85)


def test_gaps_of_unknown_size_are_undefined_not_zero():
    found = gaps_of(pd.DataFrame(answer("itl", 0, None, undefined=40)), "itl")
    assert (found.n, found.undefined, found.mean_ms, found.at(0.5)) == (0, 40, None, None)


def test_quantiles_from_a_summary_say_how_far_off_they_may_be():
    rows = pd.DataFrame(answer("gap", 9, 20_000))
    assert gaps_of(rows, "gap").within == 0
    assert gaps_of(rows.assign(within=0.01), "gap").within == 0.01


def test_no_rows_are_no_gaps():
    empty = pd.DataFrame({"metric": [], "q": [], "value_us": [], "n": [], "mean_us": []})
    assert gaps_of(empty, "gap").n == 0


def test_the_stall_share_counts_gaps_over_the_limit():
    b = bucket([20_000, 300_000, 1_200_000])
    made = pd.DataFrame({"b": b, "n": [97, 2, 1]})
    assert stall_share(made, 250) == (pytest.approx(0.03), 100)
    assert stall_share(made, 1000) == (pytest.approx(0.01), 100)


def test_without_gaps_there_is_no_share():
    assert stall_share(pd.DataFrame({"b": [], "n": []}), 250) == (None, 0)
