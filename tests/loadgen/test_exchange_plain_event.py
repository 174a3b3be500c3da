"""The usual read recognised by its bytes means what parsing it means; parsing is the oracle."""

import json
import random

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
    usage_event,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from loadgen.exchange import ExchangeDecoder
from loadgen.plain_event import PlainEvent, learn
from loadgen.wire.registry import APIS

CHAT = APIS["openai_chat"]
TEXTS = [
    "A",
    " the",
    "\n",
    '"',
    "日本",
    "\\",
    "\u2028",
    "",
    "a\tb",
    "\U0001f600",
    "x" * 300,
    "\x00",
]


def learned(event: bytes, read: bytes | None = None) -> PlainEvent | None:
    framing = CHAT.framing()
    (wire,) = framing.feed(event)
    (meant,) = CHAT.decode(wire)
    return learn(chunk(event) if read is None else read, event, meant, CHAT)


def both_ways(reads: list[bytes]) -> ExchangeDecoder:
    decoders = [ExchangeDecoder(CHAT, open_meta(), T0_NS, is_learning=way) for way in (True, False)]
    results: list[object] = []
    for decoder in decoders:
        for i, data in enumerate(reads):
            delay_ns = (-1, 1000, 3 * MS)[i % 3]  # not told, on time, late
            decoder.read(SEND_NS + 9 * i * MS, delay_ns, SEND_NS + 9 * i * MS - 5 * MS, data)
        tokens = decoder.take_tokens()
        results.append((decoder.close(close_meta("eof")), tokens.tolist()))
        results.append(decoder.take_tokens().tolist())
    assert results[:2] == results[2:]
    return decoders[0]


@pytest.mark.parametrize("text", ["A", " longer", "日本", "a\\nb", 'say \\"hi\\"', "\\u00e9", "}"])
def test_a_learned_event_matches_with_any_other_text(text: str):
    plain = learned(content("one"))
    assert plain is not None
    event = content("one").replace(b'"one"', b'"' + text.encode() + b'"')
    assert plain.matches(chunk(event))
    assert (plain.kind_number, plain.choice) == (0, 0)


@pytest.mark.parametrize(
    "other",
    [
        content(""),
        content("A", usage=usage(1)),
        delta({"content": "A"}, "stop"),
        delta({"reasoning": "A"}),
        delta({"content": None}),
        content("A").replace(b"own-1", b"own-2"),
        content("A") + content("B"),
        content("A").replace(b'"A"', b'"A","content":"B"'),
        content("A").replace(b'"A"', b'"A\\x"'),
        content("A").replace(b'"A"', b'"A\\"'),
        content("A").replace(b'"A"', b'"A\nB"'),
        content("A").replace(b"\n\n", b"\r\n\r\n"),
        content("x" * 9000),
        DONE,
        ROLE,
    ],
)
def test_a_learned_event_matches_nothing_else(other: bytes):
    plain = learned(content("one"))
    assert plain is not None
    assert not plain.matches(chunk(other))


def test_only_a_read_of_one_whole_chunk_matches():
    plain = learned(content("one"))
    assert plain is not None
    whole = chunk(content("A"))
    reads = [whole[:-1], whole[1:], whole + whole, content("A"), b"0" + whole, whole + END, b""]
    assert not any(plain.matches(read) for read in reads)
    assert not plain.matches(whole.replace(b"\r\n", b";x\r\n", 1))


def test_size_lines_in_upper_case_are_learned_too():
    event = content("A" * 32)
    line, rest = chunk(event).split(b"\r\n", 1)
    upper = line.upper() + b"\r\n" + rest
    assert upper != chunk(event), "this length must have a letter in it"
    plain = learned(event, upper)
    assert plain is not None
    assert plain.matches(upper)
    assert not plain.matches(chunk(event))


@pytest.mark.parametrize(
    "event",
    [
        ROLE,
        FINISH,
        content("A", usage=usage(1)),
        delta({"content": "A"}, "stop"),
        sse({"choices": [{"delta": {"content": "A"}, "logprobs": {"content": [{}]}}]}),
        delta({"tool_calls": [{"function": {"name": "f", "arguments": "{"}}]}),
    ],
)
def test_an_event_that_says_more_than_one_text_is_not_learned(event: bytes):
    plain = learned(event)
    assert plain is None or not plain.matches(chunk(event.replace(b'"{"', b'"1}"')))


