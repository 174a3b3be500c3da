"""Named questions against a plain numpy account of the same events."""

import numpy as np
import pytest
from made_up_runs import RunFolder, Stream, Tables

from storage.answers import UnknownRunError

SECOND = 1_000_000


@pytest.fixture(scope="module")
def streams():
    """60 streams of two stages, some told token by token, some not, some failed."""
    rng = np.random.default_rng(7)
    made = []
    for k in range(60):
        n = int(rng.integers(1, 30))
        gaps = tuple(int(g) for g in rng.lognormal(9, 0.5, n))
        told = tuple(int(c) for c in rng.integers(1, 4, n + 1)) if k % 3 == 0 else None
        changes = {"output_tokens": n + 5} if k % 3 == 1 else {}
        outcome = "reset" if k % 10 == 9 else "complete"
        made.append(
            Stream(
                k,
                send_us=int(k * 0.3 * SECOND),
                ttft_us=int(rng.integers(10_000, 90_000)),
                gaps_us=gaps,
                stage=int(k >= 30),
                told=told,
                outcome=outcome,
                **changes,
            )
        )
        made[-1].tokens["shared"] = rng.random(n + 1) < 0.1
        made[-1].tokens["bound_us"] = made[-1].tokens["shared"] * rng.integers(1, 500, n + 1)
        made[-1].tokens["lag_us"] = rng.integers(-1, 50, n + 1)
    return made


@pytest.fixture(scope="module")
def account(tmp_path_factory, streams):
    """The tables of one run that holds those streams."""
    data = tmp_path_factory.mktemp("account")
    run = RunFolder(data)
    for seq in range(6):
        run.columns(seq, streams[seq * 10 : seq * 10 + 10])
    run.end()
    tables = Tables(data)
    tables.turn()
    yield lambda name, **args: tables.ask(name, run=run.uid, **args)
    tables.database.close()


def counts(stream):
    """Known tokens of each chunk, or None."""
    told = stream.tokens["n_tokens"]
    if (told > 0).all():
        return told.astype(float)
    return np.ones(len(told)) if stream.request.output_tokens == len(told) else None


def in_window(streams, stage, w0, w1):
    return [
        s
        for s in streams
        if s.request.stage == stage
        and s.request.outcome == "complete"
        and w0 <= s.request.send_us < w1
    ]


QS = [0.0, 0.01, 0.5, 0.9, 0.99, 1.0]


def test_gap_quantiles_are_numpy_s_of_the_requests_asked_in_the_window(account, streams):
    w0, w1 = 2 * SECOND, 8 * SECOND
    answer = account("gap_quantiles", stage=0, w0_us=w0, w1_us=w1, qs=QS)
    gaps = np.concatenate([s.tokens["gap_us"][1:] for s in in_window(streams, 0, w0, w1)])
    rows = [row for row in answer if row["metric"] == "gap"]
    assert [row["q"] for row in rows] == QS
    assert [row["value_us"] for row in rows] == pytest.approx(np.quantile(gaps, QS).tolist())
    assert rows[0]["n"] == len(gaps)
    assert rows[0]["mean_us"] == pytest.approx(gaps.mean())


def test_itl_quantiles_are_those_of_each_gap_repeated_for_its_tokens(account, streams):
    w0, w1 = 2 * SECOND, 8 * SECOND
    answer = account("gap_quantiles", stage=0, w0_us=w0, w1_us=w1, qs=QS)
    per_token, undefined = [], 0
    for stream in in_window(streams, 0, w0, w1):
        gaps, tokens = stream.tokens["gap_us"][1:], counts(stream)
        if tokens is None:
            undefined += len(gaps)
        else:
            per_token.append(np.repeat(gaps / tokens[1:], tokens[1:].astype(int)))
    values = np.concatenate(per_token)
    rows = [row for row in answer if row["metric"] == "itl"]
    expected = np.quantile(values, QS, method="inverted_cdf")
    assert [row["value_us"] for row in rows] == pytest.approx(expected.tolist())
    assert (rows[0]["n"], rows[0]["undefined"]) == (len(values), undefined)
    assert rows[0]["mean_us"] == pytest.approx(values.mean())


