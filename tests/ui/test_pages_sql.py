"""The page SQL on a store with one run: an example, a question of one's own, a refusal, a link."""

import os

import pandas as pd
import pytest

from tests.ui.conftest import forget, open_page, opened, words_of
from tests.ui.made_up_results import ended_run
from ui.sql_answer import SqlAnswer, headline, shown
from ui.sql_docs import SCHEMA, questions


@pytest.fixture(scope="module")
def uid(tmp_path_factory):
    data = tmp_path_factory.mktemp("sql") / "data"
    uid = ended_run(data)
    before = os.environ.get("HEADWAY_DATA")
    os.environ["HEADWAY_DATA"] = str(data)
    opened("run", ("There is no run",), run=uid)  # the store has taken it in
    yield uid
    forget(data)
    if before is None:
        del os.environ["HEADWAY_DATA"]
    else:
        os.environ["HEADWAY_DATA"] = before


@pytest.mark.slow
def test_the_page_explains_tables_runs_examples_and_refuses_in_place(uid):
    page = open_page("sql")
    assert page.selectbox[0].value == "request_times"
    assert "ttft\\_us" in list(page.table[0].value["Column"])

    page.get("menu_button")[0].click_index(7).run()
    assert page.text_area[0].value == questions(SCHEMA.read_text())[7].sql
    assert "1 row × 5 columns" in words_of(page)
    assert "lower bound" in words_of(page)

    page.text_area[0].set_value("SELECT run_uid, name FROM runs")
    page.button(key="FormSubmitter:sql-Run").click().run()
    assert list(page.dataframe[0].value["run_uid"]) == [uid]

    page.text_area[0].set_value("DROP TABLE runs")
    page.button(key="FormSubmitter:sql-Run").click().run()
    assert "Only SELECT may be run here" in words_of(page)
    assert not page.exception


@pytest.mark.slow
def test_a_link_carries_its_question(uid):
    page = open_page("sql", q="SELECT 41 + 1 AS sum")
    assert page.text_area[0].value == "SELECT 41 + 1 AS sum"
    assert "1 row × 1 column" in words_of(page)


def test_what_no_table_can_show_is_text():
    frame = shown(pd.DataFrame({"a": [{"x": 1}, None, "t"], "n": [1, 2, 3]}))
    assert list(frame["a"])[::2] == ["{'x': 1}", "t"]
    assert pd.isna(frame["a"][1])
    assert list(frame["n"]) == [1, 2, 3]


def test_the_headline_counts_rows_and_columns():
    found = SqlAnswer(pd.DataFrame({"a": range(1200)}), took_ms=12.4)
    assert headline(found) == "1,200 rows × 1 column · 12 ms"
