"""A run under way, seen through its folder alone."""

import json
import os

import psutil
import pytest

from tests.ui.conftest import open_page, opened, words_of
from tests.ui.made_up_results import HOSTILE
from tests.ui.run_folders import UID, append, live_line, run_folder

pytestmark = pytest.mark.slow


@pytest.fixture
def folder(data):
    """A run at its third level whose leader is alive: this test process stands for it."""
    folder = run_folder(data, "running")
    me = psutil.Process()
    leader = {"pid": me.pid, "create_time": me.create_time(), "pgid": os.getpgrp()}
    (folder / "proc.json").write_text(json.dumps(leader))
    append(folder, *(live_line(t) for t in range(1, 26)))
    stage = {"stage": 0, "name": "c=1", "kind": "closed", "begin_us": 500_000}
    (folder / "stages.jsonl").write_text(json.dumps(stage) + "\n")
    return folder


def metric(app, name):
    return next(m for m in app.metric if m.label == name)


def test_live_finds_the_run_under_way_and_makes_it_the_url(folder):
    app = open_page("live")
    assert app.query_params["run"] == UID or app.query_params["run"] == [UID]
    assert metric(app, "Output tokens/s").value == "100"
    assert metric(app, "Requests/s").value == "5.00"
    assert metric(app, "TTFT p95").value.endswith("ms")
    assert metric(app, "Errors").value == "0"
    assert "Load generator healthy" in words_of(app)


def test_what_is_complete_is_what_the_decoders_found_complete(folder):
    append(folder, live_line(26, outcomes={"empty": 7}))  # for the transport these are done
    assert "125 complete so far" in metric(open_page("live", run=UID), "Requests/s").delta


def test_level_and_time_left_are_told(folder):
    app = open_page("live", run=UID)
    assert any(b.label == "Stop run" for b in app.button)
    (progress,) = app.get("progress")
    assert "35 s left of 1 min" in progress.proto.text


def test_the_servers_sentence_is_shown_as_text_in_a_table(folder):
    error = {"outcome": "http_error", "detail": HOSTILE}
    append(folder, live_line(26, outcomes={"http_error": 7}, last_error=error))
    app = open_page("live", run=UID)
    assert metric(app, "Errors").value == "7"
    errors = app.dataframe[0].value
    assert errors["Latest"].tolist() == [HOSTILE]
    assert "evil" not in words_of(app)


def test_a_saturated_load_generator_is_said_in_red(folder):
    append(folder, live_line(26, missing_stamps=500))
    assert "do not believe these numbers" in words_of(open_page("live", run=UID))


def test_a_run_that_has_ended_links_to_its_results(folder):
    status = json.loads((folder / "status.json").read_text())
    status |= {"state": "finished", "message": "All levels were measured."}
    (folder / "status.json").write_text(json.dumps(status))
    app = open_page("live", run=UID)
    assert "Finished" in words_of(app)
    assert not any(b.label == "Stop run" for b in app.button)
    assert any("See the results" in link.proto.label for link in app.get("page_link"))


def end_as(folder, state, message):
    status = json.loads((folder / "status.json").read_text())
    status |= {"state": state, "message": message, "in_flight": 4}
    (folder / "status.json").write_text(json.dumps(status))


def test_a_stopped_run_has_nothing_in_flight_and_its_cancelled_requests_are_no_errors(folder):
    append(folder, live_line(26, outcomes={"cancelled": 8}))
    end_as(folder, "stopped", "Stopped at c=4.")
    app = open_page("live", run=UID)
    assert metric(app, "In flight").value == "0"
    assert metric(app, "Errors").value == "0"
    assert "8 cancelled by the stop" in words_of(app)
    assert "Errors by kind" not in words_of(app)


def test_a_run_that_failed_before_any_load_links_to_what_happened(folder):
    (folder / "stages.jsonl").unlink()
    end_as(folder, "failed", "The endpoint refused the connection.")
    (link,) = (li for li in open_page("live", run=UID).get("page_link") if "See" in li.proto.label)
    assert "See what happened" in link.proto.label


def test_a_run_whose_leader_died_is_interrupted_and_keeps_its_numbers(folder):
    (folder / "proc.json").write_text(json.dumps({"pid": 1, "create_time": 0, "pgid": 1 << 22}))
    app = open_page("live", run=UID)
    assert "Interrupted" in words_of(app)
    assert metric(app, "Output tokens/s").value == "100"


def test_a_run_waiting_for_its_turn_says_so(folder):
    status = json.loads((folder / "status.json").read_text())
    status |= {"state": "queued", "message": "Waiting for the run before it to end."}
    (folder / "status.json").write_text(json.dumps(status))
    assert "Waiting for the run before it to end" in words_of(open_page("live", run=UID))


def test_the_list_of_runs_shows_it_running(folder):
    runs = opened("runs").dataframe[0].value
    assert list(runs["State"].iloc[0]) == ["Running"]
