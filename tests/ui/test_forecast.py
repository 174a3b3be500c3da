import pytest

from loadgen.forecast_levels import MOST_ARRIVALS
from loadgen.plan import parse
from loadgen.schedule import Shard
from tests.ui.plans_of_all_kinds import STAGES, TARGET
from ui.forecast import forecast, forecast_text
from ui.load_preview import MOST_BINS, load_preview
from ui.presets import PRESETS, preset_plan

CLOSED = {"prompt_tokens": 256, "output_tokens": 100}  # 0.3 s + 100 / 50 per s = 2.3 s


def plan(*stages, **more):
    return parse({"target": TARGET, "stages": list(stages), "workload": CLOSED, **more})


def due_s_of(asked):
    """When the run's only worker will send: what load workers themselves go by."""
    share = Shard(asked, 0, 1).share(0, asked.stages[0])
    return [visit.due_ns / 1e9 for visit in share.arrivals()]


def preview_of(asked):
    return load_preview(forecast(asked), [one.name for one in asked.traffic()])


def values_of(preview, chart=0, line=0):
    return list(preview.charts[chart].lines[line].values)


def test_seconds_are_the_plans_own_and_closed_loop_is_a_guess():
    cost = forecast(plan(*({"concurrency": n, "seconds": 10} for n in (1, 2))))
    assert cost.total_s == 20
    assert cost.requests == pytest.approx(30 / 2.3)
    assert cost.is_guessed


def test_a_closed_level_ends_at_whichever_end_comes_first():
    (level,) = forecast(plan({"concurrency": 1, "seconds": 100, "requests": 10})).levels
    assert (level.seconds, sum(level.requests)) == (pytest.approx(23), pytest.approx(10))


def test_open_loop_is_counted_and_not_guessed():
    asked = plan({"rate_per_s": 5, "seconds": 20})
    cost = forecast(asked)
    assert cost.requests == len(due_s_of(asked))
    assert cost.input_tokens == cost.requests * 256
    assert not cost.is_guessed


def test_an_open_level_that_ends_by_its_requests_lasts_to_the_last_arrival():
    asked = plan({"rate_per_s": 5, "requests": 50})
    cost = forecast(asked)
    assert cost.requests == 50
    assert cost.total_s == pytest.approx(due_s_of(asked)[-1])


def test_the_curve_is_the_number_of_arrivals_due_in_each_second():
    asked = plan({"rate_per_s": 5, "seconds": 20})
    due_s = due_s_of(asked)
    counts = [sum(s <= due < s + 1 for due in due_s) for s in range(20)]
    assert values_of(preview_of(asked)) == [*counts, counts[-1]]


def test_levels_follow_each_other_without_a_gap():
    preview = preview_of(plan(*({"concurrency": n, "seconds": 10} for n in (1, 4))))
    assert values_of(preview) == [1] * 10 + [4] * 11
    assert preview.timeline.marks == [(0, "c=1"), (10, "c=4")]


def test_each_class_has_its_line_and_own_streams_a_chart_beside():
    preview = preview_of(preview_plan := preset_plan("mixed"))
    assert [chart.title for chart in preview.charts] == ["Arrivals", "Concurrency"]
    assert [line.name for chart in preview.charts for line in chart.lines] == [
        one.name for one in preview_plan.traffic()
    ]
    assert set(values_of(preview, chart=1)) == {4}


def test_a_pause_is_a_gap_in_the_curve():
    idle = {"kind": "idle", "seconds": 5}
    level = {"concurrency": 2, "seconds": 5}
    assert values_of(preview_of(plan(level, idle, level))) == [2] * 5 + [None] * 5 + [2] * 6


def test_a_shape_of_streams_is_drawn_as_it_is():
    preview = preview_of(plan({"concurrency": {"shape": "steps", "values": [1, 3]}, "seconds": 8}))
    assert values_of(preview) == [1] * 4 + [3] * 5


