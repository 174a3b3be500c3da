"""Were prompts as long as the plan asked?  Tokens asked for, against those the server counted."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.frames import floats

ROUGHLY = 0.9994  # more would be printed as 100 %, which says that it is all


@dataclass(frozen=True, slots=True)
class PromptLengths:
    """Differences are counted minus asked, in tokens.

    n: prompts whose two numbers are known.  asked: None if prompts were to have different lengths.
    usual: the most frequent difference; others: how many prompts have another one.
    overhead: what the endpoint was seen to add to a prompt before the run, None if that is unknown.
    """

    n: int
    asked: int | None
    usual: int
    others: int
    least: int
    most: int
    overhead: int | None = None

    @property
    def is_as_asked(self) -> bool:
        """Every prompt has the asked tokens, and what is always around it."""
        return self.others == 0 and self.usual == (self.overhead or 0)


def prompt_lengths(requests: pd.DataFrame, overhead: int | None = None) -> PromptLengths | None:
    """The lengths of a level's prompts; None if no request knows both numbers.

    requests: rows with prompt_tokens_planned and prompt_tokens.  Later turns of conversations are
    left out: the server counts all that was said before.
    """
    asked, counted = floats(requests, "prompt_tokens_planned"), floats(requests, "prompt_tokens")
    is_known = ~np.isnan(asked) & ~np.isnan(counted)
    if "turn" in requests:
        is_known &= ~(floats(requests, "turn") > 0)
    if not is_known.any():
        return None
    wanted = asked[is_known].astype(np.int64)
    off = counted[is_known].astype(np.int64) - wanted
    usual = _most_frequent(off)
    return PromptLengths(
        n=len(off),
        asked=int(wanted[0]) if (wanted == wanted[0]).all() else None,
        usual=usual,
        others=int((off != usual).sum()),
        least=int(off.min()),
        most=int(off.max()),
        overhead=overhead,
    )


def sentence(lengths: PromptLengths) -> str:
    """What a reader is told of it, also where all is well."""
    if lengths.others == 0:
        return f"Prompt tokens: {_compared(lengths)} on every request{_why(lengths)}."
    overhead = lengths.overhead or 0
    least, most = lengths.least - overhead, lengths.most - overhead
    n_off = lengths.others if lengths.usual == overhead else lengths.n
    beside = f", {overhead} tokens of chat template left out" if overhead else ""
    return (
        f"Prompt tokens: what the server counted differs from what was asked by {least:+d} to "
        f"{most:+d} tokens in {_share(n_off / lengths.n)} requests{beside}."
    )


def _compared(lengths: PromptLengths) -> str:
    if lengths.asked is not None:
        return f"asked {lengths.asked:,}, counted {lengths.asked + lengths.usual:,}"
    if lengths.usual == 0:
        return "counted as asked"
    more = "more" if lengths.usual > 0 else "fewer"
    return f"counted {abs(lengths.usual):,} {more} than asked"


def _why(lengths: PromptLengths) -> str:
    usual, overhead = lengths.usual, lengths.overhead
    if usual == 0 and not overhead:
        return ""
    if usual == overhead:
        return f": {_tokens(usual)} of chat template"
    if overhead is None:
        return f": {_tokens(usual)} of chat template or special tokens" if usual > 0 else ""
    return f", of which {_tokens(overhead)} were expected as the chat template's"


def _tokens(n: int) -> str:
    return "1 token" if n == 1 else f"{n:,} tokens"


def _share(share: float) -> str:
    if share >= 1:
        return "all"
    is_extreme = share < 0.01 or share > 0.99
    return f"{min(share, ROUGHLY):.1%} of" if is_extreme else f"{share:.0%} of"


def _most_frequent(values: NDArray[np.int64]) -> int:
    found, counts = np.unique(values, return_counts=True)
    return int(found[counts.argmax()])
