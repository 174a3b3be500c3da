"""The parts of the Live page: tiles, charts, errors by kind, health of the load generator."""

from typing import Any

import pandas as pd
import streamlit as st

from loadgen.run_folder import terminal
from ui.card import Tile, card, tiles, verdict
from ui.live_feed import LiveLines
from ui.live_health import busiest, live_health, recent_pulses, worst_ms
from ui.live_view import LATENCY_S, NO_FAILURE, RATE_S, SHOWN_S, LiveSeries, LiveTiles
from ui.plain import counted, ms, number
from ui.time_charts import INDIGO, ORANGE, RED, TEAL, Line, TimeChart, Timeline, time_charts

HELP = {
    "in_flight": "Requests sent and not ended.",
    "requests": f"Complete answers per second over the last {RATE_S} s.",
    "tokens": f"Over the last {RATE_S} s, all streams together. Chunks count where the server "
    "does not say how many tokens a chunk holds.",
    "ttft": "Time from send to the first token; 95 of 100 requests were faster.",
    "gap": "Time between successive chunks of one stream; 99 of 100 gaps were shorter.",
    "errors": "Requests that did not end with a complete answer, by kind below.",
}


def live_tiles_row(now: LiveTiles, status: dict[str, Any]) -> None:
    """Six tiles: what is open, what came, how late, what failed."""
    ended = terminal(status["state"])  # the last status of a run that was cut may still count some
    in_flight = "0" if ended else f"{status['in_flight']:,}"
    done = f"{now.complete:,} complete{'' if ended else ' so far'}"
    recent = f"last {LATENCY_S} s"
    failed = "requests failed" if now.failed else "none" if ended else "none so far"
    tiles(
        [
            Tile("In flight", in_flight, "streams open", HELP["in_flight"]),
            Tile("Requests/s", number(now.requests_per_s), done, HELP["requests"]),
            Tile("Output tokens/s", number(now.tokens_per_s), "all streams", HELP["tokens"]),
            Tile("TTFT p95", ms(now.ttft_p95_ms), f"{recent} · n = {now.n_ttft:,}", HELP["ttft"]),
            Tile("Chunk gap p99", ms(now.gap_p99_ms), recent, HELP["gap"]),
            Tile("Errors", f"{now.failed:,}", failed, HELP["errors"]),
        ]
    )


def live_charts(series: LiveSeries, stages: list[dict[str, Any]], planned_s: float | None) -> None:
    """Tokens/s, TTFT and streams over time; a vertical line where a level began."""
    charts = [
        TimeChart(
            "Output tokens",
            "tokens per second, all streams",
            "tokens/s",
            [Line("tokens/s", INDIGO, series.tokens_per_s)],
        ),
        TimeChart(
            "Time to first token",
            f"ms, the {LATENCY_S} s before",
            "ms",
            [Line("p95", ORANGE, series.ttft_p95_ms), Line("p50", INDIGO, series.ttft_p50_ms)],
        ),
        TimeChart(
            "Requests",
            "streams in flight; answers per second",
            "",
            [
                Line("in flight", TEAL, series.in_flight),
                Line("complete/s", INDIGO, series.done_per_s),
                Line("failed/s", RED, series.failed_per_s),
            ],
            fill_first=True,
        ),
    ]
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


def errors_card(live: LiveLines, state: str) -> None:
    """Requests without a complete answer, by kind, with the latest sentence of each.

    A table of plain text, never markdown: the sentences are the server's.  Nothing if none failed.
    Requests that we cancelled are no errors: they have a line of their own.
    """
    rows = [
        {"Kind": kind.replace("_", " "), "Requests": n, "Latest": live.last_details.get(kind)}
        for kind, n in live.outcomes.most_common()
        if kind not in NO_FAILURE
    ]
    if cancelled := live.outcomes["cancelled"]:
        st.caption(f"{cancelled:,} cancelled by {cancelled_by(state)}; no errors of the endpoint.")
    if not rows:
        return
    with card(
        "errors", "Errors by kind", "With the latest sentence of each, as the server gave it."
    ):
        st.dataframe(
            pd.DataFrame(rows),
            hide_index=True,
            column_config={
                "Kind": st.column_config.TextColumn(width="small"),
                "Requests": st.column_config.NumberColumn(width="small", format="localized"),
                "Latest": st.column_config.TextColumn(width="large"),
            },
        )


def cancelled_by(state: str) -> str:
    """Who cancels requests in a run of this state."""
    return "the stop" if state in ("stopping", "stopped") else "the load generator"


def health_card(live: LiveLines, now: LiveTiles, stamps: str, state: str) -> None:
    """May these numbers be believed, and what the load generator measures of itself."""
    tone, words, reason = live_health(live, now, stamps, ended=terminal(state))
    with card("health", "Load generator", f"Its own lateness in the last {LATENCY_S} s."):
        left, right = st.columns([2, 3], gap="small", vertical_alignment="center")
        with left:
            verdict(tone, words, reason, key="health")
        right.dataframe(pd.DataFrame(_health_rows(live, stamps)), hide_index=True)


def _health_rows(live: LiveLines, stamps: str) -> list[dict[str, str]]:
    pulses = recent_pulses(live)
    cpu = busiest(pulses)
    rows = [
        ("Read lag p99", worst_ms(pulses, "read_lag_p99_us"), "read minus the kernel's stamp"),
        ("Send lag p99", worst_ms(pulses, "send_lag_p99_us"), "sent minus due (open loop)"),
        ("Loop lateness, worst", worst_ms(pulses, "hub_late_max_us"), "of a 50 ms tick"),
    ]
    shown = [(name, ms(value), what) for name, value, what in rows if value is not None]
    shown += [
        ("CPU", f"{number(cpu and 100 * cpu)} %", "of one core, busiest load worker"),
        ("Stamps", "kernel" if stamps == "kernel" else "user space", _stamps_text(live)),
    ]
    return [{"Measured": name, "Value": value, "What": what} for name, value, what in shown]


def _stamps_text(live: LiveLines) -> str:
    missing = counted(live.missing_stamps, "read") if live.missing_stamps else "no read"
    return f"{missing} without; {live.shared:,} of {live.events:,} tokens shared a read"
