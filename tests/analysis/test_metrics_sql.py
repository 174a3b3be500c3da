"""The SQL of each metric against its Python, on random rows and on a run in the store's tables."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made import SECOND, UID, Made, back_to_back, frame, plan, row, stage

from analysis.metrics import METRICS
from analysis.metrics_sql import Level, objectives, question
from analysis.reading import read
from analysis.show import show_of
from loadgen.plan import Slo

PER_REQUEST = [name for name, metric in METRICS.items() if metric.per == "request"]
OPTIONAL = {
    "due_us": 0,
    "dns_us": 1,
    "connect_us": 2,
    "tls_us": 3,
    "first_token_us": 900,
    "first_visible_us": 901,
    "last_token_us": 2_000_000,
    "whole_us": 1_999_999,
    "prompt_tokens": 150,
    "cached_tokens": 20,
    "output_tokens": 30,
    "reasoning_tokens": 4,
    "first_chunk_tokens": 2,
    "server_queue_us": 7,
    "server_prefill_us": 8,
    "n_choices": 1,
}


@st.composite
def random_rows(draw):
    """Requests with any of their optional columns there or not, some of them failed."""
    rows = []
    for i in range(draw(st.integers(1, 12))):
        span = st.one_of(st.none(), st.integers(0, 3_000_000))
        small = st.one_of(st.none(), st.integers(0, 400))
        values = {c: draw(small if v < 400 else span) for c, v in OPTIONAL.items()}
        values["conn_reused"] = draw(st.sampled_from([None, True, False]))
        values["outcome"] = draw(st.sampled_from(["complete", "complete", "timeout"]))
        rows.append(row(i, draw(st.integers(0, SECOND)), end_us=5 * SECOND) | values)
    return rows


@pytest.fixture(scope="module")
def empty():
    return Made([], [])


@settings(max_examples=12, deadline=None)
@given(rows=random_rows(), seed=st.integers(0, 2**32 - 1))
def test_the_sql_of_each_metric_per_request_gives_what_its_function_gives(empty, rows, seed):
    empty.refill(rows, gaps_at_random(rows, np.random.default_rng(seed)))
    requests = empty.ask("requests", run=UID)
    asked = ", ".join(f"({METRICS[name].sql})::DOUBLE AS {name}" for name in PER_REQUEST)
    sql = f"SELECT {asked} FROM request_times ORDER BY request_id"
    found = empty.cursor.execute(sql).fetchnumpy()
    for name in PER_REQUEST:
        told = np.ma.filled(np.ma.asarray(found[name], dtype="float64"), np.nan)
        np.testing.assert_allclose(told, METRICS[name].values(requests), rtol=1e-6, err_msg=name)


def gaps_at_random(rows, rng):
    """Rows of request_gaps for about half of the requests; numbers need not fit each other."""
    return [
        {
            "request_id": one["request_id"],
            "n_gaps": int(rng.integers(1, 40)),
            "longest_gap_us": int(rng.integers(0, 2_000_000)),
            "is_told": bool(rng.integers(2)),
            **{f"gap_{c}_us": float(rng.integers(0, 99_999)) for c in GAP_FIGURES},
            **{f"stalls_{x}": int(rng.integers(0, 9)) for x in (100, 250, 500, 1000)},
            **{f"stalled_{x}_us": int(rng.integers(0, 99_999)) for x in (100, 250, 500, 1000)},
            "paused_us": int(rng.integers(0, 99_999)),
        }
        for one in rows
        if rng.random() < 0.5
    ]


GAP_FIGURES = ("mean", "sd", "p25", "p50", "p75", "p95")


@pytest.fixture(scope="module")
def level():
    """A level with failures, a stream that was ended, and slow answers; what is shown of it."""
    rng = np.random.default_rng(5)
    rows = [
        row(i, 250_000 * i, int(rng.integers(50_000, 300_000)), prompt_tokens=int(200 + i))
        for i in range(160)
    ]
    rows += [row(500 + i, 9 * SECOND + i, outcome="http_error") for i in range(7)]
    rows += [row(600, 30 * SECOND, outcome="cancelled"), row(700, 0, phase="warmup")]
    slos = [{"metric": "ttft", "max_ms": 250}, {"metric": "e2e", "max_ms": 450}]
    made = Made(rows, [stage(0, "c=1", 0, 41 * SECOND)], plan(slos=slos))
    reading = read(made.ask, UID)
    window = reading.stages[0].window
    slos = tuple(reading.slos_of(reading.stages[0]))
    of = Level(UID, 0, window.begin_us, window.end_us, None, slos, "closed")
    return made, show_of(reading)["levels"][0]["metrics"], of


@pytest.mark.parametrize("name", METRICS)
def test_the_question_of_each_metric_gives_the_number_that_is_shown(level, name):
    made, shown, of = level
    told = made.cursor.execute(question(METRICS[name], of)).fetchdf().iloc[0].to_dict()
    if "percentiles" in told:
        told |= dict(zip(("p50", "p90", "p95", "p99"), told["percentiles"], strict=True))
    compared = [
        key for key in ("n", "undefined", "mean", "p50", "p95", "p99", "value") if key in told
    ]
    for key in compared:
        want, got = shown[name].get(key), told[key]
        if want is None:
            assert np.isnan(np.float64(got if got is not None else np.nan)), (name, key, got)
        else:
            assert float(got or 0) == pytest.approx(want, rel=1e-6), (name, key)
    assert compared


def test_of_one_class_only_its_requests_are_asked_for_whatever_its_name():
    rows = back_to_back(20) + [
        r | {"request_id": r["request_id"] + 500, "traffic_class": "it's"} for r in back_to_back(20)
    ]
    made = Made(rows, [stage(0, "c=2", 0, 20 * 280_000)])
    of = Level(UID, 0, 0, 21 * SECOND, "it's")
    assert made.cursor.execute(question(METRICS["ttft"], of)).fetchone()[0] == 20


def test_objectives_are_those_that_goodput_holds_each_request_to():
    said = objectives((Slo(metric="ttft", max_ms=500), Slo(metric="chunk_gap", max_ms=80)), "open")
    assert said == (
        "coalesce(ttft_sched_us / 1e3 <= 500, true) AND coalesce(longest_gap_us / 1e3 <= 80, true)"
    )
    assert objectives((), "open") == "true"


def test_rows_without_the_columns_of_gaps_have_no_metric_of_them():
    made = frame([row(0, 0)])
    assert np.isnan(METRICS["longest_gap"].values(made)[0])
