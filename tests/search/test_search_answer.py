"""What a search says at its end."""

import json

from search.answer import answer_of
from search.probing import Bounds, ProbeResult, Tally

STREAMS = Bounds(1, 64)


def result(value: float, n: int, misses: float) -> ProbeResult:
    return ProbeResult(value, (Tally("TTFT p95 ≤ 400 ms", 95, n, misses),))


def said(*found: ProbeResult, over="concurrency") -> str:
    return answer_of(found, STREAMS, over).sentence


def test_it_says_up_to_where_and_why():
    assert said(result(14, 212, 2), result(16, 96, 18)) == (
        "The objectives hold up to 14 streams and fail at 16 streams. "
        "At 14 streams TTFT p95 ≤ 400 ms held (0.943 % over it, at most 4.11 % with 95 % "
        "confidence, of 212 requests). "
        "At 16 streams TTFT p95 ≤ 400 ms did not hold (18.8 % over it, at least 8.25 %, of 96 "
        "requests)."
    )


def test_a_rate_has_its_unit():
    assert "hold up to 2.5 requests/s and fail at 3 requests/s." in said(
        result(2.5, 100, 0), result(3, 96, 18), over="rate_per_s"
    )


def test_none_holds():
    sentence = said(result(1, 20, 20))
    assert sentence.startswith("The objectives do not hold even at 1 stream, the least that was")


def test_all_hold():
    answer = answer_of([result(64, 100, 0)], STREAMS, "concurrency")
    assert answer.end == "at_least"
    assert "hold at 64 streams, the most that was asked for: the limit is there or beyond" in (
        answer.sentence
    )


def test_what_could_not_be_told_is_said_with_its_bounds():
    sentence = said(result(8, 100, 0), result(12, 400, 20), result(16, 96, 18))
    assert "up to 8 streams and fail at 16 streams" in sentence
    assert (
        "At 12 streams it cannot be told whether TTFT p95 ≤ 400 ms holds (5 % over it, truly "
        in (sentence)
    )


def test_nothing_known_is_not_called_a_failure():
    answer = answer_of([result(1, 10, 0)], STREAMS, "concurrency")
    assert (answer.end, answer.value) == ("untold", None)
    assert answer.sentence.startswith("No load was found at which the objectives clearly hold.")
    assert "no request could be judged" in said(result(1, 0, 0))


def test_without_a_failing_load_it_says_so():
    assert "no load was seen to fail clearly" in said(result(8, 100, 0), result(12, 400, 20))


def test_a_server_that_does_not_simply_become_slower_is_named():
    answer = answer_of(
        [result(1, 100, 0), result(2, 50, 25), result(4, 100, 0)], STREAMS, "concurrency"
    )
    assert answer.value == 1
    assert "But they also held at 4 streams" in answer.sentence


def test_of_several_objectives_the_one_that_decides_is_named():
    held = ProbeResult(1, (Tally("A", 95, 200, 0), Tally("B", 95, 200, 2)))
    failed = ProbeResult(2, (Tally("A", 95, 200, 100), Tally("B", 95, 200, 0)))
    assert "At 1 stream B held" in said(held, failed)
    assert "At 2 streams A did not hold" in said(held, failed)


def test_it_travels_as_json():
    answer = answer_of([result(1, 100, 0), result(2, 50, 25)], STREAMS, "concurrency")
    told = json.loads(json.dumps(answer.to_dict()))
    assert (told["value"], told["high"], told["over"]) == (1, 2, "concurrency")
    assert told["probes"][1]["tallies"][0] == {
        "label": "TTFT p95 ≤ 400 ms",
        "percentile": 95,
        "n": 50,
        "misses": 25,
    }
    assert told["probes"][1]["verdict"] == "fails"
