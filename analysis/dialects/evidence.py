"""From a level of a stored run to the columns that dialects compute with, and what else they need.

Our own records know more than most files, and less in one place: of events that are no tokens
only their number is kept, not their time.  first_chunk_s is therefore not told; the time of the
response's head (`head_s`) is the earliest it can be, and vllm.py says so beside the number.
"""

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from analysis.dialects.line import Facts
from analysis.frames import Floats, floats, number, words
from analysis.per_request import answered_us, connect_ms
from analysis.reading import Reading, StageReading
from storage.exchange.answers import Answers, Ints, answers

Json = dict[str, Any]
AskArrow = Callable[..., pa.Table]

MOST_CHUNKS = 1_000_000
"""Token events of a level that are read one by one: all dialects need 1 s and 150 MB for them."""
US_PER_S = 1e6
LIMITS = ("ttft", "tpot", "e2e")


def no_chunks_of(run: Json, stage: StageReading) -> str | None:
    """Why single arrivals of the level are not read; None where they are."""
    if number(run.get("raw_dropped_epoch_ns")) is not None:
        return "The run's token events were dropped to save room; its requests are kept."
    n = int(np.nansum(floats(stage.requests, "n_chunks")))
    if n > MOST_CHUNKS:
        return (
            f"The level has {n:,} token events; what needs each one's time is computed for up to "
            f"{MOST_CHUNKS:,}."
        )
    return None if n else "No token event of the level is stored."


def answers_of(reading: Reading, stage: StageReading, ask_arrow: AskArrow) -> Answers:
    """The level's requests, in the order they were sent; tokens as the measuring tool counts them.

    ask_arrow: storage.client.Store.ask_arrow.
    """
    run, imported = reading.run, imported_of(reading)
    requests = stage.requests.sort_values(["send_us", "request_id"], na_position="last")
    send = floats(requests, "send_us")
    zero = float(np.nanmin(send)) if not np.isnan(send).all() else 0.0
    chunk_of, chunk_us, chunk_tokens = _chunks(run, stage, requests, ask_arrow)
    events = {} if imported else _other_events(run, stage, requests, ask_arrow)
    last = answered_us(requests)
    return answers(
        words(requests, "outcome"),
        start_s=np.full(len(send), np.nan) if _has_no_times(imported) else (send - zero) / US_PER_S,
        due_s=(floats(requests, "due_us") - zero) / US_PER_S,
        ttft_s=_from_send(requests, "first_token_us"),
        visible_s=_from_send(requests, "first_visible_us"),
        last_s=(last - send) / US_PER_S,
        end_s=_from_send(requests, "end_us"),
        prompt_tokens=floats(requests, "prompt_tokens"),
        output_tokens=_output_tokens(requests, imported),
        reasoning_tokens=floats(requests, "reasoning_tokens"),
        chunk_of=chunk_of,
        chunk_s=(chunk_us - send[chunk_of]) / US_PER_S,
        chunk_tokens=chunk_tokens,
        phase=words(requests, "phase"),
        token_source=_token_source(requests, imported),
        more=_more(requests, events, last),
    )


def facts_of(reading: Reading, stage: StageReading, level: Json) -> Facts:
    """What the dialects need beside the answers.  level: its entry of `show --json`."""
    limits: dict[str, float] = {}
    for slo in level["slos"]:
        name = str(slo["metric"]).removesuffix("_sched")
        if name in LIMITS:
            limits[name] = min(limits.get(name, np.inf), float(slo["max_ms"]))
    imported = imported_of(reading)
    durations = imported.get("duration_s") or []
    at = int(stage.row["stage"])
    return Facts(
        duration_s=number(durations[at]) if at < len(durations) else None,
        slos_ms=limits,
        ours=level["metrics"],
        window_s=number(level["window_s"]),
        window_n=int(level["outcomes"].get("complete", 0)),
        is_foreign=bool(imported),
        no_chunks=no_chunks_of(reading.run, stage),
        connect_ms=_preflight_connect_ms(reading),
    )


