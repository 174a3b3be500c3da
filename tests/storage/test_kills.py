"""The store is killed with -9 again and again while it loads: nothing is lost, nothing doubled."""

import os
import random
import signal
import threading
import time

import numpy as np
import pytest
from made_up_runs import RunFolder, Stream

from storage.client import Store
from storage.column_spool import column_segments

pytestmark = [pytest.mark.slow, pytest.mark.timeout(150)]
SEGMENTS, STREAMS, KILLS = 60, 25, 6


def write(run):
    """Sixty segments of 25 streams and 5,000 events, as fast as a busy decoder would."""
    gaps = tuple(int(g) for g in np.random.default_rng(1).integers(1_000, 90_000, 199))
    for seq in range(SEGMENTS):
        first = seq * STREAMS
        run.columns(
            seq, [Stream(k, send_us=1_000 * k, gaps_us=gaps) for k in range(first, first + STREAMS)]
        )
        time.sleep(0.05)


def test_a_store_killed_while_it_loads_loses_nothing_and_doubles_nothing(tmp_path):
    run = RunFolder(tmp_path)
    writer = threading.Thread(target=write, args=(run,))
    writer.start()
    store, chance, killed = Store.connect(tmp_path), random.Random(2), set()
    while len(killed) < KILLS:
        pid = int(store.ask_arrow("store")["pid"][0].as_py())
        time.sleep(chance.uniform(0.25, 0.9))
        os.kill(pid, signal.SIGKILL)
        killed.add(pid)
    writer.join()
    run.end()
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and store.ask("run", run=run.uid)["state"][0] != "finished":
        time.sleep(0.2)

    events = store.ask("token_events", run=run.uid)
    assert column_segments(run.spool) == []
    assert len(events) == SEGMENTS * STREAMS * 200
    assert not events.duplicated(["request_id", "seq"]).any()
    assert store.ask("requests", run=run.uid)["request_id"].tolist() == [*range(SEGMENTS * STREAMS)]
    hist = store.ask("gap_hist", run=run.uid)
    assert hist[hist["metric"] == "gap"]["n"].sum() == SEGMENTS * STREAMS * 199
    assert store.ask("tokens_per_s", run=run.uid)["events"].sum() == len(events)
    assert len(store.ask("pulses", run=run.uid)) == SEGMENTS
    os.kill(int(store.ask("store")["pid"][0]), signal.SIGTERM)
