"""Where on the New run page the field of a plan is typed, and what the page calls it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

HINTS = {
    "URL": "where the server listens, http://localhost:8000/v1.",
    "Model": "its name as the server lists it.",
    "Streams in flight": "write at least one level, such as 1, 2, 4, 8.",
    "Requests per second": "write at least one level, such as 2, 5.",
    "Trace file": "its path on this machine.",
}
"""What stands beside a field while it is empty; others just say that they are missing."""

STEPS = {
    "target": "endpoint",
    "workload": "workload",
    "slos": "objective",
    "name": "start",
    **dict.fromkeys(("limits", "machines", "workers", "seed", "connections"), "limits"),
}
"""Head of a plan's path -> step; lists and [targets] have a step for each entry."""

LABELS = {
    "url": "URL",
    "api": "API",
    "api_key_env": "Key variable",
    "ca_file": "CA file",
    "http": "HTTP",
    "usd_per_m_input": "per million tokens in",
    "usd_per_m_output": "per million tokens out",
    "extra_body": "Further fields of the body",
    "inputs_per_request": "Inputs per request",
    "prefix": "Shared prefix",
    "file": "File",
    "sd": "standard deviation",
    "think_s": "Pause",
    "slos": "Objective",
    "max_ms": "At most",
    "concurrency": "Streams in flight",
    "rate_per_s": "Requests per second",
    "warmup_s": "Warm-up",
    "at_s": "Begins after",
    "for_s": "Lasts",
    "from_s": "From",
    "to_s": "To",
    "failed_share": "Share of failures",
    "secret_env": "Secret's variable",
    "workers": "Load workers",
    "max_in_flight": "Most in flight",
}
"""A plan's field -> its label, where that is not just its name with blanks."""

_ELSEWHERE = re.compile(
    r"\b(?:targets?|workload|limits|machines|slos|classes|stages)(?:\[\d+\]|\.[a-z_]+)+"
)
_PATH = re.compile(r"[a-z]\w*(?:\[\d+\]|\.[\w-]+)*")


@dataclass(frozen=True, slots=True)
class Problem:
    """One mistake: the step of the form, its field, what to change; the text names the field."""

    step: str
    field: str
    text: str
    missing: bool = False  # nothing typed yet: no mistake so far


@dataclass(frozen=True, slots=True)
class Places:
    """What a form made of its lists.

    origins: for each of the plan's stages its block and its number there.  sizes: how many stages
    each block made.  targets: names of the further endpoints.
    """

    origins: Sequence[tuple[int, int]] = ()
    targets: Sequence[str] = ()

    def problem(self, sentence: str) -> Problem:
        """A sentence of loadgen.plan with its field named as on the page."""
        found = _PATH.match(sentence)
        parts = re.findall(r"[\w-]+", found.group()) if found else []
        placed = self._placed(parts)
        if found is None or placed is None:
            return Problem("start", "", sentence)
        step, field = placed
        if not field:
            return Problem(step, "", sentence[:1].upper() + sentence[1:])
        rest = sentence[found.end() :].replace("; input should be", "; it must be")
        rest = _ELSEWHERE.sub(self._elsewhere, rest)
        if rest != " is missing.":
            return Problem(step, field, f"{field}{rest}")
        hint = HINTS.get(field)
        return Problem(step, field, f"{field}: {hint}" if hint else f"{field}{rest}", missing=True)

    def _elsewhere(self, found: re.Match[str]) -> str:
        """Another field that the sentence speaks of, and which part of the form it is in."""
        parts = re.findall(r"[\w-]+", found.group())
        placed = self._placed(parts)
        if placed is None or not placed[1]:
            return found.group()
        of = {"classes": f" of class {int(parts[1]) + 1}"} if parts[0] == "classes" else {}
        return placed[1] + of.get(parts[0], "")

    def _placed(self, parts: list[str]) -> tuple[str, str] | None:
        """(step, field) of a path's parts."""
        match parts:
            case ["stages", number, *rest] if int(number) < len(self.origins):
                return self._stage(int(number), rest)
            case ["stages", *_]:
                return "stage1", ""  # of all stages together
            case ["classes", number, *rest]:
                rest = rest[1:] if rest[:1] in (["workload"], ["load"]) and rest[1:] else rest
                return f"class{int(number) + 1}", labelled(rest) or f"Class {int(number) + 1}"
            case ["targets", name, *rest] if name in self.targets:
                return f"target{self.targets.index(name) + 1}", labelled(rest) or name
            case [head, *rest] if head in STEPS:
                is_whole = head in ("target", "workload", "limits", "machines") and rest
                return STEPS[head], labelled(rest if is_whole else parts)
            case _:
                return None

    def _stage(self, number: int, rest: list[str]) -> tuple[str, str]:
        block, level = self.origins[number]
        step, size = f"stage{block + 1}", sum(b == block for b, _ in self.origins)
        is_level = rest in (["concurrency"], ["rate_per_s"])
        if size > 1 and is_level:
            return step, f"Level {level + 1}"
        if rest == ["file"]:
            return step, "Trace file"
        return step, labelled(rest) or ("Each level" if size > 1 else "This load")


def labelled(parts: list[str]) -> str:
    """`prompt_tokens`, `mean` -> `Prompt tokens, mean`; numbers count from 1."""
    words: list[str] = []
    for part in parts:
        if part.isdigit():
            words[-1] = f"{words[-1]} {int(part) + 1}" if words else str(int(part) + 1)
        else:
            words.append(LABELS.get(part, part.replace("_", " ")))
    told = ", ".join(words)
    return told[:1].upper() + told[1:]
