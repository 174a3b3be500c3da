"""Prompts of an exact number of tokens: a shared prefix, a head of their own, and a body."""

from collections.abc import Iterable
from typing import Literal

from loadgen.prompts.heads import NUMBERS, Heads, first_number
from loadgen.prompts.pool import Pool

Kind = Literal["prompt", "turn", "equal", "prefix", "block"]
_KINDS: dict[Kind, int] = {"prompt": 0, "turn": 1, "equal": 2, "prefix": 3, "block": 4}
MOST_CLASSES = 32
MOST_TURNS = 4_096
_STRIDE = 7_919  # prime: bodies of successive requests begin all over the pool


class Numbering:
    """The number of one class's texts of one kind in one level: different for every text.

    Prefixes and blocks are the same in all levels of a class: give level 0.
    """

    __slots__ = ("_first",)

    def __init__(self, kind: Kind, level: int, traffic: int) -> None:
        slot = (level * MOST_CLASSES + traffic) * len(_KINDS) + _KINDS[kind]
        self._first = first_number(slot)

    def __call__(self, index: int) -> int:
        """The `index`-th of them."""
        return (self._first + index) % NUMBERS


class Synthetic:
    """Texts by number and length: the same for the same salt, in whichever worker."""

    def __init__(self, pool: Pool, heads: Heads) -> None:
        self._pool = pool
        self._heads = heads

    def text(self, number: int, n_tokens: int) -> str:
        """A text of its own from the first token on."""
        opener, rest = self._heads.opener(number)
        left = n_tokens - opener.tokens
        if left <= 0:
            return opener.text
        said, n = self._heads.digits(rest, left)
        return opener.text + said + self._body(number, left - n)

    def after(self, number: int, n_tokens: int) -> str:
        """The same as the continuation of a text: it begins with a blank."""
        said, n = self._heads.digits(number, n_tokens)
        return said + self._body(number, n_tokens - n)

    def with_prefix(self, prefix: tuple[int, int], number: int, n_tokens: int) -> str:
        """prefix: its number and its tokens, which are the first of the `n_tokens`."""
        prefix_no, shared = prefix
        if n_tokens <= shared:
            return (
                self.text(prefix_no, shared)
                if n_tokens == shared
                else self.text(prefix_no, n_tokens)
            )
        return self.text(prefix_no, shared) + self.after(number, n_tokens - shared)

    def of_blocks(self, blocks: Iterable[tuple[int, int]], number: int, rest_tokens: int) -> str:
        """Blocks of a trace, each by (number, tokens), then tokens of its own."""
        said = ""
        for block, n_tokens in blocks:
            said += self.after(block, n_tokens) if said else self.text(block, n_tokens)
        if not said:
            return self.text(number, rest_tokens)
        return said + self.after(number, rest_tokens) if rest_tokens else said

    def _body(self, number: int, n_tokens: int) -> str:
        return self._pool.cut(number * _STRIDE, n_tokens) if n_tokens > 0 else ""
