"""The page SQL explains every column by docs/schema.md, and offers its worked questions."""

from ui.sql_docs import SCHEMA, Column, plain, questions, tables

TEXT = SCHEMA.read_text()


def test_every_table_comes_with_its_columns_in_plain_words():
    found = {table.name: table for table in tables(TEXT)}
    assert {"runs", "requests", "token_events", "request_times", "hist"} <= set(found)
    assert found["stages"].about == "Load levels that have begun."
    assert found["stages"].columns[:2] == (
        Column("run_id", "its run", ""),
        Column("stage", "0, 1, … in the plan's order", ""),
    )
    assert not any("](" in c.meaning + c.null or "`" in c.meaning for c in found["runs"].columns)


def test_a_view_tells_its_own_columns_and_then_those_it_takes_over():
    found = {table.name: [c.name for c in table.columns] for table in tables(TEXT)}
    seen = found["request_times"]
    assert {*found["request_spans"], *found["request_gaps"], *found["requests"]} == set(seen)
    assert len(set(seen)) == len(seen)
    assert seen[:2] == found["request_spans"][:2] == ["asked_us", "ttft_us"]


def test_there_are_ten_questions_and_each_says_what_its_answer_looks_like():
    found = questions(TEXT)
    assert len(found) == 10
    assert found[0].title == "The slowest request, token by token"
    assert all(q.asks.endswith("?") or "?" in q.asks for q in found)
    assert all(q.sql and len(q.answer) > 20 for q in found)
    assert not any("```" in q.answer or "##" in q.answer for q in found)


def test_links_and_marks_are_left_out():
    assert plain("see [this](a.md), `x` and\n**y**") == "see this, x and y"
