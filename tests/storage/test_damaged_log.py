"""A write-ahead log that was torn or hit: the database opens, and what was lost is loaded again.

One database with a checkpoint and a log behind it is made once; each test damages a copy.
"""

import shutil

import pytest
from made_up_runs import RunFolder, Stream, Tables

from storage.column_spool import column_segments
from storage.kept import FOLDER
from storage.opening import NAME
from storage.protocol import StoreError
from storage.wal import kept_logs

SEGMENTS, PER_SEGMENT, GAPS = 11, 4, 19
REQUESTS = SEGMENTS * PER_SEGMENT
EVENTS = REQUESTS * (GAPS + 1)
WAL = f"{NAME}.wal"


@pytest.fixture(scope="module")
def crashed(empty_database, tmp_path_factory):
    """A data folder as a killed store leaves it: one commit for each segment."""
    live, data = tmp_path_factory.mktemp("live"), tmp_path_factory.mktemp("crashed") / "data"
    shutil.copy(empty_database, live)
    tables = Tables(live)
    run = RunFolder(live)
    for seq in range(SEGMENTS):
        streams = [
            Stream(PER_SEGMENT * seq + k, gaps_us=(20_000,) * GAPS) for k in range(PER_SEGMENT)
        ]
        run.columns(seq, streams)
        tables.turn()
    shutil.copytree(live, data)  # of an open database, for a test: the log is synced
    tables.database.close()
    return data


@pytest.fixture
def data(crashed, tmp_path):
    shutil.copytree(crashed, tmp_path / "data")
    return tmp_path / "data"


def reopened(data):
    """Tables of the folder, and how many events they held before anything was loaded again."""
    tables = Tables(data)
    before = len(events(tables))
    tables.turn()
    return tables, before


def events(tables):
    return tables.sql("SELECT request_id, seq FROM token_events")


def check_all_is_there_once(tables):
    """Rows, ledger and live summaries agree, however much was loaded again."""
    found = events(tables)
    assert len(found) == len(set(found)) == EVENTS
    assert tables.sql("SELECT count(*), count(DISTINCT request_id) FROM requests") == [
        (REQUESTS, REQUESTS)
    ]
    assert tables.sql("SELECT sum(n_rows) FROM seg_ledger") == [(EVENTS + REQUESTS,)]
    assert tables.sql("SELECT sum(n) FROM hist WHERE metric = 'gap'") == [(REQUESTS * GAPS,)]
    assert tables.sql("SELECT sum(events) FROM tok_sec") == [(EVENTS,)]
    assert tables.sql("SELECT count(*) FROM pulses") == [(SEGMENTS,)]
    assert tables.intake.trouble == ""


def at_once(data, damaged):
    (data / WAL).write_bytes(damaged)
    tables, before = reopened(data)
    check_all_is_there_once(tables)
    tables.database.close()
    return before, tables.database.notes


@pytest.mark.slow
def test_a_log_cut_at_any_4_kib_opens_and_all_is_there_once_after_loading_again(crashed, tmp_path):
    whole = (crashed / WAL).read_bytes()
    seen = []
    for at_byte in range(0, len(whole), 4096):
        data = tmp_path / str(at_byte)
        shutil.copytree(crashed, data)
        before, notes = at_once(data, whole[:at_byte])
        assert before % (PER_SEGMENT * (GAPS + 1)) == 0  # whole transactions only
        assert notes == []
        seen.append(before)
        shutil.rmtree(data)
    assert seen == sorted(seen)
    assert seen[0] == 0
    assert len(set(seen)) > SEGMENTS // 2


@pytest.mark.parametrize("tail", [b"\0" * 8192, b"", b"\x07" * 3])
def test_a_log_with_something_behind_its_end_loses_nothing(data, tail):
    whole = (data / WAL).read_bytes()
    before, _ = at_once(data, whole + tail)
    assert before == EVENTS


@pytest.mark.parametrize("share", [0.3, 0.6, 0.95])
def test_a_flipped_byte_cuts_the_log_there_and_the_rest_is_loaded_again(data, share):
    damaged = bytearray((data / WAL).read_bytes())
    damaged[int(len(damaged) * share)] ^= 0xFF
    before, notes = at_once(data, damaged)
    assert 0 < before < EVENTS
    (note,) = notes
    (kept,) = kept_logs(data)
    assert kept.read_bytes() == damaged
    assert f"the whole of it is kept as {kept.name}" in note


def test_a_log_moved_away_is_made_good_by_the_segments(data):
    (data / WAL).unlink()
    tables, before = reopened(data)
    assert before == 0
    check_all_is_there_once(tables)
    tables.database.close()


def test_a_log_of_another_database_is_explained_and_nothing_is_touched(data, tmp_path):
    (tmp_path / "other").mkdir()
    other = Tables(tmp_path / "other")
    other.sql("CHECKPOINT")
    other.sql("CREATE TABLE t (a INTEGER)")
    shutil.copy(tmp_path / "other" / WAL, data / WAL)
    other.database.close()
    main, foreign = (data / NAME).read_bytes(), (data / WAL).read_bytes()
    with pytest.raises(StoreError, match=r"belongs to another state .* Nothing was changed"):
        Tables(data)
    assert ((data / NAME).read_bytes(), (data / WAL).read_bytes()) == (main, foreign)
    assert kept_logs(data) == []


def test_a_log_damaged_at_its_very_beginning_is_explained_and_nothing_is_touched(data):
    damaged = bytearray((data / WAL).read_bytes())
    damaged[8] ^= 0xFF
    (data / WAL).write_bytes(damaged)
    with pytest.raises(StoreError, match=r"move it to another folder .* Nothing was changed"):
        Tables(data)
    assert (data / WAL).read_bytes() == damaged


def test_segments_are_kept_until_a_checkpoint_and_then_let_go(tables, tmp_path):
    run = RunFolder(tmp_path)
    run.columns(0, [Stream(0)])
    tables.turn()
    assert len(column_segments(run.spool / FOLDER)) == 1
    run.end()
    tables.turn()
    assert not (run.spool / FOLDER).exists()


def test_more_than_may_be_kept_makes_a_checkpoint(tables, tmp_path, monkeypatch):
    monkeypatch.setattr("storage.intake.MOST_BYTES", 1_000)
    run = RunFolder(tmp_path)
    run.columns(0, [Stream(0)])
    tables.turn()
    assert not (run.spool / FOLDER).exists()
    assert len(tables.ask("requests", run=run.uid)) == 1
