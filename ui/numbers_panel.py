"""The tab with every number of one load level."""

from typing import Any

import streamlit as st

from analysis.metrics import METRICS
from analysis.metrics_sql import Level, question
from analysis.reading import Reading
from ui.card import card
from ui.run_numbers import columns, formula_text, numbers_csv, percentiles_table, values_table

Json = dict[str, Any]
CARDS = (
    (
        "lower",
        "Where lower is better",
        "Complete answers of the window; –: undefined, or no bound.",
    ),
    ("higher", "Where higher is better", "The slow end is the tail: p10, p5, p1."),
)


def numbers_panel(reading: Reading, level: Json, at: int) -> None:
    """Tables, CSV and formulas of the level at index `at` of the run."""
    for better, title, sub in CARDS:
        with card(f"numbers_{better}", title, sub, height="content"):
            table = percentiles_table(level["metrics"], better)
            st.dataframe(
                table, column_config=columns(table), hide_index=True, height="content", alt=title
            )
    with card("numbers_level", "Of the level as a whole", "Rates over the window.", "content"):
        table = values_table(level["metrics"])
        st.dataframe(table, column_config=columns(table), hide_index=True, height="content")
    st.download_button(
        "All numbers as CSV",
        lambda: numbers_csv(level),
        file_name=f"numbers-{reading.run['run_uid']}-{at}.csv",
        mime="text/csv",
        icon=":material/download:",
        on_click="ignore",
    )
    with card("formula", "What a number is", "In words, and in SQL for the SQL page.", "content"):
        name = st.selectbox(
            "Number", list(METRICS), format_func=lambda n: METRICS[n].title, key="metric"
        )
        st.text(formula_text(name))
        st.code(question(METRICS[name], _asked(reading, at)), language="sql", wrap_lines=True)


def _asked(reading: Reading, at: int) -> Level:
    stage = reading.stages[at]
    return Level(
        uid=str(reading.run["run_uid"]),
        stage=int(stage.row["stage"]),
        w0_us=stage.window.begin_us,
        w1_us=stage.window.end_us,
        traffic=stage.traffic,
        slos=tuple(reading.slos_of(stage)),
        kind=stage.kind,
    )
