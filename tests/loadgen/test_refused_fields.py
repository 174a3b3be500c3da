"""Whether an error names a field of ours that a run can do without."""

import json

import pytest

from loadgen.refused_fields import refused_fields

SENT = {"model", "messages", "stream", "max_tokens", "stream_options", "ignore_eos"}
FASTAPI = {
    "detail": [
        {"loc": ["body", "ignore_eos"], "msg": "Extra inputs are not permitted", "input": True},
        {"loc": ["body", "stream_options"], "msg": "Extra inputs are not permitted"},
    ]
}
MISSING_MODEL = {
    "detail": [
        {"loc": ["body", "model"], "msg": "Field required", "input": {"stream_options": "x"}},
    ]
}


def refused(status, said, sent=SENT):
    body = said if isinstance(said, bytes) else json.dumps(said).encode()
    return refused_fields(status, body, sent)


@pytest.mark.parametrize(
    ("said", "fields"),
    [
        ({"error": {"message": "unknown field stream_options"}}, ["stream_options"]),
        ({"error": {"message": "Unknown argument", "param": "ignore_eos"}}, ["ignore_eos"]),
        ({"error": "stream_options.include_usage is not supported"}, ["stream_options"]),
        ({"error": "Unrecognized key(s): 'include_usage'"}, ["stream_options"]),
        ({"errors": {"ignore_eos": ["unexpected field"]}}, ["ignore_eos"]),
        (b'json: unknown field "stream_options"', ["stream_options"]),
        (FASTAPI, ["ignore_eos", "stream_options"]),
        ({"error": {"message": "extra fields not permitted"}}, []),
        ({"error": {"message": "max_tokens is too large"}}, []),
        (b"", []),
        (b"\xff\xfe", []),
    ],
)
def test_a_refusal_names_its_fields_in_every_shape(said, fields):
    assert refused(400, said) == fields
    assert refused(422, said) == fields


def test_an_error_that_repeats_our_request_names_nothing():
    assert refused(422, MISSING_MODEL) == []


def test_only_what_was_sent_can_be_left_out():
    assert refused(400, {"error": "stream_options"}, SENT - {"stream_options"}) == []


@pytest.mark.parametrize("status", [None, 200, 401, 404, 429, 500])
def test_other_errors_than_400_and_422_refuse_no_field(status):
    assert refused(status, {"error": "unknown field stream_options"}) == []
