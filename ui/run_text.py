"""What a plan and a status say about a run, in the words every page uses."""

from typing import Any
from urllib.parse import urlsplit

import pandas as pd

from loadgen.wire.registry import APIS
from ui.card import Tone
from ui.load_words import length_text, load_text
from ui.plain import counted, seconds
from ui.presets import api_title

USUAL_API = "openai_chat"

STATES: dict[str, tuple[Tone, str]] = {
    "queued": ("gray", "Waiting"),
    "starting": ("blue", "Starting"),
    "running": ("blue", "Running"),
    "stopping": ("orange", "Stopping"),
    "decoding": ("blue", "Reading the last tokens"),
    "finished": ("green", "Finished"),
    "stopped": ("orange", "Stopped"),
    "failed": ("red", "Failed"),
    "interrupted": ("red", "Interrupted"),
}


def endpoint_text(url: str) -> str:
    """Where the requests went: `simulator · small-gpu` with its settings, or host and port."""
    parts = urlsplit(url)
    if parts.scheme == "sim":
        return " · ".join(["simulator", parts.netloc, *filter(None, [parts.query])])
    return parts.netloc or url


def plan_labels(plan: dict[str, Any]) -> list[tuple[str, str]]:
    """Endpoint, its API if not the usual one, model, lengths and load; each (icon, words)."""
    target = plan["target"]
    told = [("dns", endpoint_text(target["url"]))]
    if target["api"] != USUAL_API:
        told.append(("api", api_title(target["api"])))
    told.append(("neurology", target["model"]))
    for traffic in plan["classes"] or [plan]:
        named = "" if traffic is plan else f"{traffic['name']}: "
        api = plan["targets"].get(traffic["target"], target)["api"] if named else target["api"]
        told.append(("data_object", named + workload_text(traffic["workload"], api)))
    return [*told, ("group", load_text(plan["stages"]))]


def workload_text(workload: dict[str, Any], api: str) -> str:
    """Lengths as planned, and whether answers were asked for in one piece; no output, no length."""
    tokens_in = f"{length_text(workload['prompt_tokens'])} tokens in"
    if not APIS[api].is_streaming:
        return tokens_in
    in_one_piece = "" if workload["stream"] else ", in one piece"
    return f"{tokens_in}, {length_text(workload['output_tokens'])} out{in_one_piece}"


def when_text(run: Any, timezone: str | None) -> str:
    """When it began in the reader's time zone, and how long it took.  run: a row of the store."""
    began: Any = run["started_at"]
    if pd.isna(began):
        return "date not told" if isinstance(run.get("source"), str) else "never began"
    local = began.tz_convert(timezone or "UTC")
    zone = "" if timezone else " UTC"
    took = f" · {seconds(run['duration_s'])}" if pd.notna(run["duration_s"]) else ""
    return f"{local:%-d %b %Y, %H:%M}{zone}{took}"


def stamps_text(run: Any) -> str:
    """Who took the arrival times."""
    known = {"kernel": "kernel stamps", "user": "user-space stamps"}
    return known.get(run["stamps"], "stamps unknown")


def runs_before(uid: str, under_way: list[str]) -> int:
    """How many of the runs under way were started before this one, which may have ended since."""
    return under_way.index(uid) if uid in under_way else 0


def queue_text(ahead: int, message: str) -> str:
    """What a waiting run waits for.  ahead: runs under way that were started before it."""
    if not ahead:
        return message
    them = "that has ended" if ahead == 1 else "they have ended"
    return f"{counted(ahead, 'run')} before this one; it starts when {them}."
