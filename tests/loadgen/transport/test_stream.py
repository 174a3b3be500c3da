"""The hot path on a socket that gives out a byte stream in any pieces."""

import socket
import time
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st
from scripted_server import CHUNKED, DONE_EVENT, LAST_CHUNK, MemorySpool, chunk

from loadgen.transport import stamps
from loadgen.transport.answer import Answer
from loadgen.transport.call import Call
from loadgen.transport.polls import AWAY_NS, Polls
from loadgen.transport.stream import READ_BYTES, Reading, reader
from storage.raw_record import POLL_UNKNOWN

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
        self.read = None

    def on_readable(self, callback):
        self.read = callback


class Hot:
    """One answer on a connection that gives out `pieces`; polls are made by hand."""

    def __init__(self, pieces, ancillary=(), is_reused=True):
        self.now_ns, self.waits = time.monotonic_ns() - 10**9, False
        self.polls = Polls(lambda *_: self.waits, clock=lambda: self.now_ns)
        self.spool, self.ends = MemorySpool(), []
        self.answer = Answer(Call(7, b"", {}), print)
        self.answer.is_reused = is_reused
        self.connection = PlainConnection(FakeSocket(pieces, ancillary))
        self.answer.begin(self.connection)
        self.shared = Reading(self.spool, self.polls, self._ended, self.ends.append)
        self.connection.on_readable(reader(self.answer, self.connection, self.shared))

    def poll(self, late_ms=0):
        """A poll that returned so long ago; what it says of a read on time."""
        self.now_ns = time.monotonic_ns() - late_ms * 10**6
        self.polls.before_poll()
        self.polls.after_poll()
        return self.polls.poll_ns

    def read(self):
        self.connection.read()
        return self.spool.reads[-1]

    def _ended(self, _answer, error):
        self.ends.append((len(self.spool.reads), error))


def read_all(pieces, ancillary=()):
    """(answer, ends seen by the pool as (reads so far, error), spool) after all pieces."""
    hot = Hot(pieces, ancillary)
    while hot.connection.sock.pieces and not hot.ends:
        hot.connection.read()
    return hot.answer, hot.ends, hot.spool


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


def test_a_read_says_since_when_its_bytes_can_have_been_there_and_whether_it_came_late():
    hot = Hot([CHUNKED, chunk(b"a"), chunk(b"b")])
    poll_ns = hot.poll(late_ms=500)
    assert hot.read()[3] == -poll_ns == hot.polls.of_read(time.monotonic_ns())
    poll_ns = hot.poll()
    assert hot.read()[3] == poll_ns > 0
    time.sleep(2 * AWAY_NS / 1e9)
    hot.waits = True
    poll_ns = hot.poll()
    assert hot.read()[3] == poll_ns < 0


def test_of_a_new_connection_the_first_poll_tells_nothing_and_the_second_does():
    for turns, is_known in ((1, False), (2, True)):
        hot = Hot([CHUNKED, chunk(b"a")], is_reused=False)
        for _ in range(turns):
            poll_ns = hot.poll()
        assert hot.read()[3] == (poll_ns if is_known else POLL_UNKNOWN)
        poll_ns = hot.poll()
        assert hot.read()[3] == poll_ns


def test_of_what_a_full_buffer_left_behind_no_poll_tells_anything():
    hot = Hot([CHUNKED, chunk(b"x" * READ_BYTES)[:READ_BYTES], b"x", b"x"])
    known = []
    for _ in range(4):
        poll_ns = hot.poll()
        known.append(hot.read()[3] == poll_ns)
    assert known == [True, True, False, True]
    assert not hot.ends


def test_each_read_keeps_its_bytes_and_its_delay():
    pieces = cut(with_chunks([b"a", b"b"]), [50, 60])
    stamp = stamps.TIMESPEC.pack(1, 0) + bytes(32)  # 1970: the clock was set; counts as missing
    _, _, spool = read_all(pieces, [(socket.SOL_SOCKET, stamps.SO_TIMESTAMPING, stamp)])
    assert [read[4] for read in spool.reads] == pieces
    assert {read[2] for read in spool.reads} == {-1}
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
