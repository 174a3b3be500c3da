"""Did the server's prefix cache answer for prompts that should have been computed?

Three witnesses: the cached tokens of the server's usage, its own counters over the run, and answers
to a prompt that came again against those to the same prompts' first time.  What a plan means to
share (a prefix, the history of a conversation) is no contamination.
"""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import mannwhitneyu

from analysis.frames import Floats, Mask, floats, where
from analysis.per_request import ttft_ms

TEMPLATE_TOKENS = 32
"""A chat template's first tokens are the same in every prompt, and servers cache whole blocks."""
CACHED_SHARE = 0.05  # of the prompt tokens, beyond what was meant to be shared
FASTER = 0.8  # repeated prompts' median TTFT against first ones', to be called faster
FEWEST = 20  # of each kind
ALPHA = 0.001


@dataclass(frozen=True, slots=True)
class CacheCheck:
    """Shares of prompt tokens (None: nobody tells), and repeated prompts' TTFT / first ones'."""

    cached_share: float | None  # by usage, of all prompt tokens
    unmeant_share: float | None  # of them, beyond shared prefix, history and template
    counter_share: float | None  # by the server's counters, all clients
    repeat_ratio: float | None  # medians; None: too few, or the difference may be chance
    contaminated: bool
    sentence: str

    def to_dict(self) -> dict[str, Any]:
        """As `show --json` writes it."""
        return asdict(self)


def cache_check(
    requests: pd.DataFrame, counted: dict[str, Any] | None, prefix_tokens: dict[str, int]
) -> CacheCheck:
    """requests: complete ones of a run; counted: loadgen.cache_counters.cache_use, if known;
    prefix_tokens: class -> length of the prefix that its prompts share, 0 for none."""
    cached, unmeant = _by_usage(requests, prefix_tokens)
    counter = counted["found"] / counted["looked_up"] if counted and counted["looked_up"] else None
    ratio = _repeat_ratio(requests)
    is_meant = _is_meant(requests).any()
    told = [
        *([_by_usage_said(unmeant)] if (unmeant or 0) > CACHED_SHARE else []),
        *(
            [_by_counters_said(counter)]
            if unmeant is None and not is_meant and (counter or 0) > CACHED_SHARE
            else []
        ),
        *([_by_repeats_said(ratio)] if ratio is not None and ratio < FASTER else []),
    ]
    return CacheCheck(cached, unmeant, counter, ratio, bool(told), " ".join(told))


def _is_meant(requests: pd.DataFrame) -> Mask:
    """Whether each row's prompt begins with something that the plan lets it share."""
    has_prefix = ~np.isnan(floats(requests, "prefix_group"))
    return has_prefix | (floats(requests, "turn") > 0)


def _by_usage(
    requests: pd.DataFrame, prefix_tokens: dict[str, int]
) -> tuple[float | None, float | None]:
    """Cached and unmeant shares of the prompt tokens, over rows that tell both."""
    prompt, cached = floats(requests, "prompt_tokens"), floats(requests, "cached_tokens")
    is_told = ~np.isnan(prompt) & ~np.isnan(cached)
    if not is_told.any() or prompt[is_told].sum() == 0:
        return None, None
    meant = np.full(len(requests), float(TEMPLATE_TOKENS))
    with_prefix = ~np.isnan(floats(requests, "prefix_group"))
    lengths = [float(prefix_tokens.get(str(name), 0)) for name in requests["traffic_class"]]
    meant += np.where(with_prefix, lengths, 0.0)
    meant[floats(requests, "turn") > 0] = np.inf  # the turns before are meant to be cached
    whole = prompt[is_told].sum()
    beyond = np.maximum(cached[is_told] - meant[is_told], 0)
    return float(cached[is_told].sum() / whole), float(beyond.sum() / whole)


def _repeat_ratio(requests: pd.DataFrame) -> float | None:
    """Median TTFT of prompts sent again / of the same prompts' first time; None: no difference
    that is more than chance, or too few to tell."""
    numbered = where(requests, ~np.isnan(floats(requests, "prompt_no")))
    if not len(numbered):
        return None
    ordered = numbered.assign(ms=ttft_ms(numbered)).sort_values("send_us")
    again = ordered.duplicated(["traffic_class", "prompt_no"]).to_numpy()
    ms = ordered["ms"].to_numpy(dtype="float64")
    came_again = set(zip(ordered["traffic_class"][again], ordered["prompt_no"][again], strict=True))
    keys = zip(ordered["traffic_class"], ordered["prompt_no"], strict=True)
    has_repeat = np.array([key in came_again for key in keys], dtype=bool)
    first, repeats = _finite(ms[~again & has_repeat]), _finite(ms[again])
    if min(len(first), len(repeats)) < FEWEST:
        return None
    if mannwhitneyu(repeats, first, alternative="less").pvalue > ALPHA:
        return None
    return float(np.median(repeats) / np.median(first))


def _finite(values: Floats) -> Floats:
    return values[~np.isnan(values)]


def _by_usage_said(share: float | None) -> str:
    return (
        f"The server took {share:.0%} of the prompt tokens from its prefix cache although the plan "
        "shares none of them: it has seen these prompts before, and TTFT is shorter than it would "
        "be for new ones."
    )


def _by_counters_said(share: float | None) -> str:
    return (
        f"The server's own counters say that {share:.0%} of the prompt tokens of all its clients "
        "came from its prefix cache while this ran: TTFT may be shorter than for new prompts."
    )


def _by_repeats_said(ratio: float | None) -> str:
    return (
        f"Prompts sent again got their first token in {ratio:.0%} of the time of their first "
        "sending (median): a cache answers for them, and TTFT is not that of new prompts."
    )