@pytest.mark.parametrize("gaps", [(5,), (5, 9), (0, 0, 0, 8), (3, 3, 7, 7, 7, 7, 9)])
def test_quantiles_of_few_and_equal_gaps_are_numpy_s(shared_tables, gaps):
    run = RunFolder(shared_tables.data)
    run.columns(0, [Stream(0, gaps_us=gaps)])
    shared_tables.turn()
    at = {"run": run.uid, "stage": 0, "w0_us": 0, "w1_us": 10 * SECOND}
    rows = shared_tables.ask("gap_quantiles", qs=QS, **at)
    found = {m: [row["value_us"] for row in rows if row["metric"] == m] for m in ("gap", "itl")}
    assert found["gap"] == pytest.approx(np.quantile(gaps, QS).tolist())
    assert found["itl"] == np.quantile(gaps, QS, method="inverted_cdf").tolist()
    (bounds,) = shared_tables.ask("stamp_bounds", **at)
    assert (bounds["n_shared"], bounds["bound_shared_p99_us"]) == (0, None)
    assert (bounds["lag_p50_us"], bounds["lag_p99_us"]) == (7, 7)


def test_an_empty_window_has_no_quantiles_and_no_tokens(account):
    at = {"stage": 0, "w0_us": 10**12, "w1_us": 10**12 + 1}
    rows = account("gap_quantiles", qs=[0.5], **at)
    assert {(r["metric"], r["value_us"], r["n"]) for r in rows} == {
        ("gap", None, 0),
        ("itl", None, 0),
    }
    assert account("window_tokens", **at) == [{"tokens": 0, "events": 0, "unknown": 0}]
    (bounds,) = account("stamp_bounds", **at)
    assert (bounds["n_events"], bounds["bound_p99_us"]) == (0, None)


@pytest.mark.parametrize("qs", [[], [1.5], [-0.1]])
def test_probabilities_outside_0_to_1_are_refused(account, qs):
    with pytest.raises(ValueError, match="expected probabilities"):
        account("gap_quantiles", stage=0, w0_us=0, w1_us=1, qs=qs)


def test_window_tokens_count_arrivals_of_every_outcome(account, streams):
    w0, w1 = 3 * SECOND, 7 * SECOND
    tokens = events = unknown = 0
    for stream in streams[:30]:
        inside = (stream.tokens["t_us"] >= w0) & (stream.tokens["t_us"] < w1)
        known = counts(stream)
        if known is None:
            known = stream.tokens["n_tokens"].astype(float)
            unknown += int(inside.sum())
        events += int(inside.sum())
        tokens += int(known[inside].sum())
    (row,) = account("window_tokens", stage=0, w0_us=w0, w1_us=w1)
    assert row == {"tokens": tokens, "events": events, "unknown": unknown}


def test_window_tokens_count_streams_that_have_not_ended(shared_tables):
    run = RunFolder(shared_tables.data)
    run.columns(0, [Stream(0)])
    stream = Stream(1)
    run.tokens_only(1, stream)
    shared_tables.turn()
    (row,) = shared_tables.ask("window_tokens", run=run.uid, stage=0, w0_us=0, w1_us=10 * SECOND)
    assert row == {"tokens": 10, "events": 20, "unknown": 10}


def test_stamp_bounds_are_numpy_s(account, streams):
    w0, w1 = 9 * SECOND, 15 * SECOND
    tokens = np.concatenate([s.tokens for s in streams[30:]])
    tokens = tokens[(tokens["t_us"] >= w0) & (tokens["t_us"] < w1)]
    (row,) = account("stamp_bounds", stage=1, w0_us=w0, w1_us=w1)
    shared, lags = tokens["shared"] == 1, tokens["lag_us"][tokens["lag_us"] >= 0]
    assert row["n_events"] == len(tokens)
    assert row["n_shared"] == shared.sum()
    assert row["n_missing"] == len(tokens) - len(lags)
    assert row["bound_p99_us"] == pytest.approx(np.quantile(tokens["bound_us"], 0.99))
    assert row["bound_shared_p99_us"] == pytest.approx(
        np.quantile(tokens["bound_us"][shared], 0.99)
    )
    assert row["bound_max_us"] == tokens["bound_us"].max()
    assert row["lag_p50_us"] == pytest.approx(np.quantile(lags, 0.5))
    assert row["lag_p99_us"] == pytest.approx(np.quantile(lags, 0.99))


def test_spans_of_a_request_are_differences_of_its_times(shared_tables):
    run = RunFolder(shared_tables.data)
    stream = Stream(0, due_us=900_000, told=(2,) * 10, first_visible_us=1_090_000)
    run.columns(0, [stream])
    shared_tables.turn()
    (row,) = shared_tables.ask("requests", run=run.uid)
    assert row["asked_us"] == 900_000
    assert (row["ttft_us"], row["ttft_visible_us"], row["ttft_sched_us"]) == (
        50_000,
        90_000,
        150_000,
    )
    assert (row["e2e_us"], row["e2e_sched_us"]) == (230_000, 330_000)
    assert row["tpot_us"] == pytest.approx(180_000 / 18)
    assert (row["send_lag_us"], row["dispatch_us"], row["client_queue_us"]) == (
        100_000,
        99_900,
        100,
    )
    assert row["close_us"] == 500


