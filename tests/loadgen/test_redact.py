"""No key of any target reaches a file, whoever echoes it."""

from loadgen.redact import redactor


def test_the_keys_of_all_targets_are_removed_the_longer_first(monkeypatch):
    monkeypatch.setenv("ONE_KEY", "sk-abc")
    monkeypatch.setenv("TWO_KEY", "sk-abc-def")
    clean = redactor("ONE_KEY", "TWO_KEY", None, "NOT_SET_KEY")
    assert clean("no sk-abc-def nor sk-abc here") == "no [key removed] nor [key removed] here"
    assert clean(None) is None
    assert clean("") == ""


def test_a_short_value_stays_for_it_occurs_in_honest_sentences(monkeypatch):
    monkeypatch.setenv("SHORT_KEY", "the")
    assert redactor("SHORT_KEY")("the answer") == "the answer"
