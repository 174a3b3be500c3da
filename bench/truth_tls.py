"""TLS for the truth server: a socket-like object that keeps the kernel's stamp of what it reads."""

import socket
import ssl
from pathlib import Path
from typing import Any

READ_BYTES = 1 << 16


def server_context(certificate: Path) -> ssl.SSLContext:
    """certificate: one PEM file with the key and its chain."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    context.set_alpn_protocols(["http/1.1"])
    return context


class TlsSocket:
    """What truth_server.Connection needs of a non-blocking socket: send, recvmsg, fileno, close."""

    def __init__(self, sock: socket.socket, context: ssl.SSLContext) -> None:
        self._sock = sock
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._session: Any = context.wrap_bio(self._incoming, self._outgoing, server_side=True)
        self._is_open = False

    def fileno(self) -> int:
        return self._sock.fileno()

    def close(self) -> None:
        self._sock.close()

    def send(self, data: bytes) -> int:
        """Encrypt and send all of it; waits in the rare case that the socket is full."""
        self._session.write(data)
        self._push()
        return len(data)

    def recvmsg(self, n_bytes: int, ancillary_bytes: int) -> tuple[bytes, list[Any], int, Any]:
        """As a socket's, plain bytes out; BlockingIOError while there are none, b"" at the end."""
        received, control, flags, address = self._sock.recvmsg(n_bytes, ancillary_bytes)
        if not received:
            return b"", control, flags, address
        self._incoming.write(received)
        plain = b""
        try:
            if not self._is_open:
                self._session.do_handshake()
                self._is_open = True
            while piece := self._session.read(READ_BYTES):
                plain += piece
        except ssl.SSLWantReadError:
            pass
        except ssl.SSLError as error:
            raise ConnectionResetError(str(error)) from None
        self._push()
        if not plain:
            raise BlockingIOError
        return plain, control, flags, address

    def _push(self) -> None:
        if not self._outgoing.pending:
            return
        data = self._outgoing.read()
        try:
            n_sent = self._sock.send(data)
        except BlockingIOError:
            n_sent = 0
        if n_sent < len(data):
            self._sock.setblocking(True)
            self._sock.sendall(data[n_sent:])
            self._sock.setblocking(False)
