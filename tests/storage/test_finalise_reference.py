"""The summaries of a run's end against a slow account of the same random events."""

from collections import Counter
from dataclasses import asdict
from typing import Any

import duckdb
import event_reference as reference
import pyarrow as pa
import pytest
from event_reference import Chunk, Request
from hypothesis import given, settings
from hypothesis import strategies as st

from storage import event_ranges
from storage.answers import frame
from storage.finalise import finalise
from storage.migrations import schema_sql

GAPS_US = (0, 1, 49, 50, 7_000, 100_000, 100_001, 251_000, 900_000, 2_500_000)


@st.composite
def chunks(draw: Any, begin_us: int) -> list[Chunk]:
    """Chunks of one request; of two choices in parallel now and then."""
    last: dict[int, int] = {}
    t_us, made = begin_us, []
    for _ in range(draw(st.integers(1, 8))):
        t_us += draw(st.sampled_from(GAPS_US))
        choice = draw(st.sampled_from((0, 0, 0, 1)))
        shared = draw(st.booleans())
        lag_us = draw(st.sampled_from((None, 0, 40, 999, 1000)))
        bound_us = draw(st.integers(1, 5000)) if shared or lag_us is None else 0
        n_tokens = draw(st.sampled_from((None, 1, 1, 3)))
        gap_us = t_us - last[choice] if choice in last else None
        made.append(Chunk(t_us, gap_us, n_tokens, lag_us, shared, bound_us))
        last[choice] = t_us
    return made


@st.composite
def requests(draw: Any) -> list[Request]:
    made = []
    for request_id in draw(st.lists(st.integers(0, 40), unique=True, max_size=7)):
        asked_us = draw(st.integers(0, 3_000_000))
        seen = draw(chunks(asked_us + 10_000))
        told = sum(c.n_tokens or 1 for c in seen)
        made.append(
            Request(
                request_id,
                stage=draw(st.integers(0, 1)),
                traffic=draw(st.sampled_from(("chat", "batch"))),
                outcome=draw(st.sampled_from(("complete", "complete", "reset"))),
                phase=draw(st.sampled_from(("measure", "measure", "warmup", "preflight"))),
                asked_us=asked_us,
                output_tokens=draw(st.sampled_from((None, len(seen), told, told, told + 1))),
                token_source=draw(st.sampled_from(("usage", "usage", "chunks", None))),
                has_ended=draw(st.sampled_from((True, True, True, False))),
                chunks=seen,
            )
        )
    return made


@pytest.fixture(scope="module")
def cursor():
    con = duckdb.connect()
    con.execute(schema_sql())
    con.execute(
        "INSERT INTO runs (run_id, run_uid, name, state, created_epoch_ns, plan, plan_sha256, "
        "n_stages, n_workers) VALUES (1, uuid(), '', 'finished', 0, '{}', '', 2, 2)"
    )
    return con


REQUEST = (
    "INSERT INTO requests BY NAME SELECT *, 1 AS run_id, '' AS x_request_id, 0 AS worker, "
    "send_us AS dispatched_us, send_us AS end_us, 0 AS reconnects, '' AS other_events, "
    "0 AS n_shared, 0 AS n_missing_stamps, 0 AS bytes_received FROM made"
)
EVENT = "INSERT INTO token_events BY NAME SELECT *, 1 AS run_id, 'content' AS kind FROM made"


def fill(con: duckdb.DuckDBPyConnection, made: list[Request]) -> None:
    con.execute("TRUNCATE requests; TRUNCATE token_events")
    rows = [
        {"request_id": r.request_id, "stage": r.stage, "phase": r.phase, "outcome": r.outcome,
         "send_us": r.asked_us, "output_tokens": r.output_tokens, "token_source": r.token_source,
         "n_chunks": len(r.chunks), "traffic_class": r.traffic}
        for r in made if r.has_ended
    ]  # fmt: skip
    events = [
        {"request_id": r.request_id, "seq": seq} | asdict(c)
        for r in made
        for seq, c in enumerate(r.chunks)
    ]
    # As segments come: by second of arrival, each sorted by request.
    events.sort(key=lambda e: (e["t_us"] // 1_000_000, e["request_id"], e["seq"]))
    for sql, of in ((REQUEST, rows), (EVENT, events)):
        if of:
            con.register("made", pa.Table.from_pylist(of))
            con.execute(sql)
            con.unregister("made")


@settings(max_examples=15, deadline=None)
@given(made=requests(), range_events=st.sampled_from((3, 1000)))
def test_every_summary_is_that_of_the_slow_account(cursor, made, range_events):
    fill(cursor, made)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(event_ranges, "RANGE_EVENTS", range_events)
        finalise(cursor, 1)
    gaps = frame(cursor, "SELECT * EXCLUDE (run_id) FROM request_gaps").to_pylist()
    expected = reference.request_gaps(made)
    assert {row["request_id"] for row in gaps} == set(expected)
    for row in gaps:
        assert row == pytest.approx({"request_id": row["request_id"]} | expected[row["request_id"]])
    hist = cursor.execute("SELECT stage, traffic_class, metric, sec, b, n FROM hist").fetchall()
    assert Counter({tuple(key): n for *key, n in hist}) == reference.hist(made)
    seconds = cursor.execute(
        "SELECT stage, traffic_class, sec, tokens, events, unknown, shared, missing, timely_gaps, "
        "together, bound_max_us FROM tok_sec"
    ).fetchall()
    assert {tuple(row[:3]): row[3:] for row in map(list, seconds)} == reference.tok_sec(made)
    n_events = sum(len(r.chunks) for r in made)
    assert cursor.execute("SELECT n_events FROM runs").fetchall() == [(n_events,)]
    doubt = cursor.execute("SELECT sum(events), sum(missing), max(bound_max_us) FROM doubt_sec")
    seen = [c for r in made for c in r.chunks]
    missing = sum(c.lag_us is None for c in seen)
    largest = max((c.bound_us for c in seen), default=None)
    assert doubt.fetchall() == [(n_events, missing, largest) if seen else (None, None, None)]
