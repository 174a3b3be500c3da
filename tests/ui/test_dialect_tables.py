"""The Dialects tab's tables: what a row says, and where it says it in red."""

import pandas as pd

from ui.dialect_tables import differing, numbers_table, per_token_table


def line(stat, theirs, ours=None, reason="Because.", title="TTFT", **more):
    return {
        "name": f"{stat}_ttft_ms",
        "title": title,
        "stat": stat,
        "unit": "ms",
        "theirs": theirs,
        "metric": "ttft",
        "ours": ours,
        "ours_all": None,
        "reason": reason,
    } | more


LINES = [
    line("mean", 105.26, 101.0),
    line("median", 104.0, 100.0),
    line("std", 3.0),
    line("p99", 120.0, 110.0, reason="Because of the rule, at length."),
]


def test_the_statistics_of_a_number_stand_side_by_side_with_the_fullest_reason():
    (row,) = numbers_table(LINES, is_source=False).to_dict("records")
    assert row["Theirs"] == "105.3 · 104.0 · 120.0"
    assert row["Ours"] == "101.0 · 100.0 · 110.0"
    assert "at length" in row["Why"]
    assert "ours: Time to first token" in row["Number"]
    assert "Its own report" not in row


def test_what_does_not_exist_is_one_dash():
    (row,) = numbers_table([line("mean", None), line("p99", None)], False).to_dict("records")
    assert (row["Theirs"], row["Ours"]) == ("–", "–")


def test_a_number_that_differs_from_the_tools_own_report_is_said_in_red_words():
    lines = [
        line("mean", 105.26, reported=105.26, is_same=True, differs=""),
        line("p99", 120.0, reported=130.0, is_same=False, differs="It counted otherwise."),
    ]
    (row,) = numbers_table(lines, is_source=True).to_dict("records")
    assert row["Its own report"] == "105.3 · 130.0"
    assert row["Why"].startswith(":red[**Differs from its own report \\(p99\\)\\.")
    assert "It counted otherwise" in row["Why"]
    assert differing(lines) == 1


def test_a_tool_without_a_figure_keeps_its_row():
    rows = [
        {"tool": "Headway", "name": "TPOT", "mean": 20.0, "p50": 20.0, "p99": 21.0, "meaning": "m"},
        {"tool": "AIPerf", "name": "ICL", "mean": None, "p50": None, "p99": None, "meaning": "m"},
    ]
    styled = per_token_table(rows)
    assert isinstance(styled.data, pd.DataFrame)
    assert list(styled.data["Tool"]) == ["**Headway**", "AIPerf"]
    assert styled.to_string().count("–") == 3
