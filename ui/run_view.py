"""Which words and which level lead on the Run page."""

from typing import Any

from analysis.unanswered import ONLY_SUMMARY
from analysis.validity import DISBELIEF
from analysis.verdict import is_answered, knee
from loadgen.run_folder import terminal
from ui.card import Tone
from ui.run_text import STATES

Json = dict[str, Any]
TONES: dict[str, Tone] = {"good": "green", "bad": "red", "warn": "orange", "neutral": "gray"}
UNDEFINED_SHARE = 0.2  # of a level's gaps; above it the rest does not stand for the level
SLO_WORDS = {
    "met": "Holds its objective at every level",
    "not enough data": "Too few requests to judge its objective",
}
VALIDITY: dict[str, tuple[Tone, str]] = {
    "exact": ("green", "times exact"),
    "bounded": ("green", "times right within {bound_ms:.2g} ms"),
    "saturated": ("red", "do not believe: load generator saturated"),
    "unknown": ("gray", "validity unknown"),
}


def leading_level(levels: list[Json]) -> int:
    """Index of the level a reader asks about: the highest that holds each objective, else the knee.

    levels: of show.py, at least one.
    """
    if levels[0]["slos"]:
        return (_held(levels) or [0])[-1]
    answered = [i for i, level in enumerate(levels) if is_answered(level)]
    if not answered:
        return 0
    at = knee([levels[i] for i in answered])
    return answered[-1 if at is None else at]


def levels_without_itl(levels: list[Json]) -> list[str]:
    """The levels whose gaps per token are unknown, or undefined for more than UNDEFINED_SHARE."""
    found: list[str] = []
    for level in levels:
        itl, gaps = level["metrics"]["itl"], level["metrics"]["chunk_gap"]["n"]
        undefined = itl.get("undefined", 0)
        if gaps and (not itl["n"] or undefined > UNDEFINED_SHARE * (itl["n"] + undefined)):
            found.append(level["name"])
    return found


def verdict_words(shown: Json) -> tuple[str, str]:
    """(headline, sentences) of a run.  The sentences may quote the server: plain text."""
    found, validity, slo = shown["verdict"], shown["validity"], shown["slo"]["result"]
    sentences = [found["text"], *found["more"]]
    if validity["reason"] not in sentences:
        sentences.append(validity["reason"])
    if validity["verdict"] == "saturated":
        headline = DISBELIEF
        sentences = [_without_disbelief(said) for said in sentences]
    elif found["text"] == ONLY_SUMMARY:
        headline = "An imported summary"
    elif not any(map(is_answered, shown["levels"])):
        headline = "No request was answered"
    else:
        headline = _slo_words(shown["levels"], slo)
    return headline, "\n".join(sentences)


def validity_words(validity: Json) -> tuple[Tone, str]:
    """(tone, words) of a badge: may the times of a run, or of a level, be believed?"""
    tone, words = VALIDITY[validity["verdict"]]
    if validity["verdict"] == "bounded" and validity["bound_ms"] is None:
        return tone, "times right within a bound"
    return tone, words.format(bound_ms=validity["bound_ms"])


def _without_disbelief(said: str) -> str:
    """The sentence without the words that already stand above it."""
    rest = said.replace(f"{DISBELIEF}: ", "", 1)
    return rest[:1].upper() + rest[1:]


def _slo_words(levels: list[Json], slo: str | None) -> str:
    held = _held(levels)
    if slo == "missed" and held:
        return f"Holds its objective up to {levels[held[-1]]['name']}"
    if slo == "missed":
        broken = (lv["name"] for lv in levels if any(s["result"] == "missed" for s in lv["slos"]))
        return f"Does not hold its objective at {next(broken)}"
    return SLO_WORDS.get(slo or "", "What was measured")


def _held(levels: list[Json]) -> list[int]:
    """The lowest levels that hold every objective, up to the first that does not."""
    met = [bool(lv["slos"]) and all(s["result"] == "met" for s in lv["slos"]) for lv in levels]
    return list(range(met.index(False))) if False in met else list(range(len(met)))


def unfinished_sentence(run: Json) -> tuple[Tone, str, str] | None:
    """(tone, word, sentence) of a run that did not measure all it was asked for."""
    if run["state"] == "finished" or not terminal(run["state"]):
        return None
    tone, word = STATES[run["state"]]
    return tone, word, run["message"] or "What was measured until then is below."


def ttft_limit_ms(levels: list[Json]) -> float | None:
    """The objective that is drawn into TTFT charts."""
    slos = levels[0]["slos"] if levels else []
    return next((slo["max_ms"] for slo in slos if slo["metric"].startswith("ttft")), None)
