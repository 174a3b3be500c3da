"""Requests begun from the loop: nothing waits for them, and every one of them is told its end."""

import time

import gevent
import pytest
from gevent import get_hub, getcurrent
from h2_server import h2_script, streamed
from scripted_server import CHUNKED, OK, answers, chunk, free_port, started

from loadgen.transport.call import Call
from loadgen.transport.endpoint import Endpoint
from storage.raw_record import SpoolError

pytestmark = pytest.mark.slow
TOLD_WITHIN_S = 5


class Told:
    """What each request was told at its end, in the order of the ends."""

    def __init__(self):
        self.ends, self.callers = [], set()

    def __call__(self, ended):
        self.ends.append(ended)
        self.callers.add(getcurrent())

    def wait(self, n):
        with gevent.Timeout(TOLD_WITHIN_S):
            while len(self.ends) < n:
                gevent.sleep(0.01)
        gevent.sleep(0.02)  # one told twice would show
        return self.ends

    def causes(self, n):
        return [ended.cause for ended in self.wait(n)]


@pytest.fixture
def told():
    return Told()


def test_an_idle_connection_takes_the_request_and_the_loop_tells_its_end(serve, asker, told):
    a = asker(started(serve, answers(CHUNKED, chunk(b"x"), b"0\r\n\r\n")).endpoint())
    a.pool.warm(1)
    a.begin(told)
    assert (a.pool.in_flight, told.ends) == (1, [])
    assert told.causes(1) == ["done"]
    assert told.callers == {get_hub()}
    assert a.closed()["conn_reused"] is True
    assert told.ends[0].send_ns == a.spool.opened[0]["send_ns"]


def test_without_an_idle_connection_one_is_opened_meanwhile(serve, asker, told):
    server = started(serve, answers(OK))
    a = asker(server.endpoint())
    a.begin(told)
    a.begin(told)
    assert told.causes(2) == ["done", "done"]
    assert server.accepted == 2
    assert {a.closed(k)["conn_reused"] for k in (0, 1)} == {False}
    assert {told.ends[k].send_ns <= a.closed(0)["end_ns"] for k in (0, 1)} == {True}


def test_the_loop_itself_may_begin_requests_with_and_without_a_connection(serve, asker, told):
    a = asker(started(serve, answers(OK)).endpoint())
    a.pool.warm(1)
    for _ in range(3):
        get_hub().loop.run_callback(a.begin, told)
    assert told.causes(3) == ["done"] * 3
    assert sorted(a.closed(k)["conn_reused"] for k in range(3)) == [False, False, True]


def test_of_many_at_once_each_is_told_its_end_once(serve, asker, told):
    server = started(serve, answers(CHUNKED, chunk(b"data: 1\n\n"), b"0\r\n\r\n"))
    a = asker(server.endpoint())
    a.pool.warm(10)
    for _ in range(60):
        a.begin(told)
    assert told.causes(60) == ["done"] * 60
    assert sorted(a.spool.closed) == list(range(60))
    assert a.pool.in_flight == 0


def test_an_endpoint_that_cannot_be_reached_is_told_and_recorded(asker, told):
    a = asker(Endpoint("http", "127.0.0.1", free_port()))
    a.begin(told)
    assert told.causes(1) == ["connect_failed"]
    assert a.closed()["cause"] == "connect_failed"
    assert a.spool.opened[0]["send_ns"] == told.ends[0].send_ns


def test_a_connection_that_had_gone_stale_is_replaced_once(serve, asker, told):
    def script(connection, n):
        while script.server.read_request(connection):
            if n == 1 and len(script.server.requests) == 2:
                return
            connection.sendall(OK)

    server = started(serve, script)
    a = asker(server.endpoint())
    a.begin(told)
    told.wait(1)
    a.begin(told)
    assert told.causes(2) == ["done", "done"]
    assert (a.closed(1)["reconnects"], a.closed(1)["conn_reused"]) == (1, False)
    assert server.accepted == 2


