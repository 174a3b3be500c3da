"""The server's own request id, and how long it asks us to wait."""

import pytest

from loadgen.answer_headers import MAX_ID_CHARS, retry_after_s, server_request_id

DATE = "Wed, 21 Oct 2026 07:28:00 GMT"


@pytest.mark.parametrize(
    ("headers", "found"),
    [
        ({"x-request-id": "req_abc"}, "req_abc"),
        ({"x-request-id": "run-7"}, None),
        ({"x-request-id": "run-7", "request-id": "req_abc"}, "req_abc"),
        ({"x-request-id": "req_abc", "cf-ray": "8f-FRA"}, "req_abc"),
        ({"x-amzn-requestid": " a-b "}, "a-b"),
        ({"cf-ray": "8f-FRA"}, "8f-FRA"),
        ({"x-request-id": ""}, None),
        ({}, None),
    ],
)
def test_the_servers_id_is_one_that_we_did_not_send(headers: dict[str, str], found: str | None):
    assert server_request_id(headers, "run-7") == found


def test_an_endless_id_is_cut():
    assert server_request_id({"request-id": "x" * 9999}, "run-7") == "x" * MAX_ID_CHARS


@pytest.mark.parametrize("status", [429, 503])
@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "2"}, 2.0),
        ({"retry-after": " 1.5 "}, 1.5),
        ({"retry-after": "0"}, 0.0),
        ({"retry-after-ms": "250", "retry-after": "1"}, 0.25),
        ({"retry-after": "Wed, 21 Oct 2026 07:28:30 GMT", "date": DATE}, 30.0),
        ({"retry-after": "Wed, 21 Oct 2026 09:28:30 +0200", "date": DATE}, 30.0),
        ({"retry-after": "Wednesday, 21-Oct-26 07:29:00 GMT", "date": DATE}, 60.0),
        ({"retry-after": "Wed Oct 21 07:28:01 2026", "date": DATE}, 1.0),
        ({"retry-after": "Wed, 21 Oct 2026 07:00:00 GMT", "date": DATE}, 0.0),
        ({"retry-after": "Wed, 21 Oct 2026 07:28:30 GMT"}, None),
        ({"retry-after": "Wed, 99 Oct 2026 07:28:30 GMT", "date": DATE}, None),
        ({"retry-after": "soon", "date": DATE}, None),
        ({"retry-after": "-5", "date": DATE}, None),
        ({"retry-after": "inf", "date": DATE}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": ""}, None),
        ({}, None),
    ],
)
def test_seconds_to_wait_from_either_form(
    status: int, headers: dict[str, str], seconds: float | None
):
    assert retry_after_s(status, headers) == seconds


@pytest.mark.parametrize("status", [None, 200, 301, 500])
def test_other_answers_do_not_ask_us_to_wait(status: int | None):
    assert retry_after_s(status, {"retry-after": "2"}) is None
