"""The hot path on a socket that gives out a byte stream in any pieces."""

import socket
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st
from scripted_server import CHUNKED, DONE_EVENT, LAST_CHUNK, MemorySpool, chunk

from loadgen.transport import stamps
from loadgen.transport.answer import Answer
from loadgen.transport.stream import READ_BYTES, Reading, reader

PAYLOADS = st.lists(
    st.one_of(
        st.binary(min_size=1, max_size=40),
        st.sampled_from([LAST_CHUNK, b"0\r\n", b"\r\n0\r\n\r\n", DONE_EVENT, b"data: x\n\n"]),
    ),
    max_size=6,
)


class FakeSocket:
    """recvmsg gives the next piece, or raises it; then there is nothing to read."""

    def __init__(self, pieces, ancillary=()):
        self.pieces, self._ancillary = list(pieces), list(ancillary)

    def recvmsg(self, size, ancillary_size):
        assert (size, ancillary_size) == (READ_BYTES, 64)
        piece = self.pieces.pop(0) if self.pieces else BlockingIOError()
        if isinstance(piece, Exception):
            raise piece
        return piece, self._ancillary, 0, None


class PlainConnection:
    is_translated = False

    def __init__(self, sock):
        self.sock = sock


def read_all(pieces, ancillary=()):
    """(answer, ends seen by the pool as (reads so far, error), spool) after all pieces."""
    spool, ends = MemorySpool(), []
    answer = Answer(7)
    connection = PlainConnection(FakeSocket(pieces, ancillary))
    answer.begin(connection)
    shared = Reading(spool, lambda _, error: ends.append((len(spool.reads), error)), ends.append)
    on_readable = reader(answer, connection, shared)
    while connection.sock.pieces and not ends:
        on_readable()
    return answer, ends, spool


def cut(raw, places):
    edges = [0, *sorted({p % len(raw) for p in places} - {0}), len(raw)]
    return [raw[a:b] for a, b in pairwise(edges)]


def with_length(payloads):
    body = b"".join(payloads)
    return b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%s" % (len(body), body)


def with_chunks(payloads):
    return CHUNKED + b"".join(map(chunk, payloads)) + LAST_CHUNK


@given(
    payloads=PAYLOADS,
    frame=st.sampled_from([with_length, with_chunks]),
    places=st.lists(st.integers(0, 10_000), max_size=12),
    is_announced=st.booleans(),
)
def test_the_end_is_seen_at_the_last_byte_and_not_before(payloads, frame, places, is_announced):
    raw = (b"HTTP/1.1 100 Continue\r\n\r\n" if is_announced else b"") + frame(payloads)
    pieces = cut(raw, places)
    answer, ends, spool = read_all(pieces)
    assert ends == [(len(pieces), None)]
    assert answer.is_complete
    assert answer.is_kept_alive
    assert answer.http_status == 200
    assert spool.received(7) == raw
    assert raw.endswith(answer.tail)
    assert len(answer.tail) >= min(64, len(raw))


@given(payloads=PAYLOADS, places=st.lists(st.integers(0, 10_000), max_size=12))
def test_without_length_or_chunks_only_the_end_of_the_connection_ends_it(payloads, places):
    raw = b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n" + b"".join(payloads)
    pieces = cut(raw, places)
    answer, ends, _ = read_all(pieces)
    assert ends == []
    answer, ends, _ = read_all([*pieces, b""])
    assert ends == [(len(pieces), None)]
    assert not answer.is_complete
    assert answer.is_whole_at_eof


def test_a_cut_chunked_answer_is_not_whole_at_its_end():
    answer, ends, _ = read_all([CHUNKED + chunk(b"x"), b""])
    assert ends == [(1, None)]
    assert not answer.is_complete
    assert not answer.is_whole_at_eof


def test_an_announcement_alone_is_no_answer():
    answer, _, _ = read_all([b"HTTP/1.1 100 Continue\r\n\r\n", b""])
    assert not answer.is_complete
    assert not answer.is_whole_at_eof


def test_each_read_keeps_its_bytes_its_delay_and_the_poll_before():
    pieces = cut(with_chunks([b"a", b"b"]), [50, 60])
    stamp = stamps.TIMESPEC.pack(1, 0) + bytes(32)  # 1970: the clock was set; counts as missing
    _, _, spool = read_all(pieces, [(socket.SOL_SOCKET, stamps.SO_TIMESTAMPING, stamp)])
    assert [read[4] for read in spool.reads] == pieces
    assert {read[2] for read in spool.reads} == {-1}
    assert all(read[3] <= read[1] for read in spool.reads)
    _, _, spool = read_all(pieces)
    assert {read[2] for read in spool.reads} == {-1}


def test_a_broken_connection_and_what_is_not_http_reach_the_pool_as_errors():
    _, ends, _ = read_all([CHUNKED, ConnectionResetError()])
    assert isinstance(ends[0][1], ConnectionResetError)
    _, ends, _ = read_all([b"SSH-2.0-OpenSSH\r\n"])
    assert ends[0][0] == 1  # kept, although nobody understands it
    assert "HTTP" in str(ends[0][1])


def test_nothing_to_read_is_no_event():
    _, ends, spool = read_all([BlockingIOError(), CHUNKED])
    assert (ends, len(spool.reads)) == ([], 1)
