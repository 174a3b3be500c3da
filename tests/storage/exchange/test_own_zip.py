"""An exported run in another data folder: the same rows, once; anything odd is refused whole."""

import shutil
import time
import uuid
import zipfile

import duckdb
import orjson
import pytest

from storage.client import StoreError
from storage.exchange.export import export_run
from storage.exchange.own_zip import import_zip, is_folder, is_zip
from storage.exchange.removed import removed_here
from tests.storage.exchange.exchanged import InProcess, measured_run, rows_of_run
from tests.storage.made_up_runs import Tables


@pytest.fixture(scope="module")
def exported(shared_tables, tmp_path_factory):
    """A zip and a Parquet folder of the same run, its uid, and its rows."""
    store, uid = InProcess(shared_tables), measured_run(shared_tables)
    out = tmp_path_factory.mktemp("exported")
    export_run(store, uid, "zip", out / "run.zip", {})
    export_run(store, uid, "parquet", out / "run", {})
    return out, uid, rows_of_run(shared_tables, uid)


@pytest.fixture(scope="module")
def elsewhere(empty_database, tmp_path_factory):
    """Another data folder with a run of its own, so that run_id 1 is taken."""
    data = tmp_path_factory.mktemp("elsewhere")
    shutil.copy(empty_database, data)
    tables = Tables(data)
    measured_run(tables, "another")
    yield tables
    tables.database.close()


@pytest.fixture
def store(elsewhere):
    """The other data folder, without what a test before took in."""
    yield InProcess(elsewhere)
    elsewhere.sql("DELETE FROM runs WHERE run_id > 1")


def counts(tables):
    return {
        name: tables.sql(f"SELECT count(*) FROM {name}")[0][0]
        for (name,) in tables.sql("SELECT table_name FROM duckdb_tables()")
    }


def repacked(source, to, change):
    """The zip again; change(name, bytes) -> bytes, or None to leave the entry out."""
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(to, "w") as new:
        for entry in old.infolist():
            content = change(entry.filename, old.read(entry))
            if content is not None:
                new.writestr(entry.filename, content)
    return to


def with_manifest(**changes):
    def change(name, content):
        if name != "headway.json":
            return content
        return orjson.dumps(orjson.loads(content) | changes)

    return change


def with_table(table, sql):
    """One Parquet file made anew: `sql` reads the old one as {old}."""

    def change(name, content):
        if name != f"{table}.parquet":
            return content
        folder = change.folder
        (folder / "old").write_bytes(content)
        query = sql.replace("{old}", f"read_parquet('{folder}/old')")
        duckdb.connect().execute(f"COPY ({query}) TO '{folder}/new' (FORMAT parquet)")
        return (folder / "new").read_bytes()

    return change


@pytest.mark.parametrize("name", ["run.zip", "run"])
def test_every_row_of_every_table_is_the_same_after_the_journey(exported, store, name):
    out, uid, rows = exported
    elsewhere = store.tables
    assert is_folder(out / "run")
    assert is_zip((out / "run.zip").read_bytes()[:8])
    assert import_zip(store, elsewhere.data, out / name) == (uid, True)
    assert rows_of_run(elsewhere, uid) == rows
    assert elsewhere.sql("SELECT count(*) FROM requests WHERE run_id = 1") == [(12,)]


def test_a_run_taken_in_twice_is_there_once(exported, store):
    out, uid, _ = exported
    import_zip(store, store.tables.data, out / "run.zip")
    before = counts(store.tables)
    assert import_zip(store, store.tables.data, out / "run.zip") == (uid, False)
    assert counts(store.tables) == before


def test_a_run_from_elsewhere_is_as_old_as_its_arrival_here(exported, store):
    out, uid, _ = exported
    before = time.time_ns()
    import_zip(store, store.tables.data, out / "run.zip")
    asked = "SELECT created_epoch_ns FROM runs WHERE run_uid = "
    (since,) = store.tables.sql(f"{asked}'{uid}'")[0]
    assert before <= since <= time.time_ns()
    sizes = {row["run_uid"]: row["since_epoch_ns"] for row in store.tables.ask("raw_sizes")}
    assert sizes[uid] >= since


