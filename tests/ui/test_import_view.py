"""Uploaded result files of other tools: the same runs and sentences as `headway import`."""

import json
from dataclasses import dataclass

import pandas as pd
import pytest

from analysis.unanswered import ONLY_SUMMARY
from storage.exchange.importing import import_file
from tests.storage.exchange import foreign_files as made_up
from tests.ui.conftest import forget, open_page, opened, words_of
from tests.ui.test_insecure import a_run
from ui.import_lacks import NO_CHUNKS, NO_TIMES, NOT_OURS, plan_card, why_not_drawn
from ui.import_view import import_uploads
from ui.plan_source import from_plan
from ui.runs_table import runs_table


@dataclass
class Upload:
    name: str
    content: bytes

    def getvalue(self):
        return self.content


def uploads(*paths):
    return [Upload(path.name, path.read_bytes()) for path in paths]


@pytest.fixture
def pair(tmp_path):
    records = [made_up.aiperf_record(10**18, [20.0, 30.0])]
    path = made_up.write_aiperf(tmp_path, records, made_up.aiperf_summary())
    return [path, tmp_path / "profile_export_aiperf.json"]


def test_files_of_a_pair_find_each_other_and_are_one_run(tmp_path, pair):
    read = import_uploads(uploads(*pair), tmp_path / "data")
    (run,) = read.runs
    assert run.is_new
    assert "AIPerf 0.13.0: 1 request." in run.sentence
    assert read.problems == []


def test_a_file_that_is_none_does_not_stop_the_others(tmp_path, pair):
    odd = [Upload("../../evil.json", b"{}"), *uploads(*pair)]
    read = import_uploads(odd, tmp_path / "data")
    assert len(read.runs) == 1
    (problem,) = read.problems
    assert problem.startswith("evil.json is no result file")  # and no path of the browser's


def imported_row(tmp_path, pair):
    (found,) = import_file(pair[0], tmp_path)
    plan = (tmp_path / "runs" / found.run_uid / "plan.json").read_text()
    return a_run(True) | {"plan": plan, "url": None, "name": found.name}


def test_the_list_of_runs_names_the_tool_and_offers_no_second_run(tmp_path, pair):
    rows = pd.DataFrame([a_run(True), imported_row(tmp_path, pair)])
    table = runs_table(rows, None, [None, "unknown"])
    assert list(table["Source"])[1] == "AIPerf 0.13.0"
    assert table["Again"].isna().tolist() == [False, True]
    assert list(table["Endpoint"])[1] == ""
    assert list(table["Load"])[1] == "2 streams"


def test_without_an_imported_run_no_column_is_spent_on_it():
    assert "Source" not in runs_table(pd.DataFrame([a_run(True)]), None, [None])


def test_an_imported_run_gives_no_plan_to_run_again(tmp_path, pair):
    source = from_plan("run x", json.loads(imported_row(tmp_path, pair)["plan"]))
    assert source.plan is None
    assert source.problems == ["It was imported: another tool's file has no plan to run again."]


def row(n_requests=1, **imported):
    facts = json.dumps({"imported": {"tool": "x"} | imported}) if imported else None
    return {"facts": facts, "n_requests": n_requests}


@pytest.mark.parametrize(
    ("run", "chart", "why"),
    [
        (row(), "throughput", ""),
        (row(has_times=True, has_chunks=False), "ttft_percentile", ""),
        (row(has_times=True, has_chunks=False), "itl_density", NO_CHUNKS),
        (row(has_times=False, has_chunks=True), "throughput", NO_TIMES),
        (row(has_times=False, has_chunks=True), "itl_density", ""),
        (row(has_times=True, has_chunks=True), "generator", NOT_OURS),
        (row(0, has_times=False, has_chunks=False), "ttft_percentile", ONLY_SUMMARY),
    ],
)
def test_a_chart_that_the_file_cannot_fill_says_why(run, chart, why):
    assert why_not_drawn(run, chart) == why


def test_the_stored_set_up_of_an_import_is_not_called_a_plan():
    assert plan_card(row())[0] == "Plan"
    assert plan_card(row(has_times=True))[0] == "Imported file"


@pytest.mark.slow
def test_the_runs_page_offers_the_import_from_the_first_day(data):
    app = open_page("runs")
    assert [button.label for button in app.button if button.label == "Import"] == ["Import"]
    assert "No runs yet" in words_of(app)


@pytest.mark.slow
@pytest.mark.parametrize(
    "file",
    [
        made_up.vllm_result("old"),
        made_up.guidellm_new("0.8.1"),
        made_up.sglang_result(details=False),
    ],
    ids=["no times", "no chunks", "summary only"],
)
def test_an_imported_run_opens_whatever_it_lacks(data, tmp_path, file):
    (found,) = import_file(made_up.write(tmp_path / "r.json", file), data)
    for tab in ("Gaps between tokens", "Throughput", "Load generator"):
        shown = words_of(opened("run", ("There is no run",), run=found.run_uid, tab=tab))
        assert "imported from" in shown
    assert NOT_OURS in shown
    forget(data)
