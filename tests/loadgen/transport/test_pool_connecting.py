"""What a request is told when no connection can be had, and how one is found."""

import socket

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
