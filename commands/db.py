"""`headway db`: is the database whole, and how it becomes smaller, tidier, or is there twice."""

import math
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from commands.amounts import count, size
from commands.data_folder import data_folder
from commands.refusal import MISSED, Refusal
from commands.show import find_run
from loadgen.explain_words import printable
from loadgen.launch import reconcile, running
from storage.exchange.removed import removed_on

if TYPE_CHECKING:
    import pandas as pd

LONGEST_SENTENCE, LONGEST_NAME = 2000, 100
MARKS = {"ok": ("ok  ", "green"), "note": ("note", "yellow"), "fault": ("BAD ", "red")}


class Amount(click.FloatRange):
    """A number from 0 on; nan and inf are none."""

    def __init__(self) -> None:
        super().__init__(min=0)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The number, or click's own usage error."""
        told = super().convert(value, param, ctx)
        if not math.isfinite(told):
            self.fail(f"{value!r} is no amount; expected a number from 0 on.", param, ctx)
        return told


@click.group()
def db() -> None:
    """Look after the database: all of it by SQL, whether the dashboard is up or not.

    Its file must not be opened or copied by other programs while Headway runs; `backup` copies it.
    """


@db.command()
def check() -> None:
    """Read everything, verify checksums, and see whether tables and folders agree.

    Exit code: 0 nothing is wrong, 1 something is.
    """
    with _idle_store() as store:
        found = store.do("check")
    for level, sentence in zip(found["level"], found["sentence"], strict=True):
        mark, colour = MARKS[level]
        click.echo(f"{click.style(mark, fg=colour)} {printable(sentence, LONGEST_SENTENCE)}")
    if (found["level"] == "fault").any():
        sys.exit(MISSED)


@db.command()
def compact() -> None:
    """Close runs that are over, tidy summaries, write the log into the file."""
    with _idle_store() as store:
        told = store.do("compact").iloc[0]
    click.echo(
        f"Closed {count(told['n_closed'], 'run')}; {told['rows_before']:,} rows of summaries are "
        f"{told['rows_after']:,} now; log and loaded segments gave back "
        f"{size(told['freed_bytes'])}."
    )
    if told["unused_bytes"] > 1 << 20:
        click.echo(
            f"{size(told['unused_bytes'])} of the file are unused: later runs use them, "
            "`headway db vacuum` gives them back."
        )


@db.command()
def vacuum() -> None:
    """Rewrite the file without its holes; needs room for a second one meanwhile."""
    with _idle_store() as store:
        told = store.do("vacuum").iloc[0]
    before, after = told["before_bytes"], told["after_bytes"]
    click.echo(
        f"The file has {size(after)} now; it had {size(before)}."
        if after < before
        else f"The file has no holes to speak of: it stays at {size(before)}."
    )


@db.command()
@click.argument("path", type=click.Path(path_type=Path))
def backup(path: Path) -> None:
    """Copy the database to PATH, a new file that any DuckDB 2 opens.

    To go back to it: end Headway, move DATA/headway.duckdb and its .wal away, put the copy there.
    """
    with _idle_store() as store:
        told = store.do("backup", path=str(path.absolute())).iloc[0]
    click.echo(f"{told['path']}: {size(told['n_bytes'])}.")


@db.command("drop-raw")
@click.argument("runs", nargs=-1, metavar="[RUN]...")
@click.option("--older-than", type=Amount(), metavar="DAYS", help="Runs ended before.")
@click.option("--keep-newest", type=click.IntRange(0), metavar="N", help="All but N runs.")
@click.option("--keep-gb", type=Amount(), metavar="X", help="All but the newest X GB.")
@click.option("--dry-run", is_flag=True, help="Only say what would go.")
def drop_raw(runs: tuple[str, ...], dry_run: bool, **kept: float | None) -> None:
    """Remove the token events of runs; requests, summaries and exact answers stay.

    Token events are nearly all of the database. What a page shows of a run stays; single tokens of
    a request, and new exact questions, do not.
    """
    from analysis.retention import drop

    if bool(runs) + sum(value is not None for value in kept.values()) != 1:
        raise Refusal(
            "Name runs, or give one of --older-than, --keep-newest and --keep-gb: "
            "headway db drop-raw --older-than 30 --dry-run"
        )
    with _idle_store() as store:
        chosen = _chosen(store, runs, kept)
        if not len(chosen):
            click.echo("No run has token events that would go.")
            return
        for run in chosen.to_dict("records"):
            click.echo(
                f"{run['run_uid']}  {_named(run['name'])}: "
                f"{count(run['n_events'], 'token event')}, about {size(run['n_bytes'])}"
            )
        if dry_run:
            click.echo(
                f"Nothing was removed; it would free {size(sum(chosen['n_bytes'].tolist()))}."
            )
            return
        n_events = drop(store.ask, store.do, list(chosen["run_uid"]))
    click.echo(
        f"Removed {count(n_events, 'token event')}. The file keeps its size: later runs use the "
        "room, `headway db vacuum` gives it back."
    )


@db.command()
@click.argument("run")
@click.option("--yes", is_flag=True, help="Do not ask.")
def delete(run: str, yes: bool) -> None:
    """Remove RUN altogether: its rows, its folder, everything.  Exit code 2 if you say no."""
    with _idle_store() as store:
        uid = find_run(store, run)
        name = _named(store.ask("run", run=uid)["name"].iloc[0])
        if not yes and not _agreed(f"Delete run {uid} ({name}) for ever?"):
            raise Refusal("Nothing was removed.")
        told = store.do("delete_run", run=uid).iloc[0]
    click.echo(
        f"Deleted {count(told['n_requests'], 'request')} and "
        f"{count(told['n_events'], 'token event')} of {uid}."
    )


def _named(name: str) -> str:
    return printable(name, LONGEST_NAME)


def _agreed(question: str) -> bool:
    try:
        return click.confirm(question)
    except click.Abort:  # Ctrl-C, or nobody is there to answer
        click.echo("", err=True)
        return False


@contextmanager
def _idle_store() -> Generator[Any]:
    """The data folder's store while nothing is measured; Refusal while something is."""
    from storage.client import Store

    data = data_folder()
    reconcile(data)
    if going_on := running(data):
        raise Refusal(
            f"Run {going_on[0]} goes on, and this would disturb it; try again when it has ended."
        )
    store = Store.connect(data)
    try:
        yield store
    finally:
        store.close()


def _chosen(store: Any, runs: tuple[str, ...], kept: dict[str, float | None]) -> "pd.DataFrame":
    from analysis.retention import Policy, to_drop

    sizes = store.ask("raw_sizes")
    if not runs:
        gigabytes = kept["keep_gb"]
        newest = kept["keep_newest"]
        wanted = Policy(
            days=kept["older_than"],
            newest=None if newest is None else int(newest),
            n_bytes=None if gigabytes is None else gigabytes * 1e9,
        )
        return to_drop(sizes, wanted, time.time_ns())
    uids = [find_run(store, run) for run in runs]
    for uid in set(uids) - set(sizes["run_uid"]):
        raise Refusal(_why_not(store, uid))
    return sizes.loc[sizes["run_uid"].isin(uids)]


def _why_not(store: Any, uid: str) -> str:
    if day := removed_on(store.ask_arrow, uid):
        return f"The token events of run {uid} were removed on {day} already."
    if store.ask_arrow("run", run=uid).to_pylist()[0]["is_final"]:
        return f"Run {uid} has no token events."
    return f"Run {uid} has not ended, or is not stored whole yet; try again in a moment."