def test_an_import_says_what_a_run_here_has_lost(exported, store):
    out, uid, _ = exported
    assert removed_here(store.ask_arrow, uid) == ""
    import_zip(store, store.tables.data, out / "run.zip")
    assert removed_here(store.ask_arrow, uid) == ""
    store.do("drop_raw", runs=[uid])
    import_zip(store, store.tables.data, out / "run.zip")
    said = removed_here(store.ask_arrow, uid)
    assert said.startswith("Its token events were removed on 20")
    assert f"`headway db delete {uid}` first" in said


def test_a_run_whose_folder_is_here_stays_what_the_intake_makes_of_it(exported, store):
    out, uid, _ = exported
    folder = store.tables.data / "runs" / uid
    folder.mkdir(parents=True)
    (folder / "plan.json").touch()
    try:
        assert import_zip(store, store.tables.data, out / "run.zip") == (uid, False)
        assert store.tables.sql(f"SELECT count(*) FROM runs WHERE run_uid = '{uid}'") == [(0,)]
    finally:
        shutil.rmtree(folder)


def test_the_intake_leaves_it_alone_and_questions_are_answered(exported, store):
    out, uid, rows = exported
    import_zip(store, store.tables.data, out / "run.zip")
    while store.tables.turn():
        pass
    assert rows_of_run(store.tables, uid)["runs"] == rows["runs"]
    assert store.tables.ask("find_run", text="last")[0]["run_uid"] == uid
    assert len(store.tables.ask("requests", run=uid)) == 12
    assert not (store.tables.data / "runs" / uid).exists()


def test_a_column_that_an_older_version_lacked_becomes_null(exported, store, tmp_path):
    out, uid, rows = exported
    older = with_table("requests", "SELECT * EXCLUDE (detail, turn), 1 AS gone FROM {old}")
    older.folder = tmp_path

    def change(name, content):
        return with_manifest(schema_version=4)(name, older(name, content))

    import_zip(store, store.tables.data, repacked(out / "run.zip", tmp_path / "z.zip", change))
    found = store.tables.sql(
        "SELECT count(*), count(detail), count(turn) FROM requests "
        "WHERE run_id = (SELECT max(run_id) FROM runs)"
    )
    assert found == [(12, 0, 0)]
    assert rows_of_run(store.tables, uid)["hist"] == rows["hist"]  # made anew


HOSTILE = {
    "newer": (with_manifest(schema_version=99), "exported by a newer Headway (schema 99"),
    "not ours": (with_manifest(format="x"), "is not what Headway writes"),
    "negative": (with_manifest(rows={"runs": -1}), "is not what Headway writes"),
    "a path": (with_manifest(rows={"../../x": 1}), "names a table that cannot be"),
    "no list": (with_manifest(rows=None), "is not what Headway writes"),
    "other uid": (with_manifest(run_uid=str(uuid.uuid4())), "do not speak of one finished run"),
    "no uid": (with_manifest(run_uid="../../x"), "is not what Headway writes"),
    "no manifest": (lambda n, c: None if n == "headway.json" else c, "holds no headway.json"),
    "a table less": (lambda n, c: None if n == "requests.parquet" else c, "requests.parquet is"),
    "garbage": (lambda n, c: b"x" * 99 if n == "pulses.parquet" else c, "do not hold a run"),
    "cut": (lambda n, c: c[:-9] if n == "token_events.parquet" else c, "do not hold a run"),
    "rows less": (with_table("requests", "FROM {old} LIMIT 3"), "holds 3 rows; expected 12"),
    "two runs": (with_table("runs", "FROM {old}, range(2)"), "holds 2 rows; expected 1"),
    "column less": (with_table("requests", "SELECT * EXCLUDE (outcome) FROM {old}"), "NOT NULL"),
    "column more": (with_table("stages", "SELECT *, 1 AS evil FROM {old}"), "not Headway's: evil"),
    "local id": (with_table("stages", "SELECT *, 1 AS run_id FROM {old}"), "not Headway's: run_id"),
    "type": (with_table("stages", "SELECT * REPLACE ('x' AS stage) FROM {old}"), "Conversion"),
    "kind": (with_table("token_events", "SELECT * REPLACE ('x' AS kind) FROM {old}"), "Conversion"),
    "state": (with_table("runs", "SELECT * REPLACE ('running' AS state) FROM {old}"), "finished"),
    "plan": (with_table("runs", "SELECT * REPLACE ('{}' AS plan) FROM {old}"), "hashes differ"),
}  # fmt: skip


