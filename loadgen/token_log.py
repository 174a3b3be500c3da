"""The token events of one request as packed rows of storage.records.TOKEN_EVENT."""

import struct

import numpy as np
from numpy.typing import NDArray

from storage.records import TOKEN_EVENT

_ROW = struct.Struct("<iiqiHBBii")
_pack = _ROW.pack
_SHARED_AT = 23  # byte offset of `shared`
_BOUND = struct.Struct("<i")
_BOUND_AT = 28
assert _ROW.size == TOKEN_EVENT.itemsize == 32
assert TOKEN_EVENT.fields is not None
assert TOKEN_EVENT.fields["shared"][1] == _SHARED_AT
assert TOKEN_EVENT.fields["bound_us"][1] == _BOUND_AT

MAX_I4 = 2**31 - 1
MAX_U2 = 2**16 - 1


def plain_rows(
    request_id: NDArray[np.int32], t_us: NDArray[np.int64], lag_us: NDArray[np.int64]
) -> NDArray[np.void]:
    """Rows of token events of unknown tokens, each one's gap since the line above.

    `seq` and `kind`, and the first gap of what is one run, are for TokenLog.append_run to know.
    """
    rows = np.zeros(len(t_us), TOKEN_EVENT)
    rows["request_id"] = request_id
    rows["t_us"] = t_us
    rows["gap_us"][1:] = np.minimum(np.diff(t_us), MAX_I4)
    rows["lag_us"] = lag_us
    return rows


class TokenLog:
    """Appends rows (0.4 µs each); `take` hands over those since the last take."""

    __slots__ = (
        "_before_us",
        "_of_others",
        "_request_id",
        "_rows",
        "choice",
        "last_us",
        "n",
        "n_shared",
    )

    def __init__(self, request_id: int) -> None:
        self._request_id = request_id
        self._rows = bytearray()
        self.n = 0  # token events so far, those taken included
        self.n_shared = 0
        self.last_us = 0
        self.choice = 0  # whose event comes next
        self._before_us: int | None = None  # its event before
        self._of_others: dict[int, int | None] = {}

    def turn_to(self, choice: int) -> None:
        """The next events are this choice's: gaps are between events of one choice (n > 1)."""
        self._of_others[self.choice] = self._before_us
        self._before_us = self._of_others.get(choice)
        self.choice = choice

    def append(self, t_us: int, kind: int, n_tokens: int, lag_us: int) -> None:
        """One token event.  n_tokens 0 = unknown; lag_us -1 = no kernel stamp."""
        n = self.n
        before_us = self._before_us
        gap_us = t_us - before_us if before_us is not None else -1
        if gap_us > MAX_I4 or n_tokens > MAX_U2:
            gap_us, n_tokens = min(gap_us, MAX_I4), min(n_tokens, MAX_U2)
        self._rows += _pack(self._request_id, n, t_us, gap_us, n_tokens, kind, 0, lag_us, 0)
        self.n = n + 1
        self.last_us = self._before_us = t_us

    def append_run(self, rows: NDArray[np.void], kind: int) -> None:
        """Some of plain_rows, as `append` would make them one by one; they are written to."""
        n, times_us = len(rows), rows["t_us"]
        before_us = self._before_us
        gap_us = int(times_us[0]) - before_us if before_us is not None else -1
        rows["gap_us"][0] = min(gap_us, MAX_I4)
        rows["seq"] = np.arange(self.n, self.n + n)
        rows["kind"] = kind
        self._rows += rows.tobytes()
        self.n += n
        self.last_us = self._before_us = int(times_us[-1])

    def mark_shared(self, n_newest: int, bound_us: int, is_last_exact: bool = True) -> None:
        """The n_newest events came in one read: doubt them, but for the last if it is exact.

        bound_us: how much earlier than its stamp each of them may have arrived.
        """
        size = _ROW.size
        n_bytes = len(self._rows)
        end = n_bytes - size if is_last_exact else n_bytes
        for at in range(max(0, n_bytes - n_newest * size), end, size):
            if not self._rows[at + _SHARED_AT]:
                self._rows[at + _SHARED_AT] = 1
                self.n_shared += 1
            _BOUND.pack_into(self._rows, at + _BOUND_AT, min(bound_us, MAX_I4))

    def mark_bound(self, n_newest: int, bound_us: int) -> None:
        """The n_newest events have no kernel stamp: each came so much earlier at most."""
        size = _ROW.size
        end = len(self._rows)
        for at in range(max(0, end - n_newest * size), end, size):
            _BOUND.pack_into(self._rows, at + _BOUND_AT, min(bound_us, MAX_I4))

    def take(self) -> bytearray:
        """The rows since the last take."""
        rows, self._rows = self._rows, bytearray()
        return rows
