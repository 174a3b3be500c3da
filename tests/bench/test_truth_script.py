import json

import pytest

from bench.truth_script import DONE, FINISH, USAGE, BadRequest, Timing, answer

DEFAULT = Timing(n=7, ttft_ns=5_000_000, itl_ns=1_000_000)


def ask(path: str, **body: object):
    return answer(path, json.dumps(body).encode(), DEFAULT)


def test_what_the_request_leaves_open_is_the_servers_default():
    assert ask("/v1/chat/completions", stream=True).timing == DEFAULT


def test_the_body_says_how_many_tokens_and_when():
    reply = ask("/v1/completions", max_tokens=3, ttft_ms=2, itl_ms=0.5)
    assert reply.timing == Timing(n=3, ttft_ns=2_000_000, itl_ns=500_000)


def test_the_query_string_wins_over_the_body():
    reply = ask("/v1/completions?n=4&itl_ms=20&ttft_ms=0", max_tokens=3, ttft_ms=2, itl_ms=0.5)
    assert reply.timing == Timing(n=4, ttft_ns=0, itl_ns=20_000_000)


def test_usage_comes_only_when_asked_for():
    without = ask("/v1/chat/completions", stream=True)
    with_it = ask("/v1/chat/completions", stream=True, stream_options={"include_usage": True})
    assert [seq for seq, _ in without.closing] == [FINISH, DONE]
    assert [seq for seq, _ in with_it.closing] == [FINISH, USAGE, DONE]


@pytest.mark.parametrize(
    ("target", "body", "sentence"),
    [
        ("/v1/embeddings", b"{}", "is not served"),
        ("/v1/completions", b"{", "cannot be read"),
        ("/v1/completions", b"[]", "cannot be read"),
        ("/v1/completions", b'{"stream": false}', "only streams"),
        ("/v1/completions?n=0", b"{}", "at least 1"),
        ("/v1/completions?itl_ms=-1", b"{}", "at least 0"),
    ],
)
def test_what_it_cannot_do_is_said_in_a_sentence(target: str, body: bytes, sentence: str):
    with pytest.raises(BadRequest, match=sentence):
        answer(target, body, DEFAULT)
