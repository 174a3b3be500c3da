"""Runs of usual reads taken at once leave what the same reads leave one by one, the oracle."""

from collections.abc import Callable, Sequence
from itertools import takewhile
from typing import Any

import numpy as np
import pytest
from exchanges import (
    DONE,
    END,
    FINISH,
    HEAD,
    MS,
    ROLE,
    SEND_NS,
    T0_NS,
    chunk,
    close_meta,
    content,
    delta,
    open_meta,
    sse,
    usage,
)
from hypothesis import example, given, settings
from hypothesis import strategies as st

from loadgen.exchange import ExchangeDecoder, Read
from loadgen.exchange_runs import MAX_RUN, MIN_RUN, RunDecoder
from loadgen.plain_event import PlainEvent, learn
from loadgen.read_table import ReadTable, read_table
from loadgen.transport.stamps import MAX_DELAY_NS
from loadgen.wire.registry import APIS
from storage.raw_groups import HEADERS, Reads
from storage.raw_record import POLL_UNKNOWN
from storage.records import TOKEN_EVENT

CHAT = APIS["openai_chat"]
A = chunk(content("A"))


def table_of(reads: Sequence[Read], *, after: Sequence[Read] = ()) -> ReadTable:
    """These reads of request 7, and others of request 6 that stand before them in the segment."""
    every = [(6, *read) for read in after] + [(7, *read) for read in reads]
    headers = np.zeros(len(every), HEADERS)
    for header, (request_id, *times_ns, data) in zip(headers, every, strict=True):
        header["request_id"], header["length"] = request_id, len(data)
        header["mono_ns"], header["delay_ns"], header["poll_ns"] = times_ns
    lengths = headers["length"].astype(np.int64)
    whole = b"".join(read[-1] for read in every)
    table = read_table(Reads(whole, headers, np.cumsum(lengths) - lengths), T0_NS)
    return table.part(slice(len(after), None))


def state_of(decoder: ExchangeDecoder) -> dict[str, Any]:
    """All that the clock, the log and the decoder itself remember."""
    clock, log = decoder.seen.clock, decoder._log
    state = {name: getattr(clock, name) for name in clock.__slots__}
    state |= {f"log {name}": getattr(log, name) for name in log.__slots__}
    own = ("_is_between", "_learned_in_vain", "_read_from", "_token_data")
    state |= {name: getattr(decoder, name) for name in own}
    answer = decoder.seen.answer
    return state | {f"answer {name}": getattr(answer, name) for name in answer.__slots__}


def both_ways(*segments: Sequence[Read]) -> RunDecoder:
    """The reads of a stream in some segments, read one by one and in runs."""
    oracle = ExchangeDecoder(CHAT, open_meta(), T0_NS)
    decoder = RunDecoder(CHAT, open_meta(), T0_NS)
    for reads in segments:
        oracle.read_all(reads)
        decoder.read_table(table_of(reads, after=[(SEND_NS + 10**15, 0, 0, b"of another")]))
        assert state_of(decoder) == state_of(oracle)
        rows = np.frombuffer(decoder.take_rows(), TOKEN_EVENT)
        assert rows.tolist() == oracle.take_tokens().tolist()
    assert decoder.close(close_meta("eof")) == oracle.close(close_meta("eof"))
    assert decoder.take_tokens().tolist() == oracle.take_tokens().tolist()
    return decoder


def on_time(payloads: Sequence[bytes], first_ms: int = 1) -> list[Read]:
    """One read each 20 ms, stamped."""
    times_ns = [SEND_NS + (first_ms + 20 * i) * MS for i in range(len(payloads))]
    return [
        (ns + 50_000, 50_000, ns - MS, data) for ns, data in zip(times_ns, payloads, strict=True)
    ]


