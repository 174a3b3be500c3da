import numpy as np
import pytest
from made import frame, row

from analysis.gaps import NONE, Gaps
from analysis.goodput import goodput, why_none
from analysis.samples import cohort
from analysis.slo import judge, worst_result
from loadgen.plan import Slo

P95_UNDER_500 = Slo(metric="ttft", percentile=95, max_ms=500)


def of(ttfts_ms, **changes):
    """A cohort with one answer per TTFT, None being a failure."""
    rows = [
        row(i, i, 0, outcome="timeout", **changes)
        if ttft is None
        else row(i, i, int(1000 * ttft), **changes)
        for i, ttft in enumerate(ttfts_ms)
    ]
    return cohort(frame(rows))


def even(low, high, n):
    """Values evenly spread, in no order: a rising row would be a trend, worth few requests."""
    return np.random.default_rng(1).permutation(np.linspace(low, high, n))


def judged(slo, ttfts_ms, gaps=NONE):
    return judge(slo, of(ttfts_ms), gaps, "closed")


def test_a_percentile_under_the_limit_is_met_and_sure_when_its_whole_interval_is():
    found = judged(P95_UNDER_500, even(100, 200, 100))
    assert (found.result, found.sure) == ("met", True)
    assert found.value_ms == pytest.approx(195, abs=1)
    assert found.sentence.startswith("Time to first token p95 ≤ 500 ms: met; it is 195 ms")
    assert "100 requests" in found.sentence


@pytest.mark.parametrize(("max_ms", "said"), [(12_345, "12,345"), (1e5, "100,000"), (0.5, "0.5")])
def test_the_limit_is_said_as_the_plan_has_it(max_ms, said):
    found = judged(Slo(metric="ttft", max_ms=max_ms), even(100, 200, 100))
    assert f"≤ {said} ms:" in found.sentence


def test_a_percentile_over_the_limit_is_missed():
    found = judged(P95_UNDER_500, even(400, 600, 100))
    assert (found.result, found.sure) == ("missed", True)


def test_a_percentile_of_requests_that_are_alike_is_less_sure():
    rising = np.linspace(400, 600, 100)
    assert judged(P95_UNDER_500, rising).result == "missed"
    assert not judged(P95_UNDER_500, rising).sure


def test_a_met_percentile_without_an_upper_bound_is_not_sure():
    found = judged(P95_UNDER_500, even(100, 200, 30))
    assert (found.result, found.sure) == ("met", False)
    assert "upwards" in found.sentence


def test_nineteen_requests_carry_no_p95():
    found = judged(P95_UNDER_500, even(100, 200, 19))
    assert found.result == "not enough data"
    assert "it needs 20" in found.sentence


def test_a_few_requests_all_far_too_slow_are_a_miss_all_the_same():
    found = judged(P95_UNDER_500, [5000] * 10)
    assert (found.result, found.sure) == ("missed", True)


def test_failures_are_infinitely_late():
    found = judged(P95_UNDER_500, [100] * 90 + [None] * 10)
    assert found.result == "missed"
    assert found.value_ms is None
    assert "10 of 100 requests failed" in found.sentence


def test_a_few_failures_beyond_the_percentile_do_not_miss_it():
    assert judged(P95_UNDER_500, [100] * 98 + [None] * 2).result == "met"


def test_an_open_loop_is_judged_from_schedule():
    late = cohort(frame([row(i, 900_000 + i, due_us=i) for i in range(40)]))
    assert judge(P95_UNDER_500, late, NONE, "open").result == "missed"
    assert judge(P95_UNDER_500, late, NONE, "open").metric == "ttft_sched"
    assert judge(P95_UNDER_500, late, NONE, "closed").result == "met"


def test_gaps_are_judged_by_their_quantile():
    slo = Slo(metric="chunk_gap", percentile=95, max_ms=50)
    assert judged(slo, [100] * 3, Gaps(1000, 0, 20.0, {0.95: 30.0})).result == "met"
    assert judged(slo, [100] * 3, Gaps(1000, 0, 20.0, {0.95: 60.0})).result == "missed"
    assert judged(slo, [100] * 3, Gaps(9, 0, 20.0, {0.95: 30.0})).result == "not enough data"
    assert judged(slo, [100] * 3).result == "not enough data"


def test_gaps_do_not_look_good_because_requests_failed():
    slo = Slo(metric="chunk_gap", percentile=95, max_ms=50)
    found = judged(slo, [100] * 9 + [None], Gaps(1000, 0, 20.0, {0.95: 30.0}))
    assert found.result == "missed"
    assert "1 of 10 requests failed" in found.sentence


def test_no_request_is_not_enough_data():
    assert judged(P95_UNDER_500, []).result == "not enough data"


def test_one_miss_is_a_miss_and_met_needs_all():
    assert worst_result(["met", "not enough data", "missed"]) == "missed"
    assert worst_result(["met", "not enough data"]) == "not enough data"
    assert worst_result(["met", "met"]) == "met"
    assert worst_result([]) is None


def test_goodput_counts_requests_that_met_everything_failures_being_misses():
    slos = [P95_UNDER_500, Slo(metric="tpot", max_ms=30)]
    found = goodput(slos, of([100, 200, 600, None]), "closed")
    assert (found.met, found.arrived, found.tokens) == (2, 4, 20)


def test_an_objective_that_does_not_apply_is_neither_met_nor_missed():
    one_token = cohort(frame([row(0, 0, output_tokens=1)]))
    found = goodput([Slo(metric="tpot", max_ms=1)], one_token, "closed")
    assert found.met == 1
    assert found.not_applicable == {"tpot": 1}


@pytest.mark.parametrize("metric", ["chunk_gap", "longest_gap"])
def test_each_request_is_held_to_its_longest_gap(metric):
    arrived = frame([row(i, 0) for i in range(4)]).assign(longest_gap_us=[20e3, 90e3, 50e3, 80e3])
    found = goodput([Slo(metric=metric, max_ms=80)], cohort(arrived), "closed")
    assert (found.met, found.arrived, found.tokens) == (3, 4, 30)


def test_where_gaps_must_exist_and_are_not_known_there_is_no_goodput():
    slos = [Slo(metric="longest_gap", max_ms=80)]
    assert goodput(slos, of([100]), "closed") is None
    assert "not known" in why_none(slos)


def test_tokens_of_good_requests_are_not_known_when_one_does_not_tell():
    rows = [row(0, 0), row(1, 0, output_tokens=None)]
    assert goodput([P95_UNDER_500], cohort(frame(rows)), "closed").tokens is None


def test_streams_that_we_ended_count_nowhere():
    ours = cohort(frame([row(0, 0), row(1, 0, outcome="cancelled")]))
    found = goodput([P95_UNDER_500], ours, "closed")
    assert (found.met, found.arrived) == (1, 1)


def test_without_objectives_there_is_no_goodput():
    assert goodput([], of([100]), "closed") is None
