"""Did answers get as long as the plan asked, or did the model end them?"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from analysis.frames import floats


@dataclass(frozen=True, slots=True)
class NaturalStops:
    """Complete answers shorter than their max_tokens.

    n: complete answers whose tokens are known, of which `stopped` ended by themselves, with
    `least` to `most` tokens (0 if none did).
    """

    n: int
    stopped: int
    least: int = 0
    most: int = 0


def natural_stops(complete: pd.DataFrame) -> NaturalStops | None:
    """Of the complete requests of a level; None if no answer tells its tokens and what was asked.

    complete: rows with max_tokens and output_tokens.
    """
    asked, given = floats(complete, "max_tokens"), floats(complete, "output_tokens")
    is_known = ~np.isnan(asked) & ~np.isnan(given)
    if not is_known.any():
        return None
    short = given[is_known & (given < asked)]
    if not short.size:
        return NaturalStops(int(is_known.sum()), 0)
    return NaturalStops(int(is_known.sum()), short.size, int(short.min()), int(short.max()))


def sentence(stops: NaturalStops) -> str | None:
    """What is told where a plan wants exact lengths; None if every answer has its own."""
    if not stops.stopped:
        return None
    who = f"All {stops.n:,}" if stops.stopped == stops.n else f"{stops.stopped:,} of {stops.n:,}"
    span = f"{stops.least:,}" if stops.least == stops.most else f"{stops.least:,} to {stops.most:,}"
    return (
        f"{who} answers ended by themselves before the length asked for (a natural stop), after "
        f"{span} tokens: output lengths are the model's, not the plan's."
    )
