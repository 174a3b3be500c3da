"""An explanation as the check hands it to a page, with hostile text where a server may put it."""

from typing import Any

HOSTILE = "![x](http://evil.example/x.png) <img src=http://evil.example/z.png> :red[r] $y$"


def line(n: int, ms: float, kind: str, **more: Any) -> dict[str, Any]:
    plain = {"n": n, "ms": ms, "gap_ms": 20.0 if n > 1 else None, "read": n, "bytes": 100}
    plain |= {"kind": kind, "text": "", "note": "", "tokens": None, "choice": 0}
    return {**plain, "shared": False, "lag_ms": 0.1, **more}


def said(**changes: Any) -> dict[str, Any]:
    """A good answer of two tokens."""
    phases = {"dns_ms": None, "connect_ms": 0.4, "tls_ms": None}
    phases |= {"first_byte_ms": 5.0, "headers_ms": 5.0, "first_event_ms": 180.0}
    phases |= {"first_token_ms": 200.0, "first_visible_ms": 200.0, "last_token_ms": 220.0}
    phases |= {"whole_ms": None, "end_ms": 221.0}
    asked = {"url": "http://h", "api": "openai_chat", "model": "m", "max_tokens": 64, "http": "1.1"}
    tokens = {"source": "usage", "prompt": 5, "cached": None, "output": 2, "reasoning": None}
    tokens |= {"chunks": 2, "first_chunk": 1, "choices": 1}
    good = {
        "ok": True,
        "outcome": "complete",
        "detail": None,
        "sentence": "",
        "http_status": 200,
        "form": "stream",
        "asked": asked,
        "phases": phases,
        "chunk_gap": {"p50_ms": 20.0, "max_ms": 20.0, "n": 1},
        "kinds": {"role": 1, "content": 2, "done": 1},
        "reads": 4,
        "bytes": 1000,
        "tokens": tokens,
        "finish_reason": "stop",
        "model": "m",
        "ids": {"sent": "s", "response": HOSTILE, "server": None},
        "server_ms": {"queue": None, "prefill": 12.0, "decode": None},
        "stamps": "kernel",
        "headers": {"server": HOSTILE, "content-type": "text/event-stream"},
        "retry_after_s": None,
        "warnings": [],
        "events": [
            line(1, 180, "role"),
            line(2, 200, "content", text=HOSTILE),
            line(3, 220, "content", text="b", shared=True),
            line(4, 221, "done", note="finish_reason stop"),
        ],
    }
    return {**good, **changes}
