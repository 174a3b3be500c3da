"""Sentences on how tools differ, each with the numbers of the level at hand, "" where it does not.

Columns of `answers.more`: `connect_s` (NaN: the connection was open already) where it is known, and
of Headway's own records `role` and `finish` (events without a token, per request) `close_s`
(stream closed - last token) and `head_s` (response's head, from the send).
"""

import numpy as np

from analysis.dialects.cut import Cut, known
from analysis.dialects.line import Facts
from analysis.dialects.sheet import fig
from storage.exchange.answers import Floats

MS = 1e3
NO_CHUNKS = "The file holds no arrival of single chunks."


def told(of: Cut, name: str) -> Floats | None:
    """A column that only some records have."""
    return of.answers.more.get(name)


def no_chunks(facts: Facts) -> str:
    """Why there are no gaps."""
    return facts.no_chunks or NO_CHUNKS


def always_connects(of: Cut, facts: Facts, tool: str) -> str:
    """Of a tool that opens a connection for each request, which is within its TTFT."""
    connect = told(of, "connect_s")
    if connect is None:
        return ""
    opened = known(connect) * MS
    reused = len(connect) - len(opened)
    if not reused:
        return ""
    cost = float(np.median(opened)) if len(opened) else facts.connect_ms
    here = f" (here {fig(cost)} ms)" if cost is not None else ""
    return (
        f"{tool} would open a connection for each request{here}; {reused:,} of {len(connect):,} "
        "answers came on one already open."
    )


def connect_inside(of: Cut) -> str:
    """Of a tool that counts a new connection as we do, where there was one."""
    connect = told(of, "connect_s")
    opened = known(connect) if connect is not None else np.empty(0)
    if not len(opened):
        return ""
    return (
        f"Both count the connect of the {len(opened):,} requests that opened a connection: "
        f"{fig(float(np.median(opened)) * MS)} ms, median."
    )


def from_send(of: Cut) -> str:
    """Of a tool that starts its clock at the send although requests were due by a schedule."""
    lag = known(of.answers.start_s - of.answers.due_s) * MS
    if not len(lag) or float(np.percentile(lag, 99)) <= 0:
        return ""
    return (
        f"Counted from the send: what a request waited before it (p99 {fig(_p99(lag))} ms) is in "
        "neither."
    )


def no_reasoning(of: Cut) -> str:
    """Of a tool for which reasoning is no token."""
    thinking = known(of.answers.visible_s - of.answers.ttft_s)
    n = int(np.sum(thinking > 0))
    if not n:
        return "It waits for content: answers without any have no value."
    median = float(np.median(thinking[thinking > 0])) * MS
    return (
        f"It does not count reasoning as a token: {n:,} answers thought first, for "
        f"{fig(median)} ms (median)."
    )


def one_token(of: Cut) -> str:
    """How many answers had one token or none, and so no time per token."""
    n = int(np.sum(of.answers.output_tokens <= 1))
    return f"{n:,} of {len(of):,} answers had one token." if n else ""


def first_chunk_tokens(of: Cut) -> str:
    """Of a tool that takes the first chunk for one token."""
    more = known(of.first_tokens)
    n = int(np.sum(more > 1))
    if not n:
        return ""
    return (
        f"It divides by tokens − 1, ours by the tokens after the first chunk: {n:,} first chunks "
        f"held more than one, {fig(float(np.mean(more[more > 1])))} on average."
    )


def gap_per_chunk(of: Cut) -> str:
    """How a gap per chunk differs from one per token."""
    tokens = known(of.gap_tokens)
    if not len(tokens):
        return "Its gaps are per chunk; nobody told how many tokens a chunk holds."
    return f"Its gaps are per chunk; a chunk holds {fig(float(np.mean(tokens)))} tokens here."


def dropped(of: Cut, n_complete: int) -> str:
    """How many requests the tool leaves out of every latency."""
    n = len(of) - n_complete
    return f"{n:,} of {len(of):,} requests failed and are in no latency." if n else ""


def windowed(facts: Facts, duration_s: float | None, words: str) -> str:
    """How a rate over the whole level differs from ours over its window."""
    theirs = f"It divides by {words}" + (f", {fig(duration_s)} s" if duration_s else "")
    if facts.window_s is None:
        return theirs + "."
    if duration_s and fig(duration_s) == fig(facts.window_s):
        return f"{theirs}; ours by the same seconds."
    return f"{theirs}; ours counts what arrived within a window of {fig(facts.window_s)} s."


def _p99(values: Floats) -> float:
    return float(np.percentile(values, 99))
