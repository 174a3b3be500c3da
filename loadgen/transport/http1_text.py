"""HTTP/1.1 as text, on both sides of HTTP/2: a request taken apart, an answer written out."""

from collections.abc import Iterable

import h2.events as happened

_OF_THE_CONNECTION = {b"host", b"connection", b"keep-alive", b"transfer-encoding", b"upgrade"}
_FRAMING = {b"content-length", b"transfer-encoding"}
_WITHOUT_BODY = {b"204", b"304"}
Headers = Iterable[tuple[bytes, bytes]]


def request_headers(raw: bytes, scheme: bytes) -> tuple[list[tuple[bytes, bytes]], bytes]:
    """HTTP/2's header list of this HTTP/1.1 request, and its body."""
    head, _, body = raw.partition(b"\r\n\r\n")
    first, *lines = head.split(b"\r\n")
    method, path, _ = first.split(b" ")
    fields = [
        (name.lower(), value.strip()) for name, _, value in (x.partition(b":") for x in lines)
    ]
    authority = next(value for name, value in fields if name == b"host")
    pseudo = [
        (b":method", method),
        (b":scheme", scheme),
        (b":authority", authority),
        (b":path", path),
    ]
    return pseudo + [field for field in fields if field[0] not in _OF_THE_CONNECTION], body


def is_http1(first_bytes: bytes) -> bool:
    """Whether an answer that begins so is HTTP/1.x."""
    return first_bytes.startswith(b"HTTP/1.")


def chunk(data: bytes) -> bytes:
    """One chunk of a body; nothing for nothing, which would end it."""
    return b"%x\r\n%b\r\n" % (len(data), data) if data else b""


class AnswerText:
    """One answer's events as HTTP/1.1 bytes.  The body is chunked, a chunk for each DATA frame.

    A Content-Length is left out, for the chunks say where the body ends.
    """

    __slots__ = ("_has_body", "_is_closed")

    def __init__(self) -> None:
        self._has_body = True
        self._is_closed = False

    def piece(self, event: happened.Event) -> bytes:
        """The bytes of this event; empty for one that is no part of an answer."""
        match event:
            case happened.DataReceived():
                return chunk(event.data)
            case happened.ResponseReceived():
                return self._head(event.headers)
            case happened.InformationalResponseReceived():
                return _status_line(event.headers) + _lines(event.headers) + b"\r\n"
            case happened.TrailersReceived():
                self._is_closed = True
                return b"0\r\n" + _lines(event.headers) + b"\r\n"
            case _:
                return b""

    def end(self) -> bytes:
        """The bytes that end the body."""
        return b"" if self._is_closed or not self._has_body else b"0\r\n\r\n"

    def _head(self, headers: Headers) -> bytes:
        fields = list(headers)
        self._has_body = dict(fields)[b":status"] not in _WITHOUT_BODY
        framing = b"transfer-encoding: chunked\r\n" if self._has_body else b""
        return _status_line(fields) + _lines(fields) + framing + b"\r\n"


def _status_line(headers: Headers) -> bytes:
    return b"HTTP/1.1 %b \r\n" % dict(headers)[b":status"]


def _lines(headers: Headers) -> bytes:
    kept = ((name, value) for name, value in headers if name[:1] != b":" and name not in _FRAMING)
    return b"".join(b"%b: %b\r\n" % field for field in kept)
