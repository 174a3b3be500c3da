"""Exchanges of our own bytes, explained."""

from typing import Any

from exchanges import END, HEAD, MS, SEND_NS, chunk, close_meta, open_meta

from loadgen.explain import explain
from loadgen.explain_facts import Asked, Explanation
from loadgen.wire.registry import APIS

HEAD_KEPT = HEAD


def head(*lines: str, status: str = "200 OK") -> bytes:
    said = [f"HTTP/1.1 {status}", "Transfer-Encoding: chunked", *lines]
    return "\r\n".join(said).encode() + b"\r\n\r\n"


def explained_reads(
    reads: list[tuple[float, bytes]],
    asked: dict[str, Any] | None = None,
    delay_ns: int = 0,
    **end: Any,
) -> Explanation:
    """Raw reads at ms after the send; delay_ns: of each read after its kernel stamp, -1 none."""
    wanted = {"url": "http://x", "api": "openai_chat", "model": "m", "max_tokens": 8}
    wanted |= asked or {}
    raw = [(SEND_NS + round(ms * MS) + max(delay_ns, 0), delay_ns, 0, data) for ms, data in reads]
    metas = (open_meta(wanted["api"]), close_meta(**end))
    return explain(raw, metas, APIS[wanted["api"]], Asked(**wanted))


def explained(*bodies: tuple[float, bytes], head: bytes = HEAD_KEPT, **options: Any) -> Explanation:
    """A 200 whose head comes at 1 ms, and body bytes, each in one HTTP chunk and one read."""
    reads = [(1.0, head), *((ms, chunk(body)) for ms, body in bodies)]
    return explained_reads([*reads, (bodies[-1][0] if bodies else 2, END)], **options)


def names(seen: Explanation) -> list[str]:
    return [warning.name for warning in seen.warnings]


def warning(seen: Explanation, name: str) -> str:
    return next(warning.text for warning in seen.warnings if warning.name == name)
