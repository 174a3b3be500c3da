"""A run whose server was not verified says so wherever it is shown."""

import json

import pandas as pd

from ui.demo import demo_plan
from ui.runs_table import runs_table


def a_run(verify_tls: bool) -> dict:
    plan = demo_plan().model_dump(mode="json")
    plan["target"] |= {"url": "https://host:8443/v1", "verify_tls": verify_tls}
    return {
        "state": "finished",
        "name": "run",
        "url": plan["target"]["url"],
        "model": "m",
        "plan": json.dumps(plan),
        "n_requests": 1,
        "n_failed": 0,
        "ttft_p95_by_stage_us": [1000.0],
        "started_at": pd.Timestamp("2026-09-21", tz="UTC"),
    }


def test_the_list_of_runs_marks_a_server_that_was_not_verified():
    table = runs_table(pd.DataFrame([a_run(False), a_run(True)]), None, [None, "exact"])
    assert list(table["Endpoint"]) == ["host:8443 ⚠ certificate not verified", "host:8443"]
