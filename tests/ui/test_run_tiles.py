import pytest

from ui.run_tiles import _throughput_tile, level_tiles, percentile_tile


def tile(n, p, **found):
    metrics = {"ttft": {"n": n, p: 120.0, "ci95": {}} | found}
    return percentile_tile("TTFT", metrics, ("ttft", p))


def note(n, p, **found):
    return tile(n, p, **found).note


@pytest.mark.parametrize(
    ("n", "p", "told"),
    [
        (8, "p99", "few: n = 8"),
        (99, "p99", "few: n = 99"),
        (100, "p99", "n = 100"),
        (19, "p95", "few: n = 19"),
        (20, "p95", "n = 20"),
        (8, "p50", "n = 8"),
    ],
)
def test_a_percentile_of_too_few_requests_is_marked(n, p, told):
    assert note(n, p) == told


def test_the_mark_stands_beside_the_interval():
    assert note(8, "p99", ci95={"p99": [90.0, None]}) == "≥ 90.0 · few: n = 8"


def test_gaps_of_unknown_tokens_are_counted_beside_the_known():
    metrics = {"itl": {"n": 127, "undefined": 751, "p99": 120.0, "ci95": {}}}
    assert percentile_tile("ITL", metrics, ("itl", "p99")).note == "n = 127, 751 undefined"


def test_a_metric_without_a_value_says_why():
    assert note(0, "p99", reason="No answer.", p99=None) == "No answer."


def test_the_help_of_a_marked_tile_says_how_many_it_needs():
    assert "it needs n = 100." in tile(8, "p99").help
    assert "needs" not in tile(100, "p99").help


def test_answers_in_one_piece_show_their_ends_instead_of_dashes():
    nothing = {"n": 0, "p50": None, "p95": None, "p99": None, "ci95": {}, "reason": "None."}
    e2e = {"n": 18, "p50": 1950.0, "p95": 2222.0, "p99": 2300.0, "ci95": {}}
    metrics = {"ttft": nothing, "itl": nothing, "chunk_gap": nothing, "e2e": e2e}
    metrics |= {"tps_input": {"value": 498.0}, "request_rate": {"value": 1.94}}
    level = {"metrics": metrics, "outcomes": {"complete": 18}, "window_s": 9.3}
    shown = {tile.label: tile.value for tile in level_tiles(level)}
    assert shown == {
        "E2E p50": "1,950 ms",
        "E2E p95": "2,220 ms",
        "E2E p99": "2,300 ms",
        "System input": "498 tok/s",
        "Requests complete": "18",
    }


def test_an_open_loop_shows_ttft_from_schedule_with_send_beside_it():
    sent = {"n": 180, "p50": 100.0, "p95": 300.0, "p99": 400.0, "ci95": {}}
    due = sent | {"p95": 2300.0}
    metrics = {name: sent for name in ("ttft", "itl", "chunk_gap", "e2e")} | {"ttft_sched": due}
    metrics["itl"] = metrics["itl"] | {"undefined": 0}
    rates = {"value": 10.0, "n": 1800, "ci95": None}
    metrics |= {"tps_system": rates, "request_rate": {"value": 1.94}}
    level = {"kind": "open", "metrics": metrics, "outcomes": {"complete": 180}, "window_s": 9.3}
    tile = level_tiles(level)[1]
    assert (tile.label, tile.value) == ("TTFT p95 from schedule", "2,300 ms")
    assert tile.note == "300 ms from send · n = 180"
    assert level_tiles(level | {"kind": "closed"})[1].value == "300 ms"


def test_throughput_without_chunks_says_what_it_is_made_of_or_why_there_is_none():
    made = {"n": None, "value": 66.5, "ci95": None}
    assert _throughput_tile({"tps_system": made}).note == "tokens of all answers"
    none = {"n": 0, "value": None, "ci95": None, "reason": "no token arrived"}
    assert _throughput_tile({"tps_system": none}).note == "no token arrived"
    ours = {"n": 1280, "value": 66.5, "ci95": None}
    assert _throughput_tile({"tps_system": ours}).note == "n = 1,280 chunks"
