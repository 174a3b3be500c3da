"""How many of each request's gaps are at most a limit, against a plain account in Python."""

import numpy as np
import pytest
from made_up_runs import RunFolder, Stream, Tables

from storage.buckets import bucket, bucket_us

SECOND = 1_000_000
LIMITS_US = [8_000.0, 12_500.0]
AT = {"stage": 0, "w0_us": 2 * SECOND, "w1_us": 8 * SECOND}


@pytest.fixture(scope="module")
def streams():
    """30 streams of which a third tells the tokens in each chunk, a third one token per chunk."""
    rng = np.random.default_rng(3)
    made = []
    for k in range(30):
        n = int(rng.integers(1, 20))
        told = tuple(int(c) for c in rng.integers(1, 4, n + 1)) if k % 3 == 0 else None
        changes = {"output_tokens": n + 5} if k % 3 == 1 else {}
        gaps = tuple(int(g) for g in rng.lognormal(9, 0.5, n))
        outcome = "reset" if k % 10 == 9 else "complete"
        send_us = int(k * 0.3 * SECOND)
        made.append(Stream(k, send_us=send_us, gaps_us=gaps, told=told, outcome=outcome, **changes))
    return made


@pytest.fixture(scope="module")
def ask(tmp_path_factory, streams):
    data = tmp_path_factory.mktemp("clusters")
    run = RunFolder(data)
    run.columns(0, streams)
    run.end()
    tables = Tables(data)
    tables.turn()
    yield lambda name, **args: tables.ask(name, run=run.uid, **args)
    tables.database.close()


def told(stream):
    counts = stream.tokens["n_tokens"]
    if (counts > 0).all():
        return counts.astype(int)
    return np.ones(len(counts), int) if stream.request.output_tokens == len(counts) else None


def asked(streams):
    inside = (s for s in streams if AT["w0_us"] <= s.request.send_us < AT["w1_us"])
    return [s for s in inside if s.request.outcome == "complete"]


def test_each_request_tells_its_gaps_and_how_many_are_at_most_each_limit(ask, streams):
    rows = ask("gap_clusters", gap_us=LIMITS_US, itl_us=LIMITS_US[:1], **AT)
    found = {(r["metric"], r["request_id"]): r for r in rows}
    expected = 0
    for stream in asked(streams):
        gaps, counts = stream.tokens["gap_us"][1:], told(stream)
        row = found["gap", stream.request.request_id]
        assert row["asked_us"] == stream.request.send_us
        assert [row["n"], row["c0"], row["c1"]] == [
            len(gaps), *(int((gaps <= limit).sum()) for limit in LIMITS_US)
        ]  # fmt: skip
        expected += 1
        if counts is not None:
            row, weights = found["itl", stream.request.request_id], counts[1:]
            few = int(weights[gaps / weights <= LIMITS_US[0]].sum())
            assert (row["n"], row["c0"], row["c1"]) == (weights.sum(), few, None)
            expected += 1
    assert len(rows) == expected > 10


def test_the_histograms_tell_the_same_by_second_in_whole_buckets(ask, streams):
    limit = bucket_us(int(bucket(10_000)))
    rows = ask("gap_seconds", gap_us=[limit], itl_us=[], **AT)
    found = {r["asked_us"]: (r["n"], r["c0"]) for r in rows if r["metric"] == "gap"}
    seconds = {s.request.send_us // SECOND * SECOND for s in asked(streams)}
    assert set(found) == seconds
    for second in seconds:
        gaps = np.concatenate(
            [
                s.tokens["gap_us"][1:]
                for s in asked(streams)
                if s.request.send_us // SECOND * SECOND == second
            ]
        )
        assert found[second] == (len(gaps), int((bucket(gaps) <= bucket(10_000)).sum()))


def test_a_window_without_requests_has_no_rows(ask):
    at = AT | {"w0_us": 10**12, "w1_us": 10**12 + SECOND}
    for name in ("gap_clusters", "gap_seconds"):
        assert ask(name, gap_us=LIMITS_US, **at) == []
