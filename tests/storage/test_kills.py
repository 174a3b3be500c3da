"""kill -9 at any moment, again and again: nothing written is lost, nothing is there twice.

The whole chain runs: raw reads, decoder, column segments, store.  HEADWAY_TEST_KILLS says how often
each is killed (30 takes one to three minutes).
"""

import json
import os
import random
import time

import pytest
from exchanges import T0_NS
from made_up_runs import RunFolder, Tables
from raw_runs import RawRun
from victims import ACK, CONTEXT, Victim, hasty_decoder, hasty_store, load_worker

from loadgen.decoder import Decoder
from storage.column_spool import column_segments, decoded_mark

KILLS = int(os.environ.get("HEADWAY_TEST_KILLS", "8"))
ENDS_WITHIN_S = 30.0
pytestmark = [pytest.mark.slow, pytest.mark.timeout(60 + 5 * KILLS)]


def raw_run(folder):
    """A writer of raw reads into the run's folder, which keeps its facts."""
    facts = json.loads((folder.path / "run.json").read_bytes())
    run = RawRun(folder.path)
    folder.write("run.json", {**facts, "t0_mono_ns": T0_NS})
    return run


def write_some(run, open_streams):
    """A segment in which streams begin, go on and end."""
    for _ in range(4):
        k = len(run.n_tokens)
        run.open(k)
        open_streams.append(k)
    for k in open_streams:
        run.token(k, 1 + k % 4)
    for k in open_streams[: len(open_streams) - 6]:
        run.close(k)
        open_streams.remove(k)
    run.next_segment()


def close_tables(data, uid):
    """The run's rows after a store without kills has closed the run."""
    tables = Tables(data)
    deadline = time.monotonic() + ENDS_WITHIN_S
    while time.monotonic() < deadline:
        tables.turn()
        rows = tables.ask("run", run=uid)
        if rows and rows[0]["state"] == "finished":
            return tables
        time.sleep(0.02)
    raise AssertionError(f"the run is still {rows}; {tables.intake.trouble}")


def check_summaries_agree(tables, uid, n_tokens):
    """Events, histogram, tokens per second, requests and ledger tell of the same tokens.

    n_tokens: request -> tokens in the tables.
    """
    n_events = sum(n_tokens.values())
    events = tables.sql("SELECT request_id, seq FROM token_events ORDER BY ALL")
    assert events == [(k, seq) for k in sorted(n_tokens) for seq in range(n_tokens[k])]
    rows = tables.ask("requests", run=uid)
    assert {row["request_id"]: row["n_chunks"] for row in rows} == n_tokens
    assert len(rows) == len(n_tokens)
    complete = [n_tokens[row["request_id"]] for row in rows if row["outcome"] == "complete"]
    gaps = sum(row["n"] for row in tables.ask("gap_hist", run=uid) if row["metric"] == "gap")
    assert gaps == sum(n - 1 for n in complete)
    assert sum(row["events"] for row in tables.ask("tokens_per_s", run=uid)) == n_events
    assert tables.sql("SELECT sum(n_rows) FROM seg_ledger") == [(n_events + len(rows),)]
    (run,) = tables.ask("run", run=uid)
    assert (run["n_events"], run["n_requests"]) == (n_events, len(rows))


@pytest.mark.parametrize("killed", ["store", "decoder", "store and decoder"])
def test_killed_at_any_moment_it_loses_nothing_and_doubles_nothing(tmp_path, killed):
    folder, chance, open_streams = RunFolder(tmp_path), random.Random(killed), []
    run = raw_run(folder)
    store = Victim(hasty_store, tmp_path)
    decoder = Victim(hasty_decoder, folder.path)
    victims = [v for name, v in (("store", store), ("decoder", decoder)) if name in killed]
    for _ in range(KILLS):
        until = time.monotonic() + chance.uniform(0.02, 0.35)
        while time.monotonic() < until:
            write_some(run, open_streams)
            time.sleep(0.01)
        for victim in victims:
            victim.kill()
        for victim in victims:
            victim.start_again()
    run.writer.seal()
    deadline = time.monotonic() + ENDS_WITHIN_S
    while not decoded_mark(run.spool, 0).exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    folder.state("finished")
    store.terminate()
    tables = close_tables(tmp_path, folder.uid)
    assert column_segments(run.spool) == []
    check_summaries_agree(tables, folder.uid, run.n_tokens)
    assert len(run.n_tokens) > 2 * KILLS
    tables.database.close()


def test_of_a_killed_load_worker_every_token_written_is_there(tmp_path):
    folder, chance = RunFolder(tmp_path, n_workers=KILLS), random.Random(3)
    run_json = (folder.path / "run.json").read_bytes()
    acked, killed = {}, []
    for worker in range(KILLS):
        ours, theirs = CONTEXT.Pipe(duplex=False)
        victim = Victim(load_worker, folder.path, worker, KILLS, theirs)
        theirs.close()
        os.read(ours.fileno(), ACK.size)  # it has begun
        killed.append((victim, ours))
        time.sleep(chance.uniform(0.0, 0.06))
        victim.kill()
        while told := os.read(ours.fileno(), ACK.size):
            k, n = ACK.unpack(told)
            acked[k] = n
        ours.close()
    for worker in range(KILLS):
        decoder = Decoder(folder.path, worker, T0_NS)
        while decoder.step():
            pass
        decoder.finish()
    (folder.path / "run.json").write_bytes(run_json)
    folder.state("finished")
    tables = close_tables(tmp_path, folder.uid)
    found = dict(tables.sql("SELECT request_id, n_chunks FROM requests"))
    assert all(acked[k] <= found[k] <= acked[k] + 1 for k in acked)
    assert found.keys() - acked.keys() <= {k for k, n in found.items() if n <= 1}
    check_summaries_agree(tables, folder.uid, found)
    tables.database.close()
