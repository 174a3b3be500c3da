"""The decoder's files: each raw segment becomes one column segment and one live line, once."""

import errno
import json
import os
from pathlib import Path

import pytest
from exchanges import T0_NS
from raw_runs import MadeUpStore, RawRun, check_all_is_there

import loadgen.decoder
from loadgen.decoder import Decoder, append_line, decode_run, last_live_seq
from loadgen.segment_decoder import WORKER_ENDED
from storage.buckets import bucket_us
from storage.column_spool import column_segments, decoded_mark
from storage.raw_spool import raw_segments


class Killed(BaseException):
    """Stands for kill -9: no handler of the decoder may catch it."""


@pytest.fixture
def run(tmp_path: Path) -> RawRun:
    return RawRun(tmp_path)


def states(run: RawRun) -> list[tuple[int, str]]:
    return [(segment.seq, segment.state) for segment in raw_segments(run.spool, 0)]


def kept(run: RawRun) -> list[int]:
    """Decoded segments that are still there; not those that the writer has open or ready."""
    return [seq for seq, state in states(run) if state == "done"]


def three_segments(run: RawRun) -> None:
    """Streams that begin and end in one segment, over two, and one that never ends."""
    run.open(1)
    run.open(2)
    run.token(1, 3)
    run.close(1)
    run.next_segment()
    run.open(3)
    run.token(2, 2)
    run.token(3)
    run.close(2)
    run.next_segment()
    run.token(3, 2)
    run.open(4)
    run.writer.seal()


def test_every_raw_segment_becomes_a_column_segment_and_a_live_line(run: RawRun):
    three_segments(run)
    decoder, store = Decoder(run.run_dir, 0, T0_NS), MadeUpStore(run.run_dir)
    assert decoder.step()
    assert [s.seq for s in column_segments(run.spool)] == [0, 1, 2]
    assert not decoder.step()
    decoder.finish()
    store.ingest()
    check_all_is_there(run, store)


def test_streams_of_a_dead_worker_end_cancelled_with_their_tokens(run: RawRun):
    three_segments(run)
    decoder, store = Decoder(run.run_dir, 0, T0_NS), MadeUpStore(run.run_dir)
    decoder.step()
    decoder.finish()
    store.ingest()
    assert {k: row["outcome"] for k, row in store.rows.items()} == {
        1: "complete",
        2: "complete",
        3: "cancelled",
        4: "cancelled",
    }
    assert store.rows[3]["detail"] == WORKER_ENDED
    assert store.rows[3]["n_chunks"] == 3
    assert store.rows[3]["end_us"] == store.rows[4]["end_us"] == (run.now_ns - T0_NS) // 1000


def test_a_second_without_a_record_is_a_column_segment_too(run: RawRun):
    run.writer.pulse({"worker": 0, "in_flight": 3})
    run.next_segment()
    decoder = Decoder(run.run_dir, 0, T0_NS)
    decoder.step()
    assert [s.seq for s in column_segments(run.spool)] == [0]
    line = json.loads((run.run_dir / "live-0.jsonl").read_bytes())
    assert line["pulse"] == {"worker": 0, "in_flight": 3}
    run.writer.seal()


def test_the_segment_being_written_is_left_alone(run: RawRun):
    run.open(1)
    run.token(1)
    decoder = Decoder(run.run_dir, 0, T0_NS)
    assert not decoder.step()
    assert decoder.has_raw()
    run.writer.seal()


def test_a_raw_segment_is_kept_while_a_stream_that_began_in_it_is_open(run: RawRun):
    decoder = Decoder(run.run_dir, 0, T0_NS)
    run.open(1)
    run.next_segment()
    run.open(2)
    run.next_segment()
    decoder.step()
    assert kept(run) == [0, 1]
    run.close(1)
    run.next_segment()
    decoder.step()
    assert kept(run) == [1, 2]
    run.close(2)
    run.next_segment()
    decoder.step()
    assert kept(run) == []
    assert {state for _, state in states(run)} == {"open"}
    run.writer.seal()


def test_reads_whose_request_was_never_opened_are_ignored(run: RawRun):
    run.n_tokens[9] = 0
    run.token(9, 3)
    run.close(9)
    run.next_segment()
    decoder, store = Decoder(run.run_dir, 0, T0_NS), MadeUpStore(run.run_dir)
    decoder.step()
    store.ingest()
    assert store.rows == {}
    assert store.seqs == {}
    run.writer.seal()


def test_a_request_held_back_has_another_ttft_from_schedule_in_the_live_line(run: RawRun):
    run.open(1, due_ns=run.now_ns - 500_000_000)
    run.token(1)
    run.close(1)
    run.writer.seal()
    Decoder(run.run_dir, 0, T0_NS).step()
    line = json.loads((run.run_dir / "live-0.jsonl").read_bytes())
    (from_send,), (from_schedule,) = line["ttft"], line["ttft_sched"]
    waited_us = bucket_us(int(from_schedule)) - bucket_us(int(from_send))
    assert waited_us == pytest.approx(500_000, rel=0.02)


