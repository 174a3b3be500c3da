"""docs/dialects.md names every dialect as it is."""

from pathlib import Path

import pytest

from analysis.dialects.agreement import DIALECT_OF, dialect_of
from analysis.dialects.line import Facts
from analysis.dialects.registry import DIALECTS
from storage.exchange.importers import IMPORTERS
from tests.analysis.dialects.made_answers import Row, columns

PAGE = (Path(__file__).parents[3] / "docs" / "dialects.md").read_text()


@pytest.mark.parametrize("name", DIALECTS)
def test_the_page_has_its_versions_and_rule(name):
    told = DIALECTS[name]
    assert f"| `{name}` | {told.title} | {told.versions} | {told.rule} |" in PAGE


@pytest.mark.parametrize("name", DIALECTS)
def test_every_number_called_time_per_token_is_one_of_its_lines(name):
    row = Row(chunks=[(0.1, 1, False), (0.2, 1, False)], tokens=2)
    titles = {line.title for line in DIALECTS[name].numbers(columns([row]), Facts())}
    assert set(DIALECTS[name].per_token) <= titles


def test_every_importer_has_a_dialect():
    assert {*DIALECT_OF, "guidellm"} == set(IMPORTERS)
    assert dialect_of("guidellm", "0.2 schema") == "guidellm_02"
    assert dialect_of("guidellm", "0.8.1") == "guidellm"
    assert dialect_of("guidellm", None) == "guidellm"
