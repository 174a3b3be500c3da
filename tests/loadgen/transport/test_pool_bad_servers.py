"""Servers that stall, vanish, trickle or never let go: outcome, sentence and times, each soon."""

import ctypes
import re
import socket
import struct
import time

import gevent
import pytest
from scripted_server import CHUNKED, DONE_EVENT, LAST_CHUNK, OK, answers, chunk, started

from loadgen.transport.call import Call
from loadgen.transport.endpoint import Endpoint
from loadgen.transport.request import http_request

pytestmark = pytest.mark.slow

TOKEN = chunk(b'data: {"x":1}\n\n')
SO_ATTACH_FILTER = 26


def asked(a, done_line):
    """One request whose API ends its streams with that line."""
    raw = http_request(a.endpoint, "/v1/messages", {}, b"{}")
    return a.pool.perform(Call(77, raw, {"request_id": 77}, done_line=done_line))


def timed(ask):
    """(how it ended, seconds it took); a bound on all of these tests."""
    begin_ns = time.monotonic_ns()
    with gevent.Timeout(5):
        done = ask()
    return done, (time.monotonic_ns() - begin_ns) / 1e9


def vanish(connection):
    """From now on this end drops whatever comes, acknowledgements too: no FIN, no RST."""
    drop_all = ctypes.create_string_buffer(struct.pack("HBBI", 0x06, 0, 0, 0))  # BPF: return 0
    program = struct.pack("HxxxxxxP", 1, ctypes.addressof(drop_all))
    connection.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, program)


def test_a_peer_that_vanishes_in_the_middle_is_silent_and_its_connection_is_not_used_again(
    serve, asker
):
    def script(connection, n):
        script.server.read_request(connection)
        if n == 1:
            connection.sendall(CHUNKED + TOKEN)
            vanish(connection)
            time.sleep(3)  # longer than the limit under test: nothing more may come before it
        connection.sendall(OK)

    server = started(serve, script)
    a = asker(server.endpoint(), silence_s=0.4)
    done, took_s = timed(a.ask)
    assert (done.cause, done.detail) == ("timeout", "no byte came for 0.4 s (limits.silence_s)")
    assert 0.4 <= took_s < 2
    assert 0.4e9 <= done.end_ns - a.spool.reads[-1][1] < 2e9
    assert a.pool.open_connections == 0
    assert timed(a.ask)[0].cause == "done"
    assert server.accepted == 2


def test_a_kept_connection_whose_peer_has_vanished_meanwhile_takes_the_request_and_is_silent(
    serve, asker
):
    def script(connection, n):
        script.server.read_request(connection)
        connection.sendall(OK)
        if n == 1:
            vanish(connection)
            time.sleep(3)  # the socket stays open, so that no FIN tells

    server = started(serve, script)
    a = asker(server.endpoint(), silence_s=0.4)
    assert timed(a.ask)[0].cause == "done"
    gevent.sleep(0.1)
    done, took_s = timed(a.ask)
    assert (done.cause, a.closed(1)["conn_reused"]) == ("timeout", True)
    assert a.closed(1)["reconnects"] == 0  # it may have been received: never asked twice
    assert took_s < 2
    assert timed(a.ask)[0].cause == "done"


def test_a_server_that_accepts_and_never_reads_is_silent(asker):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        host, port = listener.getsockname()
        a = asker(Endpoint("http", host, port), silence_s=0.4)
        done, took_s = timed(lambda: a.ask(bytes(20_000_000)))
    assert (done.cause, done.http_status) == ("timeout", None)
    assert took_s < 2


def test_a_server_that_trickles_bytes_is_not_silent_but_has_its_total_limit(serve, asker):
    pieces = [bytes([byte]) for byte in TOKEN * 20]
    a = asker(started(serve, answers(CHUNKED, *pieces, pause_s=0.02)).endpoint(), 5, 0.5, 1)
    done, took_s = timed(a.ask)
    assert (done.cause, done.detail) == (
        "timeout",
        "not finished 1 s after the send (limits.request_s)",
    )
    assert 1 <= took_s < 2.5
    assert a.spool.received(0).startswith(CHUNKED + TOKEN)


def test_a_trickled_answer_is_whole_in_the_end(serve, asker):
    raw = CHUNKED + TOKEN + LAST_CHUNK
    pieces = [raw[k : k + 1] for k in range(len(raw))]
    a = asker(started(serve, answers(*pieces, pause_s=0.01)).endpoint(), silence_s=1)
    done, _ = timed(a.ask)
    assert (done.cause, a.spool.received(0)) == ("done", raw)
    assert done.end_ns == a.spool.reads[-1][1]
    moments = [mono_ns - max(0, delay_ns) for _, mono_ns, delay_ns, _, _ in a.spool.reads]
    assert moments == sorted(moments)


def test_a_stall_between_tokens_within_the_limit_is_no_trouble(serve, asker):
    a = asker(
        started(serve, answers(CHUNKED, TOKEN, TOKEN + LAST_CHUNK, pause_s=0.3)).endpoint(),
        silence_s=1,
    )
    done, took_s = timed(a.ask)
    assert done.cause == "done"
    assert took_s >= 0.6
    assert a.spool.reads[-1][1] - a.spool.reads[-2][1] >= 0.25e9


def test_a_reset_tells_its_time_and_how_far_the_answer_came(serve, asker):
    def script(connection, _n):
        script.server.read_request(connection)
        connection.sendall(CHUNKED + TOKEN)
        time.sleep(0.2)  # the token is read before the reset, which would throw it away
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")

    a = asker(started(serve, script).endpoint())
    done, took_s = timed(a.ask)
    assert (done.cause, done.http_status) == ("reset", 200)
    assert "broke the connection in the middle of the answer" in done.detail
    assert took_s < 2
    assert done.end_ns - a.spool.reads[-1][1] >= 0.15e9
    assert a.spool.received(0) == CHUNKED + TOKEN


@pytest.mark.parametrize("after", [b"", chunk(b": ping\n\n")])
def test_an_apis_own_last_line_ends_a_stream_whose_connection_stays_open(serve, asker, after):
    stop = chunk(b'event: message_stop\ndata: {"type":"message_stop"}\n\n')
    a = asker(started(serve, answers(CHUNKED, TOKEN, stop, after, pause_s=0.15)).endpoint())
    done, took_s = timed(lambda: asked(a, re.compile(rb'"type": ?"message_stop"')))
    assert (done.cause, done.detail) == ("done", None)
    assert 1 <= took_s < 3
    assert a.pool.open_connections == 0


def test_another_apis_last_line_ends_nothing(serve, asker):
    a = asker(started(serve, answers(CHUNKED, chunk(DONE_EVENT))).endpoint(), silence_s=1.5)
    done, _ = timed(lambda: asked(a, None))
    assert (done.cause, done.detail) == ("timeout", "no byte came for 1.5 s (limits.silence_s)")
