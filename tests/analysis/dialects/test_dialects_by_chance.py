"""Every formula of every dialect against a slow rewriting, on answers made by chance."""

import pytest
from hypothesis import given, settings

from analysis.dialects.line import Facts
from analysis.dialects.registry import DIALECTS
from tests.analysis.dialects.made_answers import columns, rows_by_chance
from tests.analysis.dialects.slow_dialects import SLOW


def test_each_dialect_has_a_slow_rewriting():
    assert list(SLOW) == sorted(SLOW, key=list(DIALECTS).index) or set(SLOW) == set(DIALECTS)


@pytest.mark.parametrize("name", DIALECTS)
@given(rows=rows_by_chance())
@settings(max_examples=30, deadline=None)
def test_a_dialect_says_what_its_slow_rewriting_says(name, rows):
    told = {line.name: line.theirs for line in DIALECTS[name].numbers(columns(rows), Facts())}
    for number, expected in SLOW[name](rows).items():
        assert told[number] == pytest.approx(expected, rel=1e-9, abs=1e-9), number


@pytest.mark.parametrize("name", DIALECTS)
@given(rows=rows_by_chance())
@settings(max_examples=8, deadline=None)
def test_every_number_has_a_name_of_its_own_and_none_is_without_a_reason(name, rows):
    lines = DIALECTS[name].numbers(columns(rows), Facts())
    assert len({line.name for line in lines}) == len(lines)
    assert all(line.reason for line in lines if line.theirs is None or line.metric)
