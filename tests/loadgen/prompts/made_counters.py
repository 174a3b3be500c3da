"""Counters for tests: a tokenizer at hand, and a server that adds its template and counts calls."""

from collections.abc import Sequence

from tokenizers import Tokenizer as Library

from loadgen.prompts.counting import By
from loadgen.tokenizer import Tokenizer


class Local:
    """A tokenizer at hand."""

    by: By = "tokenizer"
    name = "the tokenizer"
    most_texts: int | None = None

    def __init__(self, library: Library) -> None:
        self._tokenizer = Tokenizer(library)
        self.n_asked = 0

    def count_all(self, texts: Sequence[str]) -> list[int]:
        self.n_asked += len(texts)
        return self._tokenizer.count_all(list(texts))


class Remote(Local):
    """Somebody who is asked once per text, and sees a chat template of 11 tokens around it."""

    by: By = "server"
    name = "the server"
    template = 11

    def __init__(self, library: Library, most_texts: int) -> None:
        super().__init__(library)
        self.most_texts = most_texts

    def count_all(self, texts: Sequence[str]) -> list[int]:
        return [n + self.template for n in super().count_all(texts)]