def imported_of(reading: Reading) -> Json:
    """What is known of the file that the run was imported from; {} for a run of ours.

    tool, version, has_times, and by level reported (the tool's own summary) and duration_s.
    """
    found = reading.facts.get("imported")
    return found if isinstance(found, dict) else {}


def _preflight_connect_ms(reading: Reading) -> float | None:
    """DNS, TCP and TLS of the one connection that the preflight opened."""
    told = reading.run.get("preflight")
    row = (json.loads(told).get("row") or {}) if isinstance(told, str) and told else {}
    spans = [row.get(name) for name in ("dns_us", "connect_us", "tls_us")]
    known = [float(span) for span in spans if isinstance(span, int | float)]
    return sum(known) / 1e3 if known else None


def _has_no_times(imported: Json) -> bool:
    return bool(imported) and not imported.get("has_times")


def _output_tokens(requests: pd.DataFrame, imported: Json) -> Floats:
    """As the tool that measured counts them: its tokenizer's, where it has one of its own."""
    told, own = floats(requests, "output_tokens"), floats(requests, "tokenizer_tokens")
    return np.where(np.isnan(own), told, own) if imported else told


def _more(requests: pd.DataFrame, events: dict[str, Floats], last: Floats) -> dict[str, Floats]:
    connect_s = connect_ms(requests) / 1e3
    known = {} if np.isnan(floats(requests, "conn_reused")).all() else {"connect_s": connect_s}
    close_s = (floats(requests, "end_us") - last) / US_PER_S
    if not events:
        return known
    return known | events | {"close_s": close_s}


def _chunks(
    run: Json, stage: StageReading, requests: pd.DataFrame, ask_arrow: AskArrow
) -> tuple[Ints, Floats, Floats]:
    """(index of the request, arrival in µs of the run, tokens) of each chunk."""
    if no_chunks_of(run, stage):
        return np.empty(0, np.int64), np.empty(0), np.empty(0)
    wanted = {} if stage.traffic is None else {"traffic": stage.traffic}
    found = ask_arrow(
        "level_arrivals", run=str(run["run_uid"]), stage=int(stage.row["stage"]), **wanted
    )
    ids = floats(requests, "request_id").astype(np.int64)
    place = np.argsort(ids)
    of = found.column("request_id").to_numpy()
    chunk_of = place[np.searchsorted(ids[place], of)]
    # By request and then by time, as Answers has it; seq keeps its order among equal times.
    order = np.argsort(chunk_of, kind="stable")
    tokens = found.column("n_tokens").to_numpy().astype(np.float64)
    return (
        chunk_of[order],
        found.column("t_us").to_numpy().astype(np.float64)[order],
        tokens[order],
    )


def _other_events(
    run: Json, stage: StageReading, requests: pd.DataFrame, ask_arrow: AskArrow
) -> dict[str, Floats]:
    """How many events of each kind that is no token every answer had, and head_s, its head."""
    found = ask_arrow(
        "level_other_events", run=str(run["run_uid"]), stage=int(stage.row["stage"])
    ).to_pylist()
    of = {row["request_id"]: row for row in found}
    mine = [of.get(int(id_), {}) for id_ in floats(requests, "request_id")]
    kinds = [json.loads(row.get("other_events") or "{}") for row in mine]
    head_us = np.array([row.get("headers_us") or np.nan for row in mine], dtype=np.float64)
    told = {
        kind: np.array([float(counts.get(kind, 0)) for counts in kinds], dtype=np.float64)
        for kind in ("role", "finish", "usage")
    }
    return told | {"head_s": (head_us - floats(requests, "send_us")) / US_PER_S}


def _from_send(requests: pd.DataFrame, column: str) -> Floats:
    return (floats(requests, column) - floats(requests, "send_us")) / US_PER_S


def _token_source(requests: pd.DataFrame, imported: Json) -> Any:
    """Who counted the tokens that `_output_tokens` tells, where all requests say the same."""
    if imported and not np.isnan(floats(requests, "tokenizer_tokens")).all():
        return "tokenizer"
    found = {source for source in words(requests, "token_source") if source}
    return found.pop() if len(found) == 1 else None
