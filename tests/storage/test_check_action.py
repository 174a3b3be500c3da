"""`check` says what is whole, and finds each thing that is not."""

import shutil

import pytest
from made_up_runs import RunFolder, Stream

from storage import check, compact
from storage.owner import Owner
from storage.retention import drop_raw


@pytest.fixture
def run(tables, tmp_path):
    run = RunFolder(tmp_path)
    streams = [Stream(0, phase="preflight"), Stream(1, outcome="truncated"), Stream(2), Stream(3)]
    run.columns(0, streams)
    run.counts({2: 10})
    run.end()
    tables.turn()
    return run


def findings(tables, *levels):
    found = check.check(Owner(tables.database, tables.data)).to_pylist()
    return [row["sentence"] for row in found if row["level"] in levels]


def test_a_sound_folder_has_no_fault_and_says_how_large_it_is(tables, run):
    assert findings(tables, "fault", "note") == []
    sentences = " ".join(findings(tables, "ok"))
    assert "1 run with 40 token events in " in sentences
    assert "Every run has the rows that the ledger tells of." in sentences


def test_an_empty_folder_has_no_fault(tables):
    assert findings(tables, "fault", "note") == []


def test_a_run_without_its_token_events_has_no_fault(tables, run):
    drop_raw(Owner(tables.database, tables.data), [run.uid])
    assert findings(tables, "fault", "note") == []


@pytest.mark.parametrize(
    ("damage", "expected"),
    [
        ("DELETE FROM token_events WHERE seq = 9", "rows of events and requests where its ledger"),
        ("INSERT INTO requests SELECT * FROM requests LIMIT 1", "where its ledger tells of 44"),
        ("UPDATE hist SET n = n + 1 WHERE metric = 'gap'", "its summaries tell of"),
        ("DELETE FROM tok_sec", "tell of 0 token events by second, its rows of 30"),
        ("UPDATE runs SET n_requests = 5", "tell of 5 requests, its rows of 4"),
        ("UPDATE pulses SET run_id = 7", "1 rows of pulses belong to no run"),
        ("UPDATE runs SET n_damaged_segments = 2", "lacks 2 segments that could not be read"),
    ],
)
def test_rows_that_do_not_agree_are_faults(tables, run, damage, expected):
    tables.sql(damage)
    assert expected in " ".join(findings(tables, "fault"))


def test_folders_and_rows_without_each_other_are_told(tables, run, tmp_path):
    shutil.rmtree(run.path)
    (tmp_path / "runs" / "notes").mkdir()
    notes = findings(tables, "note")
    assert notes == [
        "The folder runs/notes is not in the database: its name is no run's.",
        f"Run {run.uid} has no folder: it was imported, or its folder was removed.",
    ]


def test_a_flipped_byte_in_the_file_is_found_and_told(tables, run, tmp_path):
    tables.sql("CREATE TABLE wide AS SELECT range a, hash(range) b FROM range(200000)")
    tables.sql("CHECKPOINT")
    with tables.database.put_down():
        path = tmp_path / "headway.duckdb"
        raw = bytearray(path.read_bytes())
        for at_byte in range(len(raw) // 4, len(raw), 1 << 18):  # one in every block
            raw[at_byte + 4096] ^= 0xFF
        path.write_bytes(raw)
    assert "cannot be read" in " ".join(findings(tables, "fault"))


def test_compact_merges_live_rows_and_changes_no_sum(tables, tmp_path):
    live = RunFolder(tmp_path)
    for seq in range(4):
        live.columns(seq, [Stream(seq)])
        tables.turn()
    ask = ("gap_hist", "tokens_per_s")
    before = [tables.ask(name, run=live.uid) for name in ask]
    (told,) = compact.compact(Owner(tables.database, tables.data)).to_pylist()
    assert told["rows_after"] < told["rows_before"]
    assert told["freed_bytes"] > 0
    assert [tables.ask(name, run=live.uid) for name in ask] == before
    live.end()
    tables.turn()
    assert findings(tables, "fault", "note") == []


def test_compact_closes_a_run_that_waits(tables, tmp_path):
    run = RunFolder(tmp_path)
    run.columns(0, [Stream(0)])
    tables.turn()
    tables.sql("UPDATE runs SET state = 'finished'")
    (told,) = compact.compact(Owner(tables.database, tables.data)).to_pylist()
    assert told["n_closed"] == 1
    assert tables.ask("run", run=run.uid)[0]["is_final"]
