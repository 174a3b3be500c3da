"""A server that stands still for 2 s: an open loop shows it, a closed loop hides it."""

import json
import math
from collections.abc import Iterator
from urllib.request import Request, urlopen

import pandas as pd
import pytest

from loadgen import launch
from tests.runs.conftest import Runs

pytestmark = pytest.mark.slow
FREEZE_S = 2.0
SECONDS = 16
STREAMS = 2
WORK = {"prompt_tokens": 40, "output_tokens": 3}
LATE_MS = 500.0  # nothing but the freeze makes a request wait that long, also on a slow machine


def measured(runs: Runs, stage: dict) -> pd.DataFrame:
    """Every request of a run with this one level, in the midst of which the server froze; ms."""
    run = runs.start({**stage, "seconds": SECONDS}, workload=WORK)
    runs.wait(run, lambda s: s["state"] == "running" and s["done"] >= 30)
    freeze(runs.folder(run).read("run.json")["target_url"])
    assert runs.end(run)["state"] == "finished"
    rows = runs.requests(run)
    assert list(rows["outcome"].unique()) == ["complete"]
    due, send, first, last = (
        rows[f"{name}_us"].astype(float) / 1000
        for name in ("due", "send", "first_token", "last_token")
    )
    spans = {"ttft": first - send, "from_schedule": first - due, "e2e": last - send}
    return pd.DataFrame(spans)


def freeze(url: str) -> None:
    """Have the simulator stand still from now on, as its --set freeze_at_s would.

    By a request of our own, for a run begins sooner or later after the simulator's first request.
    """
    body = {"prompt": "a", "max_tokens": 1, "x_sim_fault": {"freeze_ms": round(FREEZE_S * 1000)}}
    with urlopen(Request(f"{url}/v1/completions", json.dumps(body).encode())) as answer:
        answer.read()


def quantile(values: pd.Series, q: float) -> float:
    """The smallest value that is not below a share q of all."""
    return float(values.sort_values().iloc[math.ceil(q * len(values)) - 1])


@pytest.fixture(scope="module")
def loops(tmp_path_factory) -> Iterator[tuple[pd.DataFrame, pd.DataFrame]]:
    """The same server and load twice: STREAMS in closed loop, then at the rate this reached."""
    runs = Runs(tmp_path_factory.mktemp("stall"))
    try:
        closed = measured(runs, {"concurrency": STREAMS})
        rate_per_s = len(closed) / SECONDS
        # Constant arrivals, so that only the freeze makes a difference.
        yield closed, measured(runs, {"rate_per_s": rate_per_s, "arrivals": "constant"})
    finally:
        for run_uid in launch.running(runs.data):
            launch.stop(runs.data, run_uid)
        runs.store.close()


def test_both_loops_sent_as_many_requests(loops):
    closed, opened = loops
    assert len(closed) > 100
    assert len(opened) == pytest.approx(len(closed), abs=1)


def test_in_closed_loop_no_more_requests_meet_the_freeze_than_there_are_streams(loops):
    closed, _ = loops
    assert closed["e2e"].max() > 1000 * FREEZE_S * 0.9  # it was there
    assert 1 <= (closed["e2e"] > LATE_MS).sum() <= STREAMS
    assert quantile(closed["ttft"], 0.95) < LATE_MS
    assert quantile(closed["ttft"], 1 - STREAMS / len(closed)) < LATE_MS  # p99 for 200 requests


def test_in_open_loop_every_arrival_of_the_freeze_waits_for_the_rest_of_it(loops):
    _, opened = loops
    rate_per_s = len(opened) / SECONDS
    late = opened["from_schedule"] > LATE_MS
    assert late.sum() >= 0.9 * rate_per_s * (FREEZE_S - LATE_MS / 1000)
    assert quantile(opened["from_schedule"], 0.95) > LATE_MS
    assert 0.8 < quantile(opened["from_schedule"], 0.99) / (1000 * FREEZE_S) < 2


def test_an_open_loop_that_sends_on_time_shows_the_freeze_from_send_too(loops):
    _, opened = loops
    held_back = opened["from_schedule"] - opened["ttft"]
    assert held_back.min() >= 0
    assert quantile(held_back, 0.99) < 100  # our own lateness; the server's is 2 s
    assert quantile(opened["ttft"], 0.99) > 1000 * FREEZE_S * 0.8
