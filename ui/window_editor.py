"""The window of a level on the Run page: why it is that one, its checks, and how it is moved."""

from typing import Any

import pandas as pd
import streamlit as st

from analysis.checks import together
from charts.level_timeline import level_timeline
from charts.theme import CONFIG
from loadgen.run_folder import data_folder
from storage.client import StoreError
from ui.data import store
from ui.plain import label, sentence

Json = dict[str, Any]
US = 1e6
MARKS = {True: ":green[:material/check:]", False: ":orange[:material/warning:]", None: ":gray[–]"}


def step_s(seconds: float) -> float:
    """How finely a level of that length is cut: whole seconds, tenths where it is short."""
    return 1.0 if seconds >= 20 else 0.1


def window_s(window: Json) -> tuple[float, float]:
    """The window in seconds from the level's begin."""
    begin_us = window["level_us"][0]
    return (window["begin_us"] - begin_us) / US, (window["end_us"] - begin_us) / US


def moved_us(window: Json, since_s: float, until_s: float) -> tuple[int, int]:
    """A window in seconds of the level as µs of the run, within the level."""
    begin_us, end_us = window["level_us"]
    return (
        max(begin_us, begin_us + round(since_s * US)),
        min(end_us, begin_us + round(until_s * US)),
    )


def is_movable(window: Json) -> bool:
    """Not of imported runs, which are judged whole, nor while the whole level is shown."""
    return window["by"] != "whole"


def headline(level: Json) -> str:
    """What the closed box says."""
    held = [check["holds"] for check in level["checks"].values()]
    judged = [one for one in held if one is not None]
    by = {"automatic": "found automatically", "hand": "set by hand", "whole": "the whole level"}
    seconds = "" if level["window_s"] is None else f"{level['window_s']:.1f} s, "
    checked = f"{sum(judged)} of {len(judged)} checks hold" if judged else "nothing can be checked"
    return f"Window: {seconds}{by[level['window']['by']]} · {checked}"


def window_box(run: Json, level: Json, timeline: pd.DataFrame) -> None:
    """One expander, made when it is opened.  timeline: analysis.chart_frames.level_timeline."""
    window = level["window"]
    box = st.expander(headline(level), key="window", on_change="rerun", bind="query-params")
    if not box.open:
        return
    with box:
        st.caption(label(window["reason"], 400))
        for titles, holds, said in together(level["checks"]):
            st.markdown(f"{MARKS[holds]} **{', '.join(titles)}.** {label(said, 300)}")
        if not window["has_times"]:
            return
        figure = level_timeline(timeline, level["name"], window_s(window))
        st.plotly_chart(figure, key="level_timeline", config=CONFIG, alt="The level over its time")
        if is_movable(window):
            _mover(run, level)


def _mover(run: Json, level: Json) -> None:
    window = level["window"]
    begin_us, end_us = window["level_us"]
    length = (end_us - begin_us) / US
    step = step_s(length)
    most = round(-(-length // step) * step, 1)
    now = tuple(min(most, max(0.0, round(round(at / step) * step, 1))) for at in window_s(window))
    key = f"moved_{level['level']}_{window['begin_us']}_{window['end_us']}"
    since, until = st.slider(
        "Its numbers come from these seconds of the level",
        0.0,
        most,
        now,
        step,
        format="%.0f s" if step >= 1 else "%.1f s",
        key=key,
    )
    with st.container(horizontal=True, vertical_alignment="center"):
        is_changed = (since, until) != now
        if st.button("Use this window", type="primary", disabled=not is_changed, key="use_window"):
            w0_us, w1_us = moved_us(window, since, until)
            _do("set_window", run=run["run_uid"], stage=level["level"], w0_us=w0_us, w1_us=w1_us)
        if st.button("Reset to automatic", disabled=window["by"] != "hand", key="reset_window"):
            _do("reset_window", run=run["run_uid"], stage=level["level"])
        st.caption("The command line, JSON, reports and comparisons use it too.")


def _do(action: str, **args: Any) -> None:
    try:
        store(data_folder()).do(action, **args)
    except StoreError as error:
        st.error(label(sentence(error), 400))
        return
    st.rerun()
