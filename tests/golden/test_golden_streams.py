"""Every stream in streams/API/ decodes to its .json: whole, byte by byte, and cut at each place.

A .http file holds the raw bytes of one answer (our own, in the shapes that servers send).  A new
API gets these tests by adding files to a folder of its name.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from loadgen.exchange import ExchangeDecoder
from loadgen.wire.registry import APIS
from storage.records import KINDS, RequestRow

STREAMS = Path(__file__).parent / "streams"
FILES = sorted(STREAMS.glob("*/*.http"))
META = {"request_id": 1, "x_request_id": "x-1", "worker": 0, "stage": 0, "phase": "measure"}
META |= {"due_ns": None, "dispatched_ns": 0, "send_ns": 0}
CLOSE = {"end_ns": 10**9, "cause": "eof", "detail": None}
SHORT_BYTES = 600
DIFFERS_BY_READS = ("_us", "n_shared")

Tokens = list[tuple[str, int, int]]
"""Kind, tokens, and µs: read number i comes at i µs."""


def decode(api: str, reads: list[bytes]) -> tuple[dict[str, Any], Tokens]:
    decoder = ExchangeDecoder(APIS[api], {**META, "api": api}, 0)
    decoder.read_all((i * 1000, 0, 0, data) for i, data in enumerate(reads) if data)
    row = decoder.close(CLOSE)
    tokens = decoder.take_tokens()
    kinds = [KINDS[k] for k in tokens["kind"]]
    events = zip(kinds, tokens["n_tokens"].tolist(), tokens["t_us"].tolist(), strict=True)
    return meaning(row), list(events)


def meaning(row: RequestRow) -> dict[str, Any]:
    """The row without what depends on how the bytes were cut into reads."""
    asked = {*META, "api"}
    items = row.to_dict().items()
    return {k: v for k, v in items if not k.endswith(DIFFERS_BY_READS) and k not in asked}


def expected(path: Path) -> tuple[dict[str, Any], Tokens]:
    golden = json.loads(path.with_suffix(".json").read_text())
    return golden["row"], [tuple(token) for token in golden["tokens"]]


def places(stream: bytes) -> list[int]:
    """Where to cut: everywhere in a short stream, else at each line's end and here and there.

    (Byte by byte has cut it everywhere.)
    """
    near_ends = {at + d for at, byte in enumerate(stream) if byte in b"\r\n" for d in (0, 1)}
    every = 1 if len(stream) < SHORT_BYTES else 13
    return sorted(near_ends & set(range(1, len(stream))) | set(range(1, len(stream), every)))


@pytest.mark.parametrize("path", FILES, ids=lambda p: f"{p.parent.name}/{p.stem}")
class TestGoldenStream:
    def test_byte_by_byte_each_event_arrives_with_its_last_byte(self, path: Path, is_refreshing):
        stream = path.read_bytes()
        row, tokens = decode(path.parent.name, [bytes([byte]) for byte in stream])
        if is_refreshing:
            lines = ",\n  ".join(json.dumps(token) for token in tokens)
            golden = f'{{"row": {json.dumps(row, indent=1)},\n "tokens": [\n  {lines}\n ]}}\n'
            path.with_suffix(".json").write_text(golden)
        assert (row, tokens) == expected(path)

    def test_whole(self, path: Path):
        row, tokens = decode(path.parent.name, [path.read_bytes()])
        golden_row, golden_tokens = expected(path)
        assert row == golden_row
        assert tokens == [(kind, n, 0) for kind, n, _ in golden_tokens]

    def test_cut_in_two_at_each_place(self, path: Path):
        stream = path.read_bytes()
        golden_row, golden_tokens = expected(path)
        for cut in places(stream):
            row, tokens = decode(path.parent.name, [stream[:cut], stream[cut:]])
            assert row == golden_row
            # A token whose last byte is byte number `at` comes with the first read if at < cut.
            assert tokens == [(kind, n, int(at >= cut)) for kind, n, at in golden_tokens]


def test_every_api_has_golden_streams():
    assert {path.parent.name for path in FILES} == set(APIS)
