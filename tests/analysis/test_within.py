"""A level told from summaries says so, and comes out as its token events tell it."""

import pytest
from made import SECOND, UID, Made, back_to_back, stage

from analysis.show import show
from analysis.text import text
from storage import summarised


@pytest.fixture(scope="module")
def made():
    return Made(back_to_back(200), [stage(0, "c=1", 0, 56 * SECOND)])


def test_a_summarised_level_is_within_one_percent_and_says_so(made, monkeypatch):
    exact = show(made.ask, UID)
    monkeypatch.setattr(summarised, "MOST_EVENTS", 0)
    told = show(made.ask, UID)
    assert told["validity"]["verdict"] == exact["validity"]["verdict"] == "exact"
    for name in ("chunk_gap", "itl"):
        (a,), (b,) = ([level["metrics"][name] for level in x["levels"]] for x in (told, exact))
        assert a["within"] == 0.01
        assert "summaries by second" in a["note"]
        assert "within" not in b
        assert a["n"] == b["n"] == 193 * 9
        assert a["p95"] == pytest.approx(b["p95"], rel=0.01)
    (a,), (b,) = ([level["metrics"]["tps_system"] for level in x["levels"]] for x in (told, exact))
    assert a == b


def test_the_printed_line_says_within(made, monkeypatch):
    monkeypatch.setattr(summarised, "MOST_EVENTS", 0)
    lines = text(show(made.ask, UID)).splitlines()
    assert any("gap, within 1%" in line for line in lines)
