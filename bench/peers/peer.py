"""What a tool under comparison is: how it is installed, started and read.

Only the standard library here and in the tools' own files: the peers' environments import them too.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

PROMPT_WORDS = "say the words in order, one after another, and nothing else."
PROMPT_BYTES = 90  # and tokens: the tokenizer of tokenizer.py knows bytes


@dataclass(frozen=True, slots=True)
class Load:
    """One closed level: `concurrency` streams in flight until `requests` were answered."""

    url: str  # the server's root, without /v1
    model: str
    concurrency: int
    requests: int
    n_tokens: int  # of each answer
    tokenizer: Path  # a folder for AutoTokenizer.from_pretrained
    folder: Path  # the tool's own, empty at its start; its result file goes there

    def prompts(self) -> list[str]:
        """One for each request, no two alike, all of PROMPT_BYTES bytes."""
        numbered = (f"Request {i} of this load: {PROMPT_WORDS}" for i in range(self.requests))
        return [p.ljust(PROMPT_BYTES, ".") for p in numbered]


@dataclass(frozen=True, slots=True)
class Spread:
    """Three numbers of one distribution, ms; None: the tool does not tell it."""

    mean: float | None
    p50: float | None
    p99: float | None


@dataclass(frozen=True, slots=True)
class Reported:
    """What a tool says of its run.  None: it has no such metric, or no value for it."""

    requests: int  # answered, by its own count
    ttft: Spread | None
    gaps: Spread | None  # between successive chunks, pooled over all requests
    per_token: Spread | None  # one mean per request: (last - first token) ÷ (tokens - 1)
    window_ns: tuple[int, int] | None = None  # monotonic; only requests sent within are in it
    remark: str = ""  # what it says itself of how far it may be believed


class ResultError(ValueError):
    """The tool ended without the result it owes; the message says what is missing."""


def _nothing(_environment: Path) -> None:
    pass


@dataclass(frozen=True, slots=True)
class Peer:
    """One tool.  `gaps_name`, `per_token_name`: what it calls them itself, empty if it has none."""

    name: str
    version: str
    program: str  # in the environment's bin folder
    arguments: Callable[[Load], list[str]]  # also writes the input files it names
    read: Callable[[Load], Reported]  # raises ResultError, OSError
    gaps_name: str
    per_token_name: str
    env: dict[str, str] = field(default_factory=dict[str, str])
    pip_options: tuple[str, ...] = ()
    finish: Callable[[Path], None] = _nothing  # what pip leaves undone in the environment


def value(result: dict[str, Any], *path: str) -> Any:
    """result[path[0]][path[1]]…; raises ResultError naming the key that is missing."""
    found: Any = result
    for i, key in enumerate(path):
        if not isinstance(found, dict) or key not in found:
            raise ResultError(f"its result has no {'.'.join(path[: i + 1])}")
        found = found[key]
    return found


def spread(result: dict[str, Any] | None, keys: tuple[str, str, str], per_ms: float = 1) -> Spread:
    """Mean, p50 and p99 under `keys`, divided by `per_ms` (0.001 for values in seconds)."""
    told = [(result or {}).get(key) for key in keys]
    mean, p50, p99 = (None if x is None else float(x) / per_ms for x in told)
    return Spread(mean, p50, p99)


def error(true: Spread, told: Spread) -> Spread:
    """|reported − true| of each of the three; None where one of the two is not told."""
    pairs = ((true.mean, told.mean), (true.p50, told.p50), (true.p99, told.p99))
    return Spread(*(None if a is None or b is None else abs(b - a) for a, b in pairs))
