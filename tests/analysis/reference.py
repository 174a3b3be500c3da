"""Every entry of METRICS from raw requests and events, by plain loops: slow, and easy to believe.

Written from docs/metrics.md and METRICS.md alone; it shares no code with what it checks.
"""

import math
from dataclasses import dataclass
from typing import Any

LIMITS_MS = (100, 250, 500, 1000)
Numbers = dict[str, Any]


@dataclass
class Raw:
    """One request: its row, and its token events as (time µs, tokens told or None)."""

    row: dict[str, Any]
    events: list[tuple[int, int | None]]

    def __getattr__(self, name: str) -> Any:
        return self.row[name]

    @property
    def asked_us(self) -> int:
        for name in ("due_us", "send_us", "dispatched_us"):
            if self.row[name] is not None:
                return self.row[name]
        raise AssertionError

    @property
    def answered_us(self) -> int | None:
        return self.events[-1][0] if self.events else self.row["whole_us"]

    @property
    def gaps_us(self) -> list[int]:
        return [self.events[k][0] - self.events[k - 1][0] for k in range(1, len(self.events))]

    @property
    def is_one_per_chunk(self) -> bool:
        return self.output_tokens is not None and self.output_tokens == len(self.events)

    @property
    def counts(self) -> list[int | None]:
        """Tokens of each chunk, None where nobody knows."""
        return [1 if n is None and self.is_one_per_chunk else n for _, n in self.events]

    @property
    def is_told(self) -> bool:
        known = [n for n in self.counts if n is not None]
        return len(known) == len(self.events) > 0 and sum(known) == self.output_tokens


def metrics(requests: list[Raw], w0: int, w1: int, slos: list[tuple[str, float]]) -> Numbers:
    """By name: {"n", "undefined", "mean", "p50", …} or {"value"}.  slos: (metric, most ms)."""
    load = [r for r in requests if r.phase == "measure"]
    arrived = [r for r in load if w0 <= r.asked_us < w1]
    complete = [r for r in arrived if r.outcome == "complete"]
    found: Numbers = {}
    for name in per_request(complete[0] if complete else Raw({}, [])):
        values = [per_request(r)[name] for r in complete]
        found[name] = figures([v for v in values if v is not None])
        found[name]["undefined"] = sum(v is None for v in values)
    found |= of_gaps(complete, [r for r in load if r.outcome == "complete"])
    found |= of_level(requests, w0, w1)
    return found | of_objectives(arrived, (w1 - w0) / 1e6, slos)


def per_request(r: Raw) -> dict[str, float | None]:
    """Each metric of one complete request; None where it is undefined."""
    if not r.row:
        return {}
    first = r.events[0][0] if r.events else None
    last = r.events[-1][0] if r.events else None
    ttft, e2e = less(first, r.send_us), less(r.answered_us, r.send_us)
    connect = None
    if any(r.row[name] is not None for name in ("dns_us", "connect_us", "tls_us")):
        connect = sum(r.row[name] or 0 for name in ("dns_us", "connect_us", "tls_us"))
    opened = connect if connect is not None else (0 if r.conn_reused else None)
    thought = r.reasoning_tokens or less(r.first_visible_us, first)
    tpot = None
    if r.output_tokens is not None and last is not None and not (r.n_choices or 1) > 1:
        rest = r.output_tokens - (r.first_chunk_tokens or 1)
        tpot = (last - first) / rest if rest >= 1 else None
    uncached = less(r.prompt_tokens, r.cached_tokens)
    found = {
        "ttft": ms(ttft),
        "ttft_visible": ms(less(r.first_visible_us, r.send_us)),
        "thinking": ms(less(r.first_visible_us, first)) if thought else None,
        "ttft_sched": ms(less(first, r.due_us)),
        "ttft_noconn": ms(less(ttft, opened)),
        "ttft_per_1k": per_1k(ttft, r.prompt_tokens),
        "ttft_per_1k_uncached": per_1k(ttft, uncached),
        "e2e": ms(e2e),
        "e2e_sched": ms(less(r.answered_us, r.due_us)),
        "tpot": ms(tpot),
        "tps_e2e": r.output_tokens / (e2e / 1e6) if r.output_tokens is not None and e2e else None,
        "tps_decode": 1e6 / tpot if tpot else None,
        "send_lag": ms(less(r.send_us, r.due_us)),
        "dispatch": ms(less(r.dispatched_us, r.due_us)),
        "client_queue": ms(less(r.send_us, r.dispatched_us)),
        "connect": ms(connect),
        "close": ms(less(r.end_us, r.answered_us)),
        "server_queue": ms(r.server_queue_us),
        "server_prefill": ms(r.server_prefill_us),
    }
    return found | of_stream(r)


def of_stream(r: Raw) -> dict[str, float | None]:
    """How evenly one answer came."""
    gaps = r.gaps_us
    found: dict[str, float | None] = {"longest_gap": ms(max(gaps)) if gaps else None}
    for limit in LIMITS_MS:
        over = sum(max(0, gap - 1000 * limit) for gap in gaps)
        found[f"stalled_{limit}"] = ms(over) if gaps else None
    enough = len(r.events) >= 20
    mean = sum(gaps) / len(gaps) if gaps else 0
    found["jitter"] = ms(linear(gaps, 0.95) - linear(gaps, 0.5)) if enough else None
    found["gap_iqr"] = ms(linear(gaps, 0.75) - linear(gaps, 0.25)) if enough else None
    sd = math.sqrt(sum((gap - mean) ** 2 for gap in gaps) / len(gaps)) if gaps else 0
    found["gap_cv"] = sd / mean if enough and mean else None
    paused = pauses_us(r)
    whole = sum(gaps) + paused
    found["smoothness"] = 100 * (1 - paused / whole) if gaps and whole else None
    return found


