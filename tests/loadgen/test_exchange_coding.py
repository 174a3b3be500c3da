"""Compressed answers: decoded and flagged, whole or as a stream, however their bytes are cut."""

import gzip
import zlib
from itertools import pairwise

import brotli
import pytest
from exchanges import (
    DONE,
    END,
    FINISH,
    MS,
    ROLE,
    SEND_NS,
    T0_NS,
    chunk,
    close_meta,
    content,
    decode_reads,
    open_meta,
    usage_event,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from loadgen.exchange import ExchangeDecoder
from loadgen.wire.registry import APIS
from storage.records import RequestRow

STREAM = ROLE + b"".join(content(f" {i}") for i in range(9)) + FINISH + usage_event(9) + DONE
CODINGS = {"gzip": gzip.compress, "deflate": zlib.compress, "br": brotli.compress}


def head(coding: str, status: str = "200 OK", kind: str = "text/event-stream") -> bytes:
    lines = [f"HTTP/1.1 {status}", f"Content-Type: {kind}", f"Content-Encoding: {coding}"]
    return "\r\n".join([*lines, "Transfer-Encoding: chunked", "", ""]).encode()


def decode(reads: list[bytes], cause: str = "done") -> tuple[RequestRow, int]:
    decoder = ExchangeDecoder(APIS["openai_chat"], open_meta(), T0_NS)
    for data in reads:
        decoder.read(SEND_NS + 9 * MS, 0, SEND_NS, data)
    row = decoder.close(close_meta(cause))
    return row, len(decoder.take_tokens())


@pytest.mark.parametrize("coding", CODINGS)
@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(1, 400), max_size=6))
def test_any_cut_of_a_compressed_stream_gives_the_same_events(coding: str, cuts: list[int]):
    wire = head(coding) + chunk(CODINGS[coding](STREAM)) + END
    at = [0, *sorted(min(cut, len(wire)) for cut in cuts), len(wire)]
    row, n_tokens = decode([wire[i:j] for i, j in pairwise(at)])
    assert (row.outcome, row.coding, row.form, n_tokens) == ("complete", coding, "stream", 9)
    assert (row.output_tokens, row.n_chunks, row.bytes_received) == (9, 9, len(wire))
    assert row.other_events == {"role": 1, "finish": 1, "usage": 1, "done": 1}


def test_an_event_that_was_flushed_arrives_with_its_own_read():
    packing = zlib.compressobj(wbits=31)
    events = [content("A"), content("B"), FINISH + DONE]
    packed = [packing.compress(e) + packing.flush(zlib.Z_SYNC_FLUSH) for e in events]
    got = decode_reads(
        [(1, head("gzip")), *((10 * (i + 1), chunk(p)) for i, p in enumerate(packed))],
        cause="eof",
    )
    assert got.ms == [10, 20]
    assert (got.row.outcome, got.row.coding) == ("complete", "gzip")


def test_an_answer_that_is_not_compressed_has_no_coding():
    assert decode([head("identity") + chunk(STREAM) + END])[0].coding is None


def test_a_compressed_document_is_unpacked():
    body = gzip.compress(b'{"choices":[{"message":{"content":"A"},"finish_reason":"stop"}]}')
    row, _ = decode([head("gzip", kind="application/json") + chunk(body) + END])
    assert (row.outcome, row.form, row.coding) == ("complete", "whole", "gzip")


def test_a_compressed_refusal_is_quoted():
    body = gzip.compress(b'{"error":{"message":"no such model"}}')
    row, _ = decode([head("gzip", "404 Not Found", "application/json") + chunk(body) + END])
    assert (row.outcome, row.detail) == ("http_error", "no such model")


def test_a_broken_compressed_body_is_malformed_and_keeps_the_tokens_before():
    packing = zlib.compressobj(wbits=31)
    good = packing.compress(content("A")) + packing.flush(zlib.Z_SYNC_FLUSH)
    row, n_tokens = decode([head("gzip"), chunk(good), chunk(b"\xff" * 99), END])
    assert (row.outcome, n_tokens) == ("malformed", 1)
    assert str(row.detail).startswith("The gzip body is broken: ")


def test_a_compressed_stream_that_was_cut_off_is_truncated():
    half = gzip.compress(STREAM, 0)[: len(STREAM) // 2]
    row, n_tokens = decode([head("gzip") + chunk(half)], cause="eof")
    assert row.outcome == "truncated"
    assert n_tokens > 0


def test_a_coding_that_we_cannot_undo_is_malformed_and_named():
    row, _ = decode([head("zstd") + chunk(b"(\xb5/\xfd" * 9) + END])
    assert (row.outcome, row.coding) == ("malformed", "zstd")
    assert row.detail == "The body is compressed with zstd, although identity was asked for."
