"""The New run page in a browser: a preset is started, a file is opened, a run is run again."""

import pytest

from tests.ui.made_up_results import ended_run
from ui.plan_toml import plan_toml
from ui.presets import preset_plan

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def patient(tab):
    """A form of so many fields takes long to draw where other tests have the cores."""
    tab.page.set_default_timeout(90_000)
    return tab


def values_of(tab, fields, n):
    """What n fields hold, once they are there.

    Not Locator.wait_for: its polling keeps a page that was come to by a link from drawing them.
    """
    for _ in range(60):
        if fields.count() == n:
            break
        tab.page.wait_for_timeout(500)
    return [field.input_value() for field in fields.all()]


def test_a_preset_of_two_classes_is_previewed_started_and_watched_live(new_tab):
    tab = patient(new_tab())
    tab.open("/new")
    tab.page.get_by_role("radio", name="Mixed").click()
    tab.wait_for("1 min", 90)
    tab.wait_for("Arrivals", 90)
    for line in range(2):  # a chart draws its lines a moment after its title
        tab.page.locator("path.line").nth(line).wait_for(state="attached")
    assert tab.page.locator("path.line").count() == 2
    assert "preset=mixed" in tab.page.url
    tab.page.get_by_label("Requests per second, one level each").fill("2")
    tab.page.get_by_label("Requests per second, one level each").press("Enter")
    tab.wait_for("30 s · about", 90)
    tab.page.get_by_role("button", name="Start run").click()
    tab.page.wait_for_url("**/live?run=*")
    tab.wait_for("Level 1 of 1", 60)
    tab.wait_for("Time to first token", 60)
    tab.page.get_by_role("button", name="Stop run").click()
    tab.wait_for("See the results", 60)
    assert "nightly batch" in tab.text()


def test_a_plan_file_fills_the_form_and_starts(new_tab):
    plan = preset_plan("spike").model_copy(update={"name": "from a file"})
    tab = patient(new_tab(color_scheme="dark"))
    tab.open("/new")
    tab.page.get_by_role("button", name="Open a plan").click()
    tab.page.locator("input[type=file]").set_input_files(
        {"name": "plan.toml", "mimeType": "application/toml", "buffer": plan_toml(plan).encode()}
    )
    tab.wait_for("Filled in from plan", 90)
    tab.page.keyboard.press("Escape")
    tab.settle()
    assert tab.page.get_by_label("Name of the run").input_value() == "from a file"
    assert tab.page.get_by_label("Peak", exact=True).input_value() == "5"
    tab.page.get_by_role("button", name="Start run").click()
    tab.page.wait_for_url("**/live?run=*")
    tab.wait_for("from a file", 60)
    tab.wait_for("Level 1 of 1", 60)


def test_a_run_is_run_again_with_changes(new_tab, dashboard):
    uid = ended_run(dashboard.data, name="the first time")
    tab = patient(new_tab())
    tab.open(f"/run?run={uid}")
    tab.wait_for("Run again with changes", 90)
    tab.page.get_by_text("Run again with changes").click()
    tab.page.wait_for_url(f"**/new?from={uid}")
    tab.wait_for("1 min · about", 90)
    levels = tab.page.locator("[class*=st-key-][class*=levels] input")
    assert values_of(tab, levels, 3) == ["1", "2", "4, 8, 16, 32"]
    levels.first.fill("3")
    levels.first.press("Enter")
    tab.page.wait_for_url("**levels=3**")
    tab.page.reload()
    tab.wait_for("1 min · about", 90)
    assert values_of(tab, levels, 3) == ["3", "2", "4, 8, 16, 32"]


def test_the_list_offers_each_run_again(new_tab, dashboard):
    uid = ended_run(dashboard.data, name="listed")
    tab = patient(new_tab())
    tab.open("/")
    tab.wait_for("Click a name")
    box = tab.page.get_by_test_id("stDataFrame").bounding_box()
    for _ in range(20):  # the table is a canvas: its first row comes when the store has the run
        tab.page.mouse.click(box["x"] + 324, box["y"] + 54)
        tab.page.wait_for_timeout(500)
        if "/new" in tab.page.url:
            break
    tab.wait_for("Filled in from run listed", 90)
    assert f"from={uid}" in tab.page.url
