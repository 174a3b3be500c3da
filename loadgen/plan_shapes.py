"""How a load changes within a stage: of an arrival rate in 1/s, or of a concurrency in streams."""

from itertools import pairwise
from typing import Annotated, Any, Literal, Self

from pydantic import Discriminator, Field, Strict, Tag, model_validator

from loadgen.plan_parts import Part, mistake

Value = Annotated[float, Field(ge=0, le=100_000)]
Point = Annotated[
    tuple[Annotated[float, Field(ge=0, le=86_400)], Value], Strict(False)
]  # lists too


class Ramp(Part):
    """Straight from start to end."""

    shape: Literal["ramp"] = "ramp"
    start: Value
    end: Value


class Steps(Part):
    """One value after the other, each for an equal part of the stage."""

    shape: Literal["steps"] = "steps"
    values: Annotated[list[Value], Field(min_length=1, max_length=1000)]


class Spike(Part):
    """base, but peak for `for_s` seconds from `at_s` on: the lunchtime rush."""

    shape: Literal["spike"] = "spike"
    base: Value
    peak: Value
    at_s: Annotated[float, Field(ge=0)]
    for_s: Annotated[float, Field(gt=0)]


class Day(Part):
    """The 24 hours of a day, squeezed into the stage."""

    shape: Literal["day"] = "day"
    low: Value
    high: Value
    peak_hour: Annotated[float, Field(ge=0, lt=24)] = 14


class Table(Part):
    """Straight lines between points [second, value], given here or in a CSV file."""

    shape: Literal["table"] = "table"
    points: Annotated[list[Point], Field(min_length=1, max_length=100_000)] | None = None
    file: Annotated[str, Field(min_length=1)] | None = None

    @model_validator(mode="after")
    def _has_one_source(self) -> Self:
        if (self.points is None) == (self.file is None):
            raise mistake("needs either points or a file", "points", "file")
        for (before_s, _), (t_s, _) in pairwise(self.points or ()):
            if t_s < before_s:  # equal ones are a jump
                raise mistake(
                    f"has points whose times go back: {t_s:g} s comes after {before_s:g} s",
                    "points",
                )
        return self


Shape = Ramp | Steps | Spike | Day | Table


def _which(value: Any) -> str:
    if isinstance(value, dict):
        return str(value.get("shape", ""))
    return getattr(value, "shape", "constant")


_SHAPES = (
    Annotated[Ramp, Tag("ramp")]
    | Annotated[Steps, Tag("steps")]
    | Annotated[Spike, Tag("spike")]
    | Annotated[Day, Tag("day")]
    | Annotated[Table, Tag("table")]
)
_ELSE = (
    "is no load; expected a number or a table with shape = 'ramp', 'steps', 'spike', 'day' or "
    "'table'"
)
_BY_SHAPE = Discriminator(_which, custom_error_type="shape_kind", custom_error_message=_ELSE)
Rate = Annotated[
    Annotated[Annotated[float, Field(gt=0, le=100_000)], Tag("constant")] | _SHAPES, _BY_SHAPE
]
Concurrency = Annotated[
    Annotated[Annotated[int, Field(ge=1, le=100_000)], Tag("constant")] | _SHAPES, _BY_SHAPE
]
TAGS = ("constant", "fixed", "ramp", "steps", "spike", "day", "table")


def peak_of(value: float | Shape) -> float:
    """The largest value of a load; of a table in a file 0, for nobody has read it yet."""
    match value:
        case Ramp():
            return max(value.start, value.end)
        case Steps():
            return max(value.values)
        case Spike():
            return max(value.base, value.peak)
        case Day():
            return max(value.low, value.high)
        case Table():
            return max((v for _, v in value.points or ()), default=0)
        case _:
            return float(value)


def said_of(value: float | Shape) -> str:
    """As shown on axes and in tables: `16`, `2→20`, `spike 5→50`."""
    match value:
        case Ramp():
            return f"{value.start:g}→{value.end:g}"
        case Steps():
            ends = f"{value.values[0]:g}…{value.values[-1]:g}"
            return f"{ends} in {len(value.values)} steps"
        case Spike():
            return f"spike {value.base:g}→{value.peak:g}"
        case Day():
            return f"day {value.low:g}…{value.high:g}"
        case Table():
            return f"table up to {peak_of(value):g}" if value.points else "table"
        case _:
            return f"{value:g}"
