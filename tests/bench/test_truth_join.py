"""The join finds exactly the errors, losses and repeats that were put in."""

from pathlib import Path

import pandas as pd
import pytest

from bench import truth_log
from bench.truth_join import join
from bench.truth_log import ARRIVAL, LogWriter, TruthLog

RUN = {"epoch_ns": 5_000_000_000, "t0_mono_ns": 1_000_000}
OFFSET_NS = RUN["epoch_ns"] - RUN["t0_mono_ns"]  # realtime minus monotonic


@pytest.fixture
def log(tmp_path: Path) -> TruthLog:
    """Requests 0 "r-0" and 1 "r-1": arrived at 100 and 110 µs, 3 tokens each, 1 ms apart."""
    writer = LogWriter(tmp_path / "log")
    for number in range(2):
        arrived_ns = RUN["t0_mono_ns"] + 100_000 + 10_000 * number
        writer.put(number, ARRIVAL, arrived_ns + OFFSET_NS, arrived_ns, 0)
        writer.put_id(number, f"r-{number}".encode())
    for seq in range(3):
        for number in range(2):
            mono_ns = RUN["t0_mono_ns"] + 500_000 + 1_000_000 * seq + 1_000 * number
            writer.put(number, seq, mono_ns + OFFSET_NS, mono_ns, mono_ns)
    writer.close()
    return truth_log.read(tmp_path / "log")


def client_tokens(late_us: int = 0) -> pd.DataFrame:
    """What a client stores that sees each token `late_us` after it was sent; request ids 10, 11."""
    rows = [
        (10 + number, seq, 500 + 1000 * seq + number + late_us, 1000 if seq else None, False, 5)
        for number in range(2)
        for seq in range(3)
    ]
    return pd.DataFrame(rows, columns=["request_id", "seq", "t_us", "gap_us", "shared", "lag_us"])


def client_requests() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "request_id": [10, 11],
            "x_request_id": ["r-0", "r-1"],
            "outcome": ["complete", "complete"],
            "send_us": [90, 90],
            "first_token_us": [500, 501],
        }
    )


def test_a_perfect_client_has_no_error(log: TruthLog):
    found = join(client_requests(), client_tokens(), log, RUN)
    assert set(found.arrival_us) == set(found.arrival_mono_us) == set(found.gap_us) == {0.0}
    assert (found.n_truth, found.n_missing, found.n_doubled) == (6, 0, 0)


def test_a_late_client_is_late_by_as_much_and_its_gaps_are_right(log: TruthLog):
    found = join(client_requests(), client_tokens(late_us=7), log, RUN)
    assert set(found.arrival_us) == {7.0}
    assert set(found.gap_us) == {0.0}


def test_ttft_errs_by_what_lies_between_our_send_and_the_servers_arrival(log: TruthLog):
    found = join(client_requests(), client_tokens(), log, RUN)
    assert found.ttft_us.tolist() == [10.0, 20.0]


def test_a_lost_token_is_missing(log: TruthLog):
    found = join(client_requests(), client_tokens().drop(index=4), log, RUN)
    assert (found.n_missing, found.n_doubled) == (1, 0)


def test_a_repeated_token_is_doubled(log: TruthLog):
    tokens = client_tokens()
    found = join(client_requests(), pd.concat([tokens, tokens.iloc[[2]]]), log, RUN)
    assert (found.n_missing, found.n_doubled) == (0, 1)


def test_a_token_that_was_never_sent_is_doubled(log: TruthLog):
    tokens = client_tokens()
    invented = tokens.iloc[[2]].assign(seq=3)
    found = join(client_requests(), pd.concat([tokens, invented]), log, RUN)
    assert (found.n_missing, found.n_doubled) == (0, 1)


def test_requests_that_did_not_complete_are_counted_and_not_compared(log: TruthLog):
    requests = client_requests().assign(outcome=["complete", "cancelled"])
    found = join(requests, client_tokens().drop(index=5), log, RUN)
    assert (found.n_truth, found.n_missing, found.n_incomplete) == (3, 0, 1)
