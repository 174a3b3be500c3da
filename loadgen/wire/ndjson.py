"""Newline-delimited JSON, sans-io: bytes in, one event per line out (Ollama streams this way).

Source: https://github.com/ndjson/ndjson-spec.  Only LF ends a line, for JSON may hold a raw U+2028
and a lone CR is white space in it; a CR before the LF goes, and so do blank lines.  The last line
may lack its LF if it is a complete JSON object.  No JSON begins with a colon: such a line is a
keep-alive comment, as servers send them that also speak SSE.
"""

import orjson

from loadgen.wire.framing import MAX_EVENT_BYTES, ProtocolError, WireEvent

_BOM = b"\xef\xbb\xbf"
_WHITE = b" \t\r"


class NdjsonFraming:
    """Decodes one stream of lines; `comments` counts those that begin with a colon."""

    __slots__ = ("_at_start", "_is_skipping", "_tail", "comments", "idle")

    def __init__(self) -> None:
        self.comments = 0
        self.idle = True  # no line is begun
        self._at_start = True  # a byte order mark may still come
        self._is_skipping = False  # within a line that was too long
        self._tail = bytearray()  # the line whose end has not come yet

    def feed(self, data: bytes) -> list[WireEvent]:
        """The lines that `data` completes; raises ProtocolError on an endless one."""
        lines = data.split(b"\n")
        rest = lines.pop()
        events: list[WireEvent] = []
        for line in lines:
            whole = bytes(self._tail + line) if self._tail else line
            self._tail.clear()
            if self._is_skipping:
                self._is_skipping = False
            elif event := self._event(whole):
                events.append(event)
        if not self._is_skipping:
            self._tail += rest
        self.idle = not (self._tail or self._is_skipping)
        if len(self._tail) > MAX_EVENT_BYTES:
            self._tail.clear()
            self._is_skipping = True
            raise ProtocolError(f"A line is longer than {MAX_EVENT_BYTES >> 20} MiB.")
        return events

    def end(self) -> list[WireEvent]:
        """The last line, if it is complete in itself."""
        event = self._event(bytes(self._tail))
        self._tail.clear()
        return [event] if event and _is_object(event.data) else []

    def _event(self, line: bytes) -> WireEvent | None:
        if self._at_start:
            self._at_start = False
            line = line.removeprefix(_BOM)
        line = line.strip(_WHITE)
        if line.startswith(b":"):
            self.comments += 1
            return None
        return WireEvent("message", line) if line else None


def _is_object(line: bytes) -> bool:
    try:
        return isinstance(orjson.loads(line), dict)
    except orjson.JSONDecodeError:
        return False
