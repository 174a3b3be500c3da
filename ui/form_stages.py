"""Blocks of the form's load: each becomes one stage of a plan, or one for each level it lists."""

from collections.abc import Callable
from itertools import groupby

from ui.form_shapes import shape_form, shape_raw
from ui.form_spread import Form, given, spread_form, spread_raw
from ui.form_text import numbers_of, text_of

END = ("seconds", "requests", "warmup_s")
SEARCH = ("over", "low", "high", "tolerance", "confidence", "most_requests", "arrivals")
REPLAY = ("file", "format", "speed", "from_s", "to_s", "scale", "grid")
DOUBLING = ("start", "most", "least_gain")


def stages_raw(blocks: list[Form]) -> tuple[list[Form], list[tuple[int, int]]]:
    """The plan's stages, and for each the block and the number within it that it comes from."""
    stages: list[Form] = []
    origins: list[tuple[int, int]] = []
    for number, block in enumerate(blocks):
        made = RAW[block["load"]](block)
        stages += made
        origins += [(number, level) for level in range(len(made))]
    return stages, origins


def stages_form(raws: list[Form]) -> list[Form]:
    """Blocks that make these stages.  raws: each stage's `model_dump`.

    Stages that differ in nothing but their number of streams, or rate, become levels of one block.
    """
    blocks: list[Form] = []
    for _, group in groupby(raws, key=_all_but_level):
        levels = list(group)
        load = levels[0]["kind"]
        if load == "closed":
            load = "shape" if isinstance(levels[0]["concurrency"], dict) else load
        elif load == "open":
            load = "shape" if isinstance(levels[0]["rate_per_s"], dict) else load
        if load in ("closed", "open"):
            blocks.append({"load": load} | FORM[load](levels))
        else:
            blocks += [{"load": load} | FORM[load]([one]) for one in levels]
    return blocks


def _all_but_level(raw: Form) -> Form:
    """Equal for stages that may be levels of one block."""
    level = {"closed": "concurrency", "open": "rate_per_s"}.get(raw["kind"], "")
    return {k: v for k, v in raw.items() if k != level or isinstance(v, dict)}


def _closed(block: Form) -> list[Form]:
    rest = {"kind": "closed", "think_s": spread_raw(block["think"]), **_end(block)}
    return _levels(block["levels"], "concurrency", given(rest))


def _open(block: Form) -> list[Form]:
    return _levels(
        block["rates"], "rate_per_s", {"kind": "open", **_arrivals(block), **_end(block)}
    )


def _levels(text: str, field: str, rest: Form) -> list[Form]:
    """One stage per number; without any a stage that lacks its load, so that the plan says so."""
    return [{field: number, **rest} for number in numbers_of(text)] or [rest]


def _shape(block: Form) -> list[Form]:
    field = block["over"]
    end = given({"seconds": block["shape_seconds"], "warmup_s": block["warmup_s"]})
    end |= given({"requests": block["requests"]})
    if field == "concurrency":
        rest = given({"kind": "closed", "think_s": spread_raw(block["think"])})
    else:
        rest = {"kind": "open", **_arrivals(block)}
    return [{field: shape_raw(block), **rest, **end}]


def _sweep(block: Form) -> list[Form]:
    raw = {"kind": "sweep", "arrivals": block["arrivals"], **_end(block)}
    if block["by"] == "doubling":
        steps = given({name: block[name] for name in DOUBLING})
        return [raw | {"doubling": {"over": block["over"], **steps}}]
    return [raw | {block["over"]: numbers_of(block["list"])}]


def _search(block: Form) -> list[Form]:
    raw = {name: block[name] for name in SEARCH}
    raw |= {"seconds": block["probe_seconds"], "warmup_s": block["warmup_s"]}
    return [{"kind": "search", **given(raw)}]


def _replay(block: Form) -> list[Form]:
    raw = {name: block[name] for name in (*REPLAY, "requests", "warmup_s")}
    return [{"kind": "replay", **given(raw | {"seconds": block["replay_seconds"]})}]


def _idle(block: Form) -> list[Form]:
    return [{"kind": "idle", **given({"seconds": block["idle_seconds"]})}]


def _end(block: Form) -> Form:
    return given({name: block[name] for name in END})


def _end_form(raw: Form) -> Form:
    return {name: raw[name] for name in END}


def _arrivals(block: Form) -> Form:
    names = ("arrivals", "burstiness") if block["arrivals"] == "gamma" else ("arrivals",)
    return given({name: block[name] for name in names})


RAW: dict[str, Callable[[Form], list[Form]]] = {
    "closed": _closed,
    "open": _open,
    "shape": _shape,
    "sweep": _sweep,
    "search": _search,
    "replay": _replay,
    "idle": _idle,
}
"""What a block's `load` may be -> its stages."""


def _closed_form(raws: list[Form]) -> Form:
    first = raws[0]
    levels = {"levels": text_of(raw["concurrency"] for raw in raws)}
    return levels | _end_form(first) | {"think": spread_form(first["think_s"])}


def _open_form(raws: list[Form]) -> Form:
    first = raws[0]
    rates = {"rates": text_of(raw["rate_per_s"] for raw in raws)}
    return rates | _end_form(first) | _arrivals(first)


def _shape_form(raws: list[Form]) -> Form:
    raw = raws[0]
    is_closed = raw["kind"] == "closed"
    over = "concurrency" if is_closed else "rate_per_s"
    rest = {"think": spread_form(raw["think_s"])} if is_closed else _arrivals(raw)
    form: Form = {"over": over, "shape_seconds": raw["seconds"], **rest}
    form |= {"requests": raw["requests"], "warmup_s": raw["warmup_s"]}
    return form | shape_form(raw[over])


def _sweep_form(raws: list[Form]) -> Form:
    raw = raws[0]
    form = _end_form(raw) | {"arrivals": raw["arrivals"]}
    if raw["doubling"]:
        return form | {"by": "doubling", **raw["doubling"]}
    over = "concurrency" if raw["concurrency"] else "rate_per_s"
    return form | {"by": "list", "over": over, "list": text_of(raw[over])}


def _search_form(raws: list[Form]) -> Form:
    raw = raws[0]
    ends = {"probe_seconds": raw["seconds"], "warmup_s": raw["warmup_s"]}
    return {name: raw[name] for name in SEARCH} | ends


def _replay_form(raws: list[Form]) -> Form:
    raw = raws[0]
    names = (*REPLAY, "requests", "warmup_s")
    return {name: raw[name] for name in names} | {"replay_seconds": raw["seconds"]}


def _idle_form(raws: list[Form]) -> Form:
    return {"idle_seconds": raws[0]["seconds"]}


FORM: dict[str, Callable[[list[Form]], Form]] = {
    "closed": _closed_form,
    "open": _open_form,
    "shape": _shape_form,
    "sweep": _sweep_form,
    "search": _search_form,
    "replay": _replay_form,
    "idle": _idle_form,
}
"""The way back: stages of one kind -> their block, but for its `load`."""
