"""A disk that is really full: a small tmpfs.  The store says so, goes on when there is room."""

import os
import shutil
import subprocess

import pytest
from made_up_runs import RunFolder, Stream, Tables

from storage import intake
from storage.column_spool import column_segments

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root to mount a tmpfs"),
]
MIB = 1 << 20


@pytest.fixture
def small_disk(tmp_path):
    """72 MiB of their own."""
    folder = tmp_path / "small"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=72m", "tmpfs", str(folder)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("needs root that may mount a tmpfs, which a container's often may not")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def fill(folder, leave_bytes):
    """A file that leaves that much."""
    n_bytes = shutil.disk_usage(folder).free - leave_bytes
    with (folder / "ballast").open("wb") as file:
        for _ in range(n_bytes // MIB):
            file.write(b"x" * MIB)
        file.write(b"x" * (n_bytes % MIB))


def write(run, seqs):
    """A segment of 200 streams and 20,000 events for each."""
    for seq in seqs:
        first = 200 * seq
        run.columns(seq, [Stream(k, gaps_us=(20_000,) * 99) for k in range(first, first + 200)])


def check_all_is_there_once(tables, run, n_segments):
    run.end()
    for _ in range(3):
        tables.turn()
    assert tables.intake.trouble == ""
    assert column_segments(run.spool) == []
    n = n_segments * 20_000
    assert tables.sql(
        "SELECT count(*), count(DISTINCT request_id * 1000 + seq) FROM token_events"
    ) == [(n, n)]
    (row,) = tables.ask("run", run=run.uid)
    assert (row["state"], row["n_events"]) == ("finished", n)
    assert sum(r["events"] for r in tables.ask("tokens_per_s", run=run.uid)) == n


def test_below_the_least_free_room_nothing_is_loaded_until_there_is_room_again(small_disk):
    tables, run = Tables(small_disk), RunFolder(small_disk)
    write(run, range(2))
    tables.turn()
    write(run, range(2, 4))
    fill(small_disk, 5 * MIB)
    assert tables.turn()
    assert "Only 5 MiB are free" in tables.intake.trouble or "Only 4" in tables.intake.trouble
    assert "the store loads nothing until there are 7." in tables.intake.trouble
    (small_disk / "ballast").unlink()
    check_all_is_there_once(tables, run, 4)
    tables.database.close()


def test_a_disk_that_fills_up_under_a_commit_loses_nothing_and_doubles_nothing(
    small_disk, monkeypatch
):
    monkeypatch.setattr(intake, "LEAST_FREE_BYTES", 0)  # as if something else took the room
    tables, run = Tables(small_disk), RunFolder(small_disk)
    write(run, range(2))
    tables.turn()
    write(run, range(2, 8))
    fill(small_disk, 200_000)
    for _ in range(3):
        tables.turn()
    assert f"Run {run.uid} is not loaded at present: " in tables.intake.trouble
    (small_disk / "ballast").unlink()
    check_all_is_there_once(tables, run, 8)
    tables.database.close()