@pytest.fixture
def one_by_one(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """What a RunDecoder reads one by one."""
    seen: list[bytes] = []
    real = ExchangeDecoder.read_all

    def watched(self: ExchangeDecoder, reads: Any) -> None:
        kept = list(reads)
        if isinstance(self, RunDecoder):
            seen.extend(read[-1] for read in kept)
        real(self, kept)

    monkeypatch.setattr(ExchangeDecoder, "read_all", watched)
    return seen


def test_of_an_ordinary_stream_only_the_first_and_last_reads_are_taken_one_by_one(
    one_by_one: list[bytes],
):
    tokens = [chunk(content(f" {i}")) for i in range(400)]
    end = [chunk(FINISH), chunk(DONE), END]
    decoder = both_ways(on_time([HEAD, chunk(ROLE), *tokens, *end]))
    assert decoder.seen.answer.n_chunks == 400
    first = [HEAD, chunk(ROLE), *tokens[: MIN_RUN - 2]]
    assert one_by_one[:MIN_RUN] == first
    assert len(one_by_one) <= 2 * MIN_RUN, "one short run at each end"


def test_a_segment_that_holds_one_run_is_read_without_a_look_at_each(one_by_one: list[bytes]):
    segments = [on_time([HEAD, A]), on_time([A] * 50, 100), on_time([A] * MAX_RUN, 2000)]
    both_ways(*segments)
    assert one_by_one == [HEAD, A]


OTHER = chunk(content("A").replace(b'"index":0', b'"index":1'))


@pytest.mark.parametrize("poll_before_ms", [-3, 3])
def test_stamps_that_contradict_their_polls_a_little_do_not_end_a_run(
    one_by_one: list[bytes], poll_before_ms: int
):
    reads = [
        (ns, delay_ns, ns - delay_ns - poll_before_ms * MS, A)
        for ns, delay_ns, _, _ in on_time([A] * 40, 41)
    ]
    both_ways(on_time([HEAD, A]), reads)
    assert one_by_one == [HEAD, A]


def test_a_read_without_a_stamp_ends_a_run_but_not_those_around_it(one_by_one: list[bytes]):
    reads = on_time([A] * 60, 41)
    ns, _, poll_ns, data = reads[30]
    reads[30] = (ns, -1, poll_ns, data)
    both_ways(on_time([HEAD, A]), reads)
    assert one_by_one == [HEAD, A] + [A] * MIN_RUN


SURPRISES: dict[str, Callable[[int], Read]] = {
    "no stamp": lambda ns: (ns, -1, ns - 9 * MS, A),
    "neither stamp nor poll": lambda ns: (ns, -1, POLL_UNKNOWN, A),
    "a stamp too old to be true": lambda ns: (ns + 2 * MAX_DELAY_NS, MAX_DELAY_NS, 0, A),
    "a stamp before the read before": lambda ns: (ns, 30 * MS, ns - 40 * MS, A),
    "a stamp before its poll": lambda ns: (ns, 10 * MS, ns - 5 * MS, A),
    "a stamp long before its poll": lambda ns: (ns + 900 * MS, 150 * MS, ns + 895 * MS, A),
    "a busy poll": lambda ns: (ns, 10 * MS, 15 * MS - ns, A),
    "no poll": lambda ns: (ns, 10 * MS, POLL_UNKNOWN, A),
    "a late read": lambda ns: (ns, 10 * MS, ns - 15 * MS, A),
    "a clock that went back": lambda ns: (ns - 70 * MS, 0, 0, A),
    "a pause longer than a gap can tell": lambda ns: (ns + 3 * 10**12, 0, ns, A),
    "two events": lambda ns: (ns, 0, ns - MS, A + A),
    "half an event": lambda ns: (ns, 0, ns - MS, A[:50]),
    "nothing": lambda ns: (ns, 0, ns - MS, b""),
    "another choice": lambda ns: (ns, 0, ns - MS, OTHER),
}


@pytest.mark.parametrize("at", [0, 1, MIN_RUN, 30, 39])
@pytest.mark.parametrize("surprise", SURPRISES.values(), ids=SURPRISES)
def test_a_read_that_is_not_ordinary_leaves_what_it_leaves_one_by_one(
    surprise: Callable[[int], Read], at: int
):
    reads = on_time([A] * 40, 41)
    reads[at] = surprise(reads[at][0])
    both_ways(on_time([HEAD, A]), reads, on_time([A] * 20, 5000))


def test_runs_of_two_choices_have_the_gaps_of_their_own_events():
    runs = [A] * 20 + [OTHER] * 20
    decoder = both_ways(on_time([HEAD, A, OTHER, *runs, *runs, *[A, OTHER] * 20]))
    assert decoder.seen.answer.n_choices == 2


def test_the_first_run_of_a_choice_has_a_first_gap_of_its_own():
    """A choice whose first event was learned has one; only the log can be asked for another."""
    log = RunDecoder(CHAT, open_meta(), T0_NS)._log
    log.append_run(table_of(on_time([A] * 3)).rows, 2)
    rows = np.frombuffer(log.take(), TOKEN_EVENT)
    assert rows["gap_us"].tolist() == [-1, 20_000, 20_000]
    assert rows["kind"].tolist() == [2, 2, 2]


def test_an_event_that_the_streams_end_completes_shares_the_last_read_of_a_run():
    both_ways(on_time([HEAD, A, *[A] * 20, A + chunk(content("B").rstrip())]))
    both_ways(on_time([HEAD, A, *[A] * 20]))


def test_a_token_told_without_text_goes_to_no_event_of_a_run():
    told = sse({"choices": [{"index": 0, "delta": {}, "logprobs": {"content": [{}]}}]})
    last = sse({"choices": [{"delta": {"content": "B"}, "logprobs": {"content": [{}]}}]})
    counted = content("A", usage=usage(40))
    both_ways(on_time([HEAD, A, A, chunk(told), *[A] * 20, chunk(last), *[A] * 9, chunk(counted)]))


def learned(event: bytes) -> PlainEvent:
    (wire,) = CHAT.framing().feed(event)
    (meant,) = CHAT.decode(wire)
    plain = learn(chunk(event), event, meant, CHAT)
    assert plain is not None
    return plain


PLAIN = learned(content("one"))
TEXTS = st.one_of(
    st.sampled_from(["A", " the", "\\n", "\\u00e9", "日本", "x" * 300]),  # JSON strings
    st.sampled_from(["", "\n", "a\nb", '"', "\\", "\\x", "\x00", '","content":"', "x" * 9000]),
    st.text(max_size=3),
)


def plain_read(text: str) -> bytes:
    return chunk(content("one").replace(b'"one"', b'"%s"' % text.encode("utf-8", "replace")))


def odd_read(cut: int, read: bytes) -> bytes:
    """A half of a read, or one that has another byte or end."""
    way, cut = cut % 3, cut // 3 % len(read)
    return read[:cut] + (b"", b"\n" + read[cut + 1 :], b"x" * (len(read) - cut))[way]


READS = st.one_of(
    TEXTS.map(plain_read),
    st.just(
        plain_read("A" * 40).partition(b"A")[0] + b"x" * (40 + len(PLAIN._after))
    ),  # the same length, and no quote after the text
    st.sampled_from([chunk(FINISH), chunk(DONE), END, b"", A + A, chunk(delta({"content": None}))]),
    st.builds(odd_read, st.integers(0, 1500), TEXTS.map(plain_read)),
)


@example([plain_read(""), chunk(FINISH)], 1)
@settings(max_examples=300)
@given(st.lists(READS, max_size=12), st.integers(0, 12))
def test_a_run_is_as_long_as_its_reads_match_one_by_one(others: list[bytes], at: int):
    reads = [plain_read("A")] * 10
    reads[at:at] = others
    expected = sum(1 for _ in takewhile(PLAIN.matches, reads))
    assert PLAIN.count(reads) == expected


def test_texts_of_more_lengths_than_are_remembered_match_all_the_same():
    reads = [plain_read("x" * n) for n in range(1, 1000)]
    assert PLAIN.count(reads) == len(reads)


@pytest.mark.parametrize("n_bytes", [0, 1, 4, 5, 262])
def test_no_read_begins_with_the_size_line_of_a_length_that_no_chunk_has(n_bytes: int):
    """262: 0xff bytes make a read of 261, 0x100 one of 263."""
    around = len(plain_read("A").partition(b"\n")[2]) - 1
    read = b"\n" + plain_read("A" * max(0, n_bytes - around - 1)).partition(b"\n")[2]
    assert n_bytes != 262 or len(read) == n_bytes
    assert not PLAIN.matches(read)
    assert PLAIN.count([read] * 9) == 0


STEP_NS = st.one_of(st.just(20 * MS), st.integers(-5 * MS, 50 * MS))
DELAY_NS = st.one_of(st.integers(0, 5 * MS), st.sampled_from([-1, 0, 30 * MS, 200 * MS, 10**11]))
SINCE_NS = st.one_of(st.integers(-1000, 20 * MS), st.just(10**20))
ODD = st.tuples(STEP_NS, DELAY_NS, SINCE_NS, st.booleans(), READS)
USUAL = st.tuples(st.just(20 * MS), st.just(50_000), st.just(MS), st.booleans(), st.just(A))
SEGMENT = st.lists(
    st.one_of(st.tuples(st.integers(1, 30), USUAL), st.tuples(st.integers(1, 3), ODD)), max_size=8
)


def reads_of(steps: list[Any], ns: int) -> list[Read]:
    """poll_ns: so long before the arrival, negative if busy; 10**20: unknown."""
    reads: list[Read] = []
    for times, (step_ns, delay_ns, since_ns, is_busy, data) in steps:
        for _ in range(times):
            ns += step_ns
            poll_ns = ns - max(delay_ns, 0) - since_ns
            poll_ns = POLL_UNKNOWN if since_ns == 10**20 else -poll_ns if is_busy else poll_ns
            reads.append((ns, delay_ns, poll_ns, data))
    return reads


@settings(max_examples=200, deadline=None)
@given(st.lists(SEGMENT, min_size=1, max_size=3))
def test_any_reads_at_any_times_leave_the_same_in_runs_as_one_by_one(segments: list[Any]):
    parts, ns = [on_time([HEAD, A])], SEND_NS + 30 * MS
    for steps in segments:
        parts.append(reads_of(steps, ns))
        ns = parts[-1][-1][0] if parts[-1] else ns
    both_ways(*parts)
