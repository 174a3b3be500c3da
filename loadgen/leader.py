"""The leader of a run: queue, preflight, level after level, a clean end whatever happens."""

import fcntl
import logging
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

import gevent
from gevent.event import Event
from gevent.queue import Empty

from loadgen.cache_watch import CacheWatch
from loadgen.clock_pairs import keep_clocks, note_clocks
from loadgen.course import Course
from loadgen.crew import Crew, CrewError
from loadgen.first_answers import FirstAnswers
from loadgen.level_row import level_row, told
from loadgen.limits_watch import LimitsWatch
from loadgen.machine import Machine
from loadgen.machines.fleet import Fleet
from loadgen.plan import Load
from loadgen.preparing import prepare
from loadgen.program import Step
from loadgen.replay_record import with_replay
from loadgen.run_ended import RunEnded, StartFailed
from loadgen.run_folder import RunFolder
from loadgen.schedule import level_quotas
from loadgen.seats import Role, followed, roles, users_wanted
from loadgen.status import StatusBoard

SEATED_WITHIN_S = 5  # else Locust is asked again
HEAD_START_NS = 100_000_000  # a level begins this long after it was announced
CUT_S = 0.8  # cancelled streams are given this long to be written down
DECODE_S = 600
LAST_WORDS_S = 0.3  # for errors under way: an answer cut in two has no sentence
NEWS_EVERY_S = 0.2


