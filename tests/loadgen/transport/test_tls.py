"""TLS through memory BIOs: the same answers, the stamps kept, and a sentence for each failure."""

import socket
import ssl
import time
from functools import partial

import gevent
import pytest
import trustme
from scripted_server import CHUNKED, DONE_EVENT, LAST_CHUNK, OK, answers, chunk, started

from loadgen.transport.connecting import ConnectFailed

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def authority():
    return trustme.CA()


@pytest.fixture
def serve_tls(serve, authority):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)

    def start(*pieces, pause_s=0.0):
        def script(connection, _n):
            while server.read_request(connection):
                for piece in pieces:
                    connection.sendall(piece)
                    time.sleep(pause_s)

        server = serve(script, wrap=lambda sock: context.wrap_socket(sock, server_side=True))
        return server

    return start


@pytest.fixture
def is_trusted(authority, tmp_path, monkeypatch):
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "ca.pem"))


@pytest.mark.usefixtures("is_trusted")
def test_a_stream_over_tls_arrives_in_plain_with_its_stamps(serve_tls, asker):
    pieces = [CHUNKED, chunk(b"data: 1\n\n"), chunk(DONE_EVENT), LAST_CHUNK]
    server = serve_tls(*pieces, pause_s=0.02)
    a = asker(server.endpoint("https"))
    assert [a.ask().cause for _ in range(2)] == ["done", "done"]
    assert a.spool.received(0) == a.spool.received(1) == b"".join(pieces)
    assert all(0 <= delay < 1e9 for _, _, delay, _, _ in a.spool.reads)
    assert server.accepted == 1
    assert a.closed(0)["tls_ns"] > 0
    assert a.closed(1)["tls_ns"] is None


@pytest.mark.usefixtures("is_trusted")
def test_large_records_in_both_directions(serve_tls, asker):
    answer = bytes(range(256)) * 4_000
    server = serve_tls(b"HTTP/1.1 200 OK\r\ncontent-length: 1024000\r\n\r\n" + answer)
    a = asker(server.endpoint("https"))
    body = bytes(range(256)) * 50_000
    assert a.ask(body).cause == "done"
    assert server.requests[0][1] == body
    assert a.spool.received(0).endswith(answer)


@pytest.mark.usefixtures("is_trusted")
def test_a_warm_tls_connection_survives_the_sessions_own_messages(serve_tls, asker):
    server = serve_tls(OK)
    a = asker(server.endpoint("https"))
    a.pool.warm(3)  # session tickets come right after the handshake
    assert [a.ask().cause for _ in range(3)] == ["done"] * 3
    assert server.accepted == 3
    assert {a.closed(k)["conn_reused"] for k in range(3)} == {True}


def test_an_unknown_authority_is_a_sentence_and_can_be_waived(serve_tls, asker):
    endpoint = serve_tls(OK).endpoint("https")
    a = asker(endpoint)
    done = a.ask()
    assert done.cause == a.closed()["cause"] == "tls_failed"
    assert f"The certificate of {endpoint.name} is not trusted" in done.detail
    assert "target.ca_file" in done.detail
    assert asker(endpoint.without_verification()).ask().cause == "done"


def test_an_authority_of_ones_own_is_trusted_and_no_other(serve_tls, asker, authority, tmp_path):
    endpoint = serve_tls(OK).endpoint("https")
    for name, trusted in (("own.pem", authority), ("other.pem", trustme.CA())):
        trusted.cert_pem.write_to_path(tmp_path / name)
    assert asker(endpoint.trusting(str(tmp_path / "own.pem"))).ask().cause == "done"
    done = asker(endpoint.trusting(str(tmp_path / "other.pem"))).ask()
    assert done.cause == "tls_failed"
    assert "target.ca_file" in done.detail


def test_a_servers_own_certificate_can_be_the_one_trusted(serve, asker, tmp_path):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    certificate = trustme.CA().create_child_ca().issue_cert("127.0.0.1")
    certificate.configure_cert(context)
    certificate.cert_chain_pems[0].write_to_path(tmp_path / "server.pem")
    server = started(serve, answers(OK), wrap=partial(context.wrap_socket, server_side=True))
    endpoint = server.endpoint("https").trusting(str(tmp_path / "server.pem"))
    assert asker(endpoint).ask().cause == "done"


