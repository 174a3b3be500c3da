"""HTTP/2 between a read of ours and HTTP/1.1 bytes: one stream at a time, the stamp kept.

Everything behind it (spool, message end, decoder) stays as it is for HTTP/1.1.  As with TLS, bytes
that a read completes come out at that read.
"""

from collections.abc import Iterable

import h2.events as happened
from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.errors import ErrorCodes
from h2.exceptions import ProtocolError
from h2.settings import SettingCodes, Settings

from loadgen.transport import http1_text
from loadgen.transport.http2_frames import (
    HEAD_BYTES,
    GoAway,
    is_too_long,
    plain_data_head,
    split_frames,
    window_update,
)

WINDOW_BYTES = 1 << 26  # half of it is returned at a time; no server waits for us
FIRST_WINDOW_BYTES = 65_535  # what the standard grants a connection before anything is said


class Http2Broken(ConnectionError):
    """The server ended the stream or the connection before the answer was whole."""


class NotHttp2(OSError):
    """The server's bytes break the rules of HTTP/2, or are another protocol's."""


class Http2:
    """One connection's HTTP/2 state, sans-io.  Its preface waits in owed() from the beginning.

    A DATA frame that is plainly one more piece of a stream does not go through h2 (36 µs, and there
    is one for each token); the windows it used are given back by us.

    trouble: why no more can come, None while more can.  can_go_on: whether another request may
    follow once the one under way has ended.
    """

    __slots__ = (
        "_body",
        "_freed_bytes",
        "_h2",
        "_is_ended",
        "_partial",
        "_piece_head",
        "_returned",
        "_scheme",
        "_stream",
        "_text",
        "can_go_on",
        "trouble",
    )

    def __init__(self, scheme: str) -> None:
        self._scheme = scheme.encode()
        self._h2 = H2Connection(H2Configuration(client_side=True, header_encoding=None))
        wanted = {SettingCodes.ENABLE_PUSH: 0, SettingCodes.INITIAL_WINDOW_SIZE: WINDOW_BYTES}
        self._h2.local_settings = Settings(client=True, initial_values=wanted)
        self._h2.initiate_connection()
        self._h2.increment_flow_control_window(WINDOW_BYTES - FIRST_WINDOW_BYTES)
        self._partial = self._returned = b""
        self._piece_head: bytes | None = None
        self._freed_bytes = 0
        self._stream = 0
        self._body = memoryview(b"")
        self._is_ended = True
        self._text = http1_text.AnswerText()
        self.can_go_on = True
        self.trouble: OSError | None = None

    @property
    def is_sending(self) -> bool:
        """Whether a part of the request waits for the server's permission."""
        return bool(self._body)

    def owed(self) -> bytes:
        """What the connection itself wants to send: preface, acknowledgements, freed body parts."""
        returned, self._returned = self._returned, b""
        return self._h2.data_to_send() + returned

    def request(self, head_and_body: bytes) -> bytes:
        """What to send for this HTTP/1.1 request; the rest of a large body follows in owed()."""
        headers, body = http1_text.request_headers(head_and_body, self._scheme)
        self._text, self._is_ended, self._piece_head = http1_text.AnswerText(), False, None
        try:
            self._stream = self._h2.get_next_available_stream_id()
            self._h2.send_headers(self._stream, headers, end_stream=not body)
            self._body = memoryview(body)
            self._send_body()
        except ProtocolError as error:  # as when the server allows no stream at all
            self._end(Http2Broken(f"HTTP/2: {_words(error)}"))
        return self._h2.data_to_send()

    def received(self, data: bytes) -> bytes:
        """The HTTP/1.1 bytes of the answer that these completed; empty if there are none yet.

        Raises Http2Broken or NotHttp2 when nothing more can come; if a part of the answer came
        with the end, that part is returned first, and `trouble` says what follows.
        """
        if self.trouble is not None:
            raise self.trouble
        plain = b""
        try:
            data = self._partial + data
            if http1_text.is_http1(data):
                raise NotHttp2("it answered in HTTP/1.1")
            frames, self._partial = split_frames(data)
            for frame in frames:
                if isinstance(frame, GoAway):
                    self._going_away(frame)
                elif frame[3:HEAD_BYTES] == self._piece_head:
                    plain += self._piece(frame)
                else:
                    plain += self._answered(self._h2.receive_data(frame))
            if is_too_long(self._partial):
                raise NotHttp2("a longer frame than was allowed")
            self._send_body()
        except ProtocolError as error:
            self._end(NotHttp2(_words(error)))
        except NotHttp2 as error:
            self._end(error)
        if self.trouble is not None and not plain and not self._is_ended:
            raise self.trouble
        return plain

    def _piece(self, frame: bytes) -> bytes:
        self._freed_bytes += len(frame) - HEAD_BYTES
        if self._freed_bytes >= WINDOW_BYTES // 2:
            for stream in (0, self._stream):
                self._returned += window_update(stream, self._freed_bytes)
            self._freed_bytes = 0
        return http1_text.chunk(frame[HEAD_BYTES:])

    def _answered(self, events: Iterable[happened.Event]) -> bytes:
        plain = b""
        for event in events:
            if isinstance(event, happened.DataReceived):
                self._h2.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
            if getattr(event, "stream_id", None) != self._stream:
                continue
            if isinstance(event, happened.StreamReset):
                self._reset(event)
            elif isinstance(event, happened.StreamEnded):
                self._is_ended, self._piece_head = True, None
                plain += self._text.end()
            else:
                plain += self._text.piece(event)
                if isinstance(event, happened.ResponseReceived) and not _has_length(event):
                    self._piece_head = plain_data_head(self._stream)
        return plain

    def _reset(self, event: happened.StreamReset) -> None:
        self._body = memoryview(b"")
        if not self._is_ended:  # else: it wants no more of a body whose answer is complete
            self._end(Http2Broken(f"HTTP/2 stream reset: {_code(event.error_code)}"))

    def _going_away(self, frame: GoAway) -> None:
        """No further request; the one under way goes on if the server has taken it up."""
        self.can_go_on = False
        if not self._is_ended and frame.last_stream < self._stream:
            said = f", {frame.said}" if frame.said else ""
            self._end(Http2Broken(f"HTTP/2 GOAWAY: {_code(frame.error_code)}{said}"))

    def _end(self, trouble: OSError) -> None:
        self.can_go_on, self._piece_head = False, None
        self._body = memoryview(b"")
        self.trouble = self.trouble or trouble

    def _send_body(self) -> None:
        """As much of the body as the server's windows allow."""
        while self._body and self.trouble is None:
            allowed = self._h2.local_flow_control_window(self._stream)
            n = min(allowed, self._h2.max_outbound_frame_size, len(self._body))
            if n <= 0:
                return
            piece, self._body = self._body[:n], self._body[n:]
            self._h2.send_data(self._stream, bytes(piece), end_stream=not self._body)


def _has_length(event: happened.ResponseReceived) -> bool:
    """Whether h2 will hold the body against a length, so that it must see each piece."""
    return any(name == b"content-length" for name, _ in event.headers)


def _code(code: ErrorCodes | int | None) -> str:
    try:
        return ErrorCodes(code or 0).name
    except ValueError:
        return f"error {code}"


def _words(error: Exception) -> str:
    return str(error).strip().rstrip(".") or type(error).__name__
