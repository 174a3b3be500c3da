"""What a load worker and its decoder import of storage brings no database along."""

import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2]


@pytest.mark.slow
def test_records_and_spools_import_no_database_and_no_frames():
    code = (
        "import storage.records, storage.raw_spool, storage.column_spool, storage.buckets, sys\n"
        "print(*{name.split('.')[0] for name in sys.modules})"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], cwd=PROJECT, check=True, capture_output=True, text=True
    )
    assert not set(run.stdout.split()) & {"duckdb", "_duckdb", "pandas", "pyarrow"}
