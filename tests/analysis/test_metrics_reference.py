"""Every entry of METRICS, through the store's SQL and summaries, against plain loops."""

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from made import SECOND, UID, Made, plan, row, stage
from reference import Raw, metrics

from analysis.level_metrics import level_metrics
from analysis.metrics import METRICS
from analysis.reading import read

GAPS_US = (0, 1, 999, 20_000, 21_500, 50_001, 130_000, 300_000, 700_000, 1_400_000)
SLOS = [{"metric": "ttft", "max_ms": 400}, {"metric": "longest_gap", "max_ms": 300}]
SPAN = st.one_of(st.none(), st.integers(0, 5_000))
PHASES = (Phase.explicit, Phase.generate)  # what fails is small enough, and each try is slow
LEVEL = {"kind": "closed", "concurrency": 4, "requests": 10}


@st.composite
def raws(draw):
    """Up to nine requests: streamed, in one piece or failed; counts told, evident or unknown."""
    is_open = draw(st.booleans())
    return [_raw(draw, i, is_open) for i in range(draw(st.integers(0, 9)))]


def _raw(draw, i, is_open):
    due = draw(st.integers(0, 6 * SECOND))
    taken = due + draw(st.integers(0, 20_000))
    send = taken + draw(st.integers(0, 20_000))
    outcome = draw(st.sampled_from(["complete", "complete", "complete", "timeout", "cancelled"]))
    m = draw(st.one_of(st.integers(1, 6), st.integers(18, 24), st.just(0)))
    t_us = [send + draw(st.integers(0, 600_000))] if m else []
    for _ in range(m - 1):
        t_us.append(t_us[-1] + draw(st.sampled_from(GAPS_US)))
    counting = draw(st.sampled_from(["told", "one", "unknown", "wrong"]))
    told = [draw(st.integers(1, 4)) if counting in ("told", "wrong") else None for _ in t_us]
    tokens = {"told": sum(n or 0 for n in told), "one": m, "unknown": None, "wrong": 3 * m + 2}
    is_whole = not m and outcome == "complete"
    whole = send + draw(st.integers(1, 900_000)) if is_whole else None
    visible = draw(st.integers(0, m - 1)) if m else None
    values = {
        "due_us": due if is_open else None,
        "dispatched_us": taken,
        "phase": draw(st.sampled_from(["measure", "measure", "measure", "warmup"])),
        "outcome": outcome,
        "first_token_us": t_us[0] if m else None,
        "first_visible_us": t_us[visible] if m else None,
        "last_token_us": t_us[-1] if m else None,
        "whole_us": whole,
        "end_us": max([send, *t_us, whole or 0]) + draw(st.integers(0, 5_000)),
        "n_chunks": m,
        "output_tokens": tokens[counting] if m else draw(st.sampled_from([None, 7])),
        "token_source": "usage",
        "first_chunk_tokens": told[0] if m else None,
        "prompt_tokens": draw(st.one_of(st.none(), st.integers(1, 2_000))),
        "cached_tokens": draw(st.one_of(st.none(), st.integers(0, 500))),
        "reasoning_tokens": draw(st.sampled_from([None, 0, 3])),
        "conn_reused": draw(st.sampled_from([None, True, False])),
        "n_choices": draw(st.sampled_from([None, 1, 1, 2])),
        **{name: draw(SPAN) for name in ("dns_us", "connect_us", "tls_us")},
        **{name: draw(SPAN) for name in ("server_queue_us", "server_prefill_us")},
    }
    return Raw(row(i, send, **values), list(zip(t_us, told, strict=True)))


@pytest.fixture(scope="module")
def made():
    """A level of eight seconds without a request yet."""
    return Made([], [stage(0, "c=4", 0, 8 * SECOND)], plan(slos=SLOS, stages=[LEVEL]))


@pytest.mark.slow
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck), phases=PHASES)
@given(asked=raws(), w0=st.integers(0, 3), w1=st.integers(5, 8))
def test_every_metric_is_what_plain_loops_over_the_events_give(made, asked, w0, w1):
    compare(made, asked, w0 * SECOND, w1 * SECOND)


def test_a_request_is_in_or_out_by_the_instant_it_was_asked_whatever_its_end(made):
    at = (1_999_999, 2_000_000, 5_999_999, 6_000_000)
    asked = [
        Raw(
            row(i, send, n_chunks=2, output_tokens=2, last_token_us=send + 2_100_000),
            [(send + 100_000, None), (send + 2_100_000, None)],
        )
        for i, send in enumerate(at)
    ]
    found = compare(made, asked, 2 * SECOND, 6 * SECOND)
    assert (found["ttft"]["n"], found["chunk_gap"]["n"]) == (2, 2)
    assert found["request_rate"]["value"] == 2 / 4  # those that ended within: asked before, or not


def compare(made, asked, w0_us, w1_us):
    made.fill_events([r.row for r in asked], [(r.row["request_id"], r.events) for r in asked])
    made.cursor.execute("DELETE FROM windows")
    made.cursor.execute("INSERT INTO windows VALUES (1, 0, ?, ?)", [w0_us, w1_us])
    reading = read(made.ask, UID)
    found = level_metrics(reading, reading.stages[0])
    is_open = any(r.row["due_us"] is not None for r in asked)
    limits = [("ttft_sched" if is_open and reading.stages[0].kind == "open" else "ttft", 400.0)]
    wanted = metrics(asked, w0_us, w1_us, [*limits, ("longest_gap", 300.0)])
    for name in METRICS:
        for key, value in wanted.get(name, {}).items():
            got = found[name][key]
            if value is None:
                assert got is None, (name, key, got)
            else:
                assert got == pytest.approx(value, rel=2e-6, abs=2e-4), (name, key)
    missing = set(METRICS) - set(wanted)  # no answer in the window has them
    assert all(found[name]["n"] == 0 for name in missing), missing
    return found
