"""TLS on a connected socket: certificates checked, the version of HTTP agreed on."""

import _socket  # gevent replaces socket.socket; the hot path wants the plain one
import ssl
import time

from loadgen.transport import trouble
from loadgen.transport.connection import Phases
from loadgen.transport.patience import ConnectFailed, NeedsHttp2, Patience
from loadgen.transport.tls import ALPN_NAMES, Tls


def handshake(
    sock: _socket.socket, context: ssl.SSLContext, patience: Patience, phases: Phases
) -> Tls:
    """The TLS state of this socket, ready to encrypt; phases gain tls_ns.  Raises ConnectFailed."""
    begin_ns = time.monotonic_ns()
    endpoint = patience.endpoint
    tls = Tls(context, endpoint.host)
    try:
        _shake(sock, tls, patience)
    except TimeoutError:
        raise patience.too_late("tls") from None
    except ssl.SSLError as error:
        if endpoint.http == "1.1" and trouble.is_alpn_refusal(error):
            raise NeedsHttp2("tls_failed", trouble.needs_http2(endpoint)) from None
        raise ConnectFailed("tls_failed", trouble.tls_trouble(endpoint, error)) from None
    except OSError as error:
        sentence = trouble.reset(endpoint, error, has_begun=False)
        raise ConnectFailed("tls_failed", sentence) from None
    finally:
        phases.tls_ns = time.monotonic_ns() - begin_ns
    if endpoint.http == "1.1" and tls.alpn == ALPN_NAMES["2"]:
        raise NeedsHttp2("tls_failed", trouble.needs_http2(endpoint))
    if endpoint.http == "2" and tls.alpn != ALPN_NAMES["2"]:
        raise ConnectFailed("tls_failed", trouble.no_http2(endpoint))
    return tls


def _shake(sock: _socket.socket, tls: Tls, patience: Patience) -> None:
    done, to_send = tls.handshake(b"")
    while True:
        patience.send(sock, to_send)
        if done:
            return
        received = patience.receive(sock)
        if not received:
            raise ConnectFailed("tls_failed", trouble.tls_closed(patience.endpoint))
        done, to_send = tls.handshake(received)
