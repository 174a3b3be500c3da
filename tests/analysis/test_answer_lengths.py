"""Answers that ended by themselves are told, and what the plan had asked."""

import pandas as pd

from analysis.answer_lengths import NaturalStops, natural_stops, sentence


def stops(asked, given):
    return natural_stops(pd.DataFrame({"max_tokens": asked, "output_tokens": given}))


def test_answers_shorter_than_asked_ended_by_themselves():
    found = stops([128, 128, 64, None], [128, 12, 40, 5])
    assert found == NaturalStops(n=3, stopped=2, least=12, most=40)
    assert sentence(found) == (
        "2 of 3 answers ended by themselves before the length asked for (a natural stop), after 12 "
        "to 40 tokens: output lengths are the model's, not the plan's."
    )


def test_answers_that_all_stopped_alike_are_said_as_such():
    found = stops([128, 128], [9, 9])
    assert found is not None
    assert (sentence(found) or "").startswith(
        "All 2 answers ended by themselves before the length asked for (a natural stop), after 9 "
    )


def test_answers_of_their_full_length_are_no_news():
    found = stops([128, 64], [128, 64])
    assert found == NaturalStops(2, 0)
    assert found is not None
    assert sentence(found) is None


def test_where_no_tokens_are_told_nothing_is_known():
    assert stops([128], [None]) is None
    assert natural_stops(pd.DataFrame()) is None
