"""Requests against a scripted server: every way they can end, and which connection they use."""

import gc
import socket
import threading
import time
import weakref

import gevent
import pytest
from scripted_server import CHUNKED, DONE_EVENT, LAST_CHUNK, chunk

from loadgen.transport import connecting, stamps
from loadgen.transport import pool as pool_module
from loadgen.transport.connecting import ConnectFailed
from loadgen.transport.endpoint import Endpoint
from storage.raw_record import SpoolError

pytestmark = pytest.mark.slow
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


def answers(*pieces, pause_s=0.0, then_close=False):
    """A script that answers each request with these pieces; the connection stays unless said."""

    def script(connection, _n):
        while script.server.read_request(connection):
            for piece in pieces:
                connection.sendall(piece)
                time.sleep(pause_s)
            if then_close:
                return

    return script


def started(serve, script, **options):
    server = serve(script, **options)
    script.server = server
    return server


def free_port():
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return sock.getsockname()[1]


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


def test_a_server_that_closes_after_each_answer_though_it_promised_not_to(serve, asker):
    server = started(serve, answers(CHUNKED + chunk(b"x") + LAST_CHUNK, then_close=True))
    a = asker(server.endpoint())
    assert [a.ask().cause for _ in range(20)] == ["done"] * 20
    assert server.accepted == 20
    assert {a.closed(k)["conn_reused"] for k in range(20)} == {False}


def test_a_connection_closed_while_our_request_was_on_its_way_is_replaced_once(serve, asker):
    def script(connection, n):
        while script.server.read_request(connection):
            if n == 1 and len(script.server.requests) == 2:
                return  # took the request and closed: nobody can tell this from a stale connection
            connection.sendall(OK)

    server = started(serve, script)
    a = asker(server.endpoint())
    assert [a.ask().cause for _ in range(2)] == ["done", "done"]
    assert (a.closed(1)["reconnects"], a.closed(1)["conn_reused"]) == (1, False)
    assert a.closed(1)["connect_ns"] > 0
    assert server.accepted == 2
    assert len(a.spool.opened) == 2


def test_the_replacement_is_not_replaced_again(serve, asker):
    def script(connection, n):
        script.server.read_request(connection)
        if n == 1:
            connection.sendall(OK)
            script.server.read_request(connection)

    server = started(serve, script)
    a = asker(server.endpoint())
    assert [a.ask().cause for _ in range(2)] == ["done", "eof"]
    assert (a.closed(1)["reconnects"], server.accepted) == (1, 2)


def test_an_idle_connection_that_the_server_closes_is_noticed_and_dropped(serve, asker):
    def script(connection, _n):
        script.server.read_request(connection)
        connection.sendall(OK)
        time.sleep(0.05)

    server = started(serve, script)
    a = asker(server.endpoint())
    a.ask()
    assert a.pool.open_connections == 1
    gevent.sleep(0.2)
    assert a.pool.open_connections == 0
    a.ask()
    assert a.closed(1)["reconnects"] == 0


def test_connections_are_opened_before_the_clock_and_used(serve, asker):
    server = started(serve, answers(OK))
    a = asker(server.endpoint())
    a.pool.warm(8)
    a.pool.warm(8)
    assert a.pool.open_connections == 8
    a.ask()
    assert a.closed()["conn_reused"] is True
    assert a.pool.open_connections == 8
    with gevent.Timeout(5):
        while server.accepted < 8:  # the kernel connects before the server's thread accepts
            gevent.sleep(0.01)
    assert server.accepted == 8


def test_without_keep_alive_each_request_opens_its_own_connection(serve, asker):
    server = started(serve, answers(OK))
    a = asker(server.endpoint(), keep_alive=False)
    a.pool.warm(5)
    assert [a.ask().cause for _ in range(3)] == ["done"] * 3
    assert (server.accepted, a.pool.open_connections) == (3, 0)


def test_a_server_that_says_close_gets_a_new_connection_next_time(serve, asker):
    raw = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok"
    server = started(serve, answers(raw))
    a = asker(server.endpoint())
    assert [a.ask().cause for _ in range(2)] == ["done", "done"]
    assert server.accepted == 2


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


def test_comments_break_the_silence_and_the_total_limit_ends_them(serve, asker):
    comments = [chunk(b": ping\n\n")] * 100
    server = started(serve, answers(CHUNKED, *comments, pause_s=0.05))
    done = asker(server.endpoint(), silence_s=1.5, total_s=3).ask()
    assert done.cause == "timeout"
    assert "not finished 3 s after the send (limits.request_s)" in done.detail


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


def test_a_refused_port_is_a_sentence(asker):
    port = free_port()
    a = asker(Endpoint("http", "127.0.0.1", port))
    done = a.ask()
    assert done.cause == a.closed()["cause"] == "connect_failed"
    assert done.detail == (
        f"127.0.0.1:{port} refused the connection: nothing listens there. "
        f"Start the server or correct the port."
    )
    with pytest.raises(ConnectFailed, match="refused the connection"):
        a.pool.warm(100)


def test_an_unknown_name_is_a_sentence_with_the_time_of_the_lookup(asker, monkeypatch):
    def getaddrinfo(*_):  # the name server's answer, without asking one
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(connecting.gevent_socket, "getaddrinfo", getaddrinfo)
    a = asker(Endpoint("http", "no-such-host", 80))
    done = a.ask()
    assert done.cause == "connect_failed"
    assert done.detail == (
        "no-such-host has no known address (Name or service not known). Check the host name."
    )
    assert a.closed()["dns_ns"] > 0


def test_a_name_that_no_name_can_be_is_a_sentence_too(asker):
    done = asker(Endpoint("http", "a..b", 80)).ask()
    assert done.cause == "connect_failed"
    assert "a..b has no known address" in done.detail


def test_a_name_is_looked_up_and_its_second_address_tried(serve, asker):
    server = started(serve, answers(OK))
    a = asker(Endpoint("http", "localhost", server.port))  # ::1 first on most machines
    assert a.ask().cause == "done"
    assert a.closed()["dns_ns"] > 0


def test_a_port_that_accepts_nobody_times_out(asker, silent_port):
    done = asker(Endpoint("http", "127.0.0.1", silent_port), connect_s=0.3).ask()
    assert done.cause == "connect_failed"
    assert "did not accept the connection after 0.3 s" in done.detail


@pytest.mark.skipif(not socket.has_ipv6, reason="no IPv6 here")
def test_ipv6_works(serve, asker):
    try:
        server = started(serve, answers(OK), family=socket.AF_INET6)
    except OSError:
        pytest.skip("no IPv6 loopback here")
    assert asker(server.endpoint()).ask().cause == "done"


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
        def __init__(self, request_id):
            super().__init__(request_id)
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
    assert threading.active_count() < 60
