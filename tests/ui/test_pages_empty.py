"""A fresh installation: no data folder, no run."""

import pytest

from tests.ui.conftest import open_page, words_of

pytestmark = pytest.mark.slow  # the pages start the store's process


def test_the_list_of_runs_offers_the_demo_and_files_of_other_tools(data):
    app = open_page("runs")
    assert "No runs yet" in words_of(app)
    assert [button.label for button in app.button] == ["Import", "Run the demo"]


def test_live_says_that_nothing_is_running(data):
    assert "Nothing is running" in words_of(open_page("live"))


def test_a_run_that_does_not_exist_is_said_on_both_pages(data):
    for page in ("live", "run"):
        assert "There is no run" in words_of(open_page(page, run="no-such-run"))


def test_a_run_named_by_a_path_is_not_looked_for_outside_the_data_folder(data):
    assert "There is no run" in words_of(open_page("live", run="../../etc"))


def test_run_without_a_name_means_the_newest_and_says_when_there_is_none(data):
    assert "There is no run 'last'" in words_of(open_page("run"))


def test_a_new_run_on_the_simulator_is_ready_to_start(data):
    app = open_page("new_run")
    start = next(button for button in app.button if button.label == "Start run")
    assert not start.disabled
    assert "headway run plan.toml" in words_of(app)


def test_what_is_wrong_is_said_beside_the_field_and_nothing_can_start(data):
    app = open_page("new_run")
    app.text_input(key="levels").set_value("1, two").run()
    assert not app.exception
    assert r"Level 2 is \'two\'\; expected a whole number" in words_of(app)
    assert next(button for button in app.button if button.label == "Start run").disabled


def test_an_endpoint_of_ones_own_asks_for_url_and_model_first(data):
    app = open_page("new_run")
    app.segmented_control(key="endpoint").set_value("My endpoint").run()
    shown = words_of(app)
    assert "where the server listens" in shown
    assert ":red[" not in shown
    app.text_input(key="url").set_value("ftp://x").run()
    assert r"URL is \'ftp" in words_of(app)


def test_a_key_is_asked_for_by_the_name_of_its_variable(data):
    app = open_page("new_run")
    app.segmented_control(key="endpoint").set_value("My endpoint").run()
    app.text_input(key="key_env").set_value("NO_SUCH_KEY_VARIABLE").run()
    app.text_input(key="url").set_value("http://localhost:1/v1").run()
    app.text_input(key="model").set_value("m").run()
    assert r"NO\_SUCH\_KEY\_VARIABLE is not set" in words_of(app)


def test_a_data_folder_that_cannot_be_used_is_one_sentence(data):
    data.write_text("a file where the folder should be")
    app = open_page("runs")
    assert str(data) in words_of(app)
    assert "This did not work" in words_of(app)


def test_a_run_that_cannot_be_written_is_one_sentence_and_no_traceback(data, monkeypatch):
    app = open_page("new_run")
    full = data / "a file where the folder should be"
    full.touch()
    monkeypatch.setenv("HEADWAY_DATA", str(full))
    next(button for button in app.button if button.label == "Start run").click().run()
    assert not app.exception
    assert f"The data folder {full} cannot be written" in words_of(app)
