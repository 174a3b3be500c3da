"""Which fields a plan has where: what somebody meant who wrote one that does not exist."""

from difflib import get_close_matches
from typing import Any, get_args

from loadgen.plan_parts import Part
from loadgen.plan_place import Path

SAID_ELSEWHERE = {  # of other load generators, and of APIs
    "users": "concurrency",
    "vus": "concurrency",
    "streams": "concurrency",
    "max_concurrency": "concurrency",
    "rate": "rate_per_s",
    "rps": "rate_per_s",
    "qps": "rate_per_s",
    "request_rate": "rate_per_s",
    "duration": "seconds",
    "duration_s": "seconds",
    "time": "seconds",
    "num_prompts": "requests",
    "num_requests": "requests",
    "warmup": "warmup_s",
    "think_time": "think_s",
    "input_tokens": "prompt_tokens",
    "max_tokens": "output_tokens",
    "weight": "share",
    "endpoint": "url",
    "base_url": "url",
    "api_key": "api_key_env",
    "temperature": "extra_body",
    "top_p": "extra_body",
    "threshold_ms": "max_ms",
}
LIKE_ENOUGH = 0.7


def parts_at(loc: Path, top: type[Part]) -> tuple[list[type[Part]], list[type[Part]]]:
    """The parts that may lie at `loc` (pydantic's, with tags), and all of the union they are of."""
    found = union = [top]
    for step in loc:
        fields = [part.model_fields[step] for part in found if step in part.model_fields]
        if fields:
            found = union = [p for field in fields for p in _parts_in(field.annotation)]
        elif tagged := [part for part in union if _tag(part) == step]:
            found = tagged
    return found, union


def meant(name: str, loc: Path, top: type[Part]) -> str | None:
    """The field of the part at `loc` that somebody meant who wrote `name`; None: no idea."""
    known = sorted({field for part in parts_at(loc, top)[0] for field in part.model_fields})
    said = SAID_ELSEWHERE.get(name.lower().replace("-", "_"))
    if said in known:
        return said
    return next(iter(get_close_matches(name, known, 1, LIKE_ENOUGH)), None)


def kinds_with(name: str, loc: Path, top: type[Part]) -> list[str]:
    """Other kinds of the part at `loc` that have this field."""
    found, union = parts_at(loc, top)
    return [_tag(p) for p in union if p not in found and name in p.model_fields]


def homes_of(name: str, top: type[Part]) -> list[str]:
    """Top-level fields of a plan below which a field of this name is known: `limits`."""
    return [
        field
        for field, known in top.model_fields.items()
        if any(name in part.model_fields for part in _parts_in(known.annotation))
    ]


def _parts_in(annotation: Any) -> list[type[Part]]:
    if isinstance(annotation, type) and issubclass(annotation, Part):
        return [annotation]
    return [part for inner in get_args(annotation) for part in _parts_in(inner)]


def _tag(part: type[Part]) -> str:
    for name in ("kind", "shape"):
        if name in part.model_fields:
            return str(part.model_fields[name].default)
    return part.__name__.removeprefix("Own").lower()