class Leader:
    """One run from its plan to its last column segment."""

    def __init__(self, folder: RunFolder) -> None:
        self._folder = folder
        self._plan = folder.read_plan()
        self._board = StatusBoard(folder, self._plan)
        self._crew = Crew(folder)
        self._fleet = Fleet(folder, self._crew)
        self._course = Course(folder, self._plan, self._board)
        self._limits = LimitsWatch(self._plan, folder.path)
        self._machine: Machine | None = None
        self._caches: CacheWatch | None = None
        self._seats: dict[int, int] = {}
        self._t0_ns = time.monotonic_ns()
        self._notes: list[str] = []
        self._failing: set[int] = set()  # workers whose first requests all failed
        self._first_answers = FirstAnswers(folder, self._plan)
        self._news_s = 0.0
        self.stop = Event()

    def run(self, make_machine: Any) -> str:
        """Everything; returns the final state.  make_machine() is called once a request worked."""
        gevent.spawn(self._board.keep_writing)
        try:
            with self._turn():
                self._prepare()
                self._machine = make_machine()
                self._start_workers()
                self._board.begin()
                for stage, step in enumerate(iter(self._course.next, None)):
                    self._level(stage, step)
            measured = ["All levels were measured.", *self._course.sentences]
            ending = RunEnded("finished", " ".join(measured))
        except RunEnded as ended:
            ending = ended
        except (CrewError, ValueError, OSError) as error:
            logging.exception("the run cannot go on")
            kept = " What was measured until then is kept." if self._machine else ""
            ending = RunEnded("failed", f"{error}{kept}")
        except Exception as error:  # the one edge: our own fault, said as such
            logging.exception("a fault of the load generator")
            ending = RunEnded(
                "failed",
                f"The load generator itself failed ({type(error).__name__}: {error}); what was "
                "measured until then is kept. The run's log says where: please report it.",
            )
        self._finish(ending)
        return ending.state

    @contextmanager
    def _turn(self) -> Generator[None]:
        """One run at a time on a machine: two would disturb each other's numbers."""
        with (self._folder.path.parent / ".turn.lock").open("w") as lock:
            while True:
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    self._board.state("queued", "Waiting for the run before it to end.")
                self._pause(0.5)
            yield

    def _prepare(self) -> None:
        self._board.state("starting", "Asking the endpoint one short question.")
        note_clocks(self._folder, "leader")
        run = prepare(self._plan, self._folder, self._crew, self._building)
        self._t0_ns = run["t0_mono_ns"]
        self._notes = run["notes"]
        self._board.notes(self._notes)
        self._caches = CacheWatch(self._plan, run)

    def _building(self, share: float, said: str) -> None:
        """How far the prompts are; others have their turn meanwhile."""
        if share >= 1 or time.monotonic() >= self._news_s:
            self._news_s = time.monotonic() + NEWS_EVERY_S
            self._board.state("starting", said)
        gevent.sleep(0)
        self._check()

    def _start_workers(self) -> None:
        self._say("Starting the load workers.")
        self._fleet.muster(self._need_machine(), self._say, self._pause)

    def _say(self, sentence: str) -> None:
        self._board.state("starting", " ".join([sentence, *self._notes]))

    def _level(self, stage: int, step: Step) -> None:
        load, machine = step.load, self._need_machine()
        self._board.state("running", f"Preparing {load.name}.")
        given = self._make_ready(stage, load)
        begin_ns = time.monotonic_ns() + HEAD_START_NS + machine.switchboard.head_start_ns()
        self._fleet.level_begins(stage, load, given, begin_ns)
        row = level_row(stage, step, (begin_ns - self._t0_ns) // 1000)
        self._board.stage(row, load)
        self._course.begin(stage, step)
        self._board.state("running", f"Measuring {load.name}{f', {step.why}' if step.why else ''}.")
        begin = {"stage": stage, "load": told(load), "begin_ns": begin_ns, "roles": given}
        most = {"quotas": level_quotas(load, given), "allowed": self._limits.begin(given)}
        machine.tell("begin", begin | most)
        try:
            ends = self._all_answer("ended", stage, self._tell_enough, followed(load, given))
        finally:
            self._fleet.level_ends()
            row.end_us = (time.monotonic_ns() - self._t0_ns) // 1000
            row.issue_end_us = row.end_us
            self._board.stage(row, load)
        row.issue_end_us = (max(e["issue_end_ns"] for e in ends) - self._t0_ns) // 1000
        row.end_us = (max(e["end_ns"] for e in ends) - self._t0_ns) // 1000
        self._board.stage(row, load)
        self._course.ended(row, self._fleet.alive, self._pause)
        self._limits.check(row.end_us or 0, self._fleet.alive, self._pause)

    def _make_ready(self, stage: int, load: Load) -> list[list[Role]]:
        """Users in their seats, workers warm: who does what.  Anew if a worker is lost meanwhile:
        the others carry the whole level."""
        while True:
            alive = self._fleet.alive
            seats = self._seat_users(users_wanted(self._plan, load, len(alive)), alive)
            if alive == self._fleet.alive:
                told_all = {"stage": stage, "load": told(load), "among": alive}
                self._need_machine().tell("warm", told_all)
                self._note_replay(stage, load, self._all_answer("warmed", stage))
            if alive == self._fleet.alive:
                return self._fleet.for_all(roles(self._plan, load, seats))

    def _note_replay(self, stage: int, load: Load, warmed: list[dict[str, Any]]) -> None:
        """Record what the workers, all alike, made of a level's trace."""
        made = next((one["replay"] for one in warmed if one.get("replay")), None)
        run = self._folder.read("run.json") or {}
        if made is None or (replays := with_replay(run.get("replay"), stage, made)) is None:
            return
        self._folder.write("run.json", {**run, "replay": replays})
        for note in made["notes"]:
            self._note(f"{load.name}: {note}")

    def _seat_users(self, wanted: int, alive: list[int]) -> list[int]:
        """Have so many Locust users; how many each worker got, if none was lost meanwhile."""
        told_s = 0.0
        while alive == self._fleet.alive and sum(self._seats.get(k, 0) for k in alive) != wanted:
            if time.monotonic() > told_s:  # again, for a message may have met a cut line
                told_s = time.monotonic() + SEATED_WITHIN_S
                self._need_machine().users(wanted)
            self._take_message(0.02)
        return [self._seats.get(k, 0) for k in alive]

    def _tell_enough(self, stage: int) -> None:
        if self._course.is_enough() or self._limits.is_enough():
            self._need_machine().tell("enough", {"stage": stage})

    def _all_answer(
        self,
        kind: str,
        stage: int,
        meanwhile: Callable[[int], None] = lambda _: None,
        enough_after: frozenset[int] = frozenset(),
    ) -> list[dict[str, Any]]:
        """One answer of each worker; once those of `enough_after` came, the others are stopped."""
        answers: dict[int, dict[str, Any]] = {}
        while not answers.keys() >= set(self._fleet.alive):
            meanwhile(stage)
            message = self._take_message(0.1)
            if message and message[0] == kind and message[1]["stage"] == stage:
                if message[1].get("problem"):
                    raise RunEnded("failed", message[1]["problem"])
                answers[message[1]["worker"]] = message[1]
                if enough_after and answers.keys() >= enough_after & set(self._fleet.alive):
                    self._need_machine().tell("enough", {"stage": stage})
        return list(answers.values())

    def _take_message(self, within_s: float) -> tuple[str, dict[str, Any]] | None:
        """The next message that is not a count; raises RunEnded if the run cannot go on."""
        self._check()
        try:
            kind, content = self._need_machine().inbox.get(timeout=within_s)
        except Empty:
            return None
        if kind == "seats":
            self._seats[content["worker"]] = content["seats"]
        elif kind == "pulse":
            self._board.pulse(content)
            self._limits.used.pulse(content)
            self._fleet.pulse(content)
        elif kind == "hopeless":
            if self._course.forgives(content["why"]):
                return None
            raise RunEnded("failed", f"{content['why']} What was measured until then is kept.")
        elif kind == "fault":
            raise RunEnded("failed", f"{content['why']} What was measured until then is kept.")
        elif kind == "failing":
            self._failing.add(content["worker"])
            if self._failing >= {k for k in self._fleet.alive if self._seats.get(k)}:
                raise StartFailed(content["why"], content["http_status"])
        else:
            return kind, content
        return None

    def _pause(self, seconds: float) -> None:
        self._check()
        self.stop.wait(seconds)
        self._check()

    def _check(self) -> None:
        if self.stop.is_set():
            raise RunEnded("stopped", "Stopped; what was measured until then is kept.")
        self._crew.mend_decoders()
        self._first_answers.look()
        self._fleet.look(self._note)

    def _note(self, sentence: str) -> None:
        """One more sentence on what the run's numbers lack."""
        self._notes.append(sentence)
        self._folder.write(
            "run.json", {**(self._folder.read("run.json") or {}), "notes": self._notes}
        )
        self._board.notes(self._notes)

    def _finish(self, ending: RunEnded) -> None:
        """End workers, let the decoders write down what is left, then say how it ended."""
        early = ending.state != "finished"
        self._board.state("stopping" if early else "decoding", ending.message)
        if self._machine is not None:
            if early:
                patience_s = LAST_WORDS_S if isinstance(ending, StartFailed) else 0.0
                self._machine.tell("cut", {"detail": _cut_detail(ending), "patience_s": patience_s})
                gevent.sleep(0.2 + patience_s)
            self._machine.tell("leave", {})
            self._crew.wait_workers(CUT_S if early else 10)
            if self._caches is not None and not early:  # a stop shall not wait for an answer
                self._caches.note(self._folder)
        self._crew.end()
        self._board.state("decoding", ending.message)  # ends decoders whose worker never began
        self._crew.wait_decoders(CUT_S if ending.state == "stopped" else DECODE_S)
        missing = self._fleet.bring_home(self._say_decoding, ending.state == "stopped")
        for sentence in [*missing, *self._fleet.account()]:
            self._note(sentence)
        ending = self._first_answers.explained(ending)
        self._board.state(ending.state, " ".join([ending.message, *keep_clocks(self._folder)]))

    def _say_decoding(self, sentence: str) -> None:
        self._board.state("decoding", sentence)

    def _need_machine(self) -> Machine:
        assert self._machine is not None
        return self._machine


def _cut_detail(ending: RunEnded) -> str:
    return "the run was stopped" if ending.state == "stopped" else "the run ended early"
