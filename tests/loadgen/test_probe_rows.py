"""Single requests in the live line, for a leader that judges levels while they go on."""

import numpy as np

from loadgen.live_line import Decoded
from loadgen.probe_rows import BEGAN, ENDED, gap_limits_us, is_asked_for, probe_rows
from storage.records import TOKEN_EVENT, RequestRow

T0_NS = 1_000_000_000


def decoded(**more: object) -> Decoded:
    void = {"tokens": np.empty(0, TOKEN_EVENT), "rows": [], "pulses": []}
    return Decoded(**{"seq": 4, "t_us": 99, **void, **more})  # type: ignore[arg-type]  # any field


def meta(**more: object) -> dict:
    return {
        "request_id": 7,
        "stage": 2,
        "traffic_class": "chat",
        "phase": "measure",
        "due_ns": None,
        "dispatched_ns": T0_NS + 4_000_000,
        "send_ns": T0_NS + 5_000_000,
        **more,
    }


def began(**more: object) -> dict:
    (row,) = probe_rows(decoded(opens=[meta(**more)]), T0_NS, [])["began"]
    return dict(zip(BEGAN, row, strict=True))


def ended(**more: object) -> dict:
    times = {"send_us": 1_000, "first_token_us": 5_000, "last_token_us": 25_000, "end_us": 26_000}
    row = RequestRow(7, "x", 0, 2, "measure", "complete", 900, **{**times, **more})  # type: ignore[arg-type]  # any field
    (found,) = probe_rows(decoded(rows=[row]), T0_NS, [])["ended"]
    return dict(zip(ENDED, found, strict=True))


def test_a_request_is_asked_for_when_it_is_sent_or_when_the_plan_wants_it():
    assert began()["asked_us"] == 5_000
    assert began(due_ns=T0_NS + 2_000_000)["asked_us"] == 2_000
    assert began(send_ns=None)["asked_us"] == 4_000


def test_what_warms_up_is_told_apart():
    assert began()["is_measured"] is True
    assert began(phase="warmup")["is_measured"] is False


def test_spans_count_from_the_send_in_closed_loop():
    row = ended(first_visible_us=7_000)
    assert (row["ttft_us"], row["ttft_visible_us"], row["e2e_us"]) == (4_000, 6_000, 24_000)


def test_spans_count_from_the_plans_instant_in_open_loop_as_objectives_do():
    row = ended(due_us=500, first_visible_us=7_000)
    assert (row["ttft_us"], row["ttft_visible_us"], row["e2e_us"]) == (4_500, 6_000, 24_500)


def test_tpot_is_the_time_of_the_tokens_after_the_first_chunk():
    assert ended(output_tokens=6, first_chunk_tokens=2)["tpot_us"] == 5_000
    assert ended(output_tokens=5)["tpot_us"] == 5_000
    assert ended(output_tokens=1)["tpot_us"] is None
    assert ended(output_tokens=6, n_choices=2)["tpot_us"] is None
    assert ended()["tpot_us"] is None


def test_an_answer_in_one_piece_has_its_end():
    row = ended(first_token_us=None, last_token_us=None, whole_us=21_000)
    assert (row["ttft_us"], row["e2e_us"]) == (None, 20_000)


def test_tokens_that_nobody_told_are_counted_by_chunks():
    assert ended(n_chunks=9)["tokens"] == 9
    assert ended(n_chunks=9, output_tokens=12)["tokens"] == 12


def test_gaps_are_counted_by_request_and_limit():
    tokens = np.zeros(5, TOKEN_EVENT)
    tokens["request_id"] = [3, 3, 8, 8, 8]
    tokens["gap_us"] = [-1, 200, 50, 150, 151]
    rows = probe_rows(decoded(tokens=tokens), T0_NS, [100, 150])
    assert rows["gaps"] == [[3, 1, 1, 1], [8, 3, 2, 1]]
    assert "gaps" not in probe_rows(decoded(tokens=tokens), T0_NS, [])


def test_only_plans_whose_levels_depend_on_those_before_need_it():
    assert is_asked_for({"stages": [{"kind": "closed"}, {"kind": "search"}]})
    assert is_asked_for({"stages": [{"kind": "sweep", "doubling": {"start": 1}}]})
    assert not is_asked_for({"stages": [{"kind": "sweep", "doubling": None}]})
    assert not is_asked_for({})


def test_the_limits_on_gaps_are_those_of_all_classes():
    gap = {"metric": "chunk_gap", "max_ms": 80}
    plan = {"slos": [gap, {"metric": "ttft", "max_ms": 9}], "classes": [{"slos": None}]}
    assert gap_limits_us(plan) == [80_000]
    plan["classes"] += [{"slos": [{"metric": "chunk_gap", "max_ms": 0.5}, gap]}]
    assert gap_limits_us(plan) == [500, 80_000]
