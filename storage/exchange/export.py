"""A run as files for others: a zip that another Headway imports, Parquet, CSV, or JSON.

The store writes the tables (run_tables.py); here they are put where the user wants them, whole or
not at all, and never over something that is there.
"""

import contextlib
import json
import os
import shutil
import zipfile
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from storage.client import Store
from storage.exchange.manifest import MANIFEST, SPARE_BYTES, put_away
from storage.exchange.readme import readme
from storage.protocol import Mistake, StoreError

FORMATS = {
    "zip": ("parquet", None),
    "parquet": ("parquet", None),
    "csv": ("csv", None),
    "json": ("json", "requests"),
    "requests.csv": ("csv", "requests"),
}
"""Format -> how the store writes its tables, and which one only."""
FACTS_AS_JSON = ("versions", "preflight", "self_test", "dropped_fields", "notes", "facts")
"""Columns of `runs` whose text is JSON: objects in run.json."""
Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Exported:
    """What was written: the file or folder, its bytes, and rows by table."""

    path: Path
    n_bytes: int
    rows: dict[str, int]


def export_run(store: Store, run: str, form: str, out: Path, document: Json) -> Exported:
    """Write a run to `out`: a new folder for parquet and csv, else a file.

    run: its run_uid.  document: what `show --json` says of it (summary.json in the zip, the keys of
    the JSON).  Raises StoreError if `out` is there already or its disk is too full; a file or
    folder that is not whole is removed.
    """
    if form not in FORMATS:
        raise Mistake(f"A run is exported as {', '.join(FORMATS)}, not as {form!r}.")
    out = out.absolute()
    _refuse_taken(out)
    tables, only = FORMATS[form]
    listed = store.do("run_tables", run=run, form=tables, only=only)
    folder = Path(listed["folder"].iloc[0])
    counted: list[int] = listed["n_rows"].tolist()
    rows = {Path(f).stem: n for f, n in zip(listed["file"], counted, strict=True)}
    try:
        sizes: list[int] = listed["n_bytes"].tolist()
        _refuse_full(out, sum(sizes))
        if form == "zip":
            _write_zip(out, folder, rows, _facts(store, run), document)
        elif form == "json":
            _write_json(out, folder / "requests.json", document)
        elif only:
            _copy(folder / f"{only}.{tables}", out)
        else:
            _place(folder, out)
    except OSError as error:
        raise StoreError(f"{out} cannot be written: {error.strerror or error}.") from None
    finally:
        put_away(folder)
    return Exported(out, _bytes_of(out), rows)


def _refuse_taken(out: Path) -> None:
    if out.exists() or out.is_symlink():
        raise Mistake(f"{out} is there already; give another path, or remove it first.")
    if not out.parent.is_dir():
        raise Mistake(f"There is no folder {out.parent} to write {out.name} into.")


def _refuse_full(out: Path, n_bytes: int) -> None:
    free = shutil.disk_usage(out.parent).free
    if free < n_bytes + SPARE_BYTES:
        raise StoreError(
            f"The disk of {out.parent} has {free >> 20:,} MiB free, and this needs "
            f"{(n_bytes + SPARE_BYTES) >> 20:,}; free some space or write elsewhere."
        )


def _facts(store: Store, run: str) -> Json:
    row = store.ask_arrow("run", run=run).to_pylist()[0]
    del row["started_at"], row["duration_s"]
    for name in FACTS_AS_JSON:
        row[name] = None if row[name] is None else json.loads(row[name])
    return row


def _write_zip(out: Path, folder: Path, rows: dict[str, int], facts: Json, document: Json) -> None:
    plan = facts.pop("plan")
    with _whole_or_not(out) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as packed:
        # The first entry tells what it is to a program that has read a few hundred bytes only.
        packed.write(folder / MANIFEST, MANIFEST)
        _write_text(packed, "README.txt", readme(facts, rows))
        _write_text(packed, "run.json", json.dumps(facts, indent=1, default=str))
        _write_text(packed, "summary.json", json.dumps(document, indent=1))
        _write_text(packed, "plan.json", plan)
        for table in rows:  # Parquet is compressed already
            packed.write(folder / f"{table}.parquet", f"{table}.parquet")


def _write_text(packed: zipfile.ZipFile, name: str, text: str) -> None:
    packed.writestr(name, text, compress_type=zipfile.ZIP_DEFLATED)


def _write_json(out: Path, requests: Path, document: Json) -> None:
    """The document with one more key, `requests`: copied piece by piece, it may be large."""
    head = json.dumps(document, indent=1).rstrip().removesuffix("}").rstrip()
    with _whole_or_not(out) as file, requests.open("rb") as rows:
        file.write(head.encode() + b',\n "requests": ')
        shutil.copyfileobj(rows, file)
        file.write(b"}\n")


def _copy(source: Path, out: Path) -> None:
    with _whole_or_not(out) as file, source.open("rb") as rows:
        shutil.copyfileobj(rows, file)


@contextlib.contextmanager
def _whole_or_not(out: Path) -> Generator[BinaryIO]:
    """A file beside `out` that becomes `out` at the end, and is removed if that is not reached."""
    part = out.with_name(f".{out.name}.part-{os.getpid()}")
    try:
        with part.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.link(part, out)  # unlike a rename, it refuses to replace
    finally:
        part.unlink(missing_ok=True)


def _place(folder: Path, out: Path) -> None:
    try:
        folder.rename(out)
    except OSError:  # another disk
        part = out.with_name(f".{out.name}.part-{os.getpid()}")
        try:
            shutil.copytree(folder, part)
            part.rename(out)
        finally:
            shutil.rmtree(part, ignore_errors=True)


def _bytes_of(path: Path) -> int:
    files = [path] if path.is_file() else list(path.iterdir())
    return sum(file.stat().st_size for file in files)
