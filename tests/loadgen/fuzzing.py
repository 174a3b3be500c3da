"""Answers made to break a decoder: golden streams bent, cut and spliced, and JSON of any shape.

What an API's events look like is learned from its golden streams, so a new API is fuzzed as soon
as it has one.  `check_answer`, `check_event` and `check_document` are what must always hold.
"""

import json
import re
from contextlib import suppress
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any, get_args

import numpy as np
import orjson
from exchanges import T0_NS, close_meta, open_meta
from hypothesis import strategies as st

import storage
from loadgen.exchange import ExchangeDecoder
from loadgen.http_body import HttpAnswer
from loadgen.wire.api import Delta, Kind, ServerTimings, UsageCount
from loadgen.wire.framing import ProtocolError, WireEvent
from loadgen.wire.registry import APIS
from storage.records import KINDS, OUTCOMES, RequestRow

STREAMS = Path(__file__).parents[1] / "golden" / "streams"
CLOSE_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
CAUSES = ("done", "eof", "reset", "timeout", "cancelled", "malformed")

TOKENS = [
    *(b"\n", b"\r", b"\r\n", b"\n\n", b"data: ", b"data:", b"event: error\n", b": \n", b"id"),
    *(b"\xef\xbb\xbf", b"\xff", b"\xe2\x80\xa8", b"\x00", rb"\ud800", rb"\u0000", b"[DONE]"),
    *(b"null", b"NaN", b"-Infinity", b"1e999", b"-1", b"9" * 19, b"9" * 5000, b"true", b"{}"),
    *(b"[" * 3000, b'{"error":' * 1200, b'"', b"\\", b"0\r\n\r\n", b"ffffffff\r\n", b"x" * 70_000),
    *(b"HTTP/1.1 200 OK\r\n", b"Content-Length: 5\r\n", b"Content-Encoding: gzip\r\n"),
]
"""Bytes at which decoders have stumbled."""


@cache
def golden(api: str) -> list[bytes]:
    """The API's golden streams; those of every other where it has none."""
    paths = sorted((STREAMS / api).glob("*.http")) or sorted(STREAMS.glob("*/*.http"))
    return [path.read_bytes() for path in paths]


def body_of(stream: bytes) -> bytes:
    """An answer's body without the framing of HTTP."""
    return b"".join(HttpAnswer().feed(stream))


@cache
def events_of(api: str) -> list[WireEvent]:
    """The events of its golden streams."""
    events: list[WireEvent] = []
    for stream in golden(api):
        framing = APIS[api].framing()
        events += [*framing.feed(body_of(stream)), *framing.end()]
    return events


@cache
def documents_of(api: str) -> list[Any]:
    """The JSON of its events, and of its answers in one piece."""
    found = [{}]
    for data in [*(event.data for event in events_of(api)), *map(body_of, golden(api))]:
        try:
            found.append(orjson.loads(data))
        except orjson.JSONDecodeError:
            continue
    return found


@cache
def words_of(api: str) -> list[str]:
    """Keys and short texts of its JSON."""
    text = b"".join(map(body_of, golden(api))).decode("utf-8", "replace")
    return sorted({*re.findall(r'"(\w{1,40})"', text), "error", "message", "code", "detail"})


def _values(words: list[str]) -> st.SearchStrategy[Any]:
    """JSON of any shape out of an API's own words, as a parser may give it."""
    ints = st.sampled_from([0, 1, -1, 7, 2**31, 2**63, 2**64 - 1, 10**30])
    floats = st.sampled_from([0.5, -0.0, 1e308, float("nan"), float("inf")])
    texts = st.sampled_from(["", "A", "日", "\ud800", "\u2028", "\x00", "x" * 3000, *words])
    leaves = st.none() | st.booleans() | ints | floats | texts
    return st.recursive(
        leaves,
        lambda inner: (
            st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(words), inner, max_size=4)
        ),
        max_leaves=8,
    )


@st.composite
def bent_documents(draw: st.DrawFn, api: str) -> Any:
    """An API's own JSON with a few of its values replaced by any others."""
    document = json.loads(json.dumps(draw(st.sampled_from(documents_of(api)))))
    values = _values(words_of(api))
    for _ in range(draw(st.integers(0, 3))):
        places = list(_places(document))
        if not places:
            return draw(values)
        holder, key = draw(st.sampled_from(places))
        holder[key] = draw(values)
    return document


def _places(value: Any) -> Any:
    """(holder, key) of every value inside."""
    if not isinstance(value, dict | list):
        return
    for key, inner in list(value.items() if isinstance(value, dict) else enumerate(value)):
        yield value, key
        yield from _places(inner)


@st.composite
def bent_events(draw: st.DrawFn, api: str) -> WireEvent:
    """One event: the API's own name or another's, JSON of any shape or bytes that are none."""
    names = sorted({event.name for event in events_of(api)} | {"message", "error", "ping", "x"})
    document = draw(bent_documents(api))
    data = json.dumps(document, ensure_ascii=draw(st.booleans())).encode("utf-8", "surrogatepass")
    if draw(st.integers(0, 3)) == 0:
        data = draw(bent_bytes(data, [data]))
    return WireEvent(draw(st.sampled_from(names)), data)


