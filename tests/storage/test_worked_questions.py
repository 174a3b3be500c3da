"""The worked questions of docs/schema.md, run as they stand, against a slow, obvious count."""

import statistics
from pathlib import Path

import pytest
from made_up_runs import RunFolder, Stream, Tables

from storage.queries import QUERIES
from ui.sql_docs import SCHEMA, questions

QUESTIONS = {q.title: q.sql for q in questions(SCHEMA.read_text())}
US = 1_000_000


def streams():
    """Thirty requests of two classes on two workers, three a second; the 8th is the slowest."""
    made = []
    for i in range(30):
        gaps = (40_000 + 1_000 * i,) + (20_000,) * 8 if i != 7 else (600_000,) + (20_000,) * 8
        made.append(
            Stream(
                i,
                US + i * US // 3 + (60 * US if i >= 20 else 0),
                50_000 + 2_000 * i,
                gaps,
                told=(2,) * 10,
                worker=i % 2,
                traffic_class="chat" if i % 3 else "batch",
                prompt_tokens=100 * (i + 1),
                cached_tokens=0,
            )
        )
    return made


def failures():
    made = [Stream(30 + i, US + i, outcome="http_error", detail="busy") for i in range(2)]
    for stream in made:
        stream.tokens = stream.tokens[:0]
        for name in ("first_token_us", "last_token_us", "output_tokens"):
            setattr(stream.request, name, None)
        stream.request.http_status, stream.request.n_chunks = 503, 0
    return made


@pytest.fixture(scope="module")
def ask(shared_tables: Tables):
    """Answers a worked question by its title: a list of dicts."""
    before, newest = RunFolder(shared_tables.data), None
    before.columns(0, [Stream(i, US * (i + 1), 100_000 + 4_000 * i) for i in range(30)])
    before.end()
    shared_tables.turn()
    newest = RunFolder(shared_tables.data, n_workers=2)
    newest.columns(0, [*streams(), *failures()])
    newest.end()
    while shared_tables.turn():
        pass

    def answer(title):
        with shared_tables.database.cursor() as cursor:
            return QUERIES["sql"](cursor, text=QUESTIONS[title]).to_pylist()

    return answer


def quantile(values, p):
    """Linear between neighbours."""
    ordered = sorted(values)
    at = (len(ordered) - 1) * p
    low = int(at)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (at - low)


def test_the_slowest_request_is_told_token_by_token(ask):
    rows = ask("The slowest request, token by token")
    slowest = max(streams(), key=lambda s: s.request.last_token_us - s.request.send_us)
    assert {row["request_id"] for row in rows} == {7}
    assert [row["ms_after_send"] for row in rows] == [
        (int(t) - slowest.request.send_us) / 1000 for t in slowest.tokens["t_us"]
    ]
    assert [row["gap_ms"] for row in rows[:3]] == [None, 600, 20]


def test_the_tail_is_told_minute_by_minute(ask):
    rows = ask("TTFT p99 per minute")
    first = [50 + 2 * i for i in range(20)]
    assert [(row["minute"], row["n"]) for row in rows] == [(0, 20), (1, 10)]
    assert rows[0]["ttft_p99_ms"] == pytest.approx(quantile(first, 0.99))


def test_stalls_are_counted_per_worker(ask):
    rows = ask("Stalls by load worker")
    assert [(r["worker"], r["gaps"], r["longer_than_500_ms"]) for r in rows] == [
        (0, 135, 0),
        (1, 135, 1),
    ]
    assert rows[1]["percent"] == pytest.approx(100 / 135)


def test_the_first_gap_is_told_from_the_later_ones(ask):
    first, later = ask("The gap after the first token, and the later ones")
    gaps = [40 + i if i != 7 else 600 for i in range(30)]
    assert (first["gaps"], first["n"]) == ("after the first", 30)
    assert first["p50_ms"] == pytest.approx(statistics.median(gaps))
    assert (later["gaps"], later["n"], later["p50_ms"], later["p99_ms"]) == ("later", 240, 20, 20)


def test_what_ran_beside_the_slowest_is_what_overlapped_it(ask):
    rows = ask("What ran beside the slowest request")
    every = [s.request for s in streams()]
    slowest = every[7]
    beside = {
        r.request_id
        for r in every
        if r is not slowest and r.send_us < slowest.end_us and r.end_us > slowest.send_us
    }
    assert {row["request_id"] for row in rows} == beside
    assert beside
    assert rows == sorted(rows, key=lambda row: -row["together_ms"])


def test_each_class_gets_its_tokens_per_second(ask):
    rows = {row["class"]: row for row in ask("Output tokens per second by class of traffic")}
    for name, row in rows.items():
        of_class = [s for s in streams() if s.request.traffic_class == name]
        seconds = [int(t) // US for s in of_class for t in s.tokens["t_us"]]
        length_s = max(seconds) - min(seconds) + 1
        assert row["output_tok_s"] == pytest.approx(20 * len(of_class) / length_s)
        assert row["chunks_per_s"] == pytest.approx(10 * len(of_class) / length_s)
    assert set(rows) == {"chat", "batch"}


def test_two_runs_are_compared_quantile_by_quantile(ask):
    rows = ask("Two runs, quantile by quantile")
    before, newest = [100 + 4 * i for i in range(30)], [50 + 2 * i for i in range(30)]
    assert [row["percentile"] for row in rows] == [50, 90, 95, 99]
    for row in rows:
        assert row["before_ms"] == pytest.approx(quantile(before, row["percentile"] / 100))
        assert row["newest_ms"] == pytest.approx(quantile(newest, row["percentile"] / 100))
        assert row["change_percent"] == pytest.approx(-50)


def test_the_cost_is_that_of_the_tokens_told(ask):
    (row,) = ask("What the run cost")
    prompt = sum(100 * (i + 1) for i in range(30))
    assert row == {
        "requests": 32,
        "not_told": 2,
        "prompt_tokens": prompt,
        "output_tokens": 600,
        "cost": pytest.approx(prompt * 0.15e-6 + 600 * 0.6e-6),
    }


def test_ttft_is_told_by_doublings_of_the_prompt(ask):
    rows = ask("TTFT against the prompt's length")
    assert [row["from_tokens"] for row in rows] == [64, 128, 256, 512, 1024, 2048]
    assert sum(row["n"] for row in rows) == 30
    assert [row["n"] for row in rows][:3] == [1, 1, 3]
    assert rows[0]["ttft_p50_ms"] == 50


def test_failures_are_told_with_their_words(ask):
    (row,) = ask("What failed, and when")
    assert (row["outcome"], row["http_status"], row["n"]) == ("http_error", 503, 2)
    assert row["most_frequent_words"] == "busy"
    assert row["first_s"] <= row["last_s"]


def test_every_question_has_a_test():
    assert len(QUESTIONS) == 10
    source = Path(__file__).read_text()
    assert all(f'ask("{title}")' in source for title in QUESTIONS)
