import numpy as np
import pandas as pd
import pytest
from frames_to_draw import curve, events, gaps, health, prompts, samples, timeline

from analysis.quantiles import intervals, percentile
from charts.registry import CHARTS
from charts.theme import CONFIG, MOST_MARKS, level_colours, log_ticks

FRAMES = {
    "latency_samples": samples(),
    "gap_histogram": gaps(),
    "load_curve": curve(),
    "prompt_points": prompts(),
    "generator_health": health(),
    "answer_events": events(),
    "level_timeline": timeline(),
}
TTFT, GAPS, LOAD = (CHARTS[n].draw for n in ("ttft_percentile", "itl_density", "throughput"))


def words_in(figure):
    return [a.text for a in figure.layout.annotations]


def legend(figure):
    return [t.name for t in figure.data if t.showlegend is not False]


def axis_titles(figure):
    axes = [a for a in figure.layout if a.startswith(("xaxis", "yaxis"))]
    return [figure.layout[a].title.text for a in axes if figure.layout[a].title.text]


@pytest.mark.parametrize("name", CHARTS)
def test_an_empty_frame_says_in_words_that_there_is_nothing(name):
    chart = CHARTS[name]
    figure = chart.draw(FRAMES[chart.frame].iloc[:0])
    assert len(figure.data) == 0
    assert len(words_in(figure)) == 1
    assert words_in(figure)[0].endswith(".")


@pytest.mark.parametrize("name", CHARTS)
def test_a_frame_of_one_row_is_drawn(name):
    chart = CHARTS[name]
    figure = chart.draw(FRAMES[chart.frame].iloc[:1])
    assert len(figure.data) >= 1
    figure.to_json()


@pytest.mark.parametrize("name", CHARTS)
def test_every_axis_has_a_title_with_its_unit(name):
    chart = CHARTS[name]
    units = ("ms", "%", "tok/s", "streams", "percentile of requests", "seconds", "events", "tokens")
    titles = axis_titles(chart.draw(FRAMES[chart.frame]))
    assert len(titles) >= 2
    for title in titles:
        assert any(unit in title for unit in units), title


@pytest.mark.parametrize("name", CHARTS)
def test_the_legend_says_how_many(name):
    chart = CHARTS[name]
    assert any("n=" in name for name in legend(chart.draw(FRAMES[chart.frame])))


@pytest.mark.parametrize("name", CHARTS)
def test_numbers_travel_as_float32_and_the_ground_is_clear(name):
    chart = CHARTS[name]
    figure = chart.draw(FRAMES[chart.frame])
    for trace in figure.data:
        assert trace.x.dtype == trace.y.dtype == np.dtype("float32")
    assert figure.layout.paper_bgcolor == figure.layout.plot_bgcolor == "rgba(0,0,0,0)"


@pytest.mark.parametrize("n_levels", [1, 12, 60])
def test_no_figure_has_more_marks_than_a_browser_draws_at_once(n_levels):
    levels = tuple(f"c={i}" for i in range(n_levels))
    wide = gaps(levels)
    wide.loc[wide.index[0], "b"] = 1  # from µs to minutes
    wide.loc[wide.index[-1], "b"] = 900
    for figure in (TTFT(samples(1000, levels)), GAPS(wide)):
        assert sum(len(trace.x) for trace in figure.data) <= MOST_MARKS


@pytest.mark.parametrize("name", CHARTS)
def test_every_chart_is_in_the_docs(name):
    from pathlib import Path

    page = Path(__file__).parents[2] / "docs" / "charts.md"
    assert f"(`{name}`)" in page.read_text(encoding="utf-8")


def test_no_chart_offers_to_upload_itself():
    assert CONFIG["showSendToCloud"] is False
    assert CONFIG["plotlyServerURL"] == ""
    assert CONFIG["displaylogo"] is False


def test_a_line_ends_where_ten_requests_remain_and_passes_through_the_named_percentiles():
    one = samples(1000, ("c=1",))
    line = TTFT(one).data[1]
    assert line.x[-1] == pytest.approx(2.0)  # p99 of 1,000
    at = np.isclose(line.customdata, 95)
    assert line.y[at][0] == pytest.approx(percentile(one["ms"].to_numpy("float64"), 0.95), rel=1e-6)


def test_the_band_is_the_order_statistic_interval():
    one = samples(1000, ("c=1",))
    band = TTFT(one).data[0]
    at = np.isclose(band.x, -np.log10(0.05))
    expected = intervals(one["ms"].to_numpy("float64"), [0.95])[0]
    assert band.y[at].tolist() == pytest.approx([expected.high, expected.low], rel=1e-6)


def test_few_requests_show_their_median_only():
    assert "c=1 · n=12, median only" in legend(TTFT(samples(12, ("c=1",))))


def test_levels_far_apart_get_a_log_axis_and_the_slo_stands_at_its_place():
    far = samples(50, ("c=1", "c=4"))
    far.loc[far["level"] == "c=4", "ms"] *= 40
    for frame, on_axis in ((far, np.log10(500)), (samples(50), 500)):
        figure = TTFT(frame, slo_ms=500)
        assert figure.layout.shapes[0].y0 == 500  # shapes take data units on both axes
        assert figure.layout.annotations[0].y == pytest.approx(on_axis)


