"""A contradiction between fields of a plan that are each well formed."""

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from loadgen.plan import Plan


class Problem(NamedTuple):
    """A sentence, and the fields it compares: where one is wrong in itself, it says nothing."""

    sentence: str
    fields: tuple[str, ...]


def problem(sentence: str, *others: str) -> Problem:
    """The sentence begins with the first of the fields."""
    return Problem(sentence, (sentence.split(" ", 1)[0], *others))


def workload_at(plan: "Plan", i: int) -> str:
    """Where the workload of traffic()[i] is written."""
    return f"classes[{i}].workload" if plan.classes else "workload"


def target_at(plan: "Plan", i: int) -> str:
    """Where the target of traffic()[i] is written."""
    name = plan.traffic()[i].target
    return f"targets.{name}" if name else "target"
