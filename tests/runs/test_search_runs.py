"""Searches and sweeps by doubling as whole runs, against servers whose limit is known."""

import threading
import time
from collections.abc import Callable
from contextlib import contextmanager

import pandas as pd
import pytest

from loadgen.probe_rows import ENDED
from storage.live import LiveTail
from tests.endpoints import GOOD_WITH_USAGE, Answered, endpoint, refusal

pytestmark = pytest.mark.slow
AT_ONCE = 5  # answers that the server makes at the same time
ANSWER_S = 0.03
LONG_S = 0.25  # so long that a busy client's own pauses between two requests are little
ENDS_WITHIN_S = 150
BUSY = refusal(429, message="too many at once")
E2E = {"metric": "e2e", "percentile": 95, "max_ms": 30_000}  # only refusals miss it
MOST = {**E2E, "percentile": 90}
NEVER = {"metric": "e2e", "percentile": 95, "max_ms": 1}
SEARCH = {"kind": "search", "low": 1, "high": 32, "seconds": 40, "most_requests": 400}
BOTH_ENDS = {**SEARCH, "low": 4, "high": 8}


class Refusing:
    """AT_ONCE answers at once; whatever comes beside them is refused."""

    def __init__(self) -> None:
        self.slots = threading.Semaphore(AT_ONCE)

    def __call__(self, n: int, body: dict) -> Answered:
        if not self.slots.acquire(blocking=False):
            return BUSY
        time.sleep(LONG_S)
        self.slots.release()
        return GOOD_WITH_USAGE


class Queueing:
    """Two answers at once, a tenth of a second each; whatever comes beside them waits."""

    def __init__(self) -> None:
        self.slots = threading.Semaphore(2)

    def __call__(self, n: int, body: dict) -> Answered:
        with self.slots:
            time.sleep(0.1)
        return GOOD_WITH_USAGE


class Dying:
    """Answers no more once so many came at the same time."""

    def __init__(self, at_once: int) -> None:
        self.slots = threading.Semaphore(at_once - 1)
        self.is_dead = False

    def __call__(self, n: int, body: dict) -> Answered:
        self.is_dead |= not self.slots.acquire(blocking=False)
        if self.is_dead:
            return refusal(503, message="gone")
        time.sleep(ANSWER_S)
        self.slots.release()
        return GOOD_WITH_USAGE


def slow(n: int, body: dict) -> Answered:
    time.sleep(ANSWER_S)
    return GOOD_WITH_USAGE


@contextmanager
def ended(runs, answer: Callable[[int, dict], Answered], *stages: dict, slo: dict = E2E):
    """A run against an endpoint that answers so: its uid and its last status."""
    with endpoint(answer) as url:
        run = runs.start(*stages, target={"url": url, "model": "m"}, slos=[slo])
        yield run, runs.end(run, ENDS_WITHIN_S)


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """One search with both ends: every stream beyond AT_ONCE is refused."""
    from tests.runs.conftest import Runs

    runs = Runs(tmp_path_factory.mktemp("search") / "data")
    after = {"concurrency": 2, "requests": 30}
    with ended(runs, Refusing(), BOTH_ENDS, after, slo=MOST) as (run, status):
        yield runs, run, status
    runs.store.close()


def test_a_search_finds_the_largest_load_that_holds_and_the_smallest_that_does_not(found):
    _, _, status = found
    assert status["state"] == "finished"
    (answer,) = status["search"]
    assert (answer["low"], answer["high"]) == (AT_ONCE, AT_ONCE + 1)
    assert (answer["value"], answer["end"], answer["is_done"]) == (AT_ONCE, "between", True)
    assert answer["sentence"] in status["message"]
    assert "The objectives hold up to 5 streams and fail at 6 streams." in answer["sentence"]


def test_each_probe_is_kept_as_a_level_that_says_what_it_was_for(found):
    runs, run, status = found
    stages = runs.store.ask("stages", run=run)
    assert stages["concurrency"].tolist() == [4, 8, 6, 5, 2]
    assert stages["asked"].tolist() == [0, 0, 0, 0, 1]
    assert stages["why"].iloc[2] == (
        "probe 3 of the search: between the 4 that held and the 8 that did not"
    )
    assert status["search"][0]["levels"] == [0, 1, 2, 3]
    assert status["n_stages"] is None  # nobody knew how many


def test_a_probe_ends_when_it_is_clear_and_has_the_requests_that_made_it_so(found):
    runs, run, status = found
    stages = runs.store.ask("stages", run=run)
    assert ((stages["issue_end_us"] - stages["begin_us"]) / 1e6).max() < SEARCH["seconds"]
    verdicts = {probe["value"]: probe for probe in status["search"][0]["probes"]}
    assert {value: probe["verdict"] for value, probe in verdicts.items()} == {
        4: "holds", 5: "holds", 6: "fails", 8: "fails",
    }  # fmt: skip
    assert verdicts[4]["tallies"][0]["n"] == 36  # all within the limit: no fewer would do
    requests = runs.requests(run)
    assert (requests[requests["stage"] == 0]["outcome"] == "complete").sum() >= 40


