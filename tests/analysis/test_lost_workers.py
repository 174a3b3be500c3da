"""A level that lost a load worker comes with a warning, and no other does."""

from analysis.lost_workers import less_load

LOST = {"worker": 2, "how": "was killed by signal 9", "stage": 1, "into_s": 3.21, "share": 1 / 3}


def test_the_level_of_the_loss_says_how_much_is_missing_from_when_on():
    assert less_load({"machines": {"workers": [], "lost": [LOST]}}, 1) == [
        "Less load than its name says: 33% of it is missing from 3.2 s on, when load worker 2 was "
        "killed by signal 9."
    ]


def test_other_levels_and_other_runs_have_no_such_warning():
    assert less_load({"machines": {"workers": [], "lost": [LOST]}}, 0) == []
    assert less_load({}, 1) == []
    assert less_load({"machines": None}, 1) == []
