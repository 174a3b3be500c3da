"""What every worker needs to make prompts: built once by the leader, saved in the run's folder.

Memory per worker: a pool of 32,768 tokens for each endpoint (half a MB), 16 bytes for each prompt
of a file; the prompts themselves stay in a mapped file.
"""

import json
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from loadgen.plan import Plan
from loadgen.plan_workload import Workload
from loadgen.prompts.counting import WordCounter
from loadgen.prompts.file_stock import FileStock
from loadgen.prompts.stock import Stock, make_stock
from loadgen.prompts.synthetic import MOST_TURNS, Numbering, Synthetic

FOLDER = "material"
CONTENTS = "material.json"
Ints = NDArray[np.int64]
_GOLDEN = (5**0.5 - 1) / 2


class Ask(NamedTuple):
    """Which prompt.  number: of the request or conversation, within its level and class.

    tokens: of the whole prompt, its shared prefix or blocks included.  blocks: ids of a trace's
    prefix blocks, each with its tokens.
    """

    level: int
    traffic: int
    number: int
    tokens: int
    turn: int = 0
    prefix_group: int | None = None
    blocks: Sequence[tuple[int, int]] = ()


class Prompt(NamedTuple):
    """What is sent.  messages: instead of one user message of `text`.

    tokens: as counted beforehand, None if nobody could.  output_tokens: None as the plan draws.
    prompt_no: identity of a prompt that comes again, None for one that is sent once.
    """

    text: str
    messages: list[dict[str, Any]] | None
    tokens: int | None
    output_tokens: int | None = None
    prompt_no: int | None = None


class Material:
    """Prompts by level, class and number: the same in every worker of a run."""

    def __init__(
        self,
        plan: Plan,
        salt: str,
        stocks: Sequence[Stock | None],
        files: Sequence[FileStock | None],
    ) -> None:
        """stocks, files: for each class of the plan's traffic one of them is not None."""
        made: dict[int, Synthetic] = {}
        self._classes: list[_Class | _FromFile] = []
        for i, (traffic, stock, file) in enumerate(zip(plan.traffic(), stocks, files, strict=True)):
            if file is not None:
                self._classes.append(_FromFile(traffic.workload, plan.seed, i, file))
                continue
            assert stock is not None
            if id(stock) not in made:
                made[id(stock)] = stock.synthetic(salt)
            self._classes.append(_Class(traffic.workload, i, made[id(stock)]))

    def prompt(self, ask: Ask) -> Prompt:
        """One prompt, in microseconds; of a file, in the time its JSON takes."""
        return self._classes[ask.traffic].prompt(ask)

    def turns(self, level: int, traffic: int, numbers: Ints) -> Ints | None:
        """Turns of conversations whose file says how many; None: as the plan draws."""
        return self._classes[traffic].turns(level, numbers)


class _Class:
    """Synthetic prompts of one class."""

    def __init__(self, workload: Workload, traffic: int, synthetic: Synthetic) -> None:
        self._is_unique = workload.unique_prompts
        self._prefix_tokens = workload.prefix.tokens if workload.prefix else 0
        self._synthetic = synthetic
        self._traffic = traffic
        self._same = Numbering("equal", 0, traffic)(0)
        self._prefix, self._block = (Numbering(kind, 0, traffic) for kind in ("prefix", "block"))
        self._level = 0
        self._first = Numbering("prompt", 0, traffic)
        self._later = Numbering("turn", 0, traffic)

    def prompt(self, ask: Ask) -> Prompt:
        """Prefix or blocks, then what is its own."""
        number, tokens = self._number(ask), ask.tokens
        if ask.blocks:
            blocks = [(self._block(block), n) for block, n in ask.blocks]
            rest = max(0, tokens - sum(n for _, n in blocks))
            return Prompt(self._synthetic.of_blocks(blocks, number, rest), None, tokens)
        no = None if self._is_unique else 0
        if ask.prefix_group is None or ask.turn or not self._prefix_tokens:
            return Prompt(self._synthetic.text(number, tokens), None, tokens, None, no)
        prefix = (self._prefix(ask.prefix_group), self._prefix_tokens)
        return Prompt(self._synthetic.with_prefix(prefix, number, tokens), None, tokens, None, no)

    def turns(self, level: int, numbers: Ints) -> None:
        """As the plan draws."""
        del level, numbers

    def _number(self, ask: Ask) -> int:
        if not self._is_unique and not ask.turn:
            return self._same
        if ask.level != self._level:
            self._level = ask.level
            self._first = Numbering("prompt", ask.level, self._traffic)
            self._later = Numbering("turn", ask.level, self._traffic)
        if ask.turn:
            return self._later(ask.number * MOST_TURNS + ask.turn)
        return self._first(ask.number)


