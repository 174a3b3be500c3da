"""poll_ns of a read: an instant after which all its bytes came, and whether the loop was busy.

How the rule holds against true arrivals: tests/loadgen/test_doubt_model.py.
"""

import socket
import threading
import time

import gevent
import pytest
from gevent import get_hub
from scripted_server import CHUNKED, LAST_CHUNK, chunk

from loadgen.transport.polls import AWAY_NS, LATE_NS, WAKE_NS, Polls, PollWatch
from storage.raw_record import POLL_UNKNOWN

MS = 1_000_000


class FakeLoop:
    """A clock to set, and whether something waits."""

    def __init__(self):
        self.ns, self.waits = 0, False
        self.waited_ns: int | None = 0
        self.polls = Polls(
            lambda *_: self.waits, clock=lambda: self.ns, waited_ns=lambda: self.waited_ns
        )

    def poll(self, begin_ns, return_ns, waits=False):
        self.ns, self.waits = begin_ns, waits
        self.polls.before_poll()
        self.ns = return_ns
        self.polls.after_poll()
        return self.polls.poll_ns


def test_a_poll_that_found_nothing_at_its_begin_vouches_from_then_on():
    loop = FakeLoop()
    assert loop.poll(1 * MS, 2 * MS) == 1 * MS
    assert loop.poll(2 * MS + AWAY_NS + 1, 9 * MS) == 2 * MS + AWAY_NS + 1


def test_in_a_busy_loop_bytes_may_be_as_old_as_the_poll_before():
    loop = FakeLoop()
    assert loop.poll(1 * MS, 1 * MS + 10, waits=True) == POLL_UNKNOWN
    assert loop.poll(3 * MS, 3 * MS + 10, waits=True) == -1 * MS
    assert loop.poll(4 * MS, 9 * MS) == 4 * MS
    assert loop.poll(10 * MS, 10 * MS + 10, waits=True) == -9 * MS  # the poll before slept till 9
    assert loop.poll(11 * MS, 11 * MS + 10, waits=True) == -10 * MS


def test_a_loop_that_polls_again_at_once_is_not_busy_and_the_poll_before_vouches():
    loop = FakeLoop()
    loop.poll(1 * MS, 2 * MS)
    assert loop.poll(2 * MS + AWAY_NS, 2 * MS + AWAY_NS + 10, waits=True) == 2 * MS


def test_a_read_long_after_its_poll_counts_as_a_busy_loops():
    loop = FakeLoop()
    loop.poll(1 * MS, 2 * MS)
    assert loop.polls.of_read(2 * MS + LATE_NS) == 1 * MS
    assert loop.polls.of_read(2 * MS + LATE_NS + 1) == -1 * MS
    loop.poll(4 * MS, 4 * MS + 10, waits=True)
    assert loop.polls.of_read(4 * MS + 20) == -2 * MS


@pytest.mark.slow
def test_the_watch_sees_a_loop_that_sleeps_and_one_that_does_not():
    loop = get_hub().loop
    watch = PollWatch(loop)
    ready, waiting = socket.socketpair()
    io = loop.io(waiting.fileno(), 1)
    seen = []
    try:
        io.start(lambda: seen.append((watch.polls.poll_ns, waiting.recv(1))))
        gevent.sleep(0.001)
        begin_ns = time.monotonic_ns()
        loop.run_callback(time.sleep, 2 * AWAY_NS / 1e9)  # callbacks run before the look
        loop.run_callback(ready.send, b"x")
        while not seen:
            gevent.sleep(0.001)
        assert seen == [(-abs(seen[0][0]), b"x")]
        assert abs(seen[0][0]) <= begin_ns
        thread = threading.Timer(0.02, ready.send, (b"y",))
        begin_ns = time.monotonic_ns()
        thread.start()
        while len(seen) < 2:
            gevent.sleep(0.5)
        assert seen[1][0] >= begin_ns
    finally:
        io.close()
        watch.close()
        ready.close()
        waiting.close()


