"""Looking at a file before it is read as a trace: is it one, is it text, how does it begin?"""

from pathlib import Path

from loadgen.traces.trace import TraceError

_PACKED = {
    b"\x1f\x8b": "gzip",
    b"BZh": "bzip2",
    b"\xfd7zXZ": "xz",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"PK\x03\x04": "zip",
}
_LOOK_BYTES = 65_536


def check_is_text(path: Path) -> None:
    """Raises TraceError for what no reader can read: no file, empty, packed, not UTF-8's kind."""
    if path.exists() and not path.is_file():
        raise TraceError(f"{path} is no regular file; expected a CSV or JSONL file.")
    try:
        with path.open("rb") as file:
            head = file.read(_LOOK_BYTES)
    except OSError as error:
        raise TraceError(f"{path} cannot be read: {error.strerror or error}.") from None
    for magic, name in _PACKED.items():
        if head.startswith(magic):
            raise TraceError(f"{path} is packed ({name}), which is not supported; unpack it first.")
    if head.startswith(b"PAR1"):
        raise TraceError(f"{path} is a Parquet file; expected CSV or JSONL.")
    if head.startswith(b"version https://git-lfs"):
        raise TraceError(
            f"{path} is a Git LFS pointer and not the trace itself; fetch it with `git lfs pull`."
        )
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise TraceError(f"{path} is UTF-16 text; expected UTF-8.")
    if b"\0" in head:
        raise TraceError(f"{path} holds NUL bytes; expected CSV or JSONL as UTF-8 text.")
    if not head.removeprefix(b"\xef\xbb\xbf").strip():
        raise TraceError(f"{path} is empty; expected one request per line.")


def first_line(path: Path) -> str:
    """The first line that is not blank, without byte order mark; raises TraceError."""
    check_is_text(path)
    try:
        with path.open(encoding="utf-8-sig", newline=None) as file:
            lines = iter(lambda: file.readline(_LOOK_BYTES), "")
            return next((line.strip() for line in lines if line.strip()), "")
    except UnicodeDecodeError:
        raise not_utf8(path) from None


def not_utf8(path: Path) -> TraceError:
    """The error of a file that is no UTF-8, with the first line that is not."""
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            try:
                line.decode()
            except UnicodeDecodeError as error:
                seen = line[error.start : error.start + 1].hex()
                return TraceError(f"{path}, line {number} holds the byte 0x{seen}; expected UTF-8.")
    return TraceError(f"{path} is not UTF-8 text.")
