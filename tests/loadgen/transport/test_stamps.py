"""Kernel stamps on the monotonic line, and when they do not count."""

import socket
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadgen.transport import stamps
from loadgen.transport.stats import LagGatherer

S = 1_000_000_000


def message(kernel_ns, kind=stamps.SO_TIMESTAMPING):
    content = stamps.TIMESPEC.pack(kernel_ns // S, kernel_ns % S) + bytes(32)
    return [(socket.SOL_SOCKET, kind, content)]


@given(
    kernel_ns=st.integers(S, 2**61), lag_ns=st.integers(0, 10 * S), mono_ns=st.integers(0, 2**61)
)
def test_the_arrival_is_the_monotonic_read_time_minus_the_realtime_lag(kernel_ns, lag_ns, mono_ns):
    delay = stamps.delay_ns(message(kernel_ns), kernel_ns + lag_ns)
    assert delay == lag_ns
    assert stamps.arrival_ns(mono_ns, delay) == mono_ns - lag_ns


def test_a_stamp_later_than_its_read_counts_as_missing():
    assert stamps.delay_ns(message(7 * S + 1), 7 * S) == stamps.NO_STAMP
    assert stamps.delay_ns(message(7 * S), 7 * S) == 0


def test_no_stamp_a_zero_stamp_and_another_message_count_as_missing():
    assert stamps.delay_ns([], 7 * S) == stamps.NO_STAMP
    assert stamps.delay_ns(message(0), 1_700_000_000 * S) == stamps.NO_STAMP
    assert stamps.delay_ns(message(7 * S, kind=29), 8 * S) == stamps.NO_STAMP
    assert stamps.arrival_ns(123, stamps.NO_STAMP) == 123


def test_a_second_of_reads_becomes_its_lag_figures():
    lags = LagGatherer()
    lags.add([])
    lags.add([1_000 * k for k in range(50)] + [-1])
    lags.add([1_000 * k + 999 for k in range(50, 101)])
    stats = lags.take()
    assert (stats.reads, stats.missing_stamps) == (102, 1)
    assert (stats.lag_p50_us, stats.lag_p99_us, stats.lag_max_us) == (50, 99, 100)
    assert lags.take().reads == 0


def test_reads_without_any_stamp_have_no_lag():
    lags = LagGatherer()
    lags.add([-1, -1])
    stats = lags.take()
    assert (stats.reads, stats.missing_stamps, stats.lag_p50_us) == (2, 2, None)


@pytest.mark.slow
def test_a_linux_kernel_stamps_what_comes_over_loopback():
    assert stamps.has_kernel_stamps()


@pytest.mark.slow
def test_where_stamps_are_kept_the_very_first_byte_of_a_connection_has_one():
    with stamps.kept_stamps(), socket.create_server(("127.0.0.1", 0)) as listener:
        client = socket.socket()
        with client:
            assert stamps.enable(client)
            client.connect(listener.getsockname())
            server, _ = listener.accept()
            with server:
                server.send(b"?")
                _, ancillary, _, _ = client.recvmsg(16, stamps.ANCILLARY_BYTES)
                assert stamps.delay_ns(ancillary, time.time_ns()) >= 0


@pytest.mark.slow
def test_what_runs_within_kept_stamps_ends_with_its_own_error():
    with pytest.raises(KeyError), stamps.kept_stamps():
        raise KeyError
