"""Streams whose framing broke other tools, by their number in test_stream_cases_are_covered."""

import pytest
from exchanges import (
    DONE,
    END,
    HEAD,
    ROLE,
    SEND_NS,
    T0_NS,
    chunk,
    close_meta,
    content,
    decode_bodies,
    decode_reads,
    open_meta,
)

from loadgen.exchange import ExchangeDecoder
from loadgen.wire.registry import APIS

A, B, C = content("A"), content("B"), content("C")


def test_5_data_without_a_blank_after_the_colon():
    got = decode_bodies((10, A.replace(b"data: ", b"data:")), (20, b"data:[DONE]\n\n"))
    assert (got.row.outcome, got.row.n_chunks) == ("complete", 1)


def test_6_crlf_framing_one_event_per_read():
    crlf = [event.replace(b"\n", b"\r\n") for event in (A, B, DONE)]
    got = decode_bodies((10, crlf[0]), (20, crlf[1]), (30, crlf[2]))
    assert got.ms == [10, 20]


def test_7_crlf_framing_all_in_one_read_and_cut_between_cr_and_lf():
    body = (A + B + DONE).replace(b"\n", b"\r\n")
    cut = body.index(b"\r\n\r\n") + 3
    assert decode_bodies((10, body)).ms == [10, 10]
    assert decode_bodies((10, body[:cut]), (20, body[cut:])).ms == [10, 20]


def test_8_a_comment_alone_in_a_read_is_a_sign_of_life_only():
    got = decode_bodies((5, b": ping\n\n"), (6, ROLE), (10, A), (20, B), (21, DONE))
    assert got.ms == [10, 20]
    assert got.row.outcome == "complete"
    assert got.row.other_events == {"comment": 1, "role": 1, "done": 1}


def test_9_a_comment_after_an_event_with_an_id_is_no_empty_event():
    got = decode_bodies((10, b"id: 1\n" + A), (15, b": ping\n\n"), (20, B), (21, DONE))
    assert got.ms == [10, 20]
    assert got.row.outcome == "complete"


def test_10_events_of_one_read_have_one_arrival_and_are_marked():
    got = decode_bodies((10, A + B + C), (20, DONE))
    assert got.gaps_ms == [0, 0]
    assert got.shared == [1, 1, 0]
    assert got.row.n_shared == 2


def test_11_an_event_of_many_reads_arrives_with_its_last_byte():
    stream = HEAD + chunk(A + DONE) + END
    reads = [(float(i), bytes([byte])) for i, byte in enumerate(stream)]
    last = stream.index(b"\n\n", stream.index(b"data:")) + 1
    assert decode_reads(reads).ms == [last]


TEXTS = [
    "hello world",
    " two  blanks ",
    "日本",
    "a\u2028b",
    "a\u2029b",
    "a\x85b",
    "\x0b\x0c\x1c",
    "👩‍🚀",
]


@pytest.mark.parametrize("text", TEXTS)
def test_12_14_15_a_text_survives_any_cut_of_its_event(text: str):
    body = content(text) + DONE
    for cut in range(1, len(body)):
        decoder = ExchangeDecoder(APIS["openai_chat"], open_meta(), T0_NS, is_learning=False)
        for read in (HEAD, chunk(body[:cut]), chunk(body[cut:])):
            decoder.read(SEND_NS, 0, 0, read)
        assert decoder.close(close_meta("eof")).outcome == "complete"
        assert "".join(decoder.texts[0]) == text


def test_16_a_line_of_600_kb_is_a_token_event():
    got = decode_bodies((10, content("x" * 600_000)), (20, DONE))
    assert (got.row.outcome, got.row.n_chunks) == ("complete", 1)


def test_16_an_endless_line_is_malformed_and_says_so():
    reads = [(float(i), chunk(b"data: " + b"x" * 2_000_000)) for i in range(10)]
    got = decode_reads([(1, HEAD), (2, chunk(A)), *reads], cause="eof")
    assert got.row.outcome == "malformed"
    assert got.row.detail == "An event is longer than 16 MiB."
    assert got.row.n_chunks == 1


def test_17_a_multi_line_event_is_joined_and_parsed():
    body = b'data: {"choices":[{"index":0,\ndata: "delta":{"content":"A"}}]}\n\n'
    assert decode_bodies((10, body), (20, DONE)).ms == [10]


def test_18_a_byte_order_mark_and_event_lines_lose_no_token():
    got = decode_bodies(
        (10, b"\xef\xbb\xbf" + A), (20, b"event: message\nretry: 1\n" + B), (30, DONE)
    )
    assert got.ms == [10, 20]


def test_18_fields_that_nobody_knows_are_no_part_of_an_event():
    body = b"retry: 100\nid: 4\nevent: message\ndatas: x\nnonsense\n" + A
    assert decode_bodies((10, body), (20, DONE)).ms == [10]
