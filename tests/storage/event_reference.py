"""What a run's end must make of its token events: slow, obvious, in plain Python."""

import math
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import Any

US = 1_000_000


@dataclass
class Chunk:
    t_us: int
    gap_us: int | None  # None: the first of its choice
    n_tokens: int | None  # None: not told
    lag_us: int | None
    shared: bool
    bound_us: int


@dataclass
class Request:
    request_id: int
    stage: int
    traffic: str
    outcome: str
    phase: str
    asked_us: int
    output_tokens: int | None
    token_source: str | None
    has_ended: bool
    chunks: list[Chunk] = field(default_factory=list)

    @property
    def is_one(self) -> bool:
        by_server = self.token_source in ("usage", "usage_continuous", None)
        return self.has_ended and by_server and self.output_tokens == len(self.chunks)

    def tokens(self) -> list[int | None]:
        return [c.n_tokens or (1 if self.is_one else None) for c in self.chunks]

    @property
    def is_told(self) -> bool:
        tokens = [c for c in self.tokens() if c is not None]
        return (
            self.has_ended and len(tokens) == len(self.chunks) and sum(tokens) == self.output_tokens
        )

    @property
    def counts(self) -> bool:
        return (
            self.has_ended
            and self.outcome == "complete"
            and self.phase not in ("preflight", "warmup")
        )


def bucket(us: float) -> int:
    return 0 if us <= 0 else max(math.ceil(math.log(us) / math.log(1.02)), 0) + 1


def quantile(values: list[int], p: float) -> float:
    place = p * (len(values) - 1)
    low, high = sorted(values)[math.floor(place)], sorted(values)[math.ceil(place)]
    return low + (high - low) * (place - math.floor(place))


def paused_us(request: Request) -> int:
    """A reader who shows one token each 100 ms and stands still while there is none."""
    clock = request.chunks[0].t_us
    paused = 0
    for chunk, n in zip(request.chunks, request.tokens(), strict=True):
        if chunk.t_us > clock:
            paused += chunk.t_us - clock
            clock = chunk.t_us
        clock += 100_000 * (n if request.is_told and n is not None else 1)
    return paused


def request_gaps(requests: list[Request]) -> dict[int, dict[str, Any]]:
    found = {}
    for request in requests:
        gaps = [c.gap_us for c in request.chunks if c.gap_us is not None]
        if not request.has_ended or not gaps:
            continue
        mean = sum(gaps) / len(gaps)
        row: dict[str, Any] = {"n_gaps": len(gaps), "longest_gap_us": max(gaps)}
        row["gap_mean_us"] = mean
        row["gap_sd_us"] = math.sqrt(sum((g - mean) ** 2 for g in gaps) / len(gaps))
        row |= {f"gap_p{p}_us": quantile(gaps, p / 100) for p in (25, 50, 75, 95)}
        for ms in (100, 250, 500, 1000):
            over = [g - ms * 1000 for g in gaps if g > ms * 1000]
            row |= {f"stalls_{ms}": len(over), f"stalled_{ms}_us": sum(over)}
        row |= {"paused_us": paused_us(request), "is_told": request.is_told}
        found[request.request_id] = row
    return found


def hist(requests: list[Request]) -> Counter[tuple[Any, ...]]:
    """(stage, class, metric, second, bucket) -> n."""
    found: Counter[tuple[Any, ...]] = Counter()
    for request in requests:
        whose = (request.stage, request.traffic) if request.has_ended else (-1, None)
        for chunk, n in zip(request.chunks, request.tokens(), strict=True):
            asked, came = request.asked_us // US, chunk.t_us // US
            if request.counts and chunk.gap_us is not None:
                found[(*whose, "gap", asked, bucket(chunk.gap_us))] += 1
                if request.is_told and n:
                    found[(*whose, "itl", asked, bucket(chunk.gap_us / n))] += n
            if request.has_ended and request.phase == "preflight":
                continue
            found[(*whose, "bound", came, bucket(chunk.bound_us))] += 1
            if chunk.shared:
                found[(*whose, "bound_shared", came, bucket(chunk.bound_us))] += 1
            if chunk.lag_us is not None:
                found[(*whose, "lag", came, bucket(chunk.lag_us))] += 1
    return found


def tok_sec(requests: list[Request]) -> dict[tuple[Any, ...], list[int]]:
    """(stage, class, second) -> tokens, events, unknown, shared, missing, timely, together, max."""
    found: dict[tuple[Any, ...], list[int]] = defaultdict(lambda: [0] * 8)
    for request in requests:
        if request.has_ended and request.phase == "preflight":
            continue
        whose = (request.stage, request.traffic) if request.has_ended else (-1, None)
        for chunk, n in zip(request.chunks, request.tokens(), strict=True):
            row = found[(*whose, chunk.t_us // US)]
            timely = chunk.gap_us is not None and chunk.lag_us is not None and chunk.lag_us < 1000
            together = timely and (chunk.gap_us or 0) < 50
            told = (n or 0, 1, n is None, chunk.shared, chunk.lag_us is None, timely, together)
            row[:7] = [a + b for a, b in zip(row, told, strict=False)]
            row[7] = max(row[7], chunk.bound_us)
    return dict(found)
