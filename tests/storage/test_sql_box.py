"""A reader's own SQL: what may be asked, what comes back, and where it is cut."""

import threading

import pytest
from made_up_runs import RunFolder, Stream, Tables

from storage import sql_box
from storage.client import StoreError
from storage.protocol import CUT, TOOK_MS
from storage.queries import QUERIES

HARMLESS = {
    "SELECT 1 + 1 AS two;": [{"two": 2}],
    "SELECT 1 AS a; -- why": [{"a": 1}],
    "SELECT ';' AS é /* ; */ ; /* x */ ;; -- é": [{"é": ";"}],
    "FROM runs SELECT name": [{"name": "demo"}],
    "VALUES (1, 'x')": [{"col0": 1, "col1": "x"}],
    "WITH r AS (SELECT request_id FROM requests) SELECT count(*) AS n FROM r": [{"n": 2}],
    "SELECT count(*) AS n FROM main.token_events /* not -- that */": [{"n": 20}],
    "SELECT max(x) AS m FROM (SELECT lag(t_us) OVER (PARTITION BY request_id ORDER BY seq) AS x "
    "FROM token_events)": [{"m": 1_210_000}],
    "SELECT quantile_cont(ttft_us, [0.5, 1]) AS q FROM request_times": [{"q": [50_000, 50_000]}],
    "SELECT list_transform([1, 2], lambda x: x * 2) AS l": [{"l": [2, 4]}],
    "SELECT bucket(gap_us) AS b, round(bucket_us(bucket(gap_us))) AS us, count(*) AS n "
    "FROM token_events WHERE gap_us IS NOT NULL GROUP BY ALL": [{"b": 502, "us": 20154, "n": 18}],
    "WITH RECURSIVE c AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM c WHERE i < 4) "
    "SELECT sum(i) AS s FROM c": [{"s": 10}],
    "SELECT unnest([1, 2]) AS i": [{"i": 1}, {"i": 2}],
    "FROM range(2) t(i) ORDER BY i DESC": [{"i": 1}, {"i": 0}],
    "SELECT 'DROP TABLE runs; -- ' AS text": [{"text": "DROP TABLE runs; -- "}],
    "SELECT 1 AS a, 2 AS a": [{"a": 1, "a_1": 2}],
    "SELECT 0.5 AS half, 170141183460469231731687303715884105727 AS huge": [
        {"half": 0.5, "huge": 2.0**127}
    ],
    "SELECT INTERVAL 2 DAY AS i": [{"i": "0 months 2 days 0 s"}],
    "SELECT kind FROM token_events WHERE seq = 0 AND request_id = 1": [{"kind": "content"}],
    "SELECT k, s FROM (PIVOT (FROM token_events SELECT kind::VARCHAR AS k, seq) "
    "ON k IN ('content') USING sum(seq)) AS t(s), (SELECT 'sum' AS k)": [{"k": "sum", "s": 90}],
}


@pytest.fixture(scope="module")
def answers(shared_tables: Tables):
    run = RunFolder(shared_tables.data)
    run.columns(0, [Stream(0), Stream(1)])
    run.end()
    while shared_tables.turn():
        pass

    def ask(text, **limits):
        with shared_tables.database.cursor() as cursor:
            return QUERIES["sql"](cursor, text=text, **limits)

    return ask


@pytest.mark.parametrize("text", HARMLESS)
def test_a_harmless_question_is_answered(answers, text):
    assert answers(text).to_pylist() == HARMLESS[text]


@pytest.mark.parametrize("text", ["DESCRIBE requests", "SUMMARIZE runs", "SHOW TABLES"])
def test_tables_may_be_described(answers, text):
    assert answers(text).num_rows > 5


def test_an_answer_is_cut_at_its_limit_and_says_so(answers):
    whole = answers("FROM range(7)", limit=7)
    assert whole.num_rows == 7
    assert whole.schema.metadata[CUT] == b""
    cut = answers("FROM range(8)", limit=7)
    assert cut.num_rows == 7
    assert cut.schema.metadata[CUT].startswith(b"Cut after 7 rows")
    assert float(cut.schema.metadata[TOOK_MS]) >= 0


def test_nobody_gets_more_than_the_most(answers):
    cut = answers("FROM range(1_000_000_000)", limit=10**9)
    assert cut.num_rows == sql_box.MOST_ROWS


def test_an_answer_of_too_many_bytes_is_cut(answers, monkeypatch):
    monkeypatch.setattr(sql_box, "MOST_BYTES", 100_000)
    cut = answers("FROM range(100_000)", limit=100_000)
    assert 0 < cut.num_rows < 100_000
    assert b"MiB" in cut.schema.metadata[CUT]


def test_an_endless_question_is_ended(answers, monkeypatch):
    monkeypatch.setattr(sql_box, "WITHIN_S", 0.2)
    with pytest.raises(StoreError, match=r"took longer than 0\.2 s"):
        answers("SELECT count(*) FROM range(100_000_000) a, range(100_000_000) b")
    assert answers("SELECT 1 AS x").num_rows == 1
    timers = [t for t in threading.enumerate() if isinstance(t, threading.Timer)]
    assert all(timer.finished.is_set() for timer in timers)  # none will interrupt a later question


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("SELECT nope FROM runs", 'Binder Error: Referenced column "nope" not found'),
        ("SELEC 1", "Parser Error: syntax error"),
        ("", "nothing to run"),
        ("-- only a comment", "nothing to run"),
        ("SELECT list(range) FROM range(1_000_000_000)", "needs more memory"),
        ("SELECT " + "(" * 5_000 + "1" + ")" * 5_000, "."),
        ("SELECT '" + "x" * 20_000 + "'", "longer than 20,000"),
    ],
    ids=["column", "syntax", "empty", "comment", "memory", "deep", "long"],
)
def test_a_mistake_is_told_in_one_sentence(answers, text, sentence):
    with pytest.raises(StoreError) as told:
        answers(text)
    assert sentence in str(told.value)
    assert "\n" not in str(told.value)
