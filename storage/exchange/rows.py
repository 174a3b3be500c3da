"""Answers of a foreign run as rows of the tables: µs of the run's line, null where nothing is told.

A run without start times has each request's send at 0, its own origin (docs/schema.md).
"""

from dataclasses import dataclass, fields
from math import isnan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from storage.exchange.answers import Answers, Floats, Ints
from storage.records import KINDS, TOKEN_EVENT, RequestRow

BACKWARDS = "The file's times of this request run backwards; they are left out."
TOLERANCE_S = 1e-6  # what the tables resolve
CONTENT, REASONING = KINDS.index("content"), KINDS.index("reasoning")
ORDER = ("first_chunk_s", "ttft_s", "visible_s", "last_s", "end_s")
Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class LevelRows:
    """One level's rows.  begin, issue_end and end in µs; n_backwards: requests with odd times."""

    requests: list[dict[str, Any]]
    tokens: NDArray[np.void]  # records.TOKEN_EVENT
    begin_us: int
    issue_end_us: int
    end_us: int
    n_backwards: int


def level_rows(told: Answers, stage: int, first_id: int, uid: str) -> LevelRows:
    """Rows of one level, whose requests are numbered from `first_id`."""
    n = len(told)
    odd = _backwards(told)
    start_s = told.start_s if told.has_times else np.zeros(n)
    at = {name: _us(start_s + np.where(odd, np.nan, getattr(told, name))) for name in ORDER}
    send = _us(start_s)
    keep = ~odd[told.chunk_of] & ~np.isnan(start_s[told.chunk_of] + told.chunk_s)
    tokens = _tokens(told, start_s, keep, first_id)
    per = np.bincount(told.chunk_of[keep], minlength=n)
    is_ok = np.array([ended == "complete" for ended in told.outcome], dtype=bool) & ~odd
    is_whole = is_ok & np.isnan(at["ttft_s"]) & ~np.isnan(_first_known(at["last_s"], at["end_s"]))
    taken = _first_known(_us(start_s - _more(told, "queue_s")), send, _us(told.due_s), np.zeros(n))
    last = np.where(is_whole, np.nan, at["last_s"])
    ended = np.fmax(_first_known(at["end_s"], at["last_s"], at["ttft_s"], send, taken), taken)
    counts = _counts(told, per)
    ids = told.request_ids or [""] * n
    outcome = [
        "malformed" if is_odd and found == "complete" else found
        for found, is_odd in zip(told.outcome, odd.tolist(), strict=True)
    ]
    columns: dict[str, list[Any]] = {
        "request_id": list(range(first_id, first_id + n)),
        "x_request_id": [own or f"{uid}-{first_id + i}" for i, own in enumerate(ids)],
        "phase": told.phase or ["measure"] * n,
        "outcome": outcome,
        "detail": [
            said or (BACKWARDS if is_odd else None)
            for said, is_odd in zip(told.detail or [None] * n, odd.tolist(), strict=True)
        ],
        "dispatched_us": _ints(taken),
        "end_us": _ints(ended),
        "due_us": _ints(_us(told.due_s)),
        "send_us": _ints(send),
        "conn_reused": _flags(_more(told, "conn_reused")),
        "dns_us": _ints(_us(_more(told, "dns_s"))),
        "connect_us": _ints(_us(_more(told, "connect_s"))),
        "first_token_us": _ints(at["ttft_s"]),
        "first_visible_us": _ints(at["visible_s"]),
        "last_token_us": _ints(np.where(np.isnan(at["ttft_s"]), np.nan, last)),
        "form": [
            "whole" if whole else "stream" if streamed else None
            for whole, streamed in zip(is_whole, ~np.isnan(at["ttft_s"]), strict=True)
        ],
        "whole_us": _ints(np.where(is_whole, _first_known(at["last_s"], at["end_s"]), np.nan)),
        "n_chunks": per.tolist(),
        "turn": _ints(_more(told, "turn")),
        **counts,
    }
    same = {f.name: f.default for f in fields(RequestRow)} | {"worker": 0, "stage": stage}
    same["other_events"] = {}
    rows = [
        same | dict(zip(columns, values, strict=True))
        for values in zip(*columns.values(), strict=True)
    ]
    asked = _first_known(_us(told.due_s), send, taken) if n else np.zeros(1)
    end = ended if n else np.zeros(1)
    return LevelRows(
        rows,
        tokens,
        begin_us=int(asked.min()),
        issue_end_us=int(_first_known(send, taken).max()) if n else 0,
        end_us=int(end.max()),
        n_backwards=int(odd.sum()),
    )


