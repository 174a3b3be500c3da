"""What a level's window is told from: token events, summaries by second, or an answer kept."""

import numpy as np
import pytest
from made_up_runs import RunFolder, Stream, Tables

from storage import answers_kept, summarised
from storage.answers_kept import Kept
from storage.protocol import StoreError
from storage.queries import QUERIES

SECOND = 1_000_000
QS = [0.5, 0.9, 0.95, 0.99, 0.999, 0.9999]
AT = {"stage": 0, "w0_us": 2 * SECOND, "w1_us": 9 * SECOND}


@pytest.fixture(scope="module")
def streams():
    rng = np.random.default_rng(3)
    made = []
    for k in range(80):
        gaps = rng.lognormal(9, 0.8, 60)
        gaps[rng.random(60) < 0.05] *= 40  # stalls
        gaps[rng.random(60) < 0.1] = 20  # bursts
        told = tuple(int(c) for c in rng.integers(1, 4, 61)) if k % 3 == 0 else None
        changes = {"output_tokens": 99} if k % 5 == 1 and k % 3 else {}
        stream = Stream(
            k,
            send_us=int(k * 0.13 * SECOND),
            gaps_us=tuple(gaps.astype(int).tolist()),
            told=told,
            outcome="reset" if k % 10 == 9 else "complete",
            traffic_class="chat" if k % 2 else "batch",
            **changes,
        )
        shared = rng.random(61) < 0.3
        stream.tokens["shared"] = shared
        stream.tokens["bound_us"] = shared * rng.integers(1, 9_000, 61)
        stream.tokens["lag_us"] = np.where(rng.random(61) < 0.05, -1, rng.integers(0, 2_000, 61))
        made.append(stream)
    return made


@pytest.fixture(scope="module")
def ended(tmp_path_factory, streams):
    data = tmp_path_factory.mktemp("ended")
    run = RunFolder(data)
    run.columns(0, streams)
    run.tokens_only(1, Stream(900, send_us=5 * SECOND))  # never ended
    run.end()
    tables = Tables(data)
    tables.turn()
    yield tables, run.uid
    tables.database.close()


def both(ended, monkeypatch, name, **args):
    """The answer from summaries, and the exact one."""
    tables, uid = ended
    monkeypatch.setattr(summarised, "MOST_EVENTS", 0)
    told = tables.ask(name, run=uid, **AT, **args)
    return told, tables.ask(name, run=uid, **AT, **args, exact=True)


@pytest.mark.parametrize("traffic", [None, "chat"])
def test_quantiles_from_histograms_are_within_one_percent(ended, monkeypatch, traffic):
    told, exact = both(ended, monkeypatch, "gap_quantiles", qs=QS, traffic=traffic)
    for a, b in zip(told, exact, strict=True):
        assert (a["metric"], a["q"], a["n"]) == (b["metric"], b["q"], b["n"])
        assert a["undefined"] == b["undefined"]
        assert a["value_us"] == pytest.approx(b["value_us"], rel=0.01)
        assert a["mean_us"] == pytest.approx(b["mean_us"], rel=0.01)
        assert (a["within"], b["within"]) == (0.01, 0)


def test_tokens_from_seconds_are_exact(ended, monkeypatch):
    told, exact = both(ended, monkeypatch, "window_tokens")
    assert told == exact
    told, exact = both(ended, monkeypatch, "window_tokens", traffic="chat")
    assert told == exact
    assert told[0]["events"] > 0


def test_the_doubt_from_summaries_has_exact_counts_and_times_within_one_percent(ended, monkeypatch):
    (told,), (exact,) = both(ended, monkeypatch, "stamp_bounds")
    assert told.pop("within") == 0.01
    for name, value in told.items():
        if name.startswith("n_") or name == "bound_max_us":
            assert value == exact[name]
        else:
            assert value == pytest.approx(exact[name], rel=0.01)
    assert exact["n_missing"] > 0


def test_few_events_are_told_exactly(ended):
    tables, uid = ended
    assert tables.ask("stamp_bounds", run=uid, **AT)[0]["within"] == 0


def test_a_run_whose_events_were_dropped_is_told_from_summaries(tables, tmp_path, streams):
    run = RunFolder(tmp_path)
    run.columns(0, streams[:40])
    run.end()
    tables.turn()
    exact = tables.ask("gap_quantiles", run=run.uid, **AT, qs=[0.5])
    with tables.database.cursor() as cursor:
        cursor.execute("DELETE FROM token_events; UPDATE runs SET raw_dropped_epoch_ns = 1")
    told = tables.ask("gap_quantiles", run=run.uid, **AT, qs=[0.5])
    assert told[0]["value_us"] == pytest.approx(exact[0]["value_us"], rel=0.01)
    assert told[0]["within"] == 0.01
    with pytest.raises(StoreError, match="events of this run were dropped"):
        tables.ask("gap_quantiles", run=run.uid, **AT, qs=[0.5], exact=True)
    run.columns(1, [streams[50]])  # late: what was summed up stays
    tables.turn()
    assert tables.ask("gap_quantiles", run=run.uid, **AT, qs=[0.5]) == told
    assert tables.ask("run", run=run.uid)[0]["is_final"]


class Counting:
    """A question that counts how often it is put to the tables."""

    def __init__(self, name):
        self.name, self.n = name, 0

    def __call__(self, cursor, **args):
        self.n += 1
        return QUERIES[self.name](cursor, **args)


def asked(tables, kept, query, **args):
    with tables.database.cursor() as cursor:
        found = kept.find(cursor, query.name, args)
        return kept.compute(cursor, query.name, args, query) if found is None else found


def test_a_dear_answer_of_a_final_run_is_computed_once(tables, tmp_path, streams):
    run = RunFolder(tmp_path)
    run.columns(0, streams[:10])
    kept, query = Kept(tables.database, worth_s=0), Counting("gap_quantiles")
    args = {"run": run.uid, **AT, "qs": [0.5, 0.9]}
    tables.turn()
    asked(tables, kept, query, **args)
    asked(tables, kept, query, **args)
    assert query.n == 2  # it goes on: nothing is kept
    run.end()
    tables.turn()
    first = asked(tables, kept, query, **args)
    same = asked(tables, kept, query, **args, exact=True, traffic=None)
    assert query.n == 3
    assert same.equals(first)
    assert asked(tables, kept, query, **args | {"qs": [0.5]}).num_rows == 2
    assert query.n == 4
    with tables.database.cursor() as cursor:
        cursor.execute("UPDATE runs SET is_final = false")  # reopened, not closed yet
    asked(tables, kept, query, **args)
    assert query.n == 5
    run.columns(1, streams[10:20])
    tables.turn()
    later = asked(tables, kept, query, **args)
    assert query.n == 6
    assert later["n"][0].as_py() > first["n"][0].as_py()


def test_nothing_is_kept_while_someone_writes_nor_what_was_cheap(ended):
    tables, uid = ended
    query = Counting("window_tokens")
    for kept in (Kept(tables.database, worth_s=0), Kept(tables.database, worth_s=60)):
        with tables.database.writing:
            asked(tables, kept, query, run=uid, **AT)
    asked(tables, Kept(tables.database, worth_s=60), query, run=uid, **AT)
    assert tables.sql("SELECT count(*) FROM kept_answers") == [(0,)]
    assert set(QUERIES) >= answers_kept.KEPT
