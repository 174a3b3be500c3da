"""One second of a load worker's own health."""

import socket

import pytest

from loadgen.collector import Collector
from loadgen.memory_spool import MemorySpool
from loadgen.pulse import Counts, HubTick, PulseMaker
from loadgen.transport.call import Timeouts
from loadgen.transport.endpoint import Endpoint
from loadgen.transport.pool import Pool


@pytest.fixture
def make(tmp_path):
    """make(counts, pool) gives a pulse."""
    maker = PulseMaker(0, tmp_path, 0)

    def pulse(counts, pool):
        return maker.make(counts, pool, Collector(), HubTick())

    return pulse


@pytest.fixture
def pool():
    listener = socket.create_server(("127.0.0.1", 0))
    made = Pool(
        Endpoint("http", *listener.getsockname()),
        MemorySpool(),
        Timeouts(connect_s=5, silence_s=5, total_s=5),
    )
    yield made
    made.close()
    listener.close()


@pytest.mark.slow
def test_lags_are_those_since_the_last_pulse(make, pool):
    counts = Counts(send_lags_us=[5, *range(100)], dispatch_lags_us=[7, 3])
    first, second = make(counts, pool), make(counts, pool)
    assert (first.send_lag_p99_us, first.send_lag_max_us) == (98, 99)
    assert first.dispatch_lag_p99_us == 3  # of two values the lower
    assert second.send_lag_p99_us is second.send_lag_max_us is second.dispatch_lag_p99_us is None


@pytest.mark.slow
def test_connections_opened_in_this_second_are_counted_and_timed(make, pool):
    counts = Counts()
    before = make(counts, pool)
    pool.warm(3)
    opened, after = make(counts, pool), make(counts, pool)
    assert (before.connects, before.connect_p50_us, before.rtt_p50_us) == (0, None, None)
    assert opened.connects == 3
    assert 0 < opened.connect_p50_us < 5_000_000
    assert 0 < opened.rtt_p50_us < 5_000_000
    assert (after.connects, after.connect_p50_us) == (0, None)
    assert after.rtt_p50_us is not None
