"""The Export button of the Run page."""

import zipfile

import pytest

from tests.ui.conftest import opened, words_of
from tests.ui.made_up_results import ended_run
from ui import export_view


@pytest.mark.parametrize(
    ("name", "kind", "expected"),
    [
        ("demo", "zip", "demo-0193aaaa.zip"),
        ("../../etc/passwd", "json", "etc-passwd-0193aaaa.json"),
        ("…", "requests.csv", "run-0193aaaa.requests.csv"),
    ],
)
def test_a_file_name_is_safe_whatever_the_run_is_called(name, kind, expected):
    run = {"name": name, "run_uid": "0193aaaa-0000-7000-8000-000000000000"}
    assert export_view.file_name(run, kind) == expected


@pytest.mark.slow
def test_a_file_is_made_when_asked_for_and_offered(data):
    uid = ended_run(data)
    page = opened("run", ("There is no run",), run=uid)
    assert not (data / "exports").exists()
    page.button(key="export_make").click().run()
    path = data / "exports" / f"demo-{uid[:8]}.zip"
    with zipfile.ZipFile(path) as packed:
        assert "requests.parquet" in packed.namelist()
    assert str(path) in words_of(page)
    page.button(key="export_make").click().run()  # again: the same file, made anew
    assert not page.exception
    assert [p.name for p in (data / "exports").iterdir() if p.is_file()] == [path.name]
