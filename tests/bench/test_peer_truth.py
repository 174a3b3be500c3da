"""The truth of a tool's run is what the server's log says of its load, and of nothing else."""

from pathlib import Path

import pytest

from bench import truth_log
from bench.peers.peer import Spread
from bench.peers.truth import load_of, truth_of, within
from bench.truth_log import ARRIVAL, LogWriter, TruthLog
from bench.truth_script import DONE

MS = 1_000_000


@pytest.fixture
def log(tmp_path: Path) -> TruthLog:
    """A question before the load (number 0), then two answers of 3 tokens, 20 and 22 ms apart."""
    writer = LogWriter(tmp_path / "log")
    writer.put(0, ARRIVAL, 0, 1 * MS, 0)
    writer.put(0, 0, 0, 2 * MS, 0)
    for number, gap_ms in ((1, 20), (2, 22)):
        arrived_ns = (1000 + number) * MS
        writer.put(number, ARRIVAL, 0, arrived_ns, 0)
        for seq in range(3):
            writer.put(number, seq, 0, arrived_ns + (100 + gap_ms * seq) * MS, 0)
        writer.put(number, DONE, 0, arrived_ns + 900 * MS, 0)
    writer.close()
    return truth_log.read(tmp_path / "log")


def test_what_a_tool_asks_before_its_load_is_left_out(log: TruthLog):
    found = truth_of(load_of(log, 2))
    assert (found.requests, found.events) == (2, 6)
    assert found.ttft == Spread(100.0, 100.0, 100.0)


def test_gaps_are_pooled_and_a_request_has_one_mean(log: TruthLog):
    found = truth_of(load_of(log, 2))
    assert found.gaps == Spread(21.0, 21.0, pytest.approx(22.0, abs=0.07))
    assert found.per_token.mean == pytest.approx(21.0)
    assert found.per_token.p99 == pytest.approx(21.98)


def test_the_load_lasts_from_the_first_request_to_the_last_token(log: TruthLog):
    found = truth_of(load_of(log, 2))
    assert (found.begin_ns, found.end_ns) == (1001 * MS, 1146 * MS)
    assert found.events_per_s == pytest.approx(6 / 0.145)


def test_a_tool_with_a_window_is_compared_with_the_requests_in_it(log: TruthLog):
    found = truth_of(within(log, (1002 * MS, 2000 * MS)))
    assert found.requests == 1
    assert found.gaps.p50 == pytest.approx(22.0)


def test_an_answer_of_one_token_has_a_ttft_and_no_gap(log: TruthLog):
    found = truth_of(log.only([0]))
    assert found.ttft.mean == pytest.approx(1.0)
    assert found.gaps == found.per_token == Spread(None, None, None)


def test_a_server_that_sent_nothing_is_no_truth(log: TruthLog):
    with pytest.raises(ValueError, match="sent no token"):
        truth_of(log.only([]))
