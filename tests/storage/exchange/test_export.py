"""A run as files: what they hold, and that they are whole or not there."""

import json
import zipfile
from collections import namedtuple

import duckdb
import pytest

from storage.client import StoreError
from storage.exchange import export, manifest
from storage.exchange.export import export_run
from tests.storage.exchange.exchanged import InProcess, measured_run, rows_of_run
from tests.storage.made_up_runs import RunFolder

DOCUMENT = {"run": {"name": "demo"}, "levels": []}
TABLES = [
    *("doubt_sec", "hist", "pulses", "request_gaps", "requests", "runs", "stages", "summary"),
    *("tok_sec", "token_events", "windows"),
]


@pytest.fixture(scope="module")
def made(shared_tables):
    """A store with one run, and its uid."""
    return InProcess(shared_tables), measured_run(shared_tables)


def left_over(store):
    return list((store.tables.data / "exports" / "tmp").iterdir())


def test_parquet_holds_every_row_of_every_table_and_no_local_number(made, tmp_path):
    store, uid = made
    done = export_run(store, uid, "parquet", tmp_path / "out", DOCUMENT)
    names = {file.stem for file in (tmp_path / "out").glob("*.parquet")}
    assert sorted(names) == TABLES
    con = duckdb.connect()
    for name, rows in rows_of_run(store.tables, uid).items():
        found = con.sql(f"FROM '{tmp_path}/out/{name}.parquet'")
        assert "run_id" not in found.columns
        assert found.columns.count("run_uid") == 1
        keep = f"* EXCLUDE ({'created_epoch_ns' if name == 'runs' else 'run_uid'})"
        read = con.execute(f"SELECT {keep} FROM '{tmp_path}/out/{name}.parquet'").fetchall()
        assert sorted(read, key=repr) == rows
        assert done.rows[name] == len(rows)
    assert done.n_bytes == sum(f.stat().st_size for f in (tmp_path / "out").iterdir())
    assert left_over(store) == []


def test_csv_tells_the_spans_and_survives_quotes_and_line_breaks(made, tmp_path):
    store, uid = made
    export_run(store, uid, "csv", tmp_path / "out", DOCUMENT)
    assert sorted(file.stem for file in (tmp_path / "out").iterdir()) == TABLES
    asked = "SELECT ttft_us, e2e_us, detail, run_uid FROM read_csv($p) ORDER BY request_id"
    path = str(tmp_path / "out" / "requests.csv")
    rows = duckdb.connect().execute(asked, {"p": path}).fetchall()
    assert [row[:3] for row in rows[:11]] == [(50_000, 230_000, None)] * 11
    assert rows[11][:3] == (None, None, '503 "busy", said\nthe server; =1+1')
    assert {str(row[3]) for row in rows} == {uid}


def test_the_requests_alone_are_one_csv_file(made, tmp_path):
    store, uid = made
    done = export_run(store, uid, "requests.csv", tmp_path / "r.csv", DOCUMENT)
    assert done.rows == {"requests": 12}
    read = duckdb.connect().execute(f"SELECT count(ttft_us) FROM '{tmp_path}/r.csv'").fetchall()
    assert read == [(11,)]


def test_json_is_the_summary_and_the_requests(made, tmp_path):
    store, uid = made
    export_run(store, uid, "json", tmp_path / "run.json", DOCUMENT)
    read = json.loads((tmp_path / "run.json").read_text())
    assert {key: read[key] for key in DOCUMENT} == DOCUMENT
    assert [row["request_id"] for row in read["requests"]] == list(range(12))
    assert read["requests"][0]["ttft_us"] == 50_000
    assert read["requests"][11]["ttft_us"] is None


def test_a_zip_explains_itself_and_packs_tables_only_once(made, tmp_path):
    store, uid = made
    export_run(store, uid, "zip", tmp_path / "run.zip", DOCUMENT)
    with zipfile.ZipFile(tmp_path / "run.zip") as packed:
        assert packed.testzip() is None
        names = packed.namelist()
        stored = {e.filename for e in packed.infolist() if e.compress_type == zipfile.ZIP_STORED}
        texts = {n: packed.read(n).decode() for n in names if not n.endswith(".parquet")}
    assert {n.removesuffix(".parquet") for n in stored} == {*TABLES, "headway.json"}
    assert set(texts) == {"headway.json", "README.txt", "plan.json", "run.json", "summary.json"}
    assert all(f"{name}.parquet" in texts["README.txt"] for name in TABLES)
    assert uid in texts["README.txt"]
    assert json.loads(texts["summary.json"]) == DOCUMENT
    plan = (store.tables.data / "runs" / uid / "plan.json").read_text()
    assert texts["plan.json"] == plan
    assert json.loads(texts["run.json"])["versions"] == {"headway": "0.1.0"}
    assert json.loads(texts["headway.json"])["rows"]["requests"] == 12


@pytest.mark.parametrize("form", export.FORMATS)
def test_nothing_that_is_there_is_overwritten(made, tmp_path, form):
    store, uid = made
    out = tmp_path / "out"
    out.write_text("mine")
    with pytest.raises(StoreError, match="is there already"):
        export_run(store, uid, form, out, DOCUMENT)
    assert out.read_text() == "mine"
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize("form", ["zip", "json", "requests.csv"])
def test_a_file_that_cannot_be_finished_is_removed(made, tmp_path, form, monkeypatch):
    store, uid = made

    def full(*_args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(export.os, "fsync", full)
    with pytest.raises(StoreError, match="No space left"):
        export_run(store, uid, form, tmp_path / "out", DOCUMENT)
    assert list(tmp_path.iterdir()) == []
    assert left_over(store) == []


def test_another_disk_gets_the_folder_too(made, tmp_path, monkeypatch):
    store, uid = made
    rename = export.Path.rename

    def refuse_from_tmp(self, target):
        if "exports" in self.parts:
            raise OSError(18, "Invalid cross-device link")
        return rename(self, target)

    monkeypatch.setattr(export.Path, "rename", refuse_from_tmp)
    export_run(store, uid, "parquet", tmp_path / "out", DOCUMENT)
    assert (tmp_path / "out" / "runs.parquet").is_file()
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize("where", [manifest, export])
def test_too_small_a_disk_is_told_before_anything_is_written(made, tmp_path, where, monkeypatch):
    store, uid = made
    usage = namedtuple("usage", "free")
    monkeypatch.setattr(where.shutil, "disk_usage", lambda _path: usage(100 << 20))
    with pytest.raises(StoreError, match="has 100 MiB free, and this needs 512"):
        export_run(store, uid, "zip", tmp_path / "out.zip", DOCUMENT)
    assert list(tmp_path.iterdir()) == []
    assert left_over(store) == []


def test_a_run_that_goes_on_is_not_exported(made, tmp_path):
    store, _ = made
    run = RunFolder(store.tables.data)
    store.tables.turn()
    with pytest.raises(StoreError, match="not stored whole yet"):
        export_run(store, run.uid, "zip", tmp_path / "out.zip", DOCUMENT)
    assert left_over(store) == []


def test_a_form_nobody_knows_is_refused(made, tmp_path):
    store, uid = made
    with pytest.raises(StoreError, match="exported as zip, parquet, csv"):
        export_run(store, uid, "xlsx", tmp_path / "out", DOCUMENT)
