"""The usual read, recognised by its bytes instead of parsed: one HTTP chunk, one event, one text.

Nearly all reads of a stream differ only in the chunk's length and in the text of one string:
`e3 … data: {…"delta":{"content":"` TEXT `"}…}`.  Once one of them was decoded the usual way, the
bytes around its text tell the next one apart: it means the same if they are the same and TEXT is
a JSON string.  That takes 1 µs where HTTP, framing and JSON take 8; everything else goes the usual
way, which is the test's oracle.  Many reads at once (`count`) take 0.3 µs each.
"""

import re
from itertools import repeat, takewhile

import orjson

from loadgen.answer import KIND_NUMBER
from loadgen.wire.api import Api, Delta
from loadgen.wire.framing import ProtocolError

# Of a JSON string, not void.  Unrolled, so that it never backtracks: Python 3.11.2 gets possessive
# groups wrong (half an iteration stays matched), and nested + without them takes exponential time.
_PLAIN = rb'[^"\\\x00-\x1f]*'
_ESCAPE = rb'\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})'
_TEXT = rb'(?=[^\n"])' + _PLAIN + rb"(?:" + _ESCAPE + _PLAIN + rb")*"
_TEXT_FIELD = re.compile(rb'":\s*"(' + _TEXT + rb')"')
_is_text = re.compile(_TEXT).fullmatch
# \n stands in no string.
_are_texts = re.compile(_TEXT + rb"(?:\n" + _TEXT + rb")*").fullmatch

_BYTE_ORDER_MARK = b"\xef"  # skipped at the start of a stream only
_MAX_READ_BYTES = 8192
_MAX_BEGINS = 256  # a stream's texts seldom have so many lengths


def _size_lines(digits: bytes) -> list[bytes]:
    """For each length of a read that is one whole chunk, the size line it must begin with."""
    lines = [b""] * _MAX_READ_BYTES
    for n_bytes in range(1, _MAX_READ_BYTES):
        line = digits % n_bytes + b"\r\n"
        if (total := len(line) + n_bytes + 2) < _MAX_READ_BYTES:
            lines[total] = line
    # The few lengths that no chunk has: no read begins with what is longer than itself.
    return [line or bytes(total + 1) for total, line in enumerate(lines)]


_SIZE_LINES = (_size_lines(b"%x"), _size_lines(b"%X"))


class _Begins(dict[int, bytes]):
    """By the length of a read: its size line and all up to the text; made when asked for."""

    def __init__(self, size_lines: list[bytes], before: bytes) -> None:
        super().__init__()
        self._size_lines, self._before = size_lines, before

    def __missing__(self, n_bytes: int) -> bytes:
        if n_bytes >= _MAX_READ_BYTES:
            return bytes(n_bytes + 1)  # no chunk's, as in _size_lines
        if len(self) >= _MAX_BEGINS:
            self.clear()
        begin = self[n_bytes] = self._size_lines[n_bytes] + self._before
        return begin


