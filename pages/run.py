"""Run: the verdict, its numbers with their doubt, and the charts behind it."""

from typing import Any

import streamlit as st

from charts.registry import CHARTS
from charts.theme import CONFIG
from loadgen.run_folder import data_folder, terminal
from ui import page_files
from ui.card import card, tiles, verdict
from ui.data import ask
from ui.dialect_view import dialect_tab
from ui.export_view import export_popover
from ui.import_lacks import plan_card, source_badge, why_not_drawn
from ui.numbers_panel import numbers_panel
from ui.plain import label
from ui.plan_text import plan_downloads
from ui.run_data import chart_frame, reading_of, shown_of, version_of, windows_of
from ui.run_pages import badges, has_folder, plan_of, wait_for_the_end, wait_until_known
from ui.run_tables import (
    failures_table,
    levels_columns,
    levels_table,
    machine_table,
    marked,
    outcomes_table,
    versions_download,
    workers_columns,
    workers_table,
)
from ui.run_text import stamps_text, when_text
from ui.run_tiles import is_whole, level_tiles
from ui.run_view import (
    TONES,
    leading_level,
    levels_without_itl,
    ttft_limit_ms,
    unfinished_sentence,
    validity_words,
    verdict_words,
)
from ui.window_editor import window_box

Json = dict[str, Any]
WHY_NO_ITL = "There the server does not say how many tokens most of its chunks hold."
WHOLE = (
    "The answers came in one piece: they have an end, but no first token and no gaps. Their "
    "end-to-end times are in the tiles above, and level by level in a table under *Throughput*."
)
GAPS = {"gap": "per chunk", "itl": "per token (ITL)"}


def asked_run() -> Json:
    """The row of ?run=, else of the newest run; ends the page where there is none."""
    wanted = st.query_params.get("run") or "last"
    found = ask("find_run", text=wanted)
    if found.empty and has_folder(data_folder(), wanted):
        wait_until_known(wanted)
        st.stop()
    if found.empty:
        verdict("red", "No such run", f"There is no run {wanted[:60]!r} in this data folder.")
        st.page_link(page_files.RUNS, label="All runs", icon=":material/stacks:")
        st.stop()
    uid = found["run_uid"].iloc[0]
    return {**ask("run", run=uid).iloc[0], "windows": windows_of(uid), "is_whole": False}


def head(run: Json, shown: Json | None, plan: Json | None) -> None:
    """Name, set-up, how times were taken and whether to believe them."""
    with st.container(horizontal=True, vertical_alignment="center"):
        with st.container(gap="xsmall", width="stretch"):
            st.title(label(run["name"], 100), anchor=False)
            if plan:
                badges(plan)
            source_badge(run)
            if shown and shown["levels"]:
                tone, words = validity_words(shown["validity"])
                with st.container(horizontal=True, gap="xsmall"):
                    st.badge(
                        when_text(run, st.context.timezone),
                        icon=":material/schedule:",
                        color="gray",
                    )
                    st.badge(stamps_text(run), icon=":material/timer:", color="gray")
                    st.badge(words, icon=":material/verified:", color=tone)
        if plan:
            st.page_link(
                page_files.NEW_RUN,
                label="Run again with changes",
                icon=":material/replay:",
                query_params={"from": run["run_uid"]},
            )
        if shown:
            export_popover(run, shown)


def judged(run: Json, shown: Json) -> None:
    """The verdict sentence, then why a run is not whole, then whether to believe it."""
    if unfinished := unfinished_sentence(run):
        verdict(*unfinished, key="state")
        if not shown["levels"]:
            return
    verdict(TONES[shown["verdict"]["tone"]], *verdict_words(shown))
    for answer in shown["search"]:
        st.markdown(f":blue[:material/search:] {label(answer['sentence'], 600)}")
    if shown["cache"]["contaminated"]:
        st.warning(label(shown["cache"]["sentence"], 600), icon=":material/cached:")
    for note in shown["run"]["notes"]:
        st.markdown(f":orange[:material/info: {label(note, 400)}]")


def drawn_or_whole(run: Json, shown: Json, chart: str, **options: Any) -> None:
    """A figure of first tokens or gaps; where answers came in one piece, why there is none."""
    if all(is_whole(level) for level in shown["levels"]):
        with card(chart, CHARTS[chart].title, height="content"):
            st.caption(WHOLE)
    else:
        draw(run, chart, **options)


def frame_of(run: Json, chart: str) -> Any:
    """What CHARTS[chart] draws of the run, of its windows or of whole levels."""
    return chart_frame(run["run_uid"], version_of(run), chart, run["is_whole"])


def draw(run: Json, chart: str, **options: Any) -> None:
    """One figure of CHARTS in its card."""
    told = CHARTS[chart]
    if why := why_not_drawn(run, chart):
        with card(chart, told.title, height="content"):
            st.caption(why)
        return
    with card(chart, told.title, told.caption):
        frame = frame_of(run, chart)
        st.plotly_chart(told.draw(frame, **options), key=chart, config=CONFIG, alt=told.title)


def ttft_tab(run: Json, shown: Json) -> None:
    """Every level's TTFT, tail stretched out."""
    drawn_or_whole(run, shown, "ttft_percentile", slo_ms=ttft_limit_ms(shown["levels"]))
    slope = shown["prompt_slope"]
    if slope["plain"]:
        draw(run, "ttft_prompt", slope=slope)
    if told := slope["sentence"] or slope["reason"]:
        st.caption(f"TTFT against prompt length: {label(told, 400)}")


