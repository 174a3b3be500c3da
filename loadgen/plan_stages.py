"""The stages of a plan: loads that workers carry out, and templates that become several of them."""

from typing import Annotated, Any, Literal, Self, cast

from pydantic import Discriminator, Field, Tag, TypeAdapter, model_validator

from loadgen.plan_ended import Ended, PerSecond, Positive, Streams, must_measure
from loadgen.plan_lengths import Think
from loadgen.plan_parts import Part, mistake
from loadgen.plan_shapes import Concurrency, Rate, Shape, Spike, peak_of, said_of
from loadgen.plan_templates import Search, Sweep


class ClosedLoop(Ended):
    """Exactly `concurrency` streams in flight, until `requests` or `seconds` are over."""

    kind: Literal["closed"] = "closed"
    concurrency: Concurrency
    think_s: Think = 0  # a user's pause between an answer's end and the next request

    @model_validator(mode="after")
    def _shape_has_time(self) -> Self:
        _must_fit(self.concurrency, "concurrency", self.seconds)
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
        _must_fit(self.rate_per_s, "rate_per_s", self.seconds)
        _must_be_used(self.burstiness, self.arrivals)
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
            raise mistake(
                f"has to_s = {self.to_s:g}, not after from_s = {self.from_s:g}", "to_s", "from_s"
            )
        must_measure(self.seconds, self.warmup_s)
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

    @model_validator(mode="after")
    def _measures(self) -> Self:
        must_measure(self.seconds, self.warmup_s)
        return self

    @property
    def name(self) -> str:
        """As shown on axes and in tables."""
        return "idle"


def _must_fit(value: float | Shape, field: str, seconds: float | None) -> None:
    """A load that changes with time needs one, and must ask for something within it."""
    if isinstance(value, int | float):
        return
    if seconds is None:
        raise mistake("has a load that changes with time, so it needs seconds", field, "seconds")
    if peak_of(value) == 0 and getattr(value, "file", None) is None:
        raise mistake(f"has a {field} that is 0 throughout; to pause, use kind = 'idle'", field)
    if isinstance(value, Spike) and value.at_s + value.for_s > seconds:
        ends_s = value.at_s + value.for_s
        raise mistake(
            f"has a spike that ends at {ends_s:g} s, after its {seconds:g} seconds",
            field,
            "seconds",
        )


def _must_be_used(burstiness: float, arrivals: str) -> None:
    if burstiness != 1 and arrivals != "gamma":
        raise mistake(
            f"has a burstiness, which arrivals = {arrivals!r} ignores; expected arrivals = 'gamma'",
            "burstiness",
            "arrivals",
        )


def _is_open(given: dict[str, Any]) -> bool:
    """What a load is that does not say its kind."""
    if given.get("rate_per_s") is not None:
        return True
    return "concurrency" not in given and not given.keys().isdisjoint(("arrivals", "burstiness"))


def _stage_kind(stage: Any) -> str | None:
    """`kind` may be left out of a file: a stage with rate_per_s is open, any other closed."""
    if isinstance(stage, dict):
        given = cast("dict[str, Any]", stage)
        return given.get("kind") or ("open" if _is_open(given) else "closed")
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

    @model_validator(mode="after")
    def _burstiness_is_used(self) -> Self:
        _must_be_used(self.burstiness, self.arrivals)
        return self


def _own_kind(load: Any) -> str:
    if isinstance(load, dict):
        return "open" if _is_open(cast("dict[str, Any]", load)) else "closed"
    return "open" if isinstance(load, OwnOpen) else "closed"


OwnLoad = Annotated[
    Annotated[OwnClosed, Tag("closed")] | Annotated[OwnOpen, Tag("open")], Discriminator(_own_kind)
]
