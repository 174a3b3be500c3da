"""The stages of a plan: loads that workers carry out, and templates that become several of them."""

from typing import Annotated, Any, Literal, Self, cast

from pydantic import Discriminator, Field, Tag, TypeAdapter, model_validator

from loadgen.plan_lengths import Think
from loadgen.plan_parts import Part
from loadgen.plan_shapes import Concurrency, Rate, peak_of, said_of

Positive = Annotated[float, Field(gt=0, le=86_400)]
Streams = Annotated[int, Field(ge=1, le=100_000)]
PerSecond = Annotated[float, Field(gt=0, le=100_000)]


class Ended(Part):
    """What most stages have: an end, and a beginning that does not count."""

    requests: Annotated[int, Field(ge=1)] | None = None
    seconds: Positive | None = None
    warmup_s: Annotated[float, Field(ge=0, le=86_400)] = 0  # requests until then: phase "warmup"

    @model_validator(mode="before")
    @classmethod
    def _is_one_kind(cls, raw: Any) -> Any:
        if not isinstance(raw, dict):
            return raw
        given = cast("dict[str, Any]", raw)
        if given.get("concurrency") is not None and given.get("rate_per_s") is not None:
            raise ValueError("has both concurrency and rate_per_s; a stage takes one of them")
        return raw

    @model_validator(mode="after")
    def _ends(self) -> Self:
        if self.requests is None and self.seconds is None:
            raise ValueError("never ends; give it requests or seconds")
        if self.seconds is not None and self.warmup_s >= self.seconds:
            raise ValueError(
                f"has warmup_s = {self.warmup_s:g}, which leaves nothing of its "
                f"{self.seconds:g} seconds to measure"
            )
        return self


class ClosedLoop(Ended):
    """Exactly `concurrency` streams in flight, until `requests` or `seconds` are over."""

    kind: Literal["closed"] = "closed"
    concurrency: Concurrency
    think_s: Think = 0  # a user's pause between an answer's end and the next request

    @model_validator(mode="after")
    def _shape_has_time(self) -> Self:
        _must_have_time(self.concurrency, self.seconds)
        return self

    @property
    def name(self) -> str:
        """As shown on axes and in tables: `c=16`."""
        return f"c={said_of(self.concurrency)}"

    @property
    def peak(self) -> int:
        """The most streams in flight at once."""
        return round(peak_of(self.concurrency))


class OpenLoop(Ended):
    """Arrivals on an absolute schedule that never waits for answers; Poisson unless said."""

    kind: Literal["open"] = "open"
    rate_per_s: Rate
    arrivals: Literal["poisson", "constant", "gamma"] = "poisson"
    burstiness: Annotated[float, Field(gt=0, le=1000)] = 1  # gamma's shape; below 1: in bursts

    @model_validator(mode="after")
    def _shape_has_time(self) -> Self:
        _must_have_time(self.rate_per_s, self.seconds)
        if self.burstiness != 1 and self.arrivals != "gamma":
            raise ValueError(f"has a burstiness, which arrivals = {self.arrivals!r} ignores; "
                             "expected arrivals = 'gamma'")  # fmt: skip
        return self

    @property
    def name(self) -> str:
        """As shown on axes and in tables: `5/s`."""
        return f"{said_of(self.rate_per_s)}/s"


class Replay(Part):
    """Requests at the times and of the lengths of a trace."""

    kind: Literal["replay"] = "replay"
    file: Annotated[str, Field(min_length=1)]
    format: Literal["auto", "azure", "mooncake", "burstgpt", "csv", "jsonl"] = "auto"
    speed: Annotated[float, Field(gt=0, le=10_000)] = 1
    from_s: Annotated[float, Field(ge=0)] = 0  # of the trace's own time, as is to_s
    to_s: Annotated[float, Field(gt=0)] | None = None
    scale: Annotated[float, Field(gt=0, le=1000)] = 1  # below 1: thinned, above: repeated
    grid: Literal["verbatim", "spread"] = "verbatim"
    requests: Annotated[int, Field(ge=1)] | None = None
    seconds: Positive | None = None
    warmup_s: Annotated[float, Field(ge=0, le=86_400)] = 0

    @model_validator(mode="after")
    def _window_is_one(self) -> Self:
        if self.to_s is not None and self.to_s <= self.from_s:
            raise ValueError(f"has to_s = {self.to_s:g}, not after from_s = {self.from_s:g}")
        return self

    @property
    def name(self) -> str:
        """As shown on axes and in tables: `replay conv.csv x2`."""
        times = "" if self.speed == 1 else f" x{self.speed:g}"
        return f"replay {self.file.rpartition('/')[2]}{times}"


