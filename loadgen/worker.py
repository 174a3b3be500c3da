"""What one load worker does, level by level.  Knows gevent, but not Locust: that calls in."""

import os
import time
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import gevent
from gevent.event import Event

from loadgen.clock_pairs import note_clocks
from loadgen.closed_seat import closed_seat
from loadgen.collector import Collector
from loadgen.conductor import Conductor
from loadgen.early_stop import FailingStart, FailuresInARow, failure_of
from loadgen.faults import told
from loadgen.history import is_turn
from loadgen.levels import Level, OnEnd, drain, level_of
from loadgen.line import Line
from loadgen.plan import Load, Plan
from loadgen.plan_stages import load_of
from loadgen.planned import PlannedRequest
from loadgen.prompts.material import load as load_material
from loadgen.pulse import Counts, HubTick, PulseMaker, every_second
from loadgen.run_folder import RunFolder
from loadgen.schedule import Shard, Share
from loadgen.seats import CONDUCTOR, Role
from loadgen.senders import Senders
from loadgen.soon import Soon
from loadgen.talks import Talks
from loadgen.transport.aside import NativeThread
from loadgen.transport.call import Done
from loadgen.transport.connecting import ConnectFailed
from storage.raw_spool import RawWriter, SpoolError

WARM_OPEN_S = 0.5  # open loop: connections for so many seconds of arrivals are opened beforehand
YOUNG_EVERY_S = 10
SEATS_TOLD_S = 0.005  # after a change; each of 2,000 users alone would cost 0.2 ms