def gaps_tab(run: Json, shown: Json) -> None:
    """Gaps per chunk, or per token where the server tells its counts."""
    per_token = any(level["metrics"]["itl"]["n"] for level in shown["levels"])
    without = levels_without_itl(shown["levels"])
    metric = "gap"
    if per_token:
        metric = st.segmented_control(
            "Gap",
            ["gap", "itl"],
            default="gap" if without else "itl",
            required=True,
            format_func=GAPS.__getitem__,
            key="gap",
            bind="query-params",
            label_visibility="collapsed",
        )
        if without:
            st.caption(
                f"No per-token view to go by: {label(', '.join(without), 300)}. " + WHY_NO_ITL
            )
    drawn_or_whole(run, shown, "itl_density", metric=metric)


def throughput_tab(run: Json, shown: Json) -> None:
    """The sweep: system output and TTFT over measured concurrency, and its table."""
    drawn_or_whole(run, shown, "throughput", slo_ms=ttft_limit_ms(shown["levels"]))
    with card("levels", "Load levels", "The numbers behind the charts."):
        table = marked(levels_table(shown["levels"]), shown["levels"])
        st.dataframe(table, column_config=levels_columns(), hide_index=True)


def numbers_tab(run: Json, shown: Json) -> None:
    """Every metric of the chosen level, with its formula."""
    reading = reading_of(run["run_uid"], version_of(run), run["is_whole"])
    numbers_panel(reading, shown["levels"][run["level"]], run["level"])


def outcomes_tab(run: Json, shown: Json) -> None:
    """How requests ended, and what the server said where they failed."""
    del run
    with card("outcomes", "Outcomes by level", "Every request of the level's window."):
        st.dataframe(outcomes_table(shown["levels"]), hide_index=True, width="content")
    with card("failures", "What failed", "With the most frequent sentence of each kind."):
        if shown["failures"]:
            wide = {"What was said": st.column_config.TextColumn(width="large")}
            st.dataframe(failures_table(shown["failures"]), column_config=wide, hide_index=True)
        else:
            st.caption("No request failed.")


def generator_tab(run: Json, shown: Json) -> None:
    """Was the client the bottleneck?  Its self-test, its lateness, each worker's figures."""
    with card("self_test", "Self-test", "Our own client against a server of ours, just before."):
        test = shown["run"]["self_test"]
        st.text(test["sentence"] if test else "This run had none.")
    draw(run, "generator")
    with card("workers", "Load workers", "Over the whole run."):
        uid, version = run["run_uid"], version_of(run)
        table = workers_table(reading_of(uid, version).pulses, ask("doubt_per_s", run=uid))
        st.dataframe(table, column_config=workers_columns(table), hide_index=True)


def plan_tab(run: Json, shown: Json) -> None:
    """What was asked for, exactly; and the machine that asked."""
    del shown
    left, right = st.columns(2, gap="small")
    with left, card("plan", *plan_card(run)):
        plan_downloads(run["plan"])
        st.code(run["plan"], language="json", height=420)
    with right, card("machine", "Machine", "Where the load came from."):
        st.dataframe(machine_table(run), hide_index=True, height="content")
        versions_download(run)


TABS = {
    "TTFT": ttft_tab,
    "Gaps between tokens": gaps_tab,
    "Throughput": throughput_tab,
    "All numbers": numbers_tab,
    "Outcomes": outcomes_tab,
    "Dialects": dialect_tab,
    "Load generator": generator_tab,
    "Plan & machine": plan_tab,
}

run = asked_run()
plan = plan_of(run["plan"])
if not terminal(run["state"]):
    head(run, None, plan)
    wait_for_the_end(run)
    st.stop()
shown = shown_of(run["run_uid"], version_of(run))
head(run, shown, plan)
judged(run, shown)
if shown["levels"]:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        chosen = st.segmented_control(
            "Load level",
            range(len(shown["levels"])),
            default=leading_level(shown["levels"]),
            required=True,
            format_func=lambda i: shown["levels"][i]["name"],
            key="level",
            bind="query-params",
        )
        run["is_whole"] = st.toggle(
            "Whole levels, ramp and run-off included", key="whole", bind="query-params"
        )
    run["level"] = chosen
    if run["is_whole"]:
        shown = shown_of(run["run_uid"], version_of(run), is_whole=True)
    level = shown["levels"][chosen]
    tiles(level_tiles(level))
    tone, words = validity_words(level["validity"])
    with st.container(horizontal=True, gap="xsmall"):
        st.badge(words, icon=":material/verified:", color=tone)
        st.caption(label(level["validity"]["reason"], 400))
    window_box(run, level, frame_of(run, "level_timeline"))
    st.caption(
        "In grey: 95 % confidence interval and number of samples; ≥ where they are too few for an "
        "upper bound, few where they cannot carry the percentile. The charts below show every "
        "level."
    )
    if level["prompt_lengths"] and level["prompt_lengths"]["sentence"] not in level["warnings"]:
        st.caption(label(level["prompt_lengths"]["sentence"], 300))
    for warning in level["warnings"]:
        st.markdown(f":orange[:material/warning: {label(warning, 300)}]")
    opened = st.tabs(list(TABS), key="tab", on_change="rerun", bind="query-params")
    for tab, show_tab in zip(opened, TABS.values(), strict=True):
        if tab.open:
            with tab:
                show_tab(run, shown)
else:
    plan_tab(run, shown)
