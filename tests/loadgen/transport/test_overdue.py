"""When we end an answer ourselves: pure, with the clock as a number."""

import re

import pytest
from scripted_server import chunk

from loadgen.transport.answer import TAIL_BYTES, Answer
from loadgen.transport.call import DONE_LINE, Call, Timeouts
from loadgen.transport.overdue import MAX_ANSWER_BYTES, overdue

S = 1_000_000_000
LIMITS = Timeouts(connect_s=1, silence_s=5, total_s=60)


def answer(tail=b"", last_ns=0, done_line=DONE_LINE):
    made = Answer(Call(1, b"", {}, done_line), print)
    come(made, tail, last_ns)
    return made


def come(to, data, at_ns):
    """One read, as stream.py notes it."""
    to.last_ns = at_ns
    to.n_bytes += len(data)
    to.tail = data if len(data) >= TAIL_BYTES else to.tail[-TAIL_BYTES:] + data


def sweep(pieces, every_ns=S // 10, limits=None):
    """(how it ended, when) of an answer of which a piece comes just before each sweep."""
    made = answer()
    for k, data in enumerate(pieces):
        come(made, data, k * every_ns)
        if ended := overdue(made, limits or LIMITS, k * every_ns + 1):
            return ended, k * every_ns
    return None, len(pieces) * every_ns


def test_silence_ends_an_answer_and_names_the_limit():
    assert overdue(answer(), LIMITS, 5 * S - 1) is None
    assert overdue(answer(), LIMITS, 5 * S) == (
        "timeout",
        "no byte came for 5 s (limits.silence_s)",
    )


def test_an_answer_that_would_fill_the_disk_is_ended():
    flooded = answer()
    come(flooded, b'data: {"x":1}\n\n', 1)
    flooded.n_bytes = MAX_ANSWER_BYTES
    assert overdue(flooded, LIMITS, 2) is None
    flooded.n_bytes += 1
    assert overdue(flooded, LIMITS, 3) == ("malformed", "the answer is longer than 512 MiB")


KEEP_ALIVES = {
    "comments": b": ping\n\n",
    "comments in chunks": chunk(b": OPENROUTER PROCESSING\r\n\r\n"),
    "bare comments": b":\n",
    "blank lines": b"\r\n",
    "blank lines in chunks": b"1;ext=1\r\n\n\r\n",
    "a long comment": b": " + b"x" * 500 + b"\n",
    "the pieces of a comment that never ends": b"x",
}
EVENTS = {
    "a token": b'data: {"x":1}\n\n',
    "tokens in chunks": chunk(b'data: {"x":1}\n\n'),
    "a token and a comment": b"data: 1\n\n: ping\n\n",
    "a comment and half a token": b": ping\n\ndata: {",
    "a named ping": b"event: ping\n\n",
    "long tokens": b"data: " + b"x" * 500 + b"\n\n",
    "a line of JSON": b'{"done":false}\n',
}


@pytest.mark.parametrize("data", KEEP_ALIVES.values(), ids=KEEP_ALIVES)
@pytest.mark.parametrize("first", [b"", b"HTTP/1.1 200 OK\r\n\r\n:", b"data: 1\n\n:"])
def test_keep_alives_do_not_break_the_silence_and_the_limit_says_what_came(data, first):
    if not first and data == b"x":
        first = b":"
    ended, at_ns = sweep([first] + [data] * 600)
    assert ended == ("timeout", "only keep-alive comments came for 5 s (limits.silence_s)")
    assert at_ns <= 5.2 * S


@pytest.mark.parametrize("data", EVENTS.values(), ids=EVENTS)
def test_whatever_else_comes_breaks_the_silence_but_not_the_total_limit(data):
    ended, at_ns = sweep([data] * 700)
    assert ended == ("timeout", "not finished 60 s after the send (limits.request_s)")
    assert at_ns == 60 * S


@pytest.mark.parametrize("size", [1, 3, 7])
@pytest.mark.parametrize("data", [EVENTS["tokens in chunks"], EVENTS["a line of JSON"]])
def test_a_stream_that_trickles_is_not_silent(data, size):
    raw = data * 100
    pieces = [raw[k : k + size] for k in range(0, len(raw), size)]
    ended, _ = sweep(pieces, limits=Timeouts(1, silence_s=2.5, total_s=1000))
    assert ended is None


def test_a_comment_behind_more_than_the_tail_holds_is_not_known_to_be_all():
    made = answer(b"HTTP/1.1 200 OK\r\n\r\n", last_ns=S)
    assert overdue(made, LIMITS, S + 1) is None
    come(made, b"data: " + b"x" * 100 + b"\n\n", 4 * S)
    come(made, b": " + b"x" * 100 + b"\n", 4 * S)
    assert overdue(made, LIMITS, 7 * S) is None
    assert made.heard_ns == 4 * S


@pytest.mark.parametrize(
    "tail",
    [
        b"data: x\n\ndata: [DONE]\n\n",
        b"\r\ndata:[DONE]\r\n\r\n",
        b"x" * 500 + b"\ndata: [DONE]\n\n\r\n",
        b"e\r\ndata: [DONE]\n\n\r\n",
    ],
)
def test_a_second_after_the_done_line_the_answer_is_done(tail):
    given = answer(tail, last_ns=S)
    assert overdue(given, LIMITS, S + S // 2) is None
    assert overdue(given, LIMITS, 2 * S) == ("done", None)


def test_a_comment_after_the_done_line_does_not_keep_the_answer_open():
    given = answer(b"\ndata: [DONE]\n\n", last_ns=S)
    assert overdue(given, LIMITS, S + S // 5) is None
    come(given, b": ping\n\n", S + S // 4)
    assert overdue(given, LIMITS, 2 * S) == ("done", None)


@pytest.mark.parametrize(
    "tail",
    [
        b'\ndata: {"content":"data: [DONE]"}\n\n',
        b"\ndata: [DONE]\n\n" + b"y" * 64,
        b"\ndata: [DON",
        b"",
    ],
)
def test_a_payload_that_speaks_of_done_is_not_the_done_line(tail):
    given = answer(tail)
    assert overdue(given, LIMITS, S) is None
    assert overdue(given, LIMITS, 3 * S) is None


OTHERS = {
    "a named event": (rb"event: ?message_stop", b'event: message_stop\ndata: {"type":"m"}\n\n'),
    "its data": (rb'"type": ?"message_stop"', b'event: x\ndata: {"type":"message_stop"}\n\n'),
    "inside a line": (rb'"stop": ?true', b'data: {"stop":true,' + b'"n":1,' * 99 + b'"m":2}\n\n'),
    "JSON by line": (rb'"done": ?true', b'{"done":true,"total_duration":1}\n'),
    "twice": (rb"\ndata: \[DONE\]\n", b"\ndata: [DONE]\ndata: [DONE]\n\n"),
}


@pytest.mark.parametrize(("line", "tail"), OTHERS.values(), ids=OTHERS)
@pytest.mark.parametrize("after", [b"", b"\r\n", b": bye\n\n", chunk(b": bye\n\n")])
def test_each_api_has_its_own_line_that_ends_a_stream(line, tail, after):
    if "message_stop" in str(line) and b"event: m" in tail:
        tail = tail.partition(b"data")[0]
    given = answer(b"data: 1\n\n" + tail + after, done_line=re.compile(line))
    assert overdue(given, LIMITS, S) is None
    assert overdue(given, LIMITS, 2 * S) == ("done", None)


@pytest.mark.parametrize("after", [b'data: {"stop":false}\n\n', b"data", b'{"done":false}\n'])
def test_a_done_line_with_more_behind_it_ends_nothing(after):
    given = answer(b'data: {"stop":true}\n\n' + after, done_line=re.compile(rb'"stop":true'))
    assert overdue(given, LIMITS, S) is None
    assert overdue(given, LIMITS, 3 * S) is None


def test_a_done_line_that_is_not_whole_ends_nothing():
    given = answer(b'data: {"stop":true,', done_line=re.compile(rb'"stop":true'))
    assert overdue(given, LIMITS, S) is None
    assert overdue(given, LIMITS, 3 * S) is None


def test_an_api_without_a_done_line_waits_for_the_end_of_the_answer():
    given = answer(b"\ndata: [DONE]\n\n", done_line=None)
    assert overdue(given, LIMITS, S) is None
    assert overdue(given, LIMITS, 3 * S) is None