def ask_with_token_and_end(serve, asker, busy_s, apart_s):
    """(the read that held the token and the end, begin and end of a busy time of the loop)."""
    is_asked, go = threading.Event(), threading.Event()
    token, end = chunk(b"data: late\n\n"), LAST_CHUNK

    def script(connection, _n):
        server.read_request(connection)
        connection.sendall(CHUNKED)
        is_asked.set()
        go.wait(5)
        connection.sendall(token)
        time.sleep(apart_s)
        connection.sendall(end)
        time.sleep(0.2)  # the connection's close must not come into the read under test

    server = serve(script)
    a = asker(server.endpoint())
    asking = gevent.spawn(a.ask)
    while not a.spool.reads:
        gevent.sleep(0.005)
    begin_ns = time.monotonic_ns()
    go.set()
    time.sleep(busy_s)  # not gevent's: the loop stands still
    end_ns = time.monotonic_ns()
    assert asking.get(timeout=5).cause == "done"
    (read,) = [read for read in a.spool.reads if read[4] == token + end]
    return read, begin_ns, end_ns


@pytest.mark.slow
def test_bytes_that_came_while_the_loop_was_busy_say_so_however_fresh_their_stamp(serve, asker):
    read, begin_ns, end_ns = ask_with_token_and_end(serve, asker, busy_s=0.05, apart_s=0.03)
    _, mono_ns, delay_ns, poll_ns, _ = read
    assert poll_ns < 0
    assert -poll_ns <= begin_ns < mono_ns - delay_ns < end_ns <= mono_ns


@pytest.mark.slow
def test_bytes_that_woke_a_sleeping_loop_came_after_its_poll_began(serve, asker):
    def script(connection, _n):
        server.read_request(connection)
        for piece in (CHUNKED, chunk(b"data: 1\n\n"), chunk(b"data: 2\n\n"), LAST_CHUNK):
            connection.sendall(piece)
            time.sleep(0.03)  # each piece wakes a loop that sleeps

    server = serve(script)
    a = asker(server.endpoint())
    assert a.ask().cause == "done"
    for _, mono_ns, delay_ns, poll_ns, _ in a.spool.reads[1:]:
        assert abs(poll_ns) <= mono_ns - delay_ns
    assert sum(read[3] > 0 for read in a.spool.reads) >= 2  # a contended machine may lose one


def test_a_poll_that_slept_and_got_its_core_at_once_woke_at_its_return():
    loop = FakeLoop()
    loop.poll(1 * MS, 60 * MS)
    assert loop.polls.woke_ns() == 60 * MS - WAKE_NS


def test_what_the_process_waited_for_its_core_is_not_vouched_for():
    loop = FakeLoop()
    loop.poll(1 * MS, 60 * MS)
    loop.waited_ns = 20 * MS
    assert loop.polls.woke_ns() == 40 * MS - WAKE_NS
    loop.waited_ns = 21 * MS  # asked again in the same turn: the wake-up's wait stays
    assert loop.polls.woke_ns() == 40 * MS - WAKE_NS


def test_waits_since_the_last_question_are_laid_on_this_wake_up():
    loop = FakeLoop()
    loop.poll(1 * MS, 60 * MS)
    loop.waited_ns = 5 * MS
    loop.poll(61 * MS, 120 * MS)
    assert loop.polls.woke_ns() == 115 * MS - WAKE_NS
    loop.poll(121 * MS, 180 * MS)
    assert loop.polls.woke_ns() == 180 * MS - WAKE_NS


def test_never_before_the_begin_of_the_poll_and_nothing_more_where_nobody_tells():
    loop = FakeLoop()
    loop.poll(50 * MS, 60 * MS)
    loop.waited_ns = 300 * MS
    assert loop.polls.woke_ns() == 50 * MS
    silent = FakeLoop()
    silent.waited_ns = None
    silent.polls = Polls(lambda *_: False, clock=lambda: silent.ns)
    silent.poll(50 * MS, 60 * MS)
    assert silent.polls.woke_ns() == 50 * MS
