"""An explanation in tiles, tables, words and the link to a run."""

import pytest
from explanations import said

from loadgen.explain_warnings import RULES
from loadgen.explain_words import headline, ms, summary
from ui.endpoint_titles import TITLES
from ui.endpoint_view import check_tiles, endpoint_params, events_table, facts_table, target_of

OWN = {"url": " http://h/v1 ", "model": "", "api": "openai_chat", "api_key_env": "KEY"}


def shown(found):
    return {tile.label: (tile.value, tile.note) for tile in check_tiles(found)}


def test_tiles_go_from_the_connection_to_the_last_token():
    assert shown(said()) == {
        "Connect": ("0.400 ms", "TCP 0.40"),
        "Headers": ("5.00 ms", "after the send"),
        "TTFT": ("200 ms", "after the send"),
        "First visible": ("200 ms", "TTFT visible"),
        "Chunk gap p50": ("20.0 ms", "1 gap, max 20.0"),
        "Tokens": ("2", "in 2 chunks"),
        "E2E": ("220 ms", "to the last token"),
    }


def test_what_was_not_told_is_a_dash_and_never_zero():
    phases = dict.fromkeys(said()["phases"])
    nothing = {"p50_ms": None, "max_ms": None, "n": 0}
    tokens = said()["tokens"] | {"output": None, "source": None, "prompt": None}
    values = shown(said(phases=phases, chunk_gap=nothing, tokens=tokens))
    assert {value for value, _ in values.values()} == {"–"}
    assert values["Tokens"][1] == "not counted"


def test_a_whole_answer_ends_with_its_last_byte():
    phases = said()["phases"] | {"first_token_ms": None, "last_token_ms": None, "whole_ms": 900.0}
    found = said(form="whole", phases=phases)
    assert shown(found)["E2E"] == ("900 ms", "to the last byte")
    assert "in one piece after 900 ms" in summary(found)


def test_an_answer_of_embeddings_holds_no_text_and_that_is_no_fault():
    tokens = said()["tokens"] | {"output": None, "source": None, "chunks": 0}
    phases = said()["phases"] | {"first_token_ms": None, "last_token_ms": None, "whole_ms": 18.0}
    found = said(form="whole", phases=phases, tokens=tokens)
    assert shown(found)["Tokens"] == ("5", "in the prompt")
    told = summary(found)
    assert told.endswith("It holds no text; the server's usage counts 5 prompt tokens.")


def test_the_events_table_leaves_out_what_nobody_told():
    table = events_table(said())
    assert "Tokens" not in table.columns
    assert table["Kind"].tolist() == ["role", "content", "content", "done"]
    assert table["Says"].tolist() == ["", "", "arrival shared", "finish_reason stop"]
    counted = [event | {"tokens": 1} for event in said()["events"]]
    assert events_table(said(events=counted))["Tokens"].tolist() == ["1"] * 4


def test_facts_hold_no_empty_line():
    facts = dict(facts_table(said()).to_numpy().tolist())
    assert facts["Counted by"] == "the server's usage"
    assert facts["Server: prefill"] == "12.0 ms"
    assert "of them cached" not in facts
    assert "Server's request id" not in facts


def test_the_link_fills_in_the_endpoint():
    assert endpoint_params({**OWN, "model": "mine"}) == {
        "endpoint": "My endpoint",
        "url": "http://h/v1",
        "api": "openai_chat",
        "model": "mine",
    }
    assert endpoint_params({**OWN, "verify_tls": False})["verify_tls"] == "false"
    assert endpoint_params({"url": "sim://fast", "model": "fast", "api": "a"}) == {
        "profile": "fast"
    }


def test_blanks_around_a_field_are_not_asked():
    assert target_of(OWN)["url"] == "http://h/v1"


def test_every_warning_has_a_title():
    assert set(TITLES) == {rule.__name__ for rule in RULES}


def test_the_headline_says_whether_it_can_be_measured():
    warned = [{"name": "batched", "level": "warn", "text": "x"}]
    noted = [{"name": "comments", "level": "note", "text": "x"}]
    assert headline(said()) == ("green", "Answers, and can be measured")
    assert headline(said(warnings=noted))[0] == "green"
    assert headline(said(warnings=warned)) == ("orange", "Answers, with 1 warning")
    refused = said(ok=False, outcome="http_error", http_status=401, sentence="No key.")
    assert headline(refused) == ("red", "Refuses the request (HTTP 401)")
    assert summary(refused) == "No key."
    assert headline({"ok": False, "sentence": "x"}) == ("red", "Could not be asked")


def test_a_median_gap_is_not_quoted_where_tokens_came_in_batches():
    warned = [{"name": "batched", "level": "warn", "text": "x"}]
    assert "the others in batches" in summary(said(warnings=warned))
    assert "one event every 20.0 ms (median)" in summary(said())


@pytest.mark.parametrize(
    ("value", "told"),
    [(None, "–"), (0.4, "0.40 ms"), (20, "20.0 ms"), (1044, "1,040 ms"), (12_340, "12.3 s")],
)
def test_times_have_three_digits_at_most(value, told):
    assert ms(value) == told
