"""The parts of the page SQL: the box with its examples, the answer, and the tables beside it."""

import pandas as pd
import streamlit as st

from ui.card import card, verdict
from ui.plain import label
from ui.sql_answer import SqlAnswer, headline
from ui.sql_docs import Column, Question, Table

BOX = "q"  # the URL's parameter too: a link carries the question
TURN = "sql_turn"
LIMITS = (
    "One SELECT (also WITH, FROM, VALUES, DESCRIBE, SUMMARIZE) over the tables beside: 10,000 "
    "rows, 10 seconds, 320 MB. It changes nothing and reaches no file and no network."
)


def box(examples: list[Question]) -> str:
    """The text to run, empty before the first; Run, Ctrl+Enter and an example each ask anew."""
    with card("sql", "Question", LIMITS, height="content"):
        _examples(examples)
        with st.form("sql", border=False):
            text = st.text_area(
                "SQL",
                key=BOX,
                bind="query-params",
                height=250,
                placeholder="SELECT … FROM request_times",
                label_visibility="collapsed",
            )
            with st.container(horizontal=True, vertical_alignment="center"):
                st.form_submit_button(
                    "Run",
                    type="primary",
                    icon=":material/play_arrow:",
                    shortcut="Ctrl+Enter",
                    on_click=_ask_anew,
                )
                st.caption("The page's address holds the question: copy it to share it.")
    return (text or "").strip()


def _examples(examples: list[Question]) -> None:
    by_title = {question.title: question.sql for question in examples}
    chosen = st.menu_button(
        "Examples",
        list(by_title),
        key="example",
        help="Ten worked questions about the newest run; each runs as it stands.",
        icon=":material/lightbulb:",
    )
    if chosen is not None:  # before the text area is made: it takes the text over
        st.session_state[BOX] = by_title[chosen]
        _ask_anew()


def _ask_anew() -> None:
    st.session_state[TURN] = st.session_state.get(TURN, 0) + 1


def result(found: SqlAnswer, told: str) -> None:
    """The rows with their number and time, or why there are none.  told: of a worked question."""
    if found.refused:
        verdict("red", "This was not run", found.refused, key="sql")
        return
    with card("rows", "Answer", told, height="content"):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(f":gray[{headline(found)}]", width="stretch")
            st.download_button(
                "CSV",
                data=lambda: found.frame.to_csv(index=False).encode(),
                file_name="answer.csv",
                mime="text/csv",
                on_click="ignore",
                icon=":material/download:",
            )
        if found.cut:
            st.markdown(f":orange[:material/content_cut: {found.cut}]")
        if found.frame.empty:
            st.caption("No row.")
        else:
            st.dataframe(found.frame, hide_index=True, placeholder="–", alt="The answer's rows")


def schema(tables: list[Table]) -> None:
    """Every table's columns with their meaning, a table at a time."""
    with card("schema", "Tables", "µs count from the run's time zero.", height="content"):
        names = [table.name for table in tables]
        name = st.selectbox(
            "Table",
            names,
            index=names.index("request_times"),
            key="table",
            bind="query-params",
            label_visibility="collapsed",
        )
        table = next(table for table in tables if table.name == name)
        st.caption(table.about)
        with st.container(height=560, border=False):
            st.table(columns_frame(table.columns), border="horizontal", hide_index=True)


def columns_frame(columns: tuple[Column, ...]) -> pd.DataFrame:
    """Columns as a table of literal text: name, meaning with unit, what null means."""
    return pd.DataFrame(
        {
            "Column": [label(column.name) for column in columns],
            "Unit, meaning": [label(column.meaning, 400) for column in columns],
            "Empty means": [label(column.null or "never empty", 400) for column in columns],
        }
    )
