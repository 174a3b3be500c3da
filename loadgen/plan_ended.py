"""What most stages of a plan have: an end, and a beginning that does not count."""

from typing import Annotated, Self

from pydantic import Field, model_validator

from loadgen.plan_parts import Part, mistake

Positive = Annotated[float, Field(gt=0, le=86_400)]
Streams = Annotated[int, Field(ge=1, le=100_000)]
PerSecond = Annotated[float, Field(gt=0, le=100_000)]


class Ended(Part):
    """What most stages have: an end, and a beginning that does not count."""

    requests: Annotated[int, Field(ge=1)] | None = None
    seconds: Positive | None = None
    warmup_s: Annotated[float, Field(ge=0, le=86_400)] = 0  # requests until then: phase "warmup"

    @model_validator(mode="after")
    def _ends(self) -> Self:
        if self.requests is None and self.seconds is None:
            raise mistake("never ends; give it requests or seconds", "requests", "seconds")
        must_measure(self.seconds, self.warmup_s)
        return self


def must_measure(seconds: float | None, warmup_s: float) -> None:
    """Raises a mistake if the warm-up takes all of the stage."""
    if seconds is not None and warmup_s >= seconds:
        raise mistake(
            f"has warmup_s = {warmup_s:g}, which leaves nothing of its {seconds:g} seconds to "
            "measure",
            "warmup_s",
            "seconds",
        )
