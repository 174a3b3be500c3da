"""Runs that have ended: finished, stopped, failed, interrupted, and one without any request."""

import os

import pytest

from analysis.metrics import METRICS
from tests.ui.conftest import forget, opened, words_of
from tests.ui.made_up_results import HOSTILE, ended_run, run_without_requests

pytestmark = pytest.mark.slow

CHARTS_ON = {
    "TTFT": 1,
    "Gaps between tokens": 1,
    "Throughput": 1,
    "All numbers": 0,
    "Outcomes": 0,
    "Dialects": 0,
    "Load generator": 1,
    "Plan & machine": 0,
}
NAME = "![x](http://evil.example/n.png) <b>"


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """One data folder with a run of each ending: state -> run_uid."""
    data = tmp_path_factory.mktemp("ended") / "data"
    states = ("stopped", "failed", "interrupted", "finished")
    uids = {state: ended_run(data, state, NAME) for state in states}
    uids["nothing"] = run_without_requests(data)
    before = os.environ.get("HEADWAY_DATA")
    os.environ["HEADWAY_DATA"] = str(data)
    yield uids
    forget(data)
    if before is None:
        del os.environ["HEADWAY_DATA"]
    else:
        os.environ["HEADWAY_DATA"] = before


def results(uid, **query):
    return opened("run", ("There is no run",), run=uid, **query)


def plain_words(app):
    return words_of(app).replace("\\", "")


def metric(app, name):
    return next(m for m in app.metric if m.label == name)


def test_the_verdict_comes_first_and_every_tile_has_its_n(runs):
    app = results(runs["finished"])
    shown = words_of(app)
    assert "kernel stamps" in shown
    assert "times exact" in shown
    labels = [m.label for m in app.metric]
    assert labels[:3] == ["TTFT p50", "TTFT p95", "TTFT p99"]
    assert "n = " in metric(app, "TTFT p95").delta
    assert metric(app, "TTFT p95").value.endswith(" ms")


@pytest.mark.parametrize("tab", CHARTS_ON)
def test_every_tab_opens_and_only_the_open_one_is_made(runs, tab):
    app = results(runs["finished"], tab=tab)
    assert len(app.get("plotly_chart")) == CHARTS_ON[tab]


@pytest.mark.parametrize("state", ["stopped", "failed", "interrupted"])
def test_a_run_that_is_not_whole_opens_with_one_sentence_and_what_was_measured(runs, state):
    app = results(runs[state])
    assert state.capitalize() in words_of(app)
    assert len(app.metric) == 6


def test_a_run_without_a_request_says_why_and_shows_no_number(runs):
    app = results(runs["nothing"])
    assert "The endpoint refused the connection." in words_of(app)
    assert "Failed" in words_of(app)
    assert len(app.metric) == len(app.tabs) == len(app.get("plotly_chart")) == 0


def test_what_the_server_said_is_text_in_a_table_and_names_are_escaped(runs):
    app = results(runs["finished"], tab="Outcomes")
    assert app.dataframe[1].value["What was said"].tolist() == [HOSTILE]
    assert app.title[0].value == r"\!\[x\]\(http\:\/\/evil\.example\/n\.png\) \<b\>"
    assert not any("evil.example" in m.value for m in app.markdown)


def test_another_level_can_be_chosen(runs):
    app = results(runs["finished"])
    app.segmented_control(key="level").set_value(1).run()
    assert not app.exception
    assert "failed" in metric(app, "Requests complete").delta


def test_a_window_is_moved_and_reset_and_the_whole_level_is_one_click_away(runs):
    app = results(runs["finished"], window="true")
    assert "found automatically" in app.expander[0].label
    assert "Little's law" in words_of(app)
    before = metric(app, "Requests complete").value
    app.slider[0].set_value((2.0, 5.0)).run()
    app.button(key="use_window").click().run()
    assert not app.exception
    assert app.expander[0].label.startswith("Window: 3.0 s, set by hand")
    assert "Set by hand: 3.0 s, from 2.0 to 5.0 s of the level" in plain_words(app)
    assert int(metric(app, "Requests complete").value) < int(before)
    app.button(key="reset_window").click().run()
    assert "found automatically" in app.expander[0].label
    assert metric(app, "Requests complete").value == before
    app.toggle(key="whole").set_value(True).run()
    assert "the whole level" in app.expander[0].label
    assert int(metric(app, "Requests complete").value) >= int(before)


def test_all_numbers_of_a_level_are_in_tables_with_their_formula(runs):
    app = results(runs["finished"], tab="All numbers")
    tables = [table.value for table in app.dataframe]
    named = {name for table in tables for name in table["Metric"]}
    assert named == {metric.title for metric in METRICS.values()}
    assert "quantile_cont(v, 0.95)" in words_of(app)


def test_the_list_shows_every_run_with_its_levels_and_failures(runs):
    results(runs["nothing"])
    listed = opened("runs").dataframe[0].value
    assert len(listed) == len(runs)
    row = listed[[list(state) == ["Finished"] for state in listed["State"]]].iloc[0]
    assert (row["Run"], row["Requests"], row["Failed"]) == (NAME, 120, 6)
    assert len(row["TTFT p95, levels"]) == 2


def test_a_selected_row_opens_its_run(runs):
    results(runs["nothing"])
    app = opened("runs")
    app.session_state["runs_table"] = {"selection": {"rows": [0], "columns": [], "cells": []}}
    app.run()
    assert not app.exception
    assert app.title[0].value != "Runs"


def test_the_dialects_tab_leads_with_how_many_figures_one_measurement_has(runs):
    app = results(runs["finished"], tab="Dialects")
    assert "“time per token”" in words_of(app)
    assert len(app.table) == 2
    app = results(runs["finished"], tab="Dialects", dialect="MLPerf LoadGen")
    assert "Valid" in list(app.table[1].value["Number"])
