import pytest
from made import SECOND, UID, Made, back_to_back, row, stage

from analysis.show import show
from analysis.text import text


@pytest.fixture(scope="module")
def made():
    """c=1 for 56 s, then a failure and a stream that we ended."""
    last = [row(900, 50 * SECOND, outcome="timeout"), row(901, 51 * SECOND, outcome="cancelled")]
    return Made([*back_to_back(200), *last], [stage(0, "c=1", 0, 56 * SECOND)])


def moved(made, w0_us, w1_us):
    made.cursor.execute("DELETE FROM windows")
    made.cursor.execute("INSERT INTO windows VALUES (1, 0, ?, ?)", [w0_us, w1_us])


@pytest.fixture(autouse=True)
def _automatic(made):
    made.cursor.execute("DELETE FROM windows")


def test_a_moved_window_is_what_numbers_come_from_and_says_what_it_would_have_been(made):
    found = show(made.ask, UID)["levels"][0]
    moved(made, 10 * SECOND, 45 * SECOND)
    by_hand = show(made.ask, UID)["levels"][0]
    assert (found["window"]["by"], by_hand["window"]["by"]) == ("automatic", "hand")
    assert (by_hand["window"]["begin_us"], by_hand["window"]["end_us"]) == (
        10 * SECOND,
        45 * SECOND,
    )
    assert by_hand["window"]["automatic_us"] == [
        found["window"]["begin_us"],
        found["window"]["end_us"],
    ]
    assert by_hand["metrics"]["ttft"]["n"] == 125  # sent each 280 ms from 10 to 45 s
    assert not by_hand["window"]["short"]
    assert by_hand["window"]["reason"].startswith(
        "Set by hand: 35.0 s, from 10.0 to 45.0 s of the level. Found automatically: Steady for"
    )


def test_a_short_window_by_hand_says_so(made):
    moved(made, 10 * SECOND, 12 * SECOND)
    window = show(made.ask, UID)["levels"][0]["window"]
    assert window["short"]
    assert "Short: rates of so few seconds are coarse" in window["reason"]


def test_the_whole_level_is_one_word_away_whatever_was_moved(made):
    moved(made, 10 * SECOND, 45 * SECOND)
    whole = show(made.ask, UID, is_whole=True)["levels"][0]
    assert whole["window"]["by"] == "whole"
    assert [whole["window"]["begin_us"], whole["window"]["end_us"]] == whole["window"]["level_us"]
    assert whole["requests"] == 202


def test_each_check_is_said_in_text_once_also_where_it_holds(made):
    shown = show(made.ask, UID, is_whole=True)
    checks = shown["levels"][0]["checks"]
    assert list(checks) == ["drift", "offered", "littles_law", "run_off"]
    assert checks["run_off"]["holds"] is False
    assert (checks["run_off"]["censored"], checks["run_off"]["arrived"]) == (1, 202)
    assert checks["offered"]["holds"] is None
    printed = text(shown)
    for check in checks.values():
        assert printed.count(check["sentence"]) == 1


def imported(rows, has_times=True):
    facts = {"imported": {"tool": "vllm_bench", "title": "vLLM bench", "has_times": has_times}}
    stages = [stage(0, "c=4", 0, 1 if not has_times else 56 * SECOND)]
    return Made(rows, stages, stamps=None, facts=facts, source="vllm_bench")


def test_an_imported_run_is_always_judged_as_a_whole():
    made = imported(back_to_back(200))
    moved(made, 10 * SECOND, 45 * SECOND)
    level = show(made.ask, UID)["levels"][0]
    assert level["window"]["by"] == "whole"
    assert level["window"]["reason"] == "The whole level, as the file of vLLM bench has it."
    assert level["requests"] == 200
    assert level["metrics"]["request_rate"]["value"] == pytest.approx(200 / 56, rel=1e-3)


def test_without_times_of_requests_there_is_no_rate_and_no_concurrency_but_every_latency():
    rows = [row(i, 0, 1000 * (100 + i)) for i in range(60)] + [row(99, 0, outcome="timeout")]
    shown = show(imported(rows, has_times=False).ask, UID)
    level = shown["levels"][0]
    metrics = level["metrics"]
    assert (metrics["ttft"]["n"], metrics["ttft"]["p50"]) == (60, 129.5)
    assert (metrics["chunk_gap"]["n"], metrics["error_rate"]["value"]) == (540, 100 / 61)
    assert (level["window_s"], level["mean_in_flight"]) == (None, None)
    for name in ("tps_system", "tps_total", "request_rate", "offered_rate", "mean_in_flight"):
        assert metrics[name]["value"] is None
        assert "does not tell when requests were sent" in metrics[name]["reason"]
    assert [check["holds"] for check in level["checks"].values()] == [None, None, None, True]
    assert "c=4: 61 requests\n" in text(shown)


def test_several_levels_without_times_have_no_knee():
    rows = [row(i, 0, 100_000 + i, stage=i % 2) for i in range(60)]
    facts = {"imported": {"tool": "vllm_bench", "has_times": False}}
    stages = [stage(0, "c=1", 0, 1), stage(1, "c=4", 0, 1)]
    made = Made(rows, stages, stamps=None, facts=facts, source="vllm_bench")
    assert show(made.ask, UID)["verdict"]["text"].startswith(
        "No times of requests, so no knee; c=1"
    )


@pytest.mark.parametrize("table", [("token_events",), ("token_events", "hist", "tok_sec")])
def test_a_run_whose_raw_events_are_gone_is_shown_with_what_is_left(table):
    made = Made(back_to_back(200), [stage(0, "c=1", 0, 56 * SECOND)])
    for name in table:
        made.cursor.execute(f"DELETE FROM {name}")
    metrics = show(made.ask, UID)["levels"][0]["metrics"]
    assert metrics["ttft"]["p95"] == 100
    if "hist" in table:
        for name in ("chunk_gap", "stall_share_100", "tps_system"):
            assert metrics[name].get("value", metrics[name].get("p50")) is None
            assert metrics[name]["reason"]


def test_an_imported_run_without_chunks_has_no_gaps_and_says_why():
    made = imported(back_to_back(200, n_chunks=0))
    made.cursor.execute("DELETE FROM token_events")
    made.cursor.execute("DELETE FROM hist")
    made.cursor.execute("DELETE FROM tok_sec")
    made.cursor.execute("DELETE FROM request_gaps")
    metrics = show(made.ask, UID)["levels"][0]["metrics"]
    assert (metrics["tpot"]["n"], metrics["itl"]["n"], metrics["longest_gap"]["n"]) == (200, 0, 0)
    assert "two chunks" in metrics["longest_gap"]["reason"]
    assert metrics["stalls_per_1k_100"]["value"] is None
