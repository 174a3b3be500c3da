"""The prompts of a file as a run keeps them: written once, read one by one from a mapped file.

Layout: NAME.jsonl has one JSON object per prompt, {"t": turns} or {"m": messages} with "n", the
tokens of each turn, and "o", the tokens of its answer (null: unknown); NAME.npy has two rows: where
each line begins and, at last, where all end; and the turns of each.
"""

import mmap
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import orjson

from loadgen.prompts.entries import Entry

COUNTED_AT_ONCE = 256
COUNTED_CHARS = 1_000_000
MOST_BYTES = 1024 * 1024 * 1024

Count = Callable[[Sequence[str]], list[int]] | None
"""Counts the tokens of texts; None: nobody can, without a request for each."""


class FilePrompt(NamedTuple):
    """One turn of an entry.  tokens, output_tokens: None if unknown."""

    text: str
    messages: list[dict[str, Any]] | None
    tokens: int | None
    output_tokens: int | None


@dataclass(frozen=True, slots=True)
class Written:
    """How many prompts were kept; is_cut: the file has more."""

    n: int
    is_cut: bool


class FileStock:
    """Prompts by number; one look-up costs a JSON document of the prompt's size.

    turns: how many each entry has; messages are one.
    """

    def __init__(self, folder: Path, name: str) -> None:
        begins, turns = np.load(folder / f"{name}.npy")
        self._begins: array[int] = array("Q", begins.tobytes())
        self.turns = turns[:-1]
        self._lines = _mapped(folder / f"{name}.jsonl")

    def __len__(self) -> int:
        return len(self._begins) - 1

    def prompt(self, number: int, turn: int = 0) -> FilePrompt:
        """One turn of an entry, which go round where there are fewer."""
        entry = self._entry(number)
        turn %= len(entry["n"])
        text = entry["t"][turn] if "t" in entry else ""
        return FilePrompt(text, entry.get("m"), entry["n"][turn], entry["o"][turn])

    def _entry(self, number: int) -> dict[str, Any]:
        return orjson.loads(self._lines[self._begins[number] : self._begins[number + 1]])


def write_stock(
    folder: Path, name: str, entries: Iterable[Entry], count: Count, most: int
) -> Written:
    """Write the first `most` entries, or a GiB of them; then the others are not read."""
    begins, turns = array("Q", [0]), array("Q")
    is_cut = False
    with (folder / f"{name}.jsonl").open("wb") as lines:
        for line, n_turns in _lines(entries, count):
            is_cut = len(begins) > most or begins[-1] + len(line) > MOST_BYTES
            if is_cut:
                break
            lines.write(line)
            begins.append(begins[-1] + len(line))
            turns.append(n_turns)
    np.save(folder / f"{name}.npy", np.array([begins, [*turns, 0]], np.uint64))
    return Written(len(begins) - 1, is_cut)


def _lines(entries: Iterable[Entry], count: Count) -> Iterator[tuple[bytes, int]]:
    """Each entry's line, and how many turns it has."""
    for some in _batches(entries):
        texts = [text for entry in some for text in entry.texts()]
        replies = [reply for entry in some for reply in entry.outputs if isinstance(reply, str)]
        every = [*texts, *replies]
        counted = iter(count(every) if count else [None] * len(every))
        tokens = [[next(counted) for _ in entry.texts()] for entry in some]
        for entry, n in zip(some, tokens, strict=True):
            outputs = [next(counted) if isinstance(o, str) else o for o in entry.outputs]
            said = {"t": entry.turns} if entry.messages is None else {"m": entry.messages}
            yield orjson.dumps({**said, "n": n, "o": outputs}) + b"\n", len(n)


def _batches(entries: Iterable[Entry]) -> Iterator[list[Entry]]:
    """A tokenizer counts many at once on all cores; but so few that memory stays bounded."""
    some: list[Entry] = []
    n_chars = 0
    for entry in entries:
        some.append(entry)
        n_chars += sum(map(len, entry.texts()))
        if len(some) == COUNTED_AT_ONCE or n_chars > COUNTED_CHARS:
            yield some
            some, n_chars = [], 0
    if some:
        yield some


def _mapped(path: Path) -> "mmap.mmap | bytes":
    if path.stat().st_size == 0:
        return b""
    with path.open("rb") as file:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
