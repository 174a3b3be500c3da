"""A run that another Headway exported, into this data folder: a zip, or a folder of Parquet files.

Of a zip only entries whose whole name is known are read, into files named by us, so that no name
in it can lead anywhere.
"""

import contextlib
import lzma
import shutil
import uuid
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

from storage.client import Store
from storage.exchange.imported import Imported
from storage.exchange.importers import IMPORTERS
from storage.exchange.manifest import MANIFEST, SPARE_BYTES, manifest_of, new_folder, put_away
from storage.exchange.source import ImportProblem
from storage.protocol import StoreError

_TEXTS = frozenset({"README.txt", "plan.json", "run.json", "summary.json"})
_LONGEST_TABLE_NAME = 40
_MOST_MANIFEST_BYTES = 1 << 20
_MOST_TIMES_LARGER = 8  # Parquet hardly packs any further
_CHUNK_BYTES = 1 << 20

# What zipfile raises for broken bytes, an unknown packing, a password, an early end, an odd name.
_DAMAGE = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError),
    *(NotImplementedError, RuntimeError, EOFError, ValueError),
)


def is_zip(head: bytes) -> bool:
    """Whether a file that begins so is a zip."""
    return head.startswith(b"PK\x03\x04")


def is_folder(path: Path) -> bool:
    """Whether it is a folder that `export --format parquet` made."""
    return (path / MANIFEST).is_file()


def read(path: Path, data: Path) -> list[Imported]:
    """The run of a zip or a folder as `headway import` wants it; ImportProblem, one sentence."""
    try:
        with contextlib.closing(Store.connect(data)) as store:
            uid, is_new = import_zip(store, data, path)
            rows = store.ask_arrow("run", run=uid).to_pylist()  # none yet: just seen
    except StoreError as error:
        raise ImportProblem(str(error)) from None
    name, source = (rows[0]["name"], rows[0]["source"]) if rows else (uid, None)
    done = f"is imported: {_origin(source)}" if is_new else "is here already: left alone"
    return [Imported(uid, str(name), is_new, f"{path.resolve().name} {done}.")]


def _origin(source: str | None) -> str:
    if source is None:
        return "a run that Headway measured"
    title = IMPORTERS[source].title if source in IMPORTERS else source
    return f"a run that another tool measured ({title}) and Headway had imported before"


def import_zip(store: Store, data: Path, path: Path) -> tuple[str, bool]:
    """Take in an exported run; its run_uid, and whether it is new here.

    A run of the same uid that is here already stays as it is.  Raises StoreError, one sentence
    that names the file, for anything damaged or odd, and leaves nothing behind then.
    """
    folder = new_folder(data.absolute())
    try:
        if path.is_dir():
            _copy_folder(path, folder)
        else:
            _unpack(path, folder)
        done = store.do("load_tables", folder=folder.name).iloc[0]
        return str(uuid.UUID(done["run_uid"])), bool(done["is_new"])
    except StoreError as error:
        raise StoreError(f"{path.resolve().name} is not imported: {error}") from None
    except _DAMAGE as error:
        what = "folder" if path.is_dir() else "zip"
        raise StoreError(
            f"{path.resolve().name} is not imported: the {what} is damaged ({error})."
        ) from None
    except OSError as error:  # without a number: bzip2's own, of broken bytes
        why = error.strerror or f"the zip is damaged ({error})"
        raise StoreError(f"{path.name} is not imported: {why}.") from None
    finally:
        put_away(folder)


def _unpack(path: Path, folder: Path) -> None:
    with zipfile.ZipFile(path) as packed:
        entries = {entry.filename: entry for entry in packed.infolist()}
        if len(entries) != len(packed.infolist()):
            raise StoreError("it holds the same name twice.")
        if MANIFEST not in entries:
            raise StoreError(f"it holds no {MANIFEST}: it is no run that Headway exported.")
        if entries[MANIFEST].file_size > _MOST_MANIFEST_BYTES:
            raise StoreError(f"its {MANIFEST} is not what Headway writes.")
        told = manifest_of(packed.read(MANIFEST))
        wanted = _files(told)
        if odd := set(entries) - _TEXTS - set(wanted):
            raise StoreError(f"it holds {sorted(odd)[0][:80]!r}, which Headway does not write.")
        sizes = {name: entries[name].file_size for name in wanted if name in entries}
        largest = _MOST_TIMES_LARGER * path.stat().st_size + _MOST_MANIFEST_BYTES
        _refuse_large(sum(sizes.values()), largest, folder)
        for name in sizes:
            with packed.open(name) as source:
                _copy(source.read, folder / name)


def _copy_folder(path: Path, folder: Path) -> None:
    told = manifest_of((path / MANIFEST).read_bytes())
    files = [path / name for name in _files(told) if (path / name).is_file()]
    _refuse_large(sum(file.stat().st_size for file in files), None, folder)
    for file in files:
        with file.open("rb") as source:
            _copy(source.read, folder / file.name)


def _files(told: dict[str, Any]) -> list[str]:
    names = [str(name) for name in told["rows"]]
    if not all(name.isidentifier() and len(name) <= _LONGEST_TABLE_NAME for name in names):
        raise StoreError(f"its {MANIFEST} names a table that cannot be.")
    return [MANIFEST, *(f"{name}.parquet" for name in names)]


def _refuse_large(n_bytes: int, largest: int | None, folder: Path) -> None:
    if largest is not None and n_bytes > largest:
        raise StoreError(f"it unpacks to {n_bytes >> 20:,} MiB: no exported run does that.")
    free = shutil.disk_usage(folder).free
    if free < n_bytes + SPARE_BYTES:
        raise StoreError(
            f"the disk of {folder} has {free >> 20:,} MiB free, and {n_bytes >> 20:,} are needed."
        )


def _copy(read: Callable[[int], bytes], to: Path) -> None:
    with to.open("xb") as file:
        _pump(read, file)


def _pump(read: Callable[[int], bytes], file: BinaryIO) -> None:
    while piece := read(_CHUNK_BYTES):
        file.write(piece)
