"""One request's answer as far as it came: enough to know when it ends and whether to reuse."""

import time
from typing import Any

import httptools

from loadgen.transport.call import Call, Done, OnDone
from loadgen.transport.connection import Connection, Phases
from loadgen.transport.segments import Segments

TAIL_BYTES = 64
NO_PHASES = Phases()
NO_SEGMENTS = Segments()


class Answer:
    """State of one request; also httptools' protocol, which is told of the head and of the end.

    connection: None while there is none and after the end; attempt: the greenlet that opens one.
    last_ns: the latest read, before the
    first one the send.  tail: at least the last 64 bytes; empty while none came.  n_bytes: all that
    came.  The sweep's own: heard_ns, the latest read that was more than comments, and n_heard, the
    bytes it has looked at; done_line_ns, the read with the line that ends the stream.
    """

    __slots__ = (
        "__weakref__",
        "_is_framed",
        "attempt",
        "call",
        "connection",
        "done_line",
        "done_line_ns",
        "heard_ns",
        "http_status",
        "is_complete",
        "is_kept_alive",
        "is_reused",
        "last_ns",
        "n_bytes",
        "n_heard",
        "on_done",
        "parser",
        "phases",
        "reconnects",
        "request_id",
        "segments",
        "send_ns",
        "tail",
    )

    def __init__(self, call: Call, on_done: OnDone) -> None:
        self.call, self.on_done = call, on_done
        self.request_id = call.request_id
        self.done_line = call.done_line
        self.attempt: Any = None
        self.is_reused: bool | None = None
        self.phases = NO_PHASES
        self.reconnects = 0
        self.send_ns = 0
        self.segments = NO_SEGMENTS
        self._reset()

    def begin(self, connection: Connection) -> None:
        """The request has just been sent there; nothing of an answer has come."""
        if self.reconnects:
            self._reset()
        self.connection = connection
        self.parser = httptools.HttpResponseParser(self)
        self.last_ns = self.heard_ns = time.monotonic_ns()

    def end(self) -> None:
        """Let go of connection and parser; the parser holds this object, and cycles stay for ever
        while the collector is off."""
        self.connection = self.parser = None

    def on_header(self, name: bytes, value: bytes) -> None:
        """httptools: one header line."""
        name = name.lower()
        if name == b"content-length" or (
            name == b"transfer-encoding" and value.lower().endswith(b"chunked")
        ):
            self._is_framed = True

    def on_headers_complete(self) -> None:
        """httptools: the head is whole."""
        self.http_status = self.parser.get_status_code()

    def on_message_complete(self) -> None:
        """httptools: the last byte of a message; a 1xx one only announces the answer."""
        if self.http_status is not None and self.http_status >= 200:
            self.is_complete = True
            self.is_kept_alive = self.parser.should_keep_alive()
        else:
            self.http_status, self._is_framed = None, False

    @property
    def is_whole_at_eof(self) -> bool:
        """Whether the end of the connection is the end of the body: no length, no chunks."""
        return self.http_status is not None and not self._is_framed

    def _reset(self) -> None:
        self.connection: Connection | None = None
        self.parser: Any = None
        self.http_status: int | None = None
        self.is_complete = self.is_kept_alive = self._is_framed = False
        self.tail = b""
        self.last_ns = self.heard_ns = 0
        self.n_bytes = self.n_heard = 0
        self.done_line_ns: int | None = None


def close_meta(answer: Answer, done: Done) -> dict[str, Any]:
    """The CLOSE record of a request that ended so."""
    return {
        "end_ns": done.end_ns,
        "cause": done.cause,
        "detail": done.detail,
        "conn_reused": answer.is_reused,
        "reconnects": answer.reconnects,
        "dns_ns": answer.phases.dns_ns,
        "connect_ns": answer.phases.connect_ns,
        "tls_ns": answer.phases.tls_ns,
    }
