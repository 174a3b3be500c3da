"""Server-sent events by the WHATWG rules, whatever the reads look like."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loadgen.wire.framing import MAX_EVENT_BYTES, ProtocolError, WireEvent
from loadgen.wire.sse import SseFraming


def events_of(*reads: bytes) -> list[tuple[str, bytes]]:
    framing = SseFraming()
    found = [tuple(event) for read in reads for event in framing.feed(read)]
    return found + [tuple(event) for event in framing.end()]


def message(data: bytes) -> tuple[str, bytes]:
    return ("message", data)


@pytest.mark.parametrize("eol", [b"\n", b"\r\n", b"\r"])
def test_all_three_line_ends_frame_an_event(eol: bytes):
    stream = eol.join([b"data: A", b"", b"data: B", b"", b""])
    assert events_of(stream) == [message(b"A"), message(b"B")]


def test_mixed_line_ends_frame_events():
    assert events_of(b"data: A\r\n\ndata: B\r\rdata: C\n\r\n") == [
        message(b"A"),
        message(b"B"),
        message(b"C"),
    ]


def test_a_crlf_cut_in_two_makes_no_empty_event():
    assert events_of(b"data: A\r\n\r", b"\ndata: B\r\n\r\n") == [message(b"A"), message(b"B")]


def test_a_crlf_cut_after_a_data_line_keeps_the_event_open():
    assert events_of(b"data: A\r", b"\n", b"data: B\r\n\r\n") == [message(b"A\nB")]


def test_an_event_is_complete_with_the_cr_of_its_blank_line():
    framing = SseFraming()
    assert framing.feed(b"data: A\r\n\r") == [WireEvent("message", b"A")]
    assert framing.feed(b"\n") == []


def test_the_blank_after_the_colon_is_optional_and_only_one_is_taken():
    assert events_of(b"data:A\n\ndata:  B\n\n") == [message(b"A"), message(b" B")]


def test_data_lines_are_joined_with_line_feeds():
    assert events_of(b'data: {"a":\ndata: 1}\n\n') == [message(b'{"a":\n1}')]


def test_a_line_without_colon_is_a_field_with_an_empty_value():
    assert events_of(b"data\n\ndata\ndata\n\n") == [message(b""), message(b"\n")]


def test_comments_are_counted_and_are_no_events():
    framing = SseFraming()
    assert framing.feed(b": ping\n\n:\n\n") == []
    assert framing.comments == 2


def test_an_event_of_an_id_or_retry_alone_is_not_dispatched():
    assert events_of(b"id: 1\n\nretry: 5\n\nevent: x\n\ndata: A\n\n") == [message(b"A")]


def test_event_names_last_for_one_event():
    assert events_of(b"event: error\ndata: A\n\ndata: B\n\n") == [("error", b"A"), message(b"B")]


def test_a_byte_order_mark_is_skipped_at_the_start_only():
    bom = b"\xef\xbb\xbf"
    assert events_of(bom + b"data: A\n\n" + bom + b"data: B\n\ndata: C\n\n") == [
        message(b"A"),
        message(b"C"),
    ]


def test_a_byte_order_mark_may_come_in_three_reads():
    assert events_of(b"\xef", b"\xbb", b"\xbfdata: A\n\n") == [message(b"A")]


@pytest.mark.parametrize("text", ["\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\x1c"])
def test_other_line_separators_do_not_cut_an_event(text: str):
    data = f'{{"a":"b{text}c"}}'.encode()
    assert events_of(b"data: " + data + b"\n\n") == [message(data)]


def test_a_character_may_be_cut_in_two():
    assert events_of(b"data: \xe6", b"\x97\xa5\n\n") == [message("日".encode())]


def test_a_long_line_is_parsed():
    data = b"x" * 600_000
    assert events_of(b"data: " + data + b"\n\n") == [message(data)]


def test_a_long_line_in_single_bytes_takes_no_quadratic_time():
    data = b"x" * 50_000
    reads = [bytes([byte]) for byte in b"data: " + data + b"\n\n"]
    assert events_of(*reads) == [message(data)]


def test_an_endless_line_is_a_protocol_error_and_is_let_go():
    framing = SseFraming()
    with pytest.raises(ProtocolError, match="longer than 16 MiB"):
        framing.feed(b"data: " + b"x" * MAX_EVENT_BYTES)
    assert framing.feed(b"x\n\ndata: A\n\n") == [WireEvent("message", b"A")]


def test_an_endless_event_of_short_lines_is_a_protocol_error():
    framing = SseFraming()
    line = b"data: " + b"x" * 100_000 + b"\n"
    framing.feed(line * 167)
    with pytest.raises(ProtocolError, match="longer than 16 MiB"):
        framing.feed(line)


def test_a_json_object_without_its_blank_line_counts_at_the_end_of_the_stream():
    assert events_of(b'data: {"a":1}\n') == [message(b'{"a":1}')]
    assert events_of(b'data: {"a":1}') == [message(b'{"a":1}')]
    assert events_of(b"data: [DONE]") == [message(b"[DONE]")]


@pytest.mark.parametrize(
    "rest", [b'data: {"a":', b'data: {"a":1', b"data: 12", b"data: A\n", b"da"]
)
def test_an_unfinished_event_is_dropped_at_the_end_of_the_stream(rest: bytes):
    assert events_of(b"data: A\n\n" + rest) == [message(b"A")]


LINES = st.sampled_from(
    [
        b"data: A",
        b"data:B",
        b'data: {"c":"\xe6\x97\xa5"}',
        b"data",
        b"event: error",
        b"id: 7",
        b": ping",
        b":",
        b"",
        b"",
        b"\xef\xbb\xbfdata: D",
        b"nonsense",
    ]
)
STREAMS = st.lists(st.tuples(LINES, st.sampled_from([b"\n", b"\r\n", b"\r"])), max_size=14).map(
    lambda lines: b"".join(line + eol for line, eol in lines)
)


@settings(max_examples=60)
@given(STREAMS, st.lists(st.integers(0, 200), max_size=6))
def test_any_cut_of_the_stream_gives_the_same_events(stream: bytes, cuts: list[int]):
    places = sorted({0, len(stream), *(cut % (len(stream) + 1) for cut in cuts)})
    reads = [stream[a:b] for a, b in pairwise(places)]
    assert events_of(*reads) == events_of(stream)


@settings(max_examples=40)
@given(st.lists(STREAMS, max_size=5))
def test_the_short_way_for_one_plain_event_is_the_long_way(reads: list[bytes]):
    reads = [b"data: A\n\n", *reads, b'data: {"b":1}\n\n']
    short, long = SseFraming(), SseFraming()
    for read in reads:
        assert short.feed(read) == long.feed_lines(read)
        assert short.idle == long.idle
