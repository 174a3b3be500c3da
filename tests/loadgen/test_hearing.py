"""The bytes of a conversation's answers are kept beside the spool and read once they are whole."""

import orjson
import pytest

from loadgen.hearing import SLICE_BYTES, TeeSpool, said
from loadgen.memory_spool import MemorySpool
from loadgen.wire.registry import APIS

HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n"
DONE = b"data: [DONE]\n\n"


def event(finish=None, **delta):
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return b"data: " + orjson.dumps({"choices": [choice]}) + b"\n\n"


def heard(*reads, cause="done", api="openai_chat"):
    spool = MemorySpool()
    meta = {"request_id": 0, "x_request_id": "x", "worker": 0, "stage": 0, "phase": "measure"}
    meta |= {"api": api, "is_streamed": True, "due_ns": None, "dispatched_ns": 0, "send_ns": 1}
    meta |= {"prompt_tokens_planned": 1, "max_tokens": 9}
    spool.open(0, meta, 0)
    for n, data in enumerate(reads):
        spool.read(0, 10 + n, -1, 0, data)
    spool.close(0, {"end_ns": 99, "cause": cause, "detail": None}, 99)
    return spool


def listen(spool, breathe=lambda: None, api="openai_chat"):
    return said(APIS[api], spool, breathe)


def test_the_words_of_all_events_are_the_answer():
    spool = heard(HEAD, event(content="Hel"), event(content="lo"), event("stop"), DONE)
    assert listen(spool).text == "Hello"


def test_reasoning_is_no_part_of_the_history_unless_there_is_nothing_else():
    thought = event(reasoning_content="hm")
    assert listen(heard(HEAD, thought, event(content="Yes"), event("stop"), DONE)).text == "Yes"
    assert listen(heard(HEAD, thought, event("length"), DONE)).text == "hm"


@pytest.mark.parametrize(
    ("spool", "words"),
    [
        (heard(HEAD, event(content="Hel"), cause="reset"), "reset: The connection was reset"),
        (heard(b"HTTP/1.1 500 Oops\r\ncontent-length: 0\r\n\r\n"), "http_error: HTTP 500 Oops"),
        (heard(HEAD, b'data: {"error":{"message":"too long"}}\n\n', DONE), "too long"),
        (MemorySpool(), "not sent"),
    ],
)
def test_an_answer_that_is_not_whole_says_why(spool, words):
    answer = listen(spool)
    assert words in answer.why
    assert answer.text == ""


def test_no_more_than_a_slice_is_parsed_between_two_turns_of_the_loop():
    words = [event(content="word ") for _ in range(5_000)]
    spool = heard(HEAD, *words, event("stop"), DONE)
    n_bytes = sum(len(read[3]) for read in spool.reads)
    turns = []
    assert listen(spool, lambda: turns.append(1)).text == "word " * 5_000
    assert n_bytes / SLICE_BYTES - 1 <= len(turns) <= n_bytes / (SLICE_BYTES - len(words[0])) + 1


def test_a_tee_keeps_only_those_listened_to_and_forgets_them_when_asked():
    below = MemorySpool()
    tee = TeeSpool(below)
    tee.listen(1)
    for request_id in (1, 2):
        tee.open(request_id, {"n": request_id}, 0)
        tee.read(request_id, 5, 0, 0, b"x")
        tee.close(request_id, {"end_ns": 9}, 9)
    kept = tee.heard(1)
    assert (kept.opened, len(kept.reads), kept.closed) == ({"n": 1}, 1, {"end_ns": 9})
    assert len(below.reads) == 2
    with pytest.raises(KeyError):
        tee.heard(1)