class _FromFile:
    """A file's prompts, over and over.

    Each level begins elsewhere in the file, as far from where others began as can be: so it does
    not send again what the level before has put into the cache, if the file has enough.
    """

    def __init__(self, workload: Workload, seed: int, traffic: int, file: FileStock) -> None:
        assert workload.file is not None
        self._file = file
        self._order: Ints | None = None
        if workload.file.order == "shuffled":
            self._order = np.random.default_rng([seed, traffic]).permutation(len(file))

    def prompt(self, ask: Ask) -> Prompt:
        """The entry whose turn it is, as it is."""
        number = self._entry(ask.level, ask.number)
        text, messages, tokens, output_tokens = self._file.prompt(number, ask.turn)
        return Prompt(text, messages, tokens, output_tokens, number)

    def turns(self, level: int, numbers: Ints) -> Ints:
        """Those of the entries."""
        at = (self._start(level) + numbers) % len(self._file)
        return self._file.turns[at if self._order is None else self._order[at]].astype(np.int64)

    def _entry(self, level: int, number: int) -> int:
        at = (self._start(level) + number) % len(self._file)
        return at if self._order is None else int(self._order[at])

    def _start(self, level: int) -> int:
        return int(level * _GOLDEN % 1 * len(self._file))


def assumed(plan: Plan, salt: str) -> Material:
    """One word is one token, for all classes; no files.  For who has no run's folder."""
    n = len(plan.traffic())
    return Material(plan, salt, [_of_words(plan.seed)] * n, [None] * n)


@lru_cache(maxsize=4)
def _of_words(seed: int) -> Stock:
    return make_stock(WordCounter(), seed)


def save(
    folder: Path, salt: str, stocks: Sequence[Stock | None], files: Sequence[str | None]
) -> None:
    """Beside the files' prompts, which lie in `folder` already.  Equal stocks are written once."""
    once = list({id(stock): stock for stock in stocks if stock is not None}.values())
    places = {id(stock): i for i, stock in enumerate(once)}
    for i, stock in enumerate(once):
        (folder / f"stock-{i}.json").write_text(json.dumps(stock.to_json()))
    contents = {"salt": salt, "stocks": [places.get(id(s)) for s in stocks], "files": list(files)}
    (folder / CONTENTS).write_text(json.dumps(contents))


def made_files(run_folder: Path) -> list[str]:
    """Whole paths of what was saved there, for workers that see another disk."""
    return sorted(str(path.absolute()) for path in (run_folder / FOLDER).glob("*"))


def load(run_folder: Path, plan: Plan) -> Material:
    """What the leader saved in the run's folder."""
    folder = run_folder / FOLDER
    contents = json.loads((folder / CONTENTS).read_bytes())
    stocks: dict[int | None, Stock] = {
        i: Stock.from_json(json.loads((folder / f"stock-{i}.json").read_bytes()))
        for i in set(contents["stocks"])
        if i is not None
    }
    files = {name: FileStock(folder, name) for name in set(contents["files"]) if name is not None}
    return Material(
        plan,
        contents["salt"],
        [stocks.get(i) for i in contents["stocks"]],
        [files.get(name) for name in contents["files"]],
    )
