"""Which runs give up their token events: pure, from sizes newest first."""

import pandas as pd
import pytest

from analysis.retention import Policy, PolicyError, policy, to_drop

DAY_NS = 86_400 * 10**9
SIZES = pd.DataFrame(
    {
        "run_uid": ["c", "b", "a"],
        "since_epoch_ns": [100 * DAY_NS, 90 * DAY_NS, 10 * DAY_NS],
        "n_bytes": [3e9, 2e9, 4e9],
    }
)


def dropped(kept):
    return list(to_drop(SIZES, kept, 101 * DAY_NS)["run_uid"])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("30d", Policy(days=30)),
        (" 1.5 GB ", Policy(n_bytes=1.5e9)),
        ("2TB", Policy(n_bytes=2e12)),
        ("500MB", Policy(n_bytes=5e8)),
    ],
)
def test_a_policy_is_read(text, expected):
    assert policy(text) == expected


@pytest.mark.parametrize("text", ["", "30", "d", "-3d", "50gb", "1e3d", "30 days"])
def test_what_is_no_policy_is_told_with_an_example(text):
    with pytest.raises(PolicyError, match=r"expected something like 30d or 50GB"):
        policy(text)


def test_what_is_older_goes():
    assert dropped(Policy(days=20)) == ["a"]
    assert dropped(Policy(days=0)) == ["c", "b", "a"]


def test_all_but_the_newest_go():
    assert dropped(Policy(newest=1)) == ["b", "a"]
    assert dropped(Policy(newest=3)) == []


def test_the_newest_that_fit_stay():
    assert dropped(Policy(n_bytes=5e9)) == ["a"]
    assert dropped(Policy(n_bytes=2.9e9)) == ["c", "b", "a"]


def test_without_a_rule_nothing_goes_and_without_runs_there_is_nothing():
    assert dropped(Policy()) == []
    assert len(to_drop(SIZES[:0], Policy(days=1, newest=0, n_bytes=1), 0)) == 0
