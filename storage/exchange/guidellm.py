"""GuideLLM's benchmarks.json: each benchmark is a level of one run.

Old (about 0.2): `args`, `run_stats`, and times on the request.  From 0.5 on: `config`,
`scheduler_metrics`, and times in `info.timings`; 0.8 tells the first visible token too.
"""

import math
from typing import Any

import numpy as np

from storage.exchange.answers import Answers, Floats, ForeignLevel, ForeignRun, answers
from storage.exchange.oddities import COUNT, RATE, SPAN, TEXT, odd_fields, span
from storage.exchange.outcomes import detail_of, outcome_of
from storage.exchange.source import (
    MOST_TOKENS,
    Json,
    Source,
    column,
    field_of,
    finite,
    flat,
    part,
    parts,
    text,
    whole,
)

GROUPS = ("successful", "errored", "incomplete")
OPEN_LOOP = ("constant", "poisson", "async")  # only these have a schedule in targeted_start
NO_CHUNKS = "No chunk times: there are no gaps and no ITL, only each request's mean (TPOT)."
WALL = "The tool takes its times from the wall clock, which may be set while it runs."
MEDIA = ("text", "image", "video", "audio", "tool_call")  # sizes of what was sent and came
MOST_EPOCH_S = 1e11
NAMED = 3  # levels in the name of the run

NEW = {
    "due": ("targeted_start",),
    "taken": ("resolve_start", "dequeued"),
    "start": ("request_start",),
    "chunk": ("first_request_iteration",),
    "first": ("first_token_iteration", "first_iteration"),
    "visible": ("first_output_token_iteration",),
    "last": ("last_token_iteration", "last_iteration"),
    "end": ("request_end",),
}
OLD = {
    "due": ("targeted_start_time",),
    "taken": ("worker_start",),
    "start": ("start_time",),
    "first": ("first_token_time",),
    "last": ("last_token_time",),
    "end": ("end_time",),
}


def is_it(source: Source) -> bool:
    """Whether the document is a GuideLLM report."""
    found = source.document
    if not isinstance(found, dict) or not isinstance(found.get("benchmarks"), list):
        return False
    first = next(iter(found["benchmarks"]), None)
    return isinstance(first, dict) and "requests" in first and "metrics" in first


def read(source: Source) -> list[ForeignRun]:
    """The one run of the report."""
    report: Json = source.document
    benchmarks = [
        field_of(source, {f"benchmarks[{i}]": one}, f"benchmarks[{i}]", dict)
        for i, one in enumerate(report["benchmarks"])
    ]
    tables = [_table(source, i, one) for i, one in enumerate(benchmarks)]
    starts = np.concatenate([table["start"] for table in tables])
    zero_s = float(np.nanmin(starts)) if not np.isnan(starts).all() else None
    backend = _backend(report, benchmarks[0])
    levels = [
        _level(one, table, zero_s or 0.0) for one, table in zip(benchmarks, tables, strict=True)
    ]
    named = ", ".join(level.name for level in levels[:NAMED])
    return [
        ForeignRun(
            tool="guidellm",
            version=_version(report, benchmarks[0]),
            name=f"{backend['model'] or 'GuideLLM'} {named}{' …' if len(levels) > NAMED else ''}",
            model=backend["model"],
            url=backend["target"],
            started_epoch_s=zero_s,
            levels=levels,
            lacks=[NO_CHUNKS, *_odd(report, benchmarks)],
            notes=[WALL, *_notes(benchmarks, tables)],
        )
    ]


def _level(benchmark: Json, table: Json, zero_s: float) -> ForeignLevel:
    strategy = _strategy(benchmark)
    kind = str(strategy.get("type_"))
    name, streams, rate = _load(kind, strategy)
    return ForeignLevel(
        name,
        "open" if kind in OPEN_LOOP else "closed",
        streams,
        rate,
        _answers(table, benchmark, zero_s, kind in OPEN_LOOP),
        span(benchmark.get("duration")),
        _figures(benchmark["metrics"]),
    )


def _load(kind: str, strategy: Json) -> tuple[str, int | None, float | None]:
    rate = finite(strategy.get("rate"))
    most = whole(strategy.get("streams")) or whole(strategy.get("max_concurrency"))
    if kind in OPEN_LOOP:
        return f"{rate:.4g}/s" if rate else kind, most, rate
    if kind == "synchronous":
        return "c=1", 1, None
    if kind == "throughput":
        return "as fast as possible" + (f", at most {most}" if most else ""), most, None
    return (f"c={most}" if most else kind), most, None


def _table(source: Source, i: int, benchmark: Json) -> Json:
    """One benchmark's requests as columns of wall-clock seconds, sorted by their start."""
    is_new = "config" in benchmark or "scheduler_metrics" in benchmark
    groups = field_of(source, benchmark, "requests", dict)
    listed = [(group, one) for group in GROUPS for one in parts(groups, group)]
    times = [_times(one, is_new) for _, one in listed]
    found: Json = {
        name: column(source, f"benchmarks[{i}].{names[0]}", _first_of(times, names), MOST_EPOCH_S)
        for name, names in (NEW if is_new else OLD).items()
    }
    none = np.full(len(listed), np.nan)
    found = {"chunk": none, "visible": none} | found
    counted = [("prompt_tokens", None), ("output_tokens", None), ("cached_tokens", None)]
    for name, _ in counted:
        found[name] = column(
            source,
            f"benchmarks[{i}].{name}",
            [_tokens(one, name) for _, one in listed],
            MOST_TOKENS,
        )
    found["n_chunks"] = column(
        source, "token_iterations", [t.get("token_iterations") for t in times], MOST_TOKENS
    )
    order = np.argsort(found["start"], kind="stable")
    found = {name: values[order] for name, values in found.items()}
    rows = [listed[k] for k in order.tolist()]
    return found | {
        "status": [group for group, _ in rows],
        "error": [_error(one) for _, one in rows],
        "ids": [str(one.get("request_id") or "") for _, one in rows],
    }