def _backwards(told: Answers) -> Mask:
    """Requests whose instants are not in their order: the wall clock was set, or worse."""
    odd = np.zeros(len(told), dtype=bool)
    before = np.zeros(len(told))
    for name in ORDER:
        span: Floats = getattr(told, name)
        odd |= span < before - TOLERANCE_S  # never true of NaN
        before = np.fmax(before, span)
    is_same = told.chunk_of[1:] == told.chunk_of[:-1]
    back = is_same & (np.diff(told.chunk_s) < -TOLERANCE_S)
    odd[told.chunk_of[1:][back]] = True
    odd[told.chunk_of[told.chunk_s < -TOLERANCE_S]] = True
    return odd


def _tokens(told: Answers, start_s: Floats, keep: Mask, first_id: int) -> NDArray[np.void]:
    of, span_s = told.chunk_of[keep], told.chunk_s[keep]
    tokens = np.zeros(len(of), TOKEN_EVENT)
    t_us = _us(start_s[of] + span_s).astype(np.int64)
    is_first = np.ones(len(of), dtype=bool)
    is_first[1:] = of[1:] != of[:-1]
    begins = np.flatnonzero(is_first)
    tokens["request_id"] = of + first_id
    tokens["seq"] = np.arange(len(of)) - np.repeat(begins, np.diff(np.append(begins, len(of))))
    tokens["t_us"] = t_us
    tokens["gap_us"] = np.where(is_first, -1, np.maximum(np.diff(t_us, prepend=0), 0))
    tokens["n_tokens"] = np.nan_to_num(told.chunk_tokens[keep], nan=0.0)
    # Before the first token that is no reasoning, where that is told, all is reasoning.
    is_reasoning = span_s < told.visible_s[of] - TOLERANCE_S
    tokens["kind"] = np.where(is_reasoning, REASONING, CONTENT)
    tokens["lag_us"] = -1  # no stamp of the kernel's: how the tool took its times is not told
    return tokens


def _counts(told: Answers, per: Ints) -> dict[str, list[Any]]:
    """Token columns: the server's usage where the file has it, else the tool's own counts."""
    usage = _more(told, "usage_output_tokens")
    output = _first_known(usage, told.output_tokens)
    is_usage = ~np.isnan(usage)
    sources = np.where(is_usage, "usage", told.token_source or "")
    by_tokenizer = told.output_tokens if told.token_source == "tokenizer" else usage * np.nan
    first = np.full(len(told), np.nan)
    first[told.chunk_of[::-1]] = told.chunk_tokens[::-1]  # numpy keeps the last: the first chunk
    chunks = np.where(per > 0, per, _more(told, "n_chunks"))
    is_one = (chunks == output) & (output > 0) & (sources != "tokenizer")
    first = np.where(np.isnan(first) & is_one, 1.0, first)
    return {
        "prompt_tokens": _ints(
            _first_known(_more(told, "usage_prompt_tokens"), told.prompt_tokens)
        ),
        "cached_tokens": _ints(_more(told, "cached_tokens")),
        "output_tokens": _ints(output),
        "reasoning_tokens": _ints(told.reasoning_tokens),
        "token_source": [
            str(source) or None if known else None
            for source, known in zip(sources, ~np.isnan(output), strict=True)
        ],
        "first_chunk_tokens": _ints(first),
        "tokenizer_tokens": _ints(by_tokenizer),
    }


def _more(told: Answers, name: str) -> Floats:
    return told.more.get(name, np.full(len(told), np.nan))


def _first_known(*columns: Floats) -> Floats:
    """Of each row the first value that is there."""
    found = columns[0]
    for column in columns[1:]:
        found = np.where(np.isnan(found), column, found)
    return found


def _us(seconds: Floats) -> Floats:
    """Whole µs, floored as everywhere; to ns first, for a float of 0.3 s is a bit less."""
    return np.floor(np.rint(seconds * 1e9) / 1e3)


def _ints(values: Floats) -> list[int | None]:
    return [None if isnan(value) else int(value) for value in values.tolist()]


def _flags(values: Floats) -> list[bool | None]:
    return [None if isnan(value) else bool(value) for value in values.tolist()]
