"""HTTP/2 against the h2 library's server on real sockets, with TLS and without."""

import ssl
import time
from functools import partial
from itertools import pairwise

import gevent
import h2.events as happened
import pytest
import trustme
from h2.errors import ErrorCodes
from h2_server import goaway, h2_script, streamed

from loadgen.http_body import HttpAnswer

pytestmark = pytest.mark.slow
EVENTS = [b"data: %d\n\n" % k for k in range(5)]


@pytest.fixture(scope="module")
def authority():
    return trustme.CA()


@pytest.fixture(params=["http", "https"])
def serve_h2(request, serve, authority, tmp_path):
    """serve_h2(answer) is (server, endpoint, peers): prior knowledge, and TLS with ALPN."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    context.set_alpn_protocols(["h2"])
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    is_tls = request.param == "https"
    wrap = {"wrap": partial(context.wrap_socket, server_side=True)} if is_tls else {}

    def start(answer):
        peers = []
        server = serve(h2_script(answer, peers), **wrap)
        endpoint = server.endpoint(request.param).speaking("2")
        return server, endpoint.trusting(str(tmp_path / "ca.pem")), peers

    return start


def body_of(asker, request_id=0):
    seen = HttpAnswer()
    pieces = seen.feed(asker.spool.received(request_id))
    assert seen.complete
    return seen, b"".join(pieces)


def test_a_stream_of_several_data_frames_arrives_stamped_at_each(serve_h2, asker):
    def answer(peer, stream, flush):
        peer.begin(stream)
        flush()
        for event in EVENTS:
            time.sleep(0.02)
            peer.piece(stream, event)
            flush()
        peer.end(stream)
        flush()

    server, endpoint, _ = serve_h2(answer)
    a = asker(endpoint)
    done = a.ask()
    assert (done.cause, done.http_status) == ("done", 200)
    assert body_of(a)[1] == b"".join(EVENTS)
    carrying = [read for read in a.spool.reads if b"data: " in read[4]]
    assert len(carrying) == len(EVENTS)
    moments = [mono_ns - delay for _, mono_ns, delay, _, _ in carrying]
    assert all(later - earlier > 10_000_000 for earlier, later in pairwise(moments))
    assert all(0 <= delay < 1e9 for _, _, delay, _, _ in a.spool.reads)
    assert server.accepted == 1


def test_requests_follow_each_other_on_one_connection(serve_h2, asker):
    server, endpoint, peers = serve_h2(streamed(*EVENTS))
    a = asker(endpoint)
    a.pool.warm(1)
    assert [a.ask().cause for _ in range(30)] == ["done"] * 30
    assert server.accepted == 1
    assert {a.closed(k)["conn_reused"] for k in range(30)} == {True}
    assert len(peers[0].requests) == 30
    assert all(body_of(a, k)[1] == b"".join(EVENTS) for k in range(30))
    assert a.pool.rtt_us() > 0


def test_a_large_body_flows_through_the_servers_windows(serve_h2, asker):
    _, endpoint, peers = serve_h2(streamed(b"ok"))
    body = bytes(range(256)) * 8_000
    assert asker(endpoint).ask(body).cause == "done"
    assert peers[0].requests[0][1] == body


def test_an_error_status_is_done_with_its_body(serve_h2, asker):
    def answer(peer, stream, flush):
        peer.begin(stream, "503", **{"retry-after": "7"})
        peer.h2.send_data(stream, b"why", end_stream=True)
        flush()

    a = asker(serve_h2(answer)[1])
    done = a.ask()
    seen, body = body_of(a)
    assert (done.cause, done.http_status) == ("done", 503)
    assert (seen.headers["retry-after"], body) == ("7", b"why")
    assert a.pool.open_connections == 1


def test_a_stream_reset_in_the_middle_is_a_reset_and_keeps_what_came(serve_h2, asker):
    def answer(peer, stream, flush):
        peer.begin(stream)
        peer.piece(stream, EVENTS[0])
        peer.h2.reset_stream(stream, ErrorCodes.INTERNAL_ERROR)  # all in one segment
        flush()

    _, endpoint, _ = serve_h2(answer)
    a = asker(endpoint)
    done = a.ask()
    assert done.cause == "reset"
    assert done.detail == (
        f"{endpoint.name} broke the connection in the middle of the answer "
        f"(HTTP/2 stream reset: INTERNAL_ERROR)."
    )
    assert EVENTS[0] in a.spool.received(0)
    assert a.pool.open_connections == 0


def test_a_stream_cut_by_the_end_of_the_connection_is_an_early_end(serve_h2, asker):
    def answer(peer, stream, flush):
        peer.begin(stream)
        peer.piece(stream, EVENTS[0])
        flush()
        return "close"

    done = asker(serve_h2(answer)[1]).ask()
    assert done.cause == "eof"
    assert "closed the connection before the answer was complete" in done.detail


def test_a_server_that_goes_away_while_idle_costs_no_failure(serve_h2, asker):
    def answer(peer, stream, flush):
        streamed(*EVENTS)(peer, stream, flush)
        time.sleep(0.05)
        peer.h2.close_connection()
        flush()

    server, endpoint, _ = serve_h2(answer)
    a = asker(endpoint)
    for n in range(1, 4):
        assert a.ask().cause == "done"
        gevent.sleep(0.2)
        assert a.pool.open_connections == 0
        assert server.accepted == n
    assert [a.closed(k)["reconnects"] for k in range(3)] == [0, 0, 0]


def test_a_server_that_goes_away_as_our_request_comes_is_asked_again_once(serve_h2, asker):
    def answer(peer, stream, flush):
        if stream == 3:
            peer.h2.close_connection(last_stream_id=1)
            flush()
        else:
            streamed(*EVENTS)(peer, stream, flush)

    server, endpoint, _ = serve_h2(answer)
    a = asker(endpoint)
    assert [a.ask().cause for _ in range(2)] == ["done", "done"]
    assert (a.closed(1)["reconnects"], a.closed(1)["conn_reused"]) == (1, False)
    assert server.accepted == 2


def test_a_server_that_goes_away_in_the_middle_finishes_the_answer(serve_h2, asker):
    def answer(peer, stream, flush):
        peer.begin(stream)
        peer.piece(stream, EVENTS[0])
        flush()
        peer.say(goaway(stream))
        flush()
        peer.piece(stream, EVENTS[1])
        peer.end(stream)
        flush()

    server, endpoint, _ = serve_h2(answer)
    a = asker(endpoint)
    assert [a.ask().cause for _ in range(2)] == ["done", "done"]
    assert body_of(a)[1] == b"".join(EVENTS[:2])
    assert server.accepted == 2
    assert a.closed(1)["reconnects"] == 0


def test_pings_while_idle_and_while_streaming_are_answered(serve_h2, asker):
    def answer(peer, stream, flush):
        peer.h2.ping(b"streamed")
        streamed(*EVENTS)(peer, stream, flush)
        peer.h2.ping(b"idle now")
        flush()

    _, endpoint, peers = serve_h2(answer)
    a = asker(endpoint)
    a.ask()
    with gevent.Timeout(5):
        while sum(isinstance(e, happened.PingAckReceived) for e in peers[0].events) < 2:
            gevent.sleep(0.01)
    assert a.ask().cause == "done"
    assert a.closed(1)["conn_reused"] is True


def test_silence_is_a_timeout_as_ever(serve_h2, asker):
    def answer(peer, stream, flush):
        peer.begin(stream)
        flush()

    done = asker(serve_h2(answer)[1], silence_s=0.3).ask()
    assert (done.cause, done.detail) == ("timeout", "no byte came for 0.3 s (limits.silence_s)")


def test_http2_to_a_server_of_http1_says_so(serve, asker):
    def script(connection, _n):
        connection.recv(65536)
        connection.sendall(b"HTTP/1.1 505 Version Not Supported\r\nContent-Length: 0\r\n\r\n")
        connection.recv(65536)

    endpoint = serve(script).endpoint().speaking("2")
    done = asker(endpoint).ask()
    assert done.cause == "malformed"
    assert done.detail == (
        f"{endpoint.name} answered what is not HTTP/2 (it answered in HTTP/1.1)."
    )


def test_http1_to_a_server_of_http2_says_what_to_set(serve_h2, asker):
    _, endpoint, _ = serve_h2(streamed())
    done = asker(endpoint.speaking("1.1")).ask()
    assert done.cause in ("malformed", "tls_failed")
    assert done.detail == (
        f'{endpoint.name} speaks HTTP/2 only; set http = "2" or "auto" for this target.'
    )
