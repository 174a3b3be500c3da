"""A long text whose token counts are known at each piece: prompts are cut from it in microseconds.

The hot path of a load worker: two look-ups and a slice, no tokenizer.
"""

from array import array
from bisect import bisect_right
from itertools import accumulate, pairwise
from random import Random
from typing import Any

from loadgen.prompts.counting import TokenCounter
from loadgen.prompts.pieces import Piece, Pieces

POOL_TOKENS = 32_768
MOST_ROUNDS = 8


class Pool:
    """Pieces one after the other, over and over: a cut may go beyond the end.

    char_at, token_at: where each piece begins, and at last where all end.  filler: one token, for
    what is left where the next piece is too long; "" if there is none.
    """

    __slots__ = ("_n", "char_at", "filler", "text", "token_at")

    def __init__(self, text: str, char_at: "array[int]", token_at: "array[int]", filler: str):
        self.text = text
        self.char_at = char_at
        self.token_at = token_at
        self.filler = filler
        self._n = len(char_at) - 1

    def cut(self, at: int, n_tokens: int) -> str:
        """Exactly `n_tokens` tokens from piece `at` (of any size, they go round) on.

        Less, by less than a piece, where there is no filler.
        """
        token_at, char_at = self.token_at, self.char_at
        at %= self._n
        end = token_at[at] + n_tokens
        if end > token_at[-1]:
            whole = token_at[-1]
            rounds, rest = divmod(end - whole, whole)
            return self.text[char_at[at] :] + self.text * rounds + self.cut(0, rest)
        last = bisect_right(token_at, end, at) - 1
        left = end - token_at[last]
        said = self.text[char_at[at] : char_at[last]]
        return said + self.filler * left if left else said

    def to_json(self) -> dict[str, Any]:
        """The pool as plain values."""
        return {
            "text": self.text,
            "char_at": self.char_at.tolist(),
            "token_at": self.token_at.tolist(),
            "filler": self.filler,
        }

    @classmethod
    def from_json(cls, raw: dict[str, Any]) -> "Pool":
        """What `to_json` gave."""
        char_at, token_at = array("q", raw["char_at"]), array("q", raw["token_at"])
        return cls(raw["text"], char_at, token_at, raw["filler"])


def make_pool(pieces: Pieces, counter: TokenCounter, seed: int) -> Pool:
    """Pieces in a random order, equal for equal seeds; none follows another that it joins with.

    Whether two neighbours are as long together as each alone is asked where that costs no request.
    """
    rng = Random(seed)
    mean = sum(piece.tokens for piece in pieces.middles) / len(pieces.middles)
    chosen = rng.choices(pieces.middles, k=max(2, round(POOL_TOKENS / mean)))
    if counter.most_texts is None and counter.by != "words":
        chosen = _additive(chosen, pieces.openers[0], counter)
    return pool_of(chosen, pieces.fillers[0] if pieces.fillers else "")


def pool_of(chosen: list[Piece], filler: str) -> Pool:
    """A pool of these pieces in this order."""
    chars = array("q", accumulate((len(piece.text) for piece in chosen), initial=0))
    tokens = array("q", accumulate((piece.tokens for piece in chosen), initial=0))
    return Pool("".join(piece.text for piece in chosen), chars, tokens, filler)


def _additive(chosen: list[Piece], opener: Piece, counter: TokenCounter) -> list[Piece]:
    """Without each piece that counts otherwise after its neighbour than after the opener."""
    known: dict[tuple[Piece, Piece], bool] = {}
    for _ in range(MOST_ROUNDS):
        pairs = list(dict.fromkeys(p for p in pairwise([*chosen, chosen[0]]) if p not in known))
        texts = [opener.text + a.text + b.text for a, b in pairs]
        for (a, b), n in zip(pairs, counter.count_all(texts), strict=True):
            known[a, b] = n == opener.tokens + a.tokens + b.tokens
        kept = [b for a, b in pairwise([chosen[-1], *chosen]) if known[a, b]]
        if len(kept) == len(chosen) or len(kept) < 2:
            break
        chosen = kept
    return chosen
