"""Start a run, tell how it goes, wait until it is stored, print it, leave with its exit code."""

import json
import shutil
import signal
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from commands.data_folder import data_folder
from commands.exit_code import exit_code
from commands.progress import Progress
from commands.refusal import FAILED, Failure, Refusal
from loadgen import launch
from loadgen.explain_words import printable
from loadgen.limits import raise_open_files
from loadgen.plan import Plan
from loadgen.run_ended import ENDED_BY
from loadgen.run_folder import runs_folder, terminal
from storage.live import LiveTail

if TYPE_CHECKING:  # it brings pandas, which half of the commands do not need
    from storage.client import Store

LOOK_EVERY_S = 0.25
LINE_EVERY_S = 1.0
STORED_WITHIN_S = 120
LONGEST_MESSAGE = 2_000
TROUBLE_LASTS_S = 8  # a trouble of the store that is still there then is why


def measure(plan: Plan, json_file: Path | None) -> NoReturn:
    """The whole of `run` and `quick` after their words have become a plan."""
    from storage.client import Store

    data = data_folder()
    if json_file and not json_file.absolute().parent.is_dir():
        raise Refusal(f"{json_file} cannot be written: its folder does not exist; make it first.")
    raise_open_files()
    store = Store.connect(data)  # before the load: a store that cannot be had must not cost a run
    try:
        _say_what_it_is_enough_for(plan, store)
        with _sigterm_as_ctrl_c():
            run_uid = _run(plan, data)
            _until_stored(store, run_uid)
        if not json_file and not len(store.ask("stages", run=run_uid)):
            sys.exit(FAILED)  # it ended before its first level, and has said why
        document = _show(store, run_uid)
    finally:
        store.close()
    if json_file:
        json_file.write_text(json.dumps(document, indent=1) + "\n")
    sys.exit(exit_code(document))


def _say_what_it_is_enough_for(plan: Plan, store: "Store") -> None:
    """Before the load, when the plan can still be changed; nothing where levels are not known."""
    from analysis.forecast_advice import level_advice
    from analysis.sample_size import earlier_spread
    from loadgen.forecast_levels import forecast_levels

    try:
        levels = list(forecast_levels(plan))
    except (ValueError, OSError):  # a file of the load: starting the run says what is wrong with it
        return
    spread = earlier_spread(store.ask, plan.target.url, plan.target.model)
    for said in level_advice(levels, [one.name for one in plan.traffic()], spread):
        click.echo(said, err=True)


def _run(plan: Plan, data: Path) -> str:
    """The run_uid, once the run has ended and, if not as planned, why has been said."""
    run_uid = launch.start(plan, data)
    click.echo(f"{plan.name}: {plan.target.url}, run {run_uid}", err=True)
    status = _until_ended(data, run_uid)
    if status["state"] != "finished" or status["message"].startswith(ENDED_BY):
        click.echo(f"Run {status['state']}: {status['message']}", err=True)
    return run_uid


def _show(store: "Store", run_uid: str) -> dict[str, Any]:
    from analysis.show import show
    from analysis.text import text

    document = show(store.ask, run_uid)
    if document["levels"]:
        click.echo(text(document), nl=False)
    return document


def _until_ended(data: Path, run_uid: str) -> dict[str, Any]:
    """The final status.  Ctrl-C stops the run and keeps its data; a second one leaves at once."""
    try:
        return _follow(data, run_uid)
    except KeyboardInterrupt:
        click.echo("\nStopping; what was measured is kept. Ctrl-C again leaves at once.", err=True)
        launch.stop(data, run_uid)
        return _follow(data, run_uid)


def _follow(data: Path, run_uid: str) -> dict[str, Any]:
    tail, progress = LiveTail(runs_folder(data) / run_uid), Progress()
    say = _Ticker() if sys.stderr.isatty() else _StageLines()
    while True:
        status = followed(data, run_uid)
        progress.add(tail.read())
        say(status, progress.line(status))
        if terminal(status["state"]):
            return status
        time.sleep(LOOK_EVERY_S)


def followed(data: Path, run_uid: str) -> dict[str, Any]:
    """The run's status; an endpoint's words in its message must not steer the terminal."""
    status = launch.state(data, run_uid)
    return {**status, "message": printable(status["message"], LONGEST_MESSAGE)}


class _Ticker:
    """One line on a terminal, written over each second."""

    def __init__(self) -> None:
        self._next_s = 0.0
        self._width = 0

    def __call__(self, status: dict[str, Any], line: str) -> None:
        ended = terminal(status["state"])
        if not ended and time.monotonic() < self._next_s:
            return
        self._next_s = time.monotonic() + LINE_EVERY_S
        shown = "" if ended else line[: shutil.get_terminal_size().columns - 1]
        click.echo("\r" + shown.ljust(self._width), nl=False, err=True)
        if ended:
            click.echo("\r", nl=False, err=True)
        self._width = len(shown)


class _StageLines:
    """Where nobody watches: a line for each state, and for each level once it has ended."""

    def __init__(self) -> None:
        self._at: tuple[str, int] = ("", -1)
        self._level_line = ""

    def __call__(self, status: dict[str, Any], line: str) -> None:
        at = (status["state"], status["stage"])
        if at != self._at and self._level_line:
            click.echo(self._level_line, err=True)
            self._level_line = ""
        if status["state"] == "running":
            self._level_line = line if status["stage_name"] else ""
        elif at != self._at and not terminal(status["state"]):
            click.echo(status["message"], err=True)
        self._at = at


def _until_stored(store: "Store", run_uid: str) -> None:
    deadline = time.monotonic() + STORED_WITHIN_S
    while True:
        rows = store.ask("run", run=run_uid)
        if len(rows) and terminal(rows["state"].iloc[0]):
            return
        left_s = deadline - time.monotonic()
        trouble = store.ask("store")["trouble"].iloc[0]
        if trouble and left_s < STORED_WITHIN_S - TROUBLE_LASTS_S:
            raise Failure(
                f"Run {run_uid} has ended and lies in its folder, but the store takes nothing in: "
                f"{trouble} Then: headway show last."
            )
        if left_s < 0:
            raise Failure(
                f"Run {run_uid} has ended, but the store did not take it in within "
                f"{STORED_WITHIN_S} s; see store.log in the data folder, then headway show last."
            )
        time.sleep(0.1)


@contextmanager
def _sigterm_as_ctrl_c() -> Generator[None]:
    """A cancelled CI job ends the run as Ctrl-C does, instead of leaving the load behind."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
