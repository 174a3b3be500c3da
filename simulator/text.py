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


def first_position(answer_id: str) -> int:
    """Where in the endless text the answer with this id begins."""
    return zlib.crc32(answer_id.encode()) % _N_TOKENS


def tokens(position: int, n_tokens: int) -> bytes:
    """`n_tokens` successive tokens: a space and a word each, ASCII that JSON need not escape."""
    if n_tokens == 1:
        return _TOKENS[position & (_N_TOKENS - 1)]
    return b"".join([_TOKENS[(position + i) & (_N_TOKENS - 1)] for i in range(n_tokens)])