def test_the_live_line_has_the_first_tokens_and_gaps_of_its_second(run: RawRun):
    run.open(1)
    run.token(1, 3)
    run.next_segment()
    run.token(1)
    run.next_segment()
    Decoder(run.run_dir, 0, T0_NS).step()
    first, second = map(json.loads, (run.run_dir / "live-0.jsonl").read_bytes().splitlines())
    assert (sum(first["ttft"].values()), sum(first["gap"].values()), first["events"]) == (1, 2, 3)
    assert (second["ttft"], sum(second["gap"].values()), second["events"]) == ({}, 1, 1)
    assert first["t_us"] < second["t_us"]
    run.writer.seal()


# One call of the operating system after another fails as if the process had been killed there.
DEADLY = [(os, "fsync"), (Path, "rename"), (Path, "unlink"), (Path, "touch"), (os, "pread")]


def decode_until_killed(run: RawRun, n_calls: int, monkeypatch: pytest.MonkeyPatch) -> bool:
    """True if the decoder came to its end within n_calls of those calls."""
    left = [n_calls]
    with monkeypatch.context() as patch:
        for owner, name in DEADLY:
            real = getattr(owner, name)

            def call(*args, _real=real, **options):
                if left[0] == 0:
                    raise Killed
                left[0] -= 1
                return _real(*args, **options)

            patch.setattr(owner, name, call)
        try:
            decoder = Decoder(run.run_dir, 0, T0_NS)
            while decoder.step():
                pass
            decoder.finish()
        except Killed:
            return False
    return True


@pytest.mark.parametrize("n_calls", range(24))
def test_killed_at_any_call_and_started_again_nothing_is_lost_or_doubled(
    run: RawRun, n_calls: int, monkeypatch: pytest.MonkeyPatch
):
    three_segments(run)
    store = MadeUpStore(run.run_dir)
    was_killed = not decode_until_killed(run, n_calls, monkeypatch)
    assert was_killed or n_calls > 15
    store.ingest()
    if not decoded_mark(run.spool, 0).exists():
        assert decode_until_killed(run, 10**6, monkeypatch)
    store.ingest()
    assert store.seqs == {k: list(range(n)) for k, n in run.n_tokens.items() if n}
    assert sorted(store.rows) == sorted(run.n_tokens)
    assert store.live_seqs() == [0, 1, 2, 3]


@pytest.mark.parametrize("store_is_quick", [True, False])
def test_killed_at_every_call_in_turn_it_still_comes_to_its_end(
    run: RawRun, store_is_quick: bool, monkeypatch: pytest.MonkeyPatch
):
    three_segments(run)
    store = MadeUpStore(run.run_dir)
    for n_calls in range(200):
        if decode_until_killed(run, n_calls, monkeypatch):
            break
        if store_is_quick:
            store.ingest()
    store.ingest()
    check_all_is_there(run, store)


def test_a_full_disk_is_waited_out(run: RawRun, monkeypatch: pytest.MonkeyPatch):
    three_segments(run)
    fsync, waits = os.fsync, list[float]()

    def full(fd: int) -> None:
        if len(waits) < 2:
            raise OSError(errno.ENOSPC, "No space left on device")
        fsync(fd)

    monkeypatch.setattr(os, "fsync", full)
    monkeypatch.setattr(loadgen.decoder.time, "sleep", waits.append)
    store = MadeUpStore(run.run_dir)
    (run.run_dir / "status.json").write_text(json.dumps({"state": "decoding"}))
    decode_run(run.run_dir, 0)
    assert waits[:2] == [1.0, 1.0]
    store.ingest()
    check_all_is_there(run, store)


def test_a_run_that_ended_before_it_had_a_time_zero_has_nothing_to_decode(tmp_path: Path):
    (tmp_path / "status.json").write_text(json.dumps({"state": "failed"}))
    decode_run(tmp_path, 0)


def test_a_worker_that_never_began_is_marked_decoded_once_the_run_is_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "spool").mkdir()
    (tmp_path / "run.json").write_text(json.dumps({"t0_mono_ns": 0}))
    waits = list[float]()

    def sleep(seconds: float) -> None:
        waits.append(seconds)
        if len(waits) == 3:
            (tmp_path / "status.json").write_text(json.dumps({"state": "failed"}))

    monkeypatch.setattr(loadgen.decoder.time, "sleep", sleep)
    decode_run(tmp_path, 0)
    assert decoded_mark(tmp_path / "spool", 0).exists()
    assert len(waits) == 5, "three before the run was over, and two looks"


def test_half_a_line_of_a_killed_decoder_is_ended_before_the_next(tmp_path: Path):
    path = tmp_path / "live-0.jsonl"
    assert last_live_seq(path) == -1
    append_line(path, {"seq": 1})
    with path.open("ab") as file:
        file.write(b'{"seq":2,"t_')
    assert last_live_seq(path) == 1
    append_line(path, {"seq": 2})
    assert path.read_bytes() == b'{"seq":1}\n{"seq":2,"t_\n{"seq":2}\n'
    assert last_live_seq(path) == 2