def test_cancel_all_ends_what_streams_and_what_connects(serve, asker, told, silent_port):
    streams = asker(started(serve, answers(CHUNKED, chunk(b"x"))).endpoint())
    connects = asker(Endpoint("http", "127.0.0.1", silent_port))
    for one in (streams, connects):
        one.begin(told)
    gevent.sleep(0.1)
    for one in (streams, connects):
        one.pool.cancel_all("Stop was pressed")
        assert one.pool.in_flight == 0
    assert told.ends == []  # told by the loop, never by the one who cancels
    assert {(e.cause, e.detail) for e in told.wait(2)} == {("cancelled", "Stop was pressed")}
    assert (len(streams.spool.closed), len(connects.spool.closed)) == (1, 1)


def test_cancelled_at_any_moment_of_its_connect_a_request_is_told_once(serve, asker, told):
    a = asker(started(serve, answers(CHUNKED)).endpoint())
    for k in range(20):
        a.begin(told)
        for _ in range(k):
            gevent.sleep(0)
        a.pool.cancel_all("Stop was pressed")
    assert told.causes(20) == ["cancelled"] * 20
    assert (a.pool.in_flight, a.pool.open_connections) == (0, 0)


@pytest.mark.parametrize("record", ["open", "read", "close"])
def test_a_spool_that_takes_no_more_is_told_to_all_now_and_later(serve, asker, told, record):
    a = asker(started(serve, answers(OK)).endpoint())
    a.pool.warm(1)
    kept, n = getattr(a.spool, record), 0

    def full(*given):
        nonlocal n
        n += 1
        if n > 1:
            raise SpoolError("disk full")
        kept(*given)

    setattr(a.spool, record, full)
    for count in (1, 2, 3):
        a.begin(told)
        told.wait(count)
    assert told.ends[0].cause == "done"
    failed_at = 2 if record == "close" else 1  # a request whose end is not kept has ended
    assert [str(e) for e in told.ends[failed_at:]] == ["disk full"] * (3 - failed_at)
    assert a.pool.in_flight == 0


def test_a_spool_that_is_full_before_the_connection_is_open_ends_the_attempt(
    asker, told, silent_port
):
    a = asker(Endpoint("http", "127.0.0.1", silent_port))

    def full(*_):
        raise SpoolError("disk full")

    a.spool.open = full
    a.begin(told)
    begin_ns = time.monotonic_ns()
    assert [str(e) for e in told.wait(1)] == ["disk full"]
    assert time.monotonic_ns() - begin_ns < 2e9


def test_a_closed_pool_says_that_it_sent_nothing(serve, asker, told):
    a = asker(started(serve, answers(OK)).endpoint())
    a.pool.close()
    a.begin(told)
    assert told.causes(1) == ["not_sent"]
    assert told.ends[0].send_ns is None


def test_closing_the_pool_ends_what_is_under_way(serve, asker, told):
    a = asker(started(serve, answers(CHUNKED)).endpoint())
    a.pool.warm(1)
    a.begin(told)
    a.begin(told)
    a.pool.close()
    assert told.causes(2) == ["cancelled", "cancelled"]
    assert {a.closed(k)["detail"] for k in (0, 1)} == {"the load generator ended"}


def test_who_is_told_may_begin_the_next_request_at_once(serve, asker, told):
    server = started(serve, answers(OK))
    a = asker(server.endpoint())
    a.pool.warm(1)

    def go_on(ended):
        told(ended)
        if len(told.ends) < 5:
            a.begin(go_on)

    a.begin(go_on)
    assert told.causes(5) == ["done"] * 5
    assert server.accepted == 1


def test_a_mistake_of_who_is_told_is_not_taken_for_the_endpoints(serve, asker, told, capsys):
    a = asker(started(serve, answers(OK)).endpoint())
    a.pool.warm(1)

    def mistaken(ended):
        told(ended)
        raise ConnectionResetError("ours")

    a.begin(mistaken)
    told.wait(1)
    assert "ConnectionResetError: ours" in capsys.readouterr().err
    assert (a.closed()["cause"], a.pool.open_connections) == ("done", 1)


def test_a_request_that_no_connection_can_carry_ends_as_any_other(serve, asker, told):
    server = serve(h2_script(streamed(b"data: 1\n\n"), []))
    a = asker(Endpoint("http", server.host, server.port, http="2"))
    a.pool.begin(Call(7, b"no request at all", {"request_id": 7}), told)
    assert told.causes(1) == ["reset"]
    assert "cannot be sent" in told.ends[0].detail
    assert (a.pool.in_flight, a.closed(7)["cause"]) == (0, "reset")
    a.begin(told)
    assert told.causes(2)[1] == "done"
