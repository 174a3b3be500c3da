"""A stream means the same however it was cut, framed by HTTP, or mixed with others."""

import random
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from exchanges import END, SEND_NS, T0_NS, chunk, close_meta, open_meta
from fuzzing import body_of, decode, golden, reads_of
from hypothesis import given, settings
from hypothesis import strategies as st

from loadgen.http_body import HttpAnswer
from loadgen.live_line import Decoded
from loadgen.segment_decoder import SegmentDecoder
from loadgen.wire.registry import APIS
from storage.raw_spool import RawWriter, raw_segments

STREAMS = [(api, stream) for api in APIS for stream in golden(api)]
BY_READS = ("n_shared", "n_missing_stamps", "bytes_received")


def meaning(api: str, reads: list[bytes]) -> tuple[dict[str, Any], list[tuple[int, int]]]:
    """The row without times and what depends on the reads; kind and count of each token event."""
    row, tokens = decode(api, reads)
    events = list(zip(tokens["kind"].tolist(), tokens["n_tokens"].tolist(), strict=True))
    return timeless(row.to_dict()), events


def timeless(row: dict[str, Any]) -> dict[str, Any]:
    return {k: v for k, v in row.items() if not k.endswith("_us") and k not in BY_READS}


def pieces(stream: bytes, sizes: list[int]) -> list[bytes]:
    """The stream in pieces of these sizes, which are used again and again."""
    places, at = [0], 0
    for i in range(len(stream)):
        at += sizes[i % len(sizes)]
        if at >= len(stream):
            break
        places.append(at)
    return [stream[a:b] for a, b in pairwise([*places, len(stream)])]


SIZES = st.lists(st.integers(1, 400), min_size=1, max_size=5)


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(STREAMS), SIZES)
def test_any_cut_gives_the_same_row_and_tokens(case: tuple[str, bytes], sizes: list[int]):
    api, stream = case
    assert meaning(api, pieces(stream, sizes)) == meaning(api, [stream])


def whole_head(stream: bytes, *headers: bytes) -> bytes:
    """The stream's own status line and type, with other headers about its length."""
    answer = HttpAnswer()
    answer.feed(stream)
    lines = [b"HTTP/1.1 %d %s" % (answer.status or 0, answer.reason.encode())]
    told = {
        k: v for k, v in answer.headers.items() if k not in ("content-length", "transfer-encoding")
    }
    lines += [f"{name}: {value}".encode() for name, value in told.items()]
    return b"\r\n".join([*lines, *headers, b"", b""])


def framed(stream: bytes, sizes: list[int]) -> dict[str, bytes]:
    """One answer in each of HTTP's ways to end a body."""
    body = body_of(stream)
    chunks = b"".join(map(chunk, pieces(body, sizes))) if body else b""
    extended = chunks.replace(b"\r\n", b";name=value\r\n", 1) if chunks else b""
    coded = whole_head(stream, b"Transfer-Encoding: chunked")
    return {
        "chunked": coded + chunks + END,
        "chunked, extensions and a trailer": coded + extended + b"0\r\nA: b\r\n\r\n",
        "length": whole_head(stream, b"Content-Length: %d" % len(body)) + body,
        "until close": whole_head(stream) + body,
    }


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(STREAMS), SIZES, SIZES)
def test_any_framing_of_the_body_gives_the_same(
    case: tuple[str, bytes], chunk_sizes: list[int], read_sizes: list[int]
):
    api, stream = case
    if not is_ended(stream):
        return  # cut off: without its length nobody would know
    ways = framed(stream, chunk_sizes)
    expected = meaning(api, [ways["chunked"]])
    for way, answer in ways.items():
        assert meaning(api, pieces(answer, read_sizes)) == expected, way


def is_ended(stream: bytes) -> bool:
    answer = HttpAnswer()
    answer.feed(stream)
    return answer.complete or answer.ends_at_close


def decoded_segments(
    folder: Path, streams: list[tuple[str, list[bytes]]], seed: int
) -> list[Decoded]:
    """The streams' reads one of each in any order, in spool files of a few reads."""
    rng = random.Random(seed)
    writer = RawWriter(folder, 0, capacity_bytes=1 << 14)
    left = {k: list(enumerate(reads)) for k, (_, reads) in enumerate(streams)}
    for k, (api, _) in enumerate(streams):
        writer.open(k, open_meta(api, request_id=k), SEND_NS)
    while left:
        k = rng.choice(list(left))
        if not left[k]:
            del left[k]
            writer.close(k, close_meta("eof"), SEND_NS)
            continue
        i, data = left[k].pop(0)
        writer.read(k, T0_NS + (1000 + i) * 1_000_000, 0, 0, data)
    writer.seal()
    decoder = SegmentDecoder(T0_NS)
    return [decoder.decode(segment.seq, segment.path) for segment in raw_segments(folder, 0)]


@settings(max_examples=15, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(STREAMS), SIZES), min_size=2, max_size=5), st.integers(0))
def test_any_interleaving_of_requests_gives_each_its_own(
    tmp_path_factory: pytest.TempPathFactory, cases: list[Any], seed: int
):
    streams = [(api, pieces(stream, sizes)) for (api, stream), sizes in cases]
    found = decoded_segments(tmp_path_factory.mktemp("spool"), streams, seed)
    rows = {row.request_id: row for part in found for row in part.rows}
    assert sorted(rows) == list(range(len(streams)))
    for k, (api, reads) in enumerate(streams):
        row, tokens = decode(api, reads)
        assert rows[k].to_dict() | {"request_id": 7} == row.to_dict()
        mine = [t for part in found for t in part.tokens.tolist() if t[0] == k]
        assert [t[1:] for t in mine] == [t[1:] for t in tokens.tolist()]


def test_pieces_are_the_stream_again():
    assert b"".join(pieces(b"abcdefgh", [3, 1])) == b"abcdefgh"
    assert reads_of(b"abc", [0, 1, 3]) == [b"a", b"bc"]