@pytest.mark.parametrize("what", HOSTILE)
def test_an_odd_zip_is_refused_in_a_sentence_and_leaves_nothing(exported, store, tmp_path, what):
    change, sentence = HOSTILE[what]
    change.folder = tmp_path
    path = repacked(exported[0] / "run.zip", tmp_path / "odd.zip", change)
    refuses(store, path, sentence)


def refuses(store, path, sentence):
    data, before = store.tables.data, counts(store.tables)
    files = {p for p in data.rglob("*") if "exports" in p.parts and p.is_file()}
    with pytest.raises(StoreError) as refused:
        import_zip(store, data, path)
    told = str(refused.value)
    assert told.startswith(f"{path.name} is not imported: ")
    assert sentence in told
    assert "\n" not in told
    assert counts(store.tables) == before
    assert {p for p in data.rglob("*") if "exports" in p.parts and p.is_file()} == files


@pytest.mark.parametrize("name", ["../../evil.parquet", "/etc/evil", "evil.so", "x/runs.parquet"])
def test_a_name_that_leads_elsewhere_is_refused(exported, store, tmp_path, name):
    path = tmp_path / "odd.zip"
    shutil.copy(exported[0] / "run.zip", path)
    with zipfile.ZipFile(path, "a") as packed:
        packed.writestr(name, "x")
    refuses(store, path, "which Headway does not write")


def test_a_name_that_is_there_twice_is_refused(exported, store, tmp_path):
    path = tmp_path / "odd.zip"
    shutil.copy(exported[0] / "run.zip", path)
    with pytest.warns(UserWarning, match="Duplicate"), zipfile.ZipFile(path, "a") as packed:
        packed.writestr("runs.parquet", "x")
    refuses(store, path, "the same name twice")


def test_a_zip_that_would_fill_the_disk_is_refused_unread(exported, store, tmp_path):
    path = tmp_path / "bomb.zip"
    with (
        zipfile.ZipFile(exported[0] / "run.zip") as old,
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as new,
    ):
        new.writestr("headway.json", old.read("headway.json"))
        new.writestr("requests.parquet", bytes(40 << 20))
    refuses(store, path, "unpacks to 40 MiB")


def test_few_bytes_that_unpack_to_millions_of_rows_are_refused(exported, store, tmp_path):
    n = 5_000_000
    many = with_table("token_events", f"SELECT 1 AS request_id FROM range({n})")
    many.folder = tmp_path
    rows = exported[2]
    told = {name: len(found) for name, found in rows.items()} | {"token_events": n}

    def change(name, content):
        return with_manifest(rows=told)(name, many(name, content))

    path = repacked(exported[0] / "run.zip", tmp_path / "bomb.zip", change)
    refuses(store, path, "no run looks like that")


@pytest.mark.parametrize("share", [0.1, 0.5, 0.99])
def test_a_zip_cut_short_is_refused(exported, store, tmp_path, share):
    whole = (exported[0] / "run.zip").read_bytes()
    path = tmp_path / "cut.zip"
    path.write_bytes(whole[: int(len(whole) * share)])
    refuses(store, path, "the zip is damaged")


def test_a_flipped_byte_is_noticed(exported, store, tmp_path):
    raw = bytearray((exported[0] / "run.zip").read_bytes())
    raw[raw.index(b"PAR1") + 40] ^= 0xFF
    path = tmp_path / "flipped.zip"
    path.write_bytes(raw)
    refuses(store, path, "the zip is damaged")


@pytest.mark.parametrize("packing", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_damage_in_a_zip_that_others_packed_again_is_told_too(exported, store, tmp_path, packing):
    again = tmp_path / "again.zip"
    with (
        zipfile.ZipFile(exported[0] / "run.zip") as whole,
        zipfile.ZipFile(again, "w", packing) as to,
    ):
        for name in whole.namelist():
            to.writestr(name, whole.read(name))
    with zipfile.ZipFile(again) as packed:
        entry = packed.getinfo("headway.json")
    raw = bytearray(again.read_bytes())
    begin = entry.header_offset + 30 + len(entry.filename) + entry.compress_size // 2
    raw[begin : begin + 40] = b"\xff" * 40
    again.write_bytes(raw)
    refuses(store, again, "the zip is damaged")
