"""The first request: retried without what the endpoint refuses, and what its answer lacks said."""

import time

import pytest

from loadgen.plan import parse
from loadgen.preflight import preflight
from tests.endpoints import GOOD, GOOD_WITH_USAGE, JSON, endpoint, refusal

pytestmark = pytest.mark.slow


def seen(answer, target=None, **workload):
    """The preflight of an endpoint that answers so, and the bodies it was sent."""
    asked = []

    def noted(n, body):
        asked.append(body)
        return answer(n, body)

    with endpoint(noted) as url:
        raw = {"target": {"url": url, "model": "m", **(target or {})}, "workload": workload}
        plan = parse({**raw, "stages": [{"concurrency": 1, "requests": 1}]})
        run = {"run_uid": "u", "target_url": url, "t0_mono_ns": time.monotonic_ns()}
        return preflight(plan, run), asked


def refusing(*names, then=GOOD):
    def answer(_n, body):
        named = next((name for name in names if name in body), None)
        return refusal(400, message=f"unknown field {named}") if named else then

    return answer


def test_a_refused_field_is_left_out_and_its_loss_is_said():
    result, asked = seen(refusing("stream_options"))
    assert result.ok
    assert result.dropped_fields == ["stream_options"]
    assert ["stream_options" in body for body in asked] == [True, False]
    assert "refuses the field stream_options" in result.sentence
    assert "may not tell token counts" in result.notes[0]


def test_two_refused_fields_take_three_tries():
    result, asked = seen(refusing("ignore_eos", "stream_options"))
    assert result.ok
    assert result.dropped_fields == ["ignore_eos", "stream_options"]
    assert len(asked) == 3
    assert "before the length asked for" in result.sentence


def test_counts_that_are_told_without_asking_are_no_loss():
    result, _ = seen(refusing("stream_options", then=GOOD_WITH_USAGE))
    assert "without being asked" in result.sentence


def test_a_tokenizer_of_the_plan_counts_instead():
    result, _ = seen(refusing("stream_options"), {"tokenizer": "t.json"})
    assert "counted by target.tokenizer" in result.sentence


def test_an_endpoint_that_goes_on_refusing_is_asked_no_more_and_its_words_are_kept():
    result, asked = seen(lambda n, body: refusal(400, message="no stream_options, no ignore_eos"))
    assert not result.ok
    assert len(asked) == 2
    assert result.dropped_fields == []
    assert "also without ignore_eos and stream_options): no stream_options" in result.sentence


def test_a_field_that_the_plan_asks_for_is_never_left_out():
    extra = {"stream_options": {"include_usage": True, "chunk_include_usage": True}}
    result, asked = seen(refusing("stream_options"), extra_body=extra)
    assert not result.ok
    assert len(asked) == 1


def test_an_error_of_another_kind_is_asked_once():
    result, asked = seen(lambda n, body: refusal(500, message="stream_options broke me"))
    assert not result.ok
    assert len(asked) == 1
    assert "HTTP 500" in result.sentence
    assert "See the server's own log." in result.sentence


def test_the_key_is_named_where_it_is_wanted():
    result, _ = seen(lambda n, body: refusal(401, message="who are you?"))
    assert "who are you?" in result.sentence
    assert "target.api_key_env" in result.sentence


def test_a_web_page_is_no_answer():
    result, _ = seen(lambda n, body: (200, "text/html", b"<title>Welcome</title>"))
    assert not result.ok
    assert "Welcome" in result.sentence
    assert result.row.outcome == "malformed"


def test_an_error_inside_a_200_fails_the_first_request():
    result, _ = seen(lambda n, body: (200, JSON, b'{"error": {"message": "boom"}}'))
    assert not result.ok
    assert result.row.outcome == "stream_error"
    assert "boom" in result.sentence
