"""The first request: retried without what the endpoint refuses, and what its answer lacks said."""

import gzip
import time

import pytest

from loadgen.plan import parse
from loadgen.preflight import preflight
from tests.endpoints import DONE, GOOD, GOOD_WITH_USAGE, JSON, endpoint, refusal, token
from tests.loadgen.transport.h2_server import h2_script, streamed
from tests.loadgen.transport.scripted_server import ScriptedServer

pytestmark = pytest.mark.slow


WHOLE = b"""{"id": "w", "choices": [{"index": 0, "finish_reason": "stop", "message":
    {"role": "assistant", "content": "one two"}}], "usage": {"completion_tokens": 2}}"""


def preflight_of(url, target=None, workload=None):
    raw = {"target": {"url": url, "model": "m", **(target or {})}, "workload": workload or {}}
    plan = parse({**raw, "stages": [{"concurrency": 1, "requests": 1}]})
    run = {"run_uid": "u", "target_url": url, "t0_mono_ns": time.monotonic_ns()}
    return preflight(plan, run)


def seen(answer, target=None, **workload):
    """The preflight of an endpoint that answers so, and the bodies it was sent."""
    asked = []

    def noted(n, body):
        asked.append(body)
        return answer(n, body)

    with endpoint(noted) as url:
        return preflight_of(url, target, workload), asked


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


def test_an_answer_in_one_piece_is_fine_and_has_no_first_token():
    result, asked = seen(lambda n, body: (200, JSON, WHOLE), stream=False)
    assert result.ok
    assert "stream" not in asked[0]
    assert "in one piece" in result.sentence
    assert "there is no TTFT" in result.notes[0]
    assert "although" not in result.sentence
    assert (result.row.output_tokens, result.row.first_token_us) == (2, None)


def test_a_server_that_does_not_stream_when_asked_to_is_measured_as_it_is():
    result, _ = seen(lambda n, body: (200, JSON, WHOLE))
    assert result.ok
    assert "although a stream was asked for" in result.sentence


def test_embeddings_come_in_one_piece():
    answer = b'{"data": [{"index": 0, "embedding": [0.5]}], "usage": {"prompt_tokens": 5}}'
    result, _ = seen(lambda n, body: (200, JSON, answer), {"api": "openai_embeddings"})
    assert result.ok, result.sentence
    assert "in one piece" in result.sentence
    assert "although" not in result.sentence


def test_a_compressed_answer_is_warned_of():
    packed = gzip.compress(GOOD_WITH_USAGE[2])
    kind = f"{GOOD[1]}\r\nContent-Encoding: gzip"
    result, _ = seen(lambda n, body: (200, kind, packed))
    assert result.ok, result.sentence
    assert "compressed (gzip)" in result.notes[0]


def test_a_plain_server_that_speaks_only_http_2_is_asked_again_in_it():
    peers = []
    server = ScriptedServer(h2_script(streamed(token("a"), token("b", "stop") + DONE), peers))
    try:
        result = preflight_of(f"http://127.0.0.1:{server.port}")
    finally:
        server.close()
    assert result.ok, result.sentence
    assert result.http == "2"