def test_shares_of_gaps_add_up_to_all_of_them():
    for trace in GAPS(gaps()).data:
        assert trace.customdata.sum() == pytest.approx(100, rel=1e-5)


def test_the_legend_tells_the_stall_share():
    assert legend(GAPS(gaps()))[0] == "c=1 · n=1,000 · 1 % over 250 ms"
    assert legend(GAPS(gaps(), stall_ms=500))[0] == "c=1 · n=1,000 · none over 500 ms"


def test_gaps_of_nothing_do_not_stretch_the_axis():
    zero = pd.concat([gaps(("c=1",)), gaps(("c=1",)).assign(b=0)])
    figure = GAPS(zero)
    assert figure.data[0].x[0] > 0.01
    assert figure.data[0].customdata.sum() == pytest.approx(100, rel=1e-5)
    assert "≤ 0.05 ms" in words_in(figure)


def test_unknown_token_counts_leave_the_itl_figure_with_words():
    only_gaps = gaps().query("metric == 'gap'")
    assert "not known" in words_in(GAPS(only_gaps, metric="itl"))[0]


def test_throughput_stands_over_measured_not_configured_streams():
    figure = LOAD(curve())
    drawn = next(t for t in figure.data if t.name == "system output TPS")
    assert drawn.x.tolist() == pytest.approx([1, 3.9, 15.8], rel=1e-6)
    assert list(drawn.text) == ["c=1", "c=4", "c=16"]
    assert drawn.error_y.array.tolist() == pytest.approx((0.05 * drawn.y).tolist(), rel=1e-5)


def test_an_interval_without_an_upper_bound_has_no_upper_bar():
    tail = next(t for t in LOAD(curve()).data if "p95" in t.name)
    assert tail.error_y.array.tolist() == [0, 0, 0]
    assert tail.error_y.arrayminus.min() > 0


def test_a_level_without_an_answer_is_named_not_drawn_at_zero():
    silent = curve()
    silent.loc[2, ["n", "tps", "ttft_p50_ms", "ttft_p95_ms"]] = [0, None, None, None]
    figure = LOAD(silent)
    assert "no answer at c=16" in words_in(figure)
    assert all(len(t.x) == 2 for t in figure.data if t.name != "linear scaling")


def test_an_endpoint_that_tells_no_tokens_still_shows_its_ttft():
    untold = curve().assign(tps=None, tps_low=None, tps_high=None)
    assert "the endpoint does not tell its tokens" in words_in(LOAD(untold))


def test_colours_are_as_many_as_levels_and_differ():
    for n in (0, 1, 2, 7, 30):
        assert len(set(level_colours(n))) == n


def test_log_ticks_are_round_and_within():
    assert log_ticks(8, 300) == ([10, 20, 50, 100, 200], ["10", "20", "50", "100", "200"])
    assert log_ticks(0.001, 100)[1] == ["0.001", "0.01", "0.1", "1", "10", "100"]


def test_what_the_load_generator_did_not_record_has_no_line():
    figure = CHARTS["generator"].draw(health())
    assert not any("send lag" in name for name in legend(figure))
    assert any(name.startswith("bound on arrivals, p99: 3 ") for name in legend(figure))


def test_an_answer_is_a_stair_of_all_its_events_with_a_colour_for_each_kind():
    figure = CHARTS["event_timeline"].draw(events())
    stair, *points = figure.data
    assert len(stair.x) == len(events()) + 1
    assert [trace.name for trace in points] == [
        "role · n=1",
        "reasoning · n=4",
        "content · n=16",
        "finish · n=1",
        "done · n=1",
    ]
    assert points[1].marker.color != points[2].marker.color


def test_the_shaded_wait_ends_at_the_first_token_not_at_the_first_event():
    figure = CHARTS["event_timeline"].draw(events())
    assert figure.layout.shapes[0].x1 == 200
    assert "TTFT 200 ms" in words_in(figure)
    only_role = events(0).iloc[:1]
    assert not CHARTS["event_timeline"].draw(only_role).layout.shapes


def test_an_endless_answer_is_thinned_and_still_counted():
    figure = CHARTS["event_timeline"].draw(events(20_000))
    assert sum(len(trace.x) for trace in figure.data) <= MOST_MARKS + 1
    assert "content · n=19,996" in legend(figure)


def test_an_open_loop_is_drawn_from_schedule_with_send_dotted_beside_it():
    sent = samples(200, ("5/s",))
    due = sent.assign(clock="schedule", ms=sent["ms"] + 50)
    figure = TTFT(pd.concat([sent, due]))
    lines = [t for t in figure.data if t.mode == "lines" and t.showlegend is not False]
    assert [(t.name, t.line.dash) for t in lines] == [
        ("5/s, from send · n=200", "dot"),
        ("5/s, from schedule · n=200", None),
    ]
    assert lines[0].line.color == lines[1].line.color
    assert len([t for t in figure.data if t.fill == "toself"]) == 1
