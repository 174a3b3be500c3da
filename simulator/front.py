"""How the server behaves in front of its engine: settings of `--set`, like the engine's own."""

import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from simulator.ask import ApiError

CODINGS = ("identity", "gzip", "deflate", "br")


@dataclass(frozen=True, slots=True)
class Front:
    """One server's manners."""

    # Names with commas between them, or * for all its API's documentation does not know.
    refuse_fields: str = ""
    refuse_status: int = 400  # 422: as FastAPI and transformers answer
    coding: str = "identity"  # of each answer, even though the client did not accept it
    # The connection after an answer that promised to keep it open: llama.cpp closes after streams.
    closes_after: Literal["nothing", "streams", "answers"] = "nothing"
    request_metrics: bool = False  # as vLLM's --enable-per-request-metrics

    def __post_init__(self) -> None:
        if self.coding not in CODINGS:
            raise ValueError(f"coding is {self.coding!r}; it must be one of {', '.join(CODINGS)}")
        if self.coding == "br" and not _has_brotli():
            raise ValueError("coding is 'br', which needs the Python package brotli")
        if self.closes_after not in ("nothing", "streams", "answers"):
            raise ValueError(
                f"closes_after is {self.closes_after!r}; it must be nothing, streams or answers"
            )
        if self.refuse_status not in (400, 422):
            raise ValueError(f"refuse_status is {self.refuse_status}; it must be 400 or 422")

    def check_fields(self, body: Mapping[str, Any], known: frozenset[str]) -> None:
        """Raise ApiError for a body with fields that are to be refused."""
        if not self.refuse_fields:
            return
        if self.refuse_fields == "*":
            refused = sorted(set(body) - known - {"x_sim_fault"})
        else:
            refused = [name for name in self.refuse_fields.split(",") if name in body]
        if refused and self.refuse_status == 422:
            names = ", ".join(repr(name) for name in refused)
            raise ApiError(
                422, f"Unexpected fields in the request: {{{names}}}", "UnexpectedFields"
            )
        if refused:
            message = f'json: unknown field "{refused[0]}"'
            raise ApiError(400, message, "invalid_request_error", refused[0])


class Encoder(Protocol):
    """A content coding; what `part` returns can be decoded without waiting for more."""

    def part(self, plain: bytes) -> bytes:
        """The next piece of the body."""
        ...

    def end(self) -> bytes:
        """What closes it."""
        ...


def encoder(coding: str) -> Encoder | None:
    """A new encoder; None for identity."""
    if coding == "identity":
        return None
    return _Brotli() if coding == "br" else _Zlib(coding)


class _Zlib:
    def __init__(self, coding: str) -> None:
        # 31: a gzip head around it; 15: a zlib head, which is what HTTP calls deflate (RFC 9110).
        self._compress = zlib.compressobj(wbits=31 if coding == "gzip" else 15)

    def part(self, plain: bytes) -> bytes:
        return self._compress.compress(plain) + self._compress.flush(zlib.Z_SYNC_FLUSH)

    def end(self) -> bytes:
        return self._compress.flush()


class _Brotli:
    def __init__(self) -> None:
        import brotli  # only needed here, and not where a simulator stands alone

        self._compress = brotli.Compressor(quality=4)

    def part(self, plain: bytes) -> bytes:
        return self._compress.process(plain) + self._compress.flush()

    def end(self) -> bytes:
        return self._compress.finish()


def _has_brotli() -> bool:
    from importlib.util import find_spec

    return find_spec("brotli") is not None
