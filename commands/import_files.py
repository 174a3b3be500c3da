"""`headway import`: result files of other tools become runs here."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from commands.data_folder import data_folder
from commands.refusal import Failure, Refusal
from loadgen.explain_words import printable

KNOWN_WITHIN_S = 60.0
LONGEST_SENTENCE, LONGEST_NAME = 2000, 100
LOOK_AFTER_S, LOOK_AT_LEAST_S = 0.1, 0.5  # each look takes 3 ms of the store, which is at work


@click.command("import")
@click.argument(
    "files",
    metavar="FILE...",
    nargs=-1,
    required=True,
    type=click.Path(exists=True, path_type=Path),
)
def import_files(files: tuple[Path, ...]) -> None:
    """Read result files of other tools, and runs that another Headway exported, into runs.

    vLLM bench, GuideLLM, AIPerf, SGLang, llmperf and inference-perf are told by what is in a file;
    files that belong together are found beside each other.  Of a folder, every result file in it
    is read, and folders within are not.  Request logs to send again are traces, not results:
    docs/traces.md.  A file that was imported before is not imported again.
    """
    from storage.client import Store
    from storage.exchange.importing import import_file
    from storage.exchange.removed import removed_here
    from storage.exchange.source import ImportProblem, NoResultFile

    data = data_folder()
    store = Store.connect(data)  # it wakes up while files are read
    problems: list[str] = []
    found: dict[str, bool] = {}
    for path, is_asked in _asked(files):
        try:
            runs = import_file(path, data)
        except ImportProblem as problem:
            if is_asked or not isinstance(problem, NoResultFile):
                problems.append(str(problem))
            continue
        for run in runs:
            if run.run_uid not in found:  # the second file of a pair brings the same run
                found[run.run_uid] = run.is_new
                gone = "" if run.is_new else removed_here(store.ask_arrow, run.run_uid)
                said = printable(f"{run.sentence} {gone}".rstrip(), LONGEST_SENTENCE)
                click.echo(f"{said}\n  run {run.run_uid}: {printable(run.name, LONGEST_NAME)}")
    try:
        _wait(store, [uid for uid, is_new in found.items() if is_new])
    finally:
        store.close()
    if problems:
        raise Refusal("\n".join(problems))
    if not found:
        raise Refusal(
            f"There is no result file in {', '.join(map(str, files))}; folders within are not "
            "looked into, and request logs to send again are traces: docs/traces.md."
        )


def _asked(files: tuple[Path, ...]) -> Iterator[tuple[Path, bool]]:
    """Each file, and whether it was named; of a folder those in it, which may be anything."""
    from storage.exchange.own_zip import is_folder

    for path in files:
        if path.is_dir() and not is_folder(path):
            yield from ((inner, False) for inner in sorted(path.iterdir()) if inner.is_file())
        else:
            yield path, True


def _wait(store: Any, uids: list[str]) -> None:
    """Until the tables hold every run: the next command of a script may ask at once."""
    deadline = time.monotonic() + KNOWN_WITHIN_S
    waiting, pause_s = list(uids), LOOK_AFTER_S
    while waiting:
        known = store.ask_arrow("run", run=waiting[0]).to_pylist()  # no pandas: 0.4 s of CPU
        if known and known[0]["state"] == "finished":
            waiting.pop(0)
        elif time.monotonic() > deadline:
            trouble = (
                store.ask_arrow("store").to_pylist()[0]["trouble"]
                or "the store is busy; it goes on."
            )
            raise Failure(f"{len(waiting)} imported runs are not in the tables yet: {trouble}")
        else:
            time.sleep(pause_s)
            pause_s = min(1.3 * pause_s, LOOK_AT_LEAST_S)
