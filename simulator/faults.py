"""Faults on request, for tests: one request may ask to be treated badly.

As a header `X-Sim-Fault: cut_after=3; stall_ms=500`, or as the body's field `x_sim_fault`, the same
text or an object.  `*_after` counts token events that are still sent before the fault; those and
`stall_ms` act on streams only.
"""

from dataclasses import dataclass, fields
from typing import Any


@dataclass(frozen=True, slots=True)
class Fault:
    """What goes wrong with one request; None is "nothing"."""

    status: int | None = None  # answer this HTTP status and an error body, do nothing else
    retry_after_s: int | None = None  # the Retry-After header of that status
    refuse_usage: int | None = None  # 1: answer 400 if stream_options is there
    ignore_usage: int | None = None  # 1: never send a usage chunk
    freeze_ms: int | None = None  # the whole engine stands still from this request's arrival on
    stall_ms: int | None = None  # this stream is silent for so long, then catches up
    stall_after: int | None = None  # when the stall begins; without it before the first token
    garbage_after: int | None = None  # one event that is not JSON, then go on
    error_after: int | None = None  # an error inside the 200 as the API has it, then the end
    cut_after: int | None = None  # close the connection without the end of the body
    reset_after: int | None = None  # the same with a TCP reset

    @property
    def is_in_stream(self) -> bool:
        """True if something happens while tokens are sent."""
        return any(
            value is not None
            for value in (
                self.stall_ms,
                self.garbage_after,
                self.error_after,
                self.cut_after,
                self.reset_after,
            )
        )


def parse_fault(wanted: Any) -> Fault:
    """A fault out of `k=v; k=v`, an object, or None; ValueError names what is not understood."""
    if wanted is None:
        return Fault()
    if isinstance(wanted, str):
        pairs = [part.partition("=") for part in wanted.split(";") if part.strip()]
        wanted = {key.strip(): value.strip() for key, _, value in pairs}
    known = [field.name for field in fields(Fault)]
    if not isinstance(wanted, dict) or not set(wanted) <= set(known):
        raise ValueError(f"x_sim_fault is {wanted!r}; its keys must be out of {', '.join(known)}")
    try:
        return Fault(**{key: int(value) for key, value in wanted.items()})
    except (TypeError, ValueError):
        raise ValueError(f"x_sim_fault is {wanted!r}; each value must be a whole number") from None
