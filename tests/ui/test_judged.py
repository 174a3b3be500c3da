"""The list of runs marks those whose numbers may not be believed."""

import time

import pandas as pd
import pytest

from storage.client import Store
from tests.ui.conftest import forget
from tests.ui.made_up_results import ended_run, run_without_requests
from tests.ui.test_insecure import a_run
from ui.judged import judge_newest, verdict_of
from ui.runs_table import DISBELIEVED, runs_columns, runs_table


def test_a_run_that_may_not_be_believed_is_not_shown_as_finished():
    runs = pd.DataFrame([a_run(True)] * 3)
    table = runs_table(runs, None, ["saturated", "bounded", None])
    assert list(table["State"]) == [[DISBELIEVED], ["Finished"], ["Finished"]]
    assert DISBELIEVED in runs_columns()["State"]["type_config"]["options"][-1].values()


@pytest.mark.slow
def test_each_run_is_judged_once_the_newest_first(tmp_path):
    data = tmp_path / "data"
    uids = [run_without_requests(data), ended_run(data)]
    store = Store.connect(data)
    try:
        wait_until_final(store, len(uids))
        judged = [judge_newest(data, store.ask) for _ in range(3)]
        assert set(judged[:2]) == set(uids)
        assert judged[2] is None
        told = {r["run_uid"]: verdict_of(data, r) for _, r in store.ask("runs").iterrows()}
        assert told == {uids[0]: "unknown", uids[1]: "exact"}
    finally:
        store.close()
        forget(data)


def wait_until_final(store, n):
    for _ in range(200):
        runs = store.ask("runs")
        if len(runs) == n and runs["is_final"].all():
            return
        time.sleep(0.05)
    raise AssertionError("the store did not take the runs in")
