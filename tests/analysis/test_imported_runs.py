"""What Headway says of a run from another tool's file: what can be said, and nothing else."""

import pytest

from analysis.show import show
from analysis.text import text
from analysis.unanswered import ONLY_SUMMARY
from storage.database import Database
from storage.exchange.importing import import_file
from storage.intake import Intake
from storage.queries import QUERIES
from tests.storage.exchange import foreign_files as made_up


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    """(file's content) -> the run as `show --json` has it."""
    data = tmp_path_factory.mktemp("data")
    database = Database(data)
    intake = Intake(database, data)

    def ask(name, /, **arguments):
        with database.cursor() as cursor:
            return QUERIES[name](cursor, **arguments).to_pandas()

    def of(content):
        file = made_up.write(tmp_path_factory.mktemp("file") / "r.json", content)
        (run,) = import_file(file, data)
        for _ in range(5):
            intake.turn()
        return show(ask, run.run_uid)

    yield of
    database.close()


def test_the_verdict_is_unknown_and_the_window_whole(shown):
    found = shown(made_up.vllm_result())
    (level,) = found["levels"]
    assert found["validity"]["verdict"] == "unknown"
    assert "Imported" in found["validity"]["reason"]
    assert "the file of vLLM bench" in level["window"]["reason"]
    assert level["metrics"]["ttft"]["n"] == 2
    assert found["run"]["imported"]["tool"] == "vllm_bench"
    assert "Imported from r.json" in text(found)


def test_without_start_times_there_is_no_rate_and_no_concurrency(shown):
    found = shown(made_up.vllm_result("old"))
    metrics = found["levels"][0]["metrics"]
    for name in ("tps_system", "request_rate", "offered_rate", "mean_in_flight"):
        assert metrics[name]["value"] is None
    assert metrics["ttft"]["p50"] == pytest.approx(150)
    assert "streams in flight" not in text(found)
    assert "Started   not told" in text(found)


def test_without_chunks_throughput_is_of_the_whole_level(shown):
    found = shown(made_up.guidellm_new("0.8.1"))
    metrics = found["levels"][0]["metrics"]
    assert metrics["chunk_gap"]["n"] == metrics["itl"]["n"] == 0
    # 9 tokens from the first send to the last end, 2 s later
    assert metrics["tps_system"]["value"] == pytest.approx(4.5, rel=1e-4)
    assert any("ended by the tool" in said for said in found["levels"][0]["warnings"])


def test_a_summary_alone_says_that_it_is_one(shown):
    found = shown(made_up.sglang_result(details=False))
    assert found["verdict"]["text"] == ONLY_SUMMARY
    assert found["outcomes"] == {}
    assert ONLY_SUMMARY in text(found)
    (level,) = found["levels"]
    assert level["requests"] is None
    assert [check["holds"] for check in level["checks"].values()] == [None] * 4
    assert level["metrics"]["ttft"]["reason"] == "file has no requests"
    assert "c=2: its requests are not in the file\n" in text(found)
    assert " 0 requests" not in text(found)
    assert "cut off" not in text(found)


def test_that_a_file_has_no_start_times_is_said_once(shown):
    printed = text(shown(made_up.vllm_result("old")))
    assert printed.count("does not tell when requests were sent") == 1
    assert printed.count("Not judged") == 1
    assert "Steady, Offered against completed, Little's law: Not judged" in printed


def test_gaps_that_a_file_cannot_tell_are_not_laid_to_the_requests(shown):
    found = shown(made_up.guidellm_new("0.8.1"))
    metrics = found["levels"][0]["metrics"]
    for name in ("chunk_gap", "itl", "longest_gap", "stall_share_100"):
        assert metrics[name]["reason"] == "file has no chunk times"
    assert metrics["tps_system"]["n"] is None
    assert "System output TPS" not in text(found).partition("Not defined here")[2]


def test_streams_that_the_tool_ended_are_in_no_latency_but_were_offered(shown):
    level = shown(made_up.guidellm_new("0.8.1"))["levels"][0]
    said = level["checks"]["run_off"]["sentence"]
    assert said.startswith("1 stream was ended by the tool")
    assert said.endswith("; in no latency.")
    assert level["requests"] == sum(level["outcomes"].values()) == 3


def test_chunks_without_a_token_in_a_tools_list_are_not_the_servers_contradiction(shown):
    result = made_up.vllm_result()
    result["output_lens"] = [1 for _ in result["output_lens"]]
    said = " ".join(shown(result)["levels"][0]["warnings"])
    assert "more chunks in the tool's list than tokens" in said
    assert "contradicts" not in said
