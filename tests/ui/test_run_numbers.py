import csv
import io

import pytest

from analysis.metrics import METRICS
from ui.run_numbers import columns, formula_text, numbers_csv, percentiles_table, values_table

TTFT = {
    "unit": "ms", "n": 184, "undefined": 2, "mean": 130.6, "p50": 124.25, "p90": 191.9,
    "p95": 216.0, "p99": 281.0, "ci95": {"p95": [201.4, 274.0], "p99": [245.1, None]},
    "need_n": {"p99": 368},
}  # fmt: skip
NOTHING = {
    "unit": "ms", "n": 0, "undefined": 186, "mean": None, "p50": None, "p90": None, "p95": None,
    "p99": None, "ci95": {}, "need_n": {}, "reason": "closed loop",
}  # fmt: skip
METRICS_OF_LEVEL = {
    "ttft": TTFT,
    "ttft_sched": NOTHING,
    "tps_decode": TTFT | {"p1": 1.0, "p5": 2.0, "p10": 3.0, "ci95": {"p5": [1.5, 2.5]}},
    "tps_system": {"unit": "tok/s", "value": 132.6, "ci95": [128.2, 137.1], "n": 5734},
    "goodput": {"unit": "req/s", "value": None, "reason": "the plan has no SLO"},
}


def rows(table):
    return {row["Metric"]: row for row in table.to_dict("records")}


def test_each_percentile_of_the_tail_stands_with_its_interval_and_what_it_needs():
    row = rows(percentiles_table(METRICS_OF_LEVEL, "lower"))["Time to first token"]
    assert (row["p50"], row["p95"], row["p99"]) == ("124.2", "216 [201.4, 274]", "281 [245.1, –]")
    assert (row["n"], row["Undefined"], row["Mean"]) == ("184", "2", "130.6")
    assert row["To know"] == "p99 needs n = 368"


def test_what_is_undefined_is_a_dash_that_says_why():
    row = rows(percentiles_table(METRICS_OF_LEVEL, "lower"))["TTFT from schedule"]
    assert (row["p50"], row["Mean"], row["To know"]) == ("–", "–", "closed loop")


def test_where_higher_is_better_the_slow_end_is_shown():
    table = percentiles_table(METRICS_OF_LEVEL, "higher")
    assert rows(table)["Output TPS, decode per user"]["p5"] == "2 [1.5, 2.5]"
    assert "p95" not in table.columns
    assert columns(table)["p5"]["label"] == "p5 [95 % interval]"


def test_numbers_of_the_level_have_a_value_and_its_interval_or_a_reason():
    found = rows(values_table(METRICS_OF_LEVEL))
    assert found["System output TPS"]["95 % interval"] == "[128.2, 137.1]"
    assert (found["Goodput"]["Value"], found["Goodput"]["To know"]) == ("–", "the plan has no SLO")


def test_the_csv_has_every_figure_unrounded_and_nothing_for_nothing():
    told = list(csv.DictReader(io.StringIO(numbers_csv({"metrics": METRICS_OF_LEVEL}))))
    by_name = {row["metric"]: row for row in told}
    assert (by_name["ttft"]["p50"], by_name["ttft"]["p99_low"]) == ("124.25", "245.1")
    assert by_name["ttft"]["p99_high"] == ""
    assert (by_name["ttft_sched"]["p50"], by_name["ttft_sched"]["reason"]) == ("", "closed loop")
    assert (by_name["tps_system"]["value"], by_name["tps_system"]["value_high"]) == (
        "132.6",
        "137.1",
    )
    assert by_name["ttft"]["sql"] == METRICS["ttft"].sql


@pytest.mark.parametrize("name", METRICS)
def test_each_formula_is_told_with_its_source(name):
    assert METRICS[name].formula in formula_text(name)
    assert METRICS[name].source in formula_text(name)
