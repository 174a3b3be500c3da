"""A small tokenizer of our own: words are tokens, and its file holds every trap we know."""

from pathlib import Path

from tokenizers import Tokenizer, models, pre_tokenizers, processors


def save_tokenizer(path: Path) -> Path:
    """Each word and each sign is one token; the file adds special ones, cuts and pads."""
    inner = Tokenizer(models.WordLevel({"[UNK]": 0, "[BOS]": 1}, unk_token="[UNK]"))
    inner.pre_tokenizer = pre_tokenizers.Whitespace()
    inner.post_processor = processors.TemplateProcessing(
        single="[BOS] $A", special_tokens=[("[BOS]", 1)]
    )
    inner.add_special_tokens(["[BOS]"])
    inner.enable_truncation(4)
    inner.enable_padding(length=64)
    inner.save(str(path))
    return path
