"""Requests against a scripted server: every way they can end, and which connection they use."""

import gc
import socket
import threading
import time
import weakref

import gevent
import pytest
from scripted_server import CHUNKED, DONE_EVENT, LAST_CHUNK, OK, answers, chunk, started

from loadgen.transport import pool as pool_module
from loadgen.transport import stamps
from loadgen.transport.endpoint import Endpoint
from storage.raw_record import SpoolError

pytestmark = pytest.mark.slow


def test_a_chunked_stream_is_done_at_its_last_chunk_and_the_connection_is_used_again(serve, asker):
    server = started(serve, answers(CHUNKED, chunk(b"data: 1\n\n"), chunk(DONE_EVENT) + LAST_CHUNK))
    a = asker(server.endpoint())
    first, second = a.ask(), a.ask()
    assert (first.cause, first.http_status, first.detail) == ("done", 200, None)
    assert second.cause == "done"
    assert server.accepted == 1
    assert a.spool.received(0) == CHUNKED + chunk(b"data: 1\n\n") + chunk(DONE_EVENT) + LAST_CHUNK
    assert [a.closed(k)["conn_reused"] for k in (0, 1)] == [False, True]
    assert a.closed(0)["connect_ns"] > 0
    assert (a.closed(0)["dns_ns"], a.closed(0)["tls_ns"]) == (None, None)
    assert a.closed(1)["connect_ns"] is None


def test_the_times_of_a_request_are_in_order_and_stamped(serve, asker):
    server = started(serve, answers(CHUNKED, chunk(b"x"), LAST_CHUNK, pause_s=0.02))
    a = asker(server.endpoint())
    begin_ns = time.monotonic_ns()
    done = a.ask()
    assert begin_ns <= a.spool.opened[0]["send_ns"] == done.send_ns
    moments = [mono_ns - max(0, delay) for _, mono_ns, delay, _, _ in a.spool.reads]
    assert moments == sorted(moments)
    assert done.send_ns < moments[0]
    assert done.end_ns == a.closed()["end_ns"] == a.spool.reads[-1][1] <= time.monotonic_ns()
    assert all(delay >= 0 for _, _, delay, _, _ in a.spool.reads)
    assert all(poll_ns <= mono_ns - delay for _, mono_ns, delay, poll_ns, _ in a.spool.reads[1:])
    stats = a.pool.take_stats()
    assert (stats.reads, stats.missing_stamps) == (len(a.spool.reads), 0)
    assert stats.lag_p99_us is not None


def test_without_kernel_stamps_everything_works_and_the_reads_say_so(serve, asker, monkeypatch):
    monkeypatch.setattr(stamps, "enable", lambda _sock: False)
    a = asker(started(serve, answers(CHUNKED, LAST_CHUNK, pause_s=0.02)).endpoint())
    assert a.ask().cause == "done"
    assert {delay for _, _, delay, _, _ in a.spool.reads} == {stamps.NO_STAMP}
    stats = a.pool.take_stats()
    assert (stats.missing_stamps, stats.lag_p50_us) == (stats.reads, None)


@pytest.mark.parametrize("status", [b"404 Not Found", b"503 Service Unavailable"])
def test_an_http_error_is_done_with_its_status_and_body(serve, asker, status):
    raw = b"HTTP/1.1 " + status + b"\r\ncontent-length: 3\r\n\r\nwhy"
    a = asker(started(serve, answers(raw)).endpoint())
    done = a.ask()
    assert (done.cause, done.http_status) == ("done", int(status[:3]))
    assert a.spool.received(0) == raw


def test_a_body_without_length_is_done_at_eof(serve, asker):
    raw = b"HTTP/1.1 200 OK\r\n\r\ndata: 1\n\n" + LAST_CHUNK
    a = asker(started(serve, answers(raw, b"more", then_close=True)).endpoint())
    assert a.ask().cause == "done"
    assert a.spool.received(0) == raw + b"more"


def test_a_stream_that_is_cut_ends_with_eof_and_says_where(serve, asker):
    server = started(serve, answers(CHUNKED + chunk(b"data: 1\n\n"), then_close=True))
    a = asker(server.endpoint())
    done = a.ask()
    assert done.cause == "eof"
    assert done.detail == (
        f"127.0.0.1:{server.port} closed the connection before the answer was complete."
    )


def test_a_new_connection_closed_without_a_byte_is_the_servers_failure(serve, asker):
    server = started(serve, answers(then_close=True))
    done = asker(server.endpoint()).ask()
    assert done.cause == "eof"
    assert "without answering a byte. If it expects TLS, use https://." in done.detail
    assert server.accepted == 1


def test_a_reset_in_the_middle_is_a_reset(serve, asker):
    def script(connection, _n):
        script.server.read_request(connection)
        connection.sendall(CHUNKED + chunk(b"x"))
        time.sleep(0.05)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")

    done = asker(started(serve, script).endpoint()).ask()
    assert done.cause == "reset"
    assert "broke the connection in the middle of the answer" in done.detail


def test_a_large_body_is_sent_in_parts_and_arrives_whole(serve, asker):
    def script(connection, _n):
        time.sleep(0.2)  # let the socket buffers fill
        script.server.read_request(connection)
        connection.sendall(OK)

    server = started(serve, script)
    body = bytes(range(256)) * 50_000
    done = asker(server.endpoint()).ask(body)
    assert done.cause == "done"
    assert server.requests[0][1] == body


def test_an_answer_that_comes_before_the_body_is_sent_ends_the_request(serve, asker):
    def script(connection, _n):
        connection.recv(100)
        connection.sendall(b"HTTP/1.1 413 Too Large\r\ncontent-length: 3\r\n\r\nbig")
        time.sleep(1)

    a = asker(started(serve, script).endpoint())
    done = a.ask(bytes(20_000_000))
    assert (done.cause, done.http_status) == ("done", 413)
    assert a.pool.open_connections == 0


