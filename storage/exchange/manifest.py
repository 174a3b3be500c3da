"""What a folder of an exported run says of itself, and where such folders lie; no database here.

Both the store and its clients need it: dashboards and commands do not load duckdb.
"""

import re
import shutil
import time
import uuid
from pathlib import Path
from typing import Any, cast

import orjson

from storage.protocol import StoreError

MANIFEST = "headway.json"
FORMAT = "headway-run"
FORMAT_VERSION = 1
SPARE_BYTES = 512 << 20
_FOLDER = re.compile(r"[0-9a-f]{32}")
_STALE_AFTER_S = 86_400.0
Told = dict[str, Any]


def manifest(run_uid: str, schema_version: int, rows: dict[str, int]) -> bytes:
    """The bytes of MANIFEST.  rows: by table."""
    told = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "schema_version": schema_version,
        "run_uid": run_uid,
        "rows": rows,
    }
    return orjson.dumps(told, option=orjson.OPT_INDENT_2)


def manifest_of(raw: bytes) -> Told:
    """What MANIFEST says: run_uid, schema_version, rows by table; StoreError if it is not ours."""
    try:
        told = orjson.loads(raw)
        is_ours = told["format"] == FORMAT and str(uuid.UUID(told["run_uid"])) == told["run_uid"]
        counts = [told["format_version"], told["schema_version"], *_rows(told).values()]
        is_ours &= all(type(n) is int and n >= 0 for n in counts)
    except (ValueError, KeyError, TypeError, AttributeError):  # no JSON is a ValueError too
        is_ours, told = False, {}
    if not is_ours:
        raise StoreError(f"its {MANIFEST} is not what Headway writes.")
    return told


def _rows(told: Told) -> Told:
    return cast(Told, told["rows"])


def new_folder(data: Path) -> Path:
    """An empty folder for files on their way in or out; those left lying for a day are removed."""
    parent = data / "exports" / "tmp"
    parent.mkdir(parents=True, exist_ok=True)
    for folder in parent.iterdir():
        if folder.is_dir() and time.time() - folder.stat().st_mtime > _STALE_AFTER_S:
            put_away(folder)
    folder = parent / uuid.uuid4().hex
    folder.mkdir()
    return folder


def folder_named(data: Path, name: str) -> Path:
    """The folder of that name; raises StoreError for a name that is none of ours."""
    folder = data / "exports" / "tmp" / name
    if not _FOLDER.fullmatch(name) or not folder.is_dir():
        raise StoreError(f"There is no folder {name[:40]!r} in {folder.parent}.")
    return folder


def put_away(folder: Path) -> None:
    """Remove a folder made by `new_folder`."""
    shutil.rmtree(folder, ignore_errors=True)


def refuse_full_disk(folder: Path, needed: int) -> None:
    """StoreError unless so many bytes more, and some to spare, fit on the folder's disk."""
    free = shutil.disk_usage(folder).free
    if free < needed + SPARE_BYTES:
        raise StoreError(
            f"The disk of {folder} has {free >> 20:,} MiB free, and this needs "
            f"{(needed + SPARE_BYTES) >> 20:,}; free some space first."
        )