class PlainEvent:
    """A learned event: every match of it is a token event of `kind_number` for `choice`."""

    __slots__ = (
        "_after",
        "_before",
        "_begins",
        "_n_after",
        "_n_before",
        "_size_lines",
        "choice",
        "kind_number",
    )

    def __init__(self, size_lines: list[bytes], around: tuple[bytes, bytes], delta: Delta) -> None:
        self._size_lines = size_lines
        self._before, after = around
        self._after = after + b"\r\n"
        self._n_before, self._n_after = len(self._before), len(self._after)
        self._begins = _Begins(size_lines, self._before)
        self.choice = delta.choice
        self.kind_number = KIND_NUMBER[delta.kind]

    def matches(self, data: bytes) -> bool:
        """Whether a read is one whole chunk, and this event with any text but a void one."""
        n_bytes = len(data)
        if n_bytes >= _MAX_READ_BYTES:
            return False
        size_line = self._size_lines[n_bytes]
        begin = len(size_line)
        return (
            data.startswith(size_line)
            and data.startswith(self._before, begin)
            and data.endswith(self._after)
            and _is_text(data, begin + self._n_before, n_bytes - self._n_after) is not None
        )

    def count(self, reads: list[bytes]) -> int:
        """How many of these reads match, from the first one on.

        As a rule all of them, or all up to one that begins otherwise, as a finish does: so they are
        asked together, by calls that do not come back to the interpreter for each of them.
        """
        if not reads or not reads[0].startswith(self._begins[len(reads[0])]):
            return 0
        begins = list(map(self._begins.__getitem__, map(len, reads)))
        if self._all_match(reads, begins):
            return len(reads)
        n = [*map(bytes.startswith, reads, begins), False].index(False)
        if self._all_match(reads[:n], begins[:n]):
            return n
        return sum(1 for _ in takewhile(self.matches, reads))

    def _all_match(self, reads: list[bytes], begins: list[bytes]) -> bool:
        """Nothing is removed where nothing is found: so the length of what is left tells."""
        n = len(reads)
        rests = map(bytes.removesuffix, map(bytes.removeprefix, reads, begins), repeat(self._after))
        texts = b"\n".join(rests)
        n_removed = sum(map(len, reads)) + n - 1 - len(texts)
        return (
            n_removed == sum(map(len, begins)) + n * self._n_after
            and texts.count(b"\n") == n - 1
            and _are_texts(texts) is not None
        )

    def skip(self, data: bytes) -> tuple[int, bytes]:
        """(how many whole chunks of this event a read begins with, what follows them)."""
        n = 0
        while True:
            end = data.find(self._after) + self._n_after
            if end < self._n_after or not self.matches(data[:end]):
                return n, data
            n += 1
            data = data[end:]

    def frames(self, data: bytes) -> bool:
        """Whether a read has this event's bytes at both ends, whatever is between."""
        return data.startswith(self._before, data.find(b"\n") + 1) and data.endswith(self._after)


def is_one_chunk(data: bytes, pieces: list[bytes]) -> bool:
    """Whether a read began and ended between two chunks, and was one; pieces: its body bytes."""
    return len(pieces) == 1 and _lines_of(data, pieces[0]) is not None


def learn(data: bytes, piece: bytes, delta: Delta, api: Api) -> PlainEvent | None:
    """What to look for after `data`, a read of one chunk that held `piece`, one event: `delta`.

    None if the event says more than one text. Each string like it is tried: the right one is where
    another text gives the same delta, but for the text's length. So the decoder itself decides, and
    no API needs code for this.
    """
    size_lines = _lines_of(data, piece)
    bare = Delta(delta.kind, delta.text, 0, delta.choice, response_id=delta.response_id)
    if size_lines is None or delta != bare or piece.startswith(_BYTE_ORDER_MARK):
        return None  # bare: no usage, finish or logprobs, which may differ in the next
    longer = "x" * (len(delta.text) + 1)
    for text in _TEXT_FIELD.finditer(piece):
        if _text_of(text.group(1)) == delta.text:
            before, after = piece[: text.start(1)], piece[text.end(1) :]
            if _decode(before + longer.encode() + after, api) == [delta._replace(text=longer)]:
                return PlainEvent(size_lines, (before, after), delta)
    return None


def _lines_of(data: bytes, piece: bytes) -> list[bytes] | None:
    """The table (lower or upper case digits) whose size line makes `data` one chunk of `piece`."""
    n_bytes = len(data)
    if n_bytes >= _MAX_READ_BYTES or not data.endswith(b"\r\n"):
        return None
    for lines in _SIZE_LINES:
        if data.startswith(lines[n_bytes]) and len(lines[n_bytes]) + len(piece) + 2 == n_bytes:
            return lines
    return None


def _text_of(string: bytes) -> str | None:
    """A JSON string without its quotes as text; None if orjson finds it broken."""
    try:
        return orjson.loads(b'"%s"' % string)
    except orjson.JSONDecodeError:
        return None


def _decode(piece: bytes, api: Api) -> list[Delta] | None:
    """The deltas of whole events; None if `piece` is not whole."""
    framing = api.framing()
    try:
        deltas = [delta for event in framing.feed(piece) for delta in api.decode(event)]
    except ProtocolError:
        return None
    return deltas if framing.idle else None
