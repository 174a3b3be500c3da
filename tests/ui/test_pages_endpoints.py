"""The Endpoints page: what it shows before, after and beside a check."""

import pytest
from explanations import HOSTILE, said

from tests.endpoints import GOOD_WITH_USAGE, endpoint, refusal
from tests.ui.conftest import open_page, words_of
from ui.plain import label

pytestmark = pytest.mark.slow


def checked(app):
    button = next(button for button in app.button if button.label == "Check this endpoint")
    button.click().run(timeout=120)
    assert not app.exception, app.exception
    return app


def own(url, **query):
    return open_page("endpoints", endpoint="My endpoint", url=url, **query)


def test_it_says_first_what_a_check_shows(data):
    app = open_page("endpoints")
    assert "What the check shows" in words_of(app)
    assert not app.metric


def test_without_a_url_nothing_can_be_checked(data):
    app = open_page("endpoints", endpoint="My endpoint")
    assert next(b for b in app.button if b.label == "Check this endpoint").disabled


def test_the_simulator_is_checked_with_one_click(data):
    app = checked(open_page("endpoints"))
    shown = words_of(app)
    assert "Answers" in shown
    assert "64 tokens in 64 token events, counted by the server's usage." in shown
    labels = [metric.label for metric in app.metric]
    assert labels == [
        "Connect",
        "Headers",
        "TTFT",
        "First visible",
        "Chunk gap p50",
        "Tokens",
        "E2E",
    ]
    assert len(app.get("plotly_chart")) == 1
    assert len(app.dataframe) == 2


def test_without_a_model_one_is_found_and_written_into_the_field(data):
    with endpoint(lambda n, body: GOOD_WITH_USAGE) as url:
        app = checked(own(url))
        assert "Answers" in words_of(app)
        assert app.text_input(key="model").value == "default"
        app.text_input(key="model").set_value("another").run()
    assert "have changed since the last check" in words_of(app)


def test_a_refusal_is_red_with_the_servers_sentence_and_no_chart(data):
    with endpoint(lambda n, body: refusal(401, message="Wrong key, friend.")) as url:
        app = checked(own(url, model="m"))
    shown = words_of(app)
    assert ":red[:material/error: **Refuses the request (HTTP 401)**]" in shown
    assert "Wrong key, friend" in shown
    assert not app.get("plotly_chart")


def test_a_wrong_url_is_one_sentence(data):
    app = checked(own("ftp://nowhere", model="m"))
    assert "**Could not be asked**" in words_of(app)
    assert "ftp://nowhere" in words_of(app)


def test_what_a_server_says_is_plain_text_everywhere(data):
    warning = {"name": "other_model", "level": "warn", "text": f"It answers as {HOSTILE}."}
    app = open_page("endpoints")
    target = {"url": "sim://small-gpu", "model": "small-gpu", "api": "openai_chat"}
    target["api_key_env"] = None
    app.session_state["last_check"] = (target, said(warnings=[warning]))
    app.run()
    assert not app.exception
    assert any(label(HOSTILE, 300) in part.value for part in app.markdown)
    assert all(HOSTILE not in part.value for part in [*app.markdown, *app.caption])
