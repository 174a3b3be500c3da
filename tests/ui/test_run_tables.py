import pandas as pd

from analysis.metrics import METRICS
from ui.run_tables import levels_columns, levels_table, machine_table, marked, workers_table


def level(stage, n, warnings=(), short=False, **outcomes):
    metric = {"n": n, "p50": 1234.0, "p95": 1560.0, "p99": 1700.0}
    return {
        "stage": stage,
        "name": stage,
        "mean_in_flight": 1.0,
        "requests": n,
        "outcomes": outcomes,
        "window": {"short": short, "reason": "Because."},
        "warnings": list(warnings),
        "metrics": {name: metric for name in ("ttft", "chunk_gap", "tpot", "e2e")}
        | {"ttft_sched": {"n": 0, "p50": None, "p95": None, "p99": None}}
        | {"tps_system": {"value": 50.0}, "request_rate": {"value": 1.0}},
    }


def test_a_level_with_a_short_window_or_a_warning_is_marked():
    levels = [
        level("c=1", 200),
        level("c=2", 200, short=True),
        level("c=4", 200, ["Not steady: TTFT rises."], short=True),
        level("c=8", 200, ["Overload: 9 came."]),
    ]
    assert levels_table(levels)["Note"].tolist() == [
        "",
        "⚠ short",
        "⚠ short, not steady",
        "⚠ 1 warning",
    ]


def test_a_percentile_of_too_few_requests_is_in_brackets():
    levels = [level("c=1", 7), level("c=2", 50)]
    html = marked(levels_table(levels), levels).to_html()
    assert html.count("(1,560)") == 2  # TTFT p95 and E2E p95 of 7 requests
    assert ">1,560<" in html
    assert "(1,234)" not in html


def test_answers_in_one_piece_have_no_column_of_first_tokens():
    whole = level("c=1", 50)
    for name in ("ttft", "chunk_gap", "tpot"):
        whole["metrics"][name] = {"n": 0, "p50": None, "p95": None, "p99": None}
    shown = levels_table([whole])
    assert [name for name in shown.columns if name.startswith(("TTFT", "Chunk", "TPOT"))] == []
    assert ">1,560<" in marked(shown, [whole]).to_html()


def test_columns_are_those_that_metrics_ask_for_each_with_its_unit():
    told = levels_columns()
    for metric in METRICS.values():
        for column in metric.columns:
            name = metric.heading if column == "value" else f"{metric.heading} {column}"
            assert told[name]["label"] == f"{name}, {metric.unit}"
            assert metric.formula in told[name]["help"]


def test_long_checksums_and_versions_do_not_wrap():
    run = {
        "plan_sha256": "a" * 64,
        "versions": '{"headway": "0.1.0", "commit": "bbbbbbbbbbbbbbbb"}',
    }
    shown = machine_table(pd.Series(run).to_dict())
    assert shown["Value"].str.len().max() == 12


def test_the_machine_table_says_when_connections_were_opened():
    shown = machine_table({"plan": '{"connections": "cold"}'})
    assert shown["Value"].tolist() == ["one for each request, within its TTFT"]
    assert machine_table({"plan": None}).empty


def test_what_no_worker_could_tell_is_no_column():
    nan = float("nan")
    beats = {"worker": [0, 1], "missing_stamps": [0, 0], "hub_late_max_us": [900.0, nan]}
    beats |= {"read_lag_p99_us": [100.0, 200.0], "dispatch_lag_p99_us": [nan, nan]}
    beats |= {"gc_pause_max_us": [nan, nan], "cpu_share": [0.1, 0.2], "connects": [1, 1]}
    beats |= {"connect_p50_us": [50.0, 60.0], "rtt_p50_us": [nan, nan]}
    doubt = {"worker": [0, 1], "events": [10, 10], "shared": [0, 1], "bound_p99_us": [0, 0]}
    shown = workers_table(pd.DataFrame(beats), pd.DataFrame(doubt))
    assert "Dispatch late p99, worst, ms" not in shown.columns  # a closed loop has no due instant
    assert shown["Loop late, worst, ms"].isna().tolist() == [False, True]


def test_an_open_loop_has_a_column_from_schedule_and_a_closed_one_has_not():
    closed, due = level("c=1", 50), level("5/s", 50)
    due["metrics"]["ttft_sched"] = {"n": 50, "p50": 1.0, "p95": 2.0, "p99": 3.0}
    assert "From schedule p95" not in levels_table([closed])
    assert levels_table([closed, due])["From schedule p95"].tolist()[1] == 2.0
