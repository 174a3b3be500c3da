"""How long prompts, answers, conversations and pauses are: a number, or a distribution."""

import math
from typing import Annotated, Any, Literal, Self

from pydantic import Discriminator, Field, Tag, model_validator

from loadgen.plan_parts import Part, mistake

MOST_TOKENS = 1_000_000
Whole = Annotated[int, Field(ge=1, le=MOST_TOKENS)]


class Uniform(Part):
    """Every whole number from low to high is as likely."""

    kind: Literal["uniform"] = "uniform"
    low: Whole
    high: Whole

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.low > self.high:
            raise mistake(f"has low = {self.low} above high = {self.high}", "low", "high")
        return self


class Clipped(Part):
    """What lies outside low … high becomes low or high."""

    low: Whole = 1
    high: Whole | None = None

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.high is not None and self.low > self.high:
            raise mistake(f"has low = {self.low} above high = {self.high}", "low", "high")
        return self


class Normal(Clipped):
    """Rounded, and clipped to low … high."""

    kind: Literal["normal"] = "normal"
    mean: Annotated[float, Field(ge=1, le=MOST_TOKENS)]
    sd: Annotated[float, Field(ge=0, le=MOST_TOKENS)]


class LogNormal(Clipped):
    """exp(normal(ln median, sigma)), rounded and clipped to low … high."""

    kind: Literal["lognormal"] = "lognormal"
    median: Annotated[float, Field(ge=1, le=MOST_TOKENS)]
    sigma: Annotated[float, Field(ge=0, le=5)]


class FromFile(Part):
    """Drawn from the numbers of a file: one per line, or a column of a CSV or JSONL file."""

    kind: Literal["file"] = "file"
    path: Annotated[str, Field(min_length=1)]
    column: str | None = None


def _kind(length: Any) -> str:
    if isinstance(length, dict):
        return str(length.get("kind", ""))
    return getattr(length, "kind", "fixed")


Length = Annotated[
    Annotated[Whole, Tag("fixed")]
    | Annotated[Uniform, Tag("uniform")]
    | Annotated[Normal, Tag("normal")]
    | Annotated[LogNormal, Tag("lognormal")]
    | Annotated[FromFile, Tag("file")],
    Discriminator(
        _kind,
        custom_error_type="length_kind",
        custom_error_message="is no length; expected a number or a table with kind = 'uniform', "
        "'normal', 'lognormal' or 'file'",
    ),
]

Seconds = Annotated[float, Field(ge=0, le=86_400)]


class UniformPause(Part):
    """Seconds, every value from low to high as likely."""

    kind: Literal["uniform"] = "uniform"
    low: Seconds
    high: Seconds

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.low > self.high:
            raise mistake(f"has low = {self.low:g} above high = {self.high:g}", "low", "high")
        return self


class ExponentialPause(Part):
    """Seconds, exponentially distributed."""

    kind: Literal["exponential"] = "exponential"
    mean: Seconds


class LogNormalPause(Part):
    """Seconds: exp(normal(ln median, sigma))."""

    kind: Literal["lognormal"] = "lognormal"
    median: Annotated[float, Field(gt=0, le=86_400)]
    sigma: Annotated[float, Field(ge=0, le=5)]


Think = Annotated[
    Annotated[Seconds, Tag("fixed")]
    | Annotated[UniformPause, Tag("uniform")]
    | Annotated[ExponentialPause, Tag("exponential")]
    | Annotated[LogNormalPause, Tag("lognormal")],
    Discriminator(
        _kind,
        custom_error_type="length_kind",
        custom_error_message="is no pause; expected seconds or a table with kind = 'uniform', "
        "'exponential' or 'lognormal'",
    ),
]


def mean_of(length: Any) -> float | None:
    """The expected length before clipping; None for one from a file, which nobody has read yet."""
    match length:
        case Uniform() | UniformPause():
            return (length.low + length.high) / 2
        case Normal() | ExponentialPause():
            return length.mean
        case LogNormal() | LogNormalPause():
            return length.median * math.exp(length.sigma**2 / 2)
        case FromFile():
            return None
        case _:
            return float(length)
