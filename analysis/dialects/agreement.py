"""Whether a tool's own summary can be computed again from its records: line against line."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from analysis.dialects.line import Line
from analysis.dialects.sheet import close

EXACT = 1e-9

DIALECT_OF = {
    "vllm_bench": "vllm",
    "sglang": "sglang",
    "aiperf": "aiperf",
    "llmperf": "llmperf",
    "inference_perf": "inference_perf",
}
"""Importer -> dialect, where the version makes no difference."""

LOOSER: tuple[tuple[str, str, float, str], ...] = (
    ("vllm", "_tpot_ms", 1e-6, "old files hold no latency: TTFT + gaps is a clock reading off it"),
    ("aiperf", "_throughput.avg", 1e-7, "its duration is stored in whole µs"),
    ("aiperf", "benchmark_duration", 1e-8, "it takes ns of a clock as floats, 256 ns a step"),
)
"""(dialect, end or beginning of the name, relative difference allowed, why): never a wider one."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """One number that the tool reported and the same computed again.

    name: the file's; our_name: the line's.
    again: None where it cannot be computed.  allowed: the relative difference that counts as the
    same; why: what makes it wider than rounding, "" for EXACT.
    """

    name: str
    our_name: str
    reported: float
    again: float | None
    allowed: float
    why: str
    rounding: float = 0.0  # a difference this small is none: a deviation of equal numbers

    @property
    def is_same(self) -> bool:
        """Whether the two agree; a number that cannot be computed does not."""
        if self.again is None:
            return False
        is_tiny = abs(self.reported - self.again) <= self.rounding
        return is_tiny or close(self.reported, self.again, self.allowed)


def dialect_of(tool: str, version: str | None) -> str | None:
    """The dialect that a file of `tool` is written in; None for a tool that has none."""
    if tool != "guidellm":
        return DIALECT_OF.get(tool)
    is_old = version is not None and "0.2" in version
    return "guidellm_02" if is_old else "guidellm"


def compare(dialect: str, reported: Mapping[str, float], lines: Sequence[Line]) -> list[Agreement]:
    """Every number of the summary that the dialect has a line for, in the summary's order."""
    again = {line.name: line.theirs for line in lines}
    found: list[Agreement] = []
    for name, value in reported.items():
        known = our_name(dialect, name)
        if known in again:
            allowed, why = _allowed(dialect, known)
            mean = reported.get(DEVIATION.sub(_same_mean, name), 0.0)
            small = 1e-13 * abs(mean) if DEVIATION.search(name) else 0.0
            found.append(Agreement(name, known, value, again[known], allowed, why, small))
    return found


def our_name(dialect: str, name: str) -> str:
    """The line's name for a number of the file: older versions had others."""
    stem, dot, stat = name.partition(".")
    if dialect == "aiperf":
        return RENAMED.get(stem, stem) + dot + stat
    if dialect.startswith("guidellm"):
        return name.removeprefix("metrics.")
    return name


DEVIATION = re.compile(r"std_dev$|stddev$|std$|variance$|^std(?=_)")
"""What is near 0 by rounding alone where all values are equal."""


def _same_mean(found: re.Match[str]) -> str:
    return "avg" if found[0] == "std" and found.end() == len(found.string) else "mean"


LOST: tuple[tuple[str, str, str], ...] = (
    ("aiperf", "prefill_throughput", "The tables keep the server's count of prompt tokens."),
    ("aiperf", "input_", "The tables keep the server's count of prompt tokens."),
    ("aiperf", "total_isl", "The tables keep the server's count of prompt tokens."),
    ("aiperf", "total_token", "The tables keep the server's count of prompt tokens."),
    ("llmperf", "request_output_throughput", "It counted lines received, which no table holds."),
    ("guidellm", "", "Its measured window is not kept in the tables."),
)
"""(dialect, beginning of the name, what the tables of an imported run do not hold of the file)."""


def lost_in_tables(dialect: str, name: str) -> str:
    """Why a number of an imported run may differ from the file's; "" where nothing is known."""
    for of, part, why in LOST:
        if dialect == of and part in name:
            return why
    return ""


RENAMED = {"ttft": "time_to_first_token", "ttst": "time_to_second_token"}


def _allowed(dialect: str, name: str) -> tuple[float, str]:
    for of, part, allowed, why in LOOSER:
        if dialect == of and part in name and "per_user" not in name and "e2e" not in name:
            return allowed, why
    return EXACT, ""
