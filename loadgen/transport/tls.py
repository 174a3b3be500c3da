"""TLS between a recvmsg of ours and the plain bytes: the kernel's stamp stays with its bytes.

An ssl socket reads by itself and would lose the stamps; memory BIOs leave the reading to us.
"""

import ssl
from typing import Any

from loadgen.transport.endpoint import Endpoint

PIECE_BYTES = 65536
ALPN_NAMES = {"1.1": "http/1.1", "2": "h2"}


def tls_context(endpoint: Endpoint) -> ssl.SSLContext:
    """One per pool: loading the trusted authorities takes tens of milliseconds.

    Raises ValueError with a sentence when endpoint.ca_file holds no certificate.
    """
    context = ssl.create_default_context() if endpoint.ca_file is None else _own(endpoint.ca_file)
    if not endpoint.verify_tls:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    context.set_alpn_protocols([ALPN_NAMES[endpoint.http]])
    return context


def _own(ca_file: str) -> ssl.SSLContext:
    """Trusts the certificates of this file and no other; also a server's own or an intermediate."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    try:
        context.load_verify_locations(ca_file)
    except ssl.SSLError:
        raise ValueError(
            f"{ca_file} holds no certificate that can be read; target.ca_file is a file in PEM "
            f"(-----BEGIN CERTIFICATE-----)."
        ) from None
    except OSError as error:
        said = error.strerror or error
        raise ValueError(f"{ca_file} cannot be read ({said}); correct target.ca_file.") from None
    return context


class Tls:
    """One connection's TLS state.  is_closed: the peer said it will send no more."""

    __slots__ = ("_incoming", "_outgoing", "_session", "is_closed")

    def __init__(self, context: ssl.SSLContext, host: str) -> None:
        self._incoming = ssl.MemoryBIO()
        self._outgoing = ssl.MemoryBIO()
        self._session: Any = context.wrap_bio(self._incoming, self._outgoing, server_hostname=host)
        self.is_closed = False

    def handshake(self, received: bytes) -> tuple[bool, bytes]:
        """(done, bytes to send) after these bytes; raises ssl.SSLError."""
        self._incoming.write(received)
        try:
            self._session.do_handshake()
        except ssl.SSLWantReadError:
            return False, self._outgoing.read()
        return True, self._outgoing.read()

    @property
    def alpn(self) -> str | None:
        """The protocol that the server chose in the handshake; None: it said nothing of it."""
        return self._session.selected_alpn_protocol()

    def encrypt(self, plain: bytes) -> bytes:
        """What to send for these bytes."""
        self._session.write(plain)
        return self._outgoing.read()

    def decrypt(self, received: bytes) -> bytes:
        """The plain bytes that these completed, mostly of one record; raises ssl.SSLError.

        Empty when a record is still incomplete, carried no data, or closed the session.
        """
        self._incoming.write(received)
        plain = b""
        try:
            while True:
                piece = self._session.read(PIECE_BYTES)
                if not piece:
                    self.is_closed = True
                    return plain
                plain += piece
        except ssl.SSLWantReadError:
            return plain

    def owed(self) -> bytes:
        """What the session itself wants to send after a decrypt, as for a key update."""
        return self._outgoing.read() if self._outgoing.pending else b""
