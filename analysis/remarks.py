"""What a reader must be told beside the numbers of a level, one sentence each."""

import numpy as np

from analysis import delivery
from analysis.checks import checks
from analysis.frames import floats, is_in, where, words
from analysis.reading import StageReading
from loadgen.plan import Plan

TOKENIZER_TOLERANCE = 0.05
CONTRADICTED = (
    "came in more chunks than the tokens the server counts: its usage, or its cutting into chunks, "
    "contradicts itself."
)
LISTED = (
    "have more chunks in the tool's list than tokens: it may hold chunks without a token "
    "(role-only, empty)."
)


def remarks(stage: StageReading, plan: Plan | None = None) -> list[str]:
    """Sentences a reader must see beside the numbers of this level.  plan: the run's, if known."""
    said = [check.sentence for check in checks(stage).values() if check.holds is False]
    answered = stage.cohort.complete
    n_sources = {s for s in words(answered, "token_source") if s}
    if len(n_sources) > 1:
        said.append(f"Token counts come from different sources: {', '.join(sorted(n_sources))}.")
    if plan is not None and plan.target.tokenizer and len(answered):
        missing = int(np.isnan(floats(answered, "tokenizer_tokens")).sum())
        if missing:
            said.append(
                f"The plan's tokenizer did not count {missing:,} of {len(answered):,} answers; "
                "the run's log says why."
            )
    return [*said, *_about_tokens(stage), *_about_the_wire(stage)]


def _about_tokens(stage: StageReading) -> list[str]:
    """What is odd about the token counts of this level."""
    answered = stage.cohort.complete
    said: list[str] = []
    output, chunks = floats(answered, "output_tokens"), floats(answered, "n_chunks")
    is_told = ~np.isnan(output)
    if not is_told.all() and len(answered) and not is_told.any():
        said.append("No answer tells its output tokens: only chunks are known, no TPOT and no TPS.")
    elif not is_told.all():
        n = int((~is_told).sum())
        said.append(f"{n:,} answers do not tell their output tokens; TPOT and TPS leave them out.")
    if fewer := int((chunks[is_told] > output[is_told]).sum()):
        said.append(f"{fewer:,} answers {LISTED if stage.is_foreign else CONTRADICTED}")
    counted = floats(answered, "tokenizer_tokens")
    both = is_told & ~np.isnan(counted) & ~is_in(answered, "token_source", "tokenizer")
    off = np.abs(counted[both] - output[both]) / np.maximum(output[both], 1)
    if off.size and (median := float(np.median(off))) > TOKENIZER_TOLERANCE:
        said.append(
            f"The plan's tokenizer and the server's usage differ by {median:.0%} of the tokens "
            "(median): it may not be the model's tokenizer."
        )
    if any(floats(answered, "n_choices") > 1):
        said.append("Answers hold several choices (n > 1): gaps are within one choice, no TPOT.")
    return said


def _about_the_wire(stage: StageReading) -> list[str]:
    """What is odd about how the answers came."""
    arrived, answered = stage.cohort.arrived, stage.cohort.complete
    said = [told] if (told := delivery.sentence(delivery.delivery(stage))) else []
    if whole := int(is_in(answered, "form", "whole").sum()):
        n = f"All {whole:,}" if whole == len(answered) else f"{whole:,} of {len(answered):,}"
        said.append(f"{n} answers came in one piece: they have an E2E, but no first token to time.")
    if again := int(np.nansum(floats(arrived, "reconnects"))):
        said.append(
            f"{again:,} requests found their connection closed by the server and took a new one; "
            "the time that took is theirs."
        )
    waits = floats(where(arrived, is_in(arrived, "outcome", "rate_limited")), "retry_after_s")
    if waits.size and not np.isnan(waits).all():
        said.append(f"Rate limited: the server asks to wait up to {np.nanmax(waits):.3g} s.")
    return said
