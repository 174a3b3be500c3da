"""The raw spool gives back what was written, also of a writer that was killed."""

import resource
import shutil
import signal
import subprocess
import sys
import textwrap

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from storage.raw_record import HEADER
from storage.raw_spool import (
    CLOSE,
    OPEN,
    PULSE,
    READ,
    RawReader,
    RawWriter,
    SpoolError,
    backlog_bytes,
    is_writer_alive,
    raw_segments,
    remove_leftovers,
)
from storage.raw_writer import MAX_AGE_NS

READS = st.lists(
    st.tuples(
        st.integers(0, 2**31 - 1),
        st.integers(0, 2**62),
        st.integers(-1, 2**62),
        st.integers(0, 2**62),
        st.binary(max_size=300),
    ),
    max_size=40,
)


def records(folder, worker=0):
    return [r for s in raw_segments(folder, worker) for r in RawReader(s.path)]


@settings(max_examples=40)
@given(reads=READS)
def test_reads_come_back_as_written_whatever_the_file_boundaries(reads, tmp_path_factory):
    folder = tmp_path_factory.mktemp("spool")
    writer = RawWriter(folder, 0, capacity_bytes=512)
    for read in reads:
        writer.read(*read)
    writer.seal()
    assert [tuple(r) for r in records(folder)] == [(READ, *read) for read in reads]
    assert {s.state for s in raw_segments(folder, 0)} == {"sealed"}


def test_every_kind_keeps_its_json_and_its_place(tmp_path):
    writer = RawWriter(tmp_path, 3)
    writer.open(7, {"request_id": 7, "due_ns": None}, 100)
    writer.read(7, 200, 5, 150, b"HTTP/1.1 200 OK")
    writer.pulse({"worker": 3, "reads": 1})
    writer.close(7, {"cause": "done"}, 300)
    writer.seal()
    found = records(tmp_path, 3)
    assert [(r.kind, r.request_id, r.mono_ns) for r in found] == [
        (OPEN, 7, 100),
        (READ, 7, 200),
        (PULSE, -1, 0),
        (CLOSE, 7, 300),
    ]
    assert orjson.loads(found[0].payload) == {"request_id": 7, "due_ns": None}
    assert orjson.loads(found[2].payload) == {"worker": 3, "reads": 1}


def test_a_record_larger_than_a_file_gets_a_file_of_its_size(tmp_path):
    writer = RawWriter(tmp_path, 0, capacity_bytes=1024)
    writer.read(1, 1, 0, 0, b"small")
    writer.read(1, 2, 0, 0, b"x" * 5000)
    writer.seal()
    assert [len(r.payload) for r in records(tmp_path)] == [5, 5000]


def states(folder):
    return [(s.seq, s.state) for s in raw_segments(folder, 0)]


def test_a_tick_seals_what_is_a_second_old_and_leaves_an_empty_file_alone(tmp_path):
    writer = RawWriter(tmp_path, 0)
    writer.tick(0)
    writer.tick(10 * MAX_AGE_NS)
    assert states(tmp_path) == [(0, "open"), (1, "open")]  # the second was made ahead
    writer.read(1, 1, 0, 0, b"x")
    writer.tick(20 * MAX_AGE_NS)
    writer.tick(21 * MAX_AGE_NS - 1)
    assert states(tmp_path) == [(0, "open"), (1, "open")]
    writer.tick(21 * MAX_AGE_NS)
    assert states(tmp_path) == [(0, "sealed"), (1, "open"), (2, "open")]
    assert backlog_bytes(tmp_path, 0) == 48
    writer.seal()
    assert states(tmp_path) == [(0, "sealed"), (1, "sealed")]


def test_a_file_made_ahead_too_late_is_thrown_away_and_the_order_holds(tmp_path):
    jobs = []
    writer = RawWriter(tmp_path, 0, aside=jobs.append, capacity_bytes=256)
    for i in range(12):  # two reads fill a file; the jobs run only now and then, and late
        writer.read(i, i, 0, 0, bytes([i]) * 64)
        if i % 5 == 4:
            while jobs:
                jobs.pop(0)()
    writer.seal()
    while jobs:
        jobs.pop(0)()
    found = records(tmp_path)
    assert [r.request_id for r in found] == list(range(12))
    seqs = [s.seq for s in raw_segments(tmp_path, 0)]
    assert seqs == sorted(set(seqs))
    assert {s.state for s in raw_segments(tmp_path, 0)} == {"sealed"}


