"""Compressed bodies: any cut gives the same bytes; what is broken or boundless is refused."""

import gzip
import zlib
from collections.abc import Callable
from itertools import pairwise

import brotli
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loadgen import content_coding
from loadgen.content_coding import ContentDecoder
from loadgen.wire.framing import ProtocolError


def bare_deflate(data: bytes) -> bytes:
    stream = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return stream.compress(data) + stream.flush()


def flushed(data: bytes) -> bytes:
    """As a server compresses a stream: each event is flushed, the end never comes."""
    stream = zlib.compressobj(wbits=16 + zlib.MAX_WBITS)
    events = [data[i : i + 5] for i in range(0, len(data), 5)]
    return b"".join(stream.compress(e) + stream.flush(zlib.Z_SYNC_FLUSH) for e in events)


def members(data: bytes) -> bytes:
    return gzip.compress(data[:3]) + gzip.compress(b"") + gzip.compress(data[3:])


PACKED: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
    "gzip": ("gzip", gzip.compress),
    "x-gzip": ("x-gzip", gzip.compress),
    "gzip members": ("gzip", members),
    "gzip then zeros": ("gzip", lambda data: gzip.compress(data) + b"\0\0\0"),
    "gzip then half a mark": ("gzip", lambda data: gzip.compress(data) + b"\x1f"),
    "gzip then no mark": ("gzip", lambda data: gzip.compress(data) + b"\x1f\x1f\x8b"),
    "zlib": ("deflate", zlib.compress),
    "bare deflate": ("deflate", bare_deflate),
    "br": ("br", lambda data: brotli.compress(data, quality=1)),
}
STREAMED = {**PACKED, "gzip without an end": ("gzip", flushed)}


def unpack(coding: str, pieces: list[bytes]) -> bytes:
    decoder = ContentDecoder(coding)
    return b"".join(b"".join(decoder.feed([piece])) for piece in pieces)


@pytest.mark.parametrize(("coding", "pack"), STREAMED.values(), ids=STREAMED)
@settings(max_examples=40)
@given(data=st.binary(max_size=300), cuts=st.lists(st.integers(0, 400), max_size=8))
def test_any_cut_of_a_compressed_body_gives_the_same_bytes(
    coding: str, pack: Callable[[bytes], bytes], data: bytes, cuts: list[int]
):
    packed = pack(data)
    at = [0, *sorted(min(cut, len(packed)) for cut in cuts), len(packed)]
    assert unpack(coding, [packed[i:j] for i, j in pairwise(at)]) == data
    assert unpack(coding, [bytes([byte]) for byte in packed]) == data


def test_what_was_flushed_comes_out_at_once():
    decoder = ContentDecoder("gzip")
    stream = zlib.compressobj(wbits=16 + zlib.MAX_WBITS)
    for text in (b"one", b"two"):
        packed = stream.compress(text) + stream.flush(zlib.Z_SYNC_FLUSH)
        assert decoder.feed([packed]) == [text]


@pytest.mark.parametrize("n", [content_coding.PIECE_BYTES + d for d in (-1, 0, 1)])
@pytest.mark.parametrize(("coding", "pack"), PACKED.values(), ids=PACKED)
def test_a_long_body_comes_whole_and_in_pieces(coding: str, pack: Callable[..., bytes], n: int):
    pieces = ContentDecoder(coding).feed([pack(b"\0" * n)])
    assert b"".join(pieces) == b"\0" * n
    assert max(map(len, pieces)) <= 4 * content_coding.PIECE_BYTES


@pytest.mark.parametrize(("coding", "pack"), PACKED.values(), ids=PACKED)
def test_a_bomb_is_refused_before_it_is_unpacked(
    coding: str, pack: Callable[..., bytes], monkeypatch: pytest.MonkeyPatch
):
    bomb = pack(b"\0" * (5 << 20))
    monkeypatch.setattr(content_coding, "MAX_BODY_BYTES", 1 << 20)
    with pytest.raises(ProtocolError, match="body unpacks to over 1 MiB"):
        ContentDecoder(coding).feed([bomb])
    decoder = ContentDecoder(coding)
    with pytest.raises(ProtocolError, match="body unpacks to over 1 MiB"):
        decoder.feed([bomb[at : at + 16] for at in range(0, len(bomb), 16)])


@pytest.mark.parametrize("coding", ["gzip", "deflate", "br"])
def test_a_broken_body_is_told_in_one_sentence(coding: str):
    with pytest.raises(ProtocolError, match=f"^The {coding} body is broken: .*[^.]\\.$"):
        ContentDecoder(coding).feed([b"\xff rubbish, and enough of it to be sure"])


@pytest.mark.parametrize("coding", ["zstd", "compress", "gzip, br"])
def test_a_coding_we_cannot_undo_is_named(coding: str):
    with pytest.raises(ProtocolError, match=f"compressed with {coding}, although identity was"):
        ContentDecoder(coding)
