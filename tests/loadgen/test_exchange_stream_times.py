"""Streams whose times broke other tools, by their number in test_stream_cases_are_covered."""

import gzip

import pytest
from exchanges import (
    DONE,
    END,
    FINISH,
    HEAD,
    MS,
    ROLE,
    SEND_NS,
    T0_NS,
    chunk,
    close_meta,
    content,
    decode_reads,
    open_meta,
)

from loadgen.exchange import ExchangeDecoder
from loadgen.wire.registry import APIS

A, B, C = content("A"), content("B"), content("C")


def test_39_a_compressed_answer_in_one_read_is_one_arrival_and_says_its_coding():
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Encoding: gzip\r\n\r\n"
    body = gzip.compress(ROLE + A + B + C + FINISH + DONE)
    got = decode_reads([(1, head), (90, body)], cause="eof")
    assert (got.row.outcome, got.row.coding) == ("complete", "gzip")
    assert (got.ms, got.gaps_ms) == ([90, 90, 90], [0, 0])
    assert got.shared == [1, 1, 0]


@pytest.mark.parametrize("delay_ns", [3000 * MS, -1], ids=["set forward", "set back"])
def test_44_a_step_of_the_wall_clock_during_a_stream_changes_no_duration(delay_ns: int):
    """Of a read just stamped: it seems 3 s old, or the transport saw a stamp of the future."""
    decoder = ExchangeDecoder(APIS["openai_chat"], open_meta(), T0_NS)
    for ms, data in ((1, HEAD), (10, chunk(A)), (30, chunk(B)), (50, chunk(C + DONE) + END)):
        now_ns = SEND_NS + ms * MS
        decoder.read(now_ns, delay_ns if ms == 30 else 0, now_ns - MS, data)
    row = decoder.close(close_meta(end_ms=51))
    assert decoder.take_tokens()["t_us"].tolist() == [1_010_000, 1_030_000, 1_050_000]
    assert (row.end_us, row.n_missing_stamps) == (1_051_000, 1)


def test_45_what_was_due_what_was_taken_up_and_what_was_sent_are_three_instants():
    times = {"due_ns": SEND_NS - 90 * MS, "dispatched_ns": SEND_NS - 40 * MS, "send_ns": SEND_NS}
    decoder = ExchangeDecoder(APIS["openai_chat"], open_meta(**times), T0_NS)
    decoder.read(SEND_NS + 10 * MS, 0, 0, HEAD + chunk(A + DONE) + END)
    row = decoder.close(close_meta())
    assert (row.due_us, row.dispatched_us, row.send_us) == (910_000, 960_000, 1_000_000)
    assert row.first_token_us == 1_010_000


def test_46_a_request_cancelled_at_the_end_of_the_run_is_told_with_its_tokens_and_age():
    row = decode_reads([(1, HEAD), (10, chunk(A))], cause="cancelled", end_ms=500).row
    assert (row.outcome, row.n_chunks) == ("cancelled", 1)
    assert row.send_us is not None
    assert row.end_us - row.send_us == 500_000
