"""Live: what the run does right now, from its folder alone; in any tab, also after a reload."""

from pathlib import Path
from typing import Any

import streamlit as st

from loadgen.launch import running, state, stop
from loadgen.run_folder import RunFolder, data_folder, terminal
from ui import page_files
from ui.card import verdict
from ui.empty import no_run_under_way
from ui.guard import guard
from ui.live_charts import begin_of, live_charts
from ui.live_classes import live_classes
from ui.live_feed import LiveFeed, LiveLines, read_stages
from ui.live_panels import classes_card, errors_card, health_card, machines_card
from ui.live_progress import progress
from ui.live_tiles import live_tiles_row
from ui.live_view import live_series, live_tiles, recent_span
from ui.plain import label
from ui.run_pages import badges, folder_named, plan_of
from ui.run_text import STATES, queue_text, runs_before


@st.cache_resource(max_entries=8, show_spinner=False)
def feed_of(path: str) -> LiveFeed:
    """One reader for all tabs; it only saves reading again, and may be dropped at any time."""
    return LiveFeed(Path(path))


def watched_run(data: Path) -> str | None:
    """?run=, else the run that has been under way for longest, which then becomes the URL."""
    if uid := st.query_params.get("run"):
        return uid
    under_way = running(data)
    if under_way:
        st.query_params["run"] = under_way[0]
    return under_way[0] if under_way else None


def head(folder: RunFolder, ended: bool) -> None:
    """Name, set-up, and the button that ends the run."""
    with st.container(horizontal=True, vertical_alignment="center"):
        with st.container(gap="xsmall", width="stretch"):
            plan = plan_of(folder.read("plan.json"))
            st.title(label(plan["name"] if plan else folder.run_uid, 100), anchor=False)
            if plan:
                badges(plan)
        if not ended and st.button("Stop run", icon=":material/stop_circle:", key="stop_run"):
            with st.spinner("Stopping; what was measured is kept …"):
                stop(data_folder(), folder.run_uid)
            st.rerun()


def banner(folder: RunFolder, status: dict[str, Any], live: LiveLines) -> None:
    """State, level and time left; for a run that has ended, the way to its numbers."""
    tone, word = STATES[status["state"]]
    if terminal(status["state"]):
        verdict(tone, word, status["message"]).page_link(
            page_files.RUN,
            label="**See the results**" if read_stages(folder.path) else "**See what happened**",
            icon=":material/arrow_forward:",
            query_params={"run": folder.run_uid},
        )
    elif status["state"] == "queued":
        ahead = runs_before(folder.run_uid, running(data_folder()))
        verdict(tone, word, queue_text(ahead, status["message"]))
    elif status["state"] == "running":
        levels = {row["stage"]: row for row in read_stages(folder.path)}
        share, words = progress(status, levels.get(status["stage"]), live.newest_us)
        st.progress(share, text=f"**{word}** · {label(words, 200)}")
    else:
        verdict(tone, word, status["message"])


def watch(folder: RunFolder, was_ended: bool) -> None:
    """One tick: everything that changes while the run goes on."""
    with guard():
        status = state(data_folder(), folder.run_uid)
        if terminal(status["state"]) and not was_ended:
            st.rerun()
        live = feed_of(str(folder.path)).read()
        banner(folder, status, live)
        if not live.lines:
            if status["state"] in ("starting", "running"):
                st.skeleton(height=220)
            return
        stages = read_stages(folder.path)
        begin_us = begin_of(stages)
        level_us = stages[-1]["begin_us"] if stages else None
        series = live_series(live, begin_us)
        now = live_tiles(live, series, begin_us, level_us)
        live_tiles_row(now, status)
        live_charts(series, stages, status.get("planned_s"), now.is_scheduled)
        classes = live_classes(live, recent_span(live, begin_us, level_us))
        classes_card(classes, now.latency_s)
        errors_card(live, status["state"])
        run = folder.read("run.json") or {}
        machines_card(run.get("machines"))
        health_card(live, now, run.get("stamps", ""), status["state"])


data = data_folder()
uid = watched_run(data)
if uid is None:
    no_run_under_way()
    st.stop()
folder = folder_named(data, uid)
if folder is None:
    st.stop()
ended = terminal(state(data, uid)["state"])
head(folder, ended)
st.fragment(watch, run_every=None if ended else 1)(folder, ended)
