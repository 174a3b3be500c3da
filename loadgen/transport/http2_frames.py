"""HTTP/2's frames as pieces of bytes; GOAWAY taken out, which h2 takes for the end of everything.

Servers say GOAWAY in the middle of an answer and finish it (RFC 9113, 6.8: nginx after its
keepalive_requests); h2 would refuse the rest of that answer as coming after the end.
"""

import struct
from dataclasses import dataclass

HEAD_BYTES = 9
MAX_FRAME_BYTES = 16_384  # what the standard allows a server to which nothing else was said
GOAWAY, SETTINGS = 0x07, 0x04
_LAST_AND_CODE = struct.Struct(">II")
_WINDOW_UPDATE_HEAD = b"\0\0\x04\x08\0"  # four bytes follow; the type; no flags


@dataclass(frozen=True, slots=True)
class GoAway:
    """last_stream: requests after this one were not taken up.  said: the server's own words."""

    last_stream: int
    error_code: int
    said: str


def split_frames(data: bytes) -> tuple[list[bytes | GoAway], bytes]:
    """The whole frames in these bytes, in order, and the rest: the beginning of the next one.

    What is longer than a frame may be stays in the rest; see is_too_long.
    """
    frames: list[bytes | GoAway] = []
    at = 0
    while len(data) - at >= HEAD_BYTES:
        end = at + HEAD_BYTES + int.from_bytes(data[at : at + 3])
        if end > len(data):
            break
        frames.append(_frame(data[at:end]))
        at = end
    return frames, data[at:]


def plain_data_head(stream: int) -> bytes:
    """Bytes 3 to 9 of a DATA frame of this stream: no padding, and not its last."""
    return b"\0\0" + stream.to_bytes(4)


def window_update(stream: int, freed_bytes: int) -> bytes:
    """The frame that lets the server send so much more; stream 0: on the connection."""
    return _WINDOW_UPDATE_HEAD + stream.to_bytes(4) + freed_bytes.to_bytes(4)


def is_too_long(rest: bytes) -> bool:
    """Whether the frame that begins so is longer than any server may send, as other protocols'
    first bytes are when they are taken for one.  h2 would wait for its end.
    """
    return len(rest) >= HEAD_BYTES and int.from_bytes(rest[:3]) > MAX_FRAME_BYTES


def is_settings(data: bytes) -> bool:
    """Whether these bytes begin with the frame that every HTTP/2 server sends first."""
    return len(data) >= HEAD_BYTES and data[3] == SETTINGS and data[5:HEAD_BYTES] == bytes(4)


def is_http2(data: bytes) -> bool:
    """Whether an HTTP/2 server's first bytes: SETTINGS, or GOAWAY at once."""
    is_goaway = len(data) >= HEAD_BYTES and data[:2] == b"\0\0" and data[3] == GOAWAY
    return is_settings(data) or (is_goaway and data[5:HEAD_BYTES] == bytes(4))


def _frame(raw: bytes) -> bytes | GoAway:
    if raw[3] != GOAWAY or len(raw) < HEAD_BYTES + _LAST_AND_CODE.size:
        return raw
    last, code = _LAST_AND_CODE.unpack_from(raw, HEAD_BYTES)
    said = raw[HEAD_BYTES + _LAST_AND_CODE.size :].decode("latin-1")
    return GoAway(last & 0x7FFF_FFFF, code, said)