def test_done_without_the_end_of_the_body_is_done_a_second_later(serve, asker):
    server = started(serve, answers(CHUNKED, chunk(b"data: 1\n\n"), chunk(DONE_EVENT)))
    a = asker(server.endpoint())
    begin_ns = time.monotonic_ns()
    done = a.ask()
    waited_s = (time.monotonic_ns() - begin_ns) / 1e9
    assert done.cause == "done"
    assert 1 <= waited_s < 3
    assert done.end_ns == a.spool.reads[-1][1]
    assert a.pool.open_connections == 0


def test_silence_is_a_timeout_that_names_its_limit(serve, asker):
    a = asker(started(serve, answers(CHUNKED, chunk(b"x"))).endpoint(), silence_s=0.3)
    done = a.ask()
    assert (done.cause, done.detail) == ("timeout", "no byte came for 0.3 s (limits.silence_s)")


@pytest.mark.parametrize("before", [CHUNKED, CHUNKED + chunk(b"data: 1\n\n"), b""])
def test_comments_do_not_break_the_silence(serve, asker, before):
    comments = [chunk(b": ping\n\n")] * 40
    if not before:
        comments[0] = CHUNKED
    server = started(serve, answers(before, *comments, pause_s=0.05))
    begin_ns = time.monotonic_ns()
    done = asker(server.endpoint(), silence_s=0.5, total_s=10).ask()
    said = "only keep-alive comments came for 0.5 s (limits.silence_s)"
    assert (done.cause, done.detail) == ("timeout", said)
    assert time.monotonic_ns() - begin_ns < 2e9


def test_cancel_all_ends_streams_and_connects_at_once(serve, asker, silent_port):
    server = started(serve, answers(CHUNKED, chunk(b"x")))
    a = asker(server.endpoint())
    waiting = asker(Endpoint("http", "127.0.0.1", silent_port))
    asking = [gevent.spawn(a.ask) for _ in range(3)] + [gevent.spawn(waiting.ask)]
    gevent.sleep(0.2)
    assert a.pool.in_flight == 3
    begin_ns = time.monotonic_ns()
    for one in (a, waiting):
        one.pool.cancel_all("Stop was pressed")
    done = [g.get(timeout=2) for g in asking]
    assert time.monotonic_ns() - begin_ns < 1e9
    assert {(d.cause, d.detail) for d in done} == {("cancelled", "Stop was pressed")}
    assert (a.pool.in_flight, waiting.pool.in_flight) == (0, 0)
    assert len(a.spool.closed) == 3


def test_a_killed_greenlet_leaves_a_closed_record(serve, asker):
    a = asker(started(serve, answers(CHUNKED)).endpoint())
    asking = gevent.spawn(a.ask)
    gevent.sleep(0.1)
    asking.kill()
    assert a.closed()["cause"] == "cancelled"
    assert (a.pool.in_flight, a.pool.open_connections) == (0, 0)


def test_a_closed_pool_sends_nothing(serve, asker):
    a = asker(started(serve, answers(OK)).endpoint())
    a.pool.close()
    assert a.ask().cause == "not_sent"


def test_what_is_not_http_is_malformed_and_kept(serve, asker):
    def script(connection, _n):
        connection.sendall(b"SSH-2.0-OpenSSH_9\r\n")
        time.sleep(0.2)

    a = asker(started(serve, script).endpoint())
    done = a.ask()
    assert done.cause == "malformed"
    assert "answered what is not HTTP/1.1" in done.detail
    assert a.spool.received(0).startswith(b"SSH")


def test_a_full_spool_is_raised_and_not_taken_for_the_servers_failure(serve, asker):
    a = asker(started(serve, answers(CHUNKED, chunk(b"x"))).endpoint())

    def read(*_):
        raise SpoolError("disk full")

    a.spool.read = read
    for _ in range(2):
        with pytest.raises(SpoolError, match="disk full"):
            a.ask()
    assert (a.pool.in_flight, a.pool.open_connections) == (0, 0)


def test_nothing_of_an_ended_request_needs_the_garbage_collector(serve, asker, monkeypatch):
    made = []

    class Watched(pool_module.Answer):
        def __init__(self, *given):
            super().__init__(*given)
            made.append(weakref.ref(self))

    monkeypatch.setattr(pool_module, "Answer", Watched)
    a = asker(started(serve, answers(CHUNKED, chunk(b"x"), LAST_CHUNK)).endpoint())
    gc.collect()
    gc.disable()
    try:
        for _ in range(5):
            a.ask()
        gevent.sleep(0.01)
        assert [ref() for ref in made] == [None] * 5
    finally:
        gc.enable()


def test_many_streams_at_once_each_get_their_own_bytes(serve, asker):
    def script(connection, n):
        while script.server.read_request(connection):
            connection.sendall(CHUNKED)
            for k in range(20):
                connection.sendall(chunk(b"data: %d %d\n\n" % (n, k)))
                time.sleep(0.005)
            connection.sendall(chunk(DONE_EVENT) + LAST_CHUNK)

    n_threads = threading.active_count()
    a = asker(started(serve, script).endpoint())
    a.pool.warm(20)
    asking = [gevent.spawn(a.ask) for _ in range(20)]
    gevent.joinall(asking, timeout=20)
    assert {g.value.cause for g in asking} == {"done"}
    for k in range(20):
        lines = a.spool.received(k).split(b"data: ")[1:21]
        server_side = {line.split()[0] for line in lines}
        assert len(server_side) == 1
        assert [int(line.split()[1]) for line in lines] == list(range(20))
    assert threading.active_count() < n_threads + 40
