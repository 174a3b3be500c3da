"""A trace while its file is being read: chunk after chunk goes in, one `Trace` comes out."""

from dataclasses import dataclass
from itertools import compress
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from loadgen.traces.blocks import Blocks, blocks_of, joined, renumbered
from loadgen.traces.trace import NONE, Trace, TraceError

MOST_ROWS = 10_000_000
MOST_TEXT_CHARS = 2**29
_MOST_SPAN_S = 10 * 366 * 86_400
_Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Piece:
    """The columns of one chunk.  `at` is in the file's own unit; the optional ones as in Trace."""

    at: NDArray[np.float64] | _Ints
    prompt_tokens: _Ints
    output_tokens: _Ints
    prefix_ids: Blocks | None = None
    prefix_group: _Ints | None = None
    session: _Ints | None = None
    text: list[str] | None = None


class Draft:
    """Collects pieces; leaves out rows without tokens, sorts by time, and notes both."""

    def __init__(self, path: Path, format_: str) -> None:
        self._path = path
        self._format = format_
        self._pieces: list[Piece] = []
        self._n_read = self._n_kept = self._n_chars = 0

    def add(self, piece: Piece) -> None:
        """The next rows of the file; raises TraceError where the file is too large to hold."""
        keep = (piece.prompt_tokens > 0) & (piece.output_tokens > 0)
        kept = piece if keep.all() else _kept(piece, keep)
        self._pieces.append(kept)
        self._n_read += len(keep)
        self._n_kept += len(kept.at)
        self._n_chars += sum(map(len, kept.text or ()))
        if self._n_kept > MOST_ROWS:
            raise TraceError(f"{self._path} has more than {MOST_ROWS:,} requests; expected fewer.")
        if self._n_chars > MOST_TEXT_CHARS:
            raise TraceError(
                f"{self._path} has prompts of more than {MOST_TEXT_CHARS:,} characters in all, "
                "which are held in memory; expected fewer."
            )

    def finish(self, ticks_per_s: float) -> Trace:
        """The trace of all rows so far; raises TraceError if there is none.

        ticks_per_s: what `at` counts, 1000 for milliseconds.
        """
        if not self._n_read:
            raise TraceError(f"{self._path} has column names but no rows; expected one request.")
        if not self._n_kept:
            raise TraceError(
                f"{self._path}: each of its {self._n_read} rows has 0 prompt or 0 output tokens; "
                "expected a request that was answered."
            )
        trace = self._joined(ticks_per_s)
        if trace.lasts_s > _MOST_SPAN_S:
            raise TraceError(
                f"{self._path} lasts {trace.lasts_s:,.0f} s as read, more than 10 years; are its "
                "times in another unit?"
            )
        return trace

    def _joined(self, ticks_per_s: float) -> Trace:
        pieces = self._pieces
        at = np.concatenate([piece.at for piece in pieces])
        order = np.argsort(at, kind="stable")
        n_out_of_order = int((np.diff(at) < 0).sum())
        t_s = (at[order] - at.min()) / ticks_per_s
        blocks = _all_blocks(pieces)
        texts = _all_texts(pieces)
        groups = [piece.prefix_group for piece in pieces]
        sessions = [piece.session for piece in pieces]
        return Trace(
            source=str(self._path),
            format=self._format,
            t_s=t_s,
            prompt_tokens=np.concatenate([piece.prompt_tokens for piece in pieces])[order],
            output_tokens=np.concatenate([piece.output_tokens for piece in pieces])[order],
            prefix_ids=blocks and renumbered(blocks.take(order) if n_out_of_order else blocks),
            prefix_group=_all_numbers(groups, pieces, order),
            session=_all_numbers(sessions, pieces, order),
            text=texts and [texts[i] for i in order.tolist()],
            notes=self._notes(n_out_of_order),
        )

    def _notes(self, n_out_of_order: int) -> tuple[str, ...]:
        notes: list[str] = []
        n_left_out = self._n_read - self._n_kept
        if n_left_out:
            notes.append(
                f"{n_left_out} of {self._n_read} rows have 0 prompt or 0 output tokens (requests "
                "that failed) and are left out."
            )
        if n_out_of_order:
            notes.append(
                f"{n_out_of_order} of {self._n_kept} rows came with an earlier time than the row "
                "before; all were sorted by time."
            )
        return tuple(notes)


def _kept(piece: Piece, keep: NDArray[np.bool_]) -> Piece:
    return Piece(
        at=piece.at[keep],
        prompt_tokens=piece.prompt_tokens[keep],
        output_tokens=piece.output_tokens[keep],
        prefix_ids=piece.prefix_ids and piece.prefix_ids.take(np.flatnonzero(keep)),
        prefix_group=None if piece.prefix_group is None else piece.prefix_group[keep],
        session=None if piece.session is None else piece.session[keep],
        text=None if piece.text is None else list(compress(piece.text, keep)),
    )


def _all_blocks(pieces: list[Piece]) -> Blocks | None:
    """All rows' blocks; a piece without any counts as rows without blocks beside one that has."""
    if all(piece.prefix_ids is None for piece in pieces):
        return None
    return joined([piece.prefix_ids or blocks_of([()] * len(piece.at)) for piece in pieces])


def _all_texts(pieces: list[Piece]) -> list[str] | None:
    if all(piece.text is None for piece in pieces):
        return None
    return [text for piece in pieces for text in piece.text or [""] * len(piece.at)]


def _all_numbers(columns: list[_Ints | None], pieces: list[Piece], order: _Ints) -> _Ints | None:
    if all(column is None for column in columns):
        return None
    filled = [
        np.full(len(piece.at), NONE, np.int64) if column is None else column
        for column, piece in zip(columns, pieces, strict=True)
    ]
    return np.concatenate(filled)[order]