def test_what_was_found_stands_in_the_runs_own_files_and_in_show(found):
    from analysis.show import show

    runs, run, status = found
    assert runs.folder(run).read("run.json")["search"] == status["search"]
    runs.wait(run, lambda _: runs.store.ask("run", run=run)["is_final"].iloc[0])
    shown = show(runs.store.ask, run)
    assert shown["search"] == status["search"]
    assert shown["slo"]["result"] == "met"


def test_a_search_counts_with_the_same_spans_as_the_store(found):
    runs, run, _ = found
    stored = runs.requests(run).set_index("request_id")
    spans = ["ttft_us", "ttft_visible_us", "tpot_us", "e2e_us"]
    seen = [row for line in LiveTail(runs.folder(run).path).read() for row in rows_of(line)]
    assert {row["request_id"] for row in seen} == set(stored[stored["phase"] != "preflight"].index)
    for row in seen:
        told = stored.loc[row["request_id"]]
        assert row["outcome"] == told["outcome"]
        expected = [None if pd.isna(told[name]) else float(told[name]) for name in spans]
        assert [row[name] for name in spans] == pytest.approx(expected, abs=0.1)


def rows_of(line: dict) -> list[dict]:
    return [dict(zip(ENDED, row, strict=True)) for row in line["requests"]["ended"]]


def test_a_search_stops_at_its_least_load_if_that_fails_at_once(runs):
    rate = {**SEARCH, "over": "rate_per_s", "low": 20, "high": 40}
    with ended(runs, slow, {**SEARCH, "low": 2}, rate, slo=NEVER) as (run, status):
        streams, rates = status["search"]
        assert (streams["end"], streams["value"], streams["high"]) == ("none", None, 2)
        assert (rates["end"], rates["value"], rates["high"]) == ("none", None, 20)
        stages = runs.store.ask("stages", run=run)
    assert stages["name"].tolist() == ["c=2", "20/s"]
    assert ((stages["issue_end_us"] - stages["begin_us"]) / 1e6).max() < SEARCH["seconds"]


def test_a_rate_that_holds_is_known_only_when_the_whole_probe_is_over(runs):
    rate = {**SEARCH, "over": "rate_per_s", "low": 30, "high": 40, "seconds": 4}
    with ended(runs, slow, rate) as (run, status):
        (answer,) = status["search"]
        assert (answer["end"], answer["value"]) == ("at_least", 40)
        stages = runs.store.ask("stages", run=run)
    assert stages["name"].tolist() == ["30/s", "40/s"]
    assert ((stages["issue_end_us"] - stages["begin_us"]) / 1e6).min() >= 3.9


def test_objectives_on_gaps_are_searched_too_and_by_several_workers(runs):
    gaps = {"metric": "chunk_gap", "percentile": 90, "max_ms": 20_000}
    stage = {**SEARCH, "high": 2}
    target = {"url": "sim://null", "model": "sim"}
    run = runs.start(stage, target=target, slos=[gaps, E2E], workers=2)
    (answer,) = runs.end(run, ENDS_WITHIN_S)["search"]
    assert (answer["end"], answer["value"]) == ("at_least", 2)
    assert [tally["label"] for tally in answer["probes"][0]["tallies"]] == [
        "chunk gap p90 ≤ 20000 ms",
        "E2E p95 ≤ 30000 ms",
    ]


def test_a_server_that_always_fails_is_no_limit_that_was_found(runs):
    def broken(n: int, body: dict) -> Answered:
        return GOOD_WITH_USAGE if n == 1 else refusal(500, message="no model is loaded")

    with ended(runs, broken, SEARCH) as (_, status):
        assert status["state"] == "failed"
        assert "HTTP 500 (no model is loaded)" in status["message"]
        assert not status["search"][0]["is_done"]


def test_a_server_that_dies_under_a_search_ends_it(runs):
    """Else every smaller load would be said to fail."""
    with ended(runs, Dying(16), {**SEARCH, "low": 8, "high": 16}) as (_, status):
        assert status["state"] == "failed"
        assert "Not one answer was complete in 3 probes in a row" in status["message"]
        assert status["search"][0]["low"] == 8


def test_a_sweep_by_doubling_stops_where_throughput_does(runs):
    sweep = {"kind": "sweep", "doubling": {"most": 256, "least_gain": 0.2}, "requests": 50}
    with ended(runs, Queueing(), sweep) as (run, status):
        assert status["state"] == "finished"
        (answer,) = status["search"]
        stages = runs.store.ask("stages", run=run)
    loads = stages["concurrency"].tolist()
    assert loads == [2**k for k in range(len(loads))]
    assert 4 <= loads[-1] <= 16
    assert answer["sentence"].endswith("less than the 20 % that a step must gain: saturated.")
    assert answer["sentence"] in status["message"]
    assert [value for value, _ in answer["tokens_per_s"]] == loads
