"""Which version of HTTP an endpoint wants: asked on a connection of its own, without a request."""

from gevent import socket as gevent_socket

from loadgen.transport.addresses import Resolve
from loadgen.transport.connecting import ConnectFailed, Connector
from loadgen.transport.connection import Connection
from loadgen.transport.endpoint import Endpoint, HttpVersion
from loadgen.transport.http2_frames import is_settings
from loadgen.transport.patience import NeedsHttp2, Patience


def http_version(
    endpoint: Endpoint, limit_s: float, resolve: Resolve = gevent_socket.getaddrinfo
) -> HttpVersion:
    """ "2" for a server that speaks nothing else, "1.1" for every other one.

    With TLS the handshake tells.  Without, the server is greeted in HTTP/2, which others answer
    with an error: ask only when a first HTTP/1.1 request has failed.
    Raises ConnectFailed when there is no connection.
    """
    if endpoint.scheme == "https":
        return _by_handshake(endpoint, limit_s, resolve)
    return _by_greeting(endpoint.speaking("2"), limit_s, resolve)


def _by_handshake(endpoint: Endpoint, limit_s: float, resolve: Resolve) -> HttpVersion:
    """Offer HTTP/1.1 alone: offered both, most servers would choose 2.

    A server that names no protocol may know nothing of such offers, or have ignored this one:
    whether it takes HTTP/2 tells.
    """
    try:
        if _chosen(endpoint.speaking("1.1"), limit_s, resolve) is not None:
            return "1.1"
    except NeedsHttp2:
        return "2"
    try:
        _chosen(endpoint.speaking("2"), limit_s, resolve)
    except ConnectFailed:
        return "1.1"
    return "2"


def _chosen(endpoint: Endpoint, limit_s: float, resolve: Resolve) -> str | None:
    connection = Connector(endpoint, limit_s, resolve).connect()
    try:
        return connection.tls.alpn if connection.tls is not None else None
    finally:
        connection.close()


def _by_greeting(endpoint: Endpoint, limit_s: float, resolve: Resolve) -> HttpVersion:
    connection = Connector(endpoint, limit_s, resolve).connect()
    try:
        return "2" if is_settings(_first_bytes(connection, Patience(endpoint, limit_s))) else "1.1"
    finally:
        connection.close()


def _first_bytes(connection: Connection, patience: Patience) -> bytes:
    """The first nine bytes that the server says; fewer if it ends or hesitates before."""
    received = b""
    try:
        while len(received) < 9 and (piece := patience.receive(connection.sock)):
            received += piece
    except OSError:  # also TimeoutError
        pass
    return received
