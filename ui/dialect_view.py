"""The tab Dialects of the Run page: the level above as other tools would print it."""

from typing import Any

import pandas as pd
import streamlit as st

from analysis.dialects.document import document
from analysis.dialects.registry import DIALECTS
from loadgen.run_folder import data_folder
from ui.card import card, verdict
from ui.data import store
from ui.dialect_tables import STATS, differing, numbers_table, per_token_table
from ui.plain import counted, label
from ui.run_data import reading_of, version_of

Json = dict[str, Any]
STEPS = (
    "Each sentence tells what changes this very number: another definition, another percentile "
    "rule, other requests."
)
OF_WINDOW = "Ours over the level's window, theirs over all of it."
OF_WHOLE = "Ours and theirs over the whole level."
DOCS = "Formulas and sources: docs/dialects.md."


def dialect_tab(run: Json, shown: Json) -> None:
    """The sentence that leads, time per token in every dialect, then one tool's numbers."""
    at = min(int(st.session_state.get("level") or 0), len(shown["levels"]) - 1)
    level = shown["levels"][at]
    told = _document(run["run_uid"], version_of(run), at, level)
    verdict("blue", told["sentence"], f"Level {level['name']}. {STEPS}", key="dialects")
    with card(
        "per_token",
        "Time per token, tool by tool",
        OF_WHOLE if told["is_whole"] else OF_WINDOW,
    ):
        st.table(per_token_table(told["per_token"]), border="horizontal", hide_index=True)
    names = list(DIALECTS)
    chosen = st.segmented_control(
        "Tool",
        names,
        default=told["source"] or names[0],
        required=True,
        format_func=lambda name: DIALECTS[name].title,
        key="dialect",
        bind="query-params",
    )
    _numbers(told, chosen)


def _numbers(told: Json, name: str) -> None:
    """One tool's table."""
    dialect = told["dialects"][name]
    is_source = told["source"] == name
    under = f"{STATS}. Percentiles: {dialect['rule']}. Read: {dialect['versions']}. {DOCS}"
    title = f"As {dialect['title']} would print it"
    with card("dialect", title, label(under, 300)):
        if is_source:
            _report(dialect)
        table = numbers_table(dialect["lines"], is_source)
        st.table(table, border="horizontal", hide_index=True)
        st.download_button(
            "All its numbers",
            pd.DataFrame(dialect["lines"]).to_csv(index=False),
            file_name=f"{name}.csv",
            mime="text/csv",
            icon=":material/download:",
            type="tertiary",
        )


def _report(dialect: Json) -> None:
    """Whether the tool's own summary could be computed again from what was imported."""
    told = [line for line in dialect["lines"] if line.get("reported") is not None]
    apart = differing(dialect["lines"])
    if not told:
        st.caption("The file held no summary of the tool's own to check against.")
    elif apart:
        st.markdown(
            f":red[:material/error: {counted(apart, 'number')} of {len(told):,} differ from what "
            f"{label(dialect['title'])} itself reported. {label(_known(dialect['lines']), 300)}]"
        )
    else:
        st.markdown(
            f":green[:material/check_circle: All {len(told):,} numbers that "
            f"{label(dialect['title'])} itself reported can be computed again from the run.]"
        )


def _known(lines: list[Json]) -> str:
    """What is known of why numbers differ from the tool's own report."""
    return " ".join(dict.fromkeys(line["differs"] for line in lines if line.get("differs")))


@st.cache_data(max_entries=20, show_spinner="Counting as others do …")
def _document(uid: str, version: str, at: int, level: Json) -> Json:
    """The level in every dialect; `level` is a part of the key, for a window may be moved."""
    return document(reading_of(uid, version), at, level, store(data_folder()).ask_arrow)
