"""The text of an answer: one short word for each token."""

import random
import zlib

_WORDS = """
the of and to in is it you that was for on are with as his they be at one have this from or had by
hot but some what there we can out other were all your when up use word how said an each she which
do their time if will way about many then them would write like so these her long make thing see
him two has look more day could go come did my sound no most number who over know water than call
first people may down side been now find any new work part take
"""
_N_TOKENS = 4_096  # a power of two: positions wrap with a mask
_TOKENS = [b" " + w.encode() for w in random.Random(1).choices(_WORDS.split(), k=_N_TOKENS)]
_FIRST_ID = 1_000  # below it a real vocabulary has its special tokens
_IDS = {token: _FIRST_ID + i for i, token in enumerate(sorted(set(_TOKENS)))}
_PROMPT_IDS = 100_000  # prompt words get ids above those of the answers' words


def first_position(answer_id: str) -> int:
    """Where in the endless text the answer with this id begins."""
    return zlib.crc32(answer_id.encode()) % _N_TOKENS


def tokens(position: int, n_tokens: int) -> bytes:
    """`n_tokens` successive tokens: a space and a word each, ASCII that JSON need not escape."""
    if n_tokens == 1:
        return _TOKENS[position & (_N_TOKENS - 1)]
    return b"".join(pieces(position, n_tokens))


def pieces(position: int, n_tokens: int) -> list[bytes]:
    """The same tokens one by one."""
    return [_TOKENS[(position + i) & (_N_TOKENS - 1)] for i in range(n_tokens)]


def token_ids(position: int, n_tokens: int) -> list[int]:
    """The ids of `n_tokens` successive tokens: equal words have equal ids."""
    return [_IDS[piece] for piece in pieces(position, n_tokens)]


def word_id(word: str | int) -> int:
    """The id of a prompt word; token ids stay what they are."""
    return word if isinstance(word, int) else _PROMPT_IDS + zlib.crc32(word.encode()) % _PROMPT_IDS


def logprob(position: int) -> float:
    """What the model is said to have thought of the token there: -0.125 … -4."""
    return -0.125 * (1 + (position & 31))
