import json
import math

import pytest
from made import SECOND, UID, Made, back_to_back, plan, row, stage

from analysis.chart_frames import gap_histogram, latency_samples, load_curve
from analysis.metrics import METRICS
from analysis.reading import read
from analysis.show import show

SLOS = [{"metric": "ttft", "percentile": 95, "max_ms": 500}]


@pytest.fixture(scope="module")
def two_levels():
    """c=1 for 56 s, steady; c=2 for 6 s, short, with one failure and one stream that we ended."""
    first = back_to_back(200)
    second = [
        *back_to_back(20, stage=1, begin_us=60 * SECOND),
        *(r | {"request_id": r["request_id"] + 500} for r in back_to_back(20, 1, 60 * SECOND)),
        row(1900, 62 * SECOND, stage=1, outcome="http_error", http_status=503, detail="overloaded"),
        row(1901, 62 * SECOND, stage=1, outcome="cancelled", detail="stage over"),
    ]
    stages = [
        stage(0, "c=1", 0, 56 * SECOND),
        stage(1, "c=2", 60 * SECOND, 60 * SECOND + 20 * 280_000),
    ]
    made_from = plan(
        slos=SLOS, stages=[{"kind": "closed", "concurrency": c, "requests": 9} for c in (1, 2)]
    )
    return Made([*first, *second], stages, made_from)


@pytest.fixture(scope="module")
def shown(two_levels):
    return show(two_levels.ask, UID)


def numbers(value):
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for part in value:
            yield from numbers(part)
    elif isinstance(value, float):
        yield value


def test_the_whole_is_json_without_nan_or_infinity(shown):
    assert json.loads(json.dumps(shown, allow_nan=False)) == shown
    assert all(math.isfinite(number) for number in numbers(shown))


def test_the_run_names_itself(shown, two_levels):
    run = shown["run"]
    assert (run["uid"], run["name"], run["state"]) == (UID, "demo", "finished")
    assert run["started_at"] == "2026-09-21T14:13:20+00:00"
    assert (run["stamps"], run["target"], run["model"]) == ("kernel", "sim://null", "m")
    assert len(run["plan_sha256"]) == 64


def test_every_metric_is_there_at_every_level_with_its_unit(shown):
    for level in shown["levels"]:
        assert list(level["metrics"]) == list(METRICS)
        for name, found in level["metrics"].items():
            assert found["unit"] == METRICS[name].unit


def test_a_steady_level_by_hand(shown):
    level = shown["levels"][0]
    assert (level["stage"], level["window"]["short"]) == ("c=1", False)
    assert level["mean_in_flight"] == pytest.approx(1)
    metrics = level["metrics"]
    # 193 answers in its whole seconds; all alike, so every percentile is the one value.
    assert (metrics["ttft"]["n"], metrics["ttft"]["p95"]) == (193, 100)
    assert metrics["ttft"]["ci95"]["p95"] == [100, 100]
    assert metrics["ttft"]["ci95"]["p99"] == [100, None]
    assert metrics["ttft"]["need_n"] == {"p99": 368}
    assert metrics["chunk_gap"]["ci95"]["p95"] == [20, 20]
    assert metrics["chunk_gap"]["ci95"]["p99"] == [20, None]  # worth 193 gaps: requests all alike
    assert metrics["e2e"]["mean"] == 280
    assert metrics["tpot"]["p50"] == pytest.approx(20)
    assert (metrics["chunk_gap"]["n"], metrics["chunk_gap"]["p99"]) == (193 * 9, 20)
    assert (metrics["itl"]["n"], metrics["itl"]["p50"]) == (193 * 9, 20)
    assert metrics["tps_system"]["value"] == pytest.approx(10 / 0.28, rel=0.01)
    assert metrics["tps_system"]["ci95"][0] < 10 / 0.28 < metrics["tps_system"]["ci95"][1]
    assert metrics["request_rate"]["value"] == pytest.approx(1 / 0.28, rel=0.01)
    assert metrics["mean_in_flight"]["littles_law_holds"]
    stalls = metrics["stall_share_250"]
    assert (stalls["unit"], stalls["n"], stalls["value"]) == ("%", 1800, 0.0)
    assert metrics["goodput"]["met"] == 193


def test_what_a_closed_loop_cannot_have_is_null_with_the_reason(shown):
    found = shown["levels"][0]["metrics"]["ttft_sched"]
    assert (found["n"], found["undefined"], found["p95"], found["mean"]) == (0, 193, None, None)
    assert "closed loop" in found["reason"]


def test_failures_are_in_no_latency_percentile_and_in_their_own_row(shown):
    level = shown["levels"][1]
    assert level["outcomes"] == {"complete": 38, "http_error": 1, "cancelled": 1}
    ttft = level["metrics"]["ttft"]
    assert (ttft["n"], ttft["p99"]) == (38, 100)
    assert ttft["with_failures"]["p50"] == 100
    assert ttft["with_failures"]["p99"] is None
    assert level["metrics"]["goodput"]["of"] == 39
    assert shown["outcomes"] == {"complete": 240, "http_error": 1, "cancelled": 1}
    assert shown["failures"][0] == {
        "stage": "c=2", "outcome": "http_error", "n": 1, "detail": "overloaded",
    }  # fmt: skip
    assert any("ended by us (stage over)" in warning for warning in level["warnings"])


