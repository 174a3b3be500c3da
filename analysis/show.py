"""A run as one JSON value: what `headway show --json` prints and `run --json FILE` writes.

The keys are a contract (docs/show_json.md): new ones may be added, none goes away.
"""

import json
from collections import Counter
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pandas as pd

from analysis import searches
from analysis.cache_check import cache_check
from analysis.frames import number, where, words
from analysis.levels import levels
from analysis.prompt_slope import prompt_slope
from analysis.reading import Ask, Reading, read, rows
from analysis.slo import worst_result
from analysis.validity import Validity, worst
from analysis.verdict import headline
from analysis.windows import is_complete, is_load

Json = dict[str, Any]

SEED = 1968  # of what is resampled: the same run prints the same numbers


def show(ask: Ask, run: str, is_whole: bool = False) -> Json:
    """Everything Headway says of a run.  ask: the store's queries; run: its run_uid.

    is_whole: of each level as a whole instead of its window.
    """
    return show_of(read(ask, run, is_whole))


def show_of(reading: Reading) -> Json:
    """The same of frames that are at hand; finite numbers, text, None, lists and dicts only."""
    found, answers = levels(reading), reading.facts.get("search") or []
    shown: Json = {
        "run": _run(reading),
        "validity": _validity(found),
        "outcomes": _outcomes(reading),
        "failures": _failures(reading),
        "slo": _slo(found, answers),
        "cache": _cache(reading),
        "search": answers,
        "prompt_slope": prompt_slope(reading.stages, np.random.default_rng(SEED)),
        "levels": found,
    }
    return {"verdict": headline(shown).to_dict(), **shown}


def _run(reading: Reading) -> Json:
    row = reading.run
    epoch_ns = number(row.get("epoch_ns"))
    started = datetime.fromtimestamp(epoch_ns / 1e9, tz=UTC) if epoch_ns else None
    return {
        "uid": str(row["run_uid"]),
        "name": _text(row.get("name")),
        "state": _text(row.get("state")),
        "message": _text(row.get("message")),
        "started_at": started.isoformat(timespec="seconds") if started else None,
        "plan_sha256": _text(row.get("plan_sha256")),
        "stamps": _text(row.get("stamps")),
        "http": _text(row.get("http")),
        "insecure": row.get("insecure") in (True, 1),
        "proxy": _text(row.get("proxy")),
        "connections": reading.plan.connections if reading.plan else None,
        "dropped_fields": _parsed(row.get("dropped_fields")) or [],
        "self_test": _parsed(row.get("self_test")),
        "notes": [*(_parsed(row.get("notes")) or []), *_silent(reading), *_dropped(row)],
        "host": _text(row.get("host")),
        "machines": reading.facts.get("machines"),
        "targets": reading.facts.get("targets"),
        "prompts": reading.facts.get("prompts"),
        "replay": reading.facts.get("replay"),
        "imported": _imported(reading),
        "model": reading.plan.target.model if reading.plan else _text(row.get("model")),
        "target": reading.plan.target.url if reading.plan else _text(row.get("url")),
    }


def _imported(reading: Reading) -> Json | None:
    """Which file the run is from, and what it lacks; the tool's own figures are in the tables."""
    told: Json = reading.facts.get("imported") or {}
    return {k: v for k, v in told.items() if not k.startswith(("reported", "duration"))} or None


def _dropped(row: dict[str, Any]) -> list[str]:
    """That the run's token events are gone, and what that means."""
    at_ns = number(row.get("raw_dropped_epoch_ns"))
    if at_ns is None:
        return []
    day = datetime.fromtimestamp(at_ns / 1e9, tz=UTC)
    return [
        f"Its token events were removed on {day:%Y-%m-%d} to save space: answers worked out before "
        "are exact, others come from summaries, within 1 %; single tokens can no longer be seen."
    ]


def _silent(reading: Reading) -> list[str]:
    """A sentence for each class of the plan that no request of a run with requests was of."""
    sent = {name for stage in reading.stages for name in words(stage.requests, "traffic_class")}
    traffic = reading.plan.traffic() if reading.plan else ()
    return [
        f"Class {one.name} sent nothing: with so few requests or streams its share is none."
        for one in traffic
        if sent and one.name not in sent
    ]


def _validity(found: list[Json]) -> Json:
    """The worst level's verdict, with the largest doubt and the sums over the levels."""
    verdict = worst(
        [(v["name"], Validity(v["validity"]["verdict"], v["validity"]["reason"])) for v in found]
    )
    seen = [level["validity"] for level in found]
    events = sum(v["n_events"] for v in seen)
    return {
        "verdict": verdict.verdict,
        "reason": verdict.reason,
        "bound_ms": _most(v["bound_ms"] for v in seen),
        "lag_p99_ms": _most(v["lag_p99_ms"] for v in seen),
        "send_lag_p99_ms": _most(v["send_lag_p99_ms"] for v in seen),
        "shared_share": sum(v["n_shared"] for v in seen) / events if events else None,
        "missing_stamps": sum(v["missing_stamps"] for v in seen),
    }


def _outcomes(reading: Reading) -> dict[str, int]:
    """Requests of the whole run by outcome, preflight left out, most frequent first."""
    counts: Counter[str] = Counter()
    for stage in reading.stages:
        counts.update(words(stage.requests, "outcome"))
    return dict(counts.most_common())


def _failures(reading: Reading) -> list[Json]:
    """What failed where, with one text of each kind, most frequent first; cancelled is none."""
    frame = reading.outcomes
    names = {int(stage.row["stage"]): str(stage.row["name"]) for stage in reading.stages}
    found: list[Json] = [
        {
            "stage": names.get(int(row["stage"]), str(row["stage"])),
            "outcome": str(row["outcome"]),
            "n": int(row["n"]),
            "detail": _text(row["detail"]),
        }
        for row in rows(frame)
        if str(row["outcome"]) not in ("complete", "cancelled")
    ]
    return sorted(found, key=lambda row: -row["n"])


def _slo(found: list[Json], answers: list[Json]) -> Json:
    """The run's objectives together: met only when each level meets each of them.

    A search's probes are no such levels: it meets them where it found a load at which they hold.
    """
    levels = searches.beside(answers, found)
    judged = [(level, slo) for level in levels for slo in level["slos"]]
    results = [slo["result"] for _, slo in judged]
    results += [searches.result(answer) for answer in searches.searches(answers)]
    broken = [
        f"{level['name']}: {slo['sentence']}" for level, slo in judged if slo["result"] != "met"
    ]
    return {"result": worst_result(results), "broken": [*broken, *searches.broken(answers)]}


def _cache(reading: Reading) -> Json:
    """Whether prompts were answered from a prefix cache; over the whole run, warm-up left out."""
    parts = [
        where(s.requests, is_complete(s.requests) & is_load(s.requests)) for s in reading.stages
    ]
    requests = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()
    traffic = reading.plan.traffic() if reading.plan else ()
    prefixes = {t.name: t.workload.prefix.tokens if t.workload.prefix else 0 for t in traffic}
    return cache_check(requests, reading.facts.get("cache"), prefixes).to_dict()


def _most(values: Any) -> float | None:
    return max((value for value in values if value is not None), default=None)


def _parsed(value: object) -> Any:
    """A JSON column's value; None for null."""
    return json.loads(value) if isinstance(value, str) and value else None


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None
