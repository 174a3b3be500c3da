"""The charts of the Live page: tokens, time to first token, streams and arrivals over time."""

from typing import Any

from ui.live_view import LATENCY_S, SHOWN_S, LiveSeries
from ui.time_charts import GREY, INDIGO, ORANGE, RED, TEAL, Line, TimeChart, Timeline, time_charts


def live_charts(
    series: LiveSeries,
    stages: list[dict[str, Any]],
    planned_s: float | None,
    is_scheduled: bool,
) -> None:
    """Three charts beside each other; a vertical line where a level began."""
    charts = [_tokens(series), _ttft(series, is_scheduled), _requests(series, is_scheduled)]
    begin_us = begin_of(stages)
    marks = [((row["begin_us"] - begin_us) / 1e6, row["name"]) for row in stages]
    time_charts(charts, Timeline(series.t_s, shown_range(series, planned_s), marks), key="live")


def begin_of(stages: list[dict[str, Any]]) -> int:
    """When the load began, µs on the run's time line."""
    return stages[0]["begin_us"] if stages else 0


def shown_range(series: LiveSeries, planned_s: float | None) -> tuple[float, float]:
    """The whole plan if it is short enough to be seen at once, else the last SHOWN_S seconds."""
    first, last = (series.t_s[0], series.t_s[-1]) if series.t_s else (0, 0)
    if planned_s and last <= SHOWN_S and planned_s <= SHOWN_S:
        return (0.0, max(float(last), planned_s))
    return (float(first), float(max(last, first + 10)))


def _tokens(series: LiveSeries) -> TimeChart:
    line = Line("tokens/s", INDIGO, series.tokens_per_s)
    return TimeChart("Output tokens", "tokens per second, all streams", "tokens/s", [line])


def _ttft(series: LiveSeries, is_scheduled: bool) -> TimeChart:
    """From schedule where there is one; from send lies behind it, seen where the two differ."""
    p95, p50 = series.ttft_p95_ms, series.ttft_p50_ms
    lines = [Line("p95", ORANGE, p95), Line("p50", INDIGO, p50)]
    unit = f"ms, the {LATENCY_S} s before"
    if is_scheduled:
        unit = f"ms from schedule, the {LATENCY_S} s before"
        lines = [
            Line("p95 from send", GREY, p95),
            Line("p95", ORANGE, series.ttft_sched_p95_ms),
            Line("p50", INDIGO, series.ttft_sched_p50_ms),
        ]
    return TimeChart("Time to first token", unit, "ms", lines)


def _requests(series: LiveSeries, is_scheduled: bool) -> TimeChart:
    lines = [
        Line("in flight", TEAL, series.in_flight),
        Line("complete/s", INDIGO, series.done_per_s),
        Line("failed/s", RED, series.failed_per_s),
    ]
    if not is_scheduled:
        unit = "streams in flight; answers per second"
        return TimeChart("Requests", unit, "", lines, fill_first=True)
    came = series.arrivals
    lines.insert(1, Line("offered/s", GREY, came.offered_per_s))
    if any(came.not_sent_per_s):
        lines.append(Line("not sent/s", ORANGE, came.not_sent_per_s))
    unit = "streams in flight; arrivals and answers per second"
    return TimeChart("Requests", unit, "", lines, fill_first=True)