def _times(one: Json, is_new: bool) -> Json:
    if not is_new:
        return one | part(one, "scheduler_info")
    return part(part(one, "info", "scheduler_info"), "timings", "request_timings")


def _first_of(times: list[Json], names: tuple[str, ...]) -> list[Any]:
    return [
        next((found for name in names if (found := row.get(name)) is not None), None)
        for row in times
    ]


def _tokens(one: Json, name: str) -> Any:
    """As the request says; else as its metrics do."""
    if (found := one.get(name)) is not None:
        return found
    side = part(one, "output_metrics" if name == "output_tokens" else "input_metrics")
    return side.get("cached_tokens" if name == "cached_tokens" else "total_tokens")


def _error(one: Json) -> str:
    said = one.get("error") or part(one, "info").get("error")
    return said if isinstance(said, str) else ""


def _answers(table: Json, benchmark: Json, zero_s: float, is_open: bool) -> Answers:
    start = table["start"]
    spans: dict[str, Floats] = {
        name: table[name] - start for name in ("chunk", "first", "visible", "last", "end")
    }
    outcome = [_outcome(*row) for row in zip(table["status"], table["error"], start, strict=True)]
    return answers(
        outcome,
        start_s=start - zero_s,
        due_s=table["due"] - zero_s if is_open else np.full(len(start), np.nan),
        first_chunk_s=spans["chunk"],
        ttft_s=spans["first"],
        visible_s=spans["visible"],
        last_s=spans["last"],
        end_s=spans["end"],
        prompt_tokens=table["prompt_tokens"],
        output_tokens=table["output_tokens"],
        detail=[detail_of(said) for said in table["error"]],
        request_ids=table["ids"],
        more={
            name: values
            for name, values in (
                ("queue_s", start - table["taken"]),
                ("cached_tokens", table["cached_tokens"]),
                ("n_chunks", table["n_chunks"]),
            )
            if not np.isnan(values).all()
        },
        extra={"status": table["status"]} | _window(benchmark, zero_s),
    )


def _outcome(status: str, said: str, start: float) -> str:
    if math.isnan(start):
        return "not_sent"
    if status == "successful":
        return "complete"
    return "cancelled" if status == "incomplete" else outcome_of(said)


def _window(benchmark: Json, zero_s: float) -> dict[str, float]:
    """What the tool takes for its measured window, on the run's line."""
    told = part(benchmark, "scheduler_metrics")
    found = {name: finite(told.get(name)) for name in ("measure_start_time", "measure_end_time")}
    return {
        name.replace("_time", "_s"): value - zero_s
        for name, value in found.items()
        if value is not None
    }


def _figures(metrics: Json) -> dict[str, float]:
    """The summary: of the successful; the total too, but not of latencies, where failures are 0."""
    found: dict[str, float] = {}
    for name, value in flat(metrics).items():
        metric, _, rest = name.partition(".")
        group = rest.partition(".")[0]
        is_total = group == "total" and metric.endswith("_ms")
        if metric not in MEDIA and group not in ("errored", "incomplete") and not is_total:
            found[name] = value
    return found


def _strategy(benchmark: Json) -> Json:
    return part(part(benchmark, "config", "args"), "strategy")


def _backend(report: Json, benchmark: Json) -> Json:
    worker, args = part(benchmark, "worker"), part(report, "args")
    backend = part(part(benchmark, "config"), "backend")
    return {
        "model": text(backend.get("model")) or text(worker.get("backend_model"))
        or text(args.get("model")),
        "target": text(backend.get("target")) or text(worker.get("backend_target"))
        or text(args.get("target")),
    }  # fmt: skip


def _version(report: Json, benchmark: Json) -> str:
    told = text(part(report, "metadata").get("guidellm_version"))
    return told or ("0.5 or later" if "config" in benchmark else "0.2 schema")


ASKED = {"rate": RATE, "streams": COUNT, "max_concurrency": COUNT}


def _odd(report: Json, benchmarks: list[Json]) -> list[str]:
    said = odd_fields(part(report, "metadata"), {"guidellm_version": TEXT})
    for i, benchmark in enumerate(benchmarks):
        within = f"benchmarks[{i}]."
        said += odd_fields(benchmark, {"duration": SPAN}, within)
        said += odd_fields(_strategy(benchmark), ASKED, f"{within}strategy.")
    return said


def _notes(benchmarks: list[Json], tables: list[Json]) -> list[str]:
    said: list[str] = []
    for i, (benchmark, table) in enumerate(zip(benchmarks, tables, strict=True)):
        stats = part(benchmark, "scheduler_metrics", "run_stats")
        made = finite(part(stats, "requests_made").get("total"))
        if made is not None and made > len(table["status"]):
            said.append(
                f"Benchmark {i + 1} lists {len(table['status']):,} of the {made:,.0f} requests it "
                "made; the others are lost."
            )
    return said
