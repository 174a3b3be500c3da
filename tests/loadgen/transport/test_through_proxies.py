"""Requests through proxies of our own: absolute URLs, CONNECT, refusals, and never for loopback."""

import socket
import ssl
from dataclasses import replace
from functools import partial

import pytest
import trustme
from h2_server import h2_script, streamed
from proxies import tunnel_script
from scripted_server import CHUNKED, LAST_CHUNK, OK, answers, chunk, free_port, started

from loadgen.transport.endpoint import Endpoint
from loadgen.transport.proxy import Proxy

pytestmark = pytest.mark.slow
NAME = "api.example.com"  # no name server is asked: the proxy is the one who would


@pytest.fixture
def proxied():
    """proxied(endpoint, proxy server, user) is the endpoint as the environment would have it."""

    def make(endpoint, server, user=""):
        url = f"http://{user}127.0.0.1:{getattr(server, 'port', server)}"
        return endpoint.through_proxy({"HTTP_PROXY": url, "HTTPS_PROXY": url})

    return make


@pytest.fixture
def tls_server(serve, tmp_path):
    """(server, the file with its authority): TLS for the name, one stream for each request."""
    authority = trustme.CA()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(NAME).configure_cert(context)
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    script = answers(CHUNKED, chunk(b"data: 1\n\n"), LAST_CHUNK)
    server = started(serve, script, wrap=partial(context.wrap_socket, server_side=True))
    return server, str(tmp_path / "ca.pem")


def test_a_plain_request_goes_to_the_proxy_with_its_whole_url(serve, asker, proxied):
    proxy = started(serve, answers(OK))
    a = asker(proxied(Endpoint("http", NAME, 8000), proxy, "me:s%40cret@"))
    assert [a.ask().cause for _ in range(2)] == ["done", "done"]
    assert proxy.accepted == 1
    lines = proxy.requests[0][0].decode().split("\r\n")
    assert lines[0] == f"POST http://{NAME}:8000/v1/chat/completions HTTP/1.1"
    assert f"Host: {NAME}:8000" in lines
    assert "Proxy-Authorization: Basic bWU6c0BjcmV0" in lines
    assert a.closed()["dns_ns"] is None  # the proxy's address is a literal


def test_tls_goes_through_a_tunnel_with_its_stamps(serve, asker, proxied, tls_server):
    server, ca_file = tls_server
    heads = []
    proxy = serve(tunnel_script(heads, (server.host, server.port)))
    endpoint = Endpoint("https", NAME, 443).trusting(ca_file)
    a = asker(proxied(endpoint, proxy, "me:pw@"))
    assert [a.ask().cause for _ in range(2)] == ["done", "done"]
    (head,) = heads
    assert head.split("\r\n")[:2] == [f"CONNECT {NAME}:443 HTTP/1.1", f"Host: {NAME}:443"]
    assert "Proxy-Authorization: Basic bWU6cHc=" in head
    assert b"roxy" not in server.requests[0][0]
    assert server.requests[0][0].startswith(b"POST /v1/")
    assert all(delay >= 0 for _, _, delay, _, _ in a.spool.reads)
    assert a.closed()["connect_ns"] > 0
    assert a.closed()["tls_ns"] > 0


def test_http2_without_tls_goes_through_a_tunnel_too(serve, asker, proxied):
    peers, heads = [], []
    server = serve(h2_script(streamed(b"data: 1\n\n"), peers))
    proxy = serve(tunnel_script(heads, (server.host, server.port)))
    a = asker(proxied(Endpoint("http", NAME, 8000, http="2"), proxy))
    assert a.ask().cause == "done"
    assert heads[0].startswith(f"CONNECT {NAME}:8000 ")
    assert b"data: 1" in a.spool.received(0)


def test_a_proxy_that_wants_a_password_says_so_itself(serve, asker, proxied):
    refusal = b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n"
    proxy = serve(tunnel_script([], None, refusal))
    done = asker(proxied(Endpoint("https", NAME, 443), proxy, "me:secret@")).ask()
    assert done.cause == "connect_failed"
    assert done.detail == (
        f"The proxy 127.0.0.1:{proxy.port} answered 407 Proxy Authentication Required. "
        f"It wants http://USER:PASSWORD@… in its URL. It is named by HTTPS_PROXY: correct that, "
        f"or add {NAME} to NO_PROXY."
    )
    plain = started(serve, answers(refusal))
    done = asker(proxied(Endpoint("http", NAME, 80), plain)).ask()
    assert (done.cause, done.http_status) == ("done", 407)
    assert done.detail.startswith(f"The proxy 127.0.0.1:{plain.port} answered 407 Proxy Auth")


@pytest.mark.parametrize(
    ("refusal", "said"),
    [
        (b"HTTP/1.1 403 Forbidden by rule 7\r\n\r\n", "answered 403 Forbidden by rule 7."),
        (b"HTTP/1.0 503 \r\n\r\n", "answered 503."),
        (b"SSH-2.0-OpenSSH_9\r\n", f"gave no HTTP answer to CONNECT {NAME}:443."),
        (b"", f"gave no HTTP answer to CONNECT {NAME}:443."),
    ],
)
def test_a_refusal_is_in_the_proxys_words(serve, asker, proxied, refusal, said):
    proxy = serve(tunnel_script([], None, refusal))
    done = asker(proxied(Endpoint("https", NAME, 443), proxy)).ask()
    assert done.cause == "connect_failed"
    assert done.detail.startswith(f"The proxy 127.0.0.1:{proxy.port} {said}")
    assert "named by HTTPS_PROXY" in done.detail


def test_a_proxy_that_is_not_there_or_says_nothing_is_named(serve, asker, proxied):
    port = free_port()
    done = asker(proxied(Endpoint("http", NAME, 80), port)).ask()
    assert done.cause == "connect_failed"
    assert done.detail == (
        f"The proxy 127.0.0.1:{port} refused the connection: nothing listens there. "
        f"It is named by HTTP_PROXY: correct that, or add {NAME} to NO_PROXY."
    )
    silent = serve(lambda connection, _n: connection.recv(1000) and connection.recv(1000))
    done = asker(proxied(Endpoint("https", NAME, 443), silent), connect_s=0.3).ask()
    assert done.cause == "connect_failed"
    assert f"did not answer CONNECT {NAME}:443 after 0.3 s" in done.detail


def test_a_proxys_name_that_has_no_address_is_told_from_the_servers(asker):
    def getaddrinfo(*_):
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    endpoint = replace(Endpoint("http", NAME, 80), proxy=Proxy("no-proxy", 80, "ALL_PROXY"))
    done = asker(endpoint, resolve=getaddrinfo).ask()
    assert done.detail == (
        "no-proxy has no known address (Name or service not known). "
        "It is the proxy named by ALL_PROXY."
    )


@pytest.mark.parametrize("scheme", ["http", "https"])
@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1"])
def test_loopback_is_never_asked_through_a_proxy(proxied, scheme, host):
    assert proxied(Endpoint(scheme, host, 8000), 3128).proxy is None


def test_a_cut_answer_names_the_server_and_the_proxy_on_the_way(serve, asker, proxied):
    proxy = started(serve, answers(CHUNKED, then_close=True))
    done = asker(proxied(Endpoint("http", NAME, 80), proxy)).ask()
    assert (done.cause, done.detail) == (
        "eof",
        f"{NAME}:80 (through the proxy 127.0.0.1:{proxy.port}) closed the connection before the "
        f"answer was complete.",
    )
