"""Files into a data folder, and a sentence on each, for `headway import` and the Runs page."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from storage.exchange import own_zip
from storage.exchange.answers import ForeignRun
from storage.exchange.folder import Origin, write_run
from storage.exchange.imported import Imported
from storage.exchange.importers import IMPORTERS, importer_of, runs_of
from storage.exchange.source import ImportProblem, load, refuse_odd


@dataclass(frozen=True, slots=True)
class Archive:
    """A file that is no JSON and brings whole runs: known by its first bytes."""

    is_it: Callable[[bytes], bool]
    read: Callable[[Path, Path], list[Imported]]  # (file, data folder); raises ImportProblem


ARCHIVES: dict[str, Archive] = {"headway": Archive(own_zip.is_zip, own_zip.read)}
"""Headway's own exports and what else comes as bytes."""


def import_file(path: Path, data: Path) -> list[Imported]:
    """Every run of one result file; its neighbours, where a tool writes several, come along.

    Raises ImportProblem, one sentence; a run that was imported before it stays.
    """
    if path.is_dir():
        return own_zip.read(path, data)
    refuse_odd(path)
    if archive := _archive_of(path):
        return archive.read(path, data)
    source = load(path)
    name = importer_of(source)
    importer = IMPORTERS[name]
    beside = importer.primary(path)
    source = source if beside == path else load(beside)
    runs = runs_of(name, source)
    hashes = source.hashes if importer.run_per_value else (source.sha256,)
    found: list[Imported] = []
    for run, sha256 in zip(runs, hashes, strict=True):
        origin = Origin(importer.title, source.path.name, sha256)
        try:
            uid, is_new = write_run(run, origin, data)
        except OSError as error:
            why = error.strerror or str(error)
            raise ImportProblem(f"{path.name} cannot be stored in {data}: {why}.") from None
        found.append(Imported(uid, run.name, is_new, _sentence(run, origin, is_new)))
    return found


def _archive_of(path: Path) -> Archive | None:
    try:
        with path.open("rb") as file:
            head = file.read(8)
    except OSError as error:
        raise ImportProblem(f"{path} cannot be read: {error.strerror or error}.") from None
    return next((one for one in ARCHIVES.values() if one.is_it(head)), None)


def _sentence(run: ForeignRun, origin: Origin, is_new: bool) -> str:
    """`result.json: vLLM bench (current schema), 512 requests, 3 failed; 1 level.  …`."""
    ends = Counter(ended for level in run.levels for ended in level.answers.outcome)
    n, cancelled = sum(ends.values()), ends["cancelled"]
    failed = n - ends["complete"] - cancelled
    version = f" {run.version}" if run.version and run.version[0].isdigit() else ""
    schema = f" ({run.version})" if run.version and not version else ""
    told = [f"{n:,} {'request' if n == 1 else 'requests'}" if n else "a summary"]
    told += [f"{failed:,} failed"] if failed else []
    told += [f"{cancelled:,} cancelled"] if cancelled else []
    levels = len(run.levels)
    told += [f"{levels} levels"] if levels > 1 else []
    said = f"{origin.file}: {origin.title}{version}{schema}: {', '.join(told)}."
    if not is_new:
        return f"{said} It is already here."
    return " ".join([said, *run.lacks])
