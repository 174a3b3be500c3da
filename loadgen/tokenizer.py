"""A model's own tokenizer: how many of its tokens a text is.  Never used while a load is measured.

The only file that imports `tokenizers`; late, for a run without a tokenizer needs none.
"""

from pathlib import Path
from typing import Any

FILE_NAME = "tokenizer.json"
_WHAT_TO_GIVE = "Give a tokenizer.json, a folder that holds one, or a hub name such as OWNER/MODEL."


class TokenizerError(ValueError):
    """There is no such tokenizer, or it cannot be read: one sentence, and what to do."""


class Tokenizer:
    """Counts what a model generated: no special tokens are added, nothing is cut or padded."""

    def __init__(self, library_tokenizer: Any) -> None:
        self._inner = library_tokenizer
        # A tokenizer.json may say that texts are cut at 512 tokens, or padded to as many.
        self._inner.no_truncation()
        self._inner.no_padding()

    def count(self, text: str) -> int:
        """Tokens of one text; a special token's own name in it counts as that token."""
        return self.count_all([text])[0]

    def count_all(self, texts: list[str]) -> list[int]:
        """The same of many, on all cores."""
        encoded = self._inner.encode_batch_fast(texts, add_special_tokens=False)
        return [len(encoding) for encoding in encoded]


def load(name: str) -> Tokenizer:
    """The tokenizer in a file, in a folder, or of a model on the hub; raises TokenizerError.

    The hub is huggingface.co or HF_ENDPOINT, and its cache alone where HF_HUB_OFFLINE=1.
    """
    import tokenizers

    path = Path(name).expanduser()
    if path.is_dir():
        path /= FILE_NAME
        if not path.exists():
            raise TokenizerError(f"The folder {name} holds no {FILE_NAME}. {_WHAT_TO_GIVE}")
    is_file = path.exists()
    if not is_file and _looks_like_a_path(name):
        raise TokenizerError(f"There is no tokenizer {name}. {_WHAT_TO_GIVE}")
    try:
        if is_file:
            return Tokenizer(tokenizers.Tokenizer.from_file(str(path)))
        return Tokenizer(tokenizers.Tokenizer.from_pretrained(name))
    except Exception as error:  # the library raises bare Exception
        why = " ".join(str(error).split())[:300].rstrip(".")
        where = "read" if is_file else "had from the hub (HF_ENDPOINT, HF_HUB_OFFLINE)"
        raise TokenizerError(
            f"The tokenizer {name} cannot be {where}: {why}. {_WHAT_TO_GIVE}"
        ) from None


def _looks_like_a_path(name: str) -> bool:
    """A hub name is OWNER/MODEL or MODEL."""
    return name.startswith(("/", ".", "~")) or name.endswith(".json") or name.count("/") > 1
