"""First tokens that no other prompt has, so that no prefix cache answers for a prompt.

A request's number is written in pieces as digits, the least significant first: two prompts differ
within their first tokens.  Which piece stands for which digit is shuffled anew in each run, so that
a run does not find what the one before it left in the cache.
"""

from collections.abc import Sequence
from functools import lru_cache
from random import Random

from loadgen.prompts.pieces import Piece, Pieces

NUMBERS = 2**50
"""So many prompts have heads of their own, where the prompts are long enough."""
MOST_DIGITS = 64
ENOUGH_DIGITS = 8
KEPT_ENDINGS = 1_024
_GOLDEN = round(NUMBERS * 2 / (1 + 5**0.5)) | 1


class Heads:
    """salt: the run's, the same in each of its workers."""

    def __init__(self, pieces: Pieces, salt: str) -> None:
        alphabet = _alphabet(pieces)
        rng = Random(f"headway/{salt}")
        self._openers = _shuffled(pieces.openers, rng)
        n_digits, reach = 0, 1
        while reach < NUMBERS and len(alphabet) > 1 and n_digits < MOST_DIGITS:
            n_digits, reach = n_digits + 1, reach * len(alphabet)
        self._digits = [_shuffled(alphabet, rng) for _ in range(n_digits)]
        self._base = len(alphabet)
        self._rest = lru_cache(KEPT_ENDINGS)(self._written)

    def opener(self, number: int) -> tuple[Piece, int]:
        """The text's first piece, and the number left to write after it."""
        number, digit = divmod(number, len(self._openers))
        return self._openers[digit], number

    def digits(self, number: int, most_tokens: int) -> tuple[str, int]:
        """The number as text, and its tokens; cut off where they would be more than that.

        At each send: all but two digits are those of the request before, mostly.
        """
        if len(self._digits) > 2:
            rest, number = divmod(number, self._base * self._base)
            high, low = divmod(number, self._base)
            ending, tokens = self._rest(rest, 2)
            first, second = self._digits[0][low], self._digits[1][high]
            tokens += first.tokens + second.tokens
            if tokens <= most_tokens:
                return first.text + second.text + ending, tokens
            number += rest * self._base * self._base
        return self._written(number, 0, most_tokens)

    def _written(self, number: int, at: int, most_tokens: int = 1_000_000) -> tuple[str, int]:
        """From digit `at` on."""
        text, tokens = "", 0
        for alphabet in self._digits[at:]:
            number, digit = divmod(number, self._base)
            piece = alphabet[digit]
            if tokens + piece.tokens > most_tokens:
                break
            text, tokens = text + piece.text, tokens + piece.tokens
        return text, tokens


def first_number(slot: int) -> int:
    """Where a slot's numbers begin; those of different slots are far apart.

    Multiples of the golden ratio divide a circle most evenly (Knuth, TAOCP 3, 6.4): with 2**15
    slots no two of them are nearer than 2**33.
    """
    return slot * _GOLDEN % NUMBERS


def _alphabet(pieces: Pieces) -> Sequence[Piece]:
    """One token for each digit, if there are enough pieces of one token."""
    ones = [piece for piece in pieces.middles if piece.tokens == 1]
    return ones if len(ones) >= ENOUGH_DIGITS else pieces.middles


def _shuffled(pieces: Sequence[Piece], rng: Random) -> list[Piece]:
    return rng.sample(pieces, len(pieces))
