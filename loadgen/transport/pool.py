"""The pool: perform each request on a warm or a new connection, and end every one of them well."""

import time
from typing import Any

import gevent
from gevent import get_hub
from gevent import socket as gevent_socket
from gevent.pool import Pool as GreenletPool

from loadgen.transport.addresses import Resolve
from loadgen.transport.answer import Answer, close_meta
from loadgen.transport.call import Call, Cause, Done, Spool, Timeouts
from loadgen.transport.connecting import ConnectFailed, Connector
from loadgen.transport.connection import Connection, Phases
from loadgen.transport.ending import ending
from loadgen.transport.endpoint import Endpoint
from loadgen.transport.idle import IdleConnections
from loadgen.transport.overdue import is_closed_unseen, overdue
from loadgen.transport.polls import PollWatch
from loadgen.transport.segments import Segments
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
        self._idle = IdleConnections()
        self._under_way: dict[int, Answer] = {}
        self._watch = PollWatch(get_hub().loop)
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

    def perform(self, call: Call) -> Done:
        """Send the request and wait for its end; endpoint trouble is in the answer, never raised.

        Raises SpoolError when nothing can be recorded any more, and whatever kills the greenlet.
        """
        if self._spool_error is not None:
            raise self._spool_error
        if self._is_closed:
            return Done("not_sent", None, time.monotonic_ns(), None, "the pool was closed")
        answer = Answer(call.request_id, call.done_line)
        self._under_way[call.request_id] = answer
        try:
            return self._perform(answer, call)
        except BaseException:
            self._release(answer)
            if not answer.is_recorded:
                self._close_record(answer, "cancelled", KILLED)
            raise
        finally:
            del self._under_way[call.request_id]

    def cancel_all(self, detail: str) -> None:
        """End every request under way now, with cause `cancelled`."""
        for answer in list(self._under_way.values()):
            answer.cancelled = detail
            self._finish(answer, "cancelled", detail)
            if answer.attempt is not None:
                answer.attempt.kill(block=False)

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

    def _perform(self, answer: Answer, call: Call) -> Done:
        connection = self._idle.take()
        answer.send_ns = time.monotonic_ns()
        if connection is not None:
            answer.is_reused = True
            self._send(answer, connection, call)
            self._open_record(answer, call)  # after the send, which it would delay
            done = answer.waiter.get()
            if done is not None:
                return done
            answer.reconnects = 1  # None: the server had closed it before our request came
        else:
            self._open_record(answer, call)
        opened = self._connect(answer)
        if isinstance(opened, ConnectFailed):
            answer.phases = opened.phases
            return self._close_record(answer, opened.cause, str(opened))
        if opened is None or answer.cancelled is not None:
            if opened is not None:
                opened.close()
            return self._close_record(answer, "cancelled", answer.cancelled)
        answer.is_reused, answer.phases = False, opened.phases
        self._send(answer, opened, call)
        return answer.waiter.get()

    def _connect(self, answer: Answer) -> Connection | ConnectFailed | None:
        """A new connection in a greenlet of its own, which cancel_all can kill; None: it did."""
        attempt: Any = gevent.spawn(self._try_connect)
        answer.attempt = attempt
        try:
            opened = attempt.get()
        except BaseException:  # this greenlet was killed
            attempt.kill(block=False)
            raise
        finally:
            answer.attempt = None
        if self._spool_error is not None:
            raise self._spool_error
        return opened if isinstance(opened, Connection | ConnectFailed) else None

    def _try_connect(self) -> Connection | ConnectFailed:
        try:  # a value, because gevent prints a traceback for each exception of a greenlet
            return self._connector.connect()
        except ConnectFailed as failed:
            return failed

    def _send(self, answer: Answer, connection: Connection, call: Call) -> None:
        answer.segments = Segments(connection.sock)
        connection.send(call.head_and_body)
        answer.begin(connection)
        connection.on_readable(reader(answer, connection, self._reading))

    def _ended(self, answer: Answer, error: Exception | None) -> None:
        """The reader saw the message's end, the connection's end (None too), or an error."""
        connection = answer.connection
        if connection is None:
            return
        ended = ending(answer, error, self._endpoint, time.monotonic_ns())
        if ended is None:
            self._release(answer)
            self._loop.run_callback(answer.waiter.switch, None)
            return
        is_free = connection.is_reusable and not connection.is_sending
        self._finish(answer, *ended, is_kept=error is None and answer.is_kept_alive and is_free)

    def _finish(
        self, answer: Answer, cause: Cause, detail: str | None, is_kept: bool = False
    ) -> None:
        """Record the end, give the connection back or drop it, wake whoever waits.  Once only."""
        if self._release(answer, is_kept):
            done = self._close_record(answer, cause, detail)
            self._loop.run_callback(answer.waiter.switch, done)

    def _release(self, answer: Answer, is_kept: bool = False) -> bool:
        """Part the answer from its connection; False if it has none."""
        connection = answer.connection
        if connection is None:
            return False
        answer.end()
        if is_kept and self._keep_alive:
            self._idle.put(connection)
        else:
            connection.close()
        return True

    def _open_record(self, answer: Answer, call: Call) -> None:
        meta = {**call.meta, "send_ns": answer.send_ns}
        self._spool.open(call.request_id, meta, answer.send_ns)

    def _close_record(self, answer: Answer, cause: Cause, detail: str | None) -> Done:
        now_ns = time.monotonic_ns()
        done = Done(
            cause=cause,
            send_ns=answer.send_ns,
            end_ns=answer.last_ns if cause == "done" else now_ns,
            http_status=answer.http_status,
            detail=detail,
        )
        answer.is_recorded = True
        if self._spool_error is None:
            try:
                self._spool.close(answer.request_id, close_meta(answer, done), now_ns)
            except SpoolError as error:
                self._fail(error)
        return done

    def _fail(self, error: SpoolError) -> None:
        """Nothing can be recorded any more: every perform() raises this."""
        self._spool_error = error
        for answer in list(self._under_way.values()):
            if self._release(answer):
                self._loop.run_callback(answer.waiter.throw, error)
            elif answer.attempt is not None:
                answer.attempt.kill(block=False)

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
