"""The open-loop bench finds the lateness and the cost that were put in."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from bench import truth_log
from bench.open_loop import Spent, cost, dispatch_late_us, wire_late_us
from bench.truth_log import ARRIVAL, LogWriter

T0_NS = 1_000_000_000


@pytest.fixture
def run(tmp_path):
    """Two requests due at 0 and 1,000 µs, taken up 5 µs late, in the server's kernel 50 µs late;
    a third one was not sent."""
    writer = LogWriter(tmp_path / "log")
    for number, due_us in enumerate((0, 1000)):
        writer.put(number, ARRIVAL, 0, T0_NS + (due_us + 50) * 1000, 0)
        writer.put_id(number, f"r-{number}".encode())
    writer.close()
    due_us = np.array([0, 1000, 2000])
    columns = {
        "x_request_id": ["r-0", "r-1", "r-2"],
        "due_us": due_us,
        "dispatched_us": due_us + 5,
    }
    log = truth_log.read(tmp_path / "log")
    return SimpleNamespace(log=log, requests=pd.DataFrame(columns), t0_mono_ns=T0_NS)


def test_lateness_counts_from_the_schedule(run):
    assert dispatch_late_us(run).tolist() == [5, 5, 5]
    assert wire_late_us(run).tolist() == [50, 50]  # what was not sent never came


def test_the_cost_of_a_request_is_what_tokens_do_not_explain():
    request_us, token_us = 150, 25

    def spent(requests_per_s, n_tokens):
        tokens_per_s = requests_per_s * n_tokens
        cores = (requests_per_s * request_us + tokens_per_s * token_us) / 1e6
        return Spent(cores, requests_per_s, tokens_per_s)

    found = {f.name: f.value for f in cost(spent(500, 8), spent(62.5, 64), 500)}
    assert found["500/s worker CPU per request besides tokens"] == pytest.approx(request_us)
    assert found["500/s worker CPU per token event"] == pytest.approx(token_us)