def test_a_short_window_says_so_and_has_no_throughput_interval(shown):
    level = shown["levels"][1]
    assert level["window"]["short"]
    assert "needs 30 s" in level["window"]["reason"]
    assert level["metrics"]["tps_system"]["ci95"] is None
    assert "10 batches" in level["metrics"]["tps_system"]["ci95_reason"]


def test_validity_comes_from_the_stamps_of_the_window(shown):
    validity = shown["validity"]
    assert (validity["verdict"], validity["bound_ms"], validity["lag_p99_ms"]) == ("exact", 0, 0.05)
    assert (validity["shared_share"], validity["missing_stamps"]) == (0, 0)


def test_a_level_without_a_token_has_no_doubt_about_arrivals():
    refused = [row(i, 100_000 * i, outcome="http_error") for i in range(3)]
    found = show(Made(refused, [stage(0, "c=1", 0, SECOND)]).ask, UID)
    assert found["levels"][0]["validity"]["bound_ms"] is None
    assert found["validity"]["bound_ms"] is None


def test_the_objectives_are_judged_per_level_and_for_the_run(shown):
    assert shown["slo"] == {"result": "met", "broken": []}
    assert shown["levels"][0]["slos"][0]["value_ms"] == 100
    assert shown["verdict"]["text"].startswith("Holds Time to first token p95 ≤ 500 ms at c=2")
    assert shown["verdict"]["tone"] == "warn"  # one request failed


def test_one_level_that_misses_is_a_run_that_misses():
    stages = [stage(0, "c=1", 0, 56 * SECOND), stage(1, "c=2", 60 * SECOND, 116 * SECOND)]
    slow = back_to_back(30, stage=1, begin_us=60 * SECOND, ttft_us=900_000)
    found = show(Made([*back_to_back(200), *slow], stages, plan(slos=SLOS)).ask, UID)
    assert found["slo"]["result"] == "missed"
    assert found["slo"]["broken"][0].startswith("c=2: Time to first token p95 ≤ 500 ms: missed")


def test_a_run_before_its_first_stage_has_no_levels():
    found = show(Made([], []).ask, UID)
    assert found["levels"] == []
    assert found["outcomes"] == {}
    assert found["validity"]["verdict"] == "unknown"
    assert found["verdict"]["text"] == "No request was sent."
    json.dumps(found, allow_nan=False)


def test_a_run_in_which_everything_failed_has_levels_without_numbers():
    rows = [row(i, i, outcome="connect_failed", detail="refused") for i in range(5)]
    found = show(Made(rows, [stage(0, "c=5", 0, SECOND)], plan(slos=SLOS)).ask, UID)
    metrics = found["levels"][0]["metrics"]
    assert (metrics["ttft"]["n"], metrics["ttft"]["p95"], metrics["itl"]["p50"]) == (0, None, None)
    assert metrics["tps_system"]["value"] is None
    assert found["verdict"]["text"] == "5 of 5 requests failed: 5 connect_failed (refused)."
    json.dumps(found, allow_nan=False)


def test_one_answered_request_is_one_request():
    found = show(Made([row(0, 0)], [stage(0, "c=1", 0, 280_000)]).ask, UID)
    ttft = found["levels"][0]["metrics"]["ttft"]
    assert (ttft["n"], ttft["p50"], ttft["p99"]) == (1, 100, 100)
    assert ttft["ci95"]["p95"] == [None, None]
    json.dumps(found, allow_nan=False)


def test_a_run_that_is_not_there_is_a_lookup_error():
    with pytest.raises(LookupError, match="no run"):
        show(Made([], []).ask, "0190a0c0-0000-7000-8000-000000000002")


def test_chart_frames_hold_one_row_per_sample_bucket_and_level(two_levels, shown):
    reading = read(two_levels.ask, UID)
    samples = latency_samples(reading)
    assert samples.groupby("level", sort=False).size().to_dict() == {"c=1": 193, "c=2": 38}
    assert samples["ms"].dtype == "float32"
    histogram = gap_histogram(reading)
    assert set(histogram["metric"]) == {"gap", "itl"}
    assert histogram.query("level == 'c=1' and metric == 'gap'")["n"].sum() == 1800
    curve = load_curve(shown["levels"])
    assert curve["level"].tolist() == ["c=1", "c=2"]
    assert curve["failed"].tolist() == [0, 1]


def test_chart_frames_of_an_empty_run_are_empty():
    reading = read(Made([], []).ask, UID)
    assert latency_samples(reading).empty
    assert gap_histogram(reading).empty
    assert load_curve([]).empty


def test_littles_law_is_told_of_short_windows_too():
    rows = [*back_to_back(20), row(99, 0, end_us=5_000_000)]  # one that does not fit the others
    short = show(Made(rows, [stage(0, "c=1", 0, 20 * 280_000)]).ask, UID)["levels"][0]
    assert short["window"]["short"]
    assert any("Little's law" in w and "coarse" in w for w in short["warnings"])
