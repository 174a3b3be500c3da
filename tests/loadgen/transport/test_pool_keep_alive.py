"""Which connection a request uses: kept, replaced once when it had gone stale, or a new one."""

import socket
import time

import gevent
import pytest
from scripted_server import CHUNKED, LAST_CHUNK, OK, answers, chunk, started

from loadgen.transport.connection import Connection, Phases

pytestmark = pytest.mark.slow


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


def test_a_connection_reset_while_our_request_was_on_its_way_is_replaced_once(serve, asker):
    def script(connection, n):
        while script.server.read_request(connection):
            if n == 1 and len(script.server.requests) == 2:
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
                return
            connection.sendall(OK)

    server = started(serve, script)
    a = asker(server.endpoint())
    assert [a.ask().cause for _ in range(2)] == ["done", "done"]
    assert (a.closed(1)["reconnects"], server.accepted) == (1, 2)


def test_a_body_of_which_a_part_was_sent_is_sent_again_whole(serve, asker):
    def script(connection, n):
        script.server.read_request(connection)
        connection.sendall(OK)
        if n == 1:
            connection.recv(1000)  # of the second request; the rest unread makes the end a reset

    server = started(serve, script)
    a = asker(server.endpoint())
    body = bytes(range(256)) * 50_000
    assert [a.ask(b"{}").cause, a.ask(body).cause] == ["done", "done"]
    assert a.closed(1)["reconnects"] == 1
    assert server.requests[-1][1] == body


def test_an_end_that_only_the_send_notices_is_left_to_the_reading_side():
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    connection = Connection(ours, None, None, Phases())
    theirs.close()
    with pytest.raises(BrokenPipeError):
        ours.send(b"x")
    connection.send(b"x")
    assert ours.recv(1) == b""
    connection.close()


def test_a_server_that_closes_after_a_second_of_work_has_failed(serve, asker):
    def script(connection, n):
        while script.server.read_request(connection):
            if n == 1 and len(script.server.requests) == 2:
                time.sleep(1.1)
                return
            connection.sendall(OK)

    a = asker(started(serve, script).endpoint())
    assert [a.ask().cause for _ in range(2)] == ["done", "eof"]
    assert a.closed(1)["reconnects"] == 0


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
