"""Who counts tokens: a tokenizer, a server, or nobody but ourselves, by words."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

By = Literal["tokenizer", "server", "words"]


class TokenCounter(Protocol):
    """Counts the tokens of texts."""

    @property
    def by(self) -> By:
        """As in `workload.count_by`."""
        ...

    @property
    def name(self) -> str:
        """As sentences name it."""
        ...

    @property
    def most_texts(self) -> int | None:
        """So many texts it may be asked to count, because each is a request; None: any number."""
        ...

    def count_all(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text, with what this counter adds to every text (see `Pieces.constant`).

        Raises CannotCount if it fails.
        """
        ...


class CannotCount(Exception):
    """A counter has failed; the sentence says how."""


@dataclass(frozen=True, slots=True)
class WordCounter:
    """One word is one token: what is assumed where nobody can be asked."""

    by: By = "words"
    name: str = "words, taken for tokens"
    most_texts: int | None = None

    def count_all(self, texts: Sequence[str]) -> list[int]:
        """Words of each text."""
        return [len(text.split()) for text in texts]
