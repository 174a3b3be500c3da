"""Content codings undone piece by piece: gzip, deflate and br; any cut of the bytes gives the same.

We ask for identity, for a compressed stream arrives in lumps; some servers and proxies compress all
the same.  Source: RFC 9110, 8.4.1 (deflate means zlib's format, but servers send bare deflate too).
"""

import zlib
from collections.abc import Callable
from typing import Protocol

import brotli

from loadgen.wire.framing import ProtocolError

MAX_BODY_BYTES = 64 * 1024 * 1024
"""Of one answer no more is unpacked: a few kB can hold gigabytes of zeros."""
PIECE_BYTES = 1024 * 1024
_GZIP_MARK = b"\x1f\x8b"


class Member(Protocol):
    """One compressed stream."""

    def unpack(self, data: bytes) -> list[bytes]:
        """What `data` completes, in pieces; raises zlib.error or brotli.error."""
        ...


class ContentDecoder:
    """Undoes one answer's coding.  Raises ProtocolError once; what its read held is lost then."""

    def __init__(self, coding: str) -> None:
        if coding not in CODINGS:
            raise ProtocolError(
                f"The body is compressed with {coding}, although identity was asked for."
            )
        self._coding = coding
        self._member = CODINGS[coding]()
        self._n_bytes = 0

    def feed(self, pieces: list[bytes]) -> list[bytes]:
        """The plain bytes, in pieces of about PIECE_BYTES at most."""
        plain: list[bytes] = []
        for piece in pieces:
            try:
                plain += self._bounded(self._member.unpack(piece))
            except (zlib.error, brotli.error) as error:
                raise ProtocolError(f"The {self._coding} body is broken: {error}.") from None
        return plain

    def _bounded(self, unpacked: list[bytes]) -> list[bytes]:
        self._n_bytes += sum(map(len, unpacked))
        if self._n_bytes > MAX_BODY_BYTES:
            raise ProtocolError(f"The {self._coding} body unpacks to over {_mib(MAX_BODY_BYTES)}.")
        return unpacked


class _Zlib:
    """A stream in one of zlib's formats; what follows its end is ignored, and is `rest`."""

    def __init__(self, wbits: int) -> None:
        self._stream = zlib.decompressobj(wbits)

    def unpack(self, data: bytes) -> list[bytes]:
        """At most MAX_BODY_BYTES and a little more."""
        plain: list[bytes] = []
        while not self.is_over and len(plain) * PIECE_BYTES <= MAX_BODY_BYTES:
            piece = self._stream.decompress(data, PIECE_BYTES)
            data = self._stream.unconsumed_tail
            if piece:
                plain.append(piece)
            if not data and len(piece) < PIECE_BYTES:
                break
        return plain

    @property
    def is_over(self) -> bool:
        """Whether the stream's own end was seen."""
        return self._stream.eof

    @property
    def rest(self) -> bytes:
        """What followed the end."""
        return self._stream.unused_data


class _Gzip:
    """One gzip member after another; what follows them and is none is ignored, as browsers do."""

    def __init__(self) -> None:
        self._member = _Zlib(16 + zlib.MAX_WBITS)
        self._head: bytes | None = None  # after a member: begins there another one?

    def unpack(self, data: bytes) -> list[bytes]:
        plain: list[bytes] = []
        while data and len(plain) * PIECE_BYTES <= MAX_BODY_BYTES:
            if self._head is not None:
                self._head += data
                if len(self._head) < len(_GZIP_MARK) or not self._head.startswith(_GZIP_MARK):
                    self._head = self._head[: len(_GZIP_MARK)]
                    break
                data, self._head = self._head, None
                self._member = _Zlib(16 + zlib.MAX_WBITS)
            plain += self._member.unpack(data)
            if not self._member.is_over:
                break
            data, self._head = self._member.rest, b""
        return plain


class _Deflate:
    """zlib's format or bare deflate: the first two bytes tell."""

    def __init__(self) -> None:
        self._head = b""
        self._member: _Zlib | None = None

    def unpack(self, data: bytes) -> list[bytes]:
        if self._member is None:
            self._head += data
            if len(self._head) < 2:
                return []
            is_zlib = self._head[0] & 0x0F == 8 and int.from_bytes(self._head[:2]) % 31 == 0
            self._member = _Zlib(zlib.MAX_WBITS if is_zlib else -zlib.MAX_WBITS)
            data, self._head = self._head, b""
        return self._member.unpack(data)


class _Brotli:
    """Here bytes after the end are an error: the library does not tell them from a broken body."""

    def __init__(self) -> None:
        self._stream = brotli.Decompressor()

    def unpack(self, data: bytes) -> list[bytes]:
        plain: list[bytes] = []
        piece: bytes = self._stream.process(data, output_buffer_limit=PIECE_BYTES)
        while piece and len(plain) * PIECE_BYTES <= MAX_BODY_BYTES:
            plain.append(piece)
            piece = self._stream.process(b"", output_buffer_limit=PIECE_BYTES)
        return plain


CODINGS: dict[str, Callable[[], Member]] = {
    "gzip": _Gzip,
    "x-gzip": _Gzip,
    "deflate": _Deflate,
    "br": _Brotli,
}


def _mib(n_bytes: int) -> str:
    return f"{n_bytes >> 20} MiB"
