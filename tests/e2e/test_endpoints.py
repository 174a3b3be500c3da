"""An endpoint is checked in a browser, and the run that follows is already filled in."""

import pytest

from tests.endpoints import DONE, STREAM, USAGE, endpoint, token

pytestmark = [pytest.mark.browser, pytest.mark.slow]

HOSTILE = "![x](http://evil.example/x.png)"
ANSWER = (200, STREAM, token(HOSTILE) * 6 + token("", "stop") + USAGE + DONE)


def test_a_check_explains_the_answer_and_leads_to_a_run(new_tab):
    tab = new_tab(color_scheme="dark")
    with endpoint(lambda n, body: ANSWER) as url:
        tab.open(f"/endpoints?endpoint=My+endpoint&url={url}")
        tab.page.get_by_role("button", name="Check this endpoint").click()
        tab.wait_for("Delivered in batches", 60)
        tab.settle()
        tab.page.wait_for_selector(".js-plotly-plot .scatterlayer")
        assert "All 6 token events came in one piece" in tab.text()
        tab.page.get_by_text("Start a run with this endpoint").click()
        tab.page.wait_for_url("**/new?*")
        tab.settle()
        assert tab.page.get_by_label("URL", exact=True).input_value() == url
        assert tab.page.get_by_label("Model", exact=True).input_value() == "default"
