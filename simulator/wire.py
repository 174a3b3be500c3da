"""The body of one streamed HTTP answer, written past aiohttp: one write for one event."""

import asyncio
import socket
import struct

from simulator.front import Encoder


class Wire:
    """Chunks (HTTP/1.0: plain bytes) on a connection, in a content coding if one is set."""

    def __init__(
        self, transport: asyncio.WriteTransport, is_chunked: bool, encoder: Encoder | None = None
    ) -> None:
        self._transport = transport
        self._is_chunked = is_chunked
        self._encoder = encoder
        self.buffered_writes = 0  # the client's socket was full: the write came later than stamped

    def framed(self, event: bytes) -> bytes:
        """`event` as it goes onto the wire."""
        if self._encoder is not None:
            event = self._encoder.part(event)
        return b"%x\r\n%b\r\n" % (len(event), event) if self._is_chunked else event

    def write(self, framed: bytes) -> None:
        """Hand over bytes; asyncio passes them to the kernel at once if the socket has room."""
        self._transport.write(framed)
        if self._transport.get_write_buffer_size():
            self.buffered_writes += 1

    def finish(self) -> None:
        """Write what closes the content coding; the end of the body is aiohttp's."""
        if self._encoder is not None and not self.is_closing:
            last, self._encoder = self._encoder.end(), None
            self.write(self.framed(last))

    @property
    def is_closing(self) -> bool:
        """True once nobody reads any more."""
        return self._transport.is_closing()

    def cut(self) -> None:
        """Close without the end of the body."""
        self._transport.close()

    def reset(self) -> None:
        """Close with a TCP reset."""
        connection = self._transport.get_extra_info("socket")
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._transport.abort()
