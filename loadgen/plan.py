"""The plan of a test: target, workload, stages, SLOs, limits, seed.  TOML or JSON in and out."""

import hashlib
import json
import re
import tomllib
from pathlib import Path
from typing import Annotated, Any, Literal, Self, cast
from urllib.parse import urlsplit

from pydantic import (
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    ValidationError,
    field_validator,
    model_validator,
)


class PlanError(ValueError):
    """The plan's author must change something; `problems` holds one sentence for each mistake."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class Target(_Part):
    """The endpoint under test.  `sim://PROFILE` starts the built-in simulator for the run."""

    url: str
    model: Annotated[str, Field(min_length=1)]
    api: str = "openai_chat"
    api_key_env: str | None = None  # the NAME of an environment variable, never a key
    verify_tls: bool = True
    ca_file: str | None = None  # PEM of the authorities to trust instead of the system's
    http: Literal["auto", "1.1", "2"] = "auto"
    tokenizer: str | None = None  # tokenizer.json, its folder, or a hub name: counts after the run

    @field_validator("url")
    @classmethod
    def _known_scheme(cls, url: str) -> str:
        try:
            parts, _ = urlsplit(url), urlsplit(url).port
        except ValueError as error:
            raise ValueError(f"is {url!r}: {error}") from None
        if re.search(r"\s", url):
            raise ValueError(f"is {url!r}; a URL holds no blanks")
        if parts.scheme not in ("http", "https", "sim") or not parts.hostname:
            raise ValueError(
                f"is {url!r}; expected http://HOST[:PORT][/v1], https://… or sim://PROFILE"
            )
        if parts.username or parts.password:
            raise ValueError("holds a user name or password; name an environment variable instead")
        return url

    @field_validator("api")
    @classmethod
    def _known_api(cls, api: str) -> str:
        from loadgen.wire.registry import APIS  # the APIs themselves know PlannedRequest

        if api not in APIS:
            raise ValueError(f"is {api!r}; expected one of {', '.join(APIS)}")
        return api

    @field_validator("ca_file", "tokenizer")
    @classmethod
    def _void_is_none(cls, name: str | None) -> str | None:
        return name or None  # a form's empty field; as a path it would be this folder

    @field_validator("api_key_env")
    @classmethod
    def _a_name_not_a_key(cls, name: str | None) -> str | None:
        if name and not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
            raise ValueError(
                "is not a variable name; put the key into an environment variable and name that"
            )
        return name or None


class Workload(_Part):
    """What each request asks for; lengths in tokens."""

    prompt_tokens: Annotated[int, Field(ge=1, le=1_000_000)] = 256
    output_tokens: Annotated[int, Field(ge=1, le=1_000_000)] = 128
    ignore_eos: bool = True  # sent only to servers that know it
    unique_prompts: bool = True  # differing first words, so that no prefix cache hits
    stream: bool = True  # False: answers in one piece, which have an E2E but no TTFT
    inputs_per_request: Annotated[int, Field(ge=1, le=10_000)] = 1  # embeddings: texts at once
    extra_body: dict[str, Any] = {}  # merged into each request's JSON body


class _Level(_Part):
    """What every stage has: an end."""

    requests: Annotated[int, Field(ge=1)] | None = None
    seconds: Annotated[float, Field(gt=0, le=86_400)] | None = None

    @model_validator(mode="before")
    @classmethod
    def _is_one_kind(cls, raw: Any) -> Any:
        if isinstance(raw, dict) and "concurrency" in raw and "rate_per_s" in raw:
            raise ValueError("has both concurrency and rate_per_s; a stage takes one of them")
        return raw

    @model_validator(mode="after")
    def _ends(self) -> Self:
        if self.requests is None and self.seconds is None:
            raise ValueError("never ends; give it requests or seconds")
        return self


class ClosedLoop(_Level):
    """Exactly `concurrency` streams in flight, until `requests` or `seconds` are over."""

    kind: Literal["closed"] = "closed"
    concurrency: Annotated[int, Field(ge=1, le=100_000)]

    @property
    def name(self) -> str:
        """As shown on axes and in tables: `c=16`."""
        return f"c={self.concurrency}"


class OpenLoop(_Level):
    """Arrivals on an absolute schedule that never waits for answers; Poisson unless said."""

    kind: Literal["open"] = "open"
    rate_per_s: Annotated[float, Field(gt=0, le=100_000)]
    arrivals: Literal["poisson", "constant"] = "poisson"

    @property
    def name(self) -> str:
        """As shown on axes and in tables: `5/s`."""
        return f"{self.rate_per_s:g}/s"


def _stage_kind(stage: Any) -> str | None:
    """`kind` may be left out of a file: a stage with rate_per_s is open, any other closed."""
    if isinstance(stage, dict):
        given = cast("dict[str, Any]", stage)
        return given.get("kind") or ("open" if "rate_per_s" in given else "closed")
    return getattr(stage, "kind", None)


Stage = Annotated[
    Annotated[ClosedLoop, Tag("closed")] | Annotated[OpenLoop, Tag("open")],
    Discriminator(
        _stage_kind,
        custom_error_type="stage_kind",
        custom_error_message="is not a stage; expected kind = 'closed' or kind = 'open'",
    ),
]


class Slo(_Part):
    """One objective: `percentile` of `metric` stays at or below `max_ms`."""

    metric: Literal["ttft", "ttft_visible", "tpot", "e2e", "chunk_gap"]
    percentile: Annotated[float, Field(gt=0, lt=100)] = 95
    max_ms: Annotated[float, Field(gt=0)]


class Limits(_Part):
    """Where a run stops by itself."""

    max_in_flight: Annotated[int, Field(ge=1)] = 2_000  # open loop; beyond it arrivals are not_sent
    request_s: Annotated[float, Field(gt=0)] = 600
    silence_s: Annotated[float, Field(gt=0)] = 120  # nothing but keep-alive comments for this long
    connect_s: Annotated[float, Field(gt=0)] = 10
    drain_s: Annotated[float, Field(ge=0)] = 30  # a stage's open streams may finish within this
    failed_at_start: Annotated[int, Field(ge=1)] = 3  # the first that fail alike abort the run
    failed_in_a_row: Annotated[int, Field(ge=1)] = 50  # equal failures in a row that abort the run


class Plan(_Part):
    """Everything a run was asked to do; its bytes' hash answers "same set-up?"."""

    name: Annotated[str, Field(min_length=1, max_length=200)] = "run"
    seed: Annotated[int, Field(ge=0, lt=2**32)] = 1
    target: Target
    workload: Workload = Workload()
    stages: Annotated[list[Stage], Field(min_length=1, max_length=200)]
    slos: list[Slo] = []
    limits: Limits = Limits()
    workers: Annotated[int, Field(ge=1, le=64)] = 1
    connections: Literal["warm", "cold"] = "warm"  # cold: each stream opens its own connection

    @model_validator(mode="after")
    def _inputs_fit_the_api(self) -> Self:
        n, api = self.workload.inputs_per_request, self.target.api
        if n > 1 and api != "openai_embeddings":
            raise ValueError(
                f"workload.inputs_per_request is {n}, and {api} takes one prompt in a request; "
                "only openai_embeddings takes several"
            )
        return self

    @model_validator(mode="after")
    def _objectives_can_be_judged(self) -> Self:
        comes_whole = self.target.api == "openai_embeddings" or not self.workload.stream
        for i, slo in enumerate(self.slos):
            if comes_whole and slo.metric != "e2e":
                raise ValueError(
                    f"slos[{i}].metric is {slo.metric!r}, but answers in one piece have no first "
                    "token and no gaps; expected 'e2e'"
                )
        return self

    def to_json(self) -> bytes:
        """The canonical bytes written to plan.json."""
        return json.dumps(self.model_dump(mode="json"), indent=1, ensure_ascii=False).encode()

    def sha256(self) -> str:
        """Hex digest of `to_json()`."""
        return hashlib.sha256(self.to_json()).hexdigest()


