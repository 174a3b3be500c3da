"""Each warning is given where it is true, and not where it is not."""

import gzip
import json
from pathlib import Path

import pytest
from exchanges import (
    DONE,
    FINISH,
    MS,
    ROLE,
    SEND_NS,
    close_meta,
    content,
    delta,
    open_meta,
    sse,
    usage_event,
)
from explained import explained, explained_reads, head, names, warning

from loadgen.explain import explain
from loadgen.explain_facts import Asked
from loadgen.explain_warnings import RULES
from loadgen.wire.registry import APIS

STREAM = "Content-Type: text/event-stream"
END = FINISH + usage_event(4) + DONE
TOKENS = [(100 + 20 * i, content("x")) for i in range(4)]
GOOD = [(98, ROLE), *TOKENS, (180, END)]


def reasoning(text):
    return delta({"reasoning_content": text})


def test_a_good_answer_gives_no_warning():
    reads = [(98.0, head(STREAM))]
    bodies = [b"%x\r\n%s\r\n" % (len(b), b) for _, b in GOOD]
    reads += [(ms, body) for (ms, _), body in zip(GOOD, bodies, strict=True)]
    assert names(explained_reads([*reads, (180, b"0\r\n\r\n")])) == []


def test_an_answer_in_one_read_is_held_back_by_something():
    seen = explained((200, b"".join(content("x") for _ in range(4)) + END))
    assert "All 4 token events came in one piece" in warning(seen, "batched")


def test_half_of_the_tokens_in_company_are_batches():
    pairs = [(100 + 20 * i, content("x") + content("y")) for i in range(4)]
    seen = explained(*pairs, (200, FINISH + usage_event(8) + DONE))
    assert "8 of 8 token events came together with others, in 4 reads" in warning(seen, "batched")


def test_batches_that_a_late_reader_made_are_our_fault():
    pairs = [(100 + 20 * i, content("x") + content("y")) for i in range(4)]
    seen = explained(*pairs, (200, FINISH + usage_event(8) + DONE), delay_ns=9_000_000)
    assert "this machine is too busy" in warning(seen, "batched")
    assert "late_reads" in names(seen)


