"""Did the tokens arrive one by one, or did something on the way deliver them in batches?

A server that writes several tokens at once, a proxy that buffers, or compression: then a gap
between tokens describes the batches, not the model.  Told apart from a late client by the read's
own delay: only arrivals read within 1 ms of their kernel stamp are looked at.
"""

from dataclasses import asdict, dataclass
from typing import Any

from analysis.frames import words
from analysis.reading import StageReading, cell

BATCHED_SHARE = 0.5


@dataclass(frozen=True, slots=True)
class Delivery:
    """together_share: gaps below 50 µs among those of timely reads; None: no gap to judge by."""

    together_share: float | None
    codings: list[str]  # content-encodings of answers

    @property
    def is_batched(self) -> bool:
        """Whether gaps between tokens describe batches."""
        return (self.together_share or 0.0) > BATCHED_SHARE

    def to_dict(self) -> dict[str, Any]:
        """As `show --json` writes it."""
        return {**asdict(self), "batched": self.is_batched}


def delivery(stage: StageReading) -> Delivery:
    """How the tokens of one level's window were delivered."""
    gaps = cell(stage.bounds, "n_timely_gaps")
    together = cell(stage.bounds, "n_together")
    share = (together or 0.0) / gaps if gaps else None
    return Delivery(share, sorted({c for c in words(stage.cohort.arrived, "coding") if c}))


def sentence(found: Delivery) -> str:
    """What a reader must be told; "" if tokens arrived one by one and uncompressed."""
    by = "compression" if found.codings else "the server, a proxy or compression"
    compressed = f"Answers came compressed ({', '.join(found.codings)}). " if found.codings else ""
    if found.is_batched and found.together_share is not None:
        return (
            f"{compressed}Delivered in batches by {by}: {found.together_share:.0%} of the tokens "
            "arrived together with the one before them although the client read in time. ITL and "
            "chunk gaps describe the batches."
        )
    return f"{compressed}A compressed stream may arrive in batches." if compressed else ""
