"""The answers' texts, kept on disk during a run and counted by the plan's tokenizers after it.

`spool/texts-w<worker>.jsonl` has one line for each request, with the number of the tokenizer that
is to count it.  A decoder that is killed and started again may write some of them twice; it counts
each once.
"""

from array import array
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import orjson
from numpy.typing import NDArray

from loadgen.line_file import append_lines, read_lines
from loadgen.live_line import Texts
from loadgen.tokenizer import Tokenizer
from storage.column_spool import TOKENIZER_COUNT

BATCH_CHARS = 1 << 20  # a tokenizer's result takes many times the text

_Line = tuple[int, list[str], int]
"""A request, its texts, the number of its tokenizer."""


def texts_path(spool: Path, worker: int) -> Path:
    """Where a worker's texts lie until they are counted."""
    return spool / f"texts-w{worker}.jsonl"


def keep_texts(path: Path, texts: Iterable[Texts], tokenizer: int = 0) -> None:
    """Add the texts of requests that have ended; raises OSError (a full disk)."""
    append_lines(
        path,
        b"".join(
            orjson.dumps([request_id, [_well_formed(text) for text in of_choices], tokenizer])
            + b"\n"
            for request_id, of_choices in texts
        ),
    )


def count_texts(path: Path, *tokenizers: Tokenizer | None) -> NDArray[np.void]:
    """TOKENIZER_COUNT rows by request: the tokens of all its choices, each text counted as one.

    Those of a tokenizer that is None are left out.
    """
    request_ids, n_tokens = array("i"), array("i")
    for batch in _batches(read_lines(path)):
        for number, tokenizer in enumerate(tokenizers):
            mine = [(request_id, texts) for request_id, texts, by in batch if by == number]
            if tokenizer is None or not mine:
                continue
            counts = iter(tokenizer.count_all([text for _, texts in mine for text in texts]))
            for request_id, texts in mine:
                request_ids.append(request_id)
                n_tokens.append(sum(next(counts) for _ in texts))
    ids, first = np.unique(np.array(request_ids, "<i4"), return_index=True)
    rows = np.empty(len(ids), TOKENIZER_COUNT)
    rows["request_id"] = ids
    rows["n_tokens"] = np.array(n_tokens, "<i4")[first]
    return rows


def _batches(lines: Iterator[_Line]) -> Iterator[list[_Line]]:
    batch: list[_Line] = []
    n_chars = 0
    for line in lines:
        batch.append(line)
        n_chars += sum(map(len, line[1]))
        if n_chars >= BATCH_CHARS:
            yield batch
            batch, n_chars = [], 0
    yield batch


def _well_formed(text: str) -> str:
    """Halves of a surrogate pair that came in two events joined; a lone one becomes U+FFFD."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text