def test_tokens_right_behind_each_other_are_bursts():
    times = [100 + 60 * (i // 4) + 0.1 * (i % 4) for i in range(16)]
    seen = explained(*((t, content("x")) for t in times), (400, FINISH + usage_event(16) + DONE))
    assert "12 of 15 gaps" in warning(seen, "bursts")
    even = explained(*((100 + 20 * i, content("x")) for i in range(16)), (900, DONE))
    assert "bursts" not in names(even)


def test_a_coding_is_told():
    packed = gzip.compress(b"".join(body for _, body in GOOD))
    seen = explained((200, packed), head=head(STREAM, "Content-Encoding: gzip"))
    assert seen.ok
    assert {"compressed", "batched"} <= set(names(seen))


def test_without_usage_nobody_counts_tokens():
    seen = explained(*TOKENS, (180, FINISH + DONE))
    assert "no TPOT, ITL or tokens per second" in warning(seen, "no_usage")
    counted_later = explained(*TOKENS, (180, FINISH + DONE), asked={"has_tokenizer": True})
    assert "target.tokenizer does after the run" in warning(counted_later, "no_usage")


def test_a_usage_below_the_chunks_is_contradicted():
    seen = explained(*TOKENS, (180, FINISH + usage_event(2) + DONE))
    assert "counts 2 output tokens, yet 4 chunks" in warning(seen, "usage_contradicts")


def test_chunks_of_several_tokens_are_told_from_one_broken_character():
    seen = explained(*TOKENS, (180, FINISH + usage_event(8) + DONE))
    assert "2.0 tokens on average (8 tokens in 4 chunks)" in warning(seen, "several_tokens")
    assert "several_tokens" not in names(explained(*TOKENS, (180, FINISH + usage_event(5) + DONE)))


def test_a_role_long_before_the_first_token_is_not_the_first_token():
    text = warning(explained((5, ROLE), (900, content("x")), (901, END)), "early_byte")
    assert "895 ms before the first token" in text
    assert "times the first byte or event" in text


def test_reasoning_comes_before_what_is_visible():
    seen = explained((50, reasoning("hm")), (500, content("x")), (501, END))
    assert "first token came after 50 ms, the first visible one after 500 ms" in warning(
        seen, "reasoning_first"
    )
    hidden = explained((50, reasoning("hm")), (60, delta({}, "length") + DONE))
    assert "before anything was visible" in warning(hidden, "reasoning_first")


def test_reasoning_that_was_counted_but_not_streamed_is_told():
    usage = {"prompt_tokens": 5, "completion_tokens": 40}
    usage |= {"completion_tokens_details": {"reasoning_tokens": 36}}
    end = FINISH + sse({"choices": [], "usage": usage}) + DONE
    seen = explained(*TOKENS, (180, end), asked={"max_tokens": 40})
    assert "36 reasoning tokens" in warning(seen, "hidden_reasoning")
    assert "several_tokens" not in names(seen)


def test_an_end_that_is_told_by_half_is_told():
    assert "without [DONE]" in warning(explained(*TOKENS, (180, FINISH)), "no_done")
    assert "without a finish_reason" in warning(explained(*TOKENS, (180, DONE)), "no_done")


def test_a_server_that_closes_is_told_once_it_has_sent_the_whole_body():
    promised = explained(*GOOD, asked={"closes": True})
    assert "although it promised to keep it" in warning(promised, "closes")
    paid = explained(*GOOD, asked={"closes": True}, connect_ns=2_000_000)
    assert "(here 2.0 ms), and TTFT holds that time" in warning(paid, "closes")
    assert "closes" in names(explained(*GOOD, head=head(STREAM, "Connection: close")))
    old = b"HTTP/1.0 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
    reads = [(1.0, old), *((ms, body) for ms, body in GOOD)]
    told = warning(explained_reads(reads, asked={"closes": True}), "closes")
    assert told.startswith("The server closed the connection after its answer: each request")
    assert "closes" not in names(explained(*GOOD, asked={"closes": False}))
    reads = [(1.0, head(STREAM)), (9.0, b"%x\r\n%s\r\n" % (len(END), END))]
    assert "closes" not in names(explained_reads(reads, asked={"closes": True}))


def test_a_field_that_is_refused_costs_something():
    seen = explained(*GOOD, asked={"dropped_fields": ("stream_options",)})
    assert "refuses stream_options" in warning(seen, "fields_refused")


def test_one_document_instead_of_a_stream_has_no_first_token():
    body = json.dumps(
        {"choices": [{"message": {"content": "hello"}, "finish_reason": "stop"}]}
    ).encode()
    is_json = head("Content-Type: application/json")
    assert "whole_answer" in names(explained((9, body), head=is_json))
    wanted = explained((9, body), head=is_json, asked={"is_streamed": False})
    assert "whole_answer" not in names(wanted)


@pytest.mark.parametrize(
    ("n", "finish", "ignores_eos", "said"),
    [
        (20, "length", True, "It made 20 tokens although 8 were the most asked for"),
        (4, "length", True, "stopped for length after 4 of 8 tokens"),
        (4, "stop", True, "ended by itself after 4 of 8 tokens"),
    ],
)
def test_a_length_that_was_not_asked_for_is_told(n, finish, ignores_eos, said):
    end = delta({}, finish) + usage_event(n) + DONE
    seen = explained(*TOKENS, (180, end), asked={"ignores_eos": ignores_eos})
    assert said in warning(seen, "length_ignored")


def test_a_natural_end_is_no_fault_where_none_was_forbidden():
    assert "length_ignored" not in names(explained(*GOOD))


def test_another_model_than_the_one_asked_for_is_told_from_a_longer_name():
    other = explained((9, content("x", model="tiny")), (10, END))
    assert "answers as 'tiny' although 'm' was asked" in warning(other, "other_model")
    dated = explained((9, content("x", model="m-2026-01")), (10, END))
    assert "stands for 'm-2026-01'" in warning(dated, "model_alias")
    assert "other_model" not in names(dated)


def test_a_stream_under_another_name_is_told():
    seen = explained(*GOOD, head=head("Content-Type: text/plain"))
    assert "called text/plain instead" in warning(seen, "content_type")
    lines = b'{"message":{"content":"A"},"done":false}\n{"done":true,"done_reason":"stop"}\n'
    ollama = head("Content-Type: application/x-ndjson")
    assert "content_type" not in names(
        explained((9, lines), head=ollama, asked={"api": "ollama_chat"})
    )


def test_pings_are_told_with_their_place():
    before = explained((5, b": ping\n\n"), *GOOD)
    assert "1 keep-alive ping before the first token, from 5 ms on" in warning(before, "comments")
    between = explained(*TOKENS, (170, b": ping\n\n"), (180, END))
    assert "between tokens" in warning(between, "comments")


def test_stamps_of_our_own_are_told_and_a_set_clock_apart_from_them():
    assert "carry no kernel stamp" in warning(explained(*GOOD, delay_ns=-1), "user_stamps")
    assert "user_stamps" not in names(explained(*GOOD))


@pytest.mark.parametrize(
    ("asked", "name"),
    [
        ({"http": "2"}, "http2"),
        ({"proxy": "proxy:3128"}, "proxy"),
        ({"insecure": True}, "insecure"),
    ],
)
def test_the_way_to_the_endpoint_is_told(asked, name):
    assert name in names(explained(*GOOD, asked=asked))


def test_nothing_is_said_of_http2_where_nothing_was_answered():
    assert "http2" not in names(explained_reads([], cause="connect_failed", asked={"http": "2"}))


@pytest.mark.parametrize("count", [True, -4, "12", 3.5, 10**30])
def test_a_usage_whose_count_is_none_is_not_said_to_count_too_few(count):
    usage = sse({"choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": count}})
    text = warning(explained(*TOKENS, (180, FINISH + usage + DONE)), "no_usage")
    assert "holds no count of output tokens" in text
    assert "fewer" not in text


def test_a_rate_limit_that_names_a_date_is_not_said_to_name_nothing():
    raw = b"HTTP/1.1 429 Too Many\r\nRetry-After: Mon, 30 Nov 2037 20:00:00 GMT\r\n"
    seen = explained_reads([(3, raw + b"Content-Length: 2\r\n\r\n{}")], cause="done")
    assert "names no seconds to wait" in warning(seen, "rate_limited")


def test_a_rate_limit_says_how_long():
    raw = b"HTTP/1.1 429 Too Many\r\nRetry-After: 7\r\nContent-Length: 2\r\n\r\n{}"
    assert "asks to wait 7 s" in warning(explained_reads([(3, raw)], cause="done"), "rate_limited")


def test_an_error_inside_a_200_is_told():
    seen = explained(*TOKENS, (170, sse({"error": {"message": "boom"}}) + DONE))
    assert "after 4 token events" in warning(seen, "error_inside")


def test_events_of_an_unknown_shape_are_told_and_frames_are_not():
    odd = explained((9, sse({"generated": "x"})), *GOOD)
    assert "1 event of a shape" in warning(odd, "unknown_events")
    frame = explained((9, delta({})), *GOOD)
    assert "unknown_events" not in names(frame)


def test_tokens_that_only_the_chunks_list_are_told():
    listed = {"content": [{"token": "x"}]}
    chunks = [
        (100 + i, sse({"choices": [{"delta": {"content": "x"}, "logprobs": listed}]}))
        for i in range(3)
    ]
    assert "counted_in_chunks" in names(explained(*chunks, (180, FINISH + DONE)))


def test_events_that_cannot_be_read_are_counted():
    assert "1 event could not be read" in warning(explained((9, b"data: {oops\n\n")), "malformed")


def test_a_stamp_before_what_the_loop_vouches_for_means_that_the_clock_was_set():
    raw = head(STREAM) + b"%x\r\n%s\r\n0\r\n\r\n" % (len(END), END)
    metas = (open_meta(), close_meta())
    at_ns = SEND_NS + 500 * MS
    reads = [(at_ns, 400 * MS, at_ns - 5 * MS, raw)]
    seen = explain(reads, metas, APIS["openai_chat"], Asked("http://x", "openai_chat", "m", 8))
    assert "1 impossible stamp" in warning(seen, "clock_trouble")
    assert "user_stamps" not in names(seen)


def test_every_rule_has_a_test_here():
    told = Path(__file__).read_text(encoding="utf-8")
    assert [rule.__name__ for rule in RULES if f'"{rule.__name__}"' not in told] == []
