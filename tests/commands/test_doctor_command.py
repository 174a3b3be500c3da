"""`headway doctor URL`: the endpoint explained on a terminal, and as JSON."""

import json

import pytest

from tests.endpoints import DONE, STREAM, USAGE, endpoint, refusal, token
from tests.run_headway import headway_in

pytestmark = pytest.mark.slow

LONG = (200, STREAM, b"".join(token(f"t{i}") for i in range(40)) + token("", "stop") + USAGE + DONE)


@pytest.fixture(scope="module")
def headway(tmp_path_factory):
    with headway_in(tmp_path_factory.mktemp("doctor")) as headway:
        yield headway


def test_the_answer_is_explained_and_long_ones_are_shown_by_both_ends(headway):
    with endpoint(lambda n, body: LONG) as url:
        said = headway("doctor", url, "--model", "m")
    assert said.returncode == 0, said.stdout
    for told in (
        "API: openai_chat",
        "first token",
        "All 40 token events came in one piece",
        "“t0”",
    ):
        assert told in said.stdout
    assert "… 23 more (--events shows them)" in said.stdout
    assert "“t20”" not in said.stdout


def test_events_shows_all_of_them_and_the_api_may_be_found(headway):
    with endpoint(lambda n, body: LONG) as url:
        said = headway("doctor", url, "--api", "auto", "--model", "m", "--events")
    assert "“t20”" in said.stdout
    assert "more (--events" not in said.stdout


def test_json_is_all_that_is_written(headway):
    with endpoint(lambda n, body: LONG) as url:
        said = headway("doctor", url, "--model", "m", "--json")
    told = json.loads(said.stdout)
    assert {finding["name"] for finding in told["machine"]} >= {"clock", "endpoint"}
    assert len(told["endpoint"]["events"]) == 43
    assert told["endpoint"]["ok"]


def test_a_refusal_exits_with_3_and_the_servers_sentence_cannot_steer_the_terminal(headway):
    wrong = refusal(404, message="No model \x1b[31mm here.")
    with endpoint(lambda n, body: wrong) as url:
        said = headway("doctor", url, "--model", "m")
    assert said.returncode == 3
    assert "Refuses the request (HTTP 404)" in said.stdout
    assert r"No model \x1b[31mm here" in said.stdout
    assert "\x1b[31m" not in said.stdout


def test_where_nobody_listens_the_sentence_is_all_there_is_to_say(headway):
    with endpoint(lambda n, body: LONG) as url:
        pass
    said = headway("doctor", url, "--model", "m")
    assert said.returncode == 3
    assert "Cannot be reached" in said.stdout
    assert "after the send" not in said.stdout


def test_a_mistake_in_the_url_exits_with_2(headway):
    said = headway("doctor", "ftp://x")
    assert said.returncode == 2
    assert "target.url" in said.stderr
