"""What a client and the store say to each other: JSON questions, Arrow answers, never a pickle.

The store greets first.  A question is `{"ask": name, "args": {...}}`.  An answer begins with one
byte: `A` and an Arrow IPC stream follows, `E` and a sentence for the user follows, `M` and one
on what was asked wrongly.
"""

from typing import TYPE_CHECKING, Any

import orjson

if TYPE_CHECKING:
    import pyarrow as pa

GREETING = b"headway-store 1"
"""What the store says first, so that a client tells a live one from a dying or a different one."""
CUT, TOOK_MS = b"headway.cut", b"headway.took_ms"
"""Keys of the schema metadata of an answer to `sql`: why rows are missing, empty if none is, and
how long it took."""
MAX_QUESTION_BYTES = 1 << 20
LONGEST_SQL = 20_000
_FRAME, _SENTENCE, _MISTAKE = b"A", b"E", b"M"


class StoreError(RuntimeError):
    """The store cannot do what was asked; its text is for the user: what, where, what to do."""


class Mistake(StoreError):
    """What was asked cannot be done as it was asked; asking differently helps, waiting may."""


def question(name: str, args: dict[str, Any]) -> bytes:
    """The bytes that ask the named query; numpy numbers and tuples are welcome as arguments.

    Raises StoreError for more bytes than the store takes.
    """
    raw = orjson.dumps({"ask": name, "args": args}, option=orjson.OPT_SERIALIZE_NUMPY)
    if len(raw) <= MAX_QUESTION_BYTES:
        return raw
    if name == "sql":
        raise too_long_sql()
    raise Mistake(
        f"The question {name!r} is longer than {MAX_QUESTION_BYTES:,} bytes; ask for less."
    )


def too_long_sql() -> "Mistake":
    """What a reader hears of an SQL text beyond LONGEST_SQL characters."""
    return Mistake(f"That is longer than {LONGEST_SQL:,} characters; ask in smaller pieces.")


def read_question(raw: bytes) -> tuple[str, dict[str, Any]]:
    """Name and arguments of a question; raises StoreError for anything else."""
    try:
        told = orjson.loads(raw)
        name, args = told["ask"], told["args"]
    except (orjson.JSONDecodeError, KeyError, TypeError):
        raise StoreError("The store was sent something that is no question.") from None
    if not isinstance(name, str) or not isinstance(args, dict):
        raise StoreError("A question needs a name and named arguments.")
    return name, args


def answer(frame: "pa.Table") -> bytes:
    """The bytes of a frame."""
    import pyarrow as pa

    sink = pa.BufferOutputStream()
    sink.write(_FRAME)
    with pa.ipc.new_stream(sink, frame.schema) as stream:
        stream.write_table(frame)
    return sink.getvalue().to_pybytes()


def refusal(sentence: str, is_mistake: bool = False) -> bytes:
    """The bytes that say why there is no frame."""
    return (_MISTAKE if is_mistake else _SENTENCE) + sentence.encode()


def read_answer(raw: bytes) -> "pa.Table":
    """The frame of an answer; raises StoreError or Mistake with the store's own sentence."""
    import pyarrow as pa

    if raw[:1] != _FRAME:
        kind = Mistake if raw[:1] == _MISTAKE else StoreError
        raise kind(raw[1:].decode(errors="replace"))
    return pa.ipc.open_stream(pa.py_buffer(raw).slice(1)).read_all()
