"""Stages that become several levels while the run goes on: a sweep, a search."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from loadgen.plan_ended import Ended, PerSecond, Positive, Streams, must_measure
from loadgen.plan_parts import Part, mistake


class Doubling(Part):
    """start, twice as much, … until throughput grows by less than `least_gain` from one to the
    next, or `most` is reached."""

    over: Literal["concurrency", "rate_per_s"] = "concurrency"
    start: Annotated[float, Field(gt=0, le=100_000)] = 1
    most: Annotated[float, Field(gt=0, le=100_000)] = 256
    least_gain: Annotated[float, Field(gt=0, lt=1)] = 0.05

    @model_validator(mode="after")
    def _bounds_in_order(self) -> Self:
        if self.start > self.most:
            raise mistake(f"has start = {self.start:g} above most = {self.most:g}", "start", "most")
        _must_be_whole(self.over, start=self.start, most=self.most)
        return self


class Sweep(Ended):
    """A template: one level after the other, given or found by doubling."""

    kind: Literal["sweep"] = "sweep"
    concurrency: list[Streams] | None = Field(default=None, min_length=1, max_length=200)
    rate_per_s: list[PerSecond] | None = Field(default=None, min_length=1, max_length=200)
    doubling: Doubling | None = None
    arrivals: Literal["poisson", "constant"] = "poisson"  # of rates

    @model_validator(mode="after")
    def _has_levels(self) -> Self:
        given = [self.concurrency, self.rate_per_s, self.doubling]
        if sum(levels is not None for levels in given) != 1:
            named = ("concurrency", "rate_per_s", "doubling")
            raise mistake(
                "needs levels: one of concurrency, rate_per_s (lists) and doubling", *named
            )
        return self


class Search(Part):
    """A template: the largest load at which the plan's objectives hold, probe by probe."""

    kind: Literal["search"] = "search"
    over: Literal["concurrency", "rate_per_s"] = "concurrency"
    low: Annotated[float, Field(gt=0, le=100_000)] = 1
    high: Annotated[float, Field(gt=0, le=100_000)] = 256
    tolerance: Annotated[float, Field(gt=0, lt=1)] = 0.1  # of the answer
    confidence: Annotated[float, Field(gt=0.5, lt=1)] = 0.95
    seconds: Positive = 60  # of one probe at most; a clear one ends earlier
    most_requests: Annotated[int, Field(ge=1)] = 2_000  # of one probe
    warmup_s: Annotated[float, Field(ge=0, le=86_400)] = 0
    requests: None = None
    arrivals: Literal["poisson", "constant"] = "poisson"  # of rates

    @model_validator(mode="after")
    def _bounds_in_order(self) -> Self:
        if self.low > self.high:
            raise mistake(f"has low = {self.low:g} above high = {self.high:g}", "low", "high")
        _must_be_whole(self.over, low=self.low, high=self.high)
        must_measure(self.seconds, self.warmup_s)
        return self

    @property
    def name(self) -> str:
        """As shown while its probes have no names yet."""
        return "search"


def _must_be_whole(over: str, **bounds: float) -> None:
    for name, value in bounds.items():
        if over == "concurrency" and value != int(value):
            raise mistake(f"has {name} = {value:g}, and streams come in whole numbers", name)
