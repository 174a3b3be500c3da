"""A read that is proved to hold one segment arrived at its stamp, however busy the client was."""

import select
import socket
import time

import pytest
from scripted_server import CHUNKED, LAST_CHUNK, answers, chunk, started

from loadgen.transport.segments import Segments, segments_in
from storage.raw_record import POLL_UNKNOWN

pytestmark = pytest.mark.slow
EVENT = b'data: {"choices":[{"delta":{"content":"a"}}]}\n\n'


@pytest.fixture
def pair():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        client = socket.create_connection(listener.getsockname())
        server, _ = listener.accept()
        server.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with client, server:
            if segments_in(client) < 0:
                pytest.skip("this platform does not count segments (Linux 4.6 does)")
            yield client, server


def arrive(server, client, *pieces):
    """Send the pieces one by one and wait until all of them can be read."""
    for piece in pieces:
        server.sendall(piece)
    wanted = sum(map(len, pieces))
    deadline = time.monotonic() + 5
    while len(client.recv(1 << 16, socket.MSG_PEEK)) < wanted and time.monotonic() < deadline:
        select.select([client], [], [], 0.01)


def read(client, segments, n_bytes=1 << 16):
    client.recv(n_bytes)
    segments.reads += 1
    return segments.is_one()


def test_one_write_is_one_segment_and_two_writes_are_two(pair):
    client, server = pair
    segments = Segments(client)
    arrive(server, client, b"abc" * 50)
    assert read(client, segments)
    arrive(server, client, b"abc", b"def")
    assert not read(client, segments)
    arrive(server, client, b"ghi")
    assert read(client, segments)  # counted anew


def test_reads_that_were_not_asked_about_count_too(pair):
    client, server = pair
    segments = Segments(client)
    for _ in range(3):
        arrive(server, client, b"abc")
        client.recv(99)
        segments.reads += 1
    arrive(server, client, b"def")
    assert read(client, segments)


def test_a_double_segment_read_before_is_not_made_up_for_by_half_a_segment(pair):
    client, server = pair
    segments = Segments(client)
    arrive(server, client, b"abcdef")
    client.recv(3)
    segments.reads += 1
    segments.lose_count()  # as the hot path does after a full read
    client.recv(3)
    segments.reads += 1
    arrive(server, client, b"ab", b"cd")
    assert not read(client, segments)


def test_nothing_is_proved_while_more_waits(pair):
    client, server = pair
    segments = Segments(client)
    arrive(server, client, b"abc", b"def")
    assert not read(client, segments, 3)
    assert not read(client, segments)
    arrive(server, client, b"abc")
    assert read(client, segments)


def test_without_a_socket_nothing_is_proved():
    assert not Segments().is_one()


def polls_of(serve, asker, *pieces):
    server = started(serve, answers(*pieces, pause_s=0.05))
    asked = asker(server.endpoint())
    asked.ask()
    asked.ask()  # on the kept connection, of which the polls tell from the first read on
    reads = [r for r in asked.spool.reads if r[0] == 1]
    return [(mono_ns - delay_ns, poll_ns) for _, mono_ns, delay_ns, poll_ns, _ in reads]


def test_events_of_one_write_are_vouched_for_up_to_their_stamp(serve, asker):
    several = chunk(EVENT) * 4
    found = polls_of(serve, asker, CHUNKED, several, chunk(EVENT), LAST_CHUNK)
    arrival_ns, poll_ns = found[1]
    assert poll_ns == arrival_ns
    alone_ns, its_poll_ns = found[2]
    assert its_poll_ns not in (alone_ns, POLL_UNKNOWN)  # a usual read is not asked about


def test_a_request_after_an_answer_that_was_counted_to_its_end_counts_on(pair):
    client, server = pair
    segments = Segments(client)
    arrive(server, client, b"abc")
    assert read(client, segments)
    segments.begin()
    arrive(server, client, b"def")
    assert read(client, segments)
    arrive(server, client, b"gh", b"ij")
    client.recv(99)  # two segments in a read that is not asked about
    segments.reads += 1
    segments.begin()
    arrive(server, client, b"klm")
    assert read(client, segments)


def test_what_was_read_uncounted_while_idle_does_not_spoil_the_next_answer(pair):
    client, server = pair
    segments = Segments(client)
    arrive(server, client, b"a session's ticket")
    client.recv(99)
    segments.lose_count()
    segments.begin()
    arrive(server, client, b"abc")
    assert read(client, segments)