class Worker:
    """Seats, connections and counts of one process."""

    def __init__(self, folder: RunFolder, index: int, line: Line) -> None:
        plan = folder.read_plan()
        run = folder.read("run.json") or {}
        self.index = index
        self._folder = folder
        self.counts = Counts()
        self.on_done: Callable[[str, Done], None] | None = None
        self._plan: Plan = plan
        self._line = line
        self._spool = RawWriter(folder.spool, index, aside=NativeThread())
        self._senders = Senders(plan, {**run, "worker": index}, self._spool)
        self._talks = Talks(plan, self._senders)
        self._shard = Shard(plan, index, run["n_workers"], load_material(folder.path, plan))
        self._collector = Collector()
        self._hub = HubTick()
        self._pulses = PulseMaker(index, folder.spool, run["t0_mono_ns"])
        self._seats = 0
        self._seats_changed = Soon(SEATS_TOLD_S, self._say_seats)
        self._share: Share | None = None  # of the level that was made ready
        self._level: Level | None = None
        self._level_name = ""
        self._allowed: int | None = None  # so many requests may still begin (limits.requests)
        self._gate = Event()  # opens when the next level begins
        self._in_a_row = FailuresInARow(plan.limits.failed_in_a_row)
        self._failing = FailingStart(plan.limits.failed_at_start)

    def start(self) -> None:
        """Begin to pulse and to watch for the leader's death."""
        note_clocks(self._folder, f"worker {self.index}")
        gevent.spawn(self._hub.run)
        gevent.spawn(every_second, self._beat)
        gevent.spawn(self._end_with, os.getppid())

    def sit(self) -> None:
        """A Locust user takes a seat and does what each level asks of it, until it is killed."""
        self._seats += 1
        self._seats_changed()
        try:
            while True:
                self._gate.wait()
                if (level := self._level) is not None and (role := level.take_role()):
                    self._play(level, role)
        finally:
            self._seats -= 1
            self._seats_changed()

    @told
    def obey(self, kind: str, content: dict[str, Any]) -> None:
        """Do what one of the leader's messages says."""
        if kind == "warm":
            self._talks.level_over()
            self._shard.among(content["among"])
            self.warm(content["stage"], load_of(content["load"]))
        elif kind == "begin":
            self._allowed = content["allowed"][self.index]
            self.begin(self._level_of(content))
        elif kind == "enough":
            self._enough(content["stage"])
        elif kind == "cut":
            self.cut(content["detail"], content["patience_s"])

    def _say_seats(self) -> None:
        self._line.send("seats", {"worker": self.index, "seats": self._seats})

    @told
    def _play(self, level: Level, role: Role) -> None:
        if role.part == CONDUCTOR:
            Conductor(level, self).play(role)
        else:
            closed_seat(level, role, self)

    def _level_of(self, content: dict[str, Any]) -> Level:
        stage, load, share = content["stage"], load_of(content["load"]), self._share
        if share is None or (share.stage, share.load) != (stage, load):
            share = self._shard.share(stage, load)
        return level_of(content, self.index, share)

    def _enough(self, stage: int) -> None:
        """Issue no more of a level; its open streams go on to their end."""
        if self._level is not None and self._level.stage == stage:
            self._level.stopped.set()

    def warm(self, stage: int, load: Load) -> None:
        """Make ready for a level before its clock starts; the answer names what failed."""
        problem = replay = None
        try:
            share = self._share = self._shard.share(stage, load)
            replay = share.replay_told
            wanted = self._seats + share.most_within(WARM_OPEN_S)
            if self._plan.connections == "warm":
                self._senders.warm(min(wanted, self._plan.limits.max_in_flight))
        except (ConnectFailed, ValueError) as failed:  # ValueError: a file of the plan is no good
            problem = str(failed)
        self._collector.freeze()  # a full collection may take longer than the head start of `begin`
        said = {"worker": self.index, "stage": stage, "problem": problem, "replay": replay}
        self._line.send("warmed", said)

    def begin(self, level: Level) -> None:
        """Run one level to its end and report it; blocks its caller's greenlet."""
        self.counts.stage = level.stage
        self._level, self._level_name = level, level.load.name
        gate, self._gate = self._gate, Event()
        gate.set()
        drain(level, self._plan.limits, self._senders.cancel_all)
        self._level = None
        self._collector.thaw()
        self._beat()
        end_ns = level.end_ns or time.monotonic_ns()
        ended = {"worker": self.index, "stage": level.stage, "end_ns": end_ns}
        self._line.send("ended", {**ended, "issue_end_ns": level.issue_end_ns or level.begin_ns})

    def cut(self, detail: str, patience_s: float = 0.0) -> None:
        """End everything: nothing more is issued, streams open after that time are cancelled."""
        if self._level is not None:
            self._level.stopped.set()
            self._level.finished.wait(patience_s)
        self._senders.cancel_all(detail)

    def close(self) -> None:
        """Hand over the last raw reads; the decoder sees the lock go and finishes."""
        self._senders.close()
        self._beat()
        self._spool.seal()
        note_clocks(self._folder, f"worker {self.index}")

    def perform(self, planned: PlannedRequest) -> int | None:
        """Send a request of closed loop and wait for its end (levels.Sending)."""
        if not self._may_send():
            return None
        counts, nth = self.counts, self.counts.sent
        counts.in_flight += 1
        counts.sent += 1
        asked = self._talks.asking(planned)
        try:
            done = self._senders[planned.traffic].send(asked, None)
        except SpoolError as error:  # nothing can be recorded, so nothing more is asked
            self.fail(str(error))
            return None
        finally:
            counts.in_flight -= 1
        return self._heard(asked, self._ended(done, nth))

    def dispatch(self, planned: PlannedRequest, due_ns: int, on_end: OnEnd) -> None:
        """Send a request that is due now, without waiting (levels.Sending)."""
        counts, sender = self.counts, self._senders[planned.traffic]
        if counts.in_flight >= self._plan.limits.max_in_flight:
            self.not_sent(planned, due_ns, None)
            counts.not_sent += self._talks.unsent(planned, self._level)
            on_end(None)
            return
        if not self._may_send():
            on_end(None)
            return
        nth = counts.sent
        counts.in_flight += 1
        counts.sent += 1
        counts.dispatch_lags_us.append((time.monotonic_ns() - due_ns) // 1000)
        asked = self._talks.asking(planned)

        def ended(done: Done | SpoolError) -> None:
            counts.in_flight -= 1
            if isinstance(done, SpoolError):
                self.fail(str(done))
                on_end(None)
                return
            if done.send_ns is not None:
                counts.send_lags_us.append((done.send_ns - due_ns) // 1000)
            end_ns = self._ended(done, nth)
            if is_turn(asked):  # hearing it takes a while, and this is the loop itself
                gevent.spawn(self._hear, asked, end_ns, on_end)
            else:
                on_end(end_ns)

        sender.begin(asked, due_ns, ended)

    def not_sent(self, planned: PlannedRequest, due_ns: int, why: str | None) -> None:
        """Record an arrival that is not begun (levels.Sending); why: see Sender."""
        self.counts.not_sent += 1
        try:
            self._senders[planned.traffic].record_not_sent(planned, due_ns, why)
        except SpoolError as error:
            self.fail(str(error))

    def _may_send(self) -> bool:
        """Whether one more request may begin by limits.requests; the last one ends the issuing."""
        if self._allowed is None:
            return True
        self._allowed -= 1
        if self._allowed <= 0 and self._level is not None:
            self._level.stopped.set()
        return self._allowed >= 0

    @told
    def _hear(self, asked: PlannedRequest, end_ns: int | None, on_end: OnEnd) -> None:
        on_end(self._heard(asked, end_ns))

    def _heard(self, asked: PlannedRequest, end_ns: int | None) -> int | None:
        """Of a turn of a conversation None too if there is no answer to go on from."""
        if not is_turn(asked):
            return end_ns
        lost = self._talks.heard(asked, self._level)
        if lost is None:
            return end_ns
        self.counts.not_sent += lost
        return None

    def _ended(self, done: Done, nth: int) -> int | None:
        """Count it; when it ended, None if it failed."""
        self._count(done, nth)
        if self.on_done is not None:
            self.on_done(self._level_name, done)
        return done.end_ns if failure_of(done) is None else None

    def _count(self, done: Done, nth: int) -> None:
        failure = failure_of(done)
        if failure is None:
            self.counts.done += 1
            self._failing.succeeded()
            self._in_a_row.succeeded()
            return
        if done.cause == "cancelled":
            return
        self.counts.failed += 1
        if why := self._failing.failed(nth, failure, done.end_ns):
            told = {"worker": self.index, "why": why, "http_status": done.http_status}
            gevent.spawn(self._line.send, "failing", told)  # this may be a callback of the loop
            if self._plan.n_workers == 1 and self._level is not None:
                self._level.stopped.set()  # else the leader asks what the others see
        if why := self._in_a_row.failed(failure):
            self._give_up("hopeless", why)

    def fail(self, why: str) -> None:
        """Nothing can be done any more (faults.Failing)."""
        self._give_up("fault", why)

    def _give_up(self, kind: str, why: str) -> None:
        if self._level is not None:
            self._level.stopped.set()
        gevent.spawn(self._line.send, kind, {"worker": self.index, "why": why})

    @told
    def _beat(self) -> None:
        self.counts.in_flight = max(0, self.counts.in_flight)
        pulse = self._pulses.make(self.counts, self._senders, self._collector, self._hub)
        self._spool.pulse(asdict(pulse))
        if self._level is not None and int(time.monotonic()) % YOUNG_EVERY_S == 0:
            self._collector.young()
        self._line.send("pulse", {"worker": self.index, **asdict(pulse)})

    def _end_with(self, leader_pid: int) -> None:
        while os.getppid() == leader_pid:
            gevent.sleep(0.5)
        self.cut("the load generator's main process ended")
        self.close()
        os._exit(1)