def test_a_file_of_authorities_that_cannot_be_used_is_named(serve_tls, asker, tmp_path):
    endpoint = serve_tls(OK).endpoint("https")
    (tmp_path / "empty.pem").write_text("no certificate\n")
    for name, said in (("none.pem", "cannot be read (No such file"), ("empty.pem", "holds no")):
        path = str(tmp_path / name)
        a = asker(endpoint.trusting(path))
        done = a.ask()
        assert done.cause == a.closed()["cause"] == "tls_failed"
        assert done.detail.startswith(f"{path} {said}")
        assert "target.ca_file" in done.detail
        with pytest.raises(ConnectFailed, match=name):
            a.pool.warm(1)


def test_tls_to_a_plain_port_says_use_http(serve, asker):
    def script(connection, _n):
        connection.recv(1000)
        connection.sendall(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n")
        time.sleep(0.2)

    endpoint = serve(script).endpoint("https")
    done = asker(endpoint).ask()
    assert done.cause == "tls_failed"
    assert done.detail == f"{endpoint.name} does not speak TLS; use http:// in the URL."


def test_a_plain_port_that_closes_or_says_nothing_is_a_sentence_too(serve, asker):
    closing = serve(lambda connection, _n: connection.recv(1000)).endpoint("https")
    done = asker(closing).ask()
    assert done.cause == "tls_failed"
    assert "closed the connection during the TLS handshake" in done.detail
    silent = serve(lambda connection, _n: time.sleep(2)).endpoint("https")
    done = asker(silent, connect_s=0.3).ask()
    assert done.cause == "tls_failed"
    assert "did not finish the TLS handshake after 0.3 s" in done.detail


def test_plain_to_a_tls_port_says_use_https(serve_tls, asker):
    done = asker(serve_tls(OK).endpoint("http")).ask()
    assert done.cause in ("eof", "malformed", "reset")
    assert done.cause == "reset" or "https://" in done.detail


@pytest.mark.usefixtures("is_trusted")
def test_the_end_of_the_session_ends_a_body_without_length(serve, serve_tls, asker, authority):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)

    def script(raw, _n):
        incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        session = context.wrap_bio(incoming, outgoing, server_side=True)

        def step(action):
            while True:
                try:
                    return action()
                except ssl.SSLWantReadError:
                    if outgoing.pending:
                        raw.sendall(outgoing.read())
                    incoming.write(raw.recv(65536))

        step(session.do_handshake)
        step(lambda: session.read(65536))
        session.write(b"HTTP/1.1 200 OK\r\n\r\nwhole")
        try:
            session.unwrap()
        except ssl.SSLWantReadError:
            raw.sendall(outgoing.read())  # bytes and the session's end in one segment
        time.sleep(2)  # and the socket stays open

    a = asker(serve(script).endpoint("https"))
    begin_ns = time.monotonic_ns()
    assert a.ask().cause == "done"
    assert time.monotonic_ns() - begin_ns < 1.5e9
    assert a.spool.received(0).endswith(b"whole")


def test_a_name_that_does_not_match_the_certificate_is_a_sentence(
    serve, asker, authority, is_trusted
):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("other.example").configure_cert(context)
    server = serve(
        lambda connection, _n: connection.recv(10),
        wrap=lambda sock: context.wrap_socket(sock, server_side=True),
    )
    assert socket.inet_aton(server.host)
    done = asker(server.endpoint("https")).ask()
    assert done.cause == "tls_failed"
    assert "is not trusted" in done.detail
    assert "127.0.0.1" in done.detail


@pytest.mark.usefixtures("is_trusted")
@pytest.mark.parametrize("is_idle", [True, False])
def test_a_session_ended_by_the_server_is_a_stale_connection(serve, asker, authority, is_idle):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)

    def script(connection, n):
        server.read_request(connection)
        connection.sendall(OK)
        if n == 1:
            if not is_idle:
                server.read_request(connection)
            connection.unwrap()  # says goodbye, then waits for ours with the socket open

    server = serve(script, wrap=partial(context.wrap_socket, server_side=True))
    a = asker(server.endpoint("https"))
    assert a.ask().cause == "done"
    if is_idle:
        gevent.sleep(0.1)
        assert a.pool.open_connections == 0
    assert a.ask().cause == "done"
    assert (a.closed(1)["reconnects"], server.accepted) == (0 if is_idle else 1, 2)


@pytest.mark.usefixtures("is_trusted")
@pytest.mark.skipif(not socket.has_ipv6, reason="no IPv6 here")
def test_an_ipv6_literal_is_checked_against_the_certificate(serve, asker, authority):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("::1").configure_cert(context)
    wrap = partial(context.wrap_socket, server_side=True)
    try:
        server = started(serve, answers(OK), family=socket.AF_INET6, wrap=wrap)
    except OSError:
        pytest.skip("no IPv6 loopback here")
    assert asker(server.endpoint("https")).ask().cause == "done"
