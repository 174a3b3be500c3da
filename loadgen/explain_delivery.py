"""What is odd about how an answer came: batches, buffers, compression, connection, stamps.

Each rule takes an explanation and returns one sentence with what to do, or None.
"""

from collections import Counter
from itertools import pairwise

from loadgen.explain_facts import Explanation
from loadgen.explain_words import counted

STREAM_TYPES = ("text/event-stream", "application/x-ndjson", "application/jsonl")
LATE_MS = 5.0
"""Reads later than this are our own fault, not the server's."""
FEW = 4
"""Fewer token events than this tell nothing about batches."""
SHORT_GAP = 0.05
"""Gaps below this share of the mean gap belong to one burst."""


def batched(seen: Explanation) -> str | None:
    """Half of the token events, or more, shared a read with another one."""
    events = Counter(read for read, _ in {(line.read, line.n) for line in seen.token_lines})
    n, together = events.total(), sum(k for k in events.values() if k > 1)
    if n < FEW or together * 2 < n:
        return None
    late = seen.max_lag_ms is not None and seen.max_lag_ms > LATE_MS
    if late:
        return (
            f"{together} of {n} token events were read together with others, and reads were up to "
            f"{seen.max_lag_ms:.0f} ms late: this machine is too busy to tell; free it, then check "
            "again."
        )
    if len(events) == 1:
        return (
            f"All {n} token events came in one piece: something on the way holds the answer back "
            "(a proxy that buffers or compresses, a cache), so there is no first token to time; "
            "switch it off for this path (nginx: proxy_buffering off, gzip off)."
        )
    return (
        f"{together} of {n} token events came together with others, in {len(events)} reads: the "
        "server or a proxy delivers in batches, so gaps within one mean nothing; switch buffering "
        "and compression off for this path (nginx: proxy_buffering off, gzip off), or lower the "
        "server's stream interval."
    )


def bursts(seen: Explanation) -> str | None:
    """Token events in reads of their own, but most of them right behind another one."""
    lines = seen.token_lines
    if len(lines) < 2 * FEW or seen.row.n_choices > 1 or batched(seen):
        return None
    arrivals = sorted({line.ms for line in lines})
    gaps = [b - a for a, b in pairwise(arrivals)]
    mean = sum(gaps) / len(gaps) if gaps else 0.0
    short = sum(gap < SHORT_GAP * mean for gap in gaps)
    if mean <= 1 or short * 2 < len(gaps):
        return None
    return (
        f"{short} of {len(gaps)} gaps between token events are next to nothing while the mean is "
        f"{mean:.1f} ms: tokens come in bursts (a proxy's buffer, speculative decoding, a stream "
        "interval), so read p99 of the gaps and TPOT, not the median gap."
    )


def compressed(seen: Explanation) -> str | None:
    """A content coding although identity was asked for."""
    if not seen.row.coding:
        return None
    return (
        f"The answer came compressed ({seen.row.coding}) although identity was asked for: "
        "compressors hold tokens back and release them in lumps; switch compression off for this "
        "path."
    )


def content_type(seen: Explanation) -> str | None:
    """A stream under another name."""
    told = seen.headers.get("content-type", "")
    if seen.row.form != "stream" or told.partition(";")[0].strip().lower() in STREAM_TYPES:
        return None
    called = f"called {told}" if told else "without a Content-Type"
    return (
        f"The stream is {called} instead of text/event-stream: Headway reads it, but proxies may "
        "buffer it and strict clients refuse it; set the server's Content-Type."
    )


def whole_answer(seen: Explanation) -> str | None:
    """One document where a stream was asked for."""
    if seen.row.form != "whole" or not seen.asked.is_streamed or not seen.ok:
        return None
    return (
        "The answer came in one piece although a stream was asked for: there is no TTFT and no gap "
        "to measure, only E2E; let the server or gateway stream, or set workload.stream = false."
    )


def closes(seen: Explanation) -> str | None:
    """Every request pays for a connection of its own."""
    said = seen.headers.get("connection", "").lower()
    is_said = "close" in said or (seen.is_http_1_0 and "keep-alive" not in said)
    if "close" not in said and not (seen.asked.closes and (seen.body_complete or is_said)):
        return None
    although = "" if is_said else " although it promised to keep it"
    cost = [seen.phases.dns_ms, seen.phases.connect_ms, seen.phases.tls_ms]
    told = f" (here {sum(ms or 0 for ms in cost):.1f} ms)" if any(cost) else ""
    return (
        f"The server closed the connection after its answer{although}: each request opens a new "
        f"one{told}, and TTFT holds that time; switch keep-alive on, or put a proxy that pools "
        "connections before it."
    )


def comments(seen: Explanation) -> str | None:
    """Keep-alive pings."""
    n = seen.kinds.get("comment", 0) + seen.kinds.get("ping", 0)
    if not n:
        return None
    first = next(line.ms for line in seen.events if line.kind in ("comment", "ping"))
    token = seen.phases.first_token_ms
    pings = counted(n, "keep-alive ping")
    if token is not None and first >= token:
        return f"It sent {pings} between tokens; none counts as a token."
    return (
        f"It sent {pings} before the first token, from {first:,.0f} ms on; none counts as a token, "
        "but tools that time the first event measure them, so compare with care."
    )


def user_stamps(seen: Explanation) -> str | None:
    """No kernel stamp on some reads."""
    n = seen.row.n_missing_stamps - seen.n_clock_steps
    if n <= 0:
        return None
    return (
        f"{n} of {seen.n_reads} reads carry no kernel stamp: arrivals are when Headway read them, "
        "right on an idle machine and late on a busy one; measure from Linux."
    )


def clock_trouble(seen: Explanation) -> str | None:
    """A stamp before an instant at which nothing had come."""
    if not seen.n_clock_steps:
        return None
    stamps = counted(seen.n_clock_steps, "impossible stamp")
    return (
        f"The machine's clock was set during the request ({stamps}): check time synchronisation "
        "(chronyc tracking), then check again."
    )


def late_reads(seen: Explanation) -> str | None:
    """Our own reads were late."""
    if seen.max_lag_ms is None or seen.max_lag_ms <= LATE_MS:
        return None
    return (
        f"Bytes waited up to {seen.max_lag_ms:.1f} ms for Headway to read them: stamps stay exact, "
        "but this machine is busy; end other programs before a run."
    )


def http2(seen: Explanation) -> str | None:
    """Translated to HTTP/1.1."""
    if seen.asked.http != "2" or seen.row.http_status is None:
        return None
    return (
        "It answered over HTTP/2: each stream of a run gets a connection of its own, as clients "
        "that share one would wait for each other; if it speaks HTTP/1.1 too, set target.http = "
        '"1.1" to compare.'
    )


def proxy(seen: Explanation) -> str | None:
    """The environment names one."""
    if not seen.asked.proxy:
        return None
    return (
        f"Requests go through the proxy {seen.asked.proxy} that the environment names: its time "
        "and its buffers are part of every number; name the host in NO_PROXY to go without."
    )


def insecure(seen: Explanation) -> str | None:
    """Nobody looked who answers."""
    if not seen.asked.insecure:
        return None
    return (
        "The server's certificate is not verified: anybody on the way could answer; give its "
        "authority as target.ca_file instead."
    )
