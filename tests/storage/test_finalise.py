"""What a run's end makes of its events: exact histograms, token counts, summaries."""

import os

import duckdb
import numpy as np
import pytest
from made_up_runs import RunFolder, Stream

from storage.answers import frame, run_id_of
from storage.buckets import bucket, bucket_us
from storage.finalise import is_settled
from storage.migrations import schema_sql


def hist(tables, run, metric):
    rows = tables.ask("gap_hist", run=run.uid)
    return {(r["stage"], r["b"]): r["n"] for r in rows if r["metric"] == metric}


def summary(tables, run):
    """Rows of `summary` over all classes: the stages, then the whole run."""
    return [row for row in summary_by_class(tables, run) if row["traffic_class"] is None]


def summary_by_class(tables, run):
    """All rows of `summary`, classes before the whole of their stage."""
    question = (
        "SELECT * FROM summary WHERE run_id = $run_id ORDER BY stage NULLS LAST, "
        "traffic_class NULLS LAST"
    )
    with tables.database.cursor() as cursor:
        return frame(cursor, question, run_id=run_id_of(cursor, run.uid)).to_pylist()


def test_sql_and_numpy_put_a_duration_into_the_same_bucket():
    us = np.unique(np.r_[np.arange(3000), np.geomspace(1, 2**31 - 1, 20_000).astype(np.int64)])
    con = duckdb.connect()
    con.execute(schema_sql())
    con.register("durations", {"us": us})
    found = con.execute("SELECT bucket(us), bucket_us(bucket(us)) FROM durations").fetchall()
    assert [b for b, _ in found] == bucket(us).tolist()
    assert [v for _, v in found] == pytest.approx([bucket_us(b) for b, _ in found])


def test_gaps_are_counted_for_complete_requests_of_the_measured_phases(shared_tables):
    run = RunFolder(shared_tables.data)
    run.columns(
        0,
        [
            Stream(0, gaps_us=(10_000,) * 4),
            Stream(1, gaps_us=(10_000,) * 4, stage=1),
            Stream(2, gaps_us=(500,) * 4, outcome="truncated"),
            Stream(3, gaps_us=(500,) * 4, phase="warmup"),
            Stream(4, gaps_us=(500,) * 4, phase="preflight"),
        ],
    )
    shared_tables.turn()
    assert sum(hist(shared_tables, run, "gap").values()) == 20  # live: whatever came
    run.end()
    shared_tables.turn()
    b = int(bucket(10_000))
    assert hist(shared_tables, run, "gap") == {(0, b): 4, (1, b): 4}


def test_itl_weighs_each_gap_by_its_tokens_where_all_are_told(shared_tables):
    run = RunFolder(shared_tables.data)
    run.columns(0, [Stream(0, gaps_us=(30_000, 40_000), told=(1, 3, 2))])
    run.end()
    shared_tables.turn()
    assert hist(shared_tables, run, "itl") == {
        (0, int(bucket(10_000))): 3,
        (0, int(bucket(20_000))): 2,
    }


@pytest.mark.parametrize(
    ("why", "stream"),
    [
        ("usage differs from the chunks", Stream(0, output_tokens=11)),
        ("no usage", Stream(0, output_tokens=None)),
        ("chunks counted as tokens by ourselves", Stream(0, token_source="chunks")),
        ("told tokens do not add up", Stream(0, told=(1,) * 10, output_tokens=12)),
    ],
)
def test_there_is_no_itl_where_token_counts_are_not_known(shared_tables, why, stream):
    run = RunFolder(shared_tables.data)
    run.columns(0, [stream])
    run.end()
    shared_tables.turn()
    assert hist(shared_tables, run, "itl") == {}, why
    assert sum(hist(shared_tables, run, "gap").values()) == 9


def test_usage_equal_to_the_chunks_makes_each_chunk_one_token(shared_tables):
    run = RunFolder(shared_tables.data)
    run.columns(0, [Stream(0), Stream(1, output_tokens=20)])
    shared_tables.turn()
    assert shared_tables.ask("tokens_per_s", run=run.uid)[0]["unknown"] == 20  # live: nobody told
    run.end()
    shared_tables.turn()
    (second,) = shared_tables.ask("tokens_per_s", run=run.uid)
    assert (second["tokens"], second["events"], second["unknown"]) == (10, 20, 10)
    events = shared_tables.ask("token_events", run=run.uid)
    assert [e["n_tokens"] for e in events] == [1] * 10 + [None] * 10


def test_the_summary_counts_outcomes_and_leaves_warm_up_out(shared_tables):
    run = RunFolder(shared_tables.data)
    run.columns(
        0,
        [
            *(Stream(k, ttft_us=10_000 * (k + 1)) for k in range(5)),
            Stream(5, outcome="cancelled", ttft_us=900_000),
            Stream(6, outcome="http_error", first_token_us=None, gaps_us=()),
            Stream(7, outcome="not_sent", send_us=2_000_000),
            Stream(8, phase="warmup", ttft_us=900_000),
            Stream(9, stage=1, ttft_us=70_000),
        ],
    )
    shared_tables.turn()
    live = summary(shared_tables, run)
    run.end()
    shared_tables.turn()
    first, second, whole = summary(shared_tables, run)
    assert (first["stage"], second["stage"], whole["stage"]) == (0, 1, None)
    names = ("n_requests", "n_complete", "n_failed", "n_cancelled", "n_not_sent")
    assert tuple(first[n] for n in names) == (8, 5, 1, 1, 1)
    assert tuple(whole[n] for n in names) == (9, 6, 1, 1, 1)
    assert (first["ttft_p50_us"], second["ttft_p95_us"]) == (30_000, 70_000)
    assert [row["n_requests"] for row in live] == [8, 1, 9]


