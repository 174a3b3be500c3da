"""The pool: perform each request on a warm or a new connection, and end every one of them well."""

import sys
import time
from functools import partial
from typing import Any

import gevent
from gevent import get_hub
from gevent import socket as gevent_socket
from gevent.hub import Waiter
from gevent.pool import Pool as GreenletPool

from loadgen.transport.addresses import Resolve
from loadgen.transport.answer import Answer, close_meta
from loadgen.transport.call import Call, Cause, Done, OnDone, Spool, Timeouts
from loadgen.transport.connecting import ConnectFailed, Connector
from loadgen.transport.connection import Connection, Phases
from loadgen.transport.ending import ending
from loadgen.transport.endpoint import Endpoint
from loadgen.transport.idle import IdleConnections
from loadgen.transport.overdue import is_closed_unseen, overdue
from loadgen.transport.polls import PollWatch
from loadgen.transport.stamps import StampKeeper
from loadgen.transport.stats import LagGatherer, ReadStats
from loadgen.transport.stream import Reading, reader
from loadgen.transport.tcp_info import median_rtt_us
from storage.raw_record import SpoolError

SWEEP_S = 0.1
CONNECTING_AT_ONCE = 64
KILLED = "the load ended before the answer did"


class Pool:
    """The connections to one endpoint and the requests under way on them.

    keep_alive False: each request opens its own connection.  resolve: see Connector.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        spool: Spool,
        timeouts: Timeouts,
        keep_alive: bool = True,
        resolve: Resolve = gevent_socket.getaddrinfo,
    ) -> None:
        self._endpoint, self._spool, self._timeouts = endpoint, spool, timeouts
        self._keep_alive = keep_alive
        self._connector = Connector(endpoint, timeouts.connect_s, resolve)
        self._watch = PollWatch(get_hub().loop)
        self._idle = IdleConnections(self._watch.polls)
        self._under_way: dict[int, Answer] = {}
        self._reading = Reading(spool, self._watch.polls, self._ended, self._fail)
        self._lags = LagGatherer()
        self._spool_error: SpoolError | None = None
        self._is_closed = False
        self._keeper = StampKeeper()
        self._loop: Any = get_hub().loop
        self._timer = self._loop.timer(SWEEP_S, SWEEP_S)
        self._timer.start(self._sweep)

    @property
    def in_flight(self) -> int:
        """Requests begun and not ended."""
        return len(self._under_way)

    @property
    def open_connections(self) -> int:
        """Connections in use or idle."""
        used = sum(answer.connection is not None for answer in self._under_way.values())
        return used + len(self._idle)

    def take_stats(self) -> ReadStats:
        """How late reads were since the last call; once a second, for the pulse."""
        self._gather()
        return self._lags.take()

    def take_connects(self) -> list[Phases]:
        """The phases of each connection opened since the last call; once a second, for the pulse.

        Those opened before a level's clock are among them, those that failed are not.
        """
        return self._connector.take_opened()

    def rtt_us(self) -> int | None:
        """The kernel's round-trip time, median over up to eight open connections; None: unknown."""
        used = [a.connection for a in self._under_way.values() if a.connection is not None]
        return median_rtt_us(connection.sock for connection in (*used, *self._idle))

    def warm(self, n: int) -> None:
        """Open connections until `n` are open; stops at the first failure: ConnectFailed."""
        missing = n - self.open_connections if self._keep_alive else 0
        opening = GreenletPool(CONNECTING_AT_ONCE)
        for opened in opening.imap_unordered(lambda _: self._try_connect(), range(missing)):
            if isinstance(opened, ConnectFailed):
                opening.kill(block=False)
                raise opened
            self._idle.put(opened)

    def begin(self, call: Call, on_done: OnDone) -> Answer:
        """Send the request; never blocks and never raises, so that the loop itself may call it.

        on_done is called by the loop, later and once, however the request ends; it must not block.
        An idle connection takes it at once; without one, a greenlet opens a connection first.
        """
        answer = Answer(call, on_done)
        if self._spool_error is not None or self._is_closed:
            unsent = Done("not_sent", None, time.monotonic_ns(), None, "the pool was closed")
            self._loop.run_callback(on_done, self._spool_error or unsent)
            return answer
        self._under_way[call.request_id] = answer
        connection = self._idle.take()
        answer.send_ns = time.monotonic_ns()
        if connection is None:
            self._connect(answer)
        else:
            answer.is_reused = True
            self._send(answer, connection)
        self._open_record(answer)  # after the send, which it would delay
        return answer

    def perform(self, call: Call) -> Done:
        """Send the request and wait for its end; endpoint trouble is in the answer, never raised.

        Raises SpoolError when nothing can be recorded any more, and whatever kills the greenlet.
        """
        waiter: Any = Waiter()
        # By way of the loop: the others' reads of this turn come first.
        answer = self.begin(call, partial(self._loop.run_callback, waiter.switch))
        try:
            ended = waiter.get()
        except BaseException:
            self._finish(answer, "cancelled", KILLED)
            raise
        if isinstance(ended, SpoolError):
            raise ended
        return ended

    def cancel_all(self, detail: str) -> None:
        """End every request under way now, with cause `cancelled`."""
        for answer in list(self._under_way.values()):
            self._finish(answer, "cancelled", detail)

    def close(self) -> None:
        """Cancel what is under way and close all connections; later requests are not sent."""
        if self._is_closed:
            return
        self._is_closed = True
        self.cancel_all("the load generator ended")
        self._idle.close_all()
        self._keeper.close()
        self._timer.close()
        self._watch.close()

    def _connect(self, answer: Answer) -> None:
        """Open a connection for it, in a greenlet that its end kills."""
        answer.attempt = gevent.spawn(self._connect_and_send, answer)

    def _connect_and_send(self, answer: Answer) -> None:
        opened = self._try_connect()
        answer.attempt = None
        is_open = not isinstance(opened, ConnectFailed)
        if answer.request_id not in self._under_way:  # it ended before the kill came
            if is_open:
                opened.close()
            return
        answer.phases = opened.phases
        if is_open:
            answer.is_reused = False
            self._send(answer, opened)
        else:
            self._finish(answer, opened.cause, str(opened))

    def _try_connect(self) -> Connection | ConnectFailed:
        try:  # a value, because gevent prints a traceback for each exception of a greenlet
            return self._connector.connect()
        except ConnectFailed as failed:
            return failed

    def _send(self, answer: Answer, connection: Connection) -> None:
        answer.segments = connection.segments
        answer.segments.begin()
        try:
            connection.send(answer.call.head_and_body)
        except Exception as error:  # TLS or HTTP/2 will not carry it: no reader will see its end
            connection.close()
            said = f"The request cannot be sent ({type(error).__name__}: {error})."
            self._loop.run_callback(self._finish, answer, "reset", said)  # after its open record
            return
        answer.begin(connection)
        connection.on_readable(reader(answer, connection, self._reading))

    def _ended(self, answer: Answer, error: Exception | None) -> None:
        """The reader saw the message's end, the connection's end (None too), or an error."""
        connection = answer.connection
        if connection is None:
            return
        ended = ending(answer, error, self._endpoint, time.monotonic_ns())
        if ended is None:  # the server had closed it before our request came
            self._release(answer)
            answer.reconnects = 1
            self._connect(answer)
            return
        is_free = connection.is_reusable and not connection.is_sending
        is_kept = error is None and answer.is_kept_alive and is_free
        done = self._close(answer, *ended, is_kept)
        if done is not None:
            try:  # we are in a callback of the loop; another turn of it would cost 30 µs
                answer.on_done(done)
            except Exception:  # not the endpoint's trouble, as the reader would think
                self._loop.handle_error(answer.on_done, *sys.exc_info())

    def _finish(self, answer: Answer, cause: Cause, detail: str | None) -> None:
        """End it for a reason of ours."""
        done = self._close(answer, cause, detail)
        if done is not None:
            self._loop.run_callback(answer.on_done, done)

    def _close(
        self, answer: Answer, cause: Cause, detail: str | None, is_kept: bool = False
    ) -> Done | None:
        """Record the end, give the connection back or drop it; None: it had ended before."""
        if self._under_way.pop(answer.request_id, None) is not answer:
            return None
        self._release(answer, is_kept)
        return self._close_record(answer, cause, detail)

    def _release(self, answer: Answer, is_kept: bool = False) -> None:
        """Part the answer from its connection, or from the attempt to get one."""
        if answer.attempt is not None:
            answer.attempt.kill(block=False)
            answer.attempt = None
        connection = answer.connection
        if connection is None:
            return
        answer.end()
        if is_kept and self._keep_alive:
            self._idle.put(connection)
        else:
            connection.close()

    def _open_record(self, answer: Answer) -> None:
        call, send_ns = answer.call, answer.send_ns
        try:
            self._spool.open(call.request_id, {**call.meta, "send_ns": send_ns}, send_ns)
        except SpoolError as error:
            self._fail(error)

    def _close_record(self, answer: Answer, cause: Cause, detail: str | None) -> Done:
        now_ns = time.monotonic_ns()
        done = Done(
            cause=cause,
            send_ns=answer.send_ns,
            end_ns=answer.last_ns if cause == "done" else now_ns,
            http_status=answer.http_status,
            detail=detail,
        )
        try:
            self._spool.close(answer.request_id, close_meta(answer, done), now_ns)
        except SpoolError as error:
            self._fail(error)
        return done

    def _fail(self, error: SpoolError) -> None:
        """Nothing can be recorded any more: every request ends so, those under way now."""
        self._spool_error = error
        while self._under_way:
            _, answer = self._under_way.popitem()
            self._release(answer)
            self._loop.run_callback(answer.on_done, error)

    def _gather(self) -> None:
        self._lags.add(self._reading.delays_ns)
        self._reading.delays_ns.clear()

    def _sweep(self) -> None:
        """Ten times a second: time limits and chores that would be too dear at each read."""
        now_ns = time.monotonic_ns()
        self._gather()
        self._watch.polls.woke_ns()
        for answer in list(self._under_way.values()):
            if answer.connection is None:
                continue
            if is_closed_unseen(answer, now_ns):
                self._ended(answer, answer.connection.trouble)
            elif ended := overdue(answer, self._timeouts, now_ns):
                self._finish(answer, *ended)
        if self._spool_error is None:
            try:
                self._spool.tick(now_ns)
            except SpoolError as error:
                self._fail(error)
