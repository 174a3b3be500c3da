"""The walls of the house: what a process must never import, seen in a real interpreter."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parent.parent
HEAVY = {"duckdb", "pandas", "plotly", "streamlit", "pyarrow", "scipy", "aiohttp"}


def imported_by(statement: str) -> set[str]:
    code = f"{statement}\nimport sys\nprint(' '.join({{m.split('.')[0] for m in sys.modules}}))"
    run = [sys.executable, "-c", code]
    return set(
        subprocess.run(run, cwd=PROJECT, check=True, capture_output=True, text=True).stdout.split()
    )


@pytest.mark.slow
def test_a_load_worker_imports_no_database_chart_or_page_library():
    assert not imported_by("import loadgen.locustfile") & HEAVY


@pytest.mark.slow
def test_a_leader_asks_the_endpoint_before_it_imports_locust():
    assert not imported_by("import loadgen.lead") & (HEAVY | {"locust"})


@pytest.mark.slow
def test_a_decoder_imports_neither_the_load_nor_a_database():
    assert not imported_by("import loadgen.decoder") & (HEAVY | {"locust", "gevent", "pydantic"})


@pytest.mark.slow
def test_what_the_dashboard_imports_to_start_a_run_holds_no_gevent_or_locust():
    found = imported_by("import loadgen.launch, loadgen.plan, storage.client")
    assert not found & {"gevent", "locust", "duckdb", "streamlit"}


@pytest.mark.slow
def test_the_store_imports_no_page_chart_or_load_library():
    found = imported_by("import storage.store")
    assert not found & {"gevent", "locust", "streamlit", "plotly", "pandas"}


@pytest.mark.slow
def test_the_simulator_shares_no_code_with_what_it_checks():
    assert not imported_by("import simulator.server") & {"loadgen", "storage", "analysis", "locust"}


def test_every_package_is_installed():
    """Else `headway` works from its own folder and fails from any other."""
    config = tomllib.loads((PROJECT / "pyproject.toml").read_text())
    found = {path.parent.relative_to(PROJECT) for path in PROJECT.glob("[a-z]*/**/__init__.py")}
    named = {".".join(path.parts) for path in found if path.parts[0] not in ("tests", "bench")}
    assert set(config["tool"]["setuptools"]["packages"]) == named


SCHEDULING = (
    "arrival_rows arrivals curves draws lengths lengths_file level_schedule planned replay "
    "replay_record schedule seats shapes"
)
JUDGING = (
    "history live_line objectives probe_judge probe_results probe_rows program program_doubling "
    "program_search request_row segment_decoder"
)
CLOCKLESS = [
    *(PROJECT / "loadgen" / "wire").glob("*.py"),
    *(PROJECT / "loadgen" / "traces").glob("*.py"),
    *(PROJECT / "loadgen" / f"{name}.py" for name in f"{SCHEDULING} {JUDGING}".split()),
    *(PROJECT / "loadgen").glob("plan*.py"),
    *(PROJECT / "loadgen" / "prompts").glob("*.py"),
    *(PROJECT / "search").glob("*.py"),
    *(PROJECT / "simulator" / f for f in ("engine.py", "kv_blocks.py")),
    *(PROJECT / "analysis").glob("*.py"),
    *(PROJECT / "charts").glob("*.py"),
]


@pytest.mark.parametrize("path", CLOCKLESS, ids=lambda p: f"{p.parent.name}/{p.name}")
def test_pure_code_knows_no_clock_socket_or_global_random(path):
    words = path.read_text().replace("from random import Random", "").split("\n")
    for line in words:
        start = line.split("#")[0].strip()
        assert not start.startswith(("import time", "from time", "import socket", "import random"))
        assert not start.startswith(("from random", "from socket", "import datetime"))
