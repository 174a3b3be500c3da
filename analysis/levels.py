"""One load level of a run as `show --json` writes it: window, verdict, objectives, metrics."""

from collections import Counter
from dataclasses import asdict
from typing import Any

from analysis import answer_lengths, validity
from analysis.checks import checks
from analysis.delivery import delivery
from analysis.frames import floats, is_in, where, words
from analysis.gaps import gaps_of
from analysis.level_metrics import level_metrics
from analysis.lost_workers import less_load
from analysis.per_request import US_PER_MS, send_lag_ms
from analysis.prompt_lengths import PromptLengths, prompt_lengths, sentence
from analysis.quantiles import percentile
from analysis.reading import Reading, StageReading, cell
from analysis.remarks import remarks
from analysis.slo import judge

Json = dict[str, Any]


def levels(reading: Reading) -> list[Json]:
    """Every load level of the run, in the plan's order; the "levels" of docs/show_json.md."""
    return [_level(reading, stage) for stage in reading.stages]


def _level(reading: Reading, stage: StageReading) -> Json:
    window = stage.window
    metrics = level_metrics(reading, stage)
    seen = _evidence(reading, stage, metrics)
    found = validity.judge(seen)
    slos, traffic = reading.slos_of(stage), reading.traffic_of(stage)
    gaps = gaps_of(stage.gaps, "gap")
    lengths = _prompt_lengths(reading, stage)
    warnings = [*remarks(stage, reading.plan), *_natural_stops(reading, stage)]
    warnings += less_load(reading.facts, int(stage.row["stage"]))
    if lengths is not None and not _is_steady(lengths):
        warnings = [*warnings, sentence(lengths)]
    return {
        "stage": str(stage.row["name"]),
        "level": int(stage.row["stage"]),
        "name": stage.name,
        "why": str(stage.row["why"]) if isinstance(stage.row.get("why"), str) else None,
        "kind": stage.kind,
        "target": reading.plan.target_of(traffic).url if reading.plan and traffic else None,
        "class": stage.traffic or (traffic.name if traffic else "default"),
        "window_s": round(window.seconds, 6) if window.has_times else None,
        "window": {
            "begin_us": window.begin_us,
            "end_us": window.end_us,
            "short": window.short,
            "reason": window.reason,
            "by": window.by,
            "has_times": window.has_times,
            "automatic_us": [stage.automatic.begin_us, stage.automatic.end_us],
            "level_us": [*stage.span],
        },
        "mean_in_flight": metrics["mean_in_flight"]["value"],
        "requests": len(stage.cohort.arrived) if stage.is_told else None,
        "outcomes": dict(Counter(words(stage.cohort.arrived, "outcome"))),
        "validity": {
            "verdict": found.verdict,
            "reason": found.reason,
            "bound_ms": validity.doubt_ms(seen),
            "lag_p99_ms": seen.lag_p99_ms,
            "send_lag_p99_ms": seen.send_lag_p99_ms,
            "n_events": seen.n_events,
            "n_shared": seen.n_shared,
            "missing_stamps": seen.n_missing,
        },
        "checks": {name: check.to_dict() for name, check in checks(stage).items()},
        "delivery": delivery(stage).to_dict(),
        "prompt_lengths": lengths and {**asdict(lengths), "sentence": sentence(lengths)},
        "warnings": warnings,
        "slos": [judge(slo, stage.cohort, gaps, stage.kind).to_dict() for slo in slos],
        "metrics": metrics,
    }


def _prompt_lengths(reading: Reading, stage: StageReading) -> PromptLengths | None:
    """What was asked against what the server counted; the template's tokens, if known, apart."""
    traffic = reading.traffic_of(stage)
    known = (reading.facts.get("prompts") or {}).get(traffic.name if traffic else "", {})
    return prompt_lengths(stage.cohort.complete, known.get("overhead_tokens"))


def _natural_stops(reading: Reading, stage: StageReading) -> list[str]:
    """Where the plan wanted exact lengths and the model ended answers before them."""
    traffic = reading.traffic_of(stage)
    if traffic is None or not traffic.workload.ignore_eos:
        return []
    stops = answer_lengths.natural_stops(stage.cohort.complete)
    said = stops and answer_lengths.sentence(stops)
    return [said] if said else []


def _is_steady(lengths: PromptLengths) -> bool:
    """One difference on every prompt, and no other than the template seen before the run."""
    return lengths.others == 0 and lengths.overhead in (None, lengths.usual)


def _whole_answers(stage: StageReading) -> dict[str, int]:
    whole = where(stage.cohort.complete, is_in(stage.cohort.complete, "form", "whole"))
    missing = floats(whole, "n_missing_stamps") > 0
    return {"n_whole": len(whole), "n_whole_missing": int(missing.sum())}


def _evidence(reading: Reading, stage: StageReading, metrics: Json) -> validity.Evidence:
    """What validity.judge goes by, over the window."""
    told = reading.run.get("stamps")
    stamps = told if isinstance(told, str) else ""  # an imported run has none
    lag_us = cell(stage.bounds, "lag_p99_us")
    if stamps == "user" or not cell(stage.bounds, "n_events"):
        lag_us = validity.loop_lateness_us(reading.pulses, stage.window)
    bound_us = cell(stage.bounds, "bound_p99_us")
    return validity.Evidence(
        stamps=stamps,
        n_events=int(cell(stage.bounds, "n_events") or 0),
        n_shared=int(cell(stage.bounds, "n_shared") or 0),
        n_missing=int(cell(stage.bounds, "n_missing") or 0),
        bound_p99_ms=bound_us / US_PER_MS if bound_us is not None else None,
        lag_p99_ms=lag_us / US_PER_MS if lag_us is not None else None,
        send_lag_p99_ms=percentile(send_lag_ms(stage.cohort.arrived), 0.99),
        ttft_p50_ms=metrics["ttft"]["p50"],
        chunk_gap_p50_ms=metrics["chunk_gap"]["p50"],
        tpot_p50_ms=metrics["tpot"]["p50"],
        e2e_p50_ms=metrics["e2e"]["p50"],
        **_whole_answers(stage),
        hint=validity.hint_of(reading.pulses, stage.window),
    )