class Idle(Part):
    """No load of its own: a pause, or time for the classes that bring their own load."""

    kind: Literal["idle"] = "idle"
    seconds: Positive
    requests: None = None
    warmup_s: Annotated[float, Field(ge=0, le=86_400)] = 0

    @property
    def name(self) -> str:
        """As shown on axes and in tables."""
        return "idle"


class Doubling(Part):
    """start, twice as much, … until throughput grows by less than `least_gain` from one to the
    next, or `most` is reached."""

    over: Literal["concurrency", "rate_per_s"] = "concurrency"
    start: Annotated[float, Field(gt=0, le=100_000)] = 1
    most: Annotated[float, Field(gt=0, le=100_000)] = 256
    least_gain: Annotated[float, Field(gt=0, lt=1)] = 0.05


class Sweep(Ended):
    """A template: one level after the other, given or found by doubling."""

    kind: Literal["sweep"] = "sweep"
    concurrency: list[Streams] | None = Field(default=None, min_length=1, max_length=200)
    rate_per_s: list[PerSecond] | None = Field(default=None, min_length=1, max_length=200)
    doubling: Doubling | None = None
    arrivals: Literal["poisson", "constant", "gamma"] = "poisson"

    @model_validator(mode="after")
    def _has_levels(self) -> Self:
        given = [self.concurrency, self.rate_per_s, self.doubling]
        if sum(levels is not None for levels in given) != 1:
            raise ValueError("needs levels: one of concurrency, rate_per_s (lists) and doubling")
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
    arrivals: Literal["poisson", "constant", "gamma"] = "poisson"

    @model_validator(mode="after")
    def _bounds_in_order(self) -> Self:
        if self.low > self.high:
            raise ValueError(f"has low = {self.low:g} above high = {self.high:g}")
        return self

    @property
    def name(self) -> str:
        """As shown while its probes have no names yet."""
        return "search"


def _must_have_time(value: object, seconds: float | None) -> None:
    if not isinstance(value, int | float) and seconds is None:
        raise ValueError("has a load that changes with time, so it needs seconds")


def _stage_kind(stage: Any) -> str | None:
    """`kind` may be left out of a file: a stage with rate_per_s is open, any other closed."""
    if isinstance(stage, dict):
        given = cast("dict[str, Any]", stage)
        is_open = given.get("rate_per_s") is not None
        return given.get("kind") or ("open" if is_open else "closed")
    return getattr(stage, "kind", None)


KINDS = ("closed", "open", "replay", "idle", "sweep", "search")
Load = ClosedLoop | OpenLoop | Replay | Idle
_LOADS = (
    Annotated[ClosedLoop, Tag("closed")]
    | Annotated[OpenLoop, Tag("open")]
    | Annotated[Replay, Tag("replay")]
    | Annotated[Idle, Tag("idle")]
)
_BY_KIND = Discriminator(
    _stage_kind,
    custom_error_type="stage_kind",
    custom_error_message="is not a stage; expected kind = 'closed', 'open', 'replay', 'idle', "
    "'sweep' or 'search'",
)
Stage = Annotated[
    _LOADS | Annotated[Sweep, Tag("sweep")] | Annotated[Search, Tag("search")], _BY_KIND
]
_load: TypeAdapter[Load] = TypeAdapter(Annotated[_LOADS, _BY_KIND])


def load_of(raw: dict[str, Any]) -> Load:
    """A concrete load from its own `model_dump(mode="json")`: what the leader tells the workers."""
    return _load.validate_python(raw)


class OwnClosed(Part):
    """A class's own streams in flight, for as long as each stage lasts."""

    concurrency: Streams
    think_s: Think = 0


class OwnOpen(Part):
    """A class's own arrivals, for as long as each stage lasts."""

    rate_per_s: PerSecond
    arrivals: Literal["poisson", "constant", "gamma"] = "poisson"
    burstiness: Annotated[float, Field(gt=0, le=1000)] = 1


OwnLoad = OwnClosed | OwnOpen
