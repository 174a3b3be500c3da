"""What a level's live lines say of its objectives and its pace."""

import pytest

from loadgen.objectives import Objective, objectives
from loadgen.plan import parse
from loadgen.probe_results import LevelSeen

STAGE = 3
GAP_LIMITS_US = [50_000, 80_000]


def objective(metric: str, limit_us: int = 400_000, traffic_class: str = "default") -> Objective:
    return Objective(metric, 95, limit_us, traffic_class, "said")


TTFT, E2E, GAPS = objective("ttft"), objective("e2e"), objective("chunk_gap", 80_000)


def began(
    request_id: int, asked_us: int = 0, stage: int = STAGE, name: str = "default", measured=True
):
    return [request_id, stage, name, measured, asked_us]


def ended(request_id: int, ttft_us=100_000, outcome="complete", e2e_us=200_000, **more):
    end_us = more.get("end_us", 300_000)
    return [request_id, outcome, ttft_us, ttft_us, more.get("tpot_us"), e2e_us, end_us, 10]


def line(t_us: int = 0, **requests):
    return {"t_us": t_us, "requests": {"began": [], "ended": [], **requests}}


def seen(*lines, streams: dict[str, int] | None = None) -> LevelSeen:
    level = LevelSeen(STAGE, streams or {}, GAP_LIMITS_US)
    level.add({0: list(lines)})
    return level


def test_a_request_is_over_the_limit_or_within_it():
    level = seen(line(began=[began(1), began(2, 5)], ended=[ended(1, 400_000), ended(2, 400_001)]))
    assert level.missed(TTFT) == [0, 1]


def test_requests_stand_in_the_order_in_which_they_were_asked_for_over_all_workers():
    level = LevelSeen(STAGE, {}, [])
    level.add({0: [line(began=[began(2, 9)], ended=[ended(2, 500_000)])]})
    level.add({1: [line(began=[began(1, 4)], ended=[ended(1)])]})
    assert level.missed(TTFT) == [0, 1]


def test_one_that_is_open_is_not_known_until_its_time_is_over():
    level = seen(line(t_us=399_000, began=[began(1)]))
    assert level.missed(E2E) == [None]
    level.add({0: [line(t_us=401_000)]})
    assert level.missed(E2E) == [1]
    assert level.missed(TTFT) == [None]  # its first token may have come


def test_a_failure_is_a_miss_of_every_objective():
    level = seen(line(began=[began(1)], ended=[ended(1, None, "rate_limited", None)]))
    assert [level.missed(of) for of in (TTFT, E2E, GAPS)] == [[1], [1], [1]]


def test_one_not_sent_is_a_miss():
    level = seen(line(began=[began(1)], ended=[ended(1, None, "not_sent", None)]))
    assert level.missed(TTFT) == [1]


@pytest.mark.parametrize(
    ("ttft_us", "end_us", "metric", "said"),
    [
        (100_000, 300_000, "ttft", 0),  # its first token was seen in time
        (500_000, 600_000, "ttft", 1),
        (None, 300_000, "ttft", None),
        (None, 500_000, "ttft", 1),
        (100_000, 300_000, "e2e", None),
        (100_000, 500_000, "e2e", 1),
        (100_000, 500_000, "tpot", None),
    ],
)
def test_of_a_request_that_we_cut_off_only_that_is_known_which_had_happened(
    ttft_us, end_us, metric, said
):
    row = ended(1, ttft_us, "cancelled", 290_000, end_us=end_us)
    level = seen(line(began=[began(1)], ended=[row]))
    assert level.missed(objective(metric)) == [said]
    assert level.missed(objective(metric), is_over=True) == ([] if said is None else [said])


def test_a_request_without_the_metric_is_left_out():
    level = seen(line(began=[began(1), began(2)], ended=[ended(1), ended(2, tpot_us=500_000)]))
    assert level.missed(objective("tpot")) == [1]


def test_of_chunk_gaps_the_share_over_the_limit_counts():
    level = seen(
        line(began=[began(1), began(2)], gaps=[[1, 3, 2, 1]]),
        line(ended=[ended(1), ended(2)], gaps=[[1, 1, 0, 0], [9, 5, 5, 5]]),
    )
    assert level.missed(GAPS) == [0.25]
    assert level.missed(objective("chunk_gap", 50_000)) == [0.5]


def test_of_the_longest_gap_one_over_the_limit_is_a_miss():
    level = seen(
        line(began=[began(1), began(2), began(3)], gaps=[[1, 3, 2, 1], [2, 3, 1, 0]]),
        line(ended=[ended(1), ended(2), ended(3)]),
    )
    assert level.missed(objective("longest_gap", 80_000)) == [1, 0]  # 3 has no gap at all


def test_other_levels_and_what_warms_up_are_left_out():
    rows = [began(1, stage=2), began(2, measured=False), began(3)]
    level = seen(line(began=rows, ended=[ended(k) for k in (1, 2, 3)]))
    assert level.missed(TTFT) == [0]
    assert level.n_complete == level.n_ended == 1


def test_the_first_request_of_each_stream_is_not_judged():
    rows = [began(k, asked_us=k) for k in range(5)]
    level = seen(line(began=rows, ended=[ended(0, 900_000), ended(3)]), streams={"default": 2})
    assert level.missed(TTFT) == [None, 0, None]


