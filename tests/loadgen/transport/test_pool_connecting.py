"""What a request is told when no connection can be had, and how one is found."""

import socket

import gevent
import pytest
from scripted_server import OK, answers, free_port, started

from loadgen.transport.connecting import ConnectFailed
from loadgen.transport.endpoint import Endpoint

pytestmark = pytest.mark.slow


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


def test_an_unknown_name_is_a_sentence_with_the_time_of_the_lookup(asker):
    def getaddrinfo(*_):  # the name server's answer, without asking one
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    a = asker(Endpoint("http", "no-such-host", 80), resolve=getaddrinfo)
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


class Resolver:
    """A name server that answers with these ports of 127.0.0.1, one list after the other."""

    def __init__(self, *answers):
        self.answers, self.asked = list(answers), 0

    def __call__(self, *_):
        self.asked += 1
        gevent.sleep(0.02)  # as long as a name server takes
        ports = self.answers.pop(0)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", p)) for p in ports]


def test_a_name_is_asked_once_for_all_connections_and_only_one_has_its_time(serve, asker):
    server = started(serve, answers(OK))
    resolver = Resolver([server.port])
    a = asker(Endpoint("http", "server", 80), resolve=resolver)
    a.pool.warm(20)
    phases = a.pool.take_connects()
    assert len(phases) == 20
    assert all(p.connect_ns > 0 and p.tls_ns is None for p in phases)
    assert sum(p.dns_ns is not None for p in phases) == 1
    assert a.pool.take_connects() == []
    assert a.ask().cause == "done"
    assert resolver.asked == 1


def test_without_keep_alive_the_lookup_is_in_the_first_requests_phases_only(serve, asker):
    server = started(serve, answers(OK))
    resolver = Resolver([server.port])
    a = asker(Endpoint("http", "server", 80), resolve=resolver, keep_alive=False)
    assert [a.ask().cause for _ in range(3)] == ["done"] * 3
    assert a.closed(0)["dns_ns"] >= 20_000_000
    assert [a.closed(k)["dns_ns"] for k in (1, 2)] == [None, None]
    assert len(a.pool.take_connects()) == 3
    assert resolver.asked == 1


def test_a_server_that_moved_is_found_by_a_second_lookup(serve, asker):
    first, second = socket.create_server(("127.0.0.1", 0)), started(serve, answers(OK))
    resolver = Resolver([first.getsockname()[1]], [second.port])
    a = asker(Endpoint("http", "server", 80), resolve=resolver)
    a.pool.warm(1)
    first.close()
    gevent.sleep(0.05)
    assert a.ask().cause == "done"
    assert a.closed()["dns_ns"] >= 20_000_000
    assert a.closed()["connect_ns"] < a.closed()["dns_ns"]
    assert (second.accepted, resolver.asked) == (1, 2)


def test_a_server_that_moved_and_left_silence_behind_is_found_too(serve, asker, silent_port):
    server = started(serve, answers(OK))
    resolver = Resolver([silent_port], [server.port])
    a = asker(Endpoint("http", "server", 80), connect_s=0.6, resolve=resolver)
    assert [a.ask().cause for _ in range(2)] == ["connect_failed", "done"]
    assert 0.3e9 <= a.closed(1)["connect_ns"] < 0.6e9


def test_a_server_that_only_says_nothing_is_given_the_whole_limit(asker, silent_port):
    resolver = Resolver([silent_port], [silent_port], [silent_port])
    a = asker(Endpoint("http", "server", 80), connect_s=0.4, resolve=resolver)
    for k in range(3):
        done = a.ask()
        assert "did not accept the connection after 0.4 s" in done.detail
        closed = a.closed(k)
        assert closed["connect_ns"] + (closed["dns_ns"] or 0) > 0.39e9
    assert resolver.asked in (2, 3)  # once a second at most


def test_an_address_that_fails_is_not_tried_first_again(serve, asker):
    server, closed = started(serve, answers(OK, then_close=True)), free_port()
    a = asker(Endpoint("http", "server", 80), resolve=Resolver([closed, server.port]))
    assert [a.ask().cause for _ in range(4)] == ["done"] * 4


def test_the_kernels_round_trip_time_is_known_while_connections_are_open(serve, asker):
    a = asker(started(serve, answers(OK)).endpoint())
    assert a.pool.rtt_us() is None
    a.pool.warm(10)
    a.ask()
    assert 0 < a.pool.rtt_us() < 1_000_000
    a.pool.close()
    assert a.pool.rtt_us() is None
