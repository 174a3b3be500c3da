"""The server's own sentence, out of every shape of error body seen on real servers."""

import json
from typing import Any

import pytest

from loadgen.wire.error_text import MAX_CHARS, error_of_json, is_error, sentence_of_body


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ({"error": {"message": "Bad key", "type": "auth", "code": 401}}, "Bad key"),
        ({"error": {"message": "m", "type": None, "param": None, "code": "400"}}, "m"),
        ({"error": "Unauthorized"}, "Unauthorized"),
        ({"detail": "Not Found"}, "Not Found"),
        ({"object": "error", "message": "too long", "code": 400}, "too long"),
        ({"message": "no route"}, "no route"),
        ({"error": {"code": "x"}}, '{"code":"x"}'),
        ({"error": {"error": {"message": "inner"}}}, "inner"),
        (
            {"detail": [{"loc": ["body", "model"], "msg": "Field required", "type": "missing"}]},
            "body.model: Field required",
        ),
        (
            {"detail": [{"loc": ["body", 2], "msg": "a"}, {"loc": ["query"], "msg": "b"}]},
            "body.2: a; query: b",
        ),
        ("just text", "just text"),
        ({"status": "failed"}, '{"status":"failed"}'),
    ],
)
def test_json_of_any_shape_gives_its_sentence(body: Any, sentence: str):
    assert sentence_of_body(json.dumps(body).encode()) == sentence


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ("Internal Server Error", "Internal Server Error"),
        ("line one\n\n   line two\n", "line one line two"),
        (
            "<html>\r\n<head><title>504 Gateway Time-out</title></head>\r\n<body>x</body></html>",
            "504 Gateway Time-out",
        ),
        (
            "<!DOCTYPE html><style>b{}</style><h1>Nope</h1><p>Ask &amp; wait.</p>",
            "Nope Ask & wait.",
        ),
        ("a < b is false", "a < b is false"),
    ],
)
def test_pages_and_plain_text_are_one_line(body: str, sentence: str):
    assert sentence_of_body(body.encode()) == sentence


@pytest.mark.parametrize("body", [b"", b"  \n", b"<html></html>", b"{}", b"null", b"[]", b'""'])
def test_a_void_body_says_nothing(body: bytes):
    assert sentence_of_body(body) is None


def test_a_long_sentence_is_cut_visibly():
    sentence = sentence_of_body(b"x" * 5000)
    assert sentence is not None
    assert len(sentence) == MAX_CHARS
    assert sentence.endswith("…")


def test_bytes_that_are_no_text_are_shown_with_replacements():
    assert sentence_of_body(b"caf\xe9") == "caf\ufffd"


@pytest.mark.parametrize(
    ("value", "code"),
    [
        ({"error": {"message": "m", "code": 429}}, 429),
        ({"error": {"message": "m", "code": "rate_limit_exceeded"}}, "rate_limit_exceeded"),
        ({"error": {"message": "m", "status_code": 500}}, 500),
        ({"error": "m", "code": 7}, 7),
        ({"error": {"message": "m", "code": None}}, None),
        ({"error": {"message": "m", "code": {}}}, None),
    ],
)
def test_the_code_is_kept_as_it_is(value: Any, code: Any):
    assert error_of_json(value)[1] == code


@pytest.mark.parametrize(
    ("value", "is_one"),
    [
        ({"error": "x"}, True),
        ({"detail": "x"}, True),
        ({"message": "x"}, True),
        ({"object": "error"}, True),
        ({"error": None}, False),
        ({"status": "ok"}, False),
        ({"choices": [], "message": "x"}, False),
        ({"choices": [], "error": {"message": "x"}}, True),
        ([], False),
        (None, False),
    ],
)
def test_what_is_an_error_document(value: Any, is_one: bool):
    assert is_error(value) is is_one
