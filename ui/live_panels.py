"""The cards of the Live page: classes, errors by kind, machines, health of the load generator."""

from typing import Any

import pandas as pd
import streamlit as st

from loadgen.run_folder import terminal
from ui.card import card, verdict
from ui.live_classes import LiveClass
from ui.live_feed import LiveLines
from ui.live_health import busiest, live_health, recent_pulses, worst_ms
from ui.live_machines import machine_rows
from ui.live_view import LATENCY_S, NO_FAILURE, LiveTiles
from ui.plain import counted, ms, number


def classes_card(classes: list[LiveClass], latency_s: int) -> None:
    """Each class of traffic in a row; nothing for a plan without classes.

    latency_s: how far TTFT looks back.
    """
    if not classes:
        return
    is_scheduled = any(one.ttft_sched_p95_ms is not None for one in classes)
    rows = [
        {
            "Class": one.name,
            "Complete": one.complete,
            "Failed": one.failed,
            **({"Not sent": one.not_sent} if is_scheduled else {}),
            **({"TTFT p95 from schedule": ms(one.ttft_sched_p95_ms)} if is_scheduled else {}),
            "TTFT p95 from send": ms(one.ttft_p95_ms),
        }
        for one in classes
    ]
    with card("classes", "Classes of traffic", f"Answers so far; TTFT of the last {latency_s} s."):
        st.dataframe(pd.DataFrame(rows), hide_index=True)


def machines_card(machines: dict[str, Any] | None) -> None:
    """The other machines of the run; nothing for a run of one machine."""
    if rows := machine_rows(machines):
        sub = "Load workers that joined from elsewhere; times of different clocks are not compared."
        with card("machines", "Other machines", sub):
            st.dataframe(pd.DataFrame(rows), hide_index=True)


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
