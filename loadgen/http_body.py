"""One HTTP/1.1 response, sans-io: the bytes of a connection in, head and body out."""

from httptools import HttpParserError, HttpParserUpgrade, HttpResponseParser

from loadgen.content_coding import ContentDecoder
from loadgen.wire.framing import ProtocolError

MAX_HEAD_BYTES = 256 * 1024
"""So much may come without a byte of body: heads, chunk extensions, trailers."""


class HttpAnswer:
    """Chunked, content-length and until-close bodies, compressed or not; 1xx heads are skipped.

    status is None until the head is complete; `complete` means that the body's own end was seen,
    which a body that lasts until the connection closes never has (`ends_at_close`).
    `problem` is one sentence if the bytes are no HTTP/1.1, or the body cannot be unpacked.
    """

    def __init__(self) -> None:
        self.status: int | None = None
        self.reason = ""
        self.headers: dict[str, str] = {}  # names in lower case
        self.complete = False
        self.problem: str | None = None
        self._pieces: list[bytes] = []
        self._bodyless_bytes = 0  # since the last byte of body
        self._unpacking: ContentDecoder | None = None
        self._parser: HttpResponseParser | None = HttpResponseParser(self)

    def feed(self, data: bytes) -> list[bytes]:
        """The pieces of body in `data`, in order; nothing after the body's end or a problem."""
        if self._parser is None:
            return []
        try:
            self._parser.feed_data(data)
        except HttpParserError as error:
            if not self.complete:  # else: bytes after the answer, which are not ours to judge
                self.problem = f"The answer is no valid HTTP/1.1: {_first_words(error)}."
        except HttpParserUpgrade:
            self.problem = "The server switched to another protocol (101)."
        pieces, self._pieces = self._pieces, []
        self._bodyless_bytes = 0 if pieces else self._bodyless_bytes + len(data)
        if self._bodyless_bytes > MAX_HEAD_BYTES:
            kib = MAX_HEAD_BYTES >> 10
            self.problem = self.problem or f"The answer's head is longer than {kib} KiB."
        if pieces and self.coding:
            pieces = self._unpacked(pieces, self.coding)
        if self.complete or self.problem:
            self.finish()
        return pieces

    def finish(self) -> None:
        """Let go of the parser (it points back to us, and a cycle would wait for the collector)."""
        self._parser = self._unpacking = None

    @property
    def is_success(self) -> bool:
        """The status is one of success, so the body should be an answer."""
        return self.status is not None and 200 <= self.status < 300

    @property
    def ends_at_close(self) -> bool:
        """The head names no length: the close of the connection is the body's proper end."""
        coding = self.headers.get("transfer-encoding", "").lower()
        return "content-length" not in self.headers and not coding.endswith("chunked")

    @property
    def content_type(self) -> str:
        """The media type alone, lower case; empty if none was sent."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()

    @property
    def coding(self) -> str | None:
        """`gzip` or the like if the body is compressed, else None."""
        coding = self.headers.get("content-encoding")
        if coding is None:
            return None
        coding = coding.strip().lower()
        return None if coding in ("", "identity") else coding

    def _unpacked(self, pieces: list[bytes], coding: str) -> list[bytes]:
        try:
            self._unpacking = self._unpacking or ContentDecoder(coding)
            return self._unpacking.feed(pieces)
        except ProtocolError as error:
            self.problem = str(error)
            return []

    # What follows is called by httptools.
    def on_message_begin(self) -> None:
        """A response begins: the first, or the one after an interim 1xx."""
        if self.complete:
            raise ProtocolError("bytes after the answer")  # stops the parser; feed() ignores it
        self.reason = ""
        self.headers = {}

    def on_status(self, status: bytes) -> None:
        """A piece of the reason phrase."""
        self.reason += status.decode("latin-1")

    def on_header(self, name: bytes, value: bytes) -> None:
        """One header line; of a repeated one the last value stays."""
        self.headers[name.decode("latin-1").lower()] = value.decode("latin-1")

    def on_headers_complete(self) -> None:
        """The head is complete."""
        assert self._parser is not None
        status = self._parser.get_status_code()
        if status >= 200:
            self.status = status

    def on_body(self, body: bytes) -> None:
        """A piece of the body, chunk framing removed, still compressed."""
        self._pieces.append(body)

    def on_message_complete(self) -> None:
        """The end of the response, or of an interim one."""
        self.complete = self.status is not None


def _first_words(error: Exception) -> str:
    text = " ".join(str(error).split()) or type(error).__name__
    return text[:200].rstrip(".")
