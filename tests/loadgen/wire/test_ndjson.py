"""One JSON object a line, whatever the reads look like."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loadgen.wire.framing import MAX_EVENT_BYTES, ProtocolError
from loadgen.wire.ndjson import NdjsonFraming


def lines_of(*reads: bytes) -> list[bytes]:
    framing = NdjsonFraming()
    events = [event for read in reads for event in framing.feed(read)]
    return [event.data for event in events + framing.end()]


def test_each_line_is_an_event_with_lf_or_crlf():
    assert lines_of(b'{"a":1}\n{"b":2}\r\n') == [b'{"a":1}', b'{"b":2}']


def test_a_line_is_complete_with_its_lf():
    framing = NdjsonFraming()
    assert framing.feed(b'{"a":1}') == []
    assert not framing.idle
    assert [event.data for event in framing.feed(b"\n")] == [b'{"a":1}']
    assert framing.idle


def test_blank_lines_are_no_events():
    assert lines_of(b'\n\r\n  \n{"a":1}\n\n') == [b'{"a":1}']


@pytest.mark.parametrize("text", ["\u2028", "\u2029", "\x85", "\x0b", "\x0c"])
def test_other_line_separators_do_not_cut_a_line(text: str):
    line = f'{{"a":"b{text}c"}}'.encode()
    assert lines_of(line + b"\n") == [line]


def test_the_last_line_may_lack_its_end_if_it_is_a_complete_object():
    assert lines_of(b'{"a":1}\n{"error":"x"}') == [b'{"a":1}', b'{"error":"x"}']


@pytest.mark.parametrize("rest", [b'{"a":', b'{"a":1', b"12", b"x"])
def test_an_unfinished_last_line_is_dropped(rest: bytes):
    assert lines_of(b'{"a":1}\n' + rest) == [b'{"a":1}']


def test_a_byte_order_mark_is_skipped_at_the_start_only():
    bom = b"\xef\xbb\xbf"
    assert lines_of(bom + b"{}\n" + bom + b"{}\n") == [b"{}", bom + b"{}"]


def test_a_character_may_be_cut_in_two():
    assert lines_of(b'{"a":"\xe6', b'\x97\xa5"}\n') == ['{"a":"日"}'.encode()]


def test_a_long_line_in_single_bytes_takes_no_quadratic_time():
    line = b'{"a":"' + b"x" * 50_000 + b'"}'
    assert lines_of(*(bytes([byte]) for byte in line + b"\n")) == [line]


def test_an_endless_line_is_a_protocol_error_and_is_let_go_to_its_end():
    framing = NdjsonFraming()
    with pytest.raises(ProtocolError, match="longer than 16 MiB"):
        framing.feed(b"x" * (MAX_EVENT_BYTES + 1))
    assert framing.feed(b"more") == []
    assert not framing.idle
    assert [event.data for event in framing.feed(b'end\n{"a":1}\n')] == [b'{"a":1}']
    assert framing.idle


STREAMS = st.lists(
    st.sampled_from(
        [b'{"a":1}', b"", b" ", b'{"b":"\xe6\x97\xa5"}', b"{", b"\xef\xbb\xbf{}", b"\r"]
    ),
    max_size=8,
).map(b"\n".join)


@settings(max_examples=60)
@given(STREAMS, st.lists(st.integers(0, 100), max_size=6))
def test_any_cut_of_the_stream_gives_the_same_lines(stream: bytes, cuts: list[int]):
    places = sorted({0, len(stream), *(cut % (len(stream) + 1) for cut in cuts)})
    assert lines_of(*(stream[a:b] for a, b in pairwise(places))) == lines_of(stream)


def test_a_line_that_begins_with_a_colon_is_a_comment():
    framing = NdjsonFraming()
    events = framing.feed(b': ping\n{"a":1}\n:\n')
    assert ([event.data for event in events], framing.comments) == ([b'{"a":1}'], 2)
