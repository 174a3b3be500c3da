import pytest
from hypothesis import given
from hypothesis import strategies as st

from ui.form_text import numbers_of, object_of, points_of, points_text, short, text_of

FINITE = st.floats(allow_nan=False, allow_infinity=False)


@given(st.lists(FINITE))
def test_a_list_of_numbers_is_typed_and_read_without_loss(numbers):
    assert numbers_of(text_of(numbers)) == numbers


@given(st.lists(st.tuples(FINITE, FINITE)))
def test_points_are_typed_and_read_without_loss(points):
    assert points_of(points_text(points)) == [list(point) for point in points]


def test_numbers_stand_between_commas_semicolons_or_blanks():
    assert numbers_of(" 1, 2;4  8.5,, ") == [1, 2, 4, 8.5]


@pytest.mark.parametrize("word", ["x", "inf", "nan", "1e999"])
def test_what_is_no_number_stays_for_the_plan_to_complain_about(word):
    assert numbers_of(f"1, {word}") == [1, word]


def test_whole_numbers_have_no_point():
    assert (short(16.0), short(0.5)) == ("16", "0.5")
    assert isinstance(numbers_of("16.0")[0], int)


def test_only_an_object_is_further_fields():
    assert object_of(' {"a": [1]} ') == {"a": [1]}
    assert object_of(" ") == {}
    assert object_of("[1]") == "[1]"
    assert object_of("{a: 1}") == "{a: 1}"
