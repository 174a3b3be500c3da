"""Tokenizers of each kind, trained in a second on Python's own manual, and some that are odd."""

import pydoc_data.topics
from collections.abc import Callable
from functools import cache

from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

CORPUS = list(pydoc_data.topics.topics.values())
A_PART = CORPUS[::8]  # what takes long is trained on less


def byte_level_bpe(n_tokens: int = 4_000) -> Tokenizer:
    """As GPT-2, Llama 3, Qwen: a blank belongs to the word after it."""
    inner = Tokenizer(models.BPE())
    inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    inner.train_from_iterator(
        CORPUS,
        trainers.BpeTrainer(vocab_size=n_tokens, initial_alphabet=alphabet, show_progress=False),
    )
    return inner


def bytes_only() -> Tokenizer:
    """As ByT5: every byte is a token."""
    return byte_level_bpe(256)


def few_merges() -> Tokenizer:
    """A tiny vocabulary: hardly a word is one token."""
    return byte_level_bpe(300)


def sentencepiece_unigram(n_tokens: int = 2_000) -> Tokenizer:
    """As T5, Gemma: the most likely cut, blanks as ▁."""
    inner = Tokenizer(models.Unigram())
    inner.pre_tokenizer = pre_tokenizers.Metaspace()
    inner.decoder = decoders.Metaspace()
    inner.train_from_iterator(
        A_PART,
        trainers.UnigramTrainer(
            vocab_size=n_tokens, unk_token="<unk>", special_tokens=["<unk>"], show_progress=False
        ),
    )
    return inner


def tiny_unigram() -> Tokenizer:
    """Little more than letters, and a first blank that is a token of its own."""
    return sentencepiece_unigram(150)


def sentencepiece_bpe() -> Tokenizer:
    """As Llama 2: blanks as ▁, one before the text, and merges over the whole of it."""
    inner = Tokenizer(models.BPE(unk_token="<unk>"))
    inner.pre_tokenizer = pre_tokenizers.Metaspace()
    inner.train_from_iterator(
        CORPUS,
        trainers.BpeTrainer(vocab_size=4_000, special_tokens=["<unk>"], show_progress=False),
    )
    inner.pre_tokenizer = None
    inner.normalizer = normalizers.Sequence(
        [normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]
    )
    return inner


def superwords() -> Tokenizer:
    """Merges go over blanks: ` of the` is one token."""
    inner = Tokenizer(models.BPE())
    inner.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split("\n", "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    inner.train_from_iterator(
        A_PART,
        trainers.BpeTrainer(vocab_size=4_000, initial_alphabet=alphabet, show_progress=False),
    )
    return inner


def word_piece() -> Tokenizer:
    """As BERT: words, and pieces of words marked ##."""
    inner = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    inner.normalizer = normalizers.BertNormalizer()
    inner.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    inner.train_from_iterator(
        CORPUS,
        trainers.WordPieceTrainer(vocab_size=2_000, special_tokens=["[UNK]"], show_progress=False),
    )
    return inner


MADE: dict[str, Callable[[], Tokenizer]] = {
    make.__name__: cache(make)
    for make in (
        byte_level_bpe,
        bytes_only,
        few_merges,
        sentencepiece_unigram,
        tiny_unigram,
        sentencepiece_bpe,
        superwords,
        word_piece,
    )
}