def pauses_us(r: Raw) -> int:
    """A reader of ten tokens a second waits whenever he has read all that came."""
    if not r.events:
        return 0
    read_until = r.events[0][0]
    paused = 0
    for (t_us, _), tokens in zip(r.events, r.counts if r.is_told else [1] * 99, strict=False):
        if t_us > read_until:
            paused += t_us - read_until
            read_until = t_us
        read_until += 100_000 * tokens
    return paused


def of_gaps(complete: list[Raw], whole_level: list[Raw]) -> Numbers:
    """Chunk gap, ITL, and stalls."""
    gaps = [gap / 1e3 for r in complete for gap in r.gaps_us]
    told = [r for r in complete if r.is_told]
    spread = [
        (gap / tokens / 1e3, tokens)
        for r in told
        for gap, tokens in zip(r.gaps_us, r.counts[1:], strict=True)
    ]
    found: Numbers = {"chunk_gap": figures(gaps), "itl": weighted(spread)}
    every = [gap for r in whole_level for gap in r.gaps_us]
    counted = [r for r in complete if r.output_tokens is not None and r.events]
    tokens = sum(r.output_tokens for r in counted)
    for limit in LIMITS_MS:
        over = sum(gap > 1000 * limit for gap in every)
        found[f"stall_share_{limit}"] = {"value": 100 * over / len(every) if every else None}
        stalls = sum(gap > 1000 * limit for r in counted for gap in r.gaps_us)
        found[f"stalls_per_1k_{limit}"] = {"value": 1000 * stalls / tokens if tokens else None}
    return found


def of_level(requests: list[Raw], w0: int, w1: int) -> Numbers:
    """Rates over the window; requests: warm-up too, for its tokens and streams were there."""
    seconds = (w1 - w0) / 1e6
    telling = [r for r in requests if r.output_tokens is not None and r.events]
    chunks = sum(len(r.events) for r in telling)
    ratio = sum(r.output_tokens for r in telling) / chunks if chunks else None
    output: float | None = 0.0
    inside = [
        (n, r)
        for r in requests
        for (t_us, _), n in zip(r.events, r.counts, strict=True)
        if w0 <= t_us < w1
    ]
    for n, _ in inside:
        if n is None and ratio is None:
            output = None
            break
        assert output is not None
        output += ratio if n is None else n
    if not inside:
        output = None
    complete = [r for r in requests if r.outcome == "complete"]
    begun = [
        r.prompt_tokens
        for r in complete
        if (first := r.events[0][0] if r.events else r.whole_us) is not None and w0 <= first < w1
    ]
    taken_in = sum(begun) / seconds if begun and None not in begun else None
    per_s = output / seconds if output is not None else None
    done = sum(r.answered_us is not None and w0 <= r.answered_us < w1 for r in complete)
    load = [r for r in requests if r.phase == "measure" and w0 <= r.asked_us < w1]
    streams = sum(
        max(0, min(r.end_us, w1) - max(r.send_us, w0)) for r in requests if r.send_us is not None
    )
    return {
        "tps_system": {"value": per_s},
        "tps_input": {"value": taken_in},
        "tps_total": {"value": None if None in (per_s, taken_in) else per_s + taken_in},
        "request_rate": {"value": done / seconds},
        "offered_rate": {"value": len(load) / seconds},
        "mean_in_flight": {"value": streams / (w1 - w0)},
    }


def of_objectives(arrived: list[Raw], seconds: float, slos: list[tuple[str, float]]) -> Numbers:
    """Goodput in its three units, failures, and what was censored."""
    good = [
        r
        for r in arrived
        if r.outcome == "complete"
        and all((v := per_request(r)[name]) is None or v <= most for name, most in slos)
    ]
    censored = sum(r.outcome == "cancelled" for r in arrived)
    of = len(arrived) - censored
    failed = sum(r.outcome not in ("complete", "cancelled") for r in arrived)
    tokens = [r.output_tokens for r in good]
    return {
        "goodput": {"value": len(good) / seconds},
        "goodput_share": {"value": 100 * len(good) / of if of else None},
        "token_goodput": {"value": None if None in tokens else sum(tokens) / seconds},
        "error_rate": {"value": 100 * failed / of if of else None},
        "censored": {"value": censored},
    }


def figures(values: list[float]) -> Numbers:
    """n, mean and linear percentiles; None of nothing."""
    told: Numbers = {"n": len(values), "mean": sum(values) / len(values) if values else None}
    for p in (50, 90, 95, 99):
        told[f"p{p}"] = linear(values, p / 100) if values else None
    return told


def weighted(spread: list[tuple[float, int]]) -> Numbers:
    """The smallest value that at least p of all tokens do not exceed."""
    ordered = sorted((v, w) for v, w in spread if w)
    total = sum(w for _, w in ordered)
    told: Numbers = {"n": total}
    told["mean"] = sum(v * w for v, w in ordered) / total if total else None
    for p in (50, 90, 95, 99):
        upto, told[f"p{p}"] = 0, None
        for v, w in ordered:
            upto += w
            if upto >= p / 100 * total:
                told[f"p{p}"] = v
                break
    return told


def linear(values: list[Any], p: float) -> float:
    """The percentile with linear interpolation between neighbours."""
    ordered = sorted(values)
    place = p * (len(ordered) - 1)
    low = math.floor(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (place - low) * (ordered[high] - ordered[low])


def less(a: float | None, b: float | None) -> float | None:
    return None if a is None or b is None else a - b


def ms(us: float | None) -> float | None:
    return None if us is None else us / 1000


def per_1k(us: float | None, tokens: float | None) -> float | None:
    return None if us is None or tokens is None or tokens < 100 else us / 1000 / (tokens / 1000)
