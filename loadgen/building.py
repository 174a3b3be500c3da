"""The leader's part of the prompts: built, checked and saved before the clock starts."""

import re
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from loadgen.counters import stock_of, tokenizer_of
from loadgen.plan import MAIN_TARGET, ClosedLoop, OpenLoop, Plan
from loadgen.plan_parts import PlanError
from loadgen.plan_problem import workload_at
from loadgen.plan_workload import PromptFile
from loadgen.prompts.counting import WordCounter
from loadgen.prompts.entries import Entry
from loadgen.prompts.file_entries import file_entries
from loadgen.prompts.file_stock import Count, write_stock
from loadgen.prompts.material import FOLDER, save
from loadgen.prompts.stock import Progress, Stock
from loadgen.prompts.tokenizer_counter import TokenizerCounter
from loadgen.run_folder import RunFolder

USUAL_MOST_PROMPTS = 100_000
"""So many of a file are kept where nobody knows how many requests there will be."""
SPARE = 4
"""Where it is known, so many times as many are kept: each level begins elsewhere among them."""
LEAST_MOST_PROMPTS = 1_000
NEWS_EVERY = 100
WORKLOAD_FILE = re.compile(r"(?<![\w./-])workload\.file\b")  # a field, and no part of a path

Told = dict[str, Any]
Done = Callable[[float], None]
"""Told how much of one class is done, 0 to 1."""


def build(plan: Plan, run: dict[str, Any], folder: RunFolder, progress: Progress) -> Told:
    """Write the run's material; what run.json says of each class's prompts, by the class's name.

    Raises PlanError.  progress is called between pieces of work of some ten milliseconds.
    """
    place = folder.path / FOLDER
    place.mkdir(exist_ok=True)
    stocks: dict[tuple[str, str], Stock] = {}
    made: list[Stock | None] = []
    files: list[str | None] = []
    told: Told = {}
    for i, one in enumerate(plan.traffic()):
        done = _part(progress, i, len(plan.traffic()))
        between = partial(done, 0.5)
        tokenizer = tokenizer_of(plan, i, between)
        if one.workload.file is not None:
            files.append(f"prompts-{i}")
            made.append(None)
            with _named(workload_at(plan, i)):
                told[one.name] = _keep_file(plan, i, place / f"prompts-{i}", tokenizer, done)
        else:
            key = (one.target or MAIN_TARGET, one.workload.count_by)
            if key not in stocks:
                stocks[key] = stock_of(plan, run, i, tokenizer, between)
            files.append(None)
            made.append(stocks[key])
            told[one.name] = asdict(stocks[key].facts)
        done(1)
    save(place, folder.run_uid, made, files)
    return told


@contextmanager
def _named(where: str) -> Generator[None]:
    """Have what is said of workload.file name the class whose workload it is."""
    try:
        yield
    except PlanError as error:
        told = [WORKLOAD_FILE.sub(f"{where}.file", problem) for problem in error.problems]
        raise PlanError(told) from None


def _part(progress: Progress, index: int, n: int) -> Done:
    """The progress of the `index`-th of `n` classes as a part of the whole."""

    def done(share: float) -> None:
        whole = (index + share) / n
        progress(whole, f"Building prompts: {whole:.0%}.")

    done(0)
    return done


def _keep_file(
    plan: Plan, traffic: int, place: Path, tokenizer: TokenizerCounter | None, done: Done
) -> Told:
    """Write a class's prompt file down as `place`.jsonl and .npy; raises PlanError."""
    work = plan.traffic()[traffic].workload
    assert work.file is not None
    by, count = _counting(work.count_by, tokenizer)
    skipped: list[str] = []
    entries = file_entries(work.file, lambda where, why: skipped.append(f"{where} {why}"))
    written = write_stock(
        place.parent, place.name, _watched(entries, work.file, done), count, _most(plan)
    )
    if not written.n:
        first = f" {skipped[0]}." if skipped else ""
        raise PlanError([f"workload.file: {work.file.path} holds no prompts.{first}"])
    notes: list[str] = []
    if written.is_cut:
        notes.append(
            f"{work.file.path} holds more prompts than the {written.n:,} first ones, which are "
            "used."
        )
    if skipped:
        notes.append(
            f"{len(skipped):,} broken conversations of {work.file.path} were skipped, the first: "
            f"{skipped[0]}."
        )
    if by is None:
        notes.append(
            f"Nobody counted the tokens of {work.file.path}; name a target.tokenizer to have it "
            "done."
        )
    return {
        "counted_by": by,
        "file": work.file.path,
        "prompts": written.n,
        "skipped": len(skipped),
        "overhead_tokens": None,
        "note": " ".join(notes) or None,
    }


def _counting(by: str, tokenizer: TokenizerCounter | None) -> tuple[str | None, Count]:
    """Who counts a file's prompts: no server is asked once for each of them."""
    if tokenizer is not None:
        return tokenizer.by, tokenizer.count_all
    return ("words", WordCounter().count_all) if by == "words" else (None, None)


def _most(plan: Plan) -> int:
    """How many of a file's prompts are worth keeping."""
    asked = [s.requests for s in plan.stages if isinstance(s, ClosedLoop | OpenLoop)]
    known = sum(n for n in asked if n is not None) * SPARE
    is_known = len(asked) == len(plan.stages) and None not in asked
    return max(known, LEAST_MOST_PROMPTS if is_known else USUAL_MOST_PROMPTS)


def _watched(entries: Iterator[Entry], file: PromptFile, done: Done) -> Iterator[Entry]:
    """The entries; progress is taken from the share of the file's bytes that they are."""
    n_chars, whole = 0, 1
    for i, entry in enumerate(entries):
        if i == 0:
            whole = Path(file.path).expanduser().stat().st_size or 1
        n_chars += sum(map(len, entry.texts()))
        if i % NEWS_EVERY == 0:
            done(min(1.0, n_chars / whole))
        yield entry
