"""A run under way, seen through its folder alone."""

import json
import os

import psutil
import pytest

from storage.buckets import bucket
from tests.ui.conftest import open_page, opened, words_of
from tests.ui.made_up_results import HOSTILE
from tests.ui.run_folders import UID, append, live_line, pulse, run_folder

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


def test_in_open_loop_the_schedule_has_its_own_tiles(folder):
    late = {str(int(bucket(900_000))): 5}
    counts = [pulse(t, sent=20 * t, not_sent=5 * t) for t in (26, 27, 28)]
    append(folder, *(live_line(p["t_us"] / 1e6, pulse=p, ttft_sched=late) for p in counts))
    append(folder, live_line(29, outcomes={"not_sent": 15}))
    app = open_page("live", run=UID)
    assert metric(app, "TTFT p95 from schedule").value.startswith("9")
    assert "from send" in metric(app, "TTFT p95 from schedule").delta
    assert metric(app, "Not sent").value == ":red[15]"
    assert "dispatched" in metric(app, "Offered/s").delta
    assert metric(app, "Errors").value == "0"


def test_a_search_says_what_its_probe_is_for_and_what_it_knows(folder):
    level = {"stage": 2, "name": "c=12", "kind": "closed", "begin_us": 20_000_000}
    why = "probe 3 of the search: up from the 6 that held"
    with (folder / "stages.jsonl").open("a") as file:
        file.write(json.dumps(level | {"why": why}) + "\n")
    known = {"kind": "search", "is_done": False, "low": 6, "high": None, "over": "concurrency"}
    status = json.loads((folder / "status.json").read_text())
    status |= {"n_stages": None, "planned_s": None, "search": [known], "stage_seconds": 30.0}
    (folder / "status.json").write_text(json.dumps(status | {"stage_began_us": 20_000_000}))
    (progress,) = open_page("live", run=UID).get("progress")
    words = progress.proto.text.replace("\\", "")
    assert "Level 3 (c=12), probe 3 of the search: up from the 6 that held" in words
    assert "holds at 6 streams so far · 5 s of at most 30 s" in words


def test_classes_of_traffic_stand_in_a_table(folder):
    seen = {"outcomes": {"complete": 2}, "ttft": {str(int(bucket(80_000))): 2}, "ttft_sched": {}}
    append(folder, live_line(26, classes={"chat": seen, "nightly": seen}))
    app = open_page("live", run=UID)
    assert "Classes of traffic" in words_of(app)
    assert app.dataframe[0].value["Class"].tolist() == ["chat", "nightly"]


def test_other_machines_of_the_run_are_named_with_their_clocks_error(folder):
    run = json.loads((folder / "run.json").read_text())
    far = {"worker": 1, "host": "gpu-b", "address": "10.0.0.2", "error_ns": 40_000}
    (folder / "run.json").write_text(json.dumps(run | {"machines": {"workers": [far], "lost": []}}))
    app = open_page("live", run=UID)
    assert "Other machines" in words_of(app)
    row = app.dataframe[0].value.iloc[0]
    assert (row["Machine"], row["Clock known within"]) == ("gpu-b (10.0.0.2)", "± 0.040 ms")


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