def test_a_request_of_one_token_has_no_tpot(shared_tables):
    run = RunFolder(shared_tables.data)
    run.columns(0, [Stream(0, gaps_us=())])
    shared_tables.turn()
    assert shared_tables.ask("requests", run=run.uid)[0]["tpot_us"] is None


def test_outcomes_come_with_their_most_frequent_detail(shared_tables):
    run = RunFolder(shared_tables.data)
    details = ["a", "b", "b"]
    failed = [Stream(k, outcome="http_error", detail=d) for k, d in enumerate(details)]
    run.columns(0, [*failed, Stream(3), Stream(4, phase="preflight", outcome="reset")])
    shared_tables.turn()
    assert shared_tables.ask("outcomes", run=run.uid) == [
        {"stage": 0, "outcome": "http_error", "n": 3, "detail": "b"},
        {"stage": 0, "outcome": "complete", "n": 1, "detail": None},
    ]


def test_the_list_of_runs_is_newest_first_with_a_sparkline_of_stages(tables, tmp_path):
    first = RunFolder(tmp_path, name="first")
    tables.turn()
    second = RunFolder(tmp_path, name="second")
    second.columns(
        0, [Stream(0, ttft_us=10_000), Stream(1, ttft_us=20_000, stage=1, outcome="reset")]
    )
    tables.turn()
    newest, oldest = tables.ask("runs")
    assert (newest["run_uid"], oldest["run_uid"]) == (second.uid, first.uid)
    assert (newest["n_requests"], newest["n_failed"]) == (2, 1)
    assert newest["ttft_p95_by_stage_us"] == [10_000, None]
    assert newest["peak_tokens_per_s"] == 20
    assert oldest["n_requests"] is None


def test_a_run_is_found_by_uid_name_unique_beginning_or_last(tables, tmp_path):
    runs = []
    for name in ("nightly", "nightly", "b"):
        runs.append(RunFolder(tmp_path, name=name))
        tables.turn()

    def found(text):
        return [row["run_uid"] for row in tables.ask("find_run", text=text)]

    assert found("last") == [runs[2].uid]
    assert found(runs[0].uid) == [runs[0].uid]
    assert found(runs[1].uid[:13].upper()) == [runs[1].uid]
    assert found("nightly") == [runs[1].uid, runs[0].uid]
    assert found("b") == [runs[2].uid]  # a name goes before the beginning of a uid
    assert found("") == []
    assert found("no such run") == []


def test_an_unknown_run_has_no_row_and_every_other_question_says_so(tables):
    assert tables.ask("run", run="nonsense") == []
    for name in ("requests", "stages", "pulses", "outcomes", "gap_hist", "tokens_per_s"):
        with pytest.raises(UnknownRunError, match="There is no run 'nonsense'"):
            tables.ask(name, run="nonsense")


def test_gap_hist_of_one_stage_is_that_part_of_all(account):
    every = account("gap_hist")
    assert account("gap_hist", stage=1) == [r for r in every if r["stage"] == 1]
    assert {r["metric"] for r in every} == {"gap", "itl"}


def test_token_events_of_one_request_are_in_order(account, streams):
    rows = account("token_events", request_id=12)
    assert [row["t_us"] for row in rows] == streams[12].tokens["t_us"].tolist()
    assert [row["seq"] for row in rows] == list(range(len(rows)))
    assert sum(len(s.tokens) for s in streams) == len(account("token_events"))


def test_doubt_per_second_is_numpy_s(account, streams):
    events = np.concatenate([s.tokens for s in streams])
    second = events["t_us"] // SECOND
    rows = account("doubt_per_s")
    assert [row["sec"] for row in rows] == sorted(set(second.tolist()))
    for row in rows:
        mine = events[second == row["sec"]]
        bound = np.quantile(mine["bound_us"], 0.99, method="inverted_cdf")
        assert (row["worker"], row["events"]) == (0, len(mine))
        assert (row["shared"], row["bound_max_us"]) == (
            mine["shared"].sum(),
            mine["bound_us"].max(),
        )
        assert (row["missing"], row["bound_p99_us"]) == ((mine["lag_us"] < 0).sum(), bound)


def test_doubt_is_told_apart_by_worker(tables, tmp_path):
    run = RunFolder(tmp_path, n_workers=2)
    run.columns(0, [Stream(k, k * 1000) for k in range(4)])
    tables.turn()
    rows = tables.ask("doubt_per_s", run=run.uid)
    run.end()
    tables.turn()
    assert tables.ask("doubt_per_s", run=run.uid) == rows  # kept by the run's end
    assert [(row["worker"], row["events"]) for row in rows] == [(0, 20), (1, 20)]
