"""Answers in one piece have an E2E and no first token; embeddings are measured by input tokens."""

import pytest
from made import SECOND, UID, Made, back_to_back, frame, plan, row, stage

from analysis.per_request import e2e_ms, tpot_ms, ttft_ms
from analysis.show import show
from analysis.text import text
from analysis.throughput import input_rate
from analysis.validity import Evidence, doubt_ms, judge
from analysis.windows import Window

WHOLE = {
    "form": "whole",
    "first_token_us": None,
    "first_visible_us": None,
    "last_token_us": None,
    "n_chunks": 0,
    "prompt_tokens": 100,
}


def whole_row(request_id, send_us, **changes):
    return row(request_id, send_us, whole_us=send_us + 280_000, **WHOLE | changes)


@pytest.fixture(scope="module")
def level():
    rows = [whole_row(i, 280_000 * i) for i in range(30)]
    shown = show(Made(rows, [stage(0, "c=1", 0, 30 * 280_000)]).ask, UID)
    assert "came in one piece" in text(shown)
    return shown["levels"][0]


def test_a_whole_answer_lasts_until_its_last_byte():
    rows = frame([whole_row(0, 5_000), row(1, 5_000)])
    assert e2e_ms(rows).tolist() == [280.0, 280.0]
    assert str(ttft_ms(rows)[0]) == "nan"


def test_a_level_of_whole_answers_has_no_ttft_but_a_rate_and_says_why(level):
    metrics = level["metrics"]
    assert (metrics["ttft"]["n"], metrics["e2e"]["p50"]) == (0, 280.0)
    assert metrics["request_rate"]["value"] == pytest.approx(1 / 0.28, rel=0.1)
    assert metrics["tps_input"]["value"] == pytest.approx(100 / 0.28, rel=0.1)
    assert any(said.startswith("All") and "one piece" in said for said in level["warnings"])


def test_their_verdict_rests_on_the_stamps_of_their_ends(level):
    assert (level["validity"]["verdict"], level["validity"]["bound_ms"]) == ("exact", 0)
    assert level["validity"]["reason"] == "The end of every answer carries the kernel's own stamp."


WHOLE_SEEN = Evidence("kernel", 0, 0, 0, None, 3.0, None, None, None, e2e_p50_ms=100.0, n_whole=9)


@pytest.mark.parametrize(
    ("changes", "verdict"),
    [
        ({}, "exact"),
        ({"n_whole_missing": 1}, "bounded"),  # 3 ms of 100 ms
        ({"n_whole_missing": 1, "lag_p99_ms": 6.0}, "saturated"),
        ({"n_whole_missing": 1, "lag_p99_ms": None}, "unknown"),
        ({"stamps": "user"}, "bounded"),
        ({"send_lag_p99_ms": 6.0}, "saturated"),
        ({"n_whole": 0}, "unknown"),
    ],
)
def test_the_verdict_on_whole_answers(changes, verdict):
    values = {name: getattr(WHOLE_SEEN, name) for name in Evidence.__slots__}
    assert judge(Evidence(**values | changes)).verdict == verdict


def test_a_level_of_whole_answers_is_in_doubt_by_nothing_or_by_how_late_the_loop_came():
    values = {name: getattr(WHOLE_SEEN, name) for name in Evidence.__slots__}
    assert doubt_ms(WHOLE_SEEN) == 0
    late = Evidence(**values | {"stamps": "user", "lag_p99_ms": 6.0})
    assert doubt_ms(late) == 6
    assert "ends of answers are in doubt by 6 ms at p99, more than 5 %" in judge(late).reason
    assert doubt_ms(Evidence(**values | {"n_whole": 0})) is None


def test_input_tokens_count_where_the_answer_begins():
    rows = frame(
        [
            row(0, 0, prompt_tokens=10),  # first token at 0.1 s
            whole_row(1, 0, prompt_tokens=20),  # whole at 0.28 s
            row(2, 0, prompt_tokens=40, ttft_us=2 * SECOND),
            row(3, 0, prompt_tokens=80, outcome="reset"),
        ]
    )
    assert input_rate(rows, Window(0, SECOND, True, "")) == 30.0


def test_input_tokens_that_nobody_told_are_unknown_not_0():
    rows = frame([row(0, 0, prompt_tokens=10), row(1, 0)])
    assert input_rate(rows, Window(0, SECOND, True, "")) is None


def test_several_choices_at_once_have_no_tpot():
    rows = frame([row(0, 0, n_choices=2), row(1, 0, n_choices=1)])
    assert [str(v) for v in tpot_ms(rows)] == ["nan", "20.0"]


def test_usage_below_the_number_of_chunks_is_said():
    made = Made(back_to_back(10, output_tokens=5), [stage(0, "c=1", 0, 4 * SECOND)])
    warnings = show(made.ask, UID)["levels"][0]["warnings"]
    assert any("answers came in more chunks than" in said for said in warnings)


def test_a_tokenizer_that_disagrees_with_the_usage_is_said():
    made = Made(back_to_back(10, tokenizer_tokens=12), [stage(0, "c=1", 0, 4 * SECOND)])
    warnings = show(made.ask, UID)["levels"][0]["warnings"]
    assert any("differ by 20% of the tokens" in said for said in warnings)


def test_a_tokenizer_that_did_not_count_is_said():
    target = {"url": "http://h", "model": "m", "tokenizer": "t.json"}
    rows = [
        r | {"tokenizer_tokens": None if i == 5 else 10} for i, r in enumerate(back_to_back(10))
    ]
    made = Made(rows, [stage(0, "c=1", 0, 4 * SECOND)], plan(target=target))
    warnings = show(made.ask, UID)["levels"][0]["warnings"]
    assert any("did not count 1 of" in said for said in warnings), warnings


def test_a_tokenizers_count_of_the_whole_text_tells_no_single_chunk():
    made = Made(back_to_back(10, token_source="tokenizer"), [stage(0, "c=1", 0, 4 * SECOND)])
    metrics = show(made.ask, UID)["levels"][0]["metrics"]
    assert (metrics["itl"]["n"], metrics["tpot"]["n"] > 0) == (0, True)
