"""The live charts keep what the reader did to them while numbers come in."""

import json
import os

import psutil
import pytest

from tests.ui.run_folders import UID, append, live_line, run_folder

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture
def folder(dashboard):
    """A run under way, fed by the test; this process stands for its leader."""
    folder = run_folder(dashboard.data, "running")
    me = psutil.Process()
    leader = {"pid": me.pid, "create_time": me.create_time(), "pgid": os.getpgrp()}
    (folder / "proc.json").write_text(json.dumps(leader))
    append(folder, *(live_line(t) for t in range(1, 26)))
    yield folder
    (folder / "proc.json").unlink()  # nobody may end this process for it


def test_zoom_and_legend_stay_while_the_charts_move_on(new_tab, folder):
    tab = new_tab()
    tab.open(f"/live?run={UID}")
    tab.wait_for("Time to first token")
    chart = tab.page.locator(".chart").nth(1)
    chart.get_by_role("button", name="p50").click()
    box = chart.locator("svg").bounding_box()
    tab.page.mouse.move(box["x"] + 100, box["y"] + 80)
    tab.page.mouse.down()
    tab.page.mouse.move(box["x"] + 180, box["y"] + 80, steps=4)
    tab.page.mouse.up()
    tab.page.mouse.move(5, 5)
    zoomed = chart.locator("svg text").all_inner_texts()
    assert chart.get_by_role("button", name="Reset zoom").is_visible()
    tab.page.evaluate("document.querySelectorAll('*').forEach(e => { e.mark = 1 })")
    handle = chart.element_handle()
    append(folder, *(live_line(t, tokens=777, events=777) for t in range(26, 36)))
    tab.wait_for("777")
    assert handle.evaluate("node => node.isConnected")
    assert chart.get_by_role("button", name="Reset zoom").is_visible()
    assert chart.locator("svg text").all_inner_texts() == zoomed
    assert chart.get_by_role("button", name="p50").get_attribute("aria-pressed") == "false"
    assert chart.locator("path.line").count() == 1
    chart.get_by_role("button", name="Reset zoom").click()
    assert chart.locator("svg text").all_inner_texts() != zoomed


def test_the_pointer_tells_the_values_of_its_second(new_tab, folder):
    tab = new_tab(color_scheme="dark")
    tab.open(f"/live?run={UID}")
    tab.wait_for("Output tokens")
    chart = tab.page.locator(".chart").first
    box = chart.locator("svg").bounding_box()
    tab.page.mouse.move(box["x"] + 150, box["y"] + 80)
    tip = chart.locator(".tip")
    tip.wait_for()
    assert "since start" in tip.inner_text()
    assert "100 tokens/s" in tip.inner_text()


def test_hostile_names_and_errors_load_nothing_and_are_shown_as_text(new_tab, folder):
    name = "![x](http://evil.example/x.png) <img src=http://evil.example/z.png> $y$ :red[r]"
    plan = json.loads((folder / "plan.json").read_bytes())
    plan["name"] = plan["target"]["model"] = name
    (folder / "plan.json").write_text(json.dumps(plan))
    error = {"outcome": "http_error", "detail": name + "\x1b[31m" + "x" * 1_000_000}
    append(folder, live_line(26, outcomes={"http_error": 3}, last_error=error))
    tab = new_tab()
    tab.open(f"/live?run={UID}")
    tab.wait_for("Errors by kind")
    assert name[:90] in tab.text()
    tab.page.wait_for_timeout(2_500)
    assert name[:90] in tab.text()
