"""An explained exchange is what a run would have measured, line by line."""

import json

import pytest
from exchanges import DONE, FINISH, ROLE, content, decode_bodies, delta, sse, usage_event
from explained import explained, explained_reads, head
from hypothesis import given
from hypothesis import strategies as st

from loadgen.explain_table import events
from loadgen.explain_table import phases as phases_told
from loadgen.explain_words import printable

A, B = content("A"), content("B")
GOOD = ((5, ROLE), (20, A), (30, B), (40, FINISH), (41, usage_event(2)), (41, DONE))


def test_each_event_has_a_line_with_its_time_gap_read_and_kind():
    lines = explained(*GOOD).events
    assert [line.kind for line in lines] == [
        "role",
        "content",
        "content",
        "finish",
        "usage",
        "done",
    ]
    assert [line.ms for line in lines] == [5, 20, 30, 40, 41, 41]
    assert [line.gap_ms for line in lines] == [None, 15, 10, 10, 1, 0]
    assert [line.read for line in lines] == [2, 3, 4, 5, 6, 7]
    assert [line.text for line in lines[1:3]] == ["A", "B"]
    assert lines[3].note == "finish_reason stop"
    assert lines[4].note == "usage 5 in, 2 out"


def test_phases_are_told_after_the_send_and_none_where_there_was_none():
    phases = explained(*GOOD, dns_ns=100_000, connect_ns=2_000_000).phases
    assert (phases.dns_ms, phases.connect_ms, phases.tls_ms) == (0.1, 2, None)
    assert (phases.first_byte_ms, phases.headers_ms, phases.first_event_ms) == (1, 1, 5)
    assert (phases.first_token_ms, phases.first_visible_ms, phases.last_token_ms) == (20, 20, 30)
    assert phases.whole_ms is None


def test_what_opening_the_connection_took_lies_within_the_times_after_the_send():
    told = phases_told(explained(*GOOD, dns_ns=100_000, connect_ns=2_000_000).to_dict())
    assert told[0].startswith("after the send: first byte 1.00 ms")
    assert told[1] == "of it, opening the connection: name 0.10 ms · connect 2.00 ms"
    assert len(phases_told(explained(*GOOD).to_dict())) == 1


def test_its_row_is_the_row_of_a_run():
    seen, run = explained(*GOOD), decode_bodies(*GOOD)
    assert seen.ok
    assert seen.row.output_tokens == run.row.output_tokens == 2
    assert (seen.row.n_chunks, seen.row.n_shared) == (run.row.n_chunks, run.row.n_shared)
    assert seen.gaps.p50_ms == run.gaps_ms[0] == 10


def test_events_of_one_read_share_its_arrival_and_say_so():
    lines = explained((20, A + B + content("C")), (40, FINISH + DONE)).events
    assert [line.ms for line in lines[:3]] == [20, 20, 20]
    assert [line.shared for line in lines[:3]] == [True, True, False]


def test_an_event_that_speaks_for_two_choices_has_a_line_for_each():
    both = sse(
        {
            "choices": [
                {"index": 0, "delta": {"content": "a"}},
                {"index": 1, "delta": {"content": "b"}},
            ]
        }
    )
    lines = explained((9, both), (10, DONE)).events
    assert [(line.n, line.choice, line.text) for line in lines[:2]] == [(1, 0, "a"), (1, 1, "b")]


def test_comments_stand_before_the_events_of_their_read():
    lines = explained((3, b": ping\n\n"), (9, A + b": ping\n\n"), (10, FINISH + DONE)).events
    assert [(line.kind, line.ms) for line in lines[:3]] == [
        ("comment", 3),
        ("comment", 9),
        ("content", 9),
    ]


def test_what_cannot_be_read_is_a_line_too():
    seen = explained((9, b"data: {oops\n\n"))
    assert (seen.ok, seen.row.outcome) == (False, "malformed")
    assert (seen.events[0].kind, "no JSON" in seen.events[0].note) == ("malformed", True)


def test_a_whole_answer_has_lines_at_its_last_byte():
    body = json.dumps(
        {
            "model": "m",
            "choices": [{"message": {"content": "hello"}, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 5, "completion_tokens": 1},
        }
    ).encode()
    seen = explained((7, body), head=head("Content-Type: application/json"))
    assert (seen.ok, seen.row.form, seen.phases.whole_ms) == (True, "whole", 7)
    assert (seen.events[0].kind, seen.events[0].text, seen.events[0].ms) == ("content", "hello", 7)
    assert seen.phases.first_token_ms is None


def test_text_and_notes_cannot_steer_a_terminal_and_are_bounded():
    seen = explained((9, content("\x1b[31m\n" + "x" * 1000)), (10, DONE))
    assert seen.events[0].text.startswith(r"\x1b[31m\nxxx")
    assert len(seen.events[0].text) < 200


@given(st.text(alphabet=st.characters(codec=None), max_size=300))
def test_what_is_printable_is_one_line_that_any_encoding_of_unicode_takes(text):
    assert printable(text).isprintable()
    printable(text).encode()


def test_a_key_that_the_server_repeats_is_nowhere_in_the_dict():
    from exchanges import close_meta, open_meta

    from loadgen.explain import explain
    from loadgen.explain_facts import Asked
    from loadgen.wire.registry import APIS

    body = b"5\r\ndata:\r\n"
    body = content("my key is sk-secret") + sse({"error": {"message": "bad key sk-secret"}})
    raw = head("Server: sk-secret", "Content-Type: text/event-stream")
    raw += b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body)
    seen = explain(
        [(6_000_000_000, 0, 0, raw)],
        (open_meta(), close_meta()),
        APIS["openai_chat"],
        Asked("http://x", "openai_chat", "m", 8),
        lambda text: text and text.replace("sk-secret", "[key removed]"),
    )
    assert "sk-secret" not in json.dumps(seen.to_dict())
    assert "[key removed]" in seen.events[0].text


def test_the_model_is_read_where_each_api_names_it():
    start = sse({"type": "message_start", "message": {"id": "1", "model": "claude", "usage": {}}})
    seen = explained((9, b"event: message_start\n" + start), asked={"api": "anthropic_messages"})
    assert seen.model == "claude"
    assert explained((9, delta({"content": "A"}, model="tiny"))).model == "tiny"


def test_a_request_that_was_refused_has_no_events():
    seen = explained_reads(
        [(3, b"HTTP/1.1 401 Unauthorized\r\nContent-Length: 5\r\n\r\nsorry")], cause="done"
    )
    assert (seen.ok, seen.events, seen.phases.first_token_ms) == (False, [], None)
    assert (seen.row.http_status, seen.row.detail) == (401, "sorry")
    json.dumps(seen.to_dict())


def test_a_request_that_never_connected_is_explained_too():
    seen = explained_reads([], cause="connect_failed", detail="Nobody listens.")
    assert (seen.row.outcome, seen.phases.first_byte_ms) == ("connect_failed", None)
    json.dumps(seen.to_dict())


@pytest.mark.parametrize("n", [0, 1, 20, 21, 22, 500])
def test_a_long_answer_is_shown_by_both_ends_with_a_count(n):
    said = explained(*((10 + i, content("x")) for i in range(n)), (900, DONE)).to_dict()
    assert len(said["events"]) == n + 1
    shown = events(said)
    assert len(events(said, is_all=True)) == n + 2  # a heading, and [DONE]
    if n < 21:
        assert len(shown) == n + 2
    else:
        assert len(shown) == 1 + 12 + 1 + 8
        assert f"… {n + 1 - 20:,} more" in shown[13]
