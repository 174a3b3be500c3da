"""One sentence for each way a connection goes wrong: what, where, and what to do about it."""

import errno
import socket
import ssl
from typing import Literal

from loadgen.transport.endpoint import Endpoint
from loadgen.transport.http2_frames import is_http2

Phase = Literal["dns", "connect", "tunnel", "tls"]

_ON_CONNECT = {
    errno.ECONNREFUSED: "refused the connection: nothing listens there. "
    "Start the server or correct the port.",
    errno.ENETUNREACH: "cannot be reached: no network route leads there. "
    "Check the address and this machine's network.",
    errno.EHOSTUNREACH: "cannot be reached: the network says no such host answers. "
    "Check the address and that the machine is up.",
    errno.ECONNRESET: "dropped the connection while it was being opened. "
    "Check that the port is the model server's and that it takes more connections.",
    errno.EADDRNOTAVAIL: "got no new connection: this machine has no local port left. "
    'Use connections = "warm" or fewer streams.',
    errno.EMFILE: "got no new connection: this process may open no more files. "
    "Raise the limit (ulimit -n) or use fewer streams.",
}


def dns_trouble(endpoint: Endpoint, error: Exception) -> str:
    """The name has no address."""
    said = getattr(error, "strerror", None) or str(error)
    if getattr(error, "errno", None) == socket.EAI_AGAIN:
        hint = "Check the host name and this machine's name server."
    else:
        hint = "Check the host name."
    host = endpoint.next_hop[0]
    if endpoint.proxy is not None:
        hint = f"It is the proxy named by {endpoint.proxy.variable}."
    return f"{host} has no known address ({said}). {hint}"


def connect_trouble(endpoint: Endpoint, error: OSError) -> str:
    """The TCP connection could not be opened."""
    known = _ON_CONNECT.get(error.errno or 0)
    said = known or f"could not be connected ({error.strerror or error}). Check the address."
    if endpoint.proxy is not None:
        said = f"{said.partition('.')[0]}. {_where_proxy_comes_from(endpoint)}"
    return f"{_hop(endpoint)} {said}"


def connect_timeout(endpoint: Endpoint, phase: Phase, limit_s: float) -> str:
    """A phase of the connection took longer than all of them may."""
    who, said = {
        "dns": (_hop(endpoint), "has no address yet"),
        "connect": (_hop(endpoint), "did not accept the connection"),
        "tunnel": (_hop(endpoint), f"did not answer CONNECT {endpoint.name}"),
        "tls": (endpoint.name, "did not finish the TLS handshake"),
    }[phase]
    return (
        f"{who} {said} after {limit_s:g} s. "
        f"Check the address and any firewall, or raise limits.connect_s."
    )


def tls_trouble(endpoint: Endpoint, error: Exception) -> str:
    """The handshake failed."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return (
            f"The certificate of {endpoint.name} is not trusted ({error.verify_message}). "
            f"Name a file with its authority (target.ca_file), or set verify_tls = false for this "
            f"target."
        )
    reason = getattr(error, "reason", None) or ""
    if reason in ("WRONG_VERSION_NUMBER", "HTTP_REQUEST", "RECORD_LAYER_FAILURE"):
        return f"{endpoint.name} does not speak TLS; use http:// in the URL."
    said = reason.replace("_", " ").lower() or str(error)
    return f"{endpoint.name} and this machine agree on no TLS connection ({said})."


def tls_closed(endpoint: Endpoint) -> str:
    """The server closed during the handshake."""
    return (
        f"{endpoint.name} closed the connection during the TLS handshake. "
        f"If it does not speak TLS, use http:// in the URL."
    )


def is_alpn_refusal(error: ssl.SSLError) -> bool:
    """Whether the server spoke none of the protocols that we offered in the handshake."""
    return "NO_APPLICATION_PROTOCOL" in (error.reason or str(error)).upper().replace(" ", "_")


def needs_http2(endpoint: Endpoint) -> str:
    """A server that refuses HTTP/1.1."""
    return f'{endpoint.name} speaks HTTP/2 only; set http = "2" or "auto" for this target.'


def no_http2(endpoint: Endpoint) -> str:
    """A server that chose no HTTP/2 in the handshake."""
    return f'{endpoint.name} offers no HTTP/2; set http = "1.1" or "auto" for this target.'


def no_proxy(endpoint: Endpoint) -> str:
    """What answered CONNECT is no proxy."""
    return (
        f"{_hop(endpoint)} gave no HTTP answer to CONNECT {endpoint.name}. "
        f"{_where_proxy_comes_from(endpoint)}"
    )


def tunnel_refused(endpoint: Endpoint, status: int, reason: str) -> str:
    """The proxy will not connect us, in its own words."""
    return f"{proxy_answered(endpoint, status, reason)} {_where_proxy_comes_from(endpoint)}"


def proxy_answered(endpoint: Endpoint, status: int, reason: str) -> str:
    """The status is the proxy's and not the server's."""
    said = f"{status} {reason}".strip().rstrip(".")
    hint = " It wants http://USER:PASSWORD@… in its URL." if status == 407 else ""
    return f"{_hop(endpoint)} answered {said}.{hint}"


def closed_early(endpoint: Endpoint, has_begun: bool) -> str:
    """EOF before the message was whole."""
    if has_begun:
        return f"{_at(endpoint)} closed the connection before the answer was complete."
    hint = " If it expects TLS, use https://." if endpoint.scheme == "http" else ""
    if endpoint.http == "2":
        hint = ' If it does not speak HTTP/2, set http = "1.1" or "auto" for this target.'
    return f"{_at(endpoint)} closed the connection without answering a byte.{hint}"


def reset(endpoint: Endpoint, error: Exception, has_begun: bool) -> str:
    """The connection broke while the answer was awaited or under way."""
    when = "in the middle of the answer" if has_begun else "before the first byte of the answer"
    said = getattr(error, "strerror", None) or str(error)
    return f"{_at(endpoint)} broke the connection {when} ({said})."


def not_http(endpoint: Endpoint, error: Exception, first_bytes: bytes) -> str:
    """The answer does not follow HTTP/1.1."""
    if first_bytes[:2] in (b"\x15\x03", b"\x16\x03"):
        return f"{_at(endpoint)} answered in TLS; use https:// in the URL."
    if endpoint.http == "1.1" and is_http2(first_bytes):
        return needs_http2(endpoint)
    return f"{_at(endpoint)} answered what is not HTTP/{endpoint.http} ({error})."


def _hop(endpoint: Endpoint) -> str:
    """Who the connection goes to."""
    return f"The proxy {endpoint.proxy.name}" if endpoint.proxy is not None else endpoint.name


def _at(endpoint: Endpoint) -> str:
    """Whose answer it is, and who else may have broken it."""
    if endpoint.proxy is None:
        return endpoint.name
    return f"{endpoint.name} (through the proxy {endpoint.proxy.name})"


def _where_proxy_comes_from(endpoint: Endpoint) -> str:
    assert endpoint.proxy is not None
    return (
        f"It is named by {endpoint.proxy.variable}: correct that, or add {endpoint.host} to "
        f"NO_PROXY."
    )