def parse(raw: dict[str, Any]) -> Plan:
    """A plan from plain values; raises PlanError naming every mistake, each with its field."""
    try:
        return Plan.model_validate(raw)
    except ValidationError as error:
        raise PlanError([_sentence(e) for e in error.errors()]) from None


def read(path: Path) -> dict[str, Any]:
    """The plain values of a .toml or .json file; raises PlanError if it cannot be read as one."""
    try:
        text = path.read_text(encoding="utf-8")
        raw: Any = json.loads(text) if path.suffix == ".json" else tomllib.loads(text)
    except OSError as error:
        raise PlanError([f"{path} cannot be read: {error.strerror or error}."]) from None
    except ValueError as error:  # not UTF-8, not JSON, not TOML
        raise PlanError([f"{path} cannot be read as a plan: {error}."]) from None
    if not isinstance(raw, dict):
        raise PlanError([f"{path} holds a {type(raw).__name__}; a plan is an object."])
    return cast("dict[str, Any]", raw)


def load(path: Path) -> Plan:
    """A plan from a .toml or .json file; raises PlanError, also for a file that cannot be read."""
    return parse(read(path))


def _sentence(error: Any) -> str:
    where = ""
    for part in error["loc"]:
        if part in ("closed", "open"):  # the union's tag, not a field of the file
            continue
        where += f"[{part}]" if isinstance(part, int) else f".{part}" if where else str(part)
    kind, message = error["type"], error["msg"]
    if kind == "missing":
        return f"{where} is missing."
    if kind == "extra_forbidden":
        return f"{where} is not a field of a plan; check its spelling."
    if kind in ("value_error", "stage_kind"):
        return f"{where} {message.removeprefix('Value error, ')}.".strip()
    given = error.get("input")
    shown = "" if isinstance(given, dict | list) else f" is {given!r};"
    return f"{where}{shown} {message[0].lower()}{message[1:]}."
