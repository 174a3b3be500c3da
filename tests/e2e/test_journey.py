"""From the first click to the charts, as a newcomer goes; load, store and pages are real."""

import json

import pytest

from tests.ui.made_up_results import ended_run

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def test_a_new_run_is_watched_live_and_ends_in_charts(new_tab, dashboard):
    tab = new_tab()
    tab.open("/new?levels=1,+4")
    tab.page.get_by_label("Seconds", exact=True).fill("3")
    tab.page.get_by_label("Seconds", exact=True).press("Enter")
    tab.page.get_by_label("Name of the run").fill("two levels")
    tab.page.get_by_label("Name of the run").press("Enter")
    tab.wait_for("6 s · about")
    tab.page.get_by_role("button", name="Start run").click()
    tab.page.wait_for_url("**/live?run=*")
    tab.wait_for("Level 1 of 2", 60)
    tab.wait_for("See the results", 60)
    tab.page.get_by_text("See the results").click()
    tab.page.wait_for_url("**/run?run=*")
    tab.wait_for("TTFT p95", 60)
    tab.page.wait_for_selector(".js-plotly-plot .scatterlayer")
    for name, shown in (
        ("Gaps between tokens", ".js-plotly-plot .scatterlayer"),
        ("Throughput", ".js-plotly-plot .scatterlayer"),
        ("Outcomes", "[data-testid=stDataFrame]"),
        ("Plan & machine", "[data-testid=stCode]"),
    ):
        tab.page.get_by_role("tab", name=name).click()
        tab.page.wait_for_selector(shown)
        tab.settle()
    assert "two levels" in tab.text()
    assert "tab=" in tab.page.url


def test_the_demo_starts_with_one_click_and_stop_keeps_what_was_measured(new_tab):
    tab = new_tab()
    tab.open("/")
    tab.page.get_by_role("button", name="Run the demo").click()
    tab.page.wait_for_url("**/live?run=*")
    tab.wait_for("Level 1 of 6", 60)
    tab.wait_for("Load generator", 60)
    tab.page.wait_for_timeout(3_000)
    tab.page.get_by_role("button", name="Stop run").click()
    tab.wait_for("See the results", 30)
    tab.page.get_by_text("See the results").click()
    tab.wait_for("Stopped", 60)
    tab.wait_for("Requests complete", 60)
    assert tab.page.get_by_test_id("stMetricValue").count() == 6


def test_a_run_survives_the_dashboards_death_a_reload_and_a_second_tab(new_tab, dashboard):
    tab = new_tab()
    tab.open("/new?levels=2")
    tab.page.get_by_label("Seconds", exact=True).fill("18")
    tab.page.get_by_label("Seconds", exact=True).press("Enter")
    tab.wait_for("18 s · about")
    tab.page.get_by_role("button", name="Start run").click()
    tab.page.wait_for_url("**/live?run=*")
    tab.wait_for("Level 1 of 1", 60)
    (path,) = dashboard.data.glob("runs/*/status.json")
    before = json.loads(path.read_bytes())
    dashboard.kill()
    dashboard.start()
    other = new_tab()
    other.open(tab.page.url.removeprefix(dashboard.url))
    tab.page.reload()
    for one in (tab, other):
        one.wait_for("Output tokens/s", 60)
    for one in (tab, other):
        one.wait_for("See the results", 90)
    after = json.loads(path.read_bytes())
    assert (before["state"], after["state"]) == ("running", "finished")
    assert after["elapsed_s"] > 15 > before["elapsed_s"]
    tab.faults.clear()  # what the dead dashboard did not answer


def test_a_wrong_port_is_red_with_the_reason_and_not_a_finished_run(new_tab):
    tab = new_tab()
    tab.open("/new?endpoint=My+endpoint&url=http://127.0.0.1:9&model=m&levels=1")
    tab.page.get_by_role("button", name="Start run").click()
    tab.page.wait_for_url("**/live?run=*")
    tab.wait_for("Failed", 60)
    assert "127.0.0.1:9" in tab.text()
    assert "Traceback" not in tab.text()


def test_a_click_on_its_name_opens_a_run_from_the_list(new_tab, dashboard):
    uid = ended_run(dashboard.data, name="clicked")
    tab = new_tab()
    tab.open("/")
    tab.wait_for("Click a name")
    box = tab.page.get_by_test_id("stDataFrame").bounding_box()
    for _ in range(20):  # the table is a canvas: its first row comes when the store has the run
        tab.page.mouse.click(box["x"] + 200, box["y"] + 54)
        tab.page.wait_for_timeout(500)
        if uid in tab.page.url:
            break
    tab.wait_for("TTFT p95")
    assert "/run?" in tab.page.url
