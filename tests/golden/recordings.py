"""Answers of real servers as they came: the raw bytes, and when each read returned.

Recorded on one machine with tiny models by a plain socket (no kernel stamps), one request for each
connection.  What a server is and what it was asked is told by the recording's name.
"""

import csv
import json
import lzma
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from loadgen.exchange import ExchangeDecoder
from loadgen.wire.registry import APIS
from storage.records import KINDS

FOLDER = Path(__file__).parent / "recordings"
BESIDE = Path(__file__).resolve().parents[3] / "shared" / "captures"
"""The recordings themselves, where the project's neighbour folder holds them."""


@dataclass(frozen=True, slots=True)
class Recording:
    """One answer; reads are (µs since the request was sent, bytes)."""

    server: str
    case: str
    path: str  # of the request
    end: str  # "eof", or why the client closed
    end_us: int
    reads: list[tuple[int, bytes]]

    @property
    def name(self) -> str:
        return f"{self.server}/{self.case}"

    @property
    def api(self) -> str | None:
        """The API that speaks at the request's path; None: none of ours."""
        for name, api in APIS.items():
            if self.path in (api.path, api.whole_path):
                return name
        return None

    def to_line(self) -> str:
        raw = b"".join(data for _, data in self.reads).decode("latin-1")
        fields = {"case": self.case, "path": self.path, "end": self.end, "end_us": self.end_us}
        fields |= {"reads": [[us, len(data)] for us, data in self.reads], "raw": raw}
        return json.dumps(fields, ensure_ascii=False, separators=(",", ":"))


def kept(folder: Path = FOLDER) -> list[Recording]:
    """The recordings in the project: SERVER.jsonl.xz, one answer in each line."""
    found: list[Recording] = []
    for path in sorted(folder.glob("*.jsonl.xz")):
        # Not splitlines: a line is JSON, which may hold a raw U+0085.
        lines = lzma.decompress(path.read_bytes()).decode().rstrip("\n").split("\n")
        found += [_from_line(path.name.partition(".")[0], line) for line in lines]
    return found


def beside(folder: Path = BESIDE) -> list[Recording]:
    """The recordings beside the project: SERVER/CASE.raw, .req and .timing.json."""
    return [_from_files(path) for path in sorted(folder.glob("*/*.raw"))]


def keep(recordings: list[Recording], folder: Path = FOLDER) -> None:
    """Write what `kept` reads."""
    for server in sorted({r.server for r in recordings}):
        lines = "".join(r.to_line() + "\n" for r in recordings if r.server == server)
        packed = lzma.compress(lines.encode(), preset=9 | lzma.PRESET_EXTREME)
        (folder / f"{server}.jsonl.xz").write_bytes(packed)


def index(folder: Path) -> dict[str, dict[str, str]]:
    """INDEX.tsv: what another program counted in each recording, by its name."""
    with (folder / "INDEX.tsv").open(encoding="utf-8", newline="") as lines:
        rows = csv.DictReader(lines, delimiter="\t")
        return {f"{row['server']}/{row['case']}": row for row in rows}


def decoded(recording: Recording, api: str) -> dict[str, Any]:
    """What our decoder makes of it: the row's fields that say something, and its token events."""
    meta = {"request_id": 1, "x_request_id": "x-1", "worker": 0, "stage": 0, "phase": "measure"}
    meta |= {"api": api, "due_ns": None, "dispatched_ns": 0, "send_ns": 0}
    decoder = ExchangeDecoder(APIS[api], meta, 0)
    for us, data in recording.reads:
        decoder.read(us * 1000, -1, 0, data)
    cause = "eof" if recording.end == "eof" else "cancelled"
    end = {"end_ns": recording.end_us * 1000, "cause": cause, "detail": None}
    row = decoder.close(end).to_dict()
    tokens = decoder.take_tokens()
    said = {k: v for k, v in row.items() if v not in (None, {}) and k not in (*meta, "due_us")}
    kinds = Counter(KINDS[kind] for kind in tokens["kind"])
    said |= {"kinds": dict(kinds), "counted_in_chunks": int(tokens["n_tokens"].sum())}
    assert tokens["t_us"].tolist() == sorted(tokens["t_us"].tolist())
    return said


def _from_line(server: str, line: str) -> Recording:
    fields = json.loads(line)
    raw = fields.pop("raw").encode("latin-1")
    return _recording(server, fields, raw, fields.pop("reads"))


def _from_files(path: Path) -> Recording:
    timing = json.loads(path.with_suffix(".timing.json").read_text())
    request = path.with_suffix(".req").read_bytes()
    fields = {"case": path.stem, "path": request.split(b" ")[1].decode()}
    fields |= {"end": timing["end"], "end_us": timing["end_us"]}
    reads = [(us, size) for us, _, size in timing["recv_us_offset_len"]]
    return _recording(path.parent.name, fields, path.read_bytes(), reads)


def _recording(
    server: str, fields: dict[str, Any], raw: bytes, reads: list[tuple[int, int]]
) -> Recording:
    cut, pieces = 0, []
    for us, size in reads:
        pieces.append((us, raw[cut : cut + size]))
        cut += size
    assert cut == len(raw), f"{server}/{fields['case']}: the reads are not the bytes"
    return Recording(server, reads=pieces, **fields)
