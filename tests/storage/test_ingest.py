"""Column segments become rows exactly once, whatever is repeated, cut, or broken off."""

from itertools import islice

import numpy as np
import pytest
from made_up_runs import RunFolder, Stream

from storage import ingest, segments
from storage.column_spool import column_path, column_segments, write_columns
from storage.segments import Progress, by_request, pieces

OF_RUN = "FROM seg_ledger WHERE run_id = (SELECT run_id FROM runs WHERE run_uid = '{}')"
LEDGER = f"SELECT part, n_rows, is_last {OF_RUN} ORDER BY part"


def streams(n, first=0):
    return [Stream(k, send_us=1_000_000 + 1_000 * k) for k in range(first, first + n)]


def test_a_segment_becomes_rows_and_its_file_goes(shared_tables):
    run = RunFolder(shared_tables.data)
    run.columns(0, streams(3))
    shared_tables.turn()
    assert column_segments(run.spool) == []
    assert len(shared_tables.ask("requests", run=run.uid)) == 3
    assert len(shared_tables.ask("token_events", run=run.uid)) == 30
    assert len(shared_tables.ask("pulses", run=run.uid)) == 1


def test_unknown_is_null_never_zero_or_minus_one(shared_tables):
    run = RunFolder(shared_tables.data)
    stream = Stream(0, gaps_us=(20_000,), output_tokens=None, token_source=None)
    stream.tokens["lag_us"] = -1
    stream.tokens["kind"] = [1, 3]
    run.columns(0, [stream])
    shared_tables.turn()
    first, second = shared_tables.ask("token_events", run=run.uid, request_id=0)
    assert (first["gap_us"], second["gap_us"]) == (None, 20_000)
    assert (first["n_tokens"], first["lag_us"]) == (None, None)
    assert (first["kind"], second["kind"]) == ("reasoning", "tool")
    (request,) = shared_tables.ask("requests", run=run.uid)
    assert (request["due_us"], request["ttft_sched_us"], request["tpot_us"]) == (None,) * 3
    assert request["other_events"] == '{"role":1}'


def test_the_same_segment_again_is_not_loaded_twice(shared_tables):
    run = RunFolder(shared_tables.data)
    run.columns(0, streams(3))
    shared_tables.turn()
    run.columns(0, streams(3))  # its decoder was killed before it knew
    run.columns(1, streams(2, first=3))
    shared_tables.turn()
    assert column_segments(run.spool) == []
    assert len(shared_tables.ask("token_events", run=run.uid)) == 50
    assert sum(row["n"] for row in shared_tables.ask("gap_hist", run=run.uid)) == 45
    assert sum(row["events"] for row in shared_tables.ask("tokens_per_s", run=run.uid)) == 50


def test_workers_of_one_run_keep_segments_of_the_same_number_apart(shared_tables):
    run = RunFolder(shared_tables.data, n_workers=2)
    run.columns(0, streams(1), worker=0)
    run.columns(0, streams(1, first=1), worker=1)
    shared_tables.turn()
    assert len(shared_tables.ask("requests", run=run.uid)) == 2


def test_a_large_segment_takes_several_transactions_and_is_whole_afterwards(
    shared_tables, monkeypatch
):
    monkeypatch.setattr(segments, "PIECE_ROWS", 7)
    monkeypatch.setattr(ingest, "PIECE_ROWS", 7)
    run = RunFolder(shared_tables.data)
    run.columns(0, streams(3))
    shared_tables.turn()
    ledger = shared_tables.sql(LEDGER.format(run.uid))
    assert ledger == [(0, 7, False), (1, 7, False), (2, 7, False), (3, 7, False), (4, 5, True)]
    assert len(shared_tables.ask("token_events", run=run.uid)) == 30
    assert len(shared_tables.ask("requests", run=run.uid)) == 3
    assert len(shared_tables.ask("pulses", run=run.uid)) == 1


@pytest.mark.parametrize("commits", range(1, 5))
def test_a_segment_broken_off_between_two_transactions_goes_on_where_it_was(
    shared_tables, monkeypatch, commits
):
    run = RunFolder(shared_tables.data)
    shared_tables.turn()
    run.columns(0, streams(3))
    mirror = shared_tables.intake._followed[run.uid].mirror
    monkeypatch.setattr(segments, "PIECE_ROWS", 7)
    monkeypatch.setattr(ingest, "PIECE_ROWS", 7)
    with shared_tables.database.cursor() as cursor:
        batches = ingest._batches(ingest._pieces(cursor, mirror, column_segments(run.spool)))
        for batch in islice(batches, commits):
            ingest._commit(cursor, mirror, batch)
    monkeypatch.setattr(segments, "PIECE_ROWS", 10)  # another version of Headway cuts elsewhere
    shared_tables.turn()
    keys = [(e["request_id"], e["seq"]) for e in shared_tables.ask("token_events", run=run.uid)]
    assert keys == [(r, s) for r in range(3) for s in range(10)]
    assert len(shared_tables.ask("requests", run=run.uid)) == 3


