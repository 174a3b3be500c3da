"""Pieces of text whose token counts are known and add up, found by asking a counter.

Where each text to count is a request, groups of words are counted at once: a group of k words with
k tokens holds one-token words only.  A group that has more is halved, and one that is never
resolved is a piece itself, of as many tokens as it has.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from loadgen.prompts.counting import CannotCount, TokenCounter
from loadgen.prompts.words import SAFEST, WORDS

LETTERS = tuple("abcdefghijklmnopqrstuvwxyz")
FILLERS = (" a", "a", " 1", ".", " .", "!", ",", "-", "1", "\n", " the")
FILLED = 12
"""So often a filler is repeated to see that each is one token."""
MOST_BEFORE = 64
ENOUGH_OPENERS = 4
USUAL_MOST_OPENERS = 64


class Piece(NamedTuple):
    """A text and how many tokens it adds."""

    text: str
    tokens: int


@dataclass(frozen=True, slots=True)
class Pieces:
    """What prompts are made of.

    openers: begin a text, all equally long.  middles: follow anything, begin with the glue.
    fillers: follow anything, one token each; none if there is no such text, or no need for one.
    constant: what the counter adds to each text: special tokens, or a chat template.
    """

    openers: tuple[Piece, ...]
    middles: tuple[Piece, ...]
    fillers: tuple[str, ...]
    constant: int = 0


def find_pieces(counter: TokenCounter, glue: str = " ") -> Pieces:
    """Asks within the counter's `most_texts`, of which it leaves a fifth; raises CannotCount.

    glue: what stands before each word; tokenizers that join words over blanks need another.
    """
    is_free = counter.most_texts is None
    budget = 10_000 if counter.most_texts is None else counter.most_texts * 4 // 5
    candidates = list(dict.fromkeys((*LETTERS[:1], *SAFEST, *LETTERS, *WORDS)))
    if not is_free:
        candidates = candidates[: max(ENOUGH_OPENERS, min(budget // 4, USUAL_MOST_OPENERS))]
    counts = counter.count_all(candidates)
    least = min(counts)
    if least < 1:
        raise CannotCount(f"{counter.name} counts {least} tokens in {candidates[0]!r}.")
    constant = 0 if is_free else least - 1
    found = zip(candidates, counts, strict=True)
    openers = tuple(Piece(word, n - constant) for word, n in found if n == least)
    after = _After(counter, openers[0].text, least, glue)
    n_fillers = min(len(FILLERS), 2 + budget // 16)  # a text each
    middles = _middles(after, budget - len(candidates) - n_fillers)
    ones = [piece.text for piece in middles if piece.tokens == 1]
    if len(ones) == len(middles):
        return Pieces(openers, tuple(middles), (), constant)
    fillers = _fillers(
        after, (*ones[:4], *FILLERS)[:n_fillers], middles[:MOST_BEFORE] if is_free else []
    )
    return Pieces(openers, tuple(middles), fillers, constant)


class _After(NamedTuple):
    """Counts what texts add after an opener."""

    counter: TokenCounter
    opener: str
    opener_count: int
    glue: str

    def joined(self, words: Sequence[str]) -> str:
        return "".join(self.glue + word for word in words)

    def count_all(self, texts: Sequence[str]) -> list[int]:
        counts = self.counter.count_all([self.opener + text for text in texts])
        return [n - self.opener_count for n in counts]


def _middles(after: _After, budget: int) -> list[Piece]:
    words: list[str] = list(dict.fromkeys((*SAFEST, *WORDS)))
    if budget >= len(words):
        texts = [after.joined([word]) for word in words]
        found = zip(texts, after.count_all(texts), strict=True)
        middles = [Piece(text, n) for text, n in found if n > 0]
        ones = [piece for piece in middles if piece.tokens == 1]
        return ones if len(ones) >= len(SAFEST) else middles
    return _by_groups(after, words, budget)


def _by_groups(after: _After, words: list[str], budget: int) -> list[Piece]:
    """The safest words, and the others only if those will not do."""
    ones: list[Piece] = []
    longer: list[Piece] = []
    for some in (words[: len(SAFEST)], words[len(SAFEST) :]):
        if len(ones) < len(SAFEST) // 2:
            budget = _resolve(after, some, budget, (ones, longer))
    return ones if len(ones) >= len(SAFEST) // 4 else [*ones, *longer]


def _resolve(
    after: _After, words: list[str], budget: int, found: tuple[list[Piece], list[Piece]]
) -> int:
    """Halve groups of these words while the budget lasts; returns what is left of it."""
    ones, longer = found
    waiting = deque([words])
    while waiting and budget > 0:
        group = waiting.popleft()
        text = after.joined(group)
        [tokens] = after.count_all([text])
        budget -= 1
        if tokens == len(group):
            ones += [Piece(after.joined([word]), 1) for word in group]
        elif len(group) > 1 and budget >= len(waiting) + 2:
            waiting += [group[: len(group) // 2], group[len(group) // 2 :]]
        elif tokens > 0:
            longer.append(Piece(text, tokens))
    return budget


def _fillers(after: _After, candidates: Sequence[str], before: Sequence[Piece]) -> tuple[str, ...]:
    """The first text that is one token however often it follows itself; it, or nothing.

    before: pieces after which it is looked at too.
    """
    for text in candidates:
        texts = [text * FILLED, *(piece.text + text for piece in before)]
        if after.count_all(texts) == [FILLED, *(piece.tokens + 1 for piece in before)]:
            return (text,)
    return ()
