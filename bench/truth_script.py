"""What the truth server says: the bytes of each event, made before the clock starts."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, cycle
from typing import Any
from urllib.parse import parse_qsl, urlsplit

N_DISTINCT_TOKENS = 1024  # token k says k modulo this
HEAD, FINISH, USAGE, DONE = -5, -6, -7, -8  # `seq` of the events that are no tokens (truth_log.py)

RESPONSE_HEAD = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\n"
    b"Cache-Control: no-cache\r\nTransfer-Encoding: chunked\r\n\r\n"
)
LAST_CHUNK = b"0\r\n\r\n"


class BadRequest(ValueError):
    """The client asked for what this server does not do; the message is one sentence."""


@dataclass(frozen=True, slots=True)
class Timing:
    """When the answer's events are due, counted from the request's arrival."""

    n: int = 128  # tokens, one event each
    ttft_ns: int = 100_000_000
    itl_ns: int = 20_000_000


@dataclass(frozen=True, slots=True, eq=False)  # eq=False: hashable, for the cache
class Script:
    """The pieces of one API's answers; each is one HTTP chunk and goes out in one send()."""

    head: bytes  # response head, and for chat the role event
    tokens: list[bytes]
    finish: bytes
    usage: dict[str, Any]  # the usage event without its counts

    @lru_cache(maxsize=4096)  # noqa: B019 - the few scripts live as long as the process
    def closing(self, n_prompt: int, n: int, wants_usage: bool) -> list[tuple[int, bytes]]:
        """(seq, piece) of what follows the last token."""
        pieces = [(FINISH, self.finish)]
        if wants_usage:
            count = {
                "prompt_tokens": n_prompt,
                "completion_tokens": n,
                "total_tokens": n_prompt + n,
            }
            pieces.append((USAGE, event(self.usage | {"usage": count})))
        pieces.append((DONE, chunk(b"data: [DONE]\n\n") + LAST_CHUNK))
        return pieces


def chunk(body: bytes) -> bytes:
    """One HTTP/1.1 chunk."""
    return b"%x\r\n%s\r\n" % (len(body), body)


def event(value: dict[str, Any]) -> bytes:
    """One server-sent event in a chunk of its own."""
    return chunk(b"data: %s\n\n" % json.dumps(value, separators=(",", ":")).encode())


def _words() -> list[str]:
    return [f" t{k:04d}" for k in range(N_DISTINCT_TOKENS)]


def _chat() -> Script:
    def one(delta: dict[str, str], finish: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return event(frame | {"choices": [choice]})

    frame = {
        "id": "chatcmpl-truth",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "truth",
    }
    return Script(
        head=RESPONSE_HEAD + one({"role": "assistant", "content": ""}),
        tokens=[one({"content": word}) for word in _words()],
        finish=one({}, "length"),
        usage=frame | {"choices": []},
    )


def _completions() -> Script:
    def one(text: str, finish: str | None = None) -> bytes:
        choice = {"index": 0, "text": text, "logprobs": None, "finish_reason": finish}
        return event(frame | {"choices": [choice]})

    frame = {"id": "cmpl-truth", "object": "text_completion", "created": 1, "model": "truth"}
    return Script(
        head=RESPONSE_HEAD,
        tokens=[one(word) for word in _words()],
        finish=one("", "length"),
        usage=frame | {"choices": []},
    )


SCRIPTS = {"/chat/completions": _chat(), "/completions": _completions()}  # by the path's ending


@dataclass(frozen=True, slots=True)
class Answer:
    """Everything the emitter needs for one request, computed when it arrived."""

    head: bytes
    tokens: list[bytes]
    closing: list[tuple[int, bytes]]
    timing: Timing

    def pieces(self) -> Iterator[tuple[int, bytes]]:
        """(seq, bytes) of every event in order; a chain in C, for the emitter's hot path."""
        tokens = zip(range(self.timing.n), cycle(self.tokens), strict=False)
        return chain([(HEAD, self.head)], tokens, self.closing)


def answer(target: str, body: bytes, default: Timing) -> Answer:
    """The answer to a POST on `target`; raises BadRequest.

    ttft_ms, itl_ms and n come from the query string, else the JSON body (n there is max_tokens or
    max_completion_tokens), else `default`.
    """
    url = urlsplit(target)
    script = next((s for end, s in SCRIPTS.items() if url.path.endswith(end)), None)
    if script is None:
        raise BadRequest(f"{url.path} is not served; use /v1/chat/completions or /v1/completions")
    try:
        asked: dict[str, Any] = json.loads(body or b"{}")
        n_tokens = asked.get("max_completion_tokens") or asked.get("max_tokens")
        wishes = {"n": n_tokens} | {k: asked.get(k) for k in ("ttft_ms", "itl_ms")}
        if url.query:
            wishes |= dict(parse_qsl(url.query))
        timing = _timing(wishes, default)
    except (ValueError, AttributeError, TypeError) as error:
        raise BadRequest(f"the request cannot be read: {error}") from None
    if asked.get("stream", True) is not True:
        raise BadRequest("the truth server only streams; send stream: true")
    wants_usage = bool((asked.get("stream_options") or {}).get("include_usage"))
    closing = script.closing(len(body) // 4, timing.n, wants_usage)
    return Answer(script.head, script.tokens, closing, timing)


def _timing(wishes: dict[str, Any], default: Timing) -> Timing:
    def ns(name: str, otherwise: int) -> int:
        wish = wishes.get(name)
        return otherwise if wish is None else round(float(wish) * 1e6)

    n = default.n if wishes.get("n") is None else int(wishes["n"])
    timing = Timing(n, ns("ttft_ms", default.ttft_ns), ns("itl_ms", default.itl_ns))
    if min(timing.n, timing.ttft_ns + 1, timing.itl_ns + 1) < 1:
        raise ValueError("n must be at least 1, ttft_ms and itl_ms at least 0")
    return timing