def test_each_class_is_judged_by_its_own_requests():
    rows = [began(1, name="chat"), began(2, name="batch")]
    level = seen(line(began=rows, ended=[ended(1), ended(2, 500_000)]))
    assert level.missed(objective("ttft", traffic_class="chat")) == [0]
    assert level.missed(objective("ttft", traffic_class="batch")) == [1]


def test_it_is_known_how_far_the_decoders_have_come():
    level = LevelSeen(STAGE, {}, [])
    level.add({0: [line(t_us=100)], 1: [line(t_us=50)]})
    assert level.is_known_until(50, [0, 1])
    assert not level.is_known_until(51, [0, 1])
    assert not level.is_known_until(1, [0, 1, 2])


def test_a_pulse_tells_that_all_before_it_is_decoded():
    """After a level's last answer nothing comes but pulses."""
    level = LevelSeen(STAGE, {}, [])
    level.add({0: [{"t_us": 100, "pulse": None}, {"t_us": 100, "pulse": {"t_us": 250}}]})
    assert level.is_known_until(250, [0])


def test_lines_of_plans_without_a_search_hold_no_requests():
    level = LevelSeen(STAGE, {}, [])
    level.add({0: [{"t_us": 5}]})
    assert level.missed(TTFT) == []


def waves(n_streams: int, n_waves: int, answer_us: int) -> LevelSeen:
    """Streams that begin together and always answer together, 10 tokens each."""
    rows = [(k, k // n_streams * answer_us) for k in range(n_streams * n_waves)]
    return seen(
        line(
            began=[began(k, asked_us) for k, asked_us in rows],
            ended=[ended(k, end_us=asked_us + answer_us) for k, asked_us in rows],
        ),
        streams={"default": n_streams},
    )


@pytest.mark.parametrize("n_waves", [1, 2, 3, 10])
def test_the_pace_of_a_closed_loop_does_not_depend_on_how_many_waves_a_level_holds(n_waves):
    issue_us = (0, n_waves * 1_000_000 - 1)
    pace = waves(8, n_waves, 1_000_000).tokens_per_s(issue_us)
    assert pace == pytest.approx(80, rel=1e-5)


@pytest.mark.parametrize("answer_us", [100_000, 700_000, 3_000_000])
def test_the_pace_of_a_closed_loop_does_not_depend_on_its_warm_up(answer_us):
    """Two streams; what the warm-up of 2 s has begun is in flight until it ends."""
    rows = [(k, k // 2 * answer_us) for k in range(2 * 10_000_000 // answer_us)]
    level = seen(
        line(
            began=[began(*row, measured=row[1] >= 2_000_000) for row in rows],
            ended=[ended(k, end_us=asked_us + answer_us) for k, asked_us in rows],
        ),
        streams={"default": 2},
    )
    pace = level.tokens_per_s((2_000_000, rows[-1][1] + answer_us))
    assert pace == pytest.approx(2 * 10 * 1e6 / answer_us)


def test_pauses_between_a_streams_requests_are_no_pace():
    """One stream, answers of 1 s and pauses of 1 s: 5 tokens/s."""
    rows = [(k, k * 2_000_000) for k in range(10)]
    level = seen(
        line(
            began=[began(*row) for row in rows],
            ended=[ended(k, end_us=asked_us + 1_000_000) for k, asked_us in rows],
        ),
        streams={"default": 1},
    )
    assert level.tokens_per_s((0, 20_000_000)) == pytest.approx(5)


def test_failed_answers_take_time_and_bring_nothing():
    rows = [(k, k * 1_000_000) for k in range(11)]
    kinds = ["complete", "http_error"]
    level = seen(
        line(
            began=[began(*row) for row in rows],
            ended=[ended(k, 1, kinds[k % 2], end_us=us + 1_000_000) for k, us in rows],
        ),
        streams={"default": 1},
    )
    assert level.tokens_per_s((0, 11_000_000)) == pytest.approx(5)


def test_the_pace_of_an_open_loop_is_what_ended_in_the_second_half():
    rows = [(k, k * 100_000) for k in range(100)]
    level = seen(
        line(
            began=[began(*row) for row in rows],
            ended=[ended(k, end_us=asked_us + 2_000_000) for k, asked_us in rows],
        )
    )
    assert level.tokens_per_s((0, 10_000_000)) == pytest.approx(100)


def test_without_a_complete_answer_there_is_no_pace():
    assert seen(line(began=[began(1)])).tokens_per_s((0, 9)) is None


def test_objectives_are_those_of_the_classes_each_named():
    raw = {
        "target": {"url": "sim://null", "model": "m"},
        "stages": [{"concurrency": 1, "requests": 1}],
        "slos": [{"metric": "ttft", "percentile": 95, "max_ms": 400}],
    }
    (only,) = objectives(parse(raw))
    assert (only.label, only.limit_us, only.traffic_class) == (
        "TTFT p95 ≤ 400 ms",
        400_000,
        "default",
    )
    night = {"name": "night", "slos": [{"metric": "e2e", "percentile": 99.9, "max_ms": 1e5}]}
    chat, batch = objectives(parse({**raw, "classes": [{"name": "chat"}, night]}))
    assert chat.label == "chat: TTFT p95 ≤ 400 ms"
    assert (batch.label, batch.traffic_class) == ("night: E2E p99.9 ≤ 100000 ms", "night")
