"""An endpoint's explanation as tiles, tables and links; takes the dict of loadgen.explain."""

from typing import Any

import pandas as pd

from loadgen.explain_words import SOURCES
from ui.card import Tile
from ui.plain import DASH, counted, ms, number

Json = dict[str, Any]
SHOWN_EVENTS = 5_000
"""Rows of the events table; the JSON holds all of them."""
FACT_CHARACTERS = 200


def target_of(typed: Json) -> Json:
    """What the check is asked: the page's fields, blanks around them removed."""
    return {k: v.strip() if isinstance(v, str) else v for k, v in typed.items()}


def endpoint_params(typed: Json) -> dict[str, str]:
    """The query of the New run page that fills in this endpoint, all but its key's variable."""
    target = target_of(typed)
    if target["url"].startswith("sim://"):
        return {"profile": target["url"].removeprefix("sim://")}
    params = {"endpoint": "My endpoint"} | {k: target[k] for k in ("url", "api", "model")}
    params |= {k: target[k] for k in ("ca_file", "tokenizer") if target.get(k)}
    if target.get("verify_tls") is False:
        params["verify_tls"] = "false"
    return {name: value for name, value in params.items() if value}


def check_tiles(said: Json) -> list[Tile]:
    """From opening the connection to the last token; a dash where there is no such instant."""
    phases, gaps = said["phases"], said["chunk_gap"]
    whole_ms = phases["whole_ms"]
    end_ms, end_note = (
        (phases["last_token_ms"], "to the last token")
        if whole_ms is None
        else (whole_ms, "to the last byte")
    )
    return [
        _connect_tile(phases),
        Tile("Headers", ms(phases["headers_ms"]), "after the send", HELP["headers"]),
        Tile("TTFT", ms(phases["first_token_ms"]), _ttft_note(said), HELP["ttft"]),
        Tile("First visible", ms(phases["first_visible_ms"]), "TTFT visible", HELP["visible"]),
        Tile("Chunk gap p50", ms(gaps["p50_ms"]), _gap_note(said), HELP["gap"]),
        _tokens_tile(said["tokens"]),
        Tile("E2E", ms(end_ms), end_note, HELP["e2e"]),
    ]


HELP = {
    "connect": "Name, TCP and TLS. This one request opened its connection, so the times after the "
    "send hold it; a run on warm connections pays it before its clock.",
    "headers": "The read that completed the response head. Not a token.",
    "ttft": "First token-bearing event after the send: content, reasoning, refusal or tool call.",
    "visible": "First token that is no reasoning.",
    "gap": "Median time between successive token events. One answer, so no tail is shown.",
    "tokens": "As the server counts them; chunks are events with text, which may hold several. "
    "Of an answer without text, as embeddings are, those of the prompt.",
    "e2e": "From the send to the last token, or to the last byte of an answer in one piece.",
}


def _connect_tile(phases: Json) -> Tile:
    parts = {"name": "dns_ms", "TCP": "connect_ms", "TLS": "tls_ms"}
    known = {title: phases[key] for title, key in parts.items() if phases[key] is not None}
    note = " · ".join(f"{title} {number(value, 2)}" for title, value in known.items())
    return Tile("Connect", ms(sum(known.values()) if known else None), note, HELP["connect"])


def _ttft_note(said: Json) -> str:
    return "no stream" if said["form"] == "whole" else "after the send"


def _gap_note(said: Json) -> str:
    gaps = said["chunk_gap"]
    if not gaps["n"]:
        return "no gap"
    is_batched = any(warning["name"] == "batched" for warning in said["warnings"])
    return f"{'batches' if is_batched else counted(gaps['n'], 'gap')}, max {number(gaps['max_ms'])}"


def _tokens_tile(tokens: Json) -> Tile:
    chunks = counted(tokens["chunks"], "chunk")
    if tokens["output"] is None and not tokens["chunks"] and tokens["prompt"] is not None:
        return Tile("Tokens", f"{tokens['prompt']:,}", "in the prompt", HELP["tokens"])
    if tokens["output"] is None:
        return Tile("Tokens", DASH, "not counted", HELP["tokens"])
    return Tile("Tokens", f"{tokens['output']:,}", f"in {chunks}", HELP["tokens"])


def events_table(said: Json) -> pd.DataFrame:
    """One row per event, the first SHOWN_EVENTS of them."""
    rows = said["events"][:SHOWN_EVENTS]
    columns = {
        "After ms": [row["ms"] for row in rows],
        "Gap ms": [row["gap_ms"] for row in rows],
        "Kind": [row["kind"] for row in rows],
        "Text": [row["text"] for row in rows],
        "Says": [_says(row) for row in rows],
        "Tokens": ["" if row["tokens"] is None else f"{row['tokens']:,}" for row in rows],
        "Read": [row["read"] for row in rows],
        "Bytes": [row["bytes"] for row in rows],
        "Read late, ms": [row["lag_ms"] for row in rows],
    }
    told = {name: cells for name, cells in columns.items() if _is_told(cells)}
    return pd.DataFrame(told)


def _is_told(cells: list[Any]) -> bool:
    """A column in which nothing stands is left out."""
    return any(cell not in (None, "") for cell in cells)


def _says(row: Json) -> str:
    choice = f"choice {row['choice']}" if row["choice"] else ""
    shared = "arrival shared" if row["shared"] else ""
    return " · ".join(part for part in (choice, row["note"], shared) if part)


def facts_table(said: Json) -> pd.DataFrame:
    """What the answer says beside its text; a table, so that it stays plain text."""
    tokens, asked = said["tokens"], said["asked"]
    told = {
        "HTTP": f"{asked['http']}, status {said['http_status']}" if said["http_status"] else None,
        "Model asked": asked["model"],
        "Model that answers": said["model"],
        "Finish reason": said["finish_reason"],
        "Prompt tokens": tokens["prompt"],
        "of them cached": tokens["cached"],
        "Output tokens": tokens["output"],
        "of them reasoning": tokens["reasoning"],
        "Counted by": SOURCES.get(tokens["source"]) if tokens["source"] else None,
        "Arrival stamps": {"kernel": "kernel", "user": "user space"}.get(said["stamps"] or ""),
        "Events": ", ".join(f"{n:,} {kind}" for kind, n in said["kinds"].items()),
        "Reads, bytes": f"{said['reads']:,}, {said['bytes']:,}",
        "Answer's id": said["ids"]["response"],
        "Server's request id": said["ids"]["server"],
        **{f"Server: {name}": ms(v) for name, v in said["server_ms"].items() if v is not None},
        **{f"Header {name}": value for name, value in said["headers"].items()},
    }
    rows = [(name, _text(value)) for name, value in told.items() if value not in (None, "")]
    return pd.DataFrame(rows, columns=pd.Index(["What", "Said"]))


def _text(value: Any) -> str:
    text = f"{value:,}" if isinstance(value, int) else str(value)
    return text if len(text) <= FACT_CHARACTERS else text[: FACT_CHARACTERS - 1] + "…"
