import numpy as np
import pandas as pd
import pytest
from made import SECOND, UID, Made, back_to_back, frame, row, stage

from analysis.gap_intervals import gap_doubt, stall_doubt
from analysis.show import show
from analysis.windows import is_complete

AT = {"run": UID, "stage": 0, "w0_us": 0, "w1_us": 60 * SECOND}


def doubt_of(rows, qs=(0.5, 0.95)):
    made = Made(rows, [stage(0, "c=1", 0, 60 * SECOND)])
    gaps = made.ask("gap_quantiles", qs=list(qs), **AT)
    complete = frame(rows)
    return gap_doubt(made.ask, AT, gaps, complete[is_complete(complete)])


def test_an_interval_says_over_what_it_was_made():
    found = doubt_of(back_to_back(100))["gap"]
    assert found.by == "By 100 requests and by 6 blocks of 5 s, the wider."
    assert found.intervals[0.95].as_list() == [20, 20]


def test_gaps_all_alike_are_worth_one_per_request():
    assert doubt_of(back_to_back(100))["itl"].n_eff == {0.5: 100, 0.95: 100}


def test_a_few_requests_have_no_interval_and_the_reason_says_how_many_it_needs():
    found = doubt_of(back_to_back(4))["gap"]
    assert found.intervals == {}
    assert "needs 6 requests or blocks; 4 requests here" in found.reason


def test_without_gaps_there_is_nothing_to_be_unsure_of():
    assert doubt_of([row(0, 0, outcome="reset")]) == {}


class Summarised:
    """A store that answers from histograms, as it does of a very long level."""

    def __init__(self):
        self.asked = []

    def __call__(self, name, /, **args):
        self.asked.append(name)
        if name == "gap_seconds":
            seconds = np.arange(60)
            slow = 5 + seconds % 3
            return pd.DataFrame(
                {"metric": "gap", "asked_us": seconds * SECOND, "n": 100, "c0": 100 - slow}
            )
        return quantiles(args["qs"])


def quantiles(qs):
    rows = [
        {"metric": "gap", "q": q, "value_us": 1e4 + 1e4 * q, "n": 6000, "mean_us": 1e4,
         "undefined": 0, "within": 0.01}
        for q in qs
    ]  # fmt: skip
    return pd.DataFrame(rows)


def test_a_very_long_level_goes_by_blocks_of_time_and_widens_by_the_buckets():
    store = Summarised()
    found = gap_doubt(store, AT, quantiles([0.95]), frame(back_to_back(10)))["gap"]
    assert store.asked == ["gap_seconds", "gap_quantiles"]
    assert found.by.startswith("By 12 blocks of 5 s, counted in histograms")
    low, high = found.intervals[0.95].as_list()
    assert low < 19.5 * 0.99 < 19.5 * 1.01 < high


@pytest.mark.parametrize(
    ("n", "seconds", "name"),
    [(500_000, 60, "gap_clusters"), (500_001, 60, "gap_seconds"), (500_001, 49, "gap_clusters")],
)
def test_many_gaps_are_counted_by_second_where_there_are_ten_blocks(n, seconds, name):
    class AskedError(Exception):
        pass

    def ask(name, /, **args):
        raise AskedError(name)

    at = AT | {"w1_us": seconds * SECOND}
    gaps = quantiles([0.95]).assign(n=n, within=0.0)
    with pytest.raises(AskedError, match=name):
        gap_doubt(ask, at, gaps, frame(back_to_back(10)))


def test_a_share_of_no_stalls_is_bounded_by_the_number_of_requests():
    answers = frame(back_to_back(100)).assign(n_gaps=9)
    low, high = stall_doubt(np.zeros(100), answers)
    assert low == 0
    assert high == pytest.approx(1 - 0.025 ** (1 / 100))


def test_a_run_whose_rows_tell_no_gaps_says_so():
    assert "do not carry" in stall_doubt(np.full(5, np.nan), frame(back_to_back(5)))


def test_show_has_the_interval_its_n_eff_and_what_it_is_made_of():
    rows = [row(i, 280_000 * i, output_tokens=10) for i in range(150)]
    found = show(Made(rows, [stage(0, "c=1", 0, 42 * SECOND)]).ask, UID)
    gap = found["levels"][0]["metrics"]["chunk_gap"]
    n_requests = gap["n"] // 9
    assert gap["n_eff"]["p95"] == n_requests
    assert "stall stops all requests" in gap["n_eff_reason"]
    assert f"{n_requests} requests" in gap["ci95_by"]
    assert gap["need_n"]["p99"] == 368 * 9


def test_the_percentile_99_9_is_shown_of_a_thousand_samples_and_not_of_fewer():
    rows = [row(i, 20_000 * i) for i in range(1300)]
    metrics = show(Made(rows, [stage(0, "5/s", 0, 26 * SECOND)]).ask, UID)["levels"][0]["metrics"]
    assert metrics["ttft"]["n"] >= 1000
    assert metrics["ttft"]["p99.9"] == 100
    assert metrics["ttft"]["ci95"]["p99.9"] == [100, None]
    assert metrics["chunk_gap"]["p99.9"] == 20
    few = show(Made(rows[:400], [stage(0, "5/s", 0, 8 * SECOND)]).ask, UID)["levels"][0]["metrics"]
    assert "p99.9" not in few["ttft"]