COUNTED = (
    "SELECT request_id, output_tokens, token_source, tokenizer_tokens FROM requests WHERE "
    + ("run_id = (SELECT run_id FROM runs WHERE run_uid = '{}') ORDER BY request_id")
)
UNCOUNTED = {"output_tokens": None, "token_source": None}


@pytest.mark.parametrize("are_apart", [True, False])
def test_a_tokenizers_counts_fill_in_where_nobody_else_told(shared_tables, are_apart):
    run = RunFolder(shared_tables.data)
    run.columns(0, [Stream(0), Stream(1, **UNCOUNTED), Stream(2, **UNCOUNTED), Stream(5)])
    if are_apart:
        shared_tables.turn()
    run.counts({0: 11, 1: 12, 5: 0, 99: 7})
    shared_tables.turn()
    assert column_segments(run.spool) == []
    assert shared_tables.sql(COUNTED.format(run.uid)) == [
        (0, 10, "usage", 11),
        (1, 12, "tokenizer", 12),
        (2, None, None, None),
        (5, 10, "usage", 0),
    ]


def test_counts_that_come_again_change_nothing(shared_tables):
    run = RunFolder(shared_tables.data)
    run.columns(0, [Stream(1, **UNCOUNTED)])
    run.counts({1: 12})
    shared_tables.turn()
    run.counts({})  # a decoder killed before it could say that it was done has lost the texts
    shared_tables.turn()
    run.end()
    shared_tables.turn()
    assert shared_tables.sql(COUNTED.format(run.uid)) == [(1, 12, "tokenizer", 12)]
    of_run = OF_RUN.format(run.uid).replace("seg_ledger", "summary")
    assert shared_tables.sql(f"SELECT DISTINCT output_tokens {of_run}") == [(12,)]


def test_counts_of_many_requests_take_several_transactions(shared_tables, monkeypatch):
    monkeypatch.setattr(segments, "PIECE_ROWS", 7)
    monkeypatch.setattr(ingest, "PIECE_ROWS", 7)
    run = RunFolder(shared_tables.data)
    run.columns(0, [Stream(k, gaps_us=(), **UNCOUNTED) for k in range(30)])
    run.counts({k: 100 + k for k in range(30)})
    shared_tables.turn()
    found = shared_tables.sql(COUNTED.format(run.uid))
    assert [row[3] for row in found] == [100 + k for k in range(30)]
    assert len(shared_tables.sql(LEDGER.format(run.uid))) == 9 + 5


def test_counts_of_two_workers_are_kept_apart(shared_tables):
    run = RunFolder(shared_tables.data, n_workers=2)
    for worker in (1, 0):
        run.counts({worker: 40 + worker}, worker=worker)
        run.columns(0, [Stream(worker, **UNCOUNTED)], worker=worker)
    shared_tables.turn()
    assert [row[3] for row in shared_tables.sql(COUNTED.format(run.uid))] == [40, 41]


def test_a_folder_read_too_early_for_an_older_segment_is_read_again(tmp_path, monkeypatch):
    run = RunFolder(tmp_path)
    run.counts({1: 12})
    (late,) = column_segments(run.spool)
    run.columns(0, [Stream(1)])
    readings = iter([[late], column_segments(run.spool)])
    monkeypatch.setattr(segments, "column_segments", lambda _spool: next(readings))
    assert [s.seq for s in segments.list_segments(run.spool)] == [0, late.seq]


def test_small_segments_share_a_transaction(shared_tables):
    run = RunFolder(shared_tables.data)
    for seq in range(5):
        run.columns(seq, streams(1, first=seq))
    shared_tables.turn()
    # current_timestamp is that of the transaction's begin
    assert len(shared_tables.sql(LEDGER.format(run.uid))) == 5
    begins = f"SELECT DISTINCT loaded_at {OF_RUN}".format(run.uid)
    assert len(shared_tables.sql(begins)) == 1


