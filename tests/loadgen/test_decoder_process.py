"""The decoder as the process it is: killed with -9 while the load goes on, and started again."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from raw_runs import MadeUpStore, RawRun, check_all_is_there

from storage.column_spool import decoded_mark

PROJECT = Path(__file__).resolve().parents[2]


def start(run: RawRun) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "loadgen.decoder", str(run.run_dir), "0"]
    return subprocess.Popen(command, cwd=PROJECT, stderr=subprocess.PIPE)


def live_lines(run: RawRun) -> list[bytes]:
    path = run.run_dir / "live-0.jsonl"
    return path.read_bytes().splitlines() if path.exists() else []


def write_some(run: RawRun, open_streams: list[int]) -> None:
    """A segment in which streams begin, go on and end."""
    for _ in range(5):
        k = len(run.n_tokens)
        run.open(k)
        open_streams.append(k)
    for k in open_streams:
        run.token(k, 1 + k % 4)
    for k in open_streams[: len(open_streams) - 8]:
        run.close(k)
        open_streams.remove(k)
    run.next_segment()


@pytest.mark.slow
def test_killed_with_9_while_the_load_goes_on_nothing_is_lost_or_doubled(tmp_path: Path):
    run, rng, open_streams = RawRun(tmp_path), random.Random(7), list[int]()
    store = MadeUpStore(tmp_path)
    decoder, n_kills, n_lines = start(run), 0, 0
    while n_kills < 6:
        write_some(run, open_streams)
        time.sleep(rng.uniform(0.01, 0.1))
        if rng.random() < 0.5:
            store.ingest()
        if len(live_lines(run)) > n_lines:  # it has decoded something since it was started
            decoder.send_signal(signal.SIGKILL)
            decoder.communicate()
            decoder, n_kills, n_lines = start(run), n_kills + 1, len(live_lines(run))
    assert decoder.poll() is None, "it must not end while the worker lives"
    run.writer.seal()
    _, log = decoder.communicate(timeout=60)
    assert (decoder.returncode, log) == (0, b"")
    store.ingest()
    check_all_is_there(run, store)
    assert {row["outcome"] for row in store.rows.values()} == {"complete", "cancelled"}


@pytest.mark.slow
def test_what_a_worker_killed_with_9_left_is_decoded(tmp_path: Path):
    script = (
        "import os, sys; from pathlib import Path; from raw_runs import RawRun\n"
        "run = RawRun(Path(sys.argv[1])); run.open(1); run.token(1, 5); run.next_segment()\n"
        "run.token(1, 4); run.open(2); run.token(2); run.close(2); os.kill(os.getpid(), 9)"
    )
    paths = os.pathsep.join([str(PROJECT), str(Path(__file__).parent)])
    command = [sys.executable, "-c", script, str(tmp_path)]
    worker = subprocess.run(command, env={**os.environ, "PYTHONPATH": paths}, check=False)
    assert worker.returncode == -signal.SIGKILL
    command = [sys.executable, "-m", "loadgen.decoder", str(tmp_path), "0"]
    subprocess.run(command, cwd=PROJECT, check=True, timeout=60)
    store = MadeUpStore(tmp_path)
    store.ingest()
    assert store.seqs == {1: list(range(9)), 2: [0]}
    assert store.rows[1]["outcome"] == "cancelled"
    assert store.rows[2]["outcome"] == "complete"


@pytest.mark.slow
def test_a_decoder_started_on_a_decoded_run_ends_at_once(tmp_path: Path):
    run = RawRun(tmp_path)
    run.writer.seal()
    decoded_mark(run.spool, 0).touch()
    assert start(run).wait(timeout=60) == 0