def test_a_text_that_also_stands_elsewhere_is_learned_at_its_place():
    event = sse({"id": "chat", "object": "abcd", "choices": [{"delta": {"content": "abcd"}}]})
    plain = learned(event)
    assert plain is not None
    assert plain.matches(chunk(event.replace(b'{"content":"abcd"}', b'{"content":"x"}')))
    assert not plain.matches(chunk(event.replace(b'"object":"abcd"', b'"object":"x"')))


def test_an_ordinary_stream_is_parsed_only_at_its_ends(monkeypatch: pytest.MonkeyPatch):
    body = [ROLE, *(content(f" {i}") for i in range(50)), FINISH, usage_event(50), DONE]
    reads = [HEAD, *map(chunk, body), END]
    assert both_ways(reads).seen.answer.n_chunks == 50
    parsed: list[bytes] = []
    real = ExchangeDecoder._parse
    monkeypatch.setattr(
        ExchangeDecoder, "_parse", lambda self, data: parsed.append(data) or real(self, data)
    )
    decoder = ExchangeDecoder(CHAT, open_meta(), T0_NS)
    decoder.read_all((SEND_NS, 0, 0, data) for data in reads)
    assert len(parsed) == 7, "head, role, first token, finish, usage, done, end"


def test_a_read_of_several_usual_chunks_is_several_tokens_of_one_arrival():
    event = chunk(content("A"))
    decoder = both_ways([HEAD, event, event * 3 + chunk(FINISH), event * 2, event + event[:40]])
    assert decoder.seen.answer.n_chunks == 7


def test_skipping_counts_the_usual_chunks_at_the_front():
    plain = learned(content("one"))
    assert plain is not None
    event, other = chunk(content("A")), chunk(FINISH)
    assert plain.skip(event + event) == (2, b"")
    assert plain.skip(event + other + event) == (1, other + event)
    assert plain.skip(event + event[:-1]) == (1, event[:-1])
    assert plain.skip(other) == (0, other)


def test_a_stream_whose_events_all_differ_is_decoded_all_the_same():
    body = [sse({"id": str(i), "choices": [{"delta": {"content": "A"}}]}) for i in range(20)]
    assert both_ways([HEAD, *map(chunk, body)]).seen.answer.n_chunks == 20


def test_exact_counts_before_and_after_a_plain_event_are_not_mixed_up():
    told = sse({"choices": [{"index": 0, "delta": {}, "logprobs": {"content": [{}]}}]})
    last = sse({"choices": [{"delta": {"content": "B"}, "logprobs": {"content": [{}]}}]})
    body = [content("A"), content("A"), told, content("A"), last, content("A", usage=usage(9))]
    both_ways([HEAD, *map(chunk, body)])


def event_for(kind: int, text: str) -> bytes:
    makers = [
        lambda: content(text),
        lambda: content(text),
        lambda: content(text),
        lambda: delta({"reasoning": text}),
        lambda: content(text, usage=usage(len(text))),
        lambda: sse({"choices": [{"index": 1, "delta": {"content": text}}]}),
        lambda: (
            b"data: " + json.dumps({"choices": [{"delta": {"content": text}}]}).encode() + b"\n\n"
        ),
        lambda: sse({"choices": [{"delta": {"content": text}, "token_ids": [1, 2]}]}),
        lambda: sse({"choices": [{"delta": {}, "token_ids": [1]}]}),
        lambda: b": ping\n\n",
        lambda: b"data: {broken\n\n",
        lambda: ROLE,
        lambda: content(text).replace(b"\n", b"\r\n"),
    ]
    return makers[kind % len(makers)]()


@settings(max_examples=60)
@given(
    st.lists(st.tuples(st.integers(0, 12), st.sampled_from(TEXTS)), max_size=25),
    st.integers(0, 2**32),
)
def test_any_stream_in_any_reads_means_the_same_recognised_or_parsed(
    events: list[tuple[int, str]], seed: int
):
    rng = random.Random(seed)
    reads: list[bytes] = [HEAD]
    for kind, text in events:
        whole = chunk(event_for(kind, text))
        cut = rng.choice([0, 0, 0, 0, rng.randrange(len(whole)), len(whole)])
        if rng.random() < 0.3:
            reads[-1] += whole[:cut]
        elif cut:
            reads.append(whole[:cut])
        reads.append(whole[cut:])
    both_ways([*reads, chunk(FINISH), END])
