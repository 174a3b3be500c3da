"""Segments and live lines from one folder to another, over a line that loses pieces."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loadgen.machines.homecoming import Homecoming
from loadgen.machines.pieces import PIECE_BYTES, PieceError, Whole, cut
from loadgen.machines.shipping import AGAIN_NS, Shipping
from loadgen.run_folder import RunFolder
from storage.column_spool import (
    COUNTS_SEQ,
    TOKENIZER_COUNT,
    column_path,
    column_segments,
    read_columns,
    write_columns,
    write_counts,
)
from storage.live import LiveTail
from storage.records import TOKEN_EVENT

WORKER = 3


def folder_in(path):
    folder = RunFolder(path)
    folder.spool.mkdir(parents=True)
    return folder


def seal(folder, seq, n_tokens=4):
    tokens = np.zeros(n_tokens, TOKEN_EVENT)
    tokens["t_us"] = np.arange(n_tokens)
    write_columns(column_path(folder.spool, WORKER, seq), tokens, [], [{"worker": WORKER}])


def ship(there, here, is_lost=lambda: False, most_turns=10_000):
    """Every piece from there to here; either way a message may be lost."""
    shipping, home = Shipping(there.path, WORKER), Homecoming(here, WORKER)
    now_ns = 0
    for _ in range(most_turns):
        now_ns += AGAIN_NS
        piece = shipping.next_piece(now_ns)
        if piece is None:
            return
        assert len(piece["bytes"]) <= PIECE_BYTES
        if is_lost():
            continue
        ack = home.take(piece)
        if not is_lost():
            shipping.confirmed(ack)
    raise AssertionError("it never ends")


def test_a_segment_of_many_pieces_arrives_whole_and_is_removed_where_it_was(tmp_path):
    there, here = folder_in(tmp_path / "there"), folder_in(tmp_path / "here")
    seal(there, 0, n_tokens=100_000)
    before = column_path(there.spool, WORKER, 0).read_bytes()
    assert len(before) > 10 * PIECE_BYTES
    ship(there, here)
    assert column_path(here.spool, WORKER, 0).read_bytes() == before
    assert not column_segments(there.spool)
    assert len(read_columns(column_path(here.spool, WORKER, 0)).tokens) == 100_000


@settings(max_examples=25, deadline=None)
@given(st.lists(st.booleans(), max_size=40))
def test_whatever_is_lost_on_the_way_each_file_arrives_once(tmp_path_factory, losses):
    base = tmp_path_factory.mktemp("ship")
    there, here = folder_in(base / "there"), folder_in(base / "here")
    for seq in range(3):
        seal(there, seq, n_tokens=9_000)
    lines = b"".join(b'{"seq": %d}\n' % seq for seq in range(3))
    (there.path / f"live-{WORKER}.jsonl").write_bytes(lines)
    left = iter(losses)
    ship(there, here, lambda: next(left, False))
    assert [s.seq for s in column_segments(here.spool)] == [0, 1, 2]
    assert (here.path / f"live-{WORKER}.jsonl").read_bytes() == lines
    assert not list(here.spool.glob("*.tmp"))


def test_a_segment_that_the_store_has_taken_is_not_written_again(tmp_path):
    there, here = folder_in(tmp_path / "there"), folder_in(tmp_path / "here")
    seal(there, 0)
    home = Homecoming(here, WORKER)
    piece = {"what": "columns", "seq": 0, **cut(column_path(there.spool, WORKER, 0), 0)}
    assert home.take(piece)["done"]
    column_path(here.spool, WORKER, 0).unlink()  # as the store does after its commit
    assert home.take(piece)["done"]
    assert not column_segments(here.spool)


def test_the_counts_of_a_tokenizer_travel_last(tmp_path):
    there, here = folder_in(tmp_path / "there"), folder_in(tmp_path / "here")
    counts = np.array([(1, 7)], TOKENIZER_COUNT)
    write_counts(column_path(there.spool, WORKER, COUNTS_SEQ), counts)
    seal(there, 5)
    ship(there, here)
    assert [s.seq for s in column_segments(here.spool)] == [5, COUNTS_SEQ]


@pytest.mark.parametrize("second", [b'{"se', b'{"requests": "%s"}\n' % bytes(2 * PIECE_BYTES)])
def test_live_lines_arrive_as_they_are_also_half_a_one_and_one_of_many_pieces(tmp_path, second):
    there, here = folder_in(tmp_path / "there"), folder_in(tmp_path / "here")
    live = there.path / f"live-{WORKER}.jsonl"
    live.write_bytes(b'{"seq": 0}\n' + second)
    ship(there, here)
    assert (here.path / live.name).read_bytes() == live.read_bytes()
    assert Shipping(there.path, WORKER).unsent_bytes() == live.stat().st_size
    assert LiveTail(here.path).read_by_worker()[WORKER][0] == {"seq": 0}


def test_another_workers_segment_in_the_folder_is_not_sent(tmp_path):
    there = folder_in(tmp_path / "there")
    write_columns(column_path(there.spool, 1, 0), np.zeros(0, TOKEN_EVENT), [], [])
    assert Shipping(there.path, WORKER).next_piece(AGAIN_NS) is None


def test_one_piece_at_a_time_is_on_its_way_and_is_sent_again_when_nobody_answers(tmp_path):
    there = folder_in(tmp_path / "there")
    seal(there, 0)
    shipping = Shipping(there.path, WORKER)
    first = shipping.next_piece(AGAIN_NS)
    assert shipping.next_piece(AGAIN_NS + 1) is None
    assert shipping.next_piece(2 * AGAIN_NS) == first


def test_a_damaged_file_is_begun_anew(tmp_path):
    source = tmp_path / "source"
    source.write_bytes(b"what was measured")
    whole = Whole(tmp_path / "copy.seg")
    piece = cut(source, 0)
    with pytest.raises(PieceError, match="came in damaged"):
        whole.add({**piece, "bytes": b"what was Measured"})
    assert whole.size == 0
    whole.add(piece)
    assert whole.is_done
    assert whole.path.read_bytes() == b"what was measured"


def test_nonsense_is_no_piece(tmp_path):
    home = Homecoming(folder_in(tmp_path / "here"), WORKER)
    good = {"what": "columns", "seq": 0, "offset": 0, "total": 1, "bytes": b"x", "sha256": None}
    for change in (
        {"seq": -1},
        {"seq": "../../etc"},
        {"offset": None},
        {"bytes": "x"},
        {"bytes": bytes(PIECE_BYTES + 1), "total": PIECE_BYTES + 1},
        {"what": "plan.json"},
        {"sha256": 5},
        {"total": 0},
    ):
        with pytest.raises(PieceError):
            home.take({**good, **change})