@st.composite
def bent_bytes(draw: st.DrawFn, stream: bytes, others: list[bytes]) -> bytes:
    """A stream with a few bits turned, pieces lost, doubled, or put in from elsewhere."""
    for _ in range(draw(st.integers(1, 5))):
        begin = draw(st.integers(0, len(stream)))
        end = min(len(stream), begin + draw(st.sampled_from([1, 2, 5, 30, 200])))
        before, piece, after = stream[:begin], stream[begin:end], stream[end:]
        match draw(st.sampled_from(["flip", "lose", "double", "token", "splice", "cut"])):
            case "flip" if piece:
                stream = before + bytes([piece[0] ^ (1 << draw(st.integers(0, 7)))]) + piece[1:]
                stream += after
            case "lose":
                stream = before + after
            case "double":
                stream = before + piece * draw(st.sampled_from([2, 3, 50])) + after
            case "token":
                stream = before + draw(st.sampled_from(TOKENS)) + piece + after
            case "splice":
                other = draw(st.sampled_from(others))
                at = draw(st.integers(0, len(other)))
                stream = before + other[at : at + 300] + after
            case _:
                stream = before + piece
    return stream


@st.composite
def bent_streams(draw: st.DrawFn, api: str) -> bytes:
    """An answer: HTTP and all bent, or its body alone, or events of any JSON."""
    streams = golden(api)
    stream = draw(st.sampled_from(streams))
    match draw(st.sampled_from(["http", "body", "events"])):
        case "http":
            return draw(bent_bytes(stream, streams))
        case "body":
            return CLOSE_HEAD + draw(bent_bytes(body_of(stream), streams))
        case _:
            events = draw(st.lists(bent_events(api), max_size=6))
            is_sse = b"data:" in stream
            return CLOSE_HEAD + b"".join(
                b"event: %s\ndata: %s\n\n" % (e.name.encode(), e.data) if is_sse else e.data + b"\n"
                for e in events
            )


def cuts(size: int) -> st.SearchStrategy[list[int]]:
    """Where a stream is cut into reads."""
    return st.lists(st.integers(0, size), max_size=8).map(lambda at: sorted({0, size, *at}))


def reads_of(stream: bytes, places: list[int]) -> list[bytes]:
    return [stream[a:b] for a, b in pairwise(places)]


def decode(api: str, reads: list[bytes], cause: str = "eof") -> tuple[RequestRow, np.ndarray]:
    """The row and the token events; read number i comes at i ms."""
    decoder = ExchangeDecoder(APIS[api], open_meta(api), T0_NS)
    decoder.read_all((T0_NS + (1000 + i) * 1_000_000, 0, 0, data) for i, data in enumerate(reads))
    row = decoder.close(close_meta(cause))
    return row, decoder.take_tokens()


def check_answer(api: str, reads: list[bytes], cause: str = "eof") -> RequestRow:
    """Whatever came: a row with a known outcome that the store can take, tokens in order."""
    row, tokens = decode(api, reads, cause)
    assert row.outcome in OUTCOMES
    assert (row.outcome == "complete") <= (row.detail is None)
    assert row.n_chunks == len(tokens)
    assert tokens["seq"].tolist() == list(range(len(tokens)))
    assert (np.diff(tokens["t_us"]) >= 0).all()
    assert row.bytes_received == sum(map(len, reads))
    check_storable(row)
    return row


@cache
def _columns() -> dict[str, str]:
    schema = (Path(storage.__file__).parent / "schema.sql").read_text()
    table = schema.partition("CREATE TABLE requests (")[2].partition(");")[0]
    return dict(re.findall(r"^ +(\w+) ([A-Z]+)", table, re.MULTILINE))


def check_storable(row: RequestRow) -> None:
    """Every value fits its column, and the row the JSON on its way there."""
    fields = row.to_dict()
    assert orjson.loads(orjson.dumps(fields)) == fields
    limits = {"INTEGER": 2**31, "BIGINT": 2**63}
    for name, value in fields.items():
        limit = limits.get(_columns()[name])
        if limit and value is not None:
            assert type(value) is int, name
            assert -limit <= value < limit, name


def check_event(api: str, event: WireEvent) -> None:
    with suppress(ProtocolError):
        check_deltas(APIS[api].decode(event))


def check_document(api: str, document: dict[str, Any]) -> None:
    with suppress(ProtocolError):
        check_deltas(APIS[api].decode_whole(document))


def check_deltas(deltas: list[Delta]) -> None:
    """Each field is of the type that api.Delta promises."""
    for delta in deltas:
        assert delta.kind in get_args(Kind)
        assert isinstance(delta.text, str)
        assert (delta.kind in KINDS) == bool(delta.text), delta
        assert type(delta.n_tokens) is int
        assert delta.n_tokens >= 0
        assert type(delta.choice) is int
        for said in (delta.finish_reason, delta.response_id, delta.error):
            assert said is None or type(said) is str
        assert (delta.kind == "error") == (delta.error is not None)
        assert delta.error_code is None or type(delta.error_code) in (int, str)
        for counts, kind in ((delta.usage, UsageCount), (delta.timings, ServerTimings)):
            assert counts is None or isinstance(counts, kind)
            assert all(n is None or (type(n) is int and n >= 0) for n in counts or ())