def test_an_empty_segment_is_written_down_and_removed(shared_tables):
    run = RunFolder(shared_tables.data)
    run.columns(0, [])
    shared_tables.turn()
    assert column_segments(run.spool) == []
    assert shared_tables.sql(LEDGER.format(run.uid)) == [(0, 0, True)]


@pytest.mark.parametrize("damage", ["half a file", "wrong columns", "a wrong value"])
def test_a_damaged_segment_is_set_aside_and_counted_and_the_others_are_loaded(
    shared_tables, damage
):
    run = RunFolder(shared_tables.data)
    for seq in range(3):
        run.columns(seq, streams(1, first=seq))
    path = column_path(run.spool, 0, 1)
    if damage == "half a file":
        path.write_bytes(path.read_bytes()[:700])
    elif damage == "wrong columns":
        np.savez(path.open("wb"), tokens=np.zeros(3))
    else:
        stream = Stream(1, worker="zero")
        write_columns(path, stream.tokens, [stream.request], [])
    shared_tables.turn()
    shared_tables.turn()
    assert [r["request_id"] for r in shared_tables.ask("requests", run=run.uid)] == [0, 2]
    assert column_segments(run.spool) == []
    assert (run.spool / f"damaged-{path.name}").exists()
    assert shared_tables.ask("run", run=run.uid)[0]["n_damaged_segments"] == 1


def test_nothing_more_is_loaded_of_a_segment_once_it_is_set_aside(shared_tables, monkeypatch):
    monkeypatch.setattr(segments, "PIECE_ROWS", 7)
    monkeypatch.setattr(ingest, "PIECE_ROWS", 7)
    run = RunFolder(shared_tables.data)
    odd = streams(3)
    odd[0].tokens["kind"][8] = odd[2].tokens["kind"][8] = 9  # no such kind: two pieces of five
    run.columns(0, odd)
    run.columns(1, streams(1, first=3))
    shared_tables.turn()
    keys = [(e["request_id"], e["seq"]) for e in shared_tables.ask("token_events", run=run.uid)]
    assert keys == [(0, seq) for seq in range(7)] + [(3, seq) for seq in range(10)]
    assert [r["request_id"] for r in shared_tables.ask("requests", run=run.uid)] == [3]
    assert shared_tables.ask("run", run=run.uid)[0]["n_damaged_segments"] == 1
    assert (run.spool / f"damaged-{column_path(run.spool, 0, 0).name}").exists()
    assert shared_tables.intake.trouble == ""


def test_rows_of_a_segment_are_sorted_by_request_then_seq():
    tokens = np.concatenate([s.tokens for s in streams(4)])
    mixed = tokens[np.random.default_rng(1).permutation(len(tokens))]
    assert (by_request(mixed) == tokens).all()


def test_pieces_of_any_size_are_the_segment(tmp_path, monkeypatch):
    run = RunFolder(tmp_path)
    run.columns(0, streams(2))
    (segment,) = column_segments(run.spool)
    for size in range(1, 24):
        monkeypatch.setattr(segments, "PIECE_ROWS", size)
        found = list(pieces(segment, Progress()))
        assert sum(len(p.tokens) for p in found) == 20
        assert [r["request_id"] for p in found for r in p.requests] == [0, 1]
        assert [p.is_last for p in found] == [False] * (len(found) - 1) + [True]
        assert sum(len(p.pulses) for p in found) == 1


def test_live_stages_go_by_the_clock():
    stages = [{"stage": 0, "begin_us": 100}, {"stage": 1, "begin_us": 200}]
    t_us = np.array([-5, 99, 100, 199, 200, 900])
    assert ingest.stage_of(t_us, stages).tolist() == [-1, -1, 0, 0, 1, 1]
    assert ingest.stage_of(t_us, []).tolist() == [-1] * 6


def test_times_before_the_run_s_zero_are_counted_where_they_are():
    stream = Stream(0, send_us=-12_000_000, ttft_us=0, gaps_us=(1_000_000,) * 3, told=(1, 1, 2, 0))
    columns = {name: stream.tokens[name] for name in stream.tokens.dtype.names}
    stage = np.full(4, -1)
    assert ingest.token_counts(columns, stage) == [
        (-1, -12, 1, 1, 0),
        (-1, -11, 1, 1, 0),
        (-1, -10, 2, 1, 0),
        (-1, -9, 0, 1, 1),
    ]
    assert ingest.gap_counts(columns, stage) == [(-1, "gap", 699, 3)]
