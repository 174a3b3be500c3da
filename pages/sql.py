"""SQL: a question of one's own to the tables, read only, with the tables explained beside it."""

import streamlit as st

from ui.sql_answer import answer
from ui.sql_docs import SCHEMA, questions, tables
from ui.sql_view import TURN, box, result, schema

documented = SCHEMA.read_text(encoding="utf-8")
worked = questions(documented)
st.title("SQL", anchor=False)
left, right = st.columns([3, 2], gap="small")
with right:
    schema(tables(documented))
with left:
    text = box(worked)
    if text:
        told = next((question.answer for question in worked if question.sql == text), "")
        result(answer(text, st.session_state.get(TURN, 0)), told)
