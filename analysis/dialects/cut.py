"""The answers a tool counts, as columns, with our own definitions computed on them."""

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from storage.exchange.answers import COUNTS, SPANS, Answers, Floats, Ints

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Cut:
    """Some requests of a level.  Columns as in Answers; chunks renumbered to these requests."""

    answers: Answers

    def __len__(self) -> int:
        return len(self.answers)

    @cached_property
    def gap_of(self) -> Ints:
        """The request of each gap between successive chunks."""
        return self.answers.chunk_of[1:][self._inner]

    @cached_property
    def gaps_s(self) -> Floats:
        """Time between successive chunks of a request, pooled."""
        return np.diff(self.answers.chunk_s)[self._inner]

    @cached_property
    def gap_tokens(self) -> Floats:
        """Tokens in the later chunk of each gap; NaN where nobody told."""
        return self.answers.chunk_tokens[1:][self._inner]

    @cached_property
    def first_tokens(self) -> Floats:
        """Tokens in each request's first chunk; NaN where nobody told."""
        found = np.full(len(self), np.nan)
        of = self.answers.chunk_of
        if len(of):
            begins = np.flatnonzero(np.r_[True, of[1:] != of[:-1]])
            found[of[begins]] = self.answers.chunk_tokens[begins]
        return found

    @cached_property
    def tpot_s(self) -> Floats:
        """Ours: (last token - first token) / (output tokens - tokens in the first chunk)."""
        first = np.where(np.isnan(self.first_tokens), 1.0, self.first_tokens)
        rest = self.answers.output_tokens - first
        span = self.answers.last_s - self.answers.ttft_s
        return over(span, rest)

    @cached_property
    def itl_s(self) -> tuple[Floats, Floats]:
        """Ours: (gap / tokens of the later chunk, those tokens); only of requests all told."""
        told = np.ones(len(self), dtype=bool)
        sums = np.zeros(len(self))
        np.add.at(sums, self.answers.chunk_of, np.nan_to_num(self.answers.chunk_tokens))
        told[self.answers.chunk_of[np.isnan(self.answers.chunk_tokens)]] = False
        told &= sums == self.answers.output_tokens
        kept = told[self.gap_of] & (self.gap_tokens > 0)
        tokens = self.gap_tokens[kept]
        return self.gaps_s[kept] / tokens, tokens

    @property
    def span_s(self) -> float | None:
        """First send to last end; None where the format has no times."""
        if not self.answers.has_times:
            return None
        ends = self.answers.start_s + latest_s(self.answers)
        if np.isnan(ends).all():
            return None
        return float(np.nanmax(ends) - np.nanmin(self.answers.start_s))

    @cached_property
    def _inner(self) -> Mask:
        of = self.answers.chunk_of
        return of[1:] == of[:-1]


def cut(answers: Answers, kept: Mask) -> Cut:
    """The requests for which `kept` holds."""
    if kept.all():
        return Cut(answers)
    number = np.cumsum(kept) - 1
    chunk_kept = kept[answers.chunk_of]
    columns = {name: getattr(answers, name)[kept] for name in (*SPANS, *COUNTS)}
    return Cut(
        replace(
            answers,
            **columns,
            outcome=[o for o, keep in zip(answers.outcome, kept, strict=True) if keep],
            chunk_of=number[answers.chunk_of[chunk_kept]],
            chunk_s=answers.chunk_s[chunk_kept],
            chunk_tokens=answers.chunk_tokens[chunk_kept],
            phase=_kept(answers.phase, kept),
            detail=_kept(answers.detail, kept),
            request_ids=_kept(answers.request_ids, kept),
            more={name: column[kept] for name, column in answers.more.items()},
            extra={name: _row(value, kept) for name, value in answers.extra.items()},
        )
    )


def measured(answers: Answers) -> Cut:
    """All but warm-up, every outcome."""
    phase = answers.phase or ["measure"] * len(answers)
    return cut(answers, np.array([p != "warmup" for p in phase], dtype=bool))


def complete(of: Cut) -> Cut:
    """Those that were answered whole."""
    outcome = of.answers.outcome
    return cut(of.answers, np.array([o == "complete" for o in outcome], dtype=bool))


def latest_s(answers: Answers) -> Floats:
    """The latest instant known of each request: its end, else its last token."""
    return np.where(np.isnan(answers.end_s), answers.last_s, answers.end_s)


def over(amount: Floats, by: Floats) -> Floats:
    """Division; NaN where the divisor is not above 0."""
    return np.divide(amount, by, out=np.full(len(amount), np.nan), where=by > 0)


def known(values: Floats) -> Floats:
    """Without what is not there."""
    return values[~np.isnan(values)]


def total(values: Floats) -> float:
    """The sum of what is there; NaN where nothing is."""
    return float(np.nansum(values)) if len(known(values)) else math.nan


def _kept(column: list[Any], kept: Mask) -> list[Any]:
    return [value for value, keep in zip(column, kept, strict=True) if keep] if column else column


def _row(value: Any, kept: Mask) -> Any:
    """A column of `extra` is cut with the rest; anything else of it stays."""
    is_column = isinstance(value, np.ndarray) and value.shape == kept.shape
    return value[kept] if is_column else value
