"""An imported run in the tables: the same rows as a run of our own, null where nothing was told."""

import json

from foreign_files import (
    aiperf_failure,
    aiperf_record,
    aiperf_summary,
    vllm_result,
    write,
    write_aiperf,
)

from storage.exchange.importing import import_file

T0 = 1_767_000_000_000_000_000


def only(rows):
    (row,) = rows
    return row


def test_a_run_with_start_times_lies_on_its_own_time_line(here, tmp_path):
    (found,) = here.load(write(tmp_path / "r.json", vllm_result()))
    run = only(here.ask("run", run=found.run_uid))
    assert (run["state"], run["source"], run["is_final"]) == ("finished", "vllm_bench", True)
    first, failed, last = here.ask("requests", run=found.run_uid)
    assert (first["send_us"], first["first_token_us"], first["last_token_us"]) == (
        0,
        100_000,
        160_000,
    )
    assert (last["dispatched_us"], last["send_us"]) == (125_000, 250_000)
    assert (failed["outcome"], failed["detail"]) == ("rate_limited", "Too Many Requests")
    assert failed["first_token_us"] is None
    assert failed["output_tokens"] is None
    stage = only(here.ask("stages", run=found.run_uid))
    assert (stage["begin_us"], stage["issue_end_us"], stage["end_us"]) == (0, 250_000, 540_000)


def test_chunks_become_token_events_with_gaps_and_no_stamp(here, tmp_path):
    (found,) = here.load(write(tmp_path / "r.json", vllm_result()))
    events = here.ask("token_events", run=found.run_uid, request_id=2)
    assert [e["t_us"] for e in events] == [450_000, 500_000, 540_000]
    assert [e["gap_us"] for e in events] == [None, 50_000, 40_000]
    assert [e["n_tokens"] for e in events] == [1, 1, 1]  # as many chunks as tokens
    assert {e["lag_us"] for e in events} == {None}


def test_one_chunk_more_than_tokens_leaves_counts_unknown(here, tmp_path):
    (found,) = here.load(write(tmp_path / "r.json", vllm_result(output_lens=[3, 0, 2])))
    events = here.ask("token_events", run=found.run_uid, request_id=2)
    assert {e["n_tokens"] for e in events} == {None}


def test_without_start_times_each_send_is_its_own_zero(here, tmp_path):
    (found,) = here.load(write(tmp_path / "r.json", vllm_result("old")))
    rows = here.ask("requests", run=found.run_uid)
    assert [row["send_us"] for row in rows] == [0, 0, 0]
    run = only(here.ask("run", run=found.run_uid))
    imported = json.loads(run["facts"])["imported"]
    assert imported["has_times"] is False
    assert imported["has_chunks"] is True
    assert run["epoch_ns"] is None
    assert run["ended_epoch_ns"] is None


def test_the_servers_usage_counts_before_the_tools_tokenizer(here, tmp_path):
    record = aiperf_record(T0, [20.0, 30.0])
    record["metrics"]["output_sequence_length"]["value"] = 5
    (found,) = here.load(write_aiperf(tmp_path, [record], aiperf_summary()))
    row = only(here.ask("requests", run=found.run_uid))
    assert (row["output_tokens"], row["token_source"], row["tokenizer_tokens"]) == (3, "usage", 5)
    assert row["prompt_tokens"] == 16
    assert row["first_chunk_tokens"] == 1


def test_tokens_before_the_first_visible_one_are_reasoning(here, tmp_path):
    record = aiperf_record(T0, [20.0, 30.0])
    record["metrics"]["time_to_first_output_token"]["value"] = 120.0
    (found,) = here.load(write_aiperf(tmp_path, [record], aiperf_summary()))
    events = here.ask("token_events", run=found.run_uid)
    assert [e["kind"] for e in events] == ["reasoning", "content", "content"]


def test_an_answer_without_a_first_token_came_in_one_piece(here, tmp_path):
    record = aiperf_record(T0, [])
    del record["metrics"]["time_to_first_token"], record["metrics"]["inter_chunk_latency"]
    (found,) = here.load(write_aiperf(tmp_path, [record], aiperf_summary()))
    row = only(here.ask("requests", run=found.run_uid))
    assert (row["form"], row["whole_us"], row["last_token_us"]) == ("whole", 100_000, None)
    assert row["e2e_us"] == 100_000


def test_times_that_run_backwards_are_left_out_and_counted(here, tmp_path):
    odd = vllm_result(itls=[[0.02, -0.03, 0.01], [], [0.05, 0.04]])
    (found,) = here.load(write(tmp_path / "r.json", odd))
    first, _, last = here.ask("requests", run=found.run_uid)
    assert first["outcome"] == "malformed"
    assert first["first_token_us"] is None
    assert "run backwards" in first["detail"]
    assert last["outcome"] == "complete"
    notes = json.loads(only(here.ask("run", run=found.run_uid))["notes"])
    assert any("Of 1 requests the file's times run backwards" in said for said in notes)


def test_cancelled_requests_are_told_from_failed_ones(here, tmp_path):
    records = [
        aiperf_record(T0, [20.0]),
        aiperf_failure(T0 + 1, 499, "Request was cancelled after 0.000 seconds"),
        aiperf_failure(T0 + 2, 500, "boom"),
    ]
    (found,) = here.load(write_aiperf(tmp_path, records, aiperf_summary()))
    assert "3 requests, 1 failed, 1 cancelled" in found.sentence
    outcomes = {row["outcome"]: row["n"] for row in here.ask("outcomes", run=found.run_uid)}
    assert outcomes == {"complete": 1, "cancelled": 1, "http_error": 1}


def test_the_tools_own_summary_is_kept_level_by_level(here, tmp_path):
    (found,) = here.load(write(tmp_path / "r.json", vllm_result()))
    run = only(here.ask("run", run=found.run_uid))
    imported = json.loads(run["facts"])["imported"]
    assert imported["reported"][0]["mean_ttft_ms"] == 150.00000000000003
    assert imported["duration_s"] == [1.25]
    assert imported["tool"] == "vllm_bench"


def test_a_run_of_no_requests_is_a_run_all_the_same(here, tmp_path):
    none = {name: [] for name in ("input_lens", "output_lens", "ttfts", "itls", "errors")}
    none |= {"start_times": [], "latencies": [], "queue_times": [], "completed": 0}
    (found,) = here.load(write(tmp_path / "r.json", vllm_result(**none)))
    assert only(here.ask("run", run=found.run_uid))["is_final"]
    assert here.ask("requests", run=found.run_uid) == []


def test_the_list_of_runs_names_the_source(here, tmp_path):
    (found,) = here.load(write(tmp_path / "r.json", vllm_result()))
    listed = {row["run_uid"]: row["source"] for row in here.ask("runs")}
    assert listed[found.run_uid] == "vllm_bench"


def test_the_folder_is_complete_before_the_store_looks(tmp_path):
    (found,) = import_file(write(tmp_path / "r.json", vllm_result()), tmp_path)
    folder = tmp_path / "runs" / found.run_uid
    names = {path.name for path in folder.iterdir()}
    assert names == {"plan.json", "run.json", "status.json", "stages.jsonl", "spool"}
    assert not (tmp_path / "importing").exists()


def test_without_start_times_there_is_no_best_second(here, tmp_path):
    (timed,) = here.load(write(tmp_path / "a.json", vllm_result()))
    (untimed,) = here.load(write(tmp_path / "b.json", vllm_result("old")))
    peaks = {row["run_uid"]: row["peak_tokens_per_s"] for row in here.ask("runs")}
    assert peaks[timed.run_uid] == 7
    assert peaks[untimed.run_uid] is None
