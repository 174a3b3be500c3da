"""The parts of the Endpoints page: verdict, warnings, timeline, facts, events."""

import json
from typing import Any, Literal

import streamlit as st

from analysis.chart_frames import answer_events
from charts.registry import CHARTS
from charts.theme import CONFIG
from loadgen.explain_words import headline, summary
from ui import page_files
from ui.card import card, tiles, verdict
from ui.endpoint_titles import TITLES
from ui.endpoint_view import (
    SHOWN_EVENTS,
    check_tiles,
    endpoint_params,
    events_table,
    facts_table,
)
from ui.plain import label

Json = dict[str, Any]
WARNING_CHARACTERS = 600
MARKS = {"warn": ":orange[:material/warning:]", "note": ":gray[:material/info:]"}


def nothing_checked_yet() -> None:
    """What a check will show."""
    with card("about_check", "What the check shows", height="content"):
        st.markdown(
            "One short request, sent exactly as a run would send it, and **every event of its "
            "answer** with its arrival: what is a token and what is not, when the first one "
            "really came, who counts them, and what would make a run's numbers lie – buffering "
            "proxies, compression, missing usage, several tokens per chunk, refused fields."
        )
        st.caption("64 tokens at most. Nothing is stored.")


def check_verdict(said: Json, typed: Json) -> None:
    """In words first; then the way to a run."""
    tone, words = headline(said)
    with verdict(tone, words, summary(said), key="check"):
        if said["ok"]:
            st.page_link(
                page_files.NEW_RUN,
                label="Start a run with this endpoint",
                icon=":material/play_circle:",
                query_params=endpoint_params(typed),
            )


def check_warnings(said: Json) -> None:
    """Each with its name, what is odd and what to do; server text in it is literal."""
    found = said.get("warnings") or []
    if not found:
        return
    with card("warnings", "What to mend, and what to know", height="content"):
        for warning in found:
            mark, title = MARKS[warning["level"]], TITLES.get(warning["name"], "Odd")
            st.markdown(f"{mark} **{title}.** {label(warning['text'], WARNING_CHARACTERS)}")


def explanation(said: Json) -> None:
    """Tiles, timeline, facts and every event; of a refusal the facts, of silence nothing."""
    if not said["events"]:
        if said["http_status"] is not None:
            _facts(said, height="content")
        return
    tiles(check_tiles(said), min_width_px=150)
    chart = CHARTS["event_timeline"]
    left, right = st.columns([3, 2], gap="small")
    with left, card("timeline", chart.title, chart.caption):
        figure = chart.draw(answer_events(said["events"]))
        st.plotly_chart(figure, key="event_timeline", config=CONFIG, alt=chart.title)
    with right:
        _facts(said, height=290)
    _events(said)


def _facts(said: Json, height: int | Literal["content"]) -> None:
    with card("facts", "Said beside the text", "Usage, ids and headers worth knowing."):
        wide = {"What": st.column_config.TextColumn(width="small")}
        st.dataframe(facts_table(said), column_config=wide, hide_index=True, height=height)


def _events(said: Json) -> None:
    n = len(said["events"])
    first = f"The first {SHOWN_EVENTS:,} of {n:,}. " if n > SHOWN_EVENTS else ""
    sub = f"{first}In order of arrival, times from the send; each gap since the event before."
    with card("events", "Events", sub):
        st.dataframe(
            events_table(said),
            column_config=_columns(said),
            hide_index=True,
            height=min(420, 38 + 35 * n),
        )
        st.download_button(
            "explanation.json",
            data=json.dumps(said, indent=1),
            file_name="explanation.json",
            mime="application/json",
            on_click="ignore",
            icon=":material/download:",
        )


def _columns(said: Json) -> dict[str, Any]:
    most = max((row["gap_ms"] or 0.0 for row in said["events"]), default=0.0)
    number = st.column_config.NumberColumn
    return {
        "After ms": number(format="%.2f", width="small"),
        "Gap ms": st.column_config.ProgressColumn(
            format="%.2f", min_value=0.0, max_value=max(most, 0.001), width="small"
        ),
        "Kind": st.column_config.TextColumn(width="small"),
        "Text": st.column_config.TextColumn(width="medium"),
        "Says": st.column_config.TextColumn(width="medium"),
        "Tokens": st.column_config.TextColumn(width="small", help="Where the event itself tells."),
        "Read": number(width="small", help="Which read of the socket completed the event."),
        "Bytes": number(width="small", help="Of the event's payload."),
        "Read late, ms": number(
            format="%.2f",
            width="small",
            help="How long its bytes waited for Headway; the arrival is the kernel's stamp.",
        ),
    }
