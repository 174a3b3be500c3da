"""The parts of the page SQL: the box with its examples, the answer, and the tables beside it."""

import pandas as pd
import streamlit as st

from ui.card import card, verdict
from ui.sql_answer import SqlAnswer, headline
from ui.sql_docs import Column, Question, Table

BOX = "q"  # the URL's parameter too: a link carries the question
TURN = "sql_turn"
LIMITS = (
    "One SELECT (also WITH, FROM, VALUES, DESCRIBE, SUMMARIZE) over the tables beside: 10,000 "
    "rows, 10 seconds, 1 GB. It changes nothing and reaches no file and no network."
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
                height=220,
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
    with st.popover("Examples", icon=":material/lightbulb:"):
        st.caption("About the newest run. Each runs as it stands.")
        for i, question in enumerate(examples):
            st.button(
                question.title,
                key=f"example_{i}",
                help=question.asks,
                type="tertiary",
                on_click=_fill_in,
                args=(question.sql,),
            )


def _fill_in(sql: str) -> None:
    st.session_state[BOX] = sql
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
        st.dataframe(
            columns_frame(table.columns),
            hide_index=True,
            height=520,
            row_height=36,
            column_config={"Column": st.column_config.TextColumn(width="small")},
            alt=f"Columns of {name}",
        )


def columns_frame(columns: tuple[Column, ...]) -> pd.DataFrame:
    """Columns as a table: name, meaning with unit, what null means."""
    return pd.DataFrame(
        {
            "Column": [column.name for column in columns],
            "Unit, meaning": [column.meaning for column in columns],
            "Empty means": [column.null or "never empty" for column in columns],
        }
    )