def test_sealing_and_preparing_may_happen_later_without_losing_a_record(tmp_path):
    jobs = []
    writer = RawWriter(tmp_path, 0, aside=jobs.append, capacity_bytes=256)
    for i in range(20):
        writer.read(i, i, 0, 0, b"y" * 100)
        if i % 5 == 4:
            jobs.pop(0)()
    writer.seal()
    for job in jobs:
        job()
    assert [r.request_id for r in records(tmp_path)] == list(range(20))
    assert {s.state for s in raw_segments(tmp_path, 0)} == {"sealed"}
    assert not list(tmp_path.glob("*.tmp"))


def test_a_folder_that_vanishes_is_a_sentence_and_not_an_endpoints_trouble(tmp_path):
    writer = RawWriter(tmp_path / "spool", 0, aside=lambda _: None, capacity_bytes=256)
    shutil.rmtree(tmp_path / "spool")
    writer.read(1, 1, 0, 0, b"x" * 100)
    with pytest.raises(SpoolError, match="cannot take"):
        writer.read(1, 2, 0, 0, b"x" * 100)


def test_only_one_live_writer_per_worker_and_readers_know_it_lives(tmp_path):
    assert not is_writer_alive(tmp_path, 0)
    writer = RawWriter(tmp_path, 0)
    assert is_writer_alive(tmp_path, 0)
    with pytest.raises(SpoolError, match="already is worker 0"):
        RawWriter(tmp_path, 0)
    writer.seal()
    assert not is_writer_alive(tmp_path, 0)
    RawWriter(tmp_path, 0).seal()
    assert [s.seq for s in raw_segments(tmp_path, 0)] == [0, 1]


def test_writing_after_the_seal_is_refused_with_a_sentence(tmp_path):
    writer = RawWriter(tmp_path, 0)
    writer.seal()
    writer.seal()
    writer.tick(1)
    with pytest.raises(SpoolError, match="is sealed"):
        writer.read(1, 1, 0, 0, b"late")


def test_a_file_that_stops_making_sense_says_where(tmp_path):
    writer = RawWriter(tmp_path, 0)
    writer.read(1, 1, 0, 0, b"good")
    writer.read(1, 2, 0, 0, b"lost")
    writer.seal()
    path = raw_segments(tmp_path, 0)[0].path
    broken = bytearray(path.read_bytes())
    broken[48 + HEADER.size - 1] ^= 0xFF  # in the second record's mark
    path.write_bytes(broken)
    reader = RawReader(path)
    assert [r.payload for r in reader] == [b"good"]
    assert reader.damage is not None
    assert "byte 48" in reader.damage


def test_a_folder_that_cannot_be_made_is_one_sentence(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(SpoolError, match="cannot be made"):
        RawWriter(tmp_path / "file" / "spool", 0)


@pytest.mark.slow
def test_kill_9_of_the_writer_loses_nothing_that_was_written(tmp_path):
    program = """
        import os, sys
        from pathlib import Path
        from storage.raw_spool import RawWriter
        writer = RawWriter(Path(sys.argv[1]), 0, capacity_bytes=4096)
        i = 0
        while True:
            writer.read(i, i, 0, 0, b"%d" % i * 20)
            os.write(1, b"%d\\n" % i)
            i += 1
    """
    child = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(program), str(tmp_path)], stdout=subprocess.PIPE
    )
    assert child.stdout is not None
    for _ in range(500):
        line = child.stdout.readline()
    child.send_signal(signal.SIGKILL)
    rest = child.stdout.read()
    child.wait()
    child.stdout.close()
    acknowledged = int((line + rest).split(b"\n")[-2]) + 1
    segments = raw_segments(tmp_path, 0)
    assert [s.state for s in segments][-1] == "orphan"
    assert not is_writer_alive(tmp_path, 0)
    (tmp_path / "next-w0-left.tmp").touch()  # beside the one it may have made ahead itself
    remove_leftovers(tmp_path, 0)
    assert not list(tmp_path.glob("*.tmp"))
    found = records(tmp_path)
    assert len(found) in (acknowledged, acknowledged + 1)
    assert all(r.payload == b"%d" % i * 20 for i, r in enumerate(found))


@pytest.mark.slow
def test_a_full_disk_is_a_sentence_at_open_and_not_a_bus_error_later(tmp_path):
    program = """
        import sys
        from pathlib import Path
        from storage.raw_spool import RawWriter, SpoolError
        try:
            RawWriter(Path(sys.argv[1]), 0)
        except SpoolError as error:
            sys.stdout.write(str(error))
    """
    answer = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program), str(tmp_path)],
        capture_output=True,
        text=True,
        check=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20)),
    )
    assert f"The spool {tmp_path} cannot take 8 MiB more" in answer.stdout
    assert not list(tmp_path.glob("*.tmp"))
