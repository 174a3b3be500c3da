"""A text file's lines, each with its number; memory stays bounded whatever the file holds."""

import codecs
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

MOST_LINE_BYTES = 32 * 1024 * 1024


class FileTrouble(ValueError):
    """A file cannot be used: one sentence that names it, and the line if there is one."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line without its end; number counts from 1."""

    path: Path
    number: int
    text: str

    @property
    def where(self) -> str:
        """As sentences name it."""
        return f"{self.path}, line {self.number}"


def text_lines(path: Path) -> Iterator[Line]:
    """Every line, void ones too; CRLF and a byte order mark are no text.  Raises FileTrouble."""
    with opened(path) as file:
        number = 0
        while raw := file.readline(MOST_LINE_BYTES + 1):
            number += 1
            if len(raw) > MOST_LINE_BYTES:
                mib = MOST_LINE_BYTES >> 20
                raise FileTrouble(f"{path}, line {number} is longer than {mib} MiB.")
            if number == 1:
                raw = _unmarked(path, raw)
            try:
                text = raw.decode()
            except UnicodeDecodeError as error:
                why = f"byte {error.start + 1} is 0x{raw[error.start]:02x}"
                raise FileTrouble(f"{path}, line {number} is not UTF-8 ({why}).") from None
            yield Line(path, number, text.removesuffix("\n").removesuffix("\r"))


def opened(path: Path) -> BinaryIO:
    """The file, open for reading; raises FileTrouble."""
    try:
        if path.is_dir():
            raise FileTrouble(f"{path} is a folder; name a file in it.")
        return path.open("rb")
    except OSError as error:
        raise FileTrouble(f"{path} cannot be read: {error.strerror or error}.") from None


def first_sign(path: Path) -> str:
    """The first character that is no blank; "" of a void file.  Raises FileTrouble."""
    with opened(path) as file:
        start = file.read(64 * 1024).removeprefix(codecs.BOM_UTF8)
    return start.decode("utf-8", "replace").lstrip()[:1]


def _unmarked(path: Path, raw: bytes) -> bytes:
    if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise FileTrouble(f"{path} is UTF-16; save it as UTF-8.")
    return raw.removeprefix(codecs.BOM_UTF8)
