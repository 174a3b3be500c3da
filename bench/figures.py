"""What a bench found: figures with unit and the value asked for; as a table and as JSON."""

import json
import os
import platform
import statistics
import time
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

OUT = Path(__file__).resolve().parent / "out"
PACKAGES = ("locust", "gevent", "httptools", "numpy", "duckdb", "streamlit", "aiohttp")


@dataclass(frozen=True, slots=True)
class Figure:
    """One number.  `asked` is the figure to reach, such as "<= 0.3", or empty."""

    name: str
    value: float
    unit: str
    asked: str = ""

    @property
    def reached(self) -> bool | None:
        """Whether the value is what was asked; None where nothing was."""
        if not self.asked:
            return None
        sign, limit = self.asked.split()
        return self.value <= float(limit) if sign == "<=" else self.value >= float(limit)


@dataclass(frozen=True, slots=True)
class Row:
    """One figure over several runs of its bench."""

    name: str
    unit: str
    asked: str
    median: float
    least: float
    most: float
    n_runs: int
    reached: bool | None


def over_runs(runs: list[list[Figure]]) -> list[Row]:
    """Median, least and most of each figure; figures keep the order of the first run."""
    rows: list[Row] = []
    for first in runs[0]:
        values = [f.value for run in runs for f in run if f.name == first.name]
        median = statistics.median(values)
        verdict = Figure(first.name, median, first.unit, first.asked).reached
        rows.append(
            Row(
                first.name, first.unit, first.asked,
                median, min(values), max(values), len(values), verdict,
            )
        )  # fmt: skip
    return rows


def table(bench: str, rows: list[Row]) -> str:
    """The rows as text, one line each."""
    width = max(len(r.name) for r in rows)
    lines = [bench]
    for r in rows:
        spread = f"  [{r.least:.4g} – {r.most:.4g}]" if r.n_runs > 1 else ""
        mark = {None: "", True: "  ok", False: "  MISSED"}[r.reached]
        asked = f"  asked {r.asked}" if r.asked else ""
        lines.append(f"  {r.name:<{width}}  {r.median:>9.4g} {r.unit}{spread}{asked}{mark}")
    return "\n".join(lines)


def keep(bench: str, rows: list[Row]) -> Path:
    """Write bench/out/<bench>.json with the machine it was measured on."""
    OUT.mkdir(exist_ok=True)
    target = OUT / f"{bench}.json"
    content = {"bench": bench, "machine": machine(), "rows": [asdict(r) for r in rows]}
    target.write_text(json.dumps(content, indent=1))
    return target


def machine() -> dict[str, Any]:
    """Where and when: processor, cores, kernel, Python, packages, load by others."""
    cpu = next(
        (x.split(":")[1].strip() for x in _cpuinfo() if x.startswith("model name")),
        platform.processor(),
    )
    return {
        "date": time.strftime("%Y-%m-%d %H:%M", time.gmtime()) + " UTC",
        "cpu": cpu,
        "cores": os.cpu_count(),
        "kernel": platform.release(),
        "python": platform.python_version(),
        "load_average": round(os.getloadavg()[0], 2),
        "versions": {p: version(p) for p in PACKAGES},
    }


def _cpuinfo() -> list[str]:
    try:
        return Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return []
