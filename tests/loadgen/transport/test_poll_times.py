"""poll_ns of a read: the return of the poll BEFORE the one that reported its bytes.

They had not arrived by then, so it is what the doubt about an arrival reaches back to.  The poll
that reported them returned after they came, and would make every doubt void.
"""

import threading
import time

import gevent
import pytest
from scripted_server import CHUNKED, LAST_CHUNK, MemorySpool, chunk

from loadgen.transport.stream import Reading


def test_the_poll_before_is_the_last_but_one_that_returned():
    shared = Reading(MemorySpool(), lambda *_: None, lambda *_: None)
    shared.after_poll()
    first_ns = shared.poll_ns
    while time.monotonic_ns() == first_ns:
        pass
    shared.after_poll()
    assert shared.previous_poll_ns == first_ns < shared.poll_ns


@pytest.mark.slow
def test_bytes_that_came_while_the_loop_was_busy_have_the_poll_from_before_it(serve, asker):
    is_busy = threading.Event()
    late = chunk(b"data: late\n\n")

    def script(connection, _n):
        server.read_request(connection)
        connection.sendall(CHUNKED)
        is_busy.wait(5)
        connection.sendall(late)
        time.sleep(0.1)
        connection.sendall(LAST_CHUNK)

    server = serve(script)
    a = asker(server.endpoint())
    asking = gevent.spawn(a.ask)
    while not a.spool.reads:
        gevent.sleep(0.005)
    begin_ns = time.monotonic_ns()
    is_busy.set()
    time.sleep(0.05)  # not gevent's: the loop stands still
    end_ns = time.monotonic_ns()
    assert asking.get(timeout=5).cause == "done"
    (read,) = [read for read in a.spool.reads if read[4] == late]
    _, mono_ns, delay_ns, poll_ns, _ = read
    assert poll_ns <= begin_ns < mono_ns - delay_ns < end_ns <= mono_ns
