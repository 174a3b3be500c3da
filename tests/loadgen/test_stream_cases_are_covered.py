"""Every known stream that broke another tool has a test here, by its number.

1-4 roles, finishes and usage that are no tokens | 5-12, 14-18 framing: blanks, line ends,
comments, cuts, line separators, long lines, multi-line data, byte order marks | 19-21 errors and
pages inside a 200 | 22, 23, 25 ends | 26, 27 reasoning | 28 tool calls | 29 nulls | 30-32, 34 token
counts | 33 a refused stream_options | 35 rate limits | 36 resets and stale connections | 37
Anthropic | 38 Ollama | 39 compression | 40 a client that hands on late | 41 n > 1 | 44 clock steps
| 45 due and sent | 46 in flight at the end | 47 TGI.  (13, 24, 42, 43 lacked evidence.)

A test of a case names its number: test_12_14_15_…; those that live with another subject are listed.
"""

import re
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
NUMBERED = re.compile(r"^def test_((?:\d+_)+)[a-z]", re.MULTILINE)
CASES = {*range(1, 48)} - {13, 24, 42, 43}

ELSEWHERE = {
    16: "loadgen/wire/test_ndjson.py"
    "::test_an_endless_line_is_a_protocol_error_and_is_let_go_to_its_end",
    21: "loadgen/test_exchange_outcomes.py::test_a_200_without_a_byte_of_body_is_empty",
    25: "loadgen/transport/test_overdue.py::test_a_second_after_the_done_line_the_answer_is_done",
    32: "loadgen/test_decoder_counts.py"
    "::test_the_tokens_of_each_answer_are_counted_when_all_is_decoded",
    33: "loadgen/test_preflight.py::test_a_refused_field_is_left_out_and_its_loss_is_said",
    34: "analysis/test_per_request.py::test_a_one_token_answer_has_ttft_and_no_tpot",
    36: "loadgen/transport/test_pool_keep_alive.py"
    "::test_a_connection_closed_while_our_request_was_on_its_way_is_replaced_once",
    39: "analysis/test_delivery.py::test_a_compressed_answer_is_named_as_the_likely_reason",
    40: "loadgen/test_self_test.py::test_a_client_that_hands_on_blocks_fails",
    44: "loadgen/test_clock_steps.py"
    "::test_a_step_harms_one_read_at_most_and_that_one_says_so_or_is_off_by_little",
    45: "analysis/test_per_request.py::test_every_span_of_one_answer_by_hand",
    46: "loadgen/test_decoder.py::test_streams_of_a_dead_worker_end_cancelled_with_their_tokens",
}
"""Case -> a test under tests/ that covers it, or its part outside the decoder."""


def numbered() -> set[int]:
    """Cases whose number is in the name of a test of this folder."""
    found: set[int] = set()
    for path in TESTS.joinpath("loadgen").glob("test_*.py"):
        for numbers in NUMBERED.findall(path.read_text(encoding="utf-8")):
            found |= {int(number) for number in numbers.rstrip("_").split("_")}
    return found


def test_no_case_is_missing():
    assert CASES - numbered() - set(ELSEWHERE) == set()


@pytest.mark.parametrize("place", ELSEWHERE.values(), ids=ELSEWHERE)
def test_what_is_said_to_be_elsewhere_is_there(place: str):
    file, _, name = place.partition("::")
    assert f"def {name}(" in (TESTS / file).read_text(encoding="utf-8")
