"""When we end an answer ourselves: pure, with the clock as a number."""

import pytest

from loadgen.transport.answer import Answer
from loadgen.transport.call import Timeouts
from loadgen.transport.overdue import overdue

S = 1_000_000_000
LIMITS = Timeouts(connect_s=1, silence_s=5, total_s=60)


def answer(tail=b"", last_ns=0):
    made = Answer(1)
    made.tail, made.last_ns = tail, last_ns
    return made


def test_silence_ends_an_answer_and_names_the_limit():
    assert overdue(answer(), LIMITS, 5 * S - 1) is None
    assert overdue(answer(), LIMITS, 5 * S) == (
        "timeout",
        "no byte came for 5 s (limits.silence_s)",
    )


def test_bytes_defeat_the_silence_limit_but_not_the_total_one():
    assert overdue(answer(b": comment\n\n", last_ns=59 * S), LIMITS, 60 * S - 1) is None
    ended = overdue(answer(b": comment\n\n", last_ns=59 * S), LIMITS, 60 * S)
    assert ended == ("timeout", "not finished 60 s after the send (limits.request_s)")


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
    given.tail, given.last_ns = b": ping\n\n", S + S // 4
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
