import pytest
from made_up_runs import RunFolder, Stream

from storage.actions import ACTIONS
from storage.owner import Owner
from storage.protocol import StoreError


@pytest.fixture(scope="module")
def run(shared_tables):
    """(do, asked): actions on a run with one level of about ten seconds, and its windows."""
    folder = RunFolder(shared_tables.data)
    folder.columns(0, [Stream(i, 1_000_000 * i) for i in range(10)])
    folder.end()
    shared_tables.turn()
    owner = Owner(shared_tables.database, shared_tables.data)

    def do(name, **args):
        return ACTIONS[name](owner, folder.uid, **args).to_pylist()

    return do, lambda: shared_tables.ask("windows", run=folder.uid)


def test_a_moved_window_is_kept_until_it_is_moved_again_or_reset(run):
    do, asked = run
    assert asked() == []
    assert do("set_window", stage=0, w0_us=2_000_000, w1_us=5_000_000) == asked()
    do("set_window", stage=0, w0_us=3_000_000, w1_us=6_000_000)
    assert asked() == [{"stage": 0, "w0_us": 3_000_000, "w1_us": 6_000_000}]
    assert do("reset_window", stage=0) == []
    assert asked() == []


@pytest.mark.parametrize(
    ("window", "said"),
    [
        ({"w0_us": 5, "w1_us": 5}, "is empty"),
        ({"w0_us": 9, "w1_us": 5}, "is empty"),
        ({"w0_us": 60_000_000, "w1_us": 90_000_000}, "outside the level"),
        ({"w0_us": 0, "w1_us": 2_000_000, "stage": 7}, "no level 7"),
    ],
)
def test_a_window_that_cannot_be_is_refused_with_a_sentence_and_nothing_changes(run, window, said):
    do, asked = run
    with pytest.raises(StoreError, match=said):
        do("set_window", **{"stage": 0} | window)
    assert asked() == []
