"""One sentence for each way a connection goes wrong: what, where, and what to do about it."""

import errno
import socket
import ssl

from loadgen.transport.endpoint import Endpoint

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
    return f"{endpoint.host} has no known address ({said}). {hint}"


def connect_trouble(endpoint: Endpoint, error: OSError) -> str:
    """The TCP connection could not be opened."""
    known = _ON_CONNECT.get(error.errno or 0)
    said = known or f"could not be connected ({error.strerror or error}). Check the address."
    return f"{endpoint.name} {said}"


def connect_timeout(endpoint: Endpoint, phase: str, limit_s: float) -> str:
    """A phase of the connection took longer than all of them may."""
    what = {"dns": "has no address yet", "tls": "did not finish the TLS handshake"}
    said = what.get(phase, "did not accept the connection")
    return (
        f"{endpoint.name} {said} after {limit_s:g} s. "
        f"Check the address and any firewall, or raise limits.connect_s."
    )


def tls_trouble(endpoint: Endpoint, error: Exception) -> str:
    """The handshake failed."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return (
            f"The certificate of {endpoint.name} is not trusted ({error.verify_message}). "
            f"Trust its authority (SSL_CERT_FILE), or set verify_tls = false for this target."
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


def closed_early(endpoint: Endpoint, has_begun: bool) -> str:
    """EOF before the message was whole."""
    if has_begun:
        return f"{endpoint.name} closed the connection before the answer was complete."
    hint = " If it expects TLS, use https://." if endpoint.scheme == "http" else ""
    return f"{endpoint.name} closed the connection without answering a byte.{hint}"


def reset(endpoint: Endpoint, error: Exception, has_begun: bool) -> str:
    """The connection broke while the answer was awaited or under way."""
    when = "in the middle of the answer" if has_begun else "before the first byte of the answer"
    said = getattr(error, "strerror", None) or str(error)
    return f"{endpoint.name} broke the connection {when} ({said})."


def not_http(endpoint: Endpoint, error: Exception, first_bytes: bytes) -> str:
    """The answer does not follow HTTP/1.1."""
    if first_bytes[:2] in (b"\x15\x03", b"\x16\x03"):
        return f"{endpoint.name} answered in TLS; use https:// in the URL."
    return f"{endpoint.name} answered what is not HTTP/1.1 ({error})."
