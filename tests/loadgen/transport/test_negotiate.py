"""Which HTTP an endpoint wants, found on a connection of its own."""

import ssl
from functools import partial

import pytest
import trustme
from h2_server import h2_script, streamed
from scripted_server import free_port

from loadgen.transport.connecting import ConnectFailed
from loadgen.transport.endpoint import Endpoint
from loadgen.transport.negotiate import http_version

pytestmark = pytest.mark.slow
LIMIT_S = 2


@pytest.fixture
def serve_tls(serve):
    """serve_tls(protocols) is an endpoint whose server knows these; its certificate is waived."""

    def start(protocols):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        trustme.CA().issue_cert("127.0.0.1").configure_cert(context)
        if protocols:
            context.set_alpn_protocols(protocols)
        server = serve(
            lambda connection, _n: connection.recv(100),
            wrap=partial(context.wrap_socket, server_side=True),
        )
        return server, server.endpoint("https").without_verification()

    return start


@pytest.mark.parametrize("protocols", [["http/1.1"], ["h2", "http/1.1"], []])
def test_a_server_that_can_speak_http1_is_spoken_to_so(serve_tls, protocols):
    server, endpoint = serve_tls(protocols)
    assert http_version(endpoint, LIMIT_S) == "1.1"
    assert server.accepted == (1 if protocols else 2)


def test_a_tls_server_that_refuses_http1_or_ignores_the_offer_gets_http2(refusing, serve_tls):
    assert http_version(refusing, LIMIT_S) == "2"
    assert http_version(serve_tls(["h2"])[1], LIMIT_S) == "2"


@pytest.fixture
def refusing(serve):
    """A server that ends the handshake with the alert no_application_protocol, as real ones do."""
    alert = b"\x15\x03\x03\x00\x02\x02\x78"

    def script(connection, _n):
        connection.recv(65536)
        connection.sendall(alert)

    return serve(script).endpoint("https").without_verification()


def test_the_refusal_is_a_sentence_where_http1_was_asked_for(refusing, asker):
    done = asker(refusing).ask()
    assert done.cause == "tls_failed"
    assert done.detail == (
        f'{refusing.name} speaks HTTP/2 only; set http = "2" or "auto" for this target.'
    )


def test_http2_from_a_tls_server_that_has_none_is_a_sentence(serve_tls, asker):
    _, endpoint = serve_tls([])
    done = asker(endpoint.speaking("2")).ask()
    assert done.cause == "tls_failed"
    assert "offers no HTTP/2" in done.detail


def test_a_plain_server_of_http2_is_told_from_others(serve):
    h2_server = serve(h2_script(streamed(), []))
    assert http_version(h2_server.endpoint(), LIMIT_S) == "2"
    bad_request = b"HTTP/1.1 505 Version Not Supported\r\n\r\n"
    others = (
        lambda connection, _n: connection.recv(100) and connection.sendall(bad_request),
        lambda connection, _n: connection.recv(100),
        lambda connection, _n: connection.recv(100) and connection.recv(100),
    )
    for script in others:
        assert http_version(serve(script).endpoint(), 0.3) == "1.1"


def test_an_endpoint_that_cannot_be_reached_is_said_to_be_so():
    with pytest.raises(ConnectFailed, match="refused the connection"):
        http_version(Endpoint("http", "127.0.0.1", free_port()), LIMIT_S)