def test_each_class_of_traffic_has_summaries_of_its_own(shared_tables):
    run = RunFolder(shared_tables.data)
    chat = {"traffic_class": "chat", "ttft_us": 20_000}
    batch = {"traffic_class": "batch", "ttft_us": 90_000}
    run.columns(0, [Stream(0, **chat), Stream(1, **chat), Stream(2, **batch)])
    shared_tables.turn()
    run.end()
    shared_tables.turn()
    second, first, whole = summary_by_class(shared_tables, run)[:3]
    assert [r["traffic_class"] for r in (first, second, whole)] == ["chat", "batch", None]
    assert [r["n_requests"] for r in (first, second, whole)] == [2, 1, 3]
    assert (first["ttft_p95_us"], second["ttft_p95_us"]) == (20_000, 90_000)
    assert first["peak_tokens_per_s"] + second["peak_tokens_per_s"] == whole["peak_tokens_per_s"]
    gaps = {t: shared_tables.ask("gap_hist", run=run.uid, traffic=t) for t in ("chat", "batch")}
    whole_gaps = shared_tables.ask("gap_hist", run=run.uid)
    counted = [sum(r["n"] for r in rows) for rows in (gaps["chat"], gaps["batch"], whole_gaps)]
    assert counted[0] + counted[1] == counted[2]
    assert counted[0] == 2 * counted[1] > 0
    window = {"run": run.uid, "stage": 0, "w0_us": 0, "w1_us": 10**9}
    tokens = shared_tables.ask("window_tokens", **window, traffic="batch")[0]["events"]
    assert tokens * 3 == shared_tables.ask("window_tokens", **window)[0]["events"]
    of_batch = shared_tables.ask("gap_quantiles", **window, qs=[0.5], traffic="batch")
    assert of_batch[0]["n"] * 3 == shared_tables.ask("gap_quantiles", **window, qs=[0.5])[0]["n"]


def test_peak_tokens_take_unknown_chunks_for_the_mean_of_those_that_tell(tables, tmp_path):
    run = RunFolder(tmp_path)
    run.columns(0, [Stream(0, output_tokens=30), Stream(1, output_tokens=None)])
    run.end()
    tables.turn()
    assert tables.ask("runs")[0]["peak_tokens_per_s"] == pytest.approx(20 * 3)


def test_there_is_no_peak_of_a_stage_if_the_tokens_of_one_second_are_unknown(
    shared_tables,
):
    run = RunFolder(shared_tables.data)
    told = Stream(0, told=(1,) * 10, output_tokens=None)
    untold = Stream(1, send_us=3_000_000, output_tokens=None)
    run.columns(0, [told, untold, Stream(2, send_us=5_000_000, stage=1, told=(2,) * 10)])
    run.end()
    shared_tables.turn()
    first, second, _ = summary(shared_tables, run)
    assert (first["peak_tokens_per_s"], second["peak_tokens_per_s"]) == (None, 20)


def test_a_run_without_any_request_is_closed_with_zero_requests(tables, tmp_path):
    run = RunFolder(tmp_path)
    run.end("failed")
    tables.turn()
    (row,) = tables.ask("runs")
    assert (row["state"], row["n_requests"], row["ttft_p95_us"]) == ("failed", 0, None)


def test_counts_of_the_run_are_written_at_its_end(shared_tables):
    run = RunFolder(shared_tables.data)
    run.columns(0, [Stream(0), Stream(1)])
    run.end()
    shared_tables.turn()
    (row,) = shared_tables.ask("run", run=run.uid)
    assert (row["n_events"], row["n_requests"], row["is_final"]) == (20, 2, True)


def test_a_spool_is_settled_when_nothing_more_can_come(tmp_path):
    spool = tmp_path / "spool"
    assert is_settled(spool, 1)
    spool.mkdir()
    assert is_settled(spool, None)
    (spool / "raw-w0-000001.open").touch()
    assert not is_settled(spool, 1)
    (spool / "decoded-w0").touch()
    assert is_settled(spool, 1)
    assert not is_settled(spool, 2)
    (spool / "col-w0-000001.seg").touch()
    assert not is_settled(spool, 1)


def test_a_spool_with_texts_that_nobody_counted_yet_is_not_settled(tmp_path):
    (tmp_path / "texts-w0.jsonl").touch()
    assert not is_settled(tmp_path, 1)
    (tmp_path / "decoded-w0").touch()
    assert is_settled(tmp_path, 1)


def test_a_spool_whose_decoder_died_is_settled_after_a_minute(tmp_path):
    (tmp_path / "raw-w0-000001.seg").touch()
    assert not is_settled(tmp_path, 1)
    an_hour_ago = tmp_path.stat().st_mtime - 3600
    os.utime(tmp_path, (an_hour_ago, an_hour_ago))
    assert is_settled(tmp_path, 1)