def test_more_arrivals_than_are_counted_go_on_as_the_planned_rate_and_it_is_said():
    cost = forecast(plan({"rate_per_s": 2000, "seconds": 600}))
    assert cost.requests == 1_200_000
    assert sum(len(level.due_s) for level in cost.levels) == MOST_ARRIVALS
    assert any("200,000 arrivals are drawn" in note for note in cost.notes)
    values = values_of(load_preview(cost, ["default"]))
    assert values[-1] == pytest.approx(2000)
    assert values[10] != 2000


def test_a_long_run_has_bins_of_several_seconds():
    preview = preview_of(plan({"rate_per_s": 1, "seconds": 7200}))
    assert len(preview.timeline.t_s) <= MOST_BINS + 1
    assert preview.charts[0].unit == "requests per second, mean of 20 s"


@pytest.mark.parametrize("name", ["search", "doubling"])
def test_what_a_search_will_try_is_unknown_until_it_runs(name):
    asked = plan(*STAGES[name], slos=[{"metric": "ttft", "max_ms": 500}])
    cost = forecast(asked)
    assert "unknown until it runs" in cost.notes[0]
    assert "Up to about" in forecast_text(cost)
    assert not load_preview(cost, ["default"]).charts


def test_a_file_of_lengths_that_is_none_is_said():
    work = {"prompt_tokens": {"kind": "file", "path": __file__}}
    with pytest.raises(ValueError, match=r"test_forecast\.py"):
        forecast(plan({"concurrency": 1, "requests": 9}, workload=work))


def test_lengths_in_a_file_are_unknown_and_not_zero(tmp_path):
    path = tmp_path / "lengths.txt"
    path.write_text("100\n300\n")
    cost = forecast(
        plan(
            {"rate_per_s": 2, "seconds": 10},
            workload={"prompt_tokens": {"kind": "file", "path": str(path)}},
        )
    )
    assert cost.input_tokens is None
    assert "unknown tokens in" in forecast_text(cost)
    assert cost.output_tokens == cost.requests * 128


def test_dollars_are_by_the_prices_of_each_classs_endpoint():
    prices = {"usd_per_m_input": 1.0, "usd_per_m_output": 10.0}
    priced = parse(
        {
            "target": {**TARGET, "prices": prices},
            "stages": [{"rate_per_s": 2, "requests": 1000}],
            "workload": {"prompt_tokens": 1000, "output_tokens": 100},
        }
    )
    cost = forecast(priced)
    assert cost.dollars == pytest.approx(1.0 + 1.0)
    assert "2.00 US" in forecast_text(cost)
    assert forecast(plan({"rate_per_s": 2, "requests": 10})).dollars is None


def test_conversations_carry_what_was_said_before():
    talk = {**CLOSED, "conversation": {"turns": 3}}
    cost = forecast(plan({"rate_per_s": 1, "requests": 30}, workload=talk))
    assert cost.requests == 30
    assert cost.input_tokens == pytest.approx(30 * (256 + 356))


def test_a_limit_that_the_plan_would_reach_is_said():
    cost = forecast(plan({"rate_per_s": 5, "seconds": 20}, limits={"tokens": 100}))
    assert any("limit of 100 tokens" in note for note in cost.notes)


@pytest.mark.parametrize("name", [name for name in PRESETS if name != "trace"])
def test_each_preset_has_a_forecast(name):
    cost = forecast(preset_plan(name))
    assert 30 <= cost.total_s <= 600
    assert forecast_text(cost)


def test_a_trace_has_its_own_lengths(tmp_path):
    trace = tmp_path / "trace.csv"
    trace.write_text("t_s,prompt_tokens,output_tokens\n0,100,10\n1.5,200,20\n3,300,30\n")
    cost = forecast(plan({"kind": "replay", "file": str(trace)}))
    assert (cost.requests, cost.input_tokens, cost.output_tokens) == (3, 600, 60)
    assert values_of(load_preview(cost, ["default"])) == [1, 1, 1, 1]


def test_requests_that_are_all_due_at_once_are_drawn_in_their_second(tmp_path):
    trace = tmp_path / "trace.csv"
    trace.write_text("t_s,prompt_tokens,output_tokens\n" + "7,100,10\n" * 5)
    assert values_of(preview_of(plan({"kind": "replay", "file": str(trace)}))) == [
        5,
        5,
    ]
