"""A tokenizer at hand as a counter; others have their turn between its batches."""

from collections.abc import Callable, Sequence

from loadgen.prompts.counting import By
from loadgen.tokenizer import Tokenizer

COUNTED_AT_ONCE = 512
MOST_CHARS = 200_000
"""A batch of so many letters keeps the leader's loop waiting for some ten milliseconds."""


class TokenizerCounter:
    """Any number of texts; between: called after each batch."""

    by: By = "tokenizer"
    most_texts: int | None = None

    def __init__(self, tokenizer: Tokenizer, name: str, between: Callable[[], None]) -> None:
        self._tokenizer = tokenizer
        self._between = between
        self.name = f"the tokenizer {name}"

    def count_all(self, texts: Sequence[str]) -> list[int]:
        """Tokens without special ones."""
        counts: list[int] = []
        batch: list[str] = []
        n_chars = 0
        for text in texts:
            batch.append(text)
            n_chars += len(text)
            if len(batch) == COUNTED_AT_ONCE or n_chars > MOST_CHARS:
                counts += self._tokenizer.count_all(batch)
                self._between()
                batch, n_chars = [], 0
        return counts + self._tokenizer.count_all(batch) if batch else counts
