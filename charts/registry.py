"""CHARTS: each figure with its title, its caption and the frame it draws.

A new chart is one file and one entry; docs/charts.md must name it.
"""

from collections.abc import Callable
from dataclasses import dataclass

import plotly.graph_objects as go

from charts.event_timeline import event_timeline
from charts.generator import generator
from charts.itl_density import itl_density
from charts.level_timeline import level_timeline
from charts.throughput import throughput
from charts.ttft_percentile import ttft_percentile
from charts.ttft_prompt import ttft_prompt


@dataclass(frozen=True, slots=True)
class Chart:
    """One figure.  frame: the function of analysis.chart_frames that makes what `draw` takes."""

    title: str
    caption: str
    frame: str
    draw: Callable[..., go.Figure]


CHARTS: dict[str, Chart] = {
    "ttft_percentile": Chart(
        title="Time to first token, by percentile",
        caption="Bands are 95 % order-statistic intervals, as if requests were independent: the "
        "tiles count those that are alike for fewer. Lines end where fewer than 10 remain.",
        frame="latency_samples",
        draw=ttft_percentile,
    ),
    "ttft_prompt": Chart(
        title="TTFT against prompt length",
        caption="Answers of the lowest load. The line is the median slope of all pairs "
        "(Theil-Sen); the band turns it within the slope's 95 % interval. Dotted: least squares.",
        frame="prompt_points",
        draw=ttft_prompt,
    ),
    "itl_density": Chart(
        title="Gaps between tokens",
        caption="All gaps of a level, log-log, so that rare stalls stay visible.",
        frame="gap_histogram",
        draw=itl_density,
    ),
    "throughput": Chart(
        title="Throughput and TTFT under concurrency",
        caption="Against the streams really in flight. Bars are 95 % intervals; dotted: what the "
        "lowest level's pace per stream would give.",
        frame="load_curve",
        draw=throughput,
    ),
    "generator": Chart(
        title="The load generator itself",
        caption="Each point is the worst load worker's in that second; in the legend its maximum. "
        "Lateness alone does no harm to kernel stamps: the doubt below it is what remains.",
        frame="generator_health",
        draw=generator,
    ),
    "level_timeline": Chart(
        title="A level over its time",
        caption="Shaded: the window its numbers come from. A request belongs to it by the instant "
        "it was due, else sent.",
        frame="level_timeline",
        draw=level_timeline,
    ),
    "event_timeline": Chart(
        title="One answer, event by event",
        caption="Each point is one event at its arrival: tokens in their kind's colour, the others "
        "grey. Flat is waiting, upright is a batch.",
        frame="answer_events",
        draw=event_timeline,
    ),
}
